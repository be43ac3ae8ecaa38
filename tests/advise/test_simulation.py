"""The simulation behind advice: who makes the graph pays nothing, and who chooses settings does not judge."""

import time
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse.csgraph import connected_components

from graphdr import GraphEmbedding
from graphdr.advise.data import Data, Edges, Interactions, Rewards, ratings
from graphdr.advise.simulation import field, splits, trial, worlds
from graphdr.advise.simulation.field import FIELD, Settings
from graphdr.advise.simulation.trial import Game
from graphdr.advise.simulation.worlds import World
from graphdr.bandit import rewards
from graphdr.bandit.environment import Stream
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs import arm_features, bases, from_data, model, raters
from graphdr.graphs.arm_features import Basis
from tests.support.project import draw_sbm

ITEMS, USERS, SMALL = 40, 80, Game(horizon=300, splits=2, comparing=1, judging=2, controls=1)
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


def world(data: Data, number: int = 0, n: int | None = None) -> World:
    return worlds.world(splits.source(data, n), 10, 0, number)


# Worlds


def makes_the_graph(data: Data) -> np.ndarray:
    """Tell of each row whether its user makes the graph of the first split."""
    found = splits.part(splits.source(data, None), 10, 0, 0)
    return np.isin(data.interactions.user, found.making.user)


def test_short_rows_of_ratings_have_the_products_of_long_ones():
    data = rated()
    made, rows = world(data), splits.part(splits.source(data, None), 10, 0, 0).making
    whole = ratings(rows, made.item, data.transform).toarray()
    assert made.ratings.shape[1] < whole.shape[1]
    np.testing.assert_allclose(made.ratings @ made.ratings.T, whole @ whole.T, atol=1e-9)


@pytest.mark.parametrize("timed", [False, True])
def test_who_makes_the_graph_pays_nothing(timed):
    data = rated(timed)
    rows, made = data.interactions, world(data)
    makers = makes_the_graph(data)
    assert 0.25 < makers.mean() < 0.6
    for part, parts in ((makers, ("theta", "paid")), (~makers, ("graph", "ratings", "content"))):
        changed = world(data._replace(interactions=rows._replace(value=np.where(part, rows.value**2, rows.value))))
        for name in parts:  # of what the others say nothing is changed
            mine, other = (_flat(getattr(one, name)) for one in (made, changed))
            np.testing.assert_array_equal(mine, other, err_msg=name)
        other = "theta" if "theta" not in parts else "content"
        assert not np.array_equal(getattr(made, other), getattr(changed, other))
    if timed:
        late = rows.time > np.median(rows.time)
        assert not late[makers].mean() > 0.1
        assert splits.source(data, None).split is splits.TIME


def _flat(part) -> np.ndarray:
    if isinstance(part, model.Graph):
        part = part.adjacency
    if isinstance(part, tuple):
        return np.concatenate(part)
    return part if isinstance(part, np.ndarray) else part.toarray()


def test_splits_differ_and_a_split_is_always_the_same():
    one, again, other = (world(rated(), number) for number in (0, 0, 1))
    np.testing.assert_array_equal(one.theta, again.theta)
    assert abs(one.theta[:5] - other.theta[:5]).min() > 0


def test_times_that_leave_few_items_are_not_used():
    rows = rated(timed=True).interactions
    new_items = rows._replace(item=rows.item % 20 + 20 * (rows.time > USERS / 2))  # late users met no earlier item
    assert splits.source(Data(keys(ITEMS), new_items), None).split is splits.USERS


