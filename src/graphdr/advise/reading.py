"""What a user brings, interactions or a graph with rewards, as RecBole's files, which the workflow reads."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.advise import files, graph_files
from graphdr.core.errors import UserError
from graphdr.raw.tables import encode
from graphdr.raw.text import Sheet, refuse

NAMES = {role: names.split() for role, names in files.USUAL["tables"].items()}
MANY, SKEW = 100, 10  # counts reach above the one, and above so many medians: their logarithm says more


class Request(NamedTuple):
    """What a user asks about: files, names of columns by role, and how mistakes in the data are to be taken."""

    interactions: Path | None = None
    edges: Path | None = None
    rewards: Path | None = None
    features: Path | None = None
    titles: Path | None = None
    columns: dict[str, str] = {}  # noqa: RUF012 - never changed
    header: bool | None = None
    transform: str = "auto"
    positive: str | None = None
    merge_duplicates: bool = False
    drop_loops: bool = False
    ignore_unknown: bool = False


class Dataset(NamedTuple):
    """The data in the workflow's own format: bytes by role, and what the block of the data set must say of them."""

    format: str
    files: dict[str, bytes]
    content: str
    transform: str
    options: dict  # of the adapter
    notes: list[str]


def source(request: Request) -> Path:
    """Return the file that the data set is named after: interactions or edges, of which there must be one."""
    if (request.interactions is None) == (request.edges is None):
        raise UserError("give a file of interactions, or --edges FILE with --rewards FILE; not both, not neither")
    return request.interactions or request.edges


def read(request: Request) -> Dataset:
    """Read and check all that a user brings."""
    source(request)
    return _graph(request) if request.edges else _interactions(request)


def _interactions(request: Request) -> Dataset:
    sheet, columns = _table(request.interactions, request, ("user", "item"), ("value", "time"))
    users, items = (files.keys(sheet, columns[role]) for role in ("user", "item"))
    notes = [sheet.note] if sheet.note else []
    written = {"user_id:token": users, "item_id:token": items}
    value, transform = np.ones(len(users)), "identity"
    if "value" in columns:
        value = files.numbers(sheet, columns["value"])
        transform, why = chosen_transform(value, request.transform)
        if transform == "log1p":
            refuse(sheet, value < 0, lambda row: f"{columns['value']} {value[row]:g} has no log(1 + value)")
        notes.append(f"value: column {columns['value']!r}, {why}")
        written["value:float"] = pa.array(value)
    elif not request.rewards:
        names = ", ".join(sheet.columns)
        raise UserError(f"{sheet.name}: no column of values; there are: {names}; name it by --value, or give --rewards")
    keys, place = encode(items)
    if again := len(users) - len(pa.table([users, items], ["user", "item"]).group_by(["user", "item"]).aggregate([])):
        notes.append(f"{again:,} interactions repeat a user and an item: each of them counts")
    attributes = _attributes(request, keys, notes)
    if not request.rewards:
        means = np.bincount(place, np.log1p(value) if transform == "log1p" else value) / np.bincount(place)
        files.refuse_equal(means, f"{sheet.name}: all items have the mean value")
    texts = {"inter": _written(written)} | ({"item": _written(attributes)} if len(attributes) > 1 else {})
    content = "features" if request.features else "ratings" if "value" in columns else "none"
    options = ({"value": "value"} if "value" in columns else {}) | ({"log1p": True} if transform == "log1p" else {})
    return Dataset("recbole", texts, content, transform, options, notes)


def chosen_transform(value: np.ndarray, wanted: str) -> tuple[str, str]:
    """Choose between values as they are and log(1 + value), and say why; only counts with a long tail are logged."""
    if wanted != "auto":
        return wanted, {"identity": "taken as it is", "log1p": "as log(1 + value)"}[wanted] + ", as asked"
    median = float(np.median(value))
    counts = value.min() >= 0 and np.array_equal(value, np.floor(value))
    if counts and value.max() > MANY and value.max() > SKEW * max(median, 1.0):
        size = f"whole numbers up to {value.max():g} with median {median:g}"
        return "log1p", f"as log(1 + value), for they are {size} (--transform identity takes them as they are)"
    return "identity", "taken as it is (--transform log1p would take log(1 + value))"


