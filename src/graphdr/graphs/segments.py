"""Segments of users: by age, gender or occupation, by friendships, or by clusters of ratings."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphdr.core.errors import UserError, no_such
from graphdr.graphs.contexts import complete, path, product, ring  # noqa: F401  (for build_graph)
from graphdr.graphs.raters import halves, node_means, with_links
from graphdr.graphs.records import Records, Users, places, similarity_rows

BANDS = {"under 18": 0, "18-24": 18, "25-34": 25, "35-44": 35, "45-49": 45, "50-55": 50, "56+": 56}  # first age of each
RANK = 20  # of the ratings by which users are clustered
HUB = 0.25  # weight of an edge to the hub over the mean number of friends
TRIALS = 10  # random starts of k-means; the best one counts


class Segments(NamedTuple):
    """The segment of every user (-1: none), the weights of the graph of the S segments (S x S), and their names."""

    label: np.ndarray
    weights: np.ndarray
    names: list[str]


def segment(
    name: str, users: Users, ratings: Records, count: int, rng: np.random.Generator
) -> tuple[Segments, Records]:
    """Cut the users into segments; return these and the ratings that count as rewards.

    These are all ratings or, if users are clustered by one half of them, the other half. ``count`` matters only to
    segmentations that can make any number of segments.
    """
    if name not in SEGMENTATIONS:
        raise no_such("segments", "segmentation", name, SEGMENTATIONS)
    if not len(users.age):
        raise UserError("segments: the data set has no users; its links are between nodes")
    if count < 1:
        raise UserError(f"segments: {count} is not a number of segments; expected at least 1")
    train = holdout = ratings
    if name in FROM_RATINGS:
        train, holdout = (with_links(ratings, half) for half in halves(len(ratings.source), rng))
    segments = SEGMENTATIONS[name](users, train, count, rng)
    sizes = np.bincount(segments.label[segments.label >= 0], minlength=len(segments.names))
    if not sizes.all():
        empty = segments.names[int(sizes.argmin())]
        raise UserError(f"segments by {name}: {empty!r} has no users; take fewer segments or another segmentation")
    return segments, holdout


def age(users: Users, ratings: Records, count: int, rng: np.random.Generator) -> Segments:
    """Put users into the seven age bands of MovieLens-1M, joined in their order."""
    described = _require("age", users.age >= 0)
    label = np.searchsorted([*BANDS.values()], users.age, side="right") - 1
    return Segments(np.where(described, label, -1), path(len(BANDS)), [*BANDS])


def gender(users: Users, ratings: Records, count: int, rng: np.random.Generator) -> Segments:
    """Give every gender a segment, in alphabetical order."""
    described = _require("gender", users.gender != "")
    return _by_value(users.gender, sorted(set(users.gender[described])))


def occupation(users: Users, ratings: Records, count: int, rng: np.random.Generator) -> Segments:
    """Give each of the count - 1 most frequent occupations a segment, and all others the last one."""
    described = _require("occupation", users.occupation != "")
    names, sizes = np.unique(users.occupation[described].astype(str), return_counts=True)
    frequent = names[np.argsort(-sizes, kind="stable")][: count - 1].tolist()
    segments = _by_value(users.occupation, [*frequent, "all others"])
    return segments._replace(label=np.where(described & (segments.label < 0), len(frequent), segments.label))


def friends(users: Users, ratings: Records, count: int, rng: np.random.Generator) -> Segments:
    """Cut the largest component of the friendships into communities; other users are in none.

    Communities are clusters of the lowest eigenvectors of the normalised Laplacian, their rows at norm one (Ng, Jordan
    and Weiss, 2002). A hub joined to all users keeps a handful of users with few friends elsewhere from forming a
    community (a regularisation as in Amini et al., 2013). The weight of two communities is their number of
    friendships, the largest being 1; their graph is connected, as the component is.
    """
    from graphdr.graphs.model import edges, from_edges, largest_component
    from graphdr.graphs.spectral import low_eigenpairs

    _require("friends", users.friends[0] >= 0)
    component = largest_component(from_edges(len(users.age), *users.friends))
    i, j, weight = edges(component)
    n, everyone = component.n, np.arange(component.n)
    ends = np.append(i, everyone), np.append(j, np.full(n, n))
    joined = from_edges(n + 1, *ends, np.append(weight, np.full(n, HUB * 2 * len(i) / n)))
    label = np.full(len(users.age), -1)
    label[component.origin] = _clusters("friends", low_eigenpairs(joined, count).vectors[:n], count, rng)
    first, second = label[users.friends]
    between = (first >= 0) & (first != second)
    weights = np.zeros((count, count))
    np.add.at(weights, (first[between], second[between]), 1.0)
    weights += weights.T
    return Segments(label, weights / max(1.0, weights.max()), [f"community {number}" for number in range(1, count + 1)])


def cluster(users: Users, ratings: Records, count: int, rng: np.random.Generator) -> Segments:
    """Cluster users by the directions of their ratings minus the items' means, in their leading components.

    Users without a rating are in no segment.
    """
    from graphdr.graphs.pca import centred_rows, leading_svd

    selected = np.arange(1 + ratings.node.max(initial=-1))
    centred = centred_rows(similarity_rows(ratings.source, ratings.node, ratings.weight, selected))
    left, _, _ = leading_svd(centred, RANK)
    rated = np.unique(ratings.source)
    label = np.full(len(users.age), -1)
    label[rated] = _clusters("cluster", (centred.T @ left)[rated], count, rng)
    return Segments(label, complete(count), [f"cluster {number}" for number in range(1, count + 1)])


Segmentation = Callable[[Users, Records, int, np.random.Generator], Segments]
SEGMENTATIONS: dict[str, Segmentation] = {f.__name__: f for f in (age, gender, occupation, friends, cluster)}
FROM_RATINGS = {"cluster"}  # by ratings that then are no rewards


def pair_means(
    label: np.ndarray, source: np.ndarray, node: np.ndarray, weight: np.ndarray, items: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean weight of every pair of a segment and an item, and the number of weights (both count x items).

    ``label`` is the segment of every source (-1: none), ``items`` are numbers of nodes. A pair without a weight gets
    the item's mean over all sources, and an item without one the mean of all items.
    """
    n = len(items)
    place = places(node, items)
    kept = place >= 0
    item, value, part = place[kept], weight[kept], label[source[kept]]
    if not len(value):
        raise UserError("segments: no node has a rating that counts as a reward")
    overall = node_means(item, value, n, value.mean())
    inside = part >= 0
    pair = part[inside] * n + item[inside]
    means = node_means(pair, value[inside], count * n, np.tile(overall, count))
    return means.reshape(count, n), np.bincount(pair, minlength=count * n).reshape(count, n).astype(float)


def _require(name: str, described: np.ndarray) -> np.ndarray:
    """Return the users that a data set describes, and fail if there are none."""
    if not described.any():
        needed = f"{name} of users, which the data set does not have"
        raise UserError(f"segments by {name}: need {needed}; 'cluster' needs nothing but ratings")
    return described


def _by_value(values: np.ndarray, names: list[str]) -> Segments:
    """Make a segment of the users of each value, every two segments joined; users of other values are in none."""
    label = np.full(len(values), -1)
    for place, name in enumerate(names):
        label[values == name] = place
    return Segments(label, complete(len(names)), names)


def _clusters(name: str, rows: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return the cluster of every row by its direction, the largest cluster first."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, norm, out=np.zeros_like(rows), where=norm > 0)
    if (different := len(np.unique(rows, axis=0))) < count:
        raise UserError(f"segments by {name}: only {different} users differ; {count} segments are too many")
    with threadpool_limits(1):  # threads add in any order, which could move a user between two clusters
        label = KMeans(count, n_init=TRIALS, random_state=int(rng.integers(2**31))).fit_predict(rows)
    order = np.argsort(-np.bincount(label, minlength=count), kind="stable")
    return np.argsort(order)[label]
