"""The pages: links lead somewhere, what they name exists, and what is written from the code is what the code says."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from docs import columns, glossary
from docs.markers import between_markers
from graphdr.cache import io
from graphdr.core.errors import UserError
from tests.support.project import ROOT

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in (".", "docs", "data", "results")
    for path in (ROOT / folder).glob("*.md" if folder != "results" else "README.md")  # the rest of it is built
)
ARCHITECTURE = "docs/architecture.md"


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def prose(page: str) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text_of(page), flags=re.S | re.M)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M), re.M)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def sections(page: str) -> dict[str, str]:
    """Return the parts of a page by their second-level headings."""
    return dict(part.split("\n", 1) for part in text_of(page).split("\n## ")[1:])


def rows(text: str) -> list[dict[str, str]]:
    """Return the rows of all Markdown tables in a text, by the heads of their columns."""
    records = []
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.M):
        head, _, *body = ([cell.strip() for cell in line.strip("| ").split(" |")] for line in table.splitlines())
        records += [dict(zip(head, [*cells, ""], strict=False)) for cells in body]
    return records


def named(path: str):
    """Return what a path of subpackage, module and name leads to."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"graphdr.{module}"), name)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file_and_a_heading(page):
    here = ROOT / page
    for address in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if address.startswith(("https://", "http://")):
            continue
        file, _, anchor = address.partition("#")
        target = (here.parent / file).resolve() if file else here
        assert target.exists(), address
        assert target.is_relative_to(ROOT), address
        if anchor:
            assert anchor in anchors(target), address


def test_the_index_leads_to_every_page():
    linked = {
        (ROOT / "docs" / address).resolve() for address in re.findall(r"\]\(([^)#]+)\)", text_of("docs/README.md"))
    }
    others = {ROOT / page for page in ("README.md", "docs/README.md", "CHANGELOG.md")}
    assert {(ROOT / page).resolve() for page in PAGES} - others <= linked


@pytest.mark.parametrize("page", PAGES)
def test_targets_of_make_and_commands_that_pages_name_exist(page):
    if page == "CHANGELOG.md":  # what was
        return
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"`make ([a-z0-9-]+)", text_of(page))) <= targets
    assert set(re.findall(r"^make ([a-z0-9-]+)", text_of(page), re.M)) <= targets
    commands = set(re.findall(r"(?:^|`)graphdr ([a-z]+) ", text_of(page), re.M))
    assert commands <= {"advise", "ls", "migrate", "show", "summary", "verify", "why"}


@pytest.mark.parametrize(
    ("page", "writer", "name"),
    [(f"docs/{name}", glossary, name) for name in glossary.parts()] + [(name, columns, name) for name in columns.FILES],
)
def test_terms_verdicts_and_columns_are_those_of_the_code(page, writer, name):
    assert text_of(page) == writer.refreshed(name), "run make docs"


def test_every_function_of_the_glossary_exists():
    table = rows(text_of("docs/glossary.md").split("\n## ")[0])
    assert len(table) >= 30
    for row in table:
        names = re.findall(r"`(\w+(?:\.\w+){2,3})`", row["function"])
        assert names, row
        for name in names:
            assert named(name) is not None


# The architecture

WALK = rows(sections(ARCHITECTURE)["The way of one number"])
KINDS = {kind for page in columns.FILES for _, kind, *_ in columns.files(page)}
COLUMNS = {column for kind in KINDS for column in io.nothing(kind)}


@pytest.mark.parametrize("hop", WALK, ids=lambda hop: hop["file"].strip("`"))
def test_every_hop_of_the_walk_is_there(hop):
    stage, file = hop["rule and stage"].strip("`"), hop["file"].strip("`")
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    assert f"rule {stage}:" in rules
    assert callable(import_module(f"graphdr.stages.{stage}").main)
    assert callable(named(hop["function"].strip("`")))
    if file.endswith(".parquet"):
        assert set(hop["columns"].strip("`").split(", ")) <= COLUMNS


def test_every_subpackage_is_in_the_table_of_the_architecture():
    subpackages = {path.parent.name for path in (ROOT / "src/graphdr").glob("*/__init__.py")}
    assert subpackages <= {row["subpackage"].strip("`") for row in rows(text_of(ARCHITECTURE)) if "subpackage" in row}


# What is written from the code


def test_every_kind_that_is_written_stands_in_a_table_of_columns():
    sources = [path.read_text() for path in (ROOT / "src/graphdr").rglob("*.py")]
    written = {kind for source in sources for kind in re.findall(r'io\.write(?:_parts)?\(\s*"(\w+)"', source)}
    assert "runs" in written
    assert written <= KINDS, "add it to docs/columns.py"


def test_a_page_without_its_markers_is_one_line():
    with pytest.raises(UserError, match="PAGE: the markers <!-- parts --> and <!-- /parts --> are not both there"):
        between_markers("<!-- /parts --> <!-- parts -->", "parts", "", "PAGE")
    assert between_markers("a <!-- x --> old <!-- /x --> b", "x", "new", "") == "a <!-- x -->\nnew\n<!-- /x --> b"
