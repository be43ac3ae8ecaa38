"""Build the graphs of all instances: random ones, those of a data set, or their clean parents with pairs flipped."""

import numpy as np

from graphdr import graphs, store
from graphdr.errors import UserError
from graphdr.rng import stream


def main(input, output, params):
    if params.dataset and not params.parent:
        panel, items = zip(*[_observe(input, params)] * params.instances, strict=True)
    else:
        panel, items = zip(*_draw(input, params), strict=True)
    for instance, graph in enumerate(panel):
        if graph.n < params.least:
            raise UserError(
                f"{output.nodes}: the largest component of instance {instance} has {graph.n} of {params.n} nodes, "
                f"{params.least} are needed for components and arms; make the graph denser or these smaller"
            )
    store.write_graphs(panel, items, output.nodes, output.edges)
    sizes = [graph.n for graph in panel]
    print(f"{len(panel)} graphs of {min(sizes)} to {max(sizes)} nodes")


def _draw(input, params):
    """Draw random graphs, or flip the pairs of clean ones."""
    parents = store.read_graphs(input.nodes, input.edges) if params.parent else None
    parent_items = store.read_items(input.nodes) if params.parent else None
    for instance in range(params.instances):
        key = {"family": params.family, "n": params.n, "instance": instance}
        if not parents:
            draw = graphs.FAMILIES[params.family]
            graph = graphs.largest_component(draw(params.n, stream(params.seed, "graph", **key), **params.parameters))
            yield graph, store.random_items(graph)
            continue
        flipped = graphs.flip_pairs(parents[instance], params.flip, stream(params.seed, "flip", **key))
        graph = graphs.largest_component(flipped)
        if params.dataset:
            kept = np.searchsorted(parents[instance].origin, graph.origin)
            yield graph, store.Items(*(column[kept] for column in parent_items[instance]))
        else:
            yield graph, store.random_items(graph)


def _observe(input, params):
    """Build the graph of a data set on its most popular nodes, which keep that order."""
    from graphdr import io, observed

    records = store.read_records(input.data_nodes, input.data_links)
    graph = observed.FAMILIES[params.family](params.n, records, **params.parameters)
    item = graph.origin
    table = io.read("dataset_nodes", input.data_nodes)
    if params.reward == "modal_group":
        selected = observed.select_top(records.popularity, params.n)
        codes = io.values(table["group"].combine_chunks().dictionary_encode().indices.fill_null(-1))
        reward = np.zeros(len(codes))
        reward[selected] = observed.modal_group(codes[selected])
    else:
        reward = io.values(table["reward"])
    if params.reward != "planted" and (np.isnan(reward[item]).any() or np.ptp(reward[item]) == 0):
        raise UserError(f"{input.data_nodes}: rewards of the selected nodes are missing or all equal")
    items = store.Items(item, records.popularity[item].astype(float), reward[item])
    return graph._replace(origin=np.arange(graph.n)), items
