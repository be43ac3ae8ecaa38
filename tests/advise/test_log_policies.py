"""Logs of pages with positions, as shops publish them, and policies that a log judges: learned, fixed and served."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom

import graphdr
from graphdr.advise import logs
from graphdr.core.errors import UserError
from graphdr.scores import offpolicy
from tests.support import shop_log
from tests.support.project import draw_sbm

# Files


def test_the_published_columns_are_found_by_themselves_and_rows_a_moment_apart_are_one_page(tmp_path):
    shop_log.write(tmp_path)
    log, table = logs.read(tmp_path / "all.csv"), pd.read_csv(tmp_path / "all.csv", index_col=0)
    assert [log.arms[place] for place in log.played] == table["item_id"].astype(str).tolist()
    assert_array_equal(log.rewards, table["click"])
    assert_allclose(log.propensities, 1 / shop_log.ITEMS)
    assert log.candidates is None
    assert pd.crosstab(log.positions, table["position"]).to_numpy().astype(bool).sum() == shop_log.POSITIONS
    gap = pd.to_datetime(table["timestamp"], format="ISO8601").diff()
    begun = (gap.isna() | (gap > pd.Timedelta("10ms"))).to_numpy()
    assert_array_equal(log.pages, np.cumsum(begun) - 1)
    assert 1.5 < len(table) / (1 + log.pages.max()) < 3


TIMES = {  # of the pages 0 0 0 1 1 2, at positions a b c a b a
    "2020-01-01 00:00:{:09.6f}+00:00": [1, 1.0003, 1.0006, 5, 5.0001, 9],
    "2020-01-01T00:00:{:02.0f}": [1, 1, 1, 1, 1, 9],
    "{:.0f}": [1577836801, 1577836801, 1577836801, 1577836801, 1577836801, 1577836810],
}
PAGES = np.tile([0, 0, 0, 1, 1, 2], 30) + 3 * np.repeat(np.arange(30), 6)


def pages_log(**columns) -> pd.DataFrame:
    rows = len(PAGES)
    table = {"item": np.arange(rows) % 7, "reward": np.sin(np.arange(rows)).round(3), "propensity": 0.2}
    return pd.DataFrame(table | {"position": [*"abcaba"] * 30} | columns)


@pytest.mark.parametrize("form", TIMES)
def test_pages_are_told_by_any_usual_time(tmp_path, form):
    if form.startswith("2020"):
        stamps = [form.replace("2020", str(2030 + batch)).format(at) for batch in range(30) for at in TIMES[form]]
    else:
        stamps = [form.format(at + 100 * batch) for batch in range(30) for at in TIMES[form]]
    pages_log(time=stamps).to_csv(tmp_path / "log.csv", index=False)
    assert_array_equal(logs.read(tmp_path / "log.csv").pages, PAGES)
    pages_log(time=stamps).to_parquet(tmp_path / "log.parquet")
    assert_array_equal(logs.read(tmp_path / "log.parquet").pages, PAGES)


def test_rounds_beside_positions_are_pages_and_rows_are_put_in_the_order_of_time(tmp_path):
    table = pages_log(impression=PAGES, timestamp=np.arange(len(PAGES)))
    table["candidates"] = [f"{arm}|{other}" for arm, other in zip(table["item"], 10 + PAGES % 3, strict=True)]
    table.to_csv(tmp_path / "log.csv", index=False)
    table.sample(frac=1, random_state=0).to_csv(tmp_path / "shuffled.csv", index=False)
    one, two = (logs.read(tmp_path / name) for name in ("log.csv", "shuffled.csv"))
    assert_array_equal(one.pages, PAGES)
    for log in (one, two):
        assert [log.arms[arm] for arm in log.played] == table["item"].astype(str).tolist()
        assert_array_equal(log.rewards, table["reward"])
        sets = [[log.arms[arm] for arm in own] for own in np.split(log.candidates, log.starts[1:-1])]
        assert sets == table["candidates"].str.split("|").tolist()
        assert len(set(zip(log.pages, PAGES, strict=True))) == len(set(PAGES))


def test_without_a_page_a_line_says_what_intervals_assume(tmp_path):
    pages_log(time="some day").to_csv(tmp_path / "log.csv", index=False)
    log = logs.read(tmp_path / "log.csv")
    assert log.pages is None
    judged = logs.evaluate_by_log(log, log.arms, {"full": None}, [logs.LOGGED])
    assert "nothing says which rows were on one page" in judged.warnings[-1]
    known = log._replace(pages=PAGES)
    assert not any("one page" in line for line in logs.evaluate_by_log(known, log.arms, {"full": None}, []).warnings)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"position": np.arange(180)}, "position has 180 values; a page has 100 places at most"),
        ({"position": ["", *[1] * 179]}, "line 2: position is missing"),
        ({"round": 1}, "log.csv: 1 pages are too few"),
    ],
)
def test_pages_that_cannot_be_are_refused(tmp_path, columns, message):
    pages_log(**columns).to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(UserError, match=message):
        logs.read(tmp_path / "log.csv")


# Intervals

N, PAGE = 6, 3
THETA = np.array([0.0, 0.3, 0.1, -0.2, 0.5, 0.2])
SHOWN = np.array([1.0, 0.5, 0.0])  # what a position adds
FEATURES = np.column_stack([THETA, np.array([1.0, -1.0, 0.5, 0.0, 0.3, -0.4])])
NAMES = [*"abcdef"]


def draw_pages(seed: int, pages: int = 150) -> logs.Log:
    """Draw pages of arms at random; a visitor likes all of a page, or nothing."""
    rng = np.random.default_rng(seed)
    page, position = (each.ravel() for each in np.indices((pages, PAGE)))
    arm = rng.integers(N, size=len(page))
    paid = THETA[arm] + SHOWN[position] + rng.standard_normal(pages)[page] + 0.3 * rng.standard_normal(len(page))
    return logs.Log("log", NAMES, paid, np.full(len(page), 1 / N), arm, positions=position, pages=page)


class Recorded:
    """A policy whose choices are noted, block by block."""

    def __init__(self, policy):
        self.policy, self.chosen = policy, []

    def learn(self, past):
        answer = self.policy.learn(past)
        self.chosen.append(int(np.argmax(answer)) if isinstance(answer, np.ndarray) else NAMES.index(answer(NAMES)))
        return answer


@pytest.mark.slow
def test_intervals_over_pages_cover_the_truth_and_those_over_rows_do_not():
    """Over 200 logs, for policies that learn with a reward model that knows positions, and for one that is fixed."""
    count, covers = 200, {}
    for seed in range(count):
        log = draw_pages(seed)
        for kind, own in {"pages": log, "rows": log._replace(pages=None)}.items():
            given = {"full": logs.Ridge(None), "reduced": logs.Ridge(FEATURES), "fixed": logs.Fixed(lambda names: "f")}
            arms = {label: Recorded(policy) for label, policy in given.items()}
            rows = logs.evaluate(own, arms, NAMES, against=["fixed", "logged"])
            truth = {label: SHOWN.mean() + THETA[policy.chosen].mean() for label, policy in arms.items()}
            truth |= dict.fromkeys(("logged", "random"), SHOWN.mean() + THETA.mean())
            for row in rows:
                wanted = truth[row.policy] - (truth[row.against] if row.against else 0.0)
                covers.setdefault((kind, *row[:3]), []).append(row.low <= wanted <= row.high)
    low, high = (end / count for end in binom.interval(0.999, count, 0.95))
    shares = {key: np.mean(each) for key, each in covers.items()}
    assert all(low <= share <= high for (kind, *_), share in shares.items() if kind == "pages"), shares
    assert max(share for (kind, policy, *_), share in shares.items() if kind == "rows" and policy == "logged") < low


def test_the_reward_model_knows_positions():
    """So that what a position adds is no error of the doubly robust estimate."""
    log = draw_pages(0, 600)
    log, fixed = log._replace(rewards=THETA[log.played] + 10 * SHOWN[log.positions]), {"fixed": logs.Fixed(max)}
    known, unknown = (
        {row.estimator: row for row in logs.evaluate(each, fixed, NAMES) if row[:2] == ("fixed", None)}
        for each in (log, log._replace(positions=None))
    )
    assert known["doubly_robust"].sem < 0.2 * unknown["doubly_robust"].sem
    assert known["ips"] == unknown["ips"]


def test_a_page_is_never_split_between_blocks():
    log = draw_pages(0, 61)
    seen = []

    def learn(past) -> np.ndarray:
        seen.append(len(past.arms))
        return np.zeros(len(past.names))

    logs.evaluate(log, {"counting": SimpleNamespace(learn=learn)}, NAMES, blocks=4)
    assert [size % PAGE for size in seen] == [0] * 3
    swapped = log._replace(pages=log.pages[::-1])  # numbers of pages say nothing of their order
    for one, two in zip(*(logs.evaluate(each, {"full": None}, NAMES) for each in (log, swapped)), strict=True):
        assert_allclose(one[3:], two[3:])


def test_an_interval_over_groups_has_its_slow_twin():
    rng = np.random.default_rng(0)
    terms, other = (offpolicy.Terms(*(rng.random(90) for _ in range(3))) for _ in range(2))
    groups, rows = rng.integers(40, size=90), np.arange(90)
    estimate, paired = offpolicy.estimate(terms, groups=groups), offpolicy.difference(terms, other, groups=groups)

    def error(by_row: np.ndarray) -> float:
        sums = [by_row[groups == each].sum() for each in set(groups)]
        return np.sqrt(len(sums) / (len(sums) - 1) * np.sum(np.square(sums)))

    gaps = terms.numerators - estimate.value * terms.denominators
    assert_allclose(estimate.sem, error(gaps) / terms.denominators.sum())
    assert_allclose([estimate.value, offpolicy.by_round(terms).mean()], offpolicy.ratio(terms))
    assert_allclose(paired.value, offpolicy.ratio(terms) - offpolicy.ratio(other))
    assert_allclose(paired.sem, error(offpolicy.by_round(terms) - offpolicy.by_round(other) - paired.value) / 90)
    assert estimate.ess == offpolicy.estimate(terms).ess
    assert_allclose(offpolicy.estimate(terms, groups=rows)[:4], offpolicy.estimate(terms)[:4])
    assert_allclose(offpolicy.difference(terms, other, groups=rows)[:4], offpolicy.difference(terms, other)[:4])


# Policies

ROUNDS = 2000
FIRST = ROUNDS // 5  # rounds that are only learned from


@pytest.fixture(scope="module")
def graph():
    return draw_sbm(3, n=120, blocks=5, p_in=0.3, p_out=0.02)


@pytest.fixture(scope="module")
def rated(graph):
    """A graph's log: ten candidates a round, one of them played at random; rewards are smooth on the graph."""
    rng = np.random.default_rng(0)
    low = graphdr.low_eigenpairs(graph, 24)
    theta = np.sqrt(graph.n) * graphdr.smooth_reward(low.vectors[:, 1:5], rng)
    sets = np.array([rng.choice(graph.n, 10, replace=False) for _ in range(ROUNDS)])
    paid = 3.0 + theta[sets[:, 0]] + rng.standard_normal(ROUNDS)
    names = [str(node) for node in range(graph.n)]
    log = logs.Log("log", names, paid, np.full(ROUNDS, 0.1), sets[:, 0], sets.ravel(), np.arange(ROUNDS + 1) * 10)
    return log, names, graphdr.graded_features("laplacian_low", low), theta