def test_rewards_are_the_means_of_who_pays_in_units():
    data = rated()
    rows, made = data.interactions, world(data)
    payers = ~makes_the_graph(data)
    assert 0 not in made.item  # eight ratings cannot be five and five
    assert len(made.item) == ITEMS - 1
    mean = raters.node_means(rows.item[payers], rows.value[payers], ITEMS)[made.item]
    np.testing.assert_allclose(made.theta, rewards.centred(mean))
    np.testing.assert_allclose([made.theta.sum(), np.linalg.norm(made.theta)], [0, 1], atol=1e-12)
    sums = np.add.reduceat(made.paid.values, made.paid.starts[:-1])
    np.testing.assert_allclose(sums, 0, atol=1e-12)
    np.testing.assert_array_equal(np.diff(made.paid.starts), np.bincount(rows.item[payers])[made.item])
    assert made.noise == made.paid.size
    drawn = worlds.rounds(made, "uniform", 50, 10, stream(0, "test"))
    for arm, noise in zip(drawn.arms.ravel(), drawn.noise.ravel(), strict=True):
        assert noise in made.paid.values[made.paid.starts[arm] : made.paid.starts[arm + 1]]


def test_implicit_feedback_pays_yes_or_no_with_the_share_of_users_as_its_mean():
    rows = rated().interactions
    data = Data(keys(ITEMS), Interactions(rows.user[rows.item > 0], rows.item[rows.item > 0]))
    twice = Interactions(*(np.tile(column, 2) for column in data.interactions[:2]))
    made, repeated = world(data), world(data._replace(interactions=twice))
    np.testing.assert_array_equal(made.theta, repeated.theta)  # a user who chose an item twice is one user
    assert made.chance == repeated.chance
    drawn = worlds.rounds(made, "uniform", 20_000, 10, stream(0, "test"))
    paid = made.theta[drawn.arms] + drawn.noise.reshape(drawn.arms.shape)
    no, yes = made.chance
    assert np.isclose(paid[..., None], [no, yes]).any(axis=-1).all()
    mean = raters.node_means(drawn.arms.ravel(), paid.ravel(), len(made.theta))
    assert abs(mean - made.theta).max() < 5 * made.noise / np.sqrt(20_000 * 10 / ITEMS)
    assert np.isclose(np.sqrt(np.mean(drawn.noise**2)), made.noise, rtol=0.01)
    share = (made.theta - no) / (yes - no)
    assert np.isclose(share * USERS / 2, np.round(share * USERS / 2)).all()


def test_several_rewards_of_a_node_are_split_and_one_has_normal_noise():
    several = ring(RNG.normal(size=5 * ITEMS), each=5)
    assert splits.source(several, None).split is splits.ROWS
    one, other = (world(several, number) for number in (0, 1))
    assert abs(one.theta - other.theta).min() > 0
    np.testing.assert_array_equal(np.diff(one.paid.starts), 3)  # of five
    single = ring(RNG.normal(size=ITEMS))
    assert splits.source(single, None).split.spread == 0
    one, other = (world(single, number) for number in (0, 1))
    np.testing.assert_array_equal(one.theta, other.theta)
    np.testing.assert_allclose(one.theta, rewards.centred(single.rewards.value[one.item]))
    assert (one.paid, one.chance, one.noise) == (None, None, worlds.NOISE)
    assert np.isclose(worlds.rounds(one, "uniform", 20_000, 10, stream(0, "test")).noise.std(), 0.1, rtol=0.03)


def test_features_alone_make_a_graph_of_nearest_neighbours():
    data = Data(keys(ITEMS), rewards=Rewards(np.arange(ITEMS), RNG.normal(size=ITEMS)), features=ABOUT)
    made = world(data)
    expected = from_data.nearest_by_features(ABOUT, worlds.NEIGHBOURS)
    assert (made.graph.adjacency != expected.adjacency).nnz == 0
    np.testing.assert_array_equal(made.content, ABOUT[made.item])
    unpaid = data._replace(rewards=Rewards(np.arange(10, ITEMS), RNG.normal(size=ITEMS - 10)))
    assert world(unpaid).item.min() == 10


def test_items_of_few_categories_are_joined_to_more_neighbours_until_all_are_connected():
    features = np.column_stack([np.eye(3)[np.arange(90) % 3], np.arange(90) / 45])
    data = Data(keys(90), rewards=Rewards(np.arange(90), RNG.normal(size=90)), features=features)
    graph = world(data).graph
    assert graph.n == 90
    assert np.diff(graph.adjacency.indptr).min() >= 2 * worlds.NEIGHBOURS
    apart = world(data._replace(features=features[:, :3])).graph  # no two kinds have a cosine above zero
    assert connected_components(apart.adjacency)[0] == 3


