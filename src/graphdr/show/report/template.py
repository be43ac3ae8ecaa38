"""The static half of the page: its template, style and scripts, inlined into one document."""

import base64
import hashlib
import json
from importlib.resources import files

STYLES = ("page.css", "charts.css", "tables.css", "parts.css")  # print comes last
SCRIPTS = (
    "dom.js", "scale.js", "frame.js", "lines.js", "strip.js", "dots.js", "table.js",
    "headline.js", "experiments.js", "datasets.js", "claims.js", "build.js", "page.js",
)  # fmt: skip


def digest() -> str:
    """Hash all static files: a parameter of the job, since the fingerprint of a stage covers Python alone."""
    return hashlib.sha256("\0".join(map(_text, ("page.html", *STYLES, *SCRIPTS))).encode()).hexdigest()[:16]


def fill(document: dict, colours: str, overview: str | None) -> str:
    """Return the page for a document; data reach it as JSON alone, in which no ``<`` can end the script."""
    parts = {
        "style": style(colours),
        "overview": _image(
            overview, "The pipeline on the data themselves: graph, eigenvectors, projected arms, regret"
        ),
        "data": embedded(document),
        "script": '"use strict";\n' + "".join(map(_text, SCRIPTS)),
    }
    page = _text("page.html")
    for name, text in parts.items():
        page = page.replace(f"<!-- {name} -->", text)
    return page


def style(colours: str) -> str:
    """Return the style of the page, the colours of methods and data sets first."""
    return colours + "".join(map(_text, STYLES))


def embedded(document: dict) -> str:
    """Return JSON that is safe inside a script element, whatever the texts in it hold."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _image(svg: str | None, alt: str) -> str:
    """Return a picture as an element of its own document, so that neither its ids nor its style reach the page."""
    if svg is None:
        return ""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">'


def _text(name: str) -> str:
    return (files("graphdr.show.report") / "static" / name).read_text(encoding="utf-8")
