"""From a user's files to advice: read, survey, build with the workflow's own stages, weigh, and write it down."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import yaml

from graphdr.advise import block, building, decision, logs, measuring, reading, wording
from graphdr.advise.logs import Log
from graphdr.advise.survey import survey
from graphdr.cache import paths
from graphdr.core.atomic import update
from graphdr.plan.config import TARGETS

FILES = {"text": "advice.txt", "json": "advice.json", "page": "advice.html", "block": "block.yaml"}


def advise(
    asked: reading.Asked,
    config: dict,
    root: Path,
    name: str | None = None,
    nodes: int | None = block.NODES,
    grid: tuple[int, ...] | None = None,
    log: Log | None = None,
    say: Callable[[str], None] = print,
) -> dict:
    """Return advice as one dictionary: the JSON of the command; ``nodes`` None takes all, and a log is optional."""
    from graphdr.plan import design

    source = reading.source(asked)
    name = name or block.slug(source.name.split(".")[0])
    stages = {path.stem for path in (Path(__file__).parent.parent / "stages").glob("*.py")}
    block.check_name(name, TARGETS | stages)
    say("reading")
    given = reading.read(asked)
    arms = config["protocol"]["arms"]
    seen = survey(given, config["observed"], arms, nodes, grid or block.GRID, told=grid is not None)
    label = source.name
    pasted = block.blocks(name, label, given, seen)
    whole = block.configuration(config, name, pasted, seen)
    plan = design.expand(whole)
    raw = {file: given.files[role] for role, file in block.file_names(name, given).items()}
    folder = building.lay_out(root.resolve(), name, whole, raw)
    building.build(folder, paths.measurements(name), say)
    with contextlib.chdir(folder):
        found = _measured(plan, name, log)
    found = {
        "name": name,
        "label": label,
        "folder": f"{paths.ADVICE}/{name}",
        "notes": given.notes + wording.notes(seen, whole),
        "graph": seen._asdict() | {"transform": given.transform, "content": given.content},
        "setting": {key: plan.problems[plan.members[name][0]][key] for key in ("horizon", "arms", "noise", "seeds")}
        | {"choosing_seeds": block.CHOOSING, "shuffled_copies": 1 + block.DRAWS},
        **found,
        "labels": {method: spec["label"] for method, spec in block.METHODS.items()},
    }
    found["answer"] = wording.answer(found)
    found["paste"] = wording.paste(found)
    text = yaml.safe_dump(pasted, sort_keys=False, allow_unicode=True, width=110)
    update(text.encode(), folder / FILES["block"])
    return found


def write(found: dict, root: Path, text: str, json: str) -> None:
    """Write advice down: as text, as JSON and as a page."""
    from graphdr.advise import page

    for kind, content in {"text": f"{text}\n", "json": f"{json}\n", "page": page.fill(found)}.items():
        update(content.encode(), root / found["folder"] / FILES[kind])


def _measured(plan, name: str, log: Log | None) -> dict:
    regrets = measuring.regrets(plan, name)
    advice = decision.weigh(regrets, block.CHOOSING)
    shown = dict.fromkeys(regrets, None) | advice["chosen_k"]
    shown |= {own: advice["chosen_k"][method] for method, own in decision.CONTROLS.items() if own in regrets}
    return {
        "advice": advice,
        "regret": measuring.summary(regrets),
        "facts": measuring.facts(plan, name),
        "spectrum": measuring.spectrum(plan, name),
        "curves": measuring.curves(plan, name, shown),
        "log": _judged_by(log, *measuring.arms(plan, name, shown)) if log else None,
    }


def _judged_by(log: Log, names: list[str], arms: dict[str, np.ndarray | None]) -> dict:
    """Estimate from a log what the policy of every method would have earned, each at the k that serves it best."""
    labelled = {block.METHODS[method]["label"]: features for method, features in arms.items()}
    against = [block.METHODS[method]["label"] for method in (decision.FULL, *decision.SHUFFLED) if method in arms]
    rows = logs.evaluate(log, labelled, names, against=[*against, logs.LOGGED])
    return {"estimates": [row._asdict() for row in rows], "warnings": logs.warnings(rows)}
