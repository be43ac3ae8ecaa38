"""A generated log in the format of the Open Bandit data: items with hashed categories, pages of three positions."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd

ITEMS, POSITIONS = 80, 3
CLICKS = np.array([0.10, 0.06, 0.03])  # by position
KINDS = 8  # groups of items that are alike, and clicked alike


def hashed(*words: object) -> str:
    return hashlib.md5(" ".join(map(str, words)).encode()).hexdigest()


def draw_items(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the table of items and by how much each is clicked more often than others."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(KINDS, size=ITEMS)
    appeal = np.exp(0.8 * rng.standard_normal(KINDS))[kind]
    table = {"item_id": np.arange(ITEMS), "item_feature_0": kind + 0.3 * rng.standard_normal(ITEMS)}
    for number, modulus in ((1, 4), (2, KINDS), (3, 3)):
        table[f"item_feature_{number}"] = [hashed(number, each % modulus) for each in kind]
    return pd.DataFrame(table), appeal / appeal.mean()


def draw_log(pages: int, appeal: np.ndarray, seed: int = 0, mood: float = 1.0) -> pd.DataFrame:
    """Draw pages of a logging policy that plays at random; ``mood`` is how far visitors differ in how much they click.

    Of a page, only rows that were kept are there, as in the published sample.
    """
    rng = np.random.default_rng(seed)
    visitor = np.exp(mood * rng.standard_normal(pages) - mood**2 / 2)
    begun = np.cumsum(rng.exponential(20.0, pages) + 0.1)
    page, position = (each.ravel() for each in np.indices((pages, POSITIONS)))
    item = rng.integers(ITEMS, size=len(page))
    chance = np.minimum(CLICKS[position] * appeal[item] * visitor[page], 1)
    stamp = pd.Timestamp("2019-11-24", tz="UTC") + pd.to_timedelta(begun[page] + 3e-4 * position, unit="s").round("us")
    users = {f"user_feature_{number}": [hashed(number, each % 5) for each in page] for number in range(4)}
    affinity = {f"user-item_affinity_{number}": 0.0 for number in range(ITEMS)}
    log = {"timestamp": stamp.astype(str), "item_id": item, "position": position + 1}
    log |= {"click": (rng.random(len(page)) < chance).astype(int), "propensity_score": 1 / ITEMS}
    kept = rng.random(len(page)) < 0.9
    return pd.DataFrame(log | users | affinity)[kept].reset_index(drop=True)


def write(folder: Path, pages: int = 1500) -> np.ndarray:
    """Write ``item_context.csv`` and ``all.csv`` as they are published; return how each item is clicked."""
    items, appeal = draw_items()
    items.to_csv(folder / "item_context.csv")
    draw_log(pages, appeal).to_csv(folder / "all.csv")
    return appeal
