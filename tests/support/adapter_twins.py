"""Slow, obvious twins of the data set adapters, for files without mistakes: plain Python, line by line."""

import json
import math
import re

import numpy as np

from trust.cases import ADAPTERS, FIXTURES, Memory, fixture

__all__ = ["ADAPTERS", "FIXTURES", "TWINS", "Memory", "fixture", "same"]


def same(tables, twin) -> None:
    """Assert that an adapter's tables are those of the twin."""
    nodes, links, users = twin
    found = tables.nodes.to_pylist()
    for ours, other in zip(found, nodes, strict=True):
        reward, expected = ours.pop("reward"), other.pop("reward")
        assert (reward is None) == (expected is None)
        assert reward is None or math.isclose(reward, expected, rel_tol=1e-12), (reward, expected)
    assert found == [{"node": i} | node for i, node in enumerate(nodes)]
    assert tables.links.to_pylist() == [
        {"source": user, "node": node, "weight": weight} for user, node, weight in links
    ]
    unknown = dict.fromkeys(("age", "gender", "occupation", "friends"))
    assert tables.users.to_pylist() == [
        {"source": i, "key": key} | unknown | known for i, (key, known) in enumerate(users.items())
    ]


def _fields(raw: Memory, role: str, delimiter: str, header: int = 0, encoding: str = "utf-8") -> list[list[str]]:
    if role not in raw:
        return []
    lines = re.split("\r\n|\n|\r", raw[role].decode(encoding, errors="surrogateescape"))
    return [line.split(delimiter) for line in (lines if lines[-1] else lines[:-1])[header:]]


def _node(key, about=(), popularity=0, reward=None, features=None) -> dict:
    title, group, subgroup, text = (*about, *[None] * 4)[:4]
    known = {"title": title or key, "group": group or None, "subgroup": subgroup or None, "text": text or None}
    return {"key": key, "popularity": popularity, "reward": reward, "features": features} | known


def _averaged(rows: list[tuple], about: list[tuple], reward=float, people: list[tuple] = ()):
    users, items, links, rewards = {}, {}, [], {}
    for user, item, weight in rows:
        links.append((users.setdefault(user, len(users)), items.setdefault(item, len(items)), weight))
        rewards.setdefault(item, []).append(reward(weight))
    known = {}
    for key, *facts in about:
        known.setdefault(key, facts)
    means = {key: sum(values) / len(values) for key, values in rewards.items()}
    nodes = [_node(key, known.get(key, ()), len(rewards[key]), means[key]) for key in items]
    return nodes, links, {key: next((facts for user, facts in people if user == key), {}) for key in users}


def _movielens_100k(raw: Memory):
    from graphdr.raw.adapters.movielens_100k import GENRES

    genres = {row[0]: [g for g, flag in zip(GENRES, row[5:], strict=True) if int(flag)] for row in _items(raw, "|")}
    about = [(row[0], row[1], (genres[row[0]] or [None])[0]) for row in _items(raw, "|")]
    people = [(u, _person(a, g, o)) for u, a, g, o, _ in _fields(raw, "users", "|")]
    return _averaged([(u, i, float(r)) for u, i, r, _ in _fields(raw, "ratings", "\t")], about, people=people)


def _person(age, gender, occupation) -> dict:
    return {"age": None if age is None else int(float(age)), "gender": gender or None, "occupation": occupation or None}


def _items(raw: Memory, delimiter: str) -> list[list[str]]:
    return _fields(raw, "items", delimiter, encoding="latin-1")


def _movielens_1m(raw: Memory):
    from graphdr.raw.adapters.movielens_1m import OCCUPATIONS

    about = [(key, title, genres.split("|")[0]) for key, title, genres in _items(raw, "::")]
    people = [(u, _person(a, g, OCCUPATIONS[int(o)])) for u, g, a, o, _ in _fields(raw, "users", "::")]
    return _averaged([(u, i, float(r)) for u, i, r, _ in _fields(raw, "ratings", "::")], about, people=people)


def _recbole(raw: Memory):
    header, *rows = _fields(raw, "inter", "\t")
    weigh = float if "rating:float" in header else lambda _: 1.0  # columns are found by name
    [*_, group], *items = _fields(raw, "item", "\t") or [[""]]
    about = [(i, t, c.split(" ")[0] if group == "class:token_seq" else None) for i, t, _, c in items]
    head, *users = _fields(raw, "user", "\t") or [[]]
    named = [dict(zip((field.rpartition(":")[0] for field in head), row, strict=True)) for row in users]
    people = [(row["user_id"], _person(*map(row.get, ("age", "gender", "occupation")))) for row in named]
    return _averaged([(u, i, weigh(r)) for u, i, r, _ in rows], about, people=people)