def test_several_components_are_kept_as_a_served_policy_keeps_them():
    """Five topics without edges between them, and an item without any."""
    topic = np.arange(ITEMS) % 5
    i, j = np.triu_indices(ITEMS - 1, k=1)
    edges = Edges(*(end[topic[i] == topic[j]] for end in (i, j)))
    data = Data(keys(ITEMS), edges=edges, rewards=Rewards(np.arange(ITEMS), RNG.normal(size=ITEMS)))
    made = world(data)
    np.testing.assert_array_equal(made.item, np.arange(ITEMS))
    basis = field.compute_basis("laplacian_low", made, stream(0, "basis"))
    served = GraphEmbedding(components="keep", k=basis.vectors.shape[1] - 1).fit_transform(made.graph.adjacency)
    np.testing.assert_allclose(basis.vectors[:, 1:], served, atol=1e-9)
    assert (basis.vectors[-1] == 0).all()
    played = trial.trial(splits.source(data, None), SMALL, 0, workers=1)
    assert all(np.isfinite(curve).all() for curve in played.curves.values())


def test_one_component_has_the_basis_of_the_workflow():
    made = world(ring(RNG.normal(size=ITEMS)))
    expected = bases.compute("laplacian_low", bases.Source(ITEMS, made.graph), field.columns(ITEMS), stream(0, "basis"))
    np.testing.assert_array_equal(
        field.compute_basis("laplacian_low", made, stream(0, "basis")).vectors, expected.vectors
    )


def test_the_reliability_of_held_out_means_is_the_share_of_signal_in_their_variance():
    """Signal of variance one and noise of variance four: of the mean of so many, one in 1 + 4 / count is signal."""
    rng, n = np.random.default_rng(0), 1000
    for each in (8, 80):
        expected = rng.normal(size=n)
        made = world(ring(np.repeat(expected, each) + 2 * rng.normal(size=n * each), each))
        assert made.reliability == pytest.approx(1 / (1 + 4 / (each / 2)), abs=0.05)
    noise = world(ring(rng.normal(size=n * 8), 8))
    assert abs(noise.reliability) < 0.1
    assert world(ring(RNG.normal(size=ITEMS))).reliability is None  # nothing is held out


def test_the_reliability_of_shares_of_users_counts_the_users():
    rng = np.random.default_rng(0)
    rate = np.repeat([0.2, 0.25], 200)
    for users in (200, 2000):
        user, item = np.nonzero(rng.random((users, len(rate))) < rate)
        made = world(Data(keys(len(rate)), Interactions(user, item)))
        share = rate[made.item]
        noise = np.mean(share * (1 - share)) / (users / 2)
        assert made.reliability == pytest.approx(share.var() / (share.var() + noise), abs=0.08)


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
        (Data(keys(ITEMS), FEW), "0 items have 5 interactions with either part of the users"),
        (Data(keys(ITEMS), FEW._replace(user=FEW.user * 0, time=FEW.value)), "0 items have 5 interactions"),
    ],
)
def test_data_that_cannot_be_played_are_refused_in_one_line(data, message):
    with pytest.raises(UserError, match=message) as caught:
        world(data)
    assert "\n" not in str(caught.value)


def test_the_most_popular_items_are_taken():
    data = rated()
    given = splits.source(data, 20)
    counts = np.bincount(data.interactions.item)
    assert counts[given.item].min() >= np.sort(counts)[-20]
    np.testing.assert_array_equal(given.popularity, counts[given.item])
    np.testing.assert_array_equal(np.bincount(given.data.interactions.item), given.popularity)


# Methods


class Played(NamedTuple):
    """A world with all bases of it, and rounds to play."""

    world: World
    bases: dict[str, Basis]
    rounds: Stream

    def play(self, method: field.Method, known: dict[str, Basis] | None = None, seed: int = 0) -> np.ndarray:
        parts = ((known or self.bases).get(basis) for basis in (method.basis, method.beside))
        given = field.grid(method, self.world.graph.n)[0]
        return field.play(method, given, self.world, *parts, self.rounds, stream(seed, "policy"), every=10)


