"""A small data set of films: its entries in a configuration, from the raw file to a table, and its raw files."""

import hashlib

import numpy as np

USERS, FILMS = 30, 30


def ratings() -> bytes:
    """Return ratings by users of three tastes, of films of three kinds."""
    rng = np.random.default_rng(0)
    lines = ["user_id:token\titem_id:token\trating:float"]
    for user in range(USERS):
        for film in rng.permutation(FILMS)[:18]:
            rating = rng.integers(4, 6) if user % 3 == film % 3 else rng.integers(1, 4)
            lines.append(f"u{user}\tf{film}\t{rating}")
    return "\n".join([*lines, ""]).encode()


def titles() -> bytes:
    """Return the titles of the films."""
    rows = [f"f{film}\tFilm No. {film}\tDrama" for film in range(FILMS)]
    return "\n".join(["item_id:token\tmovie_title:token_seq\tclass:token_seq", *rows, ""]).encode()


def add_to(
    config: dict,
    methods: list[str] | None = None,
    facts: tuple[str, ...] = ("zeta",),
    columns: tuple[str, ...] = ("regret", "regret_gap"),
    verified: bool = False,
    titled: bool = False,
    **problem,
) -> None:
    """Add the data set to a configuration, with one problem, experiment and table on it, all called ``films``."""
    member = {"sha256": hashlib.sha256(ratings()).hexdigest()} if verified else {}
    archives = [{"archive": "films.inter", "members": {"inter": member}}]
    if titled:
        archives.append({"archive": "films.item", "members": {"item": {"optional": True}}})
    raw = {"licence": "none", "citation": "nobody", "sources": [{"format": "recbole", "archives": archives}]}
    config["datasets"]["films"] = {"label": "Films", "family": "knn", "raw": raw}
    config["problems"]["films"] = {"dataset": "films"} | problem
    config["methods"].setdefault("content_pca", {"label": "content", "basis": "content_pca"})
    config["experiments"]["films"] = {
        "problems": {"of": ["films"]},
        "methods": methods or ["content_pca", "graphdr", "graphdr_shuffled"],
        "facts": list(facts),
    }
    config["tables"]["films"] = {
        "caption": "Films",
        "experiment": "films",
        "rows": "method",
        "columns": [{name.removeprefix("regret_"): name} for name in columns],
    }
