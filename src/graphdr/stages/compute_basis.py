"""Compute one basis of every instance, and further draws of a random basis on instance 0."""

from graphdr import bases, store
from graphdr.rng import stream


def main(input, output, params):
    compute = bases.BASES[params.basis]
    panel = {}
    for instance, graph in enumerate(store.read_graphs(input.nodes, input.edges)):
        draws = 1 + params.draws if instance == 0 and params.basis in bases.REDRAWN else 1
        for draw in range(draws):
            key = {"basis": params.basis, "n": graph.n, "instance": instance, "draw": draw}
            panel[instance, draw] = compute(graph, params.components, stream(params.seed, "basis", **key))
    store.write_bases(panel, output.basis)
    worst = max(basis.residuals.max() for basis in panel.values())
    print(f"{len(panel)} bases, largest residual {worst:.1e}")
