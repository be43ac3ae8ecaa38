"""``graphdr advise``: what its options ask for, and advice as text for a terminal."""

from argparse import Namespace
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from graphdr.advise import logs, reading, settings
from graphdr.advise.files import Written
from graphdr.advise.paper import block
from graphdr.advise.tabular.problems import together
from graphdr.cli import project
from graphdr.core import terminal
from graphdr.core.errors import UserError
from graphdr.core.extras import needed_for
from graphdr.core.terminal import Answer, as_json, paint

FILES = ("interactions", "edges", "rewards", "features", "titles")
CHOICES = (
    *("transform", "positive", "merge_duplicates", "drop_loops", "ignore_unknown", "tolerant"),
    *("encoding", "separator"),
)
COLUMNS = ("user", "item", "value", "time", "source", "target", "weight", "node", "reward", "title")
PAPER = "paper"  # the other protocol
SHIPPED = "the settings are those of the package; in the folder of a project, or with --root, they would be its own"
GAME = {"rounds": "horizon", "splits": "splits", "candidates": "candidates"}  # options of the held-out one


def run(arguments: Namespace, here: Path) -> Answer:
    """Advise in the project's folder, or here if there is none; files are given relative to ``here``."""
    start = Path() if here == Path.cwd() else here  # the command runs in the project's folder
    files = {name: start / path.expanduser() for name in (*FILES, "log") if (path := getattr(arguments, name))}
    log = files.pop("log", None)
    request = reading.Request(
        **files,
        **{name: getattr(arguments, name) for name in CHOICES},
        columns={role: getattr(arguments, role) for role in COLUMNS if getattr(arguments, role)},
        header=False if arguments.no_header else None,
    )
    say = terminal.Status()
    try:
        return (_by_paper if arguments.protocol == PAPER else _held_out)(arguments, request, log, say)
    finally:
        say("")


def _read(arguments: Namespace, request: reading.Request, log: Path | None, say: terminal.Status) -> list:
    """Return the data and the log, if there is one."""
    say("reading")
    columns, written = _columns(arguments.log_columns), Written(arguments.encoding, arguments.separator)
    return together(lambda: reading.read(request), lambda: log and logs.read(log, columns, written))


def _held_out(arguments: Namespace, request: reading.Request, log: Path | None, say: terminal.Status) -> Answer:
    import jinja2  # noqa: F401 - for the page, which is written last: if it is missing, that is said first

    from graphdr.advise import run as advice
    from graphdr.advise import tables, wording
    from graphdr.advise.simulation.trial import Game

    if arguments.k:
        raise UserError(f"--k: each method finds its own k; to try others give --protocol {PAPER}")
    told = {field: getattr(arguments, option) for option, field in GAME.items()}
    game = Game(**{field: value for field, value in told.items() if value is not None})
    for option, least in (("rounds", 100), ("splits", 2)):
        if getattr(game, GAME[option]) < least:
            raise UserError(f"--{option}: {getattr(arguments, option)} is too few; give at least {least}")
    label = reading.source(request).name
    own = None if project.missing(Path()) else project.load_config().plain()
    name = arguments.name or block.slug(label.split(".")[0])
    nodes = _nodes(arguments.nodes)
    data, rounds = _read(arguments, request, log, say)
    if own is None:
        data, config = data._replace(notes=[*data.notes, SHIPPED]), settings.shipped()
    else:
        config = settings.of(own)
    findings, played = advice.advise(data, label, name, config, game, nodes, rounds, say, say.keep)
    shown = (*tables.simulation(findings), *tables.log(findings))
    below = [*findings.notes, wording.screen(findings.screen), wording.under_paper(findings.paper)]
    lines = text(findings.answer, below, shown, findings.log, wording.WORDS)
    page = f"{findings.folder}/{advice.FILES['page']}"
    lines += ["", f"To read: {page}. Every run: {findings.folder}/{advice.RUNS}."]
    advice.write(findings, played, Path(), terminal.printable(terminal.unpainted("\n".join(lines))), as_json(findings))
    return 0, findings, lambda: lines


def _by_paper(arguments: Namespace, request: reading.Request, log: Path | None, say: terminal.Status) -> Answer:
    with needed_for(f"graphdr advise --protocol {PAPER}"):
        if find_spec("snakemake") is None:  # it builds in a process of its own, and to import it changes this one
            raise ModuleNotFoundError(name="snakemake")
    project.require(Path.cwd())
    from graphdr.advise.paper import run as advice
    from graphdr.advise.paper import tables, wording

    config = project.load_config().plain()
    for option in GAME:
        if getattr(arguments, option) is not None:
            raise UserError(f"--{option}: not with --protocol {PAPER}, which has its own; leave out one of them")
    choices = arguments.name, _nodes(arguments.nodes), _grid(arguments.k)
    data, rounds = _read(arguments, request, log, say)
    findings = advice.advise(data, reading.source(request).name, config, Path(), *choices, rounds, say)
    shown = (*tables.simulation(findings), *tables.log(findings))
    lines = text(findings.answer, findings.notes, shown, findings.log, wording.WORDS)
    page, blocks = (f"{findings.folder}/{advice.FILES[kind]}" for kind in ("page", "block"))
    lines += ["", f"To read: {page}. To keep the data set, paste the blocks of {blocks} into config.yaml, and"]
    lines += [f"  {findings.paste}"]
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


def text(
    answer: list[str], notes: list[str], tables: Iterable[tuple], log: logs.ByLog | None, words: dict[str, str]
) -> list[str]:
    """Lay advice out: the answer, then the evidence."""
    width = terminal.width()

    def listed(sentences: Iterable[str], first: str = "- ", rest: str = "  ") -> list[str]:
        return [line for sentence in sentences for line in terminal.wrapped(sentence, width, first, rest)]

    lines = [paint(line, "bold") for line in terminal.wrapped(" ".join(answer), width, most=len(answer) * 5)]
    lines += ["", *listed(notes)]
    for caption, head, body in tables:
        lines += ["", *terminal.wrapped(caption, width), *terminal.table(head, body, _right(head, body), width)]
    if log:
        lines += ["", *listed(log.warnings)]
    lines += ["", "In these tables:"]
    return lines + listed((f"{word}: {meaning}." for word, meaning in words.items()), "  ", "    ")


def _right(head: list[str], body: list[list[str]]) -> list[bool]:
    """Set columns of figures to the right."""
    numeric = [all(row[at][:1] in "0123456789+-−" for row in body if row[at]) for at in range(len(head))]
    return [False, *numeric[1:]]
