"""Every benchmark and trial is run at a tiny size by ``make test-trials``, and one that fails is seen."""

import re

import pytest

from benchmarks import peer_environment
from benchmarks.sections import SECTIONS, TINY
from tests.support.project import ROOT
from trust import trials

STARTED = re.compile(r"python -m ((?:trust|benchmarks)\S*)")  # by a target of make
MACHINERY = {"trust.trials", "benchmarks"}


def test_what_make_starts_and_every_section_is_tried_at_a_tiny_size():
    started = set(STARTED.findall((ROOT / "Makefile").read_text(encoding="utf-8"))) - MACHINERY
    assert started > {"trust.torture", "benchmarks.engines"}
    assert started <= set(trials.programs())
    commands = trials.trials().values()
    assert {command[-1] for command in commands if command[0] == "benchmarks"} == set(SECTIONS)
    assert all("--tiny" in command for command in commands)


def test_a_trial_that_fails_is_named_and_the_others_run(monkeypatch, capsys):
    programs = {"one": ["compileall", "-h"], "two": ["no_such_module"], "three": ["json.tool", "--help"]}
    monkeypatch.setattr(trials, "trials", lambda: programs)
    assert trials.main([]) == 1
    printed = capsys.readouterr().out
    assert re.search(r"^one: \d+ s\ntwo: FAILED after \d+ s\n  .*No module named .*\nthree: \d+ s$", printed, re.M)
    assert printed.endswith("1 failed: two\n")
    assert trials.main(["--only", "one"]) == 0


def test_without_a_package_index_the_peers_are_skipped(monkeypatch, capsys):
    monkeypatch.setattr(peer_environment, "install", lambda packages: dict.fromkeys(packages, "no index"))
    assert peer_environment.measure(TINY) == []
    assert re.match(r"peers: skipped, none of coba, .* can be installed here \(no index\)", capsys.readouterr().out)
    monkeypatch.setattr(peer_environment, "play", lambda name: {"name": name, "microseconds": 1.0, "note": ""})
    monkeypatch.setattr(peer_environment, "install", lambda packages: {"coba": "does not compile"})
    with pytest.raises(SystemExit, match="coba LinUCB: does not install: does not compile"):
        peer_environment.measure(TINY)
