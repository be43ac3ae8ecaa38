"""What stands behind every stage: an edit of any of these modules reruns it, so that a new one is a decision."""

import tomllib

import pytest

from graphdr.cache import fingerprint
from graphdr.plan.jobs import JOBS
from tests.support.project import ROOT

TABLE = ROOT / "tests" / "cache" / "closures.toml"
DECIDED = tomllib.loads(TABLE.read_text(encoding="utf-8"))


def rooms(stage: str) -> dict[str, str]:
    """Return the modules in the closure of a stage, by room; a room's own docstring is no code."""
    modules: dict[str, list[str]] = {}
    for name in sorted(fingerprint.closure(stage)):
        room, _, module = name.partition(".")
        if module and name != f"stages.{stage}":
            modules.setdefault(room, []).append(module)
    return {room: " ".join(names) for room, names in modules.items()}


def test_every_stage_is_in_the_table():
    assert set(DECIDED) == set(JOBS)


@pytest.mark.parametrize("stage", JOBS)
def test_the_closure_of_a_stage_is_as_it_was_decided(stage):
    assert rooms(stage) == DECIDED[stage], f"{TABLE}: [{stage}] has other modules; if that is meant, write it down"


@pytest.mark.parametrize("stage", JOBS)
def test_every_table_that_a_stage_touches_is_named_by_its_kind(stage):
    """A kind that is not spelt out where it is read or written would not rerun the stage when it gets a column."""
    kinds = frozenset().union(*(source.kinds for source in fingerprint.closure(stage).values()))
    assert kinds
    assert kinds <= set(fingerprint.schemas())
