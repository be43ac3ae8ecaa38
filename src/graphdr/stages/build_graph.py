"""Draw the graphs of all instances, or flip the node pairs of their clean parents."""

from graphdr import graphs, store
from graphdr.errors import UserError
from graphdr.rng import stream


def main(input, output, params):
    panel = []
    parents = store.read_graphs(input.nodes, input.edges) if params.parent else None
    for instance in range(params.instances):
        key = {"family": params.family, "n": params.n, "instance": instance}
        if parents:
            graph = graphs.flip_pairs(parents[instance], params.flip, stream(params.seed, "flip", **key))
        else:
            draw = graphs.FAMILIES[params.family]
            graph = draw(params.n, stream(params.seed, "graph", **key), **params.parameters)
        graph = graphs.largest_component(graph)
        if graph.n < params.least:
            raise UserError(
                f"{output.nodes}: the largest component of instance {instance} has {graph.n} of {params.n} nodes, "
                f"{params.least} are needed for components and arms; make the graph denser or these smaller"
            )
        panel.append(graph)
    store.write_graphs(panel, output.nodes, output.edges)
    sizes = [graph.n for graph in panel]
    print(f"{len(panel)} graphs of {min(sizes)} to {max(sizes)} nodes")