def _graph(request: Request) -> Dataset:
    sheet, columns, nodes = _edges(request)
    notes = [sheet.note] if sheet.note else []
    ends = [files.keys(sheet, columns[role]) for role in ("source", "target")]
    weight = files.numbers(sheet, columns["weight"]) if "weight" in columns else None
    if weight is not None:
        refuse(sheet, weight < 0, lambda row: f"negative weight {weight[row]:g}; a weight says how near two nodes are")
        refuse(sheet, weight == 0, lambda row: "weight 0; leave out the edge")
    for end in ends if nodes is not None else ():
        unknown = pc.is_null(pc.index_in(end, value_set=nodes.columns["id"]))
        refuse(sheet, unknown, lambda row, end=end: f"{files.quoted(end, row)} is not among the nodes of the graph")
    ends, weight = _simple(sheet, ends, weight, request, notes)
    keys = pc.unique(pa.concat_arrays(ends)) if nodes is None else nodes.columns["id"]
    attributes = _attributes(request, keys, notes, nodes)
    if "reward:float" not in attributes:
        raise UserError(f"{request.edges}: no rewards; give --rewards FILE with a line per node")
    written = dict(zip(("source_id:token", "target_id:token"), ends, strict=True))
    written |= {} if weight is None else {"weight:float": pa.array(weight)}
    content = "features" if request.features else "none"
    return Dataset("graph", {"net": _written(written), "item": _written(attributes)}, content, "identity", {}, notes)


def _edges(request: Request) -> tuple[Sheet, dict[str, str], Sheet | None]:
    """Read a graph: its edges with their columns, and what it says about its nodes, if it does."""
    roles = ("source", "target"), ("weight",)
    if request.edges.suffix not in graph_files.READERS:
        return *_table(request.edges, request, *roles), None
    edges, nodes = graph_files.READERS[request.edges.suffix](request.edges)
    return edges, _columns(edges, request, *roles), nodes if "id" in nodes.columns else None


def _simple(sheet: Sheet, ends: list[pa.Array], weight: np.ndarray | None, request: Request, notes: list[str]):
    """Refuse loops and repeated edges or, if asked to, drop and merge them."""
    keys = pc.unique(pa.concat_arrays(ends))
    i, j = (pc.index_in(end, value_set=keys).to_numpy().astype(np.int64) for end in ends)
    loops = i == j
    if not request.drop_loops:
        to_itself = "is joined to itself; --drop-loops leaves that out"
        refuse(sheet, loops, lambda row: f"{files.quoted(ends[0], row)} {to_itself}")
    code = np.minimum(i, j) * len(keys) + np.maximum(i, j)
    code = np.where(loops, -1 - np.arange(len(code)), code)
    _, first, place = np.unique(code, return_index=True, return_inverse=True)
    again = first[place] != np.arange(len(code))
    if again.any() and not request.merge_duplicates:
        row = int(again.argmax())
        pair = " and ".join(files.quoted(end, row) for end in ends)
        former = sheet.place(int(first[place][row]))
        raise sheet.fault(row, f"{pair} are joined again (as in {former}); --merge-duplicates makes them one edge")
    if loops.any():
        notes.append(f"{loops.sum():,} edges from a node to itself are dropped")
    if again.any():
        how = "" if weight is None else ", weights added"
        notes.append(f"{again.sum():,} repeated edges are merged, whatever their direction{how}")
    kept = np.flatnonzero(~loops & ~again)
    if not len(kept):
        raise UserError(f"{sheet.name}: no edge between two nodes")
    if weight is not None:
        weight = np.bincount(place, weight)[place][kept]
    return [end.take(pa.array(kept)) for end in ends], weight


def _attributes(request: Request, keys: pa.Array, notes: list[str], nodes: Sheet | None = None) -> dict[str, pa.Array]:
    """Return what is known about the nodes, one column per fact: in their order, for a graph in that of the rewards."""
    attributes, reward = {"item_id:token": keys}, request.columns.get("reward", "reward")
    rewards = _table(request.rewards, request, ("node", "reward")) if request.rewards else None
    if not rewards and nodes is not None and reward in nodes.columns:
        rewards = nodes, {"node": "id", "reward": reward}
    if rewards:
        sheet, columns = rewards
        order = _aligned(request, sheet, columns["node"], keys, notes)
        attributes["reward:float"] = _rewards(sheet, columns["reward"], order, request.positive, notes)
    if request.titles:
        sheet, columns = _table(request.titles, request, ("node", "title"))
        place = _aligned(request._replace(ignore_unknown=True), sheet, columns["node"], keys, notes, needed=False)
        texts = pc.replace_substring_regex(sheet.columns[columns["title"]], r"[\t\r\n]+", " ")
        attributes["title:token_seq"] = pc.fill_null(texts.take(place), "")
    if request.features:
        attributes["features:float_seq"] = _features(request, keys, notes)
    if rewards and request.edges:  # the order of the rewards decides between nodes of one degree
        attributes = {name: column.take(pc.sort_indices(order)) for name, column in attributes.items()}
    return attributes


def _rewards(sheet: Sheet, name: str, place: pa.Array, positive: str | None, notes: list[str]) -> pa.Array:
    if positive is None:
        reward = files.numbers(sheet, name)
    else:
        reward = pc.equal(sheet.columns[name], positive).to_numpy(zero_copy_only=False).astype(float)
        if not reward.any():
            raise UserError(f"{sheet.name}: no {name} is {positive!r}, the value of --positive")
        notes.append(f"reward: 1 where column {name!r} is {positive!r}, else 0")
    reward = reward[place.to_numpy()]
    files.refuse_equal(reward, f"{sheet.name}: all rewards are")
    return pa.array(reward)