NAMES = sorted({basis for method in FIELD.values() for basis in (method.basis, method.beside) if basis})


def known_bases(made: World) -> dict[str, Basis]:
    return {name: field.compute_basis(name, made, stream(0, "basis")) for name in NAMES}


@pytest.fixture(scope="module")
def played() -> Played:
    made = world(rated(features=ABOUT))
    return Played(made, known_bases(made), worlds.rounds(made, "uniform", 300, 10, stream(0, "rounds")))


@pytest.mark.parametrize("name", FIELD)
def test_every_method_plays_and_the_graph_matters_to_those_that_see_it(played, name):
    method = FIELD[name]
    regret = played.play(method)
    assert regret.shape == (30,)
    assert np.isfinite(regret).all()
    assert (np.diff(regret, prepend=0) >= -1e-12).all()
    assert name in field.present(played.world)
    order = np.random.default_rng(0).permutation(played.world.graph.n)
    other = played.world._replace(graph=model.induced(played.world.graph, order))
    same = np.array_equal(regret, played.play(method, known_bases(other)))
    assert same == (not method.sees_graph)


def test_a_method_stays_away_where_its_data_are_missing():
    assert set(field.present(world(rated(features=ABOUT)))) == set(FIELD)
    described = {"prior_content", "prior_beside_content", "prior_ratings_content"}
    assert set(FIELD) - set(field.present(world(rated()))) == described
    from_ratings = {name for name, one in FIELD.items() if "interaction_svd" in (one.basis, one.beside)}
    of_content = {name for name, one in FIELD.items() if "content_pca" in (one.basis, one.beside)}
    assert set(FIELD) - set(field.present(world(rated(implicit=True)))) == of_content
    assert set(FIELD) - set(field.present(world(ring(RNG.normal(size=ITEMS))))) == from_ratings | of_content


def test_the_prior_of_independent_items_is_the_graph_prior_without_columns(played):
    n = played.world.graph.n
    nothing = {"laplacian_low": Basis(np.zeros((n, 0)), np.zeros(0), np.zeros(0))}
    np.testing.assert_array_equal(played.play(FIELD["alone"]), played.play(FIELD["prior"], nothing))


def test_grids_fit_the_number_of_items():
    assert field.grid(FIELD["prior"], 100) == [Settings()]
    assert {given.k for given in field.grid(FIELD["full"], 100)} == {None}
    for n in (4, 12, 60, 1000):
        ks = {given.k for given in field.grid(FIELD["graphdr"], n)}
        assert min(ks) >= 1
        assert max(ks) < field.columns(n)


@pytest.mark.parametrize("name", [name for name, one in FIELD.items() if one.sees_graph])
def test_controls_have_permuted_rows_and_rows_of_the_same_lengths(played, name):
    method, k = FIELD[name], 5
    controls = field.controls(method)
    assert controls["longest"].policy == "longest"
    rows = arm_features.select(method.basis, played.bases[method.basis].vectors, k)

    def drawn(control: field.Method) -> np.ndarray:
        basis = field.compute_control(control.basis, played.bases, stream(0, "controls"))
        return arm_features.select(control.basis, basis.vectors, k)

    shuffled, length = drawn(controls[field.SHUFFLED]), drawn(controls["length"])
    np.testing.assert_allclose(np.sort(shuffled, axis=0), np.sort(rows, axis=0))
    assert not np.allclose(shuffled, rows)
    np.testing.assert_allclose(np.linalg.norm(length, axis=1), np.linalg.norm(rows, axis=1))
    assert not np.allclose(length, rows)


def test_the_longest_row_is_played(played):
    longest = field.controls(FIELD["graphdr"])["longest"]
    regret = field.play(
        longest, Settings(k=5), played.world, played.bases["laplacian_low"], None, played.rounds, stream(0, "x"), 1
    )
    lengths = np.linalg.norm(played.bases["laplacian_low"].vectors[:, 1:6], axis=1)
    arms, theta = played.rounds.arms, played.world.theta
    chosen = np.array([max(arms_of, key=lambda arm: lengths[arm]) for arms_of in arms])
    np.testing.assert_allclose(regret, np.cumsum(theta[arms].max(axis=1) - theta[chosen]))


