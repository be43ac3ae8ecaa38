"""Compute one basis of every instance, and further draws of a random basis on instance 0."""

from graphdr import bases, store
from graphdr.rng import stream


def main(input, output, params):
    compute = bases.BASES[params.basis]
    low = store.read_bases(input.low) if hasattr(input, "low") else {}
    panel = {}
    for instance, graph in enumerate(store.read_graphs(input.nodes, input.edges)):
        source = bases.Source(graph, low.get((instance, 0)))
        draws = 1 + params.draws if instance == 0 and params.basis in bases.REDRAWN else 1
        for draw in range(draws):
            key = {"basis": params.basis, "n": graph.n, "instance": instance, "draw": draw}
            panel[instance, draw] = compute(source, params.components, stream(params.seed, "basis", **key))
    store.write_bases(panel, output.basis)
    worst = max(basis.residuals.max() for basis in panel.values())
    print(f"{len(panel)} bases, largest residual {worst:.1e}")
