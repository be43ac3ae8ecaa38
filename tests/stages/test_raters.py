"""Split users, rewards drawn from ratings, shuffled graphs and ties, through the real stages and files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from graphdr.bandit import environment
from graphdr.bandit.method import BanditProblem
from graphdr.bandit.policies.linucb import LinUCB
from graphdr.bandit.simulate import simulate
from graphdr.cache import io, paths
from graphdr.core.errors import UserError
from graphdr.graphs.model import laplacian
from graphdr.graphs.raters import FEWEST, SPLIT, reward_links
from graphdr.plan import design, jobs
from graphdr.stages.build_graph import FILE_ORDER
from graphdr.store.datasets import read_records
from graphdr.store.graphs import read_bases, read_graphs, read_items
from graphdr.store.problems import read_rewards, read_thetas
from tests.support.project import draw_ratings, write_toy
from tests.support.stages import run, run_all, small

pytestmark = pytest.mark.usefixtures("workdir")
STAGES = ("build_graph", "compute_basis", "pose_problem", "run_bandit")
METHODS = ["random", "linucb_full", "graphdr", "content_pca", "spectral_ucb", "graphdr_adaptive", "graph_prior"]


def plan(config: dict, methods: tuple[str, ...] = ("graphdr",), base: str = "toy", **factors) -> design.Design:
    """Plan one problem on the toy data set, or on a small random graph."""
    problems = {"toy": {"dataset": "toy"}, "small": {"dataset": "sbm", "n": 30, "p_in": 0.7, "p_out": 0.1}}
    experiment = {"problems": {"of": [base], "set": {"draws": 0} | factors}, "methods": list(methods)}
    return design.expand(small(config, problems=problems, experiments={"e": experiment}))


def halves(instance: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the users who make the graph of the toy data set, and those who pay."""
    records = read_records(paths.dataset_nodes("toy"), paths.dataset_links("toy"))
    held_out = reward_links(records, SPLIT, 0, "toy", instance)
    return np.unique(records.source[~held_out]), np.unique(records.source[held_out])


def build(expanded: design.Design):
    """Build the graph and its content basis anew; return the graph, what its nodes are, and the basis."""
    (name,) = expanded.graphs
    run(jobs.build_graph(expanded, name))
    run(jobs.compute_basis(expanded, name, "content_pca"))
    (graph,), (items,) = read_graphs(paths.nodes(name), paths.edges(name)), read_items(paths.nodes(name))
    return graph, items, read_bases(paths.basis(name, "content_pca"))[0, 0].vectors


def test_one_half_of_the_users_makes_graph_and_bases_the_other_pays(config):
    ratings = draw_ratings(users=80)
    write_toy(ratings)
    expanded = plan(config, ("graphdr", "content_pca"), holdout=SPLIT)
    making, pay = halves()
    assert not set(making) & set(pay)
    graph, items, basis = build(expanded)
    assert_allclose(items.reward, np.nanmean(ratings[items.item][:, pay], axis=1))
    assert_array_equal(items.popularity, np.sum(~np.isnan(ratings[items.item]), axis=1))
    for half in (making, pay):
        assert np.all(np.sum(~np.isnan(ratings[items.item][:, half]), axis=1) >= FEWEST)

    def rated_anew(users):
        others, rng = ratings.copy(), np.random.default_rng(1)
        others[:, users] = np.where(np.isnan(ratings[:, users]), np.nan, rng.integers(1, 6, ratings[:, users].shape))
        write_toy(others)
        return build(expanded)

    same, held_out_items, alike = rated_anew(pay)
    assert (same.adjacency != graph.adjacency).nnz == 0
    assert_array_equal(alike, basis)
    assert np.abs(held_out_items.reward - items.reward).max() > 0.1

    other, held_out_items, unlike = rated_anew(making)
    assert (other.adjacency != graph.adjacency).nnz > 0
    kept, place, again = np.intersect1d(items.item, held_out_items.item, return_indices=True)
    assert len(kept) >= 12
    assert_allclose(held_out_items.reward[again], items.reward[place])
    assert unlike.shape != basis.shape or not np.allclose(unlike, basis)


def test_a_node_that_one_half_rated_too_seldom_is_left_out_and_every_instance_has_halves_of_its_own(config):
    ratings = draw_ratings(users=80)
    write_toy(ratings)
    popular = int(np.argmax(np.sum(~np.isnan(ratings), axis=1)))
    ratings[popular, halves()[1][FEWEST - 1 :]] = np.nan  # fewer than are needed
    write_toy(ratings)
    expanded = plan(config, holdout=SPLIT, instances=2)
    (name,) = expanded.graphs
    run(jobs.build_graph(expanded, name))
    first, second = read_items(paths.nodes(name))
    assert popular not in first.item
    kept, place, again = np.intersect1d(first.item, second.item, return_indices=True)
    assert len(kept) >= 12
    assert np.mean(first.reward[place] == second.reward[again]) < 0.2


