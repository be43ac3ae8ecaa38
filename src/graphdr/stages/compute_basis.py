"""Compute one basis of every instance, and further draws of a random basis on instance 0."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphdr.cache import io, paths
from graphdr.core.rng import stream
from graphdr.graphs import bases
from graphdr.graphs.raters import EVERYONE, learned_from
from graphdr.panels.bases import read_bases, write_bases
from graphdr.panels.items import read_items


class Input(NamedTuple):
    """The nodes, and what the basis is made of: edges, a basis, the tables of the data set, or columns of the user."""

    nodes: str
    edges: str = ""
    original: str = ""
    data_nodes: str = ""
    data_links: str = ""
    data_users: str = ""
    given: str = ""


class Output(NamedTuple):
    basis: str = paths.basis


class Params(NamedTuple):
    basis: str
    components: int
    draws: int  # further ones, on instance 0
    seed: int
    segments: int = 1  # of users, for each of which every item is a node
    content: str = "none"  # what is known about nodes besides the graph …
    rank: int = 0  # … and, of ratings, the rank of their decomposition
    transform: str = "identity"
    users: str = EVERYONE  # whose ratings count: of all, or of the half of them who make the graph …
    dataset: str = ""  # … of this data set
    solver: str = "exact"  # of eigenvectors


def main(input: Input, output: Output, params: Params) -> None:
    compute = bases.BASES[params.basis]
    items = [panel.item for panel in read_items(input.nodes)]
    nothing = [None] * len(items)
    graphs: Sequence[Any] = nothing
    if input.edges:
        from graphdr.panels.graphs import read_graphs  # with SciPy, which most bases do without

        graphs = read_graphs(input.nodes, input.edges)
    originals = read_bases(input.original) if input.original else {}
    embeddings = nothing
    if params.basis in bases.FROM_DATA:
        once = [item[: len(item) // params.segments] for item in items]  # an item is the same in every segment
        embeddings = [_repeated(one, params.segments) for one in EMBEDDINGS[params.basis](once, input, params)]
    panel = {}
    for instance, (item, graph, embedding) in enumerate(zip(items, graphs, embeddings, strict=True)):
        original = originals.get((instance, 0))
        if (params.basis in bases.FROM_DATA and embedding is None) or (input.original and original is None):
            print(f"no data: nothing that {params.basis} needs is known about the nodes of instance {instance}")
            continue
        source = bases.Source(len(item), graph, original, embedding, params.segments, params.solver)
        draws = 1 + params.draws if instance == 0 and params.basis in bases.REDRAWN else 1
        for draw in range(draws):
            key: dict[str, int | str] = {"basis": params.basis, "n": len(item), "instance": instance, "draw": draw}
            panel[instance, draw] = compute(source, params.components, stream(params.seed, "basis", **key))
    write_bases(panel, output.basis)
    worst = max((basis.residuals.max() for basis in panel.values()), default=0.0)
    print(f"{len(panel)} bases, largest residual {worst:.1e}")


def _repeated(embedding: Any, times: int) -> Any:
    """Return what is known about the items once for every segment of users."""
    if times == 1 or embedding is None:
        return embedding
    return np.tile(embedding.toarray() if hasattr(embedding, "toarray") else embedding, (times, 1))


def _content(items: list[np.ndarray], input: Input, params: Params) -> list[Any]:
    """Return for every instance what is known about its nodes (n x d), or None where the data set has nothing."""
    from graphdr.graphs import pca

    if params.content == "none":
        return [None] * len(items)
    if params.content == "ratings":
        embeddings = [pca.ratings_content(matrix, params.rank) for matrix in _ratings(items, input, params)]
    else:
        column = io.read("dataset_nodes", input.data_nodes)[params.content].combine_chunks()
        contents = [column.take(item.tolist()) for item in items]
        if params.content == "features":
            return [None if content.null_count else np.array(content.to_pylist(), float) for content in contents]
        embeddings = [pca.text_content([text or "" for text in content.to_pylist()]) for content in contents]
    return _not_zero(embeddings)


def _ratings(items: list[np.ndarray], input: Input, params: Params) -> list[Any]:
    """Return for every instance the transformed ratings of its nodes (n x users)."""
    from graphdr.graphs.records import similarity_rows
    from graphdr.panels.graphs import read_records

    records, rows = read_records(input.data_nodes, input.data_links), []
    for instance, item in enumerate(items):
        half = learned_from(records, params.users, params.seed, params.dataset, instance)
        rows.append(similarity_rows(half.source, half.node, half.weight, item, params.transform))
    return rows


def _interactions(items: list[np.ndarray], input: Input, params: Params) -> list[Any]:
    """Return for every instance the ratings of its nodes, or None where nodes have links in place of users."""
    if not input.data_users or not len(io.read("dataset_users", input.data_users)):
        return [None] * len(items)
    return _not_zero(_ratings(items, input, params))


def _not_zero(embeddings: list[Any]) -> list[Any]:
    """Leave out what has no entry that is not zero: it has no directions."""
    return [embedding if abs(embedding).sum() > 0 else None for embedding in embeddings]


def _given(items: list[np.ndarray], input: Input, params: Params) -> list[Any]:
    """Return the columns of a user for the nodes of every instance, which have keys or, in a random graph, numbers."""
    from graphdr.panels.given import read_given

    keys = io.read("dataset_nodes", input.data_nodes)["key"].to_pylist() if input.data_nodes else None
    return read_given(input.given, [[keys[at] if keys else str(at) for at in item.tolist()] for item in items])


EMBEDDINGS = {"content_pca": _content, "interaction_svd": _interactions, "given": _given}
