"""The static half of the page: its template, style and scripts, inlined into one document."""

import base64
import hashlib
from importlib.resources import files

STYLES = ("page.css", "charts.css", "tables.css", "parts.css")  # print comes last
SCRIPTS = (
    "dom.js", "words.js", "scale.js", "frame.js", "lines.js", "strip.js", "dots.js", "table.js",
    "story.js", "scatter.js", "claims.js", "leaderboard.js", "experiments.js", "datasets.js", "build.js", "page.js",
)  # fmt: skip


def fill(document: dict, colours: str, overview: str | None) -> str:
    """Return the page for a document; data reach it as JSON alone, in which no ``<`` can end the script.

    The picture is an element of its own document, so that neither its ids nor its style reach the page. The browser
    runs no script and takes no style but these two, whose hashes the page states.
    """
    from markupsafe import Markup

    picture = overview and base64.b64encode(overview.encode()).decode()
    ours = {"style": style(colours), "script": '"use strict";\n' + "".join(map(_text, SCRIPTS))}
    hashes = {name: Markup(_hash(text)) for name, text in ours.items()}
    parts = {name: Markup(text) for name, text in ours.items()}
    return render(_text("page.html"), document=document, picture=picture, hashes=hashes, **parts)


def render(page: str, **parts: object) -> str:
    """Fill a page: every text is escaped that is not ``Markup`` of ours, and a part that is missing is an error."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.from_string(page).render(parts)


def style(colours: str) -> str:
    """Return the style of the page, the colours of methods and data sets first."""
    return colours + "".join(map(_text, STYLES))


def _hash(text: str) -> str:
    """Return the hash of an inlined part, as a content-security policy has it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _text(name: str) -> str:
    return (files("graphdr.show.report") / "static" / name).read_text(encoding="utf-8")
