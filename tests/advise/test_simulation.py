"""The simulation behind advice: rewards are held out from the graph, and settings are chosen on other runs."""

import time
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse.csgraph import connected_components

from graphdr import GraphEmbedding
from graphdr.advise.data import Data, Edges, Interactions, Rewards
from graphdr.advise.simulation import methods, problems, tournament
from graphdr.advise.simulation.methods import METHODS, Method
from graphdr.advise.simulation.problems import SimulatedProblem
from graphdr.advise.simulation.tournament import SimulationConfig, SplitSetup, Tournament, TournamentResult
from graphdr.bandit import rewards
from graphdr.bandit.environment import Rounds
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs import arm_features, from_data, model, raters, spectral
from graphdr.graphs.arm_features import Basis
from tests.support.project import draw_sbm

ITEMS, USERS, SMALL = 40, 80, SimulationConfig(horizon=300, splits=2, comparing=1, judging_runs=2, controls=1)
RNG = np.random.default_rng(0)
ABOUT = RNG.normal(size=(ITEMS, 3))


def keys(n: int) -> pa.Array:
    return pa.array([f"i{number}" for number in range(n)])


def rated(timed: bool = False, implicit: bool = False, **more) -> Data:
    """Return what users say about items, half of the items each; item 0 has few ratings."""
    rng = np.random.default_rng(1)
    item = np.concatenate([rng.choice(np.arange(1, ITEMS), ITEMS // 2, replace=False) for _ in range(USERS)])
    user = np.repeat(np.arange(USERS), ITEMS // 2)
    user, item = np.append(user, np.arange(8)), np.append(item, np.zeros(8, int))
    taste = rng.normal(size=(USERS, 3))
    value = ABOUT[item].sum(axis=1) + np.sum(taste[user] * ABOUT[item], axis=1) + rng.normal(size=len(item))
    time = rng.permutation(USERS)[user] + rng.random(len(user)) if timed else None
    return Data(keys(ITEMS), Interactions(user, item, None if implicit else value, time), **more)


def ring(paid: np.ndarray, each: int = 1) -> Data:
    n = len(paid) // each
    edges = Edges(np.arange(n), (np.arange(n) + 1) % n)
    return Data(keys(n), edges=edges, rewards=Rewards(np.repeat(np.arange(n), each), paid))


def problem_of(data: Data, number: int = 0) -> SimulatedProblem:
    return problems.simulated_problem(problems.select_source(data, None), 10, 0, number)


# Problems


def in_training(data: Data) -> np.ndarray:
    """Tell of each row whether its user is in the training part of the first split."""
    part = problems.draw_part(problems.select_source(data, None), 0, 0)
    return np.isin(data.interactions.user, part.train.user)


@pytest.mark.parametrize("timed", [False, True])
def test_users_behind_the_graph_have_no_held_out_rewards(timed):
    data = rated(timed)
    rows, made = data.interactions, problem_of(data)
    makers = in_training(data)
    assert 0.25 < makers.mean() < 0.6
    for part, parts in ((makers, ("theta", "reward_model")), (~makers, ("graph", "ratings", "content"))):
        changed = problem_of(data._replace(interactions=rows._replace(value=np.where(part, rows.value**2, rows.value))))
        for name in parts:  # of what the others say nothing is changed
            mine, other = (_flat(getattr(one, name)) for one in (made, changed))
            np.testing.assert_array_equal(mine, other, err_msg=name)
        other = "theta" if "theta" not in parts else "content"
        assert not np.array_equal(getattr(made, other), getattr(changed, other))
    if timed:
        late = rows.time > np.median(rows.time)
        assert not late[makers].mean() > 0.1
        assert problems.select_source(data, None).split is problems.TIME


def _flat(part) -> np.ndarray:
    if isinstance(part, model.Graph):
        part = part.adjacency
    if isinstance(part, problems.RewardModel):
        return np.concatenate(part.empirical)
    return part if isinstance(part, np.ndarray) else part.toarray()


def test_the_most_popular_items_are_taken_and_times_that_leave_few_of_them_are_not_used():
    data = rated(timed=True)
    rows, source, counts = data.interactions, problems.select_source(data, 20), np.bincount(data.interactions.item)
    assert counts[source.item].min() >= np.sort(counts)[-20]
    np.testing.assert_array_equal(source.popularity, counts[source.item])
    np.testing.assert_array_equal(np.bincount(source.data.interactions.item), source.popularity)
    new_items = rows._replace(item=rows.item % 20 + 20 * (rows.time > USERS / 2))  # late users met no earlier item
    assert problems.select_source(Data(keys(ITEMS), new_items), None).split is problems.USERS
    first, again, other = (problem_of(rated(), number).theta for number in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert abs(first[:5] - other[:5]).min() > 0


def test_rewards_are_the_held_out_means_in_units():
    data = rated()
    rows, made = data.interactions, problem_of(data)
    held_out = ~in_training(data)
    assert 0 not in made.item  # eight ratings cannot be five and five
    assert len(made.item) == ITEMS - 1
    mean = raters.node_means(rows.item[held_out], rows.value[held_out], ITEMS)[made.item]
    np.testing.assert_allclose(made.theta, rewards.centred(mean))
    np.testing.assert_allclose([made.theta.sum(), np.linalg.norm(made.theta)], [0, 1], atol=1e-12)
    empirical = made.reward_model.empirical
    np.testing.assert_allclose(np.add.reduceat(empirical.values, empirical.starts[:-1]), 0, atol=1e-12)
    np.testing.assert_array_equal(np.diff(empirical.starts), np.bincount(rows.item[held_out])[made.item])
    assert made.reward_model.noise == empirical.size
    drawn = problems.draw_rounds(made, "uniform", 50, 10, stream(0, "test"))
    for arm, noise in zip(drawn.arms.ravel(), drawn.noise.ravel(), strict=True):
        assert noise in empirical.values[empirical.starts[arm] : empirical.starts[arm + 1]]


def test_implicit_feedback_pays_yes_or_no_with_the_share_of_users_as_its_mean():
    rows = rated().interactions
    data = Data(keys(ITEMS), Interactions(rows.user[rows.item > 0], rows.item[rows.item > 0]))
    twice = Interactions(*(np.tile(column, 2) for column in data.interactions[:2]))
    made, repeated = problem_of(data), problem_of(data._replace(interactions=twice))
    np.testing.assert_array_equal(made.theta, repeated.theta)  # a user who chose an item twice is one user
    assert made.reward_model.values == repeated.reward_model.values
    drawn = problems.draw_rounds(made, "uniform", 20_000, 10, stream(0, "test"))
    paid = made.theta[drawn.arms] + drawn.noise.reshape(drawn.arms.shape)
    no, yes = made.reward_model.values
    assert np.isclose(paid[..., None], [no, yes]).any(axis=-1).all()
    mean = raters.node_means(drawn.arms.ravel(), paid.ravel(), len(made.theta))
    assert abs(mean - made.theta).max() < 5 * made.reward_model.noise / np.sqrt(20_000 * 10 / ITEMS)
    assert np.isclose(np.sqrt(np.mean(drawn.noise**2)), made.reward_model.noise, rtol=0.01)
    share = (made.theta - no) / (yes - no)
    assert np.isclose(share * USERS / 2, np.round(share * USERS / 2)).all()


def test_several_rewards_of_a_node_are_split_and_one_has_normal_noise():
    several = ring(RNG.normal(size=5 * ITEMS), each=5)
    assert problems.select_source(several, None).split is problems.ROWS
    one, other = (problem_of(several, number) for number in (0, 1))
    assert abs(one.theta - other.theta).min() > 0
    np.testing.assert_array_equal(np.diff(one.reward_model.empirical.starts), 3)  # of five
    single = ring(RNG.normal(size=ITEMS))
    assert problems.select_source(single, None).split.spread == 0
    one, other = (problem_of(single, number) for number in (0, 1))
    np.testing.assert_array_equal(one.theta, other.theta)
    np.testing.assert_allclose(one.theta, rewards.centred(single.rewards.value[one.item]))
    assert one.reward_model == problems.RewardModel(problems.NOISE)
    assert np.isclose(problems.draw_rounds(one, "uniform", 20_000, 10, stream(0, "test")).noise.std(), 0.1, rtol=0.03)


def test_features_alone_make_a_graph_of_nearest_neighbours():
    data = Data(keys(ITEMS), rewards=Rewards(np.arange(ITEMS), RNG.normal(size=ITEMS)), features=ABOUT)
    made = problem_of(data)
    expected = from_data.nearest_by_features(ABOUT, problems.NEIGHBOURS)
    assert (made.graph.adjacency != expected.adjacency).nnz == 0
    np.testing.assert_array_equal(made.content, ABOUT[made.item])
    unpaid = data._replace(rewards=Rewards(np.arange(10, ITEMS), RNG.normal(size=ITEMS - 10)))
    assert problem_of(unpaid).item.min() == 10
    features = np.column_stack([np.eye(3)[np.arange(90) % 3], np.arange(90) / 45])  # few categories: more neighbours
    data = Data(keys(90), rewards=Rewards(np.arange(90), RNG.normal(size=90)), features=features)
    graph = problem_of(data).graph
    assert (graph.n, connected_components(graph.adjacency)[0]) == (90, 1)
    apart = problem_of(data._replace(features=features[:, :3])).graph  # no two kinds have a cosine above zero
    assert connected_components(apart.adjacency)[0] == 3


def test_a_graph_has_the_basis_of_the_workflow_and_in_several_components_that_of_a_served_policy():
    """Five topics without edges between them, and an item without any."""
    made = problem_of(ring(RNG.normal(size=ITEMS)))
    source, basis = arm_features.Source(ITEMS, made.graph), methods.compute_basis("laplacian_low", made, stream(0, "b"))
    expected = arm_features.compute("laplacian_low", source, methods.column_count(ITEMS), stream(0, "b"))
    np.testing.assert_array_equal(basis.vectors, expected.vectors)
    topic = np.arange(ITEMS) % 5
    i, j = np.triu_indices(ITEMS - 1, k=1)
    edges = Edges(*(end[topic[i] == topic[j]] for end in (i, j)))
    data = Data(keys(ITEMS), edges=edges, rewards=Rewards(np.arange(ITEMS), RNG.normal(size=ITEMS)))
    made = problem_of(data)
    np.testing.assert_array_equal(made.item, np.arange(ITEMS))
    basis = methods.compute_basis("laplacian_low", made, stream(0, "basis"))
    served = GraphEmbedding(components="keep", k=basis.vectors.shape[1] - 1).fit_transform(made.graph.adjacency)
    np.testing.assert_allclose(basis.vectors[:, 1:], served, atol=1e-9)
    assert (basis.vectors[-1] == 0).all()
    played = run(problems.select_source(data, None))
    assert all(np.isfinite(curve).all() for curve in played.curves.values())


def test_the_reliability_of_held_out_means_is_the_share_of_signal_in_their_variance():
    """Signal of variance one and noise of variance four: of the mean of so many, one in 1 + 4 / count is signal."""
    rng, n = np.random.default_rng(0), 1000
    for each in (8, 80):
        expected = rng.normal(size=n)
        made = problem_of(ring(np.repeat(expected, each) + 2 * rng.normal(size=n * each), each))
        assert made.reward_model.reliability == pytest.approx(1 / (1 + 4 / (each / 2)), abs=0.05)
    noise = problem_of(ring(rng.normal(size=n * 8), 8))
    assert abs(noise.reward_model.reliability) < 0.1
    assert problem_of(ring(RNG.normal(size=ITEMS))).reward_model.reliability is None  # nothing is held out
    rate = np.repeat([0.2, 0.25], 200)  # of shares of users it counts the users
    for users in (200, 2000):
        user, item = np.nonzero(rng.random((users, len(rate))) < rate)
        made = problem_of(Data(keys(len(rate)), Interactions(user, item)))
        share = rate[made.item]
        noise = np.mean(share * (1 - share)) / (users / 2)
        assert made.reward_model.reliability == pytest.approx(share.var() / (share.var() + noise), abs=0.08)


OUTSIDE = Edges(np.zeros(1, int), np.ones(1, int))  # an edge, to an item that has no reward
FEW = Interactions(np.repeat(np.arange(3), ITEMS), np.tile(np.arange(ITEMS), 3), RNG.normal(size=3 * ITEMS))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            Data(keys(ITEMS), edges=OUTSIDE, rewards=Rewards(np.arange(1, ITEMS), RNG.normal(size=ITEMS - 1))),
            "no edge joins two of the 39 items that can be played: bring edges between them",
        ),
        (ring(RNG.normal(size=8)), "8 items are fewer than the 10 that a round needs"),
        (ring(np.ones(ITEMS)), "all 40 items have the reward 1, so that there is nothing to learn"),
        (Data(keys(ITEMS), FEW), "0 items with 5 interactions of either part of the users are fewer than the 10"),
        (Data(keys(ITEMS), FEW._replace(user=FEW.user * 0, time=FEW.value)), "0 items with 5 interactions"),
    ],
)
def test_data_that_cannot_be_played_are_refused_in_one_line(data, message):
    with pytest.raises(UserError, match=message) as caught:
        problem_of(data)
    assert "\n" not in str(caught.value)


# Methods


class Played(NamedTuple):
    """A split that is set up with all bases, and rounds to play."""

    setup: SplitSetup
    rounds: Rounds

    def play(self, method: Method, **bases: Basis) -> np.ndarray:
        setup = self.setup._replace(bases=self.setup.bases | bases)
        return tournament.play_method(method, setup, self.rounds, stream(0, "policy"), every=10)


def usual(name: str) -> Method:
    """Return a method at the first of its settings."""
    return METHODS[name].grid(ITEMS)[0]


NAMES = sorted({basis for method in METHODS.values() for basis in method.policy.bases})


def all_bases(problem: SimulatedProblem) -> dict[str, Basis]:
    return {name: methods.compute_basis(name, problem, stream(0, "basis")) for name in NAMES}


@pytest.fixture(scope="module")
def played() -> Played:
    problem = problem_of(rated(features=ABOUT))
    rounds = problems.draw_rounds(problem, "uniform", 300, 10, stream(0, "rounds"))
    return Played(SplitSetup(0, problem, all_bases(problem), 0.0), rounds)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_plays_and_the_graph_matters_to_those_that_see_it(played, name):
    method, problem = usual(name), played.setup.problem
    regret = played.play(method)
    assert regret.shape == (30,)
    assert np.isfinite(regret).all()
    assert (np.diff(regret, prepend=0) >= -1e-12).all()
    order = np.random.default_rng(0).permutation(problem.graph.n)
    other = problem._replace(graph=model.induced(problem.graph, order))
    same = np.array_equal(regret, played.play(method, **all_bases(other)))
    assert same == (not method.sees_graph)


def test_a_method_is_left_out_where_its_data_are_missing():
    def missing(data: Data) -> set[str]:
        return set(METHODS) - set(methods.available(data))

    of_ratings, of_content = (
        {name for name, method in METHODS.items() if basis in method.policy.bases}
        for basis in ("interaction_svd", "content_pca")
    )
    assert missing(rated(features=ABOUT)) == set()
    assert missing(rated()) == {"prior_content", "prior_beside_content", "prior_ratings_content"}
    assert missing(rated(implicit=True)) == of_content
    assert missing(ring(RNG.normal(size=ITEMS))) == of_ratings | of_content


@pytest.mark.parametrize("kind", [arm_features.SHUFFLED, arm_features.RANDOM_DIRECTIONS])
def test_a_method_that_sees_the_graph_has_controls_made_of_its_basis(kind):
    for method in METHODS.values():
        if method.sees_graph:
            control = arm_features.find(method.control(kind).policy.basis)
            assert (control.control, control.stored_name) == (kind, method.policy.basis)


def test_controls_and_priors_play_what_they_say(played):
    regret = played.play(METHODS["graphdr"].control(methods.LONGEST).set(k=5))
    lengths = np.linalg.norm(played.setup.bases["laplacian_low"].vectors[:, 1:6], axis=1)
    arms, theta = played.rounds.arms, played.setup.problem.theta
    chosen = np.array([max(candidates, key=lambda arm: lengths[arm]) for candidates in arms])
    np.testing.assert_allclose(regret, np.cumsum(theta[arms].max(axis=1) - theta[chosen])[9::10])
    no_columns = Basis(np.zeros((len(theta), 0)), np.zeros(0), np.zeros(0))
    alone, prior = played.play(usual("alone")), played.play(usual("prior"), laplacian_low=no_columns)
    np.testing.assert_array_equal(alone, prior)
    for n in (4, 12, 60, 1000):
        ks = [method.settings.k for method in METHODS["graphdr"].grid(n)]
        assert 1 <= min(ks) <= max(ks) < methods.column_count(n)


# Tournaments


@pytest.fixture(scope="module")
def planted() -> problems.Source:
    """A graph with several noisy rewards of every node, smooth on it."""
    graph = draw_sbm(1, n=40)
    smooth = spectral.low_eigenpairs(graph, 4).vectors[:, 1:].sum(axis=1)
    i, j, _ = model.edges(graph)
    item = np.repeat(np.arange(graph.n), 6)
    paid = smooth[item] + 0.1 * np.random.default_rng(0).normal(size=len(item))
    return problems.select_source(Data(keys(graph.n), edges=Edges(i, j), rewards=Rewards(item, paid)), None)


def equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def run(source: problems.Source, seed: int = 0, workers: int = 1) -> TournamentResult:
    return Tournament(source, SMALL, seed).run(workers)


def test_a_tournament_is_the_same_whatever_the_number_of_workers(planted):
    messages = []
    result = Tournament(planted, SMALL, 3, messages.append).run(1)
    slow = Tournament(planted, SMALL, 3, lambda text: time.sleep(0.02)).run(3)  # others finish meanwhile
    for other in (slow, run(planted, 3, workers=2)):
        assert result.methods == other.methods
        assert equal(result.curves, other.curves)
        assert equal(result.judged, other.judged)
    assert [setup.number for setup in slow.setups] == [0, 1]
    assert (result.judged["full"] != run(planted, 4).judged["full"])[:, :, -1].all()
    assert messages[-1] == "judging the best: 2 of 2 splits"


def test_only_methods_that_are_behind_by_chance_are_near():
    shared, alone = np.random.default_rng(0).normal(size=(2, 4, 8, 2, 1))
    means = np.array([100, 101, 120, 180])[:, None, None, None]

    def near(own_share: float, *names: str) -> list[str]:
        curves = means * (1 + 0.3 * shared[0] + own_share * alone)
        return tournament.near(dict(zip("abcd", curves, strict=True)), [*names])

    assert near(0.1, *"abcd") == ["a", "b"]
    assert near(0.1, *"cd") == ["c"]
    assert near(1.0, *"abc") == ["a", "b", "c"]
    assert near(0.0, "a") == ["a"]


def test_settings_that_are_clearly_behind_do_not_play_on_and_near_methods_do(planted, monkeypatch):
    play, offered = tournament.play_run, []

    def record(setup: SplitSetup, config: SimulationConfig, seed: int, number: int, entries: dict) -> dict:
        offered.append(entries)
        return play(setup, config, seed, number, entries)

    monkeypatch.setattr(tournament, "near", lambda curves, names: names[1:3] or names)
    monkeypatch.setattr(tournament, "play_run", record)
    run(planted)
    grids: dict[str, list[Method]] = {}
    for method in offered[0]:
        grids.setdefault(method.label, []).append(method)
    assert METHODS["prior"].label not in grids  # it finds its own
    assert list(offered[1]) == [method for grid in grids.values() for method in grid[1:3]]
    monkeypatch.setattr(tournament, "near", lambda curves, names: names[:2])
    counts = sorted(curve.shape[1] for curve in run(planted).curves.values())
    assert counts[-4:] == [SMALL.comparing + SMALL.deciding] * 4
    assert set(counts[:-4]) == {SMALL.comparing}


def test_settings_methods_and_verdicts_rest_on_disjoint_runs(planted, monkeypatch):
    play, numbers = tournament.play_run, set()

    def elsewhere(first: int) -> TournamentResult:
        """Play with other rounds from some number on."""

        def moved(setup: SplitSetup, config: SimulationConfig, seed: int, number: int, entries: dict) -> dict:
            numbers.add(number)
            return play(setup, config, seed, number if number < first else 1000 + number, entries)

        monkeypatch.setattr(tournament, "play_run", moved)
        return run(planted)

    first = SMALL.choosing + SMALL.comparing + SMALL.deciding
    as_it_is, judging, comparing = (elsewhere(number) for number in (1000, first, SMALL.choosing))
    assert as_it_is.methods == judging.methods == comparing.methods
    assert equal(as_it_is.curves, judging.curves)
    assert (as_it_is.best_graph, as_it_is.best_without) == (judging.best_graph, judging.best_without)
    assert all((as_it_is.judged[name] != judging.judged[name])[:, :, -1].all() for name in as_it_is.judged)
    shared = SMALL.comparing
    assert all((one[:, :shared] != comparing.curves[name][:, :shared]).any() for name, one in as_it_is.curves.items())
    assert numbers >= {*range(SMALL.choosing + SMALL.comparing), *range(first, first + SMALL.judging_runs)}
    assert max(numbers) < first + SMALL.judging_runs


def test_all_methods_meet_the_same_rounds(planted):
    setup = tournament.set_up(planted, SMALL.arms, 0, 0)
    names = methods.available(planted.data)
    entries = {(name, copy): usual(name) for copy in range(2) for name in names}
    curves = tournament.play_run(setup, SMALL, 0, 1, entries)
    assert all(np.array_equal(curves[name, 0], curves[name, 1]) for name in names)
    other = tournament.play_run(setup, SMALL, 0, 2, entries)
    assert all(not np.array_equal(curves[key], other[key]) for key in entries)


def test_random_rewards_speak_for_a_graph_that_they_are_smooth_on(planted):
    rows = planted.data.rewards
    order = np.random.default_rng(0).permutation(len(planted.item))
    moved = planted._replace(data=planted.data._replace(rewards=rows._replace(item=order[rows.item])))
    smooth, rough = (tournament.set_up(source, SMALL.arms, 0, 0).log_bayes for source in (planted, moved))
    assert smooth > 2 > rough
