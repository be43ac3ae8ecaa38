"""Packed texts come back as they were, and are words that a shell takes."""

import json
import re
import shlex

from hypothesis import given
from hypothesis import strategies as st

from graphdr.core.packed import MARK, pack, unpack


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
