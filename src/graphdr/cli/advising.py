"""``graphdr advise``: what its options ask for, and advice as text for a terminal."""

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from graphdr.advise import logs, reading, tables, wording
from graphdr.advise import run as advice
from graphdr.advise.paper.findings import Findings
from graphdr.cli import project
from graphdr.core import terminal
from graphdr.core.errors import UserError
from graphdr.core.terminal import Answer, as_json, paint

FILES = ("interactions", "edges", "rewards", "features", "titles")
CHOICES = ("transform", "positive", "merge_duplicates", "drop_loops", "ignore_unknown")
COLUMNS = ("user", "item", "value", "source", "target", "weight", "node", "reward", "title")


def run(arguments: Namespace, here: Path) -> Answer:
    """Advise in the project's folder; files are given relative to ``here``."""
    start = Path() if here == Path.cwd() else here  # the command runs in the project's folder
    files = {name: start / path.expanduser() for name in (*FILES, "log") if (path := getattr(arguments, name))}
    log = files.pop("log", None)
    request = reading.Request(
        **files,
        **{name: getattr(arguments, name) for name in CHOICES},
        columns={role: getattr(arguments, role) for role in COLUMNS if getattr(arguments, role)},
        header=False if arguments.no_header else None,
    )
    rounds = logs.read(log, _columns(arguments.log_columns)) if log else None
    choices = arguments.name, _nodes(arguments.nodes), _grid(arguments.k), rounds
    say = terminal.Status()
    try:
        findings = advice.advise(request, project.load_config().plain(), Path(), *choices, say)
    finally:
        say("")
    lines = text(findings)
    advice.write(findings, Path(), terminal.printable(terminal.unpainted("\n".join(lines))), as_json(findings))
    return 0, findings, lambda: lines


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


def _grid(ks: list[int] | None) -> tuple[int, ...] | None:
    if ks and min(ks) < 1:
        raise UserError(f"--k: {min(ks)} is not a number of dimensions, which is at least 1")
    return tuple(sorted(set(ks))) if ks else None


def text(findings: Findings) -> list[str]:
    """Lay advice out: the answer, then the evidence."""
    width = terminal.width()

    def listed(sentences: Iterable[str], first: str = "- ", rest: str = "  ") -> list[str]:
        return [line for sentence in sentences for line in terminal.wrapped(sentence, width, first, rest)]

    lines = [paint(line, "bold") for line in terminal.wrapped(" ".join(findings.answer), width, most=12)]
    lines += ["", *listed(findings.notes)]
    for caption, head, body in (*tables.simulation(findings), *tables.log(findings)):
        lines += ["", *terminal.wrapped(caption, width), *terminal.table(head, body, terminal.figures(head), width)]
    if findings.log:
        lines += ["", *listed(findings.log.warnings)]
    lines += ["", "In these tables:"]
    lines += listed((f"{word}: {meaning}." for word, meaning in wording.WORDS.items()), "  ", "    ")
    page, blocks = (f"{findings.folder}/{advice.FILES[kind]}" for kind in ("page", "block"))
    lines += ["", f"To read: {page}. To keep the data set, paste the blocks of {blocks} into config.yaml, and"]
    return [*lines, f"  {findings.paste}"]
