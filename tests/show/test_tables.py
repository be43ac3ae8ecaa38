"""Tables: the right number in every place, the lowest in bold, and text that markdown and LaTeX can read."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.facts.registry import FACTS
from graphdr.plan import jobs
from graphdr.scores import cells
from graphdr.scores.predictor_scores import SCORES
from graphdr.show import tables
from graphdr.show.tables import Latex, Markdown

INSTANCES = 4
TIDY = ["problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n"]


def measurements(spec: dict, methods: list[str]) -> tuple[pd.DataFrame, dict]:
    """Make a different number for all that a table may ask for: as tidy table, and by what identifies it.

    Further draws are there, too, and stand in no table of several instances.
    """
    rows, numbers = [], {}
    predictors = sorted({cells.parse(column, text).key or "" for column, text in cells.named(spec["columns"])})
    for problem in {row["problem"]: None for row in spec["row_keys"]} | {"unasked": None}:
        for quantity in spec["quantities"]:
            scored = quantity in {*SCORES, "mean"}
            for key in [None] if quantity in FACTS else predictors if scored else methods:
                method, predictor = (None, key) if scored else (key, None)
                for instance in range(INSTANCES):
                    value = float(len(rows) + 1)
                    rows.append((problem, instance, 0, method, predictor, quantity, value, value / 8, 5))
                    numbers[problem, quantity, key, instance] = value
                if quantity == "regret":
                    rows.append((problem, 0, 1, method, predictor, quantity, -1.0, -1.0, 5))
    return pd.DataFrame(rows, columns=TIDY), numbers


def asked(spec: dict) -> list[str]:
    """Return the methods that a table asks for, and one that it does not."""
    columns = [cells.parse(column, text).key for column, text in cells.named(spec["columns"])]
    named = {*columns, *(row.get("method") for row in spec["row_keys"])} - {None}
    return [*sorted(named), "unasked"]


def balanced(latex: str) -> bool:
    """Tell whether braces, dollars and environments close in the order in which they open."""
    plain = re.sub(r"\\[&%$#_{}\\]", "", latex)
    depth = np.cumsum([{"{": 1, "}": -1}.get(char, 0) for char in plain])
    stack = []
    for verb, name in re.findall(r"\\(begin|end)\{(\w+)\}", latex):
        if verb == "begin":
            stack.append(name)
        elif not stack or stack.pop() != name:
            return False
    return not stack and depth.min() == 0 == depth[-1] and plain.count("$") % 2 == 0


def cells_per_line(text: str, style) -> list[int]:
    """Count the cells of every line of a rendered table."""
    if style is Latex:
        lines = [line for line in text.splitlines() if line.endswith("\\\\")]
        return [len(re.findall(r"(?<!\\)(?:\\\\)*&", line)) + 1 for line in lines]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) - 1 for line in lines]


@pytest.fixture(scope="module")
def built(config, whole_plan):
    """Every table of the configuration: what it is to show, the table, and the numbers behind it."""
    specs = {name: jobs.make_table(whole_plan, name).params._asdict() for name in config["tables"]}
    made = {name: measurements(spec, asked(spec)) for name, spec in specs.items()}
    return {name: (spec, tables.build(spec, made[name][0]), made[name][1]) for name, spec in specs.items()}


def test_every_cell_of_every_table_is_the_number_that_it_names(built):
    for spec, table, numbers in built.values():
        columns = cells.named(spec["columns"])
        assert len(table) == len(spec["row_keys"]) * len(columns)
        found = {(entry["row"], entry["column"]): entry for entry in table.to_dict("records")}
        assert len(found) == len(table)
        for row in spec["row_keys"]:
            for column, text in columns:
                cell = cells.parse(column, text)
                key = None if cell.quantity in FACTS else cell.key or row.get("method")
                panel = [numbers[row["problem"], cell.quantity, key, instance] for instance in range(INSTANCES)]
                entry = found[row["label"], column]
                if cell.field in cells.OVER_INSTANCES:
                    over = {"share": np.mean, "largest": np.max}[cell.field](panel)
                    assert (entry["value"], entry["n"], len(entry["panel"])) == (over, INSTANCES, 0)
                    continue
                assert (entry["quantity"], entry["n"]) == (cell.quantity, 5)
                if cell.field == "n":
                    assert entry["value"] == 5
                    continue
                assert_allclose([entry["value"], entry["sem"]], [panel[0], panel[0] / 8])
                assert_allclose(entry["panel"], panel)
                spread = [entry[place] for place in ("panel_low", "panel_median", "panel_high")]
                assert_allclose(spread, np.quantile(panel, [0.05, 0.5, 0.95]))


@pytest.mark.parametrize("style", [Markdown, Latex])
def test_every_table_renders_with_equally_long_lines(built, style):
    for spec, table, _ in built.values():
        text = tables.render(table, spec, style)
        assert set(cells_per_line(text, style)) == {len(spec["columns"]) + 1}
        asked = dict(cells.named(spec["columns"]))
        for entry in table.itertuples():
            digits = spec["quantities"][entry.quantity]["digits"]
            assert f"{entry.value:.{cells.digits(cells.parse('x', asked[entry.column]), digits)}f}" in text
        assert style is Markdown or balanced(text)


SPEC = {
    "caption": "A caption",
    "rows": "method",
    "columns": [{"r": "regret"}, {"s": "regret.sem"}, {"c": "regret@b"}, {"zeta": "zeta"}, {"z": "slope@a"}],
    "row_keys": [{"label": name, "problem": "p", "method": name} for name in ("a", "b", "none")],
    "labels": {"a": "Method A", "b": "B & C|D"},
    "notes": ["B: a note of 5 %"],
    "controls": [],
    "quantities": {
        "regret": {"label": "R(T)", "tex": "$R(T)$", "digits": 1, "better": "low"},
        "zeta": {"label": "ζ_k", "tex": "$\\zeta_k$", "digits": 2},
        "slope": {"label": "slope", "digits": 0, "better": "low"},
    },
}
MEASURED = pd.DataFrame(
    [
        ("p", 0, 0, "a", None, "regret", 12.34, 0.56, 8),
        ("p", 0, 0, "b", None, "regret", 7.0, np.nan, 1),
        ("p", 1, 0, "b", None, "regret", 9.0, 0.1, 8),
        ("p", 0, 0, None, None, "zeta", 0.125, np.nan, 1),
        ("q", 0, 0, "a", None, "slope", 1.0, 0.1, 8),
    ],
    columns=TIDY,
)


@pytest.fixture(scope="module")
def small() -> pd.DataFrame:
    return tables.build(SPEC, MEASURED)


def test_fields_facts_keys_and_gaps(small):
    value = small.pivot(index="row", columns="column", values="value").loc[["a", "b", "none"]]
    assert_allclose(value["r"], [12.34, 7, np.nan])
    assert_allclose(value["s"], [0.56, np.nan, np.nan])
    assert_allclose(value["c"], [7, 7, 7])
    assert_allclose(value["zeta"], [0.125] * 3)
    assert_allclose(value["z"], [np.nan] * 3)
    assert small.loc[small["column"] == "s", "sem"].isna().all()  # a standard error has none itself


def test_no_data_is_told_apart_from_no_such_quantity(small):
    """A method that was never run has no data; one that was run may still have no slope."""
    n = small.pivot(index="row", columns="column", values="n").loc[["a", "b", "none"]].astype(float)
    assert_allclose(n["r"], [8, 1, 0])
    assert_allclose(n["s"], [8, 1, 0])
    assert_allclose(n["z"], [np.nan] * 3)
    nowhere = SPEC | {"row_keys": [{"label": "p", "problem": "p"}, {"label": "gone", "problem": "gone"}]}
    nowhere["columns"] = [{"zeta": "zeta"}, {"rho": "rho"}, {"z": "slope@a"}, {"c": "regret@c"}]
    n = tables.build(nowhere, MEASURED).pivot(index="row", columns="column", values="n").astype(float)
    assert_allclose(n.loc["p", ["zeta", "rho", "z", "c"]], [1, 0, np.nan, 0])
    assert_allclose(n.loc["gone", ["zeta", "rho", "z", "c"]], 0)


def test_the_draws_are_the_panel_where_there_is_one_instance():
    draws = [("p", 0, draw, "a", None, "regret", value, 0.5, 8) for draw, value in enumerate([4.0, 1.0, 2.0, 9.0])]
    others = [("p", 0, 0, "b", None, "regret", 6.0, 0.5, 8), ("p", 0, 0, None, None, "zeta", 0.5, np.nan, 1)]
    spec = SPEC | {"row_keys": SPEC["row_keys"][:2], "columns": [{"r": "regret"}, {"zeta": "zeta"}]}
    alone = tables.build(spec, pd.DataFrame(draws + others, columns=TIDY)).set_index(["row", "column"])
    assert (alone.loc[("a", "r"), ["value", "sem", "n"]] == [4.0, 0.5, 8]).all()
    assert_allclose(alone.loc[("a", "r"), "panel"], [4, 1, 2, 9])
    spread = alone.loc[("a", "r"), ["panel_low", "panel_median", "panel_high"]].astype(float)
    assert_allclose(spread, np.quantile([4, 1, 2, 9], [0.05, 0.5, 0.95]))
    assert alone.loc[("b", "r"), "panel"].tolist() == [6.0]
    assert alone.loc[("a", "zeta"), "panel"].tolist() == [0.5]
    second = [("p", 1, 0, "a", None, "regret", 5.0, 0.5, 8)]
    several = tables.build(spec, pd.DataFrame(draws + others + second, columns=TIDY)).set_index(["row", "column"])
    assert several.loc[("a", "r"), "panel"].tolist() == [4.0, 5.0]


def test_the_notes_name_what_the_data_are_not():
    marks = {"ml": {"release": "of 2014", "incomplete": "9 of 10 lines"}, "other": {"unverified": "not the bytes"}}
    assert tables.mark_notes(marks, {"ml": "MovieLens"}) == [
        "MovieLens: release (of 2014).",
        "MovieLens: incomplete (9 of 10 lines).",
        "other: unverified (not the bytes).",
    ]
    assert tables.mark_notes({}, {"ml": "MovieLens"}) == []


@pytest.mark.parametrize(
    ("bold", "best"),
    [
        (None, set()),
        ("column_min", {("x", "r1"), ("y", "r2"), ("y", "s")}),
        ("row_min", {("x", "r1"), ("y", "r2"), ("x", "s"), ("y", "s")}),  # within a quantity
    ],
)
def test_the_lowest_of_what_is_better_low_is_bold(bold, best):
    rows = [("x", "r1", 1.0), ("x", "r2", 5.0), ("y", "r1", 3.0), ("y", "r2", 2.0), ("z", "r1", np.nan)]
    table = pd.DataFrame(rows, columns=["row", "column", "value"]).assign(quantity="regret")
    slopes = pd.DataFrame([("x", "s", 0.5), ("y", "s", 0.4)], columns=["row", "column", "value"])
    facts = pd.DataFrame([("x", "zeta", 0.1), ("y", "zeta", 0.0)], columns=["row", "column", "value"])
    table = pd.concat([table, slopes.assign(quantity="slope"), facts.assign(quantity="zeta")], ignore_index=True)
    columns = [{"r1": "regret@a"}, {"r2": "regret@b"}, {"s": "slope@a"}, {"zeta": "zeta"}]
    assert tables.best_cells(table, SPEC | {"bold": bold, "columns": columns}) == best


@pytest.mark.parametrize(
    ("bold", "controls", "best"),
    [
        ("column_min", ["y"], {("x", "r1"), ("x", "r2")}),  # where rows are methods
        ("row_min", ["a"], {("x", "r2"), ("y", "r2")}),  # where columns are
        ("row_min", ["a", "b"], set()),
        ("column_min", ["none"], {("y", "r1"), ("x", "r2")}),
    ],
)
def test_a_control_is_never_bold(bold, controls, best):
    rows = [("x", "r1", 2.0), ("y", "r1", 1.0), ("x", "r2", 3.0), ("y", "r2", 4.0)]
    table = pd.DataFrame(rows, columns=["row", "column", "value"]).assign(quantity="regret")
    columns = [{"r1": "regret@a"}, {"r2": "regret@b"}]
    assert tables.best_cells(table, SPEC | {"bold": bold, "columns": columns, "controls": controls}) == best


def test_nothing_is_bold_where_nothing_is_better_low():
    table = pd.DataFrame([("x", "zeta", "zeta", 0.1)], columns=["row", "column", "quantity", "value"])
    assert tables.best_cells(table, SPEC | {"bold": "column_min"}) == set()


@pytest.mark.parametrize("style", [Markdown, Latex])
def test_the_panel_is_explained_where_there_is_an_error_or_a_panel(small, style):
    note = style.escape(tables.PANEL_NOTE)
    assert note in tables.render(small, SPEC, style)
    facts = SPEC | {"columns": [{"zeta": "zeta"}], "heading": "Way"}
    text = tables.render(tables.build(facts, MEASURED), facts, style)
    assert note not in text
    assert SPEC["rows"] not in text
    assert "Way" in text


def test_markdown_by_hand(small):
    lines = tables.render(small, SPEC | {"bold": "column_min"}, Markdown).splitlines()
    assert lines[0] == "**A caption**"
    assert lines[2] == "| method | R(T) | sem of R(T) | R(T), B & C\\|D | ζ_k | slope, Method A |"
    assert lines[3] == "| --- | ---: | ---: | ---: | ---: | ---: |"
    panel = "7.0<br><sub>8.0 (7.1 … 8.9)</sub>"
    assert lines[4] == f"| Method A | 12.3 ± 0.6 | **0.6** | **7.0**{panel[3:]} | 0.12 | – |"
    assert lines[5] == f"| B & C\\|D | **7.0**{panel[3:]} | – | {panel} | 0.12 | – |"
    assert lines[6] == f"| none | no data | no data | {panel} | 0.12 | – |"
    assert lines[-1] == "B: a note of 5 %"


def test_latex_by_hand(small):
    text = tables.render(small, SPEC | {"bold": "column_min"}, Latex)
    assert balanced(text)
    assert "\\begin{tabular}{lrrrrr}" in text
    assert "method & $R(T)$ & sem of $R(T)$ & $R(T)$, B \\& C|D & $\\zeta_k$ & slope, Method A \\\\" in text
    panel = "{\\scriptsize $8.0$ ($7.1$ to $8.9$)}"
    assert f"Method A & $12.3 \\pm 0.6$ & $\\mathbf{{0.6}}$ & $\\mathbf{{7.0}}$ {panel} & $0.12$ & -- \\\\" in text
    assert f"B \\& C|D & $\\mathbf{{7.0}}$ {panel} & -- & $7.0$ {panel} & $0.12$ & -- \\\\" in text
    assert f"none & no data & no data & $7.0$ {panel} & $0.12$ & -- \\\\" in text
    assert "a note of 5 \\%" in text


special = st.text("ab |&%$#_{}")


@given(text=st.text("ab |\\&%$#_{}"))
def test_latex_shows_what_was_written(text):
    escaped = Latex.escape(text)
    spelled = re.compile(r"\\textbackslash\{\}|\\[&%$#_{}]|[ab |]")
    assert spelled.sub("", escaped) == ""
    read = (match.replace("textbackslash{}", "\\")[-1] for match in spelled.findall(escaped))
    assert "".join(read) == text


@given(label=special, caption=special, style=st.sampled_from([Markdown, Latex]))
def test_no_label_breaks_a_table(small, label, caption, style):
    spec = SPEC | {"labels": {"a": label, "b": label}, "caption": caption, "notes": [f"B: {caption}"]}
    text = tables.render(small, spec, style)
    assert style is Markdown or balanced(text)
    assert cells_per_line(text, style) == [6] * (4 if style is Latex else 5)
