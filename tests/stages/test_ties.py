"""Instances of a data set differ in how ties are broken: by popularity and file, by the file alone, and at random."""

import numpy as np

from graphdr.cache import paths
from graphdr.plan import design, jobs
from graphdr.stages.build_graph import FILE_ORDER
from graphdr.store.graphs import read_graphs, read_items
from tests.support.project import TOY, draw_ratings, write_toy
from tests.support.stages import OBSERVED, PROTOCOL, run

INSTANCES = 5


def plan(config: dict, instances: int, **toy) -> design.Design:
    """Plan the toy data set alone, with so many instances."""
    experiment = {"problems": {"of": ["toy"], "set": {"instances": instances}}, "methods": ["graphdr"]}
    return design.expand(
        config
        | {"protocol": config["protocol"] | PROTOCOL, "observed": config["observed"] | OBSERVED}
        | {"datasets": config["datasets"] | {"toy": TOY | toy}, "problems": {"toy": {"dataset": "toy"}}}
        | {"experiments": {"e": experiment}}
        | {block: {} for block in ("evaluations", "tables", "figures", "claims", "simulated_papers")}
    )


def test_instances_of_a_data_set_break_ties_in_different_orders(config, workdir):
    ratings = draw_ratings()
    write_toy(ratings)
    popularity = np.sum(~np.isnan(ratings), axis=1)
    found = {}
    for instances in (1, INSTANCES):
        expanded = plan(config, instances)
        (name,) = expanded.graphs
        run(jobs.build_graph(expanded, name))
        found[instances] = read_graphs(paths.nodes(name), paths.edges(name)), read_items(paths.nodes(name))
    (alone,), (plain,) = found[1]
    panel, items = found[INSTANCES]
    assert (panel[0].adjacency != alone.adjacency).nnz == 0  # further instances change nothing about the first
    assert np.array_equal(items[0].item, plain.item)
    in_file = items[FILE_ORDER].item
    assert in_file.tolist() == sorted(in_file, key=lambda node: (-popularity[node], node))
    for part in items:
        assert np.all(np.diff(popularity[part.item]) <= 0)  # the most popular come first in all of them
    assert len({tuple(part.item) for part in items[2:]}) == INSTANCES - 2
