"""Microsoft's news data set MIND: the news that users had read, were shown, and clicked."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import quote
from graphdr.raw.sheets import Sheet, encode, fault
from graphdr.raw.tables import Tables, links, lookup, nodes, null_if_empty, users
from graphdr.raw.text import Raw, load, parse

BEHAVIORS = {"impression": None, "user": "key", "time": None, "history": "text", "impressions": "text"}
NEWS = {"news": "key", "group": "text", "subgroup": "text", "title": "text", "abstract": "text"}
UNUSED = dict.fromkeys(("url", "title entities", "abstract entities"))
SKIPPED, CLICKED, READ, INVALID = range(4)  # meanings of a token: N1-0, N1-1, N1, or anything else


def read(raw: Raw) -> Tables:
    """Read news; popularity counts impressions, and the reward is the share of them that was clicked.

    News are numbered as they first appear, row by row, history before impressions. A user is linked once
    to each news that is in the history or was clicked. The development set, if there, follows the training set.
    """
    sheets = (parse(load(raw, role), BEHAVIORS, "\t") for role in _present(raw, "behaviors"))
    parts = [part for sheet in sheets for part in _events(sheet)]
    user_ids, rows, news_ids, places, meanings = zip(*parts, strict=True)
    names, user = _joined(user_ids, rows)
    keys, news = _joined(news_ids, places)
    meaning, n = np.concatenate(meanings), len(keys)
    skips, clicks = (np.bincount(news[meaning == kind], minlength=n) for kind in (SKIPPED, CLICKED))
    shown = pa.array(skips + clicks, pa.int64())
    some = pc.if_else(pc.equal(shown, 0), pa.scalar(None, pa.int64()), shown)
    reward = pc.divide(pa.array(clicks, pa.float64()), some)
    chosen = meaning != SKIPPED
    pairs = pc.unique(pa.array(user[chosen].astype(np.int64) * n + news[chosen], pa.int64()))
    source, node = np.divmod(pairs.to_numpy(), n)
    table = nodes(keys, skips + clicks, reward=reward, **_attributes(raw, keys))
    return Tables(table, links(source, node, np.ones(len(node))), users(names))


def _present(raw: Raw, role: str) -> list[str]:
    return [role, f"dev_{role}"] if raw.has(f"dev_{role}") else [role]


def _events(sheet: Sheet) -> Iterator[tuple[pa.Array, np.ndarray, pa.Array, np.ndarray, np.ndarray]]:
    """Take behaviors apart, some megabytes at a time: users, the row of each token, news, their places, meanings."""
    first = sheet.line(0)
    for batch in sheet.columns.to_batches():
        history, impressions = batch["history"], batch["impressions"]
        fresh = pc.equal(history, "")
        both = pc.binary_join_element_wise(history, impressions, " ")
        lists = pc.split_pattern(pc.if_else(fresh, impressions, both), " ")
        size = pc.list_value_length(lists).to_numpy()
        read = pc.if_else(fresh, 0, pc.add(pc.count_substring(history, " "), 1)).to_numpy()
        row = np.repeat(np.arange(len(batch), dtype=np.int32), size)
        past = np.arange(len(row)) < np.repeat(np.cumsum(size) - size + read, size)
        tokens, place = encode(lists.flatten())
        meaning = _meanings(tokens)[place]
        wrong = (meaning == INVALID) | ((meaning == READ) != past)
        if wrong.any():
            at = int(wrong.argmax())
            raise fault(sheet.name, first + int(row[at]), _complaint(tokens[place[at]].as_py(), past[at]))
        yield batch["user"], row, pc.replace_substring_regex(tokens, "-[01]$", ""), place, meaning
        first += len(batch)


def _meanings(tokens: pa.Array) -> np.ndarray:
    """Classify each token: news skipped (N1-0), clicked (N1-1), read before (N1), or invalid."""
    meaning = pa.scalar(INVALID, pa.int8())
    for kind, pattern in ((SKIPPED, "^[^-]+-0$"), (CLICKED, "^[^-]+-1$"), (READ, "^[^-]+$")):
        meaning = pc.if_else(pc.match_substring_regex(tokens, pattern), pa.scalar(kind, pa.int8()), meaning)
    return np.asarray(meaning.to_numpy())


def _complaint(token: str, past: bool) -> str:
    if past:
        return f"news {quote(token)} in the history; expected ids separated by single spaces"
    return f"impression {quote(token)}; expected id-0 (not clicked) or id-1 (clicked), separated by single spaces"


def _joined(texts: Sequence[pa.Array], places: Sequence[np.ndarray]) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct texts of all parts, and the codes of places in the texts of each part."""
    distinct, codes = encode(pa.chunked_array(texts))
    parts = np.split(codes, np.cumsum([*map(len, texts)])[:-1])
    return distinct, np.concatenate([part[place] for part, place in zip(parts, places, strict=True)])


def _attributes(raw: Raw, keys: pa.Array) -> dict[str, pa.Array]:
    """Look news up in the training set, then in the development set; both files are optional."""
    roles = filter(raw.has, _present(raw, "news"))
    sets = [lookup(parse(load(raw, role), NEWS | UNUSED, "\t"), keys) for role in roles]
    columns = {name: pc.coalesce(*(part[name] for part in sets)) for name in [*NEWS][1:] if sets}
    if sets:
        title, abstract = null_if_empty(columns["title"]), null_if_empty(columns.pop("abstract"))
        columns["text"] = pc.coalesce(pc.binary_join_element_wise(title, abstract, ". "), title, abstract)
    return columns
