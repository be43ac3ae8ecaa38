"""Compute one basis of every instance, and further draws of a random basis on instance 0."""

import numpy as np

from graphdr.core.rng import stream
from graphdr.graphs import bases
from graphdr.graphs.records import similarity_rows
from graphdr.panels import store


def main(input, output, params):
    compute = bases.BASES[params.basis]
    sizes = [len(own.item) for own in store.read_items(input.nodes)]
    nothing = [None] * len(sizes)
    graphs = store.read_graphs(input.nodes, input.edges) if hasattr(input, "edges") else nothing
    low = store.read_bases(input.low) if hasattr(input, "low") else {}
    embeddings = _embeddings(input, params) if params.basis in bases.FROM_DATA else nothing
    panel = {}
    for instance, (n, graph, embedding) in enumerate(zip(sizes, graphs, embeddings, strict=True)):
        if params.basis in bases.FROM_DATA and embedding is None:
            print(f"no data: nothing of the kind {params.content!r} is known about the nodes of instance {instance}")
            continue
        source = bases.Source(n, graph, low.get((instance, 0)), embedding)
        draws = 1 + params.draws if instance == 0 and params.basis in bases.REDRAWN else 1
        for draw in range(draws):
            key = {"basis": params.basis, "n": n, "instance": instance, "draw": draw}
            panel[instance, draw] = compute(source, params.components, stream(params.seed, "basis", **key))
    store.write_bases(panel, output.basis)
    worst = max((basis.residuals.max() for basis in panel.values()), default=0.0)
    print(f"{len(panel)} bases, largest residual {worst:.1e}")


def _embeddings(input, params):
    """Return for every instance what is known about its nodes (n x d), or None where the data set has nothing."""
    from graphdr.cache import io
    from graphdr.graphs import pca

    items = [own.item for own in store.read_items(input.nodes)]
    if params.content == "none":
        return [None] * len(items)
    if params.content == "ratings":
        records = store.read_records(input.data_nodes, input.data_links)
        pairs = (records.source, records.node, records.weight)
        rows = [similarity_rows(*pairs, item, params.transform) for item in items]
        return [_unless_empty(pca.ratings_content(matrix, params.rank)) for matrix in rows]
    column = io.read("dataset_nodes", input.data_nodes)[params.content].combine_chunks()
    known = [column.take(item.tolist()) for item in items]
    if params.content == "text":
        return [_unless_empty(pca.text_content([text or "" for text in own.to_pylist()])) for own in known]
    return [None if own.null_count else np.array(own.to_pylist(), float) for own in known]


def _unless_empty(embedding):
    """Return None for an embedding without an entry that is not zero: it has no directions."""
    return embedding if abs(embedding).sum() > 0 else None
