"""A short version of ``make soak-policy``, and that it would see what it looks for."""

import random
import sys

import pytest

from trust import policy as soak


@pytest.mark.slow
@pytest.mark.parametrize("mode", soak.MODES)
def test_a_policy_that_is_killed_again_and_again_loses_nothing(mode, tmp_path):
    assert soak.check(mode, tmp_path, soak.Plan(20_000, 10_000, 3), seed=0) == []


def test_a_policy_that_knows_something_else_is_seen():
    one, other = soak.fitted("given"), soak.fitted("given")
    for policy in (one, other):
        soak.play(policy, 1000)
    assert soak.differing(one, other) == []
    assert soak.drift(one) < soak.ALLOWED
    other._state.rng.random()
    assert soak.differing(one, other) == ["rounds or generator"]
    other._posterior.sums[3] += 1e-9
    assert soak.differing(one, other)[0] == "sums"
    one._posterior.inverse[1, 2] += 1e-5 * one._posterior.inverse.max()
    assert soak.drift(one) > soak.ALLOWED


CHILD = """
import pathlib, sys
path = pathlib.Path(sys.argv[5])
if path.exists():
    print("begin 20000", flush=True)
    sys.exit(3)
path.touch()
for line in ("begin 0", "at 5000", "saving 10000", "saved 10000", "at 15000"):
    print(line, flush=True)
"""


def test_a_save_that_is_lost_and_a_child_that_fails_are_seen(tmp_path, monkeypatch):
    (fake := tmp_path / "python").write_text(f"#!{sys.executable}\n{CHILD}")
    fake.chmod(0o755)
    monkeypatch.setattr(soak.sys, "executable", str(fake))
    _, found = soak.tormented("given", tmp_path / "file", soak.Plan(20_000, 10_000, 0), random.Random(0))
    assert found == ["given: 20000 rounds were found, but 10000 were saved", "given: the child ended with 3"]
