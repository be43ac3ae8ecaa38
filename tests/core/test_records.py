"""Records survive the way through JSON, and packed texts come back as they were and are words that a shell takes."""

import json
import re
import shlex
from dataclasses import dataclass
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from graphdr.core.records import MARK, from_json, pack, to_json, unpack


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


@given(text=st.text())
def test_a_packed_text_comes_back(text):
    assert unpack(pack(text)) == text
    assert re.fullmatch(r"[\w:=-]+", pack(text), re.ASCII)
    assert shlex.split(pack(text)) == [pack(text)]
    assert unpack("{" + text) == "{" + text


def test_what_is_long_becomes_short():
    text = json.dumps({f"problem-{i}": {"horizon": 20_000, "k": 10} for i in range(5000)})
    assert pack(text).startswith(MARK)
    assert len(pack(text)) < len(text) / 4
