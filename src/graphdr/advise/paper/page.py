"""Advice as one self-contained page in the style of the report, without scripts."""

from pathlib import Path

from graphdr import __version__
from graphdr.advise.paper import tables, wording
from graphdr.advise.paper.findings import Findings
from graphdr.core.terminal import printable
from graphdr.show import palette
from graphdr.show.report import template

FOLDER = Path(__file__).parent


def fill(findings: Findings) -> str:
    """Return the page; the template escapes all texts of the user and draws both charts."""
    page = template.render(
        "".join(part.read_text(encoding="utf-8") for part in (FOLDER.parent / "parts.html", FOLDER / "page.html")),
        **findings._asdict(),
        style=template.style(palette.css(sorted(findings.regret), [], findings.styles)),
        version=__version__,
        tables=tables.simulation(findings),
        log_tables=tables.log(findings),
        by_k={m: [[float(k), regret.mean] for k, regret in by_k.items()] for m, by_k in findings.regret.items()},
        look=lambda series: palette.styles(list(series), findings.styles),
        words=wording.WORDS,
    )
    return printable(page)
