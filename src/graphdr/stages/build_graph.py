"""Build the graphs of all instances: random ones, those of a data set, or changed copies of other graphs."""

import numpy as np

from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.graphs import model, perturb, random_graphs
from graphdr.panels import store


def main(input, output, params):
    if params.parent:
        panel, items = zip(*_change(input, params), strict=True)
    elif params.dataset:
        panel, items = zip(*[_observe(input, params)] * params.instances, strict=True)
    else:
        panel, items = zip(*_draw(params), strict=True)
    for instance, graph in enumerate(panel):
        if graph.n < params.least:
            raise UserError(
                f"{output.nodes}: the largest component of instance {instance} has {graph.n} of {params.n} nodes, "
                f"{params.least} are needed for components and arms; make the graph denser or these smaller"
            )
    store.write_graphs(panel, items, output.nodes, output.edges)
    sizes = [graph.n for graph in panel]
    print(f"{len(panel)} graphs of {min(sizes)} to {max(sizes)} nodes")


def _draw(params):
    """Draw random graphs."""
    for instance in range(params.instances):
        draw = random_graphs.FAMILIES[params.family]
        drawn = draw(params.n, stream(params.seed, "graph", **_key(params, instance)), **params.parameters)
        graph = model.largest_component(drawn)
        yield graph, store.random_items(graph)


def _key(params, instance):
    """Return what identifies the random numbers of an instance."""
    key = {"family": params.family, "n": params.n, "instance": instance}
    return key | ({"dataset": params.dataset} if params.dataset else {})


def _change(input, params):
    """Sample, flip, swap or perturb other graphs; their nodes keep what they are."""
    (kind,) = set(params.change) & set(CHANGES)
    rest = {name: value for name, value in params.change.items() if name != kind}
    panels = store.read_graphs(input.nodes, input.edges), store.read_items(input.nodes)
    for instance, (parent, items) in enumerate(zip(*panels, strict=True)):
        rng = stream(params.seed, kind, **_key(params, instance))
        graph = model.largest_component(CHANGES[kind](parent, params.change[kind], rng, **rest))
        if params.dataset:
            kept = np.searchsorted(parent.origin, graph.origin)
            yield graph, store.Items(*(column[kept] for column in items))
        else:
            yield graph, store.random_items(graph)


def _sample(graph, size, rng):
    from graphdr.graphs.perturb import uniform_nodes

    return uniform_nodes(graph, size, rng)


def _swap(graph, share, rng):
    from graphdr.graphs.perturb import swap_edges

    return swap_edges(graph, share, rng)


def _perturb(graph, share, rng, k):
    """Change weights until the Laplacian has moved by a share of the gap that protects u_2..u_{k+1}."""
    from graphdr.graphs.perturb import perturb_weights
    from graphdr.graphs.spectral import interior_gap, low_eigenvalues

    return perturb_weights(graph, share * interior_gap(low_eigenvalues(graph, k + 2), k), rng)


CHANGES = {"sample": _sample, "flip": perturb.flip_pairs, "swap": _swap, "perturb": _perturb}


def _observe(input, params):
    """Build the graph of a data set on its most popular nodes, which keep that order."""
    from graphdr.cache import io
    from graphdr.graphs import from_data

    records = store.read_records(input.data_nodes, input.data_links)
    graph = from_data.FAMILIES[params.family](params.n, records, **params.parameters)
    item = graph.origin
    table = io.read("dataset_nodes", input.data_nodes)
    if params.reward == "modal_group":
        selected = from_data.select_top(records.popularity, params.n)
        codes = io.values(table["group"].combine_chunks().dictionary_encode().indices.fill_null(-1))
        reward = np.zeros(len(codes))
        reward[selected] = from_data.modal_group(codes[selected])
    else:
        reward = io.values(table["reward"])
    if params.reward != "planted" and (np.isnan(reward[item]).any() or np.ptp(reward[item]) == 0):
        raise UserError(f"{input.data_nodes}: rewards of the selected nodes are missing or all equal")
    items = store.Items(item, records.popularity[item].astype(float), reward[item])
    return graph._replace(origin=np.arange(graph.n)), items
