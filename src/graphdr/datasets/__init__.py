"""Data sets: one module per raw format, each turning raw files into the same two tables."""

from collections.abc import Callable

from graphdr.datasets import (
    amazon_ratings,
    amazon_reviews,
    graph,
    hetrec_lastfm,
    mind,
    movielens_1m,
    movielens_100k,
    ogbn_arxiv,
    recbole,
)
from graphdr.datasets.tables import Tables
from graphdr.datasets.text import Raw

__all__ = ["ADAPTERS", "Raw", "Tables"]

ADAPTERS: dict[str, Callable[..., Tables]] = {
    "amazon_ratings": amazon_ratings.read,
    "amazon_reviews": amazon_reviews.read,
    "graph": graph.read,
    "hetrec_lastfm": hetrec_lastfm.read,
    "mind": mind.read,
    "movielens_100k": movielens_100k.read,
    "movielens_1m": movielens_1m.read,
    "ogbn_arxiv": ogbn_arxiv.read,
    "recbole": recbole.read,
}
