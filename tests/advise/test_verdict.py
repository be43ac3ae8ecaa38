"""What the numbers of a tournament say: intervals that cover, an outcome for every case, and sentences that agree."""

import json
import re
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from graphdr.advise import tables, wording
from graphdr.advise.findings import Findings, Score, Screen, Size
from graphdr.advise.simulation import problems
from graphdr.advise.simulation.methods import METHODS, Settings
from graphdr.advise.simulation.problems import RewardModel
from graphdr.advise.simulation.tournament import SimulationConfig, TournamentResult
from graphdr.advise.simulation.verdict import (
    DOES_NOT,
    HELPS,
    PRACTICAL,
    RELIABLE,
    SURE,
    UNKNOWN,
    UNSURE,
    Saving,
    interval,
    judge,
    pays_after,
    shares,
)
from graphdr.core.terminal import as_json

CONFIG = SimulationConfig(horizon=400, splits=8)


# Intervals


@pytest.mark.parametrize("level", [0.95, 0.99])
@pytest.mark.parametrize("splits", [2, 4, 8, 30])
def test_an_endswithout_spread_is_that_of_student(splits, level):
    values = np.random.default_rng(splits).normal(size=(splits, 1))
    found = interval(values, 0.0, level)
    low, high = stats.t.interval(level, splits - 1, values.mean(), stats.sem(values[:, 0]))
    assert found[0] == values.mean()
    tolerance = 0.02 if splits > 2 else 0.1  # tails of one degree of freedom are long
    np.testing.assert_allclose(found[1:], (low, high), atol=tolerance * (high - low) / 2)


@settings(max_examples=30)
@given(st.integers(2, 8), st.integers(1, 4), st.floats(0, 1), st.floats(-5, 5), st.integers(0, 99))
def test_an_endsmoves_with_its_values_and_is_wider_for_a_larger_spread(splits, runs, spread, shift, seed):
    values = np.random.default_rng(seed).normal(size=(splits, runs))
    middle, low, high = one = np.array(interval(values, spread))
    assert low <= middle <= high <= min(interval(values, spread + 0.5)[2], interval(values, spread, 0.99)[2])
    np.testing.assert_allclose(interval(values + shift, spread), one + shift, atol=1e-9)
    np.testing.assert_allclose(interval(values * 3, spread), one * 3, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("share", "policy_rng"), [(0.0, 0.2), (0.0, 4.0), (0.5, 1.0), (1.0, 0.2), (1.0, 4.0)])
def test_intervals_cover_the_mean_over_data_sets(share, policy_rng):
    """Splits vary by one and runs by policy_rng; data sets vary by a share of the former, which the spread says."""
    rng, draws, splits, runs = np.random.default_rng(7), 250, 8, 5
    data_set = np.sqrt(share) * rng.normal(size=(draws, 1, 1))
    values = (
        data_set + rng.normal(size=(draws, splits, 1)) + np.sqrt(policy_rng) * rng.normal(size=(draws, splits, runs))
    )

    def covered(spread: float) -> int:
        return sum(low <= 0 <= high for _, low, high in (interval(own, spread) for own in values))

    nearly = stats.binom(draws, 0.935)  # what the worst case has, in many more draws
    assert covered(share) >= nearly.ppf(0.01)
    if share:
        assert covered(0.0) < nearly.ppf(1e-6)