@pytest.mark.parametrize("holdout", ["none", SPLIT])
def test_rewards_are_ratings_of_the_users_who_pay(config, holdout):
    ratings = draw_ratings(users=80)
    write_toy(ratings)
    expanded = plan(config, METHODS, holdout=holdout, noise="resampled")
    (name,), (problem,) = expanded.graphs, expanded.problems
    run_all(expanded, STAGES)
    theta = read_thetas(paths.theta("e"))[problem, 0]
    (items,) = read_items(paths.nodes(name))
    node, value, count = read_rewards(paths.rewards("e"))[problem, 0]
    pay = halves()[1] if holdout == SPLIT else np.arange(80)
    centre, norm = items.reward.mean(), np.linalg.norm(items.reward - items.reward.mean())
    for place, item in enumerate(items.item):
        theirs = ratings[item, pay]
        values = np.repeat(value[node == place], count[node == place])
        assert_allclose(values, (np.sort(theirs[~np.isnan(theirs)]) - centre) / norm, atol=1e-12)
        assert_allclose(values.mean(), theta[place], atol=1e-12)

    spec = environment.RoundsSpec(80, 5, noise=environment.empirical_noise(theta, node, value, count))
    met = environment.draw_rounds(0, spec, len(theta), 0, 1)
    full = simulate(BanditProblem(theta), LinUCB(alpha=0.8, ridge=0.7), met, checkpoint=1)
    runs = io.read("runs", paths.runs("e", "plain")).to_pandas()
    assert set(runs["method"]) == set(METHODS)
    stored = runs[(runs["method"] == "linucb_full") & (runs["seed"] == 1)]
    assert_array_equal(stored["regret"], full.regret)


def test_rewards_that_are_no_means_of_ratings_are_refused_in_one_line(config):
    ratings = draw_ratings(users=80)
    write_toy(ratings, reward=np.nanmean(ratings, axis=1) + 0.123)
    split = plan(config, holdout=SPLIT)
    with pytest.raises(UserError, match=r"holdout = 'users' needs rewards by users, and .* are no means of ratings"):
        run_all(split, STAGES)
    with pytest.raises(UserError, match=r"noise = 'resampled' needs ratings or counts of clicks .*; set a number$"):
        run_all(plan(config, noise="resampled"), STAGES)
    agreed = np.where(np.isnan(ratings), np.nan, 1 + np.arange(len(ratings))[:, None] % 5)
    write_toy(agreed)
    with pytest.raises(UserError, match=r"users agree on every node, so that there is no noise to draw; set a number$"):
        run_all(plan(config, noise="resampled"), STAGES)


@pytest.mark.parametrize("base", ["toy", "small"])
def test_a_shuffled_graph_keeps_what_its_nodes_are(config, base):
    write_toy(draw_ratings())
    expanded = plan(config, ("graphdr", "graph_prior"), base, shuffle=1)
    (problem,) = expanded.problems.values()
    assert problem.graph != problem.clean
    run_all(expanded, STAGES)
    clean, shuffled = (read_graphs(paths.nodes(name), paths.edges(name)) for name in (problem.clean, problem.graph))
    for one, other in zip(clean, shuffled, strict=True):
        spectra = [np.linalg.eigvalsh(laplacian(graph).toarray()) for graph in (one, other)]
        assert_allclose(*spectra, atol=1e-12)
        assert (one.adjacency != other.adjacency).nnz > 0
    tables = [io.read("nodes", paths.nodes(getattr(problem, role))).to_pandas() for role in ("clean", "graph")]
    assert tables[0].equals(tables[1])
    plain = plan(config, ("graphdr",), base)
    (other,) = plain.problems.values()
    run(jobs.pose_problem(plain, "e"), theta="plain.parquet", contexts="c.parquet", rewards="r.parquet")
    theta, expected = read_thetas(paths.theta("e")), read_thetas("plain.parquet")
    for instance in range(problem.instances):
        assert_allclose(theta[problem.name, instance], expected[other.name, instance], rtol=1e-14)


def test_instances_of_a_data_set_break_ties_in_different_orders(config):
    ratings = draw_ratings()
    write_toy(ratings)
    popularity = np.sum(~np.isnan(ratings), axis=1)
    found = {}
    for instances in (1, 5):
        expanded = plan(config, instances=instances)
        (name,) = expanded.graphs
        run(jobs.build_graph(expanded, name))
        found[instances] = read_graphs(paths.nodes(name), paths.edges(name)), read_items(paths.nodes(name))
    (alone,), (plain,) = found[1]
    panel, items = found[5]
    assert (panel[0].adjacency != alone.adjacency).nnz == 0  # further instances change nothing about the first
    assert np.array_equal(items[0].item, plain.item)
    in_file = items[FILE_ORDER].item
    assert in_file.tolist() == sorted(in_file, key=lambda node: (-popularity[node], node))
    for part in items:
        assert np.all(np.diff(popularity[part.item]) <= 0)  # the most popular come first in all of them
    assert len({tuple(part.item) for part in items[2:]}) == 5 - 2