# Trials


@pytest.fixture(scope="module")
def planted() -> splits.Source:
    """A graph with several noisy rewards of every node, smooth on it."""
    graph = draw_sbm(1, n=40)
    low = bases.compute("laplacian_low", bases.Source(graph.n, graph), 5, stream(0, "basis")).vectors[:, 1:4]
    i, j, _ = model.edges(graph)
    item = np.repeat(np.arange(graph.n), 6)
    paid = (low @ np.ones(3))[item] + 0.1 * np.random.default_rng(0).normal(size=len(item))
    return splits.source(Data(keys(graph.n), edges=Edges(i, j), rewards=Rewards(item, paid)), None)


def equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_a_trial_is_the_same_whatever_the_number_of_workers(planted):
    said = []
    one = trial.trial(planted, SMALL, 3, said.append, workers=1)
    slowly = trial.trial(planted, SMALL, 3, lambda text: time.sleep(0.02), workers=3)  # others finish meanwhile
    other = trial.trial(planted, SMALL, 3, workers=2)
    assert equal(one.judged, slowly.judged)
    assert [table.number for table in slowly.tables] == [0, 1]
    assert one.settings == other.settings
    assert equal(one.curves, other.curves)
    assert equal(one.judged, other.judged)
    assert (one.judged["full"] != trial.trial(planted, SMALL, 4, workers=1).judged["full"])[:, :, -1].all()
    assert said[-1].startswith("judging the best: 2 of 2 splits; the graph saves ")


def test_a_trial_has_all_that_it_is_asked_for(planted):
    played = trial.trial(planted, SMALL, 0, workers=1)
    most = SMALL.comparing + SMALL.deciding
    for curve in played.curves.values():
        splits, runs, points = curve.shape
        assert (splits, points) == (SMALL.splits, 100)
        assert SMALL.comparing <= runs <= most
    controls = {"shuffled", "length", "longest"}
    assert set(played.judged) == {played.best_graph, played.best_without, "full", "random"} | controls
    for name, regret in played.judged.items():
        assert regret.shape == (SMALL.splits, SMALL.controls if name in controls else SMALL.judging, 100)
    assert FIELD[played.best_graph].sees_graph
    assert not FIELD[played.best_without].sees_graph
    assert played.best_without != field.RANDOM
    final = {name: curve[:, :, -1].mean() for name, curve in played.curves.items()}
    for best in (played.best_graph, played.best_without):
        rivals = [name for name in final if FIELD[name].sees_graph == FIELD[best].sees_graph and name != field.RANDOM]
        runs = {name: played.curves[name].shape[1] for name in rivals}
        assert runs[best] == max(runs.values())
        assert final[best] == min(final[name] for name in rivals if runs[name] == runs[best])


def drawn(means: dict[str, float], luck: float, splits: int = 8, runs: int = 2) -> dict[str, np.ndarray]:
    """Return curves of one point whose methods have these regrets, the luck of a run being partly that of all."""
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(splits, runs, 1))
    return {name: mean * (1 + 0.3 * shared + luck * rng.normal(size=shared.shape)) for name, mean in means.items()}


def test_only_methods_that_luck_may_have_put_behind_play_on():
    curves = drawn({"a": 100, "b": 101, "c": 120, "d": 180}, luck=0.1)
    assert trial.near(curves, ["a", "b", "c", "d"]) == ["a", "b"]
    assert trial.near(curves, ["c", "d"]) == ["c"]
    assert trial.near(drawn({"a": 100, "b": 101, "c": 120}, luck=1.0), ["a", "b", "c"]) == ["a", "b", "c"]
    assert trial.near(drawn({"a": 100, "b": 101}, luck=0.0), ["a"]) == ["a"]


