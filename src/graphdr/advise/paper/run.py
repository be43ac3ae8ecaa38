"""From a user's files to advice: read, survey, build with the workflow's own stages, weigh, and write it down."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import yaml

from graphdr.advise import logs
from graphdr.advise.data import Data
from graphdr.advise.logs import ByLog, Log
from graphdr.advise.paper import block, building, decision, measuring, recbole, wording
from graphdr.advise.paper.findings import Findings, Setting
from graphdr.advise.paper.survey import survey
from graphdr.cache import paths
from graphdr.core.atomic import update
from graphdr.plan.references import TARGETS

FILES = {"text": "advice.txt", "json": "advice.json", "page": "advice.html", "block": "block.yaml"}


def advise(
    brought: Data,
    label: str,
    config: dict,
    root: Path,
    name: str | None = None,
    nodes: int | None = block.NODES,
    grid: tuple[int, ...] | None = None,
    log: Log | None = None,
    say: Callable[[str], None] = print,
) -> Findings:
    """Return advice with its evidence; ``nodes`` None takes all, and a log is optional."""
    from graphdr.plan import design

    name = name or block.slug(label.split(".")[0])
    stages = {path.stem for path in (Path(__file__).parents[2] / "stages").glob("*.py")}
    block.check_name(name, TARGETS | stages)
    data = recbole.dataset(brought)
    arms = config["protocol"]["arms"]
    graph = survey(data, config["observed"], arms, nodes, grid or block.GRID, told=grid is not None)
    pasted = block.blocks(name, label, data, graph)
    whole = block.configuration(config, name, pasted, graph)
    plan = design.expand(whole)
    folder = building.lay_out(root.resolve(), name, whole, data.files)
    building.build(folder, paths.measurements(name), say)
    problem, place = plan.problems[plan.members[name][0]], f"{paths.ADVICE}/{name}"
    labels = {method: spec["label"] for method, spec in whole["methods"].items()}
    protocol = {key: problem[key] for key in ("horizon", "arms", "noise", "seeds")}
    with contextlib.chdir(folder):
        regrets = measuring.regrets(plan, name)
        advice = decision.weigh(regrets, block.CHOOSING)
        of_lengths = (decision.LENGTH, *decision.LONGEST.values())  # in tables alone
        ks = dict.fromkeys((method for method in regrets if method not in of_lengths), None) | advice.chosen_k
        ks |= {copy: advice.chosen_k[method] for method, copy in decision.CONTROLS.items() if copy in regrets}
        findings = Findings(
            name=name,
            label=label,
            folder=place,
            notes=[*data.notes, *(log.notes if log else ()), *wording.notes(graph, whole)],
            graph=graph,
            setting=Setting(**protocol, choosing_seeds=block.CHOOSING, shuffled_copies=1 + block.DRAWS),
            labels=labels,
            styles={method: spec.look for method, spec in plan.config.methods.items() if spec.style},
            answer=[],
            paste=wording.paste(name, place),
            advice=advice,
            regret=measuring.summary(regrets),
            facts=measuring.facts(plan, name),
            spectrum=measuring.spectrum(plan, name),
            curves=measuring.curves(plan, name, ks),
            log=_judged_by(log, *measuring.arms(plan, name, ks), labels) if log else None,
        )
    text = yaml.safe_dump(pasted, sort_keys=False, allow_unicode=True, width=110)
    update(text.encode(), folder / FILES["block"])
    return findings._replace(answer=wording.answer(findings))


def write(findings: Findings, root: Path, text: str, json: str) -> None:
    """Write advice down: as text, as JSON and as a page."""
    from graphdr.advise.paper import page

    for kind, content in {"text": f"{text}\n", "json": f"{json}\n", "page": page.fill(findings)}.items():
        update(content.encode(), root / findings.folder / FILES[kind])


def _judged_by(log: Log, names: list[str], arms: dict[str, np.ndarray | None], labels: dict[str, str]) -> ByLog:
    """Estimate from a log what the policy of every method would have earned, each at the k that serves it best."""
    against = [labels[method] for method in (decision.FULL, *decision.SHUFFLED) if method in arms]
    labelled = {labels[method]: features for method, features in arms.items()}
    return logs.judged_by(log, names, labelled, [*against, logs.LOGGED])
