"""Whose ratings count for what: users who make the graph, users who pay the rewards, and what each of them paid."""

from typing import TYPE_CHECKING

import numpy as np

from graphdr.core.rng import stream

if TYPE_CHECKING:
    from graphdr.graphs.records import Records  # with SciPy, which those who only split users do without

EVERYONE, SPLIT = "all", "split"  # all users make the graph and pay rewards; or one half does this, the other that
FEWEST = 5  # ratings by either half that a node needs: means of fewer are mostly noise


def halves(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Cut the numbers below ``count`` into two random halves, each in order."""
    order = rng.permutation(count)
    return np.sort(order[: count // 2]), np.sort(order[count // 2 :])


def with_links(records: "Records", kept: np.ndarray) -> "Records":
    """Return the records with some of their links."""
    return records._replace(source=records.source[kept], node=records.node[kept], weight=records.weight[kept])


def paying(records: "Records", users: str, seed: int, dataset: str, instance: int) -> np.ndarray:
    """Tell of every link whether its user pays rewards: all users do, or a random half of them."""
    count = 1 + records.source.max(initial=-1)
    pays = np.ones(count, bool)
    if users == SPLIT:
        pays[halves(count, stream(seed, "users", dataset=dataset, instance=instance))[0]] = False
    return pays[records.source]


def learned_from(records: "Records", users: str, seed: int, dataset: str, instance: int) -> "Records":
    """Return the records that a graph and bases are made of: all of them, or those of users who pay no reward."""
    return with_links(records, ~paying(records, users, seed, dataset, instance)) if users == SPLIT else records


def rated_enough(records: "Records", pays: np.ndarray, n: int) -> np.ndarray:
    """Tell of each of n nodes whether either half of the users has rated it often enough."""
    return np.minimum(*(np.bincount(records.node[half], minlength=n) for half in (pays, ~pays))) >= FEWEST


def node_means(node: np.ndarray, value: np.ndarray, n: int) -> np.ndarray:
    """Return the mean value of each of n nodes, nan where there is none."""
    sums, sizes = np.bincount(node, value, n), np.bincount(node, minlength=n)
    return np.divide(sums, sizes, out=np.full(n, np.nan), where=sizes > 0)


def ratings(records: "Records", reward: np.ndarray) -> np.ndarray | None:
    """Return what every link is worth if the rewards are the nodes' means of it: its weight, or log(1 + weight).

    None where rewards are something else: citations have none, and a click rate counts what was shown and not linked.
    """
    known = ~np.isnan(reward)
    for value in (np.asarray(records.weight, float), np.log1p(np.maximum(records.weight, 0.0))):
        if known.any() and np.allclose(node_means(records.node, value, len(reward))[known], reward[known], 1e-9, 1e-9):
            return value
    return None


def outcomes(
    records: "Records", reward: np.ndarray, pays: np.ndarray, item: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return what was paid for the items, as (place of the item, value, how often); None where that is not known.

    The values are the ratings of users who pay. Rewards that are shares of the popularity are ones and zeros: clicks.
    """
    from graphdr.graphs.records import places

    value = ratings(records, reward)
    if value is None:
        return _clicks(reward[item], records.popularity[item])
    place = places(records.node, item)
    kept = pays & (place >= 0)
    levels, level = np.unique(value[kept], return_inverse=True)
    code, count = np.unique(place[kept] * len(levels) + level, return_counts=True)
    return code // len(levels), levels[code % len(levels)], count


def _clicks(rate: np.ndarray, shown: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    clicked = np.round(rate * shown)
    if np.any(rate < 0) or np.any(rate > 1) or not np.allclose(clicked, rate * shown, rtol=0, atol=1e-6):
        return None
    count = np.stack([shown - clicked, clicked], axis=1).astype(np.int64)
    place, value = np.nonzero(count)
    return place, value.astype(float), count[place, value]
