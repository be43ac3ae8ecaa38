"""Users held out: their ratings are rewards, and the graph is built from those of the others."""

from typing import TYPE_CHECKING

import numpy as np

from graphdr.core.rng import stream

if TYPE_CHECKING:
    from graphdr.graphs.records import Records  # loads SciPy

EVERYONE, SPLIT = "none", "users"  # values of ``holdout``: no user is held out, or a random half of them
FEWEST = 5  # ratings that a node needs from either half: means of fewer are mostly noise


def halves(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Cut the numbers below ``count`` into two random halves, each in order."""
    order = rng.permutation(count)
    return np.sort(order[: count // 2]), np.sort(order[count // 2 :])


def with_links(records: "Records", kept: np.ndarray) -> "Records":
    """Return the records with some of their links."""
    return records._replace(source=records.source[kept], node=records.node[kept], weight=records.weight[kept])


def reward_links(records: "Records", holdout: str, seed: int, dataset: str, instance: int) -> np.ndarray:
    """Return for every link whether its rating is a reward: those of held-out users, or all without a holdout."""
    count = 1 + records.source.max(initial=-1)
    is_reward = np.ones(count, bool)
    if holdout == SPLIT:
        is_reward[halves(count, stream(seed, "users", dataset=dataset, instance=instance))[0]] = False
    return is_reward[records.source]


def train_records(records: "Records", holdout: str, seed: int, dataset: str, instance: int) -> "Records":
    """Return the records that a graph and bases are built from: all of them, or those of users not held out."""
    if holdout != SPLIT:
        return records
    return with_links(records, ~reward_links(records, holdout, seed, dataset, instance))


def rated_enough(records: "Records", held_out: np.ndarray, n: int) -> np.ndarray:
    """Return for each of n nodes whether either half of the users has rated it often enough."""
    counts = (np.bincount(records.node[half], minlength=n) for half in (held_out, ~held_out))
    return np.minimum(*counts) >= FEWEST


def node_means(node: np.ndarray, value: np.ndarray, n: int, default: np.ndarray | float = np.nan) -> np.ndarray:
    """Return the mean value of each of n nodes, and the default where there is none."""
    sums, sizes = np.bincount(node, value, n), np.bincount(node, minlength=n)
    return np.divide(sums, sizes, out=np.full(n, default), where=sizes > 0)


def ratings(records: "Records", reward: np.ndarray) -> np.ndarray | None:
    """Return the value of every link whose means over the nodes are the rewards: its weight, or log(1 + weight).

    None if rewards are no such means: citations have none, and a click rate also counts items shown but not clicked.
    """
    rated = ~np.isnan(reward)
    for value in (np.asarray(records.weight, float), np.log1p(np.maximum(records.weight, 0.0))):
        means = node_means(records.node, value, len(reward))
        if rated.any() and np.allclose(means[rated], reward[rated], 1e-9, 1e-9):
            return value
    return None


def outcomes(
    records: "Records", reward: np.ndarray, is_reward: np.ndarray, item: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the observed rewards of the items, as (place of the item, value, count); None without any.

    The values are ratings that count as rewards. Rewards that are shares of the popularity are ones and zeros: clicks.
    """
    from graphdr.graphs.records import places

    value = ratings(records, reward)
    if value is None:
        rate, shown = reward[item], records.popularity[item]
        clicked = np.round(rate * shown)
        if np.any(rate < 0) or np.any(rate > 1) or not np.allclose(clicked, rate * shown, rtol=0, atol=1e-6):
            return None
        count = np.stack([shown - clicked, clicked], axis=1).astype(np.int64)
        place, click = np.nonzero(count)
        return place, click.astype(float), count[place, click]
    place = places(records.node, item)
    kept = is_reward & (place >= 0)
    levels, level = np.unique(value[kept], return_inverse=True)
    code, count = np.unique(place[kept] * len(levels) + level, return_counts=True)
    return code // len(levels), levels[code % len(levels)], count
