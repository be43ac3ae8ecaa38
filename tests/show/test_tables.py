"""Tables: the right number in every place, the lowest in bold, and text that markdown and LaTeX can read."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from graphdr.core.records import from_json, to_json
from graphdr.facts.registry import FACTS
from graphdr.plan import jobs
from graphdr.scores import cells
from graphdr.scores.predictor_scores import SCORES
from graphdr.show import tables
from graphdr.show.tables import Latex, Markdown, Quantity, RowKey, TableSpec

INSTANCES = 4
TIDY = ["problem", "instance", "draw", "method", "predictor", "quantity", "value", "sem", "n"]


def measurements(spec: TableSpec, methods: list[str]) -> tuple[pd.DataFrame, dict]:
    """Make a different number for all that a table may ask for: as tidy table, and by what identifies it.

    Further draws are there, too, and stand in no table of several instances.
    """
    rows, numbers = [], {}
    predictors = sorted({cells.parse(column, text).key or "" for column, text in cells.named(spec.columns)})
    for problem in {row.problem: None for row in spec.row_keys} | {"unasked": None}:
        for quantity in spec.quantities:
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


def asked(spec: TableSpec) -> list[str]:
    """Return the methods that a table asks for, and one that it does not."""
    columns = [cells.parse(column, text).key for column, text in cells.named(spec.columns)]
    named = {*columns, *(row.method for row in spec.row_keys)} - {None}
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
    specs = {
        name: from_json(TableSpec, to_json(jobs.make_table(whole_plan, name).params._asdict()))
        for name in config["tables"]
    }
    made = {name: measurements(spec, asked(spec)) for name, spec in specs.items()}
    return {name: (spec, tables.build(spec, made[name][0]), made[name][1]) for name, spec in specs.items()}


def test_every_cell_of_every_table_is_the_number_that_it_names(built):
    for spec, table, numbers in built.values():
        columns = cells.named(spec.columns)
        assert len(table) == len(spec.row_keys) * len(columns)
        entries = {(entry["row"], entry["column"]): entry for entry in table.to_dict("records")}
        assert len(entries) == len(table)
        for row in spec.row_keys:
            for column, text in columns:
                cell = cells.parse(column, text)
                key = None if cell.quantity in FACTS else cell.key or row.method
                values = [numbers[row.problem, cell.quantity, key, instance] for instance in range(INSTANCES)]
                entry = entries[row.label, column]
                if cell.statistic in cells.OVER_INSTANCES:
                    over = {"share": np.mean, "largest": np.max}[cell.statistic](values)
                    assert (entry["value"], entry["n"], len(entry["panel"])) == (over, INSTANCES, 0)
                    continue
                assert (entry["quantity"], entry["n"]) == (cell.quantity, 5)
                if cell.statistic == "n":
                    assert entry["value"] == 5
                    continue
                assert_allclose([entry["value"], entry["sem"]], [values[0], values[0] / 8])
                assert_allclose(entry["panel"], values)
                spread = [entry[place] for place in ("panel_low", "panel_median", "panel_high")]
                assert_allclose(spread, np.quantile(values, [0.05, 0.5, 0.95]))


@pytest.mark.parametrize("style", [Markdown, Latex])
def test_every_table_renders_with_equally_long_lines(built, style):
    for spec, table, _ in built.values():
        text = tables.render(table, spec, style)
        assert set(cells_per_line(text, style)) == {len(spec.columns) + 1}
        asked = dict(cells.named(spec.columns))
        for entry in table.itertuples():
            digits = cells.digits(cells.parse("x", asked[entry.column]), spec.quantities[entry.quantity].digits)
            assert f"{entry.value:.{digits}f}" in text
        assert style is Markdown or balanced(text)


SPEC = TableSpec(
    caption="A caption",
    rows="method",
    heading="method",
    columns=[{"r": "regret"}, {"s": "regret.sem"}, {"c": "regret@b"}, {"zeta": "zeta"}, {"z": "slope@a"}],
    bold=None,
    row_keys=[RowKey(name, "p", method=name) for name in ("a", "b", "none")],
    labels={"a": "Method A", "b": "B & C|D"},
    controls=[],
    notes=["B: a note of 5 %"],
    quantities={
        "regret": Quantity("R(T)", 1, "$R(T)$", better="low"),
        "zeta": Quantity("ζ_k", 2, "$\\zeta_k$"),
        "slope": Quantity("slope", 0, better="low"),
    },
)
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


def test_no_data_is_distinguished_from_no_such_quantity(small):
    """A method that was never run has no data; one that was run may still have no slope."""
    value = small.pivot(index="row", columns="column", values="value").loc[["a", "b", "none"]]
    assert_allclose(value[["r", "s", "c", "zeta", "z"]].T, [
        [12.34, 7, np.nan], [0.56, np.nan, np.nan], [7, 7, 7], [0.125] * 3, [np.nan] * 3,
    ])  # fmt: skip
    assert small.loc[small["column"] == "s", "sem"].isna().all()  # a standard error has none itself
    n = small.pivot(index="row", columns="column", values="n").loc[["a", "b", "none"]].astype(float)
    assert_allclose(n[["r", "s", "z"]].T, [[8, 1, 0], [8, 1, 0], [np.nan] * 3])
    columns = [{"zeta": "zeta"}, {"rho": "rho"}, {"z": "slope@a"}, {"c": "regret@c"}]
    nowhere = SPEC._replace(row_keys=[RowKey(name, name) for name in ("p", "gone")], columns=columns)
    n = tables.build(nowhere, MEASURED).pivot(index="row", columns="column", values="n").astype(float)
    assert_allclose(n.loc["p", ["zeta", "rho", "z", "c"]], [1, 0, np.nan, 0])
    assert_allclose(n.loc["gone", ["zeta", "rho", "z", "c"]], 0)


def test_the_draws_are_the_panel_where_there_is_one_instance():
    draws = [("p", 0, draw, "a", None, "regret", value, 0.5, 8) for draw, value in enumerate([4.0, 1.0, 2.0, 9.0])]
    facts = [("p", 0, 0, None, None, "zeta", 0.5, np.nan, 1)]
    spec = SPEC._replace(row_keys=SPEC.row_keys[:1], columns=[{"r": "regret"}, {"zeta": "zeta"}])
    alone = tables.build(spec, pd.DataFrame(draws + facts, columns=TIDY)).set_index("column")
    assert (alone.loc["r", ["value", "sem", "n"]] == [4.0, 0.5, 8]).all()
    assert_allclose(alone.loc["r", "panel"], [4, 1, 2, 9])
    spread = alone.loc["r", ["panel_low", "panel_median", "panel_high"]].astype(float)
    assert_allclose(spread, np.quantile([4, 1, 2, 9], [0.05, 0.5, 0.95]))
    assert alone.loc["zeta", "panel"].tolist() == [0.5]
    second = [("p", 1, 0, "a", None, "regret", 5.0, 0.5, 8)]
    several = tables.build(spec, pd.DataFrame(draws + facts + second, columns=TIDY)).set_index("column")
    assert several.loc["r", "panel"].tolist() == [4.0, 5.0]


def test_the_notes_name_what_the_data_are_not():
    marks = {"ml": {"release": "of 2014", "incomplete": "9 of 10 lines"}, "other": {"unverified": "not the bytes"}}
    assert tables.mark_notes(marks, {"ml": "MovieLens"}) == [
        "MovieLens: release (of 2014).",
        "MovieLens: incomplete (9 of 10 lines).",
        "other: unverified (not the bytes).",
    ]
    assert tables.mark_notes({}, {"ml": "MovieLens"}) == []


NUMBERS = [("x", "r1", 1.0), ("x", "r2", 5.0), ("y", "r1", 3.0), ("y", "r2", 2.0), ("z", "r1", np.nan)]
NUMBERS += [("x", "s", 0.5), ("y", "s", 0.4), ("x", "zeta", 0.1), ("y", "zeta", 0.0)]
COLUMNS = [{"r1": "regret@a"}, {"r2": "regret@b"}, {"s": "slope@a"}, {"zeta": "zeta"}]


@pytest.mark.parametrize(
    ("bold", "controls", "best"),
    [
        (None, [], set()),
        ("column_min", [], {("x", "r1"), ("y", "r2"), ("y", "s")}),
        ("row_min", [], {("x", "r1"), ("y", "r2"), ("x", "s"), ("y", "s")}),  # within a quantity
        ("column_min", ["y"], {("x", "r1"), ("x", "r2"), ("x", "s")}),  # where rows are methods
        ("row_min", ["a"], {("x", "r2"), ("y", "r2")}),  # where columns are
        ("row_min", ["a", "b"], set()),
        ("column_min", ["none"], {("x", "r1"), ("y", "r2"), ("y", "s")}),
    ],
)
def test_the_lowest_of_what_is_better_low_is_bold_and_no_control_is(bold, controls, best):
    table = pd.DataFrame(NUMBERS, columns=["row", "column", "value"])
    quantities = {"r1": "regret", "r2": "regret", "s": "slope", "zeta": "zeta"}
    table["quantity"] = table["column"].map(quantities)
    assert tables.best_cells(table, SPEC._replace(bold=bold, columns=COLUMNS, controls=controls)) == best


@pytest.mark.parametrize("style", [Markdown, Latex])
def test_the_panel_is_explained_where_there_is_an_error_or_a_panel(small, style):
    note = style.escape(tables.PANEL_NOTE)
    assert note in tables.render(small, SPEC, style)
    facts = SPEC._replace(columns=[{"zeta": "zeta"}], heading="Way")
    text = tables.render(tables.build(facts, MEASURED), facts, style)
    assert note not in text
    assert SPEC.rows not in text
    assert "Way" in text


def test_markdown_by_hand(small):
    lines = tables.render(small, SPEC._replace(bold="column_min"), Markdown).splitlines()
    assert lines[0] == "**A caption**"
    assert lines[2] == "| method | R(T) | sem of R(T) | R(T), B & C\\|D | ζ_k | slope, Method A |"
    values = "7.0<br><sub>8.0 (7.1 … 8.9)</sub>"
    assert lines[4] == f"| Method A | 12.3 ± 0.6 | **0.6** | **7.0**{values[3:]} | 0.12 | – |"
    assert lines[6] == f"| none | no data | no data | {values} | 0.12 | – |"
    assert lines[-1] == "B: a note of 5 %"


def test_latex_by_hand(small):
    text = tables.render(small, SPEC._replace(bold="column_min"), Latex)
    assert "\\begin{tabular}{lrrrrr}" in text
    assert "method & $R(T)$ & sem of $R(T)$ & $R(T)$, B \\& C|D & $\\zeta_k$ & slope, Method A \\\\" in text
    values = "{\\scriptsize $8.0$ ($7.1$ to $8.9$)}"
    assert f"B \\& C|D & $\\mathbf{{7.0}}$ {values} & -- & $7.0$ {values} & $0.12$ & -- \\\\" in text
    assert "a note of 5 \\%" in text


special = st.text("ab |&%$#_{}")


@given(text=st.text("ab |\\&%$#_{}"))
def test_latex_shows_what_was_written(text):
    escaped = Latex.escape(text)
    spelled = re.compile(r"\\textbackslash\{\}|\\[&%$#_{}]|[ab |]")
    assert spelled.sub("", escaped) == ""
    read = (match.replace("textbackslash{}", "\\")[-1] for match in spelled.findall(escaped))
    assert "".join(read) == text


@settings(max_examples=30)
@given(label=special, caption=special, style=st.sampled_from([Markdown, Latex]))
def test_no_label_breaks_a_table(small, label, caption, style):
    spec = SPEC._replace(labels={"a": label, "b": label}, caption=caption, notes=[f"B: {caption}"])
    text = tables.render(small, spec, style)
    assert style is Markdown or balanced(text)
    assert cells_per_line(text, style) == [6] * (4 if style is Latex else 5)