def test_near_methods_play_on_until_one_is_ahead(planted, monkeypatch):
    rounds = []
    monkeypatch.setattr(trial, "near", lambda curves, names: (rounds.append(names[0]), names[:2])[1])
    played = trial.trial(planted, SMALL, 0, workers=1)
    counts = sorted(curve.shape[1] for curve in played.curves.values())
    assert counts[-4:] == [SMALL.comparing + SMALL.deciding] * 4
    assert set(counts[:-4]) == {SMALL.comparing}
    methods = [name for name in rounds if isinstance(name, str)]  # others are settings
    assert len(methods) == 2 * SMALL.deciding  # for either kind, before all further runs


def test_settings_that_are_clearly_behind_do_not_play_on(planted, monkeypatch):
    runs, offered = trial._runs, []
    monkeypatch.setattr(trial, "near", lambda curves, names: names[1:2] or names)
    monkeypatch.setattr(
        trial, "_runs", lambda table, game, seed, who, n: offered.append(who) or runs(table, game, seed, who, n)
    )
    played = trial.trial(planted, SMALL, 0, workers=1)
    first, second = offered[:2]
    grids = {name: [given for other, given in first if other == name] for name, _ in first}
    assert all(len(grid) > 1 for grid in grids.values())
    assert "prior" not in grids  # it finds its own
    assert list(second) == [(name, grid[1]) for name, grid in grids.items()]
    assert {name: played.settings[name] for name in grids} == {name: grid[1] for name, grid in grids.items()}
    monkeypatch.setattr(trial, "near", lambda curves, names: names[:1])
    decided = trial.trial(planted, SMALL, 0, workers=1)
    assert {curve.shape[1] for curve in decided.curves.values()} == {SMALL.comparing}


def test_settings_methods_and_verdicts_rest_on_rounds_of_their_own(planted, monkeypatch):
    play, asked = trial.play, []

    def elsewhere(first: int) -> trial.Trial:
        """Play with other rounds from some number on."""

        def moved(table, game, seed, number, who):
            asked.append((number, len(who)))
            return play(table, game, seed, number if number < first else 1000 + number, who)

        monkeypatch.setattr(trial, "play", moved)
        return trial.trial(planted, SMALL, 0, workers=1)

    first = SMALL.choosing + SMALL.comparing + SMALL.deciding
    as_it_is, judging, comparing = (elsewhere(number) for number in (1000, first, SMALL.choosing))
    assert as_it_is.settings == judging.settings == comparing.settings
    assert equal(as_it_is.curves, judging.curves)
    assert (as_it_is.best_graph, as_it_is.best_without) == (judging.best_graph, judging.best_without)
    assert all((as_it_is.judged[name] != judging.judged[name])[:, :, -1].all() for name in as_it_is.judged)
    shared = SMALL.comparing
    assert all((one[:, :shared] != comparing.curves[name][:, :shared]).any() for name, one in as_it_is.curves.items())
    numbers = {number for number, _ in asked}
    assert numbers >= {*range(SMALL.choosing + SMALL.comparing), *range(first, first + SMALL.judging)}
    assert max(numbers) < first + SMALL.judging


def test_all_methods_meet_the_same_rounds(planted):
    table = trial.set_up(planted, SMALL, 0, 0)
    who = {
        (name, copy): (method, field.grid(method, table.world.graph.n)[0])
        for copy in range(2)
        for name, method in table.methods.items()
    }
    curves = trial.play(table, SMALL, 0, 1, who)
    assert all(np.array_equal(curves[name, 0], curves[name, 1]) for name in table.methods)
    other = trial.play(table, SMALL, 0, 2, who)
    assert all(not np.array_equal(curves[key], other[key]) for key in who)


def test_random_rewards_speak_for_a_graph_that_they_are_smooth_on(planted):
    table = trial.set_up(planted, SMALL, 0, 0)
    rows = planted.data.rewards
    order = np.random.default_rng(0).permutation(len(planted.item))
    moved = planted._replace(data=planted.data._replace(rewards=rows._replace(item=order[rows.item])))
    assert table.log_bayes > 2 > trial.set_up(moved, SMALL, 0, 0).log_bayes
