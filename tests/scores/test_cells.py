"""The grammar of a table's cell."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphdr.core.errors import UserError
from graphdr.scores import cells

names = st.text("abyz019_", min_size=1)


@given(quantity=names, field=st.sampled_from([None, *cells.STATISTICS, *cells.OVER_INSTANCES]), key=st.none() | names)
def test_what_is_spelled_is_parsed(quantity, field, key):
    text = quantity + (f".{field}" if field else "") + (f"@{key}" if key else "")
    assert cells.parse("here", text) == cells.Cell(quantity, field or "value", key)


@settings(max_examples=50)
@given(text=st.text() | st.text("ab.@_ \nA-value") | st.from_regex(r"[a-z.@]*"))
def test_anything_is_a_cell_or_one_clear_error(text):
    try:
        cell = cells.parse("tables.main.columns.x", text)
    except UserError as error:
        assert str(error).startswith(f"tables.main.columns.x: {text!r} is not ")
    else:
        spelled = (cell.quantity + field + key for field in ("", f".{cell.statistic}") for key in ("", f"@{cell.key}"))
        assert text in spelled
        assert cell.statistic in (*cells.STATISTICS, *cells.OVER_INSTANCES)


@pytest.mark.parametrize(
    "text", ["", "@", "regret@", ".value", "regret.mean", "regret@a@b", "regret.sem.n", "Regret", "regret ", "regret\n"]
)
def test_malformed_cells_are_rejected(text):
    with pytest.raises(UserError, match=r"value\|sem\|n"):
        cells.parse("here", text)


def test_every_cell_of_the_configuration_is_in_the_grammar(config):
    for name, table in config["tables"].items():
        for column, text in cells.named(table["columns"]):
            assert cells.parse(f"{name}.{column}", text).quantity in config["quantities"]


@pytest.mark.parametrize(
    ("text", "digits", "heading"),
    [("r", 3, "regret"), ("r.n", 0, "n of regret"), ("r.share@a", 2, "share of instances where regret"),
     ("r.largest", 3, "largest regret")],
)  # fmt: skip
def test_a_field_has_digits_and_a_name_of_its_own(text, digits, heading):
    cell = cells.parse("here", text)
    assert (cells.digits(cell, 3), cells.heading(cell, "regret")) == (digits, heading)


LABELS = {"regret": "R(T)", "graphdr": "GraphDR", "flip": "share of pairs flipped", "worst": "worst policy"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`graphdr` 21, best other `x` 5", "GraphDR 21, best other x 5"),
        ("`regret@graphdr` at `flip` 0, 1: 2, 3", "GraphDR: R(T) at share of pairs flipped 0, 1: 2, 3"),
        ("`regret@x` and `y@graphdr`", "x: R(T) and y@graphdr"),
        ("the regret of the worst policy", "the regret of the worst policy"),
    ],
)
def test_names_become_words(text, expected):
    assert cells.humanize(text, LABELS) == expected
