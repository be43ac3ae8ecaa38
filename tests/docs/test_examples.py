"""What docs/adding.md prints to be copied works."""

import inspect
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from numpy.testing import assert_allclose

import graphdr
from graphdr.bandit import radii
from graphdr.facts import declare, graph_facts
from graphdr.graphs import random_graphs
from graphdr.graphs.arm_features import Source
from graphdr.paper import predicates
from graphdr.raw.tables import LINKS, NODES
from graphdr.theory.constants import Constants
from tests.support.adapter_twins import FIXTURES, Memory
from tests.support.project import ROOT, lay_out, snakemake

PAGE = (ROOT / "docs/adding.md").read_text(encoding="utf-8")
FUNCTIONS = dict(re.findall(r"^\*\*A [^*]+\*\*, [^`]*`([a-z_/]+\.py)`[^#]*?```python\n(.*?)```", PAGE, re.S | re.M))
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)


def defined(path: str, module=None) -> SimpleNamespace:
    """Run the example for a file as if it stood at its end, and return what it adds."""
    scope = {} if module is None else dict(vars(module))
    before = set(scope)
    exec(FUNCTIONS[path], scope)
    return SimpleNamespace(**{name: scope[name] for name in set(scope) - before})


def test_the_family(small_graph):
    ring = defined("graphs/random_graphs.py", random_graphs).ring
    graph = ring(50, np.random.default_rng(0), radius=0.1)
    assert 5 < graph.adjacency.sum() / graph.n < 15
    keyword = [p.name for p in inspect.signature(ring).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert keyword == ["radius"]


def test_the_basis(small_graph):
    spec = defined("graphs/bases/adjacency_svd.py").BASIS
    basis = spec.compute(Source(small_graph.n, small_graph), 5, np.random.default_rng(0))
    assert_allclose(basis.vectors.T @ basis.vectors, np.eye(5), atol=1e-10)
    assert np.all(np.diff(basis.values) <= 0)
    assert spec.reads_graph
    assert not spec.is_random


def test_the_policy():
    policy = defined("bandit/policies/in_turn.py").InTurn()
    graphdr.check_policy(policy)
    rounds = graphdr.draw_rounds(0, graphdr.RoundsSpec(horizon=6, arms=3, noise=0.1), 9, instance=0, seed=0)
    played = graphdr.simulate(graphdr.BanditProblem(np.arange(9.0)), policy, rounds).arms
    assert played.tolist() == [rounds.arms[t, t % 3] for t in range(6)]


def test_the_radius_rule():
    doubled = defined("bandit/radii.py", radii).doubled
    inputs = radii.RadiusInputs(rounds=50, constants=Constants(3, 0.2, 0.05, 1.5, 1.1, 0.8))
    radius, inflation, residual = doubled(inputs)
    assert_allclose(radius, 2 * radii.exact(inputs).radius)
    assert (inflation, residual) == (0, None)


def test_the_format():
    tables = defined("raw/adapters/semicolons.py").read(Memory({"ratings": b"u;a;7\nu;b;3\nv;a;9\n"}))
    assert tables.nodes.schema.equals(NODES)
    assert tables.links.schema.equals(LINKS)
    assert tables.nodes["reward"].to_pylist() == [8.0, 3.0]
    with pytest.raises(graphdr.UserError, match="line 2"):
        defined("raw/adapters/semicolons.py").read(Memory({"ratings": b"u;a;7\nu;b;11\n"}))


def test_the_fact(small_graph, monkeypatch):
    monkeypatch.setattr(declare, "FACTS", declare.FACTS.copy())
    density = defined("facts/graph_facts.py", graph_facts).density
    matrix = small_graph.adjacency.toarray() > 0
    assert_allclose(density(SimpleNamespace(observed=small_graph)), matrix.sum() / (matrix.size - len(matrix)))
    assert declare.FACTS["density"].function is density


def test_the_predicate():
    positive = defined("paper/predicates.py", predicates).positive
    cell = {"experiment": "e", "quantity": "gap", "method": "a", "predictor": None, "sem": 0.1, "count": 1}
    table = pd.DataFrame([cell | {"problem": name, "value": value} for name, value in (("x", 1.0), ("y", 2.0))])
    assert positive(predicates.Rows(table.to_dict("records")), of="gap@a")[:2] == (True, "`gap@a` = 1 … 2")
    assert not positive(predicates.Rows(table.assign(value=[1.0, -1.0]).to_dict("records")), of="gap@a").holds
    with pytest.raises(predicates.NoData):
        positive(predicates.Rows(table.to_dict("records")), of="gap@b")


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A checkout whose tiny configuration has the blocks of docs/adding.md, and the ratings of one of them."""
    folder = lay_out(tmp_path_factory.mktemp("adding"))
    config = yaml.safe_load((folder / "config.yaml").read_text())
    for block in BLOCKS:
        for name, entries in yaml.safe_load(block).items():
            assert not set(entries) & set(config[name])
            config[name] |= entries
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    (folder / "data/raw/books").mkdir(parents=True)
    shutil.copy(FIXTURES / "recbole/inter", folder / "data/raw/books/books.inter")
    return folder


@pytest.mark.slow
def test_the_blocks_are_what_snakemake_builds(extended):
    assert len(BLOCKS) == 2
    wanted = ["books", "results/tables/noise_level.md", "results/figures/noise_level.svg"]
    done = snakemake(extended, "--dry-run", *wanted)
    assert done.returncode == 0, done.stdout + done.stderr
    for path in ("results/runs/noise_level-0/plain.parquet", "results/tables/books.md"):
        assert path in done.stdout + done.stderr