@pytest.mark.slow
def test_half_of_the_variance_is_too_little_for_a_plain_mean_over_users():
    """The page says so, and what was seen: 86 to 91 of 100 with half of it, 93 to 96 with the whole."""
    rng, draws, users = np.random.default_rng(5), 300, 200
    covered = {0.5: 0, 1.0: 0}
    for _ in range(draws):
        taste = rng.normal(size=users)
        means = np.array([rng.permutation(taste)[: users // 2].mean() for _ in range(8)])[:, None]
        for factor in covered:
            _, low, high = interval(means, factor)
            covered[factor] += low <= 0 <= high
    assert covered[0.5] < stats.binom(draws, 0.95).ppf(0.01)
    assert covered[1.0] >= stats.binom(draws, 0.95).ppf(0.01)
    assert problems.USERS.spread == 0.5


@given(st.integers(2, 8), st.integers(1, 4), st.integers(0, 99))
def test_shares_have_the_mean_of_the_ratio_of_mean_regrets_and_vary_as_it_does(splits, runs, seed):
    rng = np.random.default_rng(seed)
    regret, other = 80 + rng.normal(size=(splits, runs)), 100 + rng.normal(size=(splits, runs))
    values = shares(regret, other)
    assert values.mean() == pytest.approx(1 - regret.mean() / other.mean())
    np.testing.assert_allclose(values, 1 - regret / other, atol=5e-3)  # where regrets vary by 1 %
    np.testing.assert_allclose(shares(regret, regret), 0, atol=1e-12)


# Outcomes


def tournament(
    seed: int = 0, policy_rng: float = 0.02, between: float = 0.01, reliability: float | None = None, **means: float
) -> TournamentResult:
    """Return a tournament whose methods and controls have these final regrets, with policy_rng of splits and runs."""
    rng = np.random.default_rng(seed)
    controls = {"shuffled": 125.0, "random_directions": 130.0, "longest": 250.0}
    usual = {"random": 300.0, "full": 120.0, "prior": 60.0} | controls | means

    def draw(name: str, runs: int) -> np.ndarray:
        by_split = 1 + between * rng.normal(size=(CONFIG.splits, 1))
        final = usual[name] * by_split * (1 + policy_rng * rng.normal(size=(CONFIG.splits, runs)))
        return final[:, :, None] * np.linspace(0.01, 1, 100)

    judged = {name: draw(name, CONFIG.judging_runs) for name in ("random", "full", "prior")}
    curves = {name: curve[:, : CONFIG.comparing] for name, curve in judged.items()}
    judged |= {name: draw(name, CONFIG.controls) for name in controls}
    methods = {name: METHODS[name] for name in ("random", "full", "prior")}
    methods["full"] = methods["full"].set(alpha=0.3, ridge=0.1)
    split = SimpleNamespace(problem=SimpleNamespace(reward_model=RewardModel(reliability=reliability)))
    return TournamentResult(CONFIG, [split] * CONFIG.splits, methods, curves, "prior", "full", judged)


CASES = {  # regrets, policy_rng, variation between splits: outcome, reason, method
    "much better": ({}, (0.02, 0.01), (HELPS, "graph", "prior")),
    "much worse": ({"prior": 150}, (0.02, 0.01), (DOES_NOT, "without", "full")),
    "the same": ({"prior": 120}, (0.02, 0.005), (DOES_NOT, "without", "full")),
    "better by little": ({"prior": 117}, (0.01, 0.003), (DOES_NOT, "without", "prior")),
    "hardly better": ({"prior": 119.5}, (0.002, 0.001), (DOES_NOT, "without", "full")),
    "perhaps better": ({"prior": 95}, (0.2, 0.1), (UNKNOWN, "without", "prior")),
    "perhaps worse": ({"prior": 130}, (0.3, 0.3), (UNKNOWN, "without", "full")),
    "as good when shuffled": ({"shuffled": 60}, (0.01, 0.003), (DOES_NOT, "shuffled", "prior")),
    "perhaps as good when shuffled": ({"prior": 50, "shuffled": 52}, (0.1, 0.1), (UNKNOWN, "shuffled", "prior")),
    "no better than the longest row": ({"longest": 60}, (0.01, 0.003), (DOES_NOT, "longest", "prior")),
    "perhaps the longest row": ({"longest": 61}, (0.05, 0.05), (UNKNOWN, "longest", "prior")),
    "only lengths": ({"random_directions": 60}, (0.02, 0.01), (HELPS, "graph", "prior")),  # shown, but not decisive
    "much worse on noise": ({"prior": 150, "reliability": 0.2}, (0.02, 0.01), (UNKNOWN, "noise", "full")),
    "perhaps worse on noise": ({"prior": 130, "reliability": 0.2}, (0.3, 0.3), (UNKNOWN, "noise", "full")),
    "better by little on noise": ({"prior": 117, "reliability": 0.2}, (0.01, 0.003), (UNKNOWN, "noise", "prior")),
    "shuffled as good on noise": ({"shuffled": 60, "reliability": 0.2}, (0.01, 0.003), (UNKNOWN, "noise", "prior")),
    "all noise": ({"prior": 150, "reliability": -0.1}, (0.02, 0.01), (UNKNOWN, "noise", "full")),
    "much better on noise": ({"reliability": 0.2}, (0.02, 0.01), (HELPS, "graph", "prior")),
    "much worse on good means": ({"prior": 150, "reliability": 0.6}, (0.02, 0.01), (DOES_NOT, "without", "full")),
    "random play": ({"random": 62}, (0.1, 0.1), (UNKNOWN, "nothing", "prior")),
}


def tournament_of(case: str) -> TournamentResult:
    means, (policy_rng, between), _ = CASES[case]
    return tournament(policy_rng=policy_rng, between=between, **means)


@pytest.mark.parametrize("case", CASES)
def test_the_outcome_follows_from_the_intervals(case):
    verdict = judge(tournament_of(case), 0.5)
    assert (verdict.outcome, verdict.reason, verdict.method) == CASES[case][-1]
    assert (verdict.sure == UNSURE) == (verdict.outcome == UNKNOWN)
    knows_what_decides = verdict.reason == "without" or (verdict.reason == "noise" and verdict.reliability > 0)
    assert (verdict.times_the_data is not None) == (verdict.outcome == UNKNOWN and knows_what_decides)
    assert verdict.settings == (Settings() if verdict.method == "prior" else Settings(None, 0.3, 0.1))
    if verdict.outcome == HELPS:
        assert min(verdict.saves.low, verdict.over_shuffled.low, verdict.over_longest.low, verdict.over_random.low) > 0
    if verdict.reason == "without" and verdict.outcome == DOES_NOT:
        assert verdict.saves.high < PRACTICAL


def test_being_sure_is_holding_at_the_higher_level():
    gain = np.array([0.34, 0.1, 0.3, 0.5, -0.02, 0.2, 0.4, 0.1])[:, None, None]
    one = tournament(policy_rng=0, between=0)
    regret = one.judged["full"] * (1 - gain)
    both = one._replace(judged=one.judged | {"prior": regret, "shuffled": 400 * regret[:, :2]})
    for spread, sure in ((0.0, "sure"), (0.1, "fairly sure")):
        verdict = judge(both, spread)
        assert (verdict.outcome, verdict.sure) == (HELPS, sure)
        saved = (1 - regret / one.judged["full"])[:, :, -1]
        assert (interval(saved, spread, SURE["sure"])[1] > 0) == (sure == "sure")
        assert interval(saved, spread)[1] > 0
    assert judge(both, 3.0).outcome == UNKNOWN


def test_a_shuffled_graph_is_one_more_copy_that_the_graph_must_beat():
    """One permutation says little: the control has the spread of whole data sets, whatever the split."""
    played = tournament()
    gain = np.array([0.02, 0.1, 0.05, 0.08, 0.12, 0.03, 0.06, 0.1])[:, None, None]
    shuffled = played.judged["prior"][:, : CONFIG.controls] / (1 - gain)
    verdict = judge(played._replace(judged=played.judged | {"shuffled": shuffled}), 0.0)
    gains = shares(played.judged["prior"][:, : CONFIG.controls, -1], shuffled[:, :, -1])
    assert verdict.over_shuffled[:3] == interval(gains, 1.0)
    assert interval(gains, 0.0)[1] > 0 > verdict.over_shuffled.low
    assert (verdict.outcome, verdict.reason) == (UNKNOWN, "shuffled")


def test_the_graph_pays_when_it_is_ahead_for_good_in_the_rounds_that_judge():
    other, at = np.arange(1.0, 11) * np.ones((2, 3, 1)), np.arange(10)
    cases = {5: -1.0, None: 1.0, 25: np.where(at < 4, 1, -1), 40: np.where(at == 6, 1, -1)}  # 40: a relapse
    for rounds, gap in cases.items():
        assert pays_after(other + gap, other, every=5) == rounds
    assert pays_after(other - (at < 9), other, every=5) is None
    played = tournament()
    late = played.judged["prior"] + np.where(np.arange(100) < 30, 500.0, 0.0)
    assert judge(played, 0.5).pays_after == CONFIG.every
    assert judge(played._replace(judged=played.judged | {"prior": late}), 0.5).pays_after == 31 * CONFIG.every


def test_so_many_times_the_data_would_decide_if_the_saving_stays():
    for case in ("perhaps better", "perhaps worse"):
        verdict = judge(tournament_of(case), 0.5)
        half = (verdict.saves.high - verdict.saves.estimate) / np.sqrt(verdict.times_the_data)
        ends = np.array([verdict.saves.estimate - half, verdict.saves.estimate + half])
        assert np.isclose(ends, [0, PRACTICAL]).any()
        assert verdict.times_the_data > 1
    verdict = judge(tournament(prior=150, reliability=0.2), 0.5)
    signal, noise = verdict.reliability, 1 - verdict.reliability
    assert signal / (signal + noise / verdict.times_the_data) == pytest.approx(RELIABLE)


# Words

SIZE = Size(
    items=100, taken=90, played=(80, 85), edges=(300, 310), components=(1, 1), split_by="users", sample=200,
    rewards=3200, rare=(1.0, 41), noise=0.05,
)  # fmt: skip


def findings(case: str, by: str = "users") -> Findings:
    made = Findings(
        name="mine", label="mine.csv", folder="results/advise/mine", answer=[], verdict=judge(tournament_of(case), 0.5),
        screen=Screen(3.25, [3.0, 3.5], True), size=SIZE._replace(split_by=by), simulation=CONFIG, scores={},
        curves={}, log=None, notes=[],
    )  # fmt: skip
    return made._replace(answer=wording.answer(made))


def numbers(part: object) -> Iterator[float]:
    """Yield all numbers of a JSON."""
    if isinstance(part, dict):
        part = [*part.values()]
    if isinstance(part, list):
        for element in part:
            yield from numbers(element)
    elif isinstance(part, int | float):
        yield part


def spelled(value: float) -> set[str]:
    """Return the ways in which an answer may spell a number: as it is, in percent, and a loss without its sign."""
    percent = {wording.percent(sign * value).removesuffix(" %") for sign in (1, -1)}
    return {f"{value:g}", f"{value:,}"} | percent


NUMBER = re.compile(r"(?<![\w.])−?\d[\d,]*(?:\.\d+)?")
CONSTANTS = {"5", "95", "99", "50"}  # a saving of practical size, levels, and the reliability that decides


@pytest.mark.parametrize("by", ["users", "time", "rewards", "nothing"])
@pytest.mark.parametrize("case", CASES)
def test_every_number_of_an_answer_is_one_of_its_json(case, by):
    made = findings(case, by)
    allowed = set().union(*map(spelled, numbers(json.loads(as_json(made._replace(answer=[]))))))
    if made.verdict.times_the_data:
        times = made.verdict.times_the_data
        allowed |= {f"{np.ceil(times * CONFIG.splits):.0f}"}
        allowed |= {f"{times * count:,.0f}" for count in (SIZE.sample, SIZE.rewards)}
    for text in made.answer:
        printed = {number.rstrip(",") for number in NUMBER.findall(text.replace("+", ""))}
        assert printed <= allowed | CONSTANTS, (text, printed - allowed)


@pytest.mark.parametrize("case", CASES)
def test_an_answer_says_the_outcome_the_method_and_what_decided(case):
    _, _, (outcome, reason, method) = CASES[case]
    made = findings(case)
    verdict, text = made.verdict, " ".join(made.answer)
    assert made.answer[0] == wording.TEXTS["outcomes"]["nothing" if reason == "nothing" else outcome]
    anyway = outcome == DOES_NOT and method == "prior"
    assert ("it has the least regret, by little" in text) == (anyway and reason == "without")
    assert ("but the gain does not come from the graph" in text) == (anyway and reason != "without")
    assert (METHODS[method].label in text) == (reason != "nothing")
    decisive = {"shuffled": verdict.over_shuffled, "longest": verdict.over_longest}.get(reason, verdict.saves)
    assert (wording.compared(decisive) in text) == (reason != "nothing")
    assert ("ahead for good after" in text) == (outcome == HELPS)
    assert ("would show that" in text) == (outcome == UNKNOWN and reason == "without")
    assert ("are mostly noise" in text) == (reason == "noise")
    assert ("What would decide: about " in text) == (reason == "noise" and verdict.reliability > 0)
    assert ("We are" in text) == (outcome != UNKNOWN)
    reliable = outcome != UNKNOWN and verdict.reliability is not None
    assert ("Means of held-out rewards stand for the true rewards here" in text) == reliable
    made_up = "That is about the simulation alone"
    assert made_up not in text
    if outcome == HELPS:
        assert made_up in " ".join(findings(case, "nothing").answer)


def test_what_is_not_sure_or_would_need_more_data_is_worded_so():
    made = findings("perhaps better")

    def text(by: str = "users", **changes) -> str:
        changed = made._replace(verdict=made.verdict._replace(**changes), size=SIZE._replace(split_by=by))
        return " ".join(wording.answer(changed))

    for estimate, shown in ((0.2, "saves something"), (0.01, "saves less than 5 %")):
        unsure = made.verdict.saves._replace(estimate=estimate, low=estimate - 0.3, high=estimate + 0.3)
        assert f"about 500 in all would show that it {shown}" in text(saves=unsure, times_the_data=2.5)  # of 200 users
        assert f"--splits 20 would show that it {shown}" in text("nothing", saves=unsure, times_the_data=2.5)
        assert "No realistic amount" in text(saves=unsure, times_the_data=None)
    sharing = made.verdict.sharing._replace(estimate=0.3, low=0.2, high=0.4)
    assert "interaction SVD saves 30 % (20 % to 40 %)" in text(best_without="interaction_svd", sharing=sharing)
    assert "even without" not in text(best_without="interaction_svd", sharing=sharing._replace(low=-0.1, high=0.7))


@pytest.mark.parametrize(("taken", "played"), [(90, (90, 90)), (50, (50, 50)), (90, (70, 80)), (50, (40, 40))])
def test_items_that_are_not_played_are_counted_with_the_reason(taken, played):
    data = SimpleNamespace(interactions=None, edges=None, features=True)
    source = SimpleNamespace(data=data, split=problems.NOTHING)
    notes = " ".join(wording.notes(source, SIZE._replace(items=90, taken=taken, played=played)))
    assert ("of your 90 items are played" in notes) == (played != (90, 90))
    assert (f"the {taken} of most rewards" in notes) == (taken < 90)
    assert ("those that have too few rewards" in notes) == (played[0] < taken)


def test_a_comparison_is_called_what_its_endssays():
    made = findings("much better")
    for ends, word in (
        ((0.2, 0.1, 0.3), "better"), ((-0.2, -0.3, -0.1), "worse"), ((0.01, -0.02, 0.04), "not better by 5 %"),
        ((0.03, -0.02, 0.08), "not clearly better or worse"),
    ):  # fmt: skip
        share = Saving(*ends, 80, 100)
        row = tables.comparisons(made._replace(verdict=made.verdict._replace(saves=share)))[2][0]
        assert row[-1] == word
    assert [wording.percent(share) for share in (-0.001, 0.256, -0.3)] == ["0 %", "26 %", "−30 %"]


def test_texts_of_a_user_cannot_break_the_page():
    evil = "<script>alert(1)</script>"
    made = findings("much better")
    scores = {
        name: Score(METHODS[name].label, METHODS[name].sees_graph, False, Settings(), 1.0, 0.1)
        for name in ("random", "full", "prior")
    }
    shown = made._replace(
        label=evil, notes=[evil], answer=[evil, evil], scores=scores,
        curves={name: [[100, 1.0], [200, 2.0]] for name in scores},
    )  # fmt: skip
    text = tables.page(shown)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") == 5