def _features(request: Request, keys: pa.Array, notes: list[str]) -> pa.Array:
    sheet, columns = _table(request.features, request, ("node",))
    column = columns["node"]
    place = _aligned(request, sheet, column, keys, notes)
    others = [name for name in sheet.columns if name != column]
    if not others:
        raise UserError(f"{sheet.name}: no column besides {column!r}; expected numbers about each item")
    parts = [_number_texts(sheet, name) for name in others]
    joined = pc.binary_join_element_wise(*parts, " ") if len(parts) > 1 else parts[0]
    sizes = pc.list_value_length(pc.split_pattern(joined, " "))
    expected = sizes[0].as_py()
    refuse(sheet, pc.not_equal(sizes, expected), lambda row: f"{sizes[row]} features; expected {expected} as above")
    return joined.take(place)


def _number_texts(sheet: Sheet, name: str) -> pa.Array:
    """Return a column of numbers, or of lists of numbers, as text."""
    column = sheet.columns[name]
    if not pc.any(pc.match_substring(column, " ")).as_py():
        return pa.array(files.numbers(sheet, name)).cast(pa.string())
    lists = pc.split_pattern(column, " ")
    rows = pc.list_parent_indices(lists).to_numpy()
    files.numbers(sheet._replace(columns={name: lists.flatten()}), name, rows)
    return column


def _aligned(
    request: Request, sheet: Sheet, column: str, keys: pa.Array, notes: list[str], needed: bool = True
) -> pa.Array:
    """Return for each key the row that is about it; rows about others, and keys without a row, are refused."""
    named = files.keys(sheet, column)
    refuse(sheet, files.repeated(named), lambda row: f"{column} {files.quoted(named, row)} again; expected each once")
    unknown, place = pc.index_in(named, value_set=keys), pc.index_in(keys, value_set=named)
    if unknown.null_count:
        row, count, first = _first_missing(unknown, named)
        if not request.ignore_unknown:
            raise sheet.fault(row, f"{count} are not in the data, {first} first; drop them, or give --ignore-unknown")
        notes.append(f"{Path(sheet.name).name}: {count} are not in the data and are left out, {first} first")
    if place.null_count:
        _, count, first = _first_missing(place, keys)
        if needed:
            raise UserError(f"{sheet.name}: {count} items of the data are missing, {first} first; expected each once")
        notes.append(f"{Path(sheet.name).name}: {count} items have no line, {first} first")
    return place


def _first_missing(places: pa.Array, names: pa.Array) -> tuple[int, str, str]:
    """Return the row of the first name without a place, how many there are, and that name."""
    row = pc.index(pc.is_null(places), True).as_py()
    return row, f"{places.null_count:,} of {len(names):,}", files.quoted(names, row)


def _table(
    path: Path, request: Request, needed: tuple[str, ...], optional: tuple[str, ...] = ()
) -> tuple[Sheet, dict[str, str]]:
    """Read a file, and find its columns by role."""
    roles = *needed, *optional
    named = [files.plain(request.columns[role]) for role in roles if role in request.columns]
    sheet = files.read(path, request.header, [*named, *(name for role in roles for name in NAMES[role])])
    return sheet, _columns(sheet, request, needed, optional)


def _columns(sheet: Sheet, request: Request, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, str]:
    """Find the columns of a sheet by role: as the user says, by usual names, or in order where there is no header."""
    roles = *needed, *optional
    columns = {role: request.columns[role] for role in roles if role in request.columns}
    for role, name in columns.items():
        if name not in sheet.columns:
            raise _no_column(sheet, repr(name), role)
    for role in [role for role in roles if role not in columns]:
        free = [name for name in sheet.columns if name not in columns.values()]
        usual = [name for word in NAMES[role] for name in free if files.plain(name) == word]
        if usual or (sheet.note and free):
            columns[role] = (usual or free)[0]
    free = [name for name in sheet.columns if name not in columns.values()]
    missing = [role for role in needed if role not in columns]
    if len(sheet.columns) == len(missing) + len(columns) == 2:  # two columns, in the usual order
        columns |= dict(zip(missing, free, strict=True))
    elif missing:
        raise _no_column(sheet, f"of {missing[0]}s", missing[0])
    return columns


def _no_column(sheet: Sheet, which: str, role: str) -> UserError:
    names = ", ".join(list(sheet.columns)[:12])
    return UserError(f"{sheet.name}: no column {which}; there are: {names}; name it by --{role} COLUMN")


def _written(columns: dict[str, pa.Array]) -> bytes:
    """Write columns with their typed names as one of RecBole's files."""
    texts = [column.cast(pa.string()) for column in columns.values()]
    lines = pc.binary_join_element_wise(*texts, "\t") if len(texts) > 1 else texts[0]
    return "\n".join(["\t".join(columns), *lines.to_pylist(), ""]).encode()
