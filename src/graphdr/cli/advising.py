"""``graphdr advise``: read its options, and lay the advice out as text for a terminal."""

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from graphdr.advise import logs, reading
from graphdr.advise.findings import Findings
from graphdr.advise.simulation.tournament import SimulationConfig
from graphdr.advise.tabular.dialect import TextFormat
from graphdr.advise.tabular.input_errors import run_all
from graphdr.cli import project
from graphdr.core import terminal
from graphdr.core.errors import UserError
from graphdr.core.terminal import Answer, as_json, paint

FILES = ("interactions", "edges", "rewards", "features")
CHOICES = ("transform", "positive", "merge_duplicates", "drop_loops", "ignore_unknown", "tolerant")
COLUMNS = ("user", "item", "value", "time", "source", "target", "weight", "node", "reward")
NODES = 1500  # the most popular ones, by default
NO_PROJECT = "the random seed is 0; in the folder of a project, or with --root, it is the seed of its config.yaml"
LEAST = {"rounds": 100, "splits": 2}


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

    start = Path() if here == Path.cwd() else here  # the command runs in the project's folder
    files = {name: start / path.expanduser() for name in (*FILES, "log") if (path := getattr(arguments, name))}
    log_file = files.pop("log", None)
    text_format = TextFormat(arguments.encoding, arguments.separator, False if arguments.no_header else None)
    request = reading.Request(
        **files,
        **{name: getattr(arguments, name) for name in CHOICES},
        columns={role: getattr(arguments, role) for role in COLUMNS if getattr(arguments, role)},
        text_format=text_format,
    )
    config, label = _simulation(arguments), request.main_file.name
    has_project = not project.missing(Path())
    seed = project.load_config().seed if has_project else 0
    name = arguments.name or advice.slug(label.split(".")[0])
    task = advice.Task(label, name, config, _nodes(arguments.nodes), seed)
    status("reading")
    columns, log_format = _columns(arguments.log_columns), text_format._replace(header=None)
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


def _simulation(arguments: Namespace) -> SimulationConfig:
    for option, least in LEAST.items():
        value = getattr(arguments, option)
        if value is not None and value < least:
            raise UserError(f"--{option}: {value} is too few; give at least {least}")
    options = {"horizon": arguments.rounds, "splits": arguments.splits, "candidates": arguments.candidates}
    return SimulationConfig(**{name: value for name, value in options.items() if value is not None})


def _nodes(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdecimal() or not int(text):
        raise UserError(f"--nodes: {text!r} is neither a number of nodes nor all")
    return int(text)


def _columns(pairs: list[str]) -> dict[str, str]:
    if wrong := [pair for pair in pairs if "=" not in pair]:
        raise UserError(f"--log-columns: {wrong[0]!r} is not ROLE=COLUMN, as reward=clicks is")
    return dict(pair.split("=", 1) for pair in pairs)


def text(findings: Findings) -> list[str]:
    """Lay advice out: the answer, then the evidence."""
    from graphdr.advise import tables, wording

    width, answer = terminal.width(), findings.answer
    lines = [paint(line, "bold") for line in terminal.wrapped(" ".join(answer), width, most=len(answer) * 5)]
    lines += ["", *_listed([*findings.notes, wording.screen(findings.screen)], "- ", "  ")]
    for caption, head, body in tables.evidence(findings):
        lines += ["", *terminal.wrapped(caption, width), *terminal.table(head, body, _right(head, body), width)]
    if findings.log:
        lines += ["", *_listed(findings.log.warnings, "- ", "  ")]
    lines += ["", "In these tables:"]
    return lines + _listed((f"{word}: {meaning}." for word, meaning in wording.WORDS.items()), "  ", "    ")


def _listed(sentences: Iterable[str], first: str, rest: str) -> list[str]:
    """Wrap sentences, each behind its prefix."""
    width = terminal.width()
    return [line for sentence in sentences for line in terminal.wrapped(sentence, width, first, rest)]


def _right(head: list[str], body: list[list[str]]) -> list[bool]:
    """Align columns of figures to the right."""
    numeric = [all(row[at][:1] in "0123456789+-−" for row in body if row[at]) for at in range(len(head))]
    return [False, *numeric[1:]]
