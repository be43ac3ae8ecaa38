"""Tables, figures, the comparison and the claims as pages for a terminal."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from graphdr.cli.records import Record, Row
from graphdr.core import terminal
from graphdr.core.records import from_json
from graphdr.core.terminal import number, paint, with_error
from graphdr.paper.claims import count_verdicts
from graphdr.paper.compare import VERDICTS, headline
from graphdr.show import tables

POINTS = 6  # of every series of a figure, by default
COLOURS = {"match": "green", "close": "green", "not contradicted": "cyan", "differs": "red"}
COLOURS |= {"holds": "green", "mixed": "cyan", "fails": "red"}


class Terminal:
    """A style of ``tables.render``: a cell has its value and, on the next line, its quantiles over instances."""

    MISSING = "–"
    escape = staticmethod(str)
    quantity = attrgetter("label")

    @staticmethod
    def cell(text: tables.Shown, bold: bool) -> str:
        value = text.value + (f" ± {text.sem}" if text.sem else "") + ("*" if bold else "")
        return value + ("\n{1} ({0}…{2})".format(*text.spread) if text.spread else "")

    @staticmethod
    def document(*parts: Any) -> tuple[Any, ...]:
        return parts


def table(record: Record, rows: list[Row], count: int | None) -> list[str]:
    """Lay out a table as in the paper, or its first rows."""
    import pandas as pd

    spec = from_json(tables.TableSpec, record.params)
    spec = spec._replace(notes=spec.notes + tables.mark_notes(record.marks, spec.labels))
    frame = pd.DataFrame(rows)
    numbers = ["value", "sem", "panel_median", "panel_low", "panel_high"]
    frame[numbers] = frame[numbers].astype(float)
    render: Any = tables.render
    caption, head, body, notes = render(frame, spec, Terminal)
    first = body[:count]
    if any("*" in cell for row in first for cell in row[1:]):
        notes = ["* the lowest of its kind.", *notes]
    lines = [paint(caption, "bold"), "", *terminal.table(head, first, terminal.figures(head), terminal.width())]
    lines += [*_more(len(body) - len(first)), ""]
    for note in notes:
        lines += terminal.wrapped(note, terminal.width(), most=20)
    return lines


def _more(left: int) -> list[str]:
    return [f"… {terminal.plural(left, 'more row')}"] if left > 0 else []


def figure(record: Record, rows: list[Row], count: int | None) -> list[str]:
    """Lay out some points of every series of a figure, evenly spaced."""
    chosen = []
    names = dict.fromkeys(row["series"] for row in rows)
    for name in names:
        series = [row for row in rows if row["series"] == name]
        most = min(POINTS, len(series))
        chosen += [series[round(step * (len(series) - 1) / max(most - 1, 1))] for step in range(most)]
    if count is not None:
        chosen = rows[:count]
    head = [name for name in rows[0] if any(row[name] is not None for row in rows)] if rows else []
    body = [[number(row[name]) for name in head] for row in chosen]
    title = f"{record.params.get('title', record.path)} ({record.params.get('kind', 'figure')})"
    note = f"{len(chosen):,} of {record.rows or 0:,} points of {len(names)} series (--rows N shows the first N)"
    return [paint(title, "bold"), "", *_table(head, body, ("series",)), "", note]


def _table(head: Sequence[str], body: list[list[str]], texts: Sequence[str], keys: int = 1) -> list[str]:
    """Lay out a table with colours for verdicts; columns other than ``texts`` are numbers."""
    if not head:
        return []
    lines = terminal.table(head, body, [name not in texts for name in head], terminal.width(), keys)
    for word, colour in COLOURS.items():
        apart, painted = f"{terminal.GAP}{word}", f"{terminal.GAP}{paint(word, colour)}"
        lines = [line.replace(apart, painted, 1) for line in lines]
    return lines


def comparison(record: Record, rows: list[Row], count: int | None) -> list[str]:
    """Lay out the paper's numbers beside ours, table by table."""
    first = rows[:count]
    head = ["row", "column", "paper", "ours", "ratio", "median (5–95 %)", "verdict"]
    lines = [paint("Our numbers beside the paper's", "bold")]
    for artifact in dict.fromkeys(row["artifact"] for row in first):
        body = [_compared(row) for row in first if row["artifact"] == artifact]
        lines += ["", paint(artifact, "bold", "cyan"), *_table(head, body, ("row", "column", "verdict"), keys=2)]
    lines += [*_more(len(rows) - len(first)), ""]
    for kind, counts in headline(rows).items():
        if texts := [f"{counts[word]} {word}" for word in VERDICTS if counts[word]]:
            lines.append(f"{kind}: {', '.join(texts)}")
    return lines


def _compared(row: Row) -> list[str]:
    paper, ours = with_error(row["paper"], row["paper_sem"]), with_error(row["ours"], row["sem"])
    low, median, high = (number(row[f"panel_{name}"], 4) for name in ("low", "median", "high"))
    spread = "–" if row["percentile"] is None else f"{median} ({low}…{high})"
    return [row["row"], row["column"], paper, ours, number(row["ratio"], 3), spread, row["verdict"]]


def claims(record: Record, rows: list[Row], count: int | None) -> list[str]:
    """Lay out the claims with the numbers that decided them."""
    head = ["claim", "verdict", "share", "statement", "measured"]
    body = []
    for row in rows[:count]:
        share = "–" if row["share"] is None else f"{100 * row['share']:.0f} %"
        body.append([row["claim"], row["verdict"], share, row["statement"], row["measured"]])
    counts = ", ".join(f"{n} {kind}" for kind, n in count_verdicts(row["verdict"] for row in rows).items())
    lines = _table(head, body, ("claim", "verdict", "statement", "measured"))
    return [paint("The paper's claims, judged", "bold"), "", *lines, *_more(len(rows) - len(body)), "", counts]


Page = Callable[[Record, list[Row], int | None], list[str]]
PAGES: dict[str, Page] = {page.__name__: page for page in (table, figure, comparison, claims)}
