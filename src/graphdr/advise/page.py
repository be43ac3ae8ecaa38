"""Advice as one self-contained page in the style of the report, without scripts."""

from pathlib import Path

from graphdr import __version__
from graphdr.advise import tables, wording
from graphdr.advise.findings import Findings
from graphdr.advise.simulation.methods import FULL
from graphdr.core.terminal import printable
from graphdr.show import palette
from graphdr.show.report import template

FOLDER = Path(__file__).parent
DASHES = ("", "7 3", "2 2", "10 2 2 2", "4 4", "11 3")


def fill(findings: Findings) -> str:
    """Return the page; the template escapes all texts of the user and draws the chart."""
    verdict = findings.verdict
    shown = dict.fromkeys([verdict.best_graph, verdict.best_without, FULL])  # random play would dwarf them
    curves = {name: findings.curves[name] for name in shown}
    pairs = zip(palette.DATASETS, DASHES, strict=False)
    looks = {
        name: dict(zip(("light", "dark", "dash"), (*pair, dash), strict=True))
        for name, (pair, dash) in zip(curves, pairs, strict=False)
    }
    page = template.render(
        "".join((FOLDER / part).read_text(encoding="utf-8") for part in ("parts.html", "page.html")),
        **findings._asdict() | {"curves": curves},
        labels={name: wording.short(name) for name in curves},
        style=template.style(palette.css(sorted(curves), [], looks)),
        version=__version__,
        tables=tables.simulation(findings),
        log_tables=tables.log(findings),
        look=lambda series: palette.styles(list(series), looks),
        first_look=wording.screen(findings.screen),
        words=wording.WORDS,
    )
    return printable(page)
