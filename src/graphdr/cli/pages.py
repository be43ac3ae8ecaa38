"""Tables, figures, the comparison and the claims as pages for a terminal."""

from operator import itemgetter

from graphdr.cli.records import Record
from graphdr.core import terminal
from graphdr.core.terminal import number, paint, with_error
from graphdr.paper.verdicts import count_verdicts
from graphdr.show import tables

POINTS = 6  # of every series of a figure, unless a number of rows is asked for
COLOURS = {"match": "green", "close": "green", "not contradicted": "cyan", "differs": "red"}
COLOURS |= {"holds": "green", "mixed": "cyan", "fails": "red"}


class Terminal(tables.Markdown):
    """A style of ``tables.render``: a cell has its value and, on the next line, the panel."""

    escape = staticmethod(str)
    quantity = itemgetter("label")

    @staticmethod
    def cell(text: tables.Shown, bold: bool) -> str:
        value = text.value + (f" ± {text.sem}" if text.sem else "") + ("*" if bold else "")
        return value + ("\n{1} ({0}…{2})".format(*text.panel) if text.panel else "")

    @staticmethod
    def document(*parts) -> tuple:
        return parts


def table(record: Record, rows: list[dict], count: int | None) -> list[str]:
    """Lay out a table as the paper has it, or its first rows."""
    import pandas as pd

    spec = dict(record.params)
    spec["notes"] = spec["notes"] + tables.mark_notes(record.marks, spec["labels"])
    frame = pd.DataFrame(rows)
    numbers = ["value", "sem", "panel_median", "panel_low", "panel_high"]
    frame[numbers] = frame[numbers].astype(float)
    caption, head, body, notes = tables.render(frame, spec, Terminal)
    first = body[:count]
    if any("*" in cell for row in first for cell in row[1:]):
        notes = ["* the lowest of its kind.", *notes]
    lines = [paint(caption, "bold"), "", *terminal.table(head, first, terminal.figures(head), terminal.width())]
    lines += [*_more(len(body) - len(first)), ""]
    return lines + [line for note in notes for line in terminal.wrapped(note, terminal.width(), most=20)]


def _more(left: int) -> list[str]:
    return [f"… {terminal.plural(left, 'more row')}"] if left > 0 else []


def figure(record: Record, rows: list[dict], count: int | None) -> list[str]:
    """Lay out the points of a figure, evenly chosen from every series."""
    names = dict.fromkeys(row["series"] for row in rows)
    series = [[row for row in rows if row["series"] == name] for name in names]
    chosen = rows[:count] if count is not None else [row for part in series for row in _spread(part)]
    head = [name for name in rows[0] if any(row[name] is not None for row in rows)] if rows else []
    body = [[number(row[name]) for name in head] for row in chosen]
    right = [name != "series" for name in head]
    title = f"{record.params.get('title', record.path)} ({record.params.get('kind', 'figure')})"
    lines = [paint(title, "bold"), "", *(terminal.table(head, body, right, terminal.width()) if head else [])]
    note = f"{len(chosen):,} of {record.rows or 0:,} points of {len(series)} series (--rows N shows the first N)"
    return [*lines, "", note]


def _spread(part: list[dict]) -> list[dict]:
    """Return a few rows from the first to the last, evenly."""
    most = min(POINTS, len(part))
    return [part[round(at * (len(part) - 1) / max(most - 1, 1))] for at in range(most)]


def comparison(record: Record, rows: list[dict], count: int | None) -> list[str]:
    """Lay out the paper's numbers beside ours, table by table."""
    first = rows[:count]
    head = ["row", "column", "paper", "ours", "ratio", "median (5–95 %)", "verdict"]
    right = [name not in ("row", "column", "verdict") for name in head]
    lines = [paint("Our numbers beside the paper's", "bold")]
    for artifact in dict.fromkeys(row["artifact"] for row in first):
        body = [_compared(row) for row in first if row["artifact"] == artifact]
        cells = terminal.table(head, body, right, terminal.width(), keys=2)
        lines += ["", paint(artifact, "bold", "cyan"), *_verdicts(cells)]
    return [*lines, *_more(len(rows) - len(first)), "", *_distinct(rows)]


def _distinct(rows: list[dict]) -> list[str]:
    """Count the verdicts on distinct numbers, synthetic and real apart."""
    from graphdr.paper.compare import VERDICTS, headline

    counts = {kind: [(count[word], word) for word in VERDICTS if count[word]] for kind, count in headline(rows).items()}
    return [f"{kind}: {', '.join(f'{n} {word}' for n, word in told)}" for kind, told in counts.items() if told]


def _compared(row: dict) -> list[str]:
    panel = f"{number(row['panel_median'], 4)} ({number(row['panel_low'], 4)}…{number(row['panel_high'], 4)})"
    paper, ours = with_error(row["paper"], row["paper_sem"]), with_error(row["ours"], row["sem"])
    spread = "–" if row["percentile"] is None else panel
    return [row["row"], row["column"], paper, ours, number(row["ratio"], 3), spread, row["verdict"]]


def claims(record: Record, rows: list[dict], count: int | None) -> list[str]:
    """Lay out the claims with what was measured."""
    first = rows[:count]
    head = ["claim", "verdict", "share", "statement", "measured"]
    shares = [{"share": "–" if row["share"] is None else f"{100 * row['share']:.0f} %"} for row in first]
    body = [[(row | share)[name] for name in head] for row, share in zip(first, shares, strict=True)]
    lines = _verdicts(terminal.table(head, body, [name == "share" for name in head], terminal.width()))
    more = _more(len(rows) - len(first))
    counts = ", ".join(f"{count} {kind}" for kind, count in count_verdicts(row["verdict"] for row in rows).items())
    return [paint("The paper's claims, judged", "bold"), "", *lines, *more, "", counts]


def _verdicts(lines: list[str]) -> list[str]:
    """Colour the verdicts, which stand apart from other words."""
    for word, colour in COLOURS.items():
        apart, painted = f"{terminal.GAP}{word}", f"{terminal.GAP}{paint(word, colour)}"
        lines = [line.replace(apart, painted, 1) for line in lines]
    return lines


PAGES = {page.__name__: page for page in (table, figure, comparison, claims)}
