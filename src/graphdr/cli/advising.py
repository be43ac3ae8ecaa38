"""``graphdr advise``: read its options, and lay the advice out as text for a terminal."""

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from graphdr.advise import logs, reading
from graphdr.advise.findings import Findings
from graphdr.advise.simulation.tournament import SimulationConfig
from graphdr.cli import project, records
from graphdr.core import terminal
from graphdr.core.errors import UserError
from graphdr.core.terminal import Answer, as_json, paint
from graphdr.raw.dialect import TextFormat
from graphdr.raw.sheets import run_all

FILES = ("interactions", "edges", "rewards", "features")
CHOICES = ("transform", "positive", "merge_duplicates", "drop_loops", "ignore_unknown", "tolerant")
COLUMNS = ("user", "item", "value", "time", "source", "target", "weight", "node", "reward")
NO_PROJECT = "the random seed is 0; in the folder of a project, or with --root, it is the seed of its config.yaml"
LEAST = {"rounds": 100, "splits": 2}
SIMULATED = {"horizon": "rounds", "splits": "splits", "candidates": "candidates"}  # options by their setting


def run(arguments: Namespace, here: Path) -> Answer:
    """Advise in the project's folder, or here if there is none; files are relative to ``here``."""
    import jinja2  # noqa: F401 - the page is written last, but a missing package is reported first

    status = terminal.Status()
    try:
        return _advise(arguments, here, status)
    finally:
        status("")


def _advise(arguments: Namespace, here: Path, status: terminal.Status) -> Answer:
    from graphdr.advise import run as advice

    options = {name: value for name, value in vars(arguments).items() if value is not None}
    start = Path() if here == Path.cwd() else here  # the command runs in the project's folder
    files = {name: start / path.expanduser() for name in (*FILES, "log") if (path := options.get(name))}
    log_file = files.pop("log", None)
    text_format = TextFormat(arguments.encoding, arguments.separator, False if arguments.no_header else None)
    request = reading.Request(
        **files,
        **{name: getattr(arguments, name) for name in CHOICES},
        columns={role: options[role] for role in COLUMNS if options.get(role)},
        text_format=text_format,
    )
    label = request.main_file.name
    for option, least in LEAST.items():
        if options.get(option, least) < least:
            raise UserError(f"--{option}: {options[option]} is too few; give at least {least}")
    config = SimulationConfig(**{name: options[option] for name, option in SIMULATED.items() if option in options})
    if arguments.nodes != "all" and not (arguments.nodes.isdecimal() and int(arguments.nodes)):
        raise UserError(f"--nodes: {arguments.nodes!r} is neither a number of nodes nor all")
    nodes = None if arguments.nodes == "all" else int(arguments.nodes)
    has_project = not project.missing(Path())
    seed = project.load_config().seed if has_project else 0
    task = advice.Task(label, arguments.name or advice.slug(label.split(".")[0]), config, nodes, seed)
    status("reading")
    if wrong := [pair for pair in arguments.log_columns if "=" not in pair]:
        raise UserError(f"--log-columns: {wrong[0]!r} is not ROLE=COLUMN, as reward=clicks is")
    columns, log_format = dict(pair.split("=", 1) for pair in arguments.log_columns), text_format._replace(header=None)
    data, log = run_all(
        lambda: reading.read(request), lambda: logs.read(log_file, columns, log_format) if log_file else None
    )
    if not has_project:
        data = data._replace(notes=[*data.notes, NO_PROJECT])
    findings, result = advice.advise(data, task, log, status, status.keep)
    lines = text(findings)
    lines += ["", f"To read: {findings.folder}/{advice.FILES['page']}. Every run: {findings.folder}/{advice.RUNS}."]
    plain = terminal.printable(terminal.unpainted("\n".join(lines)))
    advice.write(findings, result, Path(), plain, as_json(findings))
    return 0, findings, lambda: lines


def text(findings: Findings) -> list[str]:
    """Lay advice out: the answer, then the evidence."""
    from graphdr.advise import tables, wording

    width, answer = terminal.width(), findings.answer
    lines = [paint(line, "bold") for line in terminal.wrapped(" ".join(answer), width, most=len(answer) * 5)]
    lines += ["", *_listed([*findings.notes, wording.screen(findings.screen)])]
    for caption, head, body in tables.evidence(findings):
        lines += ["", *terminal.wrapped(caption, width), *records.table(head, body)]
    if findings.log:
        lines += ["", *_listed(findings.log.warnings)]
    return [*lines, "", "In these tables:", *_listed(f"{word}: {meaning}." for word, meaning in wording.WORDS.items())]


def _listed(sentences: Iterable[str]) -> list[str]:
    width = terminal.width()
    return [line for sentence in sentences for line in terminal.wrapped(sentence, width, "- ", "  ")]
