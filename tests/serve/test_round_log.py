"""A log of served rounds is read as it is, goes on where it ended, and its propensities are those of the policy."""

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest

import graphdr
from graphdr.advise import logs
from graphdr.core.errors import UserError
from graphdr.serve.policy import GraphDRLinUCB
from graphdr.serve.round_log import COLUMNS, RoundLog
from tests.support.policies import refused
from tests.support.project import draw_sbm

GRAPH = draw_sbm(3, n=60, blocks=3, p_in=0.4, p_out=0.03)
NAMES = [f"item {node}" for node in range(GRAPH.n)]
RATES = dict(zip(NAMES, np.where(np.arange(GRAPH.n) < 20, 0.5, 0.2), strict=True))
HEADER = ",".join(COLUMNS) + "\n"
ROUND = (["a", "b"], ("a", 0.5), 1.0)


def taught(explore) -> GraphDRLinUCB:
    """A policy that has seen some rewards and then stands still, so that its mean reward is one number."""
    policy, rng = GraphDRLinUCB(explore=explore, random_state=0).fit(GRAPH, names=NAMES), np.random.default_rng(0)
    arms = rng.choice(NAMES, 300)
    policy.update_many(arms, [float(rng.random() < RATES[arm]) for arm in arms])
    return policy.snapshot()


@pytest.mark.slow
@pytest.mark.parametrize("explore", [0.1, "ts"])
def test_the_log_of_a_policy_estimates_what_it_earns(explore, tmp_path):
    policy, rng = taught(explore), np.random.default_rng(1)
    with RoundLog(tmp_path / "rounds.csv") as log:
        for _ in range(3000):
            offered = rng.choice(NAMES, 5, replace=False)
            choice = policy.choose(offered)
            log.write(offered, choice, rng.random() < RATES[choice.arm])
    read = logs.read(tmp_path / "rounds.csv")
    sets = [[read.arms[arm] for arm in read.candidates[slice(*ends)]] for ends in pairwise(read.starts)]
    played = [read.arms[arm] for arm in read.played]
    own = [policy.probabilities(offered) for offered in sets]  # drawn again, for Thompson sampling
    truth = np.mean([shares @ [RATES[name] for name in offered] for shares, offered in zip(own, sets, strict=True)])
    target = [shares[offered.index(arm)] for shares, offered, arm in zip(own, sets, played, strict=True)]
    found = graphdr.ips(read.rewards, read.propensities, target)
    assert found.sem < 0.02
    assert abs(found.value - truth) < 3 * found.sem
    if explore == 0.1:  # every candidate has a chance: the log also says what another policy earns
        found = graphdr.ips(read.rewards, read.propensities, np.full(3000, 0.2))
        truth = np.mean([np.mean([RATES[name] for name in offered]) for offered in sets])
        assert abs(found.value - truth) < 3 * found.sem < 0.1


def test_rounds_come_back_as_they_were_written(tmp_path):
    odd = ["a, b", 'say "x"', "semi;colon", "tab\tbed", "#hash", "naïve 北", 7, "x y", "-1"]
    rng, rounds = np.random.default_rng(0), []
    with RoundLog(tmp_path / "rounds.csv") as log:
        for reward in rng.standard_normal(80):
            offered = [odd[at] for at in rng.permutation(len(odd))[:3]]
            rounds.append((offered, (offered[1], rng.random()), reward))
            log.write(*rounds[-1])
    read = logs.read(tmp_path / "rounds.csv")
    sets = [[read.arms[arm] for arm in read.candidates[slice(*ends)]] for ends in pairwise(read.starts)]
    assert sets == [[str(name) for name in offered] for offered, _, _ in rounds]
    assert [read.arms[arm] for arm in read.played] == [str(arm) for _, (arm, _), _ in rounds]
    assert read.rewards.tolist() == [reward for _, _, reward in rounds]
    assert read.propensities.tolist() == [propensity for _, (_, propensity), _ in rounds]


LINE = "a|b,a,1.0,0.5\n"
STARTS = ["", HEADER[:10], HEADER[:-1], HEADER, HEADER + LINE, f"{HEADER}{LINE}a|b,a,1", HEADER + LINE + "x" * 300_000]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", STARTS, ids=range(len(STARTS)))
def test_a_header_is_finished_or_kept_and_a_line_that_was_cut_off_is_left_out(start, end, tmp_path):
    path, torn = tmp_path / "rounds.csv", start.startswith(HEADER + LINE) and not start.endswith("\n")
    path.write_bytes(start.replace("\n", end).encode())
    message = r"rounds\.csv: the last line was cut off"
    with pytest.warns(UserWarning, match=message) if torn else nullcontext(), RoundLog(path) as log:
        log.write(*ROUND)
        assert path.read_text() == HEADER + LINE * (1 + (LINE in start))  # before it is closed


@pytest.mark.parametrize("text", ["user,item\n1,2\n", "candidates,action,reward\n", HEADER.replace(",", ";"), "\n"])
def test_a_file_of_other_columns_is_refused_and_left_as_it_is(text, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text(text)
    with refused(r"other\.csv: no log of rounds", UserError):
        RoundLog(path)
    assert path.read_text() == text


MISTAKES = {
    "have no '|'": (["a", "b|c"], ("a", 0.5), 1.0),
    "line breaks": (["a", "b\nc"], ("a", 0.5), 1.0),
    "blanks": (["a", " b"], ("a", 0.5), 1.0),
    "a text or a whole number": (["a", 0.5], ("a", 0.5), 1.0),
    "written alike": ([1, "1"], (1, 0.5), 1.0),
    "not among": (["a", "b"], ("c", 0.5), 1.0),
    "the reward is nan": (["a", "b"], ("a", 0.5), np.nan),
    "the propensity is 0.0": (["a", "b"], ("a", 0.0), 1.0),
    "the propensity is 1.5": (["a", "b"], ("a", 1.5), 1.0),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_what_no_reader_would_accept_is_not_written(message, tmp_path):
    with RoundLog(tmp_path / "rounds.csv") as log, refused(message):
        log.write(*MISTAKES[message])
    assert (tmp_path / "rounds.csv").read_text() == HEADER
