"""Records survive the way through JSON."""

import json
from dataclasses import dataclass
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from graphdr.core.records import from_json, to_json


@dataclass(frozen=True)
class Inner:
    k: int
    name: str | None = None


class Outer(NamedTuple):
    inner: Inner
    several: list[Inner]
    by_name: dict[str, Inner]
    pairs: tuple[tuple[str, int], ...] = ()
    grid: list[int] | None = None


INNERS = st.builds(Inner, st.integers(), st.none() | st.text())
PAIRS = st.lists(st.tuples(st.text(), st.integers())).map(tuple)
OUTERS = st.builds(
    Outer, INNERS, st.lists(INNERS), st.dictionaries(st.text(), INNERS), PAIRS, st.none() | st.lists(st.integers())
)


@given(OUTERS)
def test_a_record_comes_back_from_json(record):
    assert from_json(Outer, json.loads(json.dumps(to_json(record)))) == record


def test_absent_fields_take_their_defaults():
    assert from_json(Inner, {"k": 3}) == Inner(3)
