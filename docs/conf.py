"""How Sphinx makes a site of the pages, which needs no network to be built or read; ``make docs`` runs it."""

import re
from pathlib import Path
from posixpath import normpath

import graphdr

project, version = "GraphDR-LinUCB", graphdr.__version__
extensions = ["myst_parser"]
root_doc = "docs/README"
include_patterns = ["*.md", "docs/*.md", "data/README.md", "results/README.md"]
exclude_patterns = [".*", "build", "src", "tests", "data/[!R]*", "results/[!R]*"]  # where there are no pages
html_theme, html_title, html_copy_source = "furo", project, False
myst_heading_anchors = 4  # as GitHub has them
FIRST = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={root_doc}.html">\n'


def add_menu(app, page: str, source: list[str]) -> None:
    """Add the menu of the site to the index: the pages that it links to, under its own headings."""
    if page != root_doc:
        return
    seen: set[str] = set()
    for section in source[0].split("\n## ")[1:]:
        links = [normpath(f"/docs/{link}") for link in re.findall(r"\]\(([^)#:]+)\.md\)", section)]
        new = [link for link in dict.fromkeys(links) if link not in seen]
        seen.update(new)
        source[0] += "\n".join(["\n```{toctree}", ":hidden:", f":caption: {section.splitlines()[0]}", *new, "```\n"])


def setup(app) -> None:
    """Let the site begin with the index."""
    app.connect("source-read", add_menu)
    app.connect("build-finished", lambda app, _: Path(app.outdir, "index.html").write_text(FIRST, encoding="utf-8"))