def by_label(rows, estimator="doubly_robust"):
    return {row.policy: row for row in rows if row.against is None and row.estimator == estimator}


def test_features_and_none_are_ridge_regression_whatever_the_order_of_rewards(rated):
    log, names, (features, _), _ = rated
    given = {"graph": features[:, :4], "full": None}
    as_policies = {label: logs.Ridge(own) for label, own in given.items()}
    assert logs.evaluate(log, given, names, against=[]) == logs.evaluate(log, as_policies, names, against=[])
    rng = np.random.default_rng(0)
    paid = (rng.random(100) < 0.3).astype(float)
    orders = np.concatenate([rng.permutation(paid) for _ in range(3)])  # a tie, which rounding must not decide
    past = logs.Past(NAMES, np.repeat(np.arange(3), 100), orders, np.zeros(300, int), np.array([0.3]))
    assert len(set(logs.Ridge(None).learn(past)[:3])) == 1


def test_the_graph_prior_learns_more_from_few_rounds_where_the_graph_helps(rated):
    log, names, (features, roughness), theta = rated
    paid = log.rewards[:FIRST]
    past = logs.Past(names, log.played[:FIRST], paid, np.zeros(FIRST, int), np.array([paid.mean()]))
    shuffled = np.random.default_rng(0).permutation(features)
    policies = logs.GraphPrior(features, roughness), logs.GraphPrior(shuffled, roughness), logs.Ridge(None)
    prior, misplaced, alone = (np.corrcoef(policy.learn(past), theta)[0, 1] for policy in policies)
    assert prior > 0.95 > 0.9 > max(misplaced, alone)
    rows = by_label(logs.evaluate(log, {"prior": policies[0]}, names), "snips")
    assert rows["prior"].low > rows["random"].high
    reduced = {"full": None, "graphdr": features[:, :4], "shuffled": shuffled[:, :4]}
    ranked = logs.evaluate(log, reduced, names, against=["shuffled", "logged"])
    gains = [row.low for row in ranked if row.policy == "graphdr" and row.against]
    assert min(gains) > 0
    assert len(gains) == 6
    none = log._replace(rewards=np.append(np.zeros(ROUNDS - 1), 1.0))  # nothing to learn
    rows = logs.evaluate(none, {"prior": policies[0]}, names, rng=np.random.default_rng(0))
    assert all(np.isfinite(row.value) for row in rows if row.ess)


