"""Advice as one self-contained page in the style of the report, without scripts."""

from pathlib import Path
from types import SimpleNamespace

from graphdr import __version__
from graphdr.advise import tables, wording
from graphdr.advise.findings import Findings
from graphdr.show import palette
from graphdr.show.report import template

# The size of a chart, and where its axes are in it.
FRAME = SimpleNamespace(width=640, height=300, left=56, right=616, top=12, bottom=260)


def fill(findings: Findings) -> str:
    """Return the page; the template escapes all texts of the user."""
    by_k = {m: [[float(k), regret.mean] for k, regret in by_k.items()] for m, by_k in findings.regret.items()}
    horizon = findings.setting.horizon
    return template.render(
        (Path(__file__).parent / "page.html").read_text(encoding="utf-8"),
        **findings._asdict(),
        style=template.style(palette.css(sorted(findings.regret), [], findings.styles)),
        version=__version__,
        tables=tables.simulation(findings),
        log_tables=tables.log(findings),
        frame=FRAME,
        by_k=_chart(by_k, findings.styles, "k", list(findings.facts)),
        by_round=_chart(findings.curves, findings.styles, "round", [horizon // 2, horizon]),
        words=wording.WORDS,
    )


def _chart(series: dict[str, list[list[float]]], settings: dict, x: str, marks: list[int]) -> dict:
    """Lay out the regret against x, both from zero to the largest value: the lines, and the texts on both axes."""
    styles = palette.styles(list(series), settings)
    most, highest = (max(point[axis] for points in series.values() for point in points) for axis in (0, 1))

    def across(value: float) -> str:
        return f"{FRAME.left + value / most * (FRAME.right - FRAME.left):.1f}"

    def up(value: float, below: int = 0) -> str:
        return f"{FRAME.bottom - value / (1.05 * highest) * (FRAME.bottom - FRAME.top) + below:.1f}"

    lines = [
        (method, styles[method].dash, " ".join(f"{across(point[0])},{up(point[1])}" for point in points))
        for method, points in series.items()
    ]
    ticks = [(up(value, below=4), f"{value:,.0f}") for value in (0, highest / 2, highest)]
    return {"x": x, "lines": lines, "ticks": ticks, "marks": [(across(mark), f"{mark:,}") for mark in marks]}
