"""The pages: links lead somewhere, what they name exists, and what is written from the code is what the code says."""

import inspect
import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs import columns, glossary, house
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
    found = []
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.M):
        head, _, *body = ([cell.strip() for cell in line.strip("| ").split(" |")] for line in table.splitlines())
        found += [dict(zip(head, [*cells, ""], strict=False)) for cells in body]
    return found


def named(path: str):
    """Return what a path of room, module and name leads to."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"graphdr.{module}"), name)


def test_the_readme_can_be_read_in_one_go():
    assert len(text_of("README.md").splitlines()) <= 150


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
    assert commands <= {"advise", "ls", "show", "summary", "verify", "why"}


@pytest.mark.parametrize("page", glossary.parts())
def test_terms_and_verdicts_are_those_of_the_report(page):
    assert text_of(f"docs/{page}") == glossary.refreshed(page), "run make docs"


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
ADDED = rows(sections(ARCHITECTURE)["Where to add"])


@pytest.mark.parametrize("hop", WALK, ids=lambda hop: hop["file"].strip("`"))
def test_every_hop_of_the_walk_is_there(hop):
    stage, file = hop["rule and stage"].strip("`"), hop["file"].strip("`")
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    assert f"rule {stage}:" in rules
    assert callable(import_module(f"graphdr.stages.{stage}").main)
    assert callable(named(hop["function"].strip("`")))
    if file.endswith(".parquet"):
        assert set(hop["columns"].strip("`").split(", ")) <= set(io.nothing(kind_of(file)))


def kind_of(file: str) -> str:
    """Return the kind of a file, by the patterns of the tables of columns."""
    for page in columns.FILES:
        files = columns.files(page)
        for pattern, kind, *_ in files:
            shape = re.escape(f"{Path(page).parent}/{pattern}")
            if re.fullmatch(re.sub(r"\\{\w+\\}", r"[\\w-]+", shape), file):
                return kind
    raise AssertionError(f"{file}: of no kind in docs/columns.py")


def test_the_walk_goes_through_every_stage_that_a_number_needs():
    stages = {path.stem for path in (ROOT / "src/graphdr/stages").glob("*.py")} - {"__init__"}
    aside = {"evaluate_predictors", "make_figure", "judge_claims"}
    assert {hop["rule and stage"].strip("`") for hop in WALK} == stages - aside


@pytest.mark.parametrize("row", ADDED, ids=lambda row: row["to add"])
def test_where_to_add_names_what_is_there(row):
    for path in re.findall(r"`(tests/[\w/.]+)`", row["tests, and what they ask for"]):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"`([a-z_]+/[\w/]+(?:\.py)?)", row["write in"]):
        assert (ROOT / "src/graphdr" / path).exists(), path
    if "(" not in row["signature"]:
        assert (ROOT / row["write in"].strip("`")).exists()
        return
    function = named(row["like"].strip("`"))
    shown = re.search(r"\((.*?)\)", row["signature"])[1].split(", ")
    spelled = []
    for parameter in inspect.signature(inspect.unwrap(function)).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in spelled:
            spelled.append("*")
        spelled.append(
            {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "") + parameter.name
        )
    assert shown == spelled
    module = import_module(f"graphdr.{row['like'].strip('`').rpartition('.')[0]}")
    for registry in re.findall(r"`([A-Z_]+)` there", row["enter it in"]):
        assert hasattr(module, registry), registry
    for registry, path in re.findall(r"`([A-Z_]+)` (?:of|in) `([a-z_/]+)\.py`", row["enter it in"]):
        assert hasattr(import_module(f"graphdr.{path.replace('/', '.')}"), registry), registry


# What is written from the code


def test_the_picture_of_the_house_is_what_the_imports_say():
    drawn = house.draw(house.read())
    assert text_of(house.PICTURE) == drawn, "run make docs"


def test_the_picture_goes_down_and_its_texts_stay_apart():
    drawn = house.read()
    place = {room: number for number, room in enumerate(drawn.rooms)}
    assert all(place[importer] < place[imported] for importer, imported in drawn.imports)
    assert {"graphs", "bandit", "theory"} <= drawn.compute
    picture = house.draw(drawn)
    texts = [
        (float(x), float(y), text)
        for x, y, text in re.findall(r'<text class="quiet" x="(.+?)" y="(.+?)">(.*?)<', picture)
    ]
    assert len(texts) > len(drawn.rooms)
    assert all(x + 6.5 * len(text) < house.LEFT + house.WIDTH for x, _, text in texts if x == house.LEFT + house.NAME)
    heights = sorted({y for _, y, _ in texts})
    assert min(high - low for low, high in pairwise(heights)) >= 12
    assert "prefers-color-scheme: dark" in picture
    assert ElementTree.fromstring(picture).tag.endswith("svg")


def test_the_table_of_rooms_is_what_the_code_says():
    assert text_of(ARCHITECTURE) == house.refreshed(text_of(ARCHITECTURE), house.read()), "run make docs"


def test_a_room_that_does_not_say_what_it_may_import_is_a_mistake(monkeypatch):
    monkeypatch.setattr("graphdr.core.__doc__", "Errors and such.")
    with pytest.raises(ValueError, match=r"graphdr/core/__init__\.py: the docstring does not say"):
        house.read()


@pytest.mark.parametrize("page", columns.FILES)
def test_the_tables_of_columns_are_what_the_schemas_say(page):
    assert text_of(page) == columns.refreshed(page), "run make docs"


def test_every_kind_that_is_written_stands_in_a_table_of_columns():
    sources = [path.read_text() for path in (ROOT / "src/graphdr").rglob("*.py")]
    written = {kind for source in sources for kind in re.findall(r'io\.write\(\s*"(\w+)"', source)}
    listed = {kind for page in columns.FILES for _, kind, *_ in columns.files(page)}
    assert "runs" in written
    assert written <= listed, "add it to docs/columns.py"


def test_a_page_without_its_markers_is_one_line():
    with pytest.raises(UserError, match="PAGE: the markers <!-- rooms --> and <!-- /rooms --> are not both there"):
        between_markers("<!-- /rooms --> <!-- rooms -->", "rooms", "", "PAGE")
    assert between_markers("a <!-- x --> old <!-- /x --> b", "x", "new", "") == "a <!-- x -->\nnew\n<!-- /x --> b"