def _amazon_ratings(raw: Memory):
    return _averaged([(u, i, float(r)) for u, i, r, _ in _fields(raw, "ratings", ",")], [])


def _amazon_reviews(raw: Memory):
    reviews = [json.loads(line) for line in raw["reviews"].decode().split("\n") if line]
    return _averaged([(r["reviewerID"], r["asin"], r["overall"]) for r in reviews], [])


def _hetrec_lastfm(raw: Memory):
    rows = [(u, i, float(int(plays))) for u, i, plays in _fields(raw, "plays", "\t", header=1)]
    nodes, links, users = _averaged(rows, [row[:2] for row in _fields(raw, "artists", "\t", header=1)], math.log1p)
    if "friends" in raw:
        pairs, place = _fields(raw, "friends", "\t", header=1), {key: i for i, key in enumerate(users)}
        both = {tuple(pair) for one, other in pairs for pair in ((one, other), (other, one))}
        users = {u: {"friends": sorted(place[b] for a, b in both if a == u and b in place)} for u in users}
    return nodes, links, users


def _ogbn_arxiv(raw: Memory):
    labels = [int(label) for (label,) in _fields(raw, "labels", ",")]
    categories = {int(label): name for label, name in _fields(raw, "categories", ",", header=1)}
    papers = {int(node): paper for node, paper in _fields(raw, "papers", ",", header=1)}
    edges = [(int(i), int(j)) for i, j in _fields(raw, "edges", ",")]
    features = dict(enumerate(np.float32(row).tolist() for row in _fields(raw, "features", ",")))
    around = [set() for _ in labels]
    for i, j in edges:
        around[i].add(j)
        around[j].add(i)
    groups = [categories.get(label) or str(label) for label in labels]
    nodes = [
        _node(papers.get(i, str(i)), (None, groups[i]), len(around[i] - {i}), features=features.get(i))
        for i in range(len(labels))
    ]
    return nodes, [(i, j, 1.0) for i, j in edges], {}


def _graph(raw: Memory):
    (head, *rows), (ends, *pairs) = _fields(raw, "item", "\t"), _fields(raw, "net", "\t")
    names = {field.rpartition(":")[0] if ":float" in field else field: at for at, field in enumerate(head)}
    titles = [at for name, at in names.items() if name.endswith(":token_seq")]
    place = {row[names["item_id:token"]]: i for i, row in enumerate(rows)}
    around, links = [set() for _ in rows], []
    for pair in pairs:
        one, other = (place[pair[ends.index(f"{end}_id:token")]] for end in ("source", "target"))
        around[one].add(other)
        around[other].add(one)
        links.append((one, other, float(pair[ends.index("weight:float")]) if "weight:float" in ends else 1.0))
    nodes = [
        _node(
            row[names["item_id:token"]],
            [row[at] for at in titles],
            len(around[i] - {i}),
            float(row[names["reward"]]),
            np.float32(row[names["features"]].split(" ")).tolist() if "features" in names else None,
        )
        for i, row in enumerate(rows)
    ]
    return nodes, links, {}


def _mind(raw: Memory):
    users, shown, clicked, pairs, known = {}, {}, {}, {}, {}
    for _, user, _, history, impressions in [*_fields(raw, "behaviors", "\t"), *_fields(raw, "dev_behaviors", "\t")]:
        users.setdefault(user, len(users))
        for key in history.split(" ") if history else []:
            shown.setdefault(key, 0)
            pairs[user, key] = 1.0
        for key, click in (impression.split("-") for impression in impressions.split(" ")):
            shown[key] = shown.get(key, 0) + 1
            clicked[key] = clicked.get(key, 0) + int(click)
            if int(click):
                pairs[user, key] = 1.0
    for key, group, subgroup, title, abstract, *_ in [*_fields(raw, "news", "\t"), *_fields(raw, "dev_news", "\t")]:
        known.setdefault(key, (title, group, subgroup, ". ".join(filter(None, (title, abstract)))))
    nodes = [_node(k, known.get(k, ()), n, clicked[k] / n if n else None) for k, n in shown.items()]
    place = {key: i for i, key in enumerate(shown)}
    links = [(users[user], place[key], weight) for (user, key), weight in pairs.items()]
    return nodes, links, {key: {} for key in users}


TWINS = {
    "amazon_ratings": _amazon_ratings,
    "amazon_reviews": _amazon_reviews,
    "graph": _graph,
    "hetrec_lastfm": _hetrec_lastfm,
    "mind": _mind,
    "movielens_100k": _movielens_100k,
    "movielens_1m": _movielens_1m,
    "ogbn_arxiv": _ogbn_arxiv,
    "recbole": _recbole,
}
