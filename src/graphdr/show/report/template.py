"""Fill the template of the page, with its style and scripts inlined."""

import base64
import hashlib
from importlib.resources import files

from graphdr.core.records import Json

STYLES = ("page.css", "charts.css", "tables.css", "parts.css")  # print comes last
SCRIPTS = (
    "dom.js", "words.js", "scale.js", "frame.js", "lines.js", "strip.js", "dots.js", "table.js",
    "story.js", "scatter.js", "claims.js", "leaderboard.js", "experiments.js", "datasets.js", "build.js", "page.js",
)  # fmt: skip


def fill(document: Json, colours: str, overview: str | None) -> str:
    """Return the page for a document, which it contains as JSON with every ``<`` escaped.

    The picture is a document of its own, so that neither its ids nor its style reach the page. The browser runs only
    the script, and applies only the style, whose hashes the page states.
    """
    from markupsafe import Markup

    picture = overview and base64.b64encode(overview.encode()).decode()
    inlined = {"style": style(colours), "script": '"use strict";\n' + "".join(map(_text, SCRIPTS))}
    hashes = {name: Markup(_hash(text)) for name, text in inlined.items()}
    parts = {name: Markup(text) for name, text in inlined.items()}
    return render(_text("page.html"), document=document, picture=picture, hashes=hashes, **parts)


def render(page: str, **parts: object) -> str:
    """Fill a page; all texts except ``Markup`` are escaped, and a missing part is an error."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.from_string(page).render(parts)


def style(colours: str) -> str:
    """Return the style of the page, the colours of methods and data sets first."""
    return colours + "".join(map(_text, STYLES))


def _hash(text: str) -> str:
    """Return the hash of an inlined part, for the content-security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _text(name: str) -> str:
    return (files("graphdr.show.report") / "static" / name).read_text(encoding="utf-8")