SERVED = {"found": {}, "given": {"prior": "ridge", "ridge": 0.03, "radius": 1.0}, "sampling": {"explore": "ts"}}


@pytest.mark.parametrize("knobs", SERVED.values(), ids=SERVED)
def test_a_served_policy_learns_from_the_blocks_before_and_is_itself_left_alone(graph, rated, knobs):
    log, names, *_ = rated

    def fitted() -> graphdr.GraphDRLinUCB:
        return graphdr.GraphDRLinUCB(4, random_state=0, **knobs).fit(graph, names=names)

    policy, twin = fitted(), fitted()
    rows = by_label(logs.evaluate(log, {"served": logs.Served(policy)}, names), "snips")
    assert policy.rounds == 0
    assert rows["served"].low > rows["random"].high
    learned = logs.Served(policy).learn(logs.Past(names, log.played[:FIRST], log.rewards[:FIRST], None, None))
    twin.update_many([names[arm] for arm in log.played[:FIRST]], log.rewards[:FIRST])
    assert [learned(names[i : i + 10]) for i in range(50)] == [twin.recommend(names[i : i + 10]) for i in range(50)]


def test_a_fixed_policy_is_judged_by_its_own_choices(rated, graph):
    log, names, *_ = rated
    policy = graphdr.GraphDRLinUCB(4, prior="ridge", ridge=0.03, radius=1.0, intercept=False).fit(graph, names=names)
    policy.update_many(["5", "40"], [2.0, -1.0])
    row = by_label(logs.evaluate(log, {"fixed": logs.Fixed(policy.recommend)}, names), "ips")["fixed"]
    sets = np.sort(log.candidates.reshape(-1, 10), axis=1)[FIRST:]
    chosen = np.array([int(policy.recommend([names[node] for node in own])) for own in sets])
    wanted = offpolicy.ips(log.rewards[FIRST:], log.propensities[FIRST:], (chosen == log.played[FIRST:]).astype(float))
    assert_allclose([row.value, row.sem, row.ess], [wanted.value, wanted.sem, wanted.ess])
    by_number = {"last": logs.Fixed(lambda own: max(own, key=int))}  # names that are numbers stay numbers
    assert logs.evaluate(log, {"last": logs.Fixed(max)}, range(len(names))) == logs.evaluate(log, by_number, names)


def answering(answer) -> SimpleNamespace:
    """Return a policy that answers so, whatever it learns from."""
    return SimpleNamespace(learn=lambda past: answer)


def test_policies_that_cannot_be_are_refused_in_one_line(rated):
    log, names, (features, roughness), _ = rated
    n = len(names)
    for given, message in (
        (3, "arms: 'x' is neither an array of features, None, nor a policy with a method 'learn'"),
        (answering(np.zeros(3)), "policy 'x': 'learn' returned neither 120 finite estimates nor a function"),
        (answering(np.full(n, np.nan)), "policy 'x': 'learn' returned neither"),
        (logs.Fixed(lambda own: "nobody"), "policy 'x' chose 'nobody', which is none of the candidates"),
        (logs.Ridge(features[1:]), "arms: the features of 'x' are not 120 rows"),
        (logs.GraphPrior(features, roughness[1:]), "arms: 'x' has 24 features and not a roughness for each"),
    ):
        with pytest.raises(UserError, match=message):
            logs.evaluate(log, {"x": given}, names)
