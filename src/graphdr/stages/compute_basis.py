"""Compute one basis of every instance, and further draws of a random basis on instance 0."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphdr.cache import io, paths
from graphdr.core.rng import stream
from graphdr.graphs.arm_features import CONTENT, USER_COLUMNS, Basis, Embedding, Source, find
from graphdr.graphs.raters import EVERYONE, train_records
from graphdr.store.graphs import read_bases, read_graphs, read_items, write_bases

if TYPE_CHECKING:
    from graphdr.graphs.model import Graph


class Input(NamedTuple):
    """The nodes, and what the basis reads: edges, a basis, the tables of the data set, or columns of the user."""

    nodes: str
    edges: str = ""
    original: str = ""
    data_nodes: str = ""
    data_links: str = ""
    data_users: str = ""
    user_columns: str = ""


class Output(NamedTuple):
    basis: str = paths.basis


class Params(NamedTuple):
    basis: str
    components: int
    draws: int  # further ones, on instance 0
    seed: int
    segments: int = 1  # of users; every item is a node of each segment
    content: str = "none"  # the kind of data about nodes …
    rank: int = 0  # … and, for ratings, the rank of their decomposition
    transform: str = "identity"
    holdout: str = EVERYONE  # whether half of the users is held out …
    dataset: str = ""  # … of this data set
    solver: str = "exact"  # of eigenvectors


def main(input: Input, output: Output, params: Params) -> None:
    spec = find(params.basis)
    items = [part.item for part in read_items(input.nodes)]
    graphs: Sequence[Graph | None] = [None] * len(items)
    if input.edges:
        graphs = read_graphs(input.nodes, input.edges)
    originals = read_bases(input.original) if input.original else {}
    embeddings = _embeddings(spec.data, items, input, params) if spec.data else [None] * len(items)
    computed: dict[tuple[int, int], Basis] = {}
    for instance, (item, graph, embedding) in enumerate(zip(items, graphs, embeddings, strict=True)):
        original = originals.get((instance, 0))
        if (spec.data and embedding is None) or (spec.made_of and original is None):
            print(f"no data: instance {instance} has no data for basis {params.basis}")
            continue
        source = Source(len(item), graph, original, embedding, params.segments, params.solver)
        draws = 1 + params.draws if instance == 0 and spec.is_random else 1
        for draw in range(draws):
            rng = stream(params.seed, "basis", basis=spec.stream_name, n=len(item), instance=instance, draw=draw)
            computed[instance, draw] = spec.compute(source, params.components, rng)
    write_bases(computed, output.basis)
    worst = max((basis.residuals.max() for basis in computed.values()), default=0.0)
    print(f"{len(computed)} bases, largest residual {worst:.1e}")


def _embeddings(data: str, items: list[np.ndarray], input: Input, params: Params) -> list[Embedding]:
    """Return the data about the nodes of every instance (n x d), or None where there are none."""
    from graphdr.store.datasets import read_user_columns

    once = [item[: len(item) // params.segments] for item in items]  # an item is the same in every segment
    embeddings: list[Embedding]
    if data == USER_COLUMNS:
        names = [list(map(str, item.tolist())) for item in once]  # of the nodes of a random graph
        if input.data_nodes:
            keys = io.read("dataset_nodes", input.data_nodes)["key"].to_pylist()
            names = [[keys[number] for number in item.tolist()] for item in once]
        embeddings = [*read_user_columns(input.user_columns, names)]
    elif data == CONTENT:
        embeddings = _content(once, input, params)
    elif input.data_users and len(io.read("dataset_users", input.data_users)):
        embeddings = _ratings(once, input, params)
    else:  # links between nodes, without users
        return [None] * len(items)
    if data != USER_COLUMNS:  # without a nonzero entry there are no directions
        embeddings = [part if part is not None and abs(part).sum() > 0 else None for part in embeddings]
    if params.segments > 1:
        dense = [part.toarray() if hasattr(part, "toarray") else part for part in embeddings]
        embeddings = [None if part is None else np.tile(part, (params.segments, 1)) for part in dense]
    return embeddings


def _content(items: list[np.ndarray], input: Input, params: Params) -> list[Embedding]:
    """Embed the nodes by their ratings, features or texts."""
    from graphdr.graphs import pca

    if params.content == "none":
        return [None] * len(items)
    if params.content == "ratings":
        return [pca.ratings_content(matrix, params.rank) for matrix in _ratings(items, input, params)]
    column = io.read("dataset_nodes", input.data_nodes)[params.content].combine_chunks()
    contents = [column.take(item.tolist()) for item in items]
    if params.content == "features":
        return [None if content.null_count else np.array(content.to_pylist(), float) for content in contents]
    return [pca.text_content([text or "" for text in content.to_pylist()]) for content in contents]


def _ratings(items: list[np.ndarray], input: Input, params: Params) -> list[Embedding]:
    """Return the transformed ratings of the nodes (n x users), without those of the users held out."""
    from graphdr.graphs.records import similarity_rows
    from graphdr.store.datasets import read_records

    records, rows = read_records(input.data_nodes, input.data_links), []
    for instance, item in enumerate(items):
        train = train_records(records, params.holdout, params.seed, params.dataset, instance)
        rows.append(similarity_rows(train.source, train.node, train.weight, item, params.transform))
    return rows
