"""What a user brings, interactions, a graph, features, or several of these, as arrays."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.advise import files, graph_files
from graphdr.advise.data import Data, Edges, Interactions, Rewards
from graphdr.advise.tabular import features, roles, values
from graphdr.advise.tabular.delimited import KEY, NUMBER, TEXT, TIME
from graphdr.advise.tabular.problems import Problems, joined
from graphdr.core.errors import UserError, join_names, quote, quote_cell
from graphdr.raw.tables import encode
from graphdr.raw.text import Sheet

KINDS = {"value": NUMBER, "weight": NUMBER, "reward": NUMBER, "time": TIME, "title": TEXT}  # others are keys
MANY, SKEW = 100, 10  # counts reach above the one, and above so many medians: their logarithm says more
IMPLICIT = "no column of values: a row says that the user chose the item; name one by --value"


class Request(NamedTuple):
    """What a user asks about: files, columns by role, how the files are written, and what to do with mistakes."""

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
    encoding: str | None = None
    separator: str | None = None
    tolerant: bool = False  # leave out lines with mistakes, besides the three choices above


def source(request: Request) -> Path:
    """Return the file that the data set is named after: interactions, edges or features, of which there must be one."""
    path = request.interactions or request.edges or request.features
    if path is None:
        graph = "--edges FILE with --rewards FILE, or both"
        raise UserError(
            f"give a file of interactions, or {graph}, or --features FILE with --rewards FILE or --log FILE"
        )
    return path


def read(request: Request) -> Data:
    """Read and check all that a user brings; mistakes of all files are one error."""
    source(request)
    if request.tolerant:
        request = request._replace(merge_duplicates=True, drop_loops=True, ignore_unknown=True)
    steps = {
        "interactions": _interactions,
        "edges": _graph,
        "features": _features,
        "rewards": _rewards,
        "titles": _titles,
    }
    data, errors = Data(pa.array([], pa.string()), notes=[]), []
    for step in (step for name, step in steps.items() if getattr(request, name)):
        try:
            data = step(request, data)
        except UserError as error:
            errors.append(str(error))
        except _NothingToCompareWith:
            pass
        if errors:
            data = data._replace(keys=None)
    if errors:
        raise joined(errors)
    if request.edges and not (request.interactions or data.rewards):
        raise UserError(f"{request.edges}: no rewards; give --rewards FILE with a line per node")
    return data


class _NothingToCompareWith(Exception):
    """The items are not known, for the file that names them has mistakes."""


def _interactions(request: Request, data: Data) -> Data:
    table, columns = _opened(request.interactions, request, ("user", "item"), ("value", "time"), data.notes)
    sheet = table.sheet({name: KINDS.get(role, KEY) for role, name in columns.items()})
    problems, notes = Problems(sheet, request.tolerant), data.notes
    (users, user), (items, item) = (problems.names(columns[role]) for role in ("user", "item"))
    value = time = None
    transform = "identity"
    if "value" in columns:
        name = columns["value"]
        value = problems.numbers(name)
        transform, why = chosen_transform(value[np.isfinite(value)], request.transform)
        if transform == "log1p":
            problems.rows(value < 0, lambda row: f"{join_names([name])} {value[row]:g} has no log(1 + value)")
        notes.append(f"value: column {quote(name)}, {why}")
    elif not request.rewards:
        unused = [name for name in table.names if name not in (*columns.values(), roles.UNNAMED)]
        notes.append(IMPLICIT + (f" (not used: {join_names(unused)})" if unused else ""))
    if "time" in columns:
        time = values.times(sheet.columns[columns["time"]])
        if time is None:
            wrong = "neither numbers nor dates such as 2024-12-31"
            notes.append(f"time: column {quote(columns['time'])} is not used, for it holds {wrong} (--time)")
    kept = problems.kept()
    if kept is not None:
        (users, user), (items, item) = values.compact(users, user[kept]), values.compact(items, item[kept])
        value, time = (column if column is None else column[kept] for column in (value, time))
    notes += problems.notes
    pairs = np.sort(user.astype(np.int64) * len(items) + item)
    if again := int((pairs[1:] == pairs[:-1]).sum()):
        counted = "each of them counts" if value is not None else "the item's reward counts its users, each once"
        notes.append(f"{again:,} interactions repeat a user and an item: {counted}")
    if value is not None and not request.rewards:
        means = np.bincount(item, np.log1p(value) if transform == "log1p" else value) / np.bincount(item)
        files.refuse_equal(means, f"{sheet.name}: all items have the mean value")
    met = Interactions(user, item, value, time)
    return data._replace(keys=items, users=users, interactions=met, transform=transform)


def chosen_transform(value: np.ndarray, wanted: str) -> tuple[str, str]:
    """Choose between values as they are and log(1 + value), and say why; only counts with a long tail are logged."""
    if wanted != "auto":
        return wanted, {"identity": "taken as it is", "log1p": "as log(1 + value)"}[wanted] + ", as asked"
    if len(value) and value.min() >= 0 and value.max() > MANY and np.array_equal(value, np.floor(value)):
        median = float(np.median(value))
        if value.max() > SKEW * max(median, 1.0):
            size = f"whole numbers up to {value.max():g} with median {median:g}"
            return "log1p", f"as log(1 + value), for they are {size} (--transform identity takes them as they are)"
    return "identity", "taken as it is (--transform log1p would take log(1 + value))"


def _graph(request: Request, data: Data) -> Data:
    """Read a graph, among the items of interactions if there are any, and the rewards of its nodes, if it has them."""
    sheet, columns, nodes = _edges(request, data.notes)
    problems, notes = Problems(sheet, request.tolerant), data.notes
    (sources, i), (targets, j) = (problems.names(columns[role]) for role in ("source", "target"))
    weight = problems.numbers(columns["weight"]) if "weight" in columns else None
    if weight is not None:
        nearness = "a weight says how near two nodes are"
        problems.rows(weight < 0, lambda row: f"negative weight {weight[row]:g}; {nearness}")
        problems.rows(weight == 0, lambda row: "weight 0; leave out the edge")
    names, merged = encode(pa.concat_arrays([sources, targets]))
    i, j = merged[: len(sources)][i].astype(np.int64), merged[len(sources) :][j].astype(np.int64)
    if nodes is not None:
        unknown = pc.is_null(pc.index_in(names, value_set=nodes.columns["id"])).to_numpy(zero_copy_only=False)
        among = "is not among the nodes of the graph"
        for end in (i, j):
            problems.rows(unknown[end], lambda row, end=end: f"{_name(names, end[row])} {among}")
    known = np.ones(len(names), bool)
    if data.interactions:
        known = pc.is_valid(pc.index_in(names, value_set=data.keys)).to_numpy(zero_copy_only=False)
    _refuse_repeats(request, problems, names, i, j)
    kept = problems.kept()
    rows = np.arange(len(i)) if kept is None else kept
    rows = rows[known[i[rows]] & known[j[rows]]]
    if strange := (len(i) if kept is None else len(kept)) - len(rows):
        notes.append(f"{strange:,} edges with an end that is not among the interactions' items are dropped")
    notes += problems.notes
    i, j, weight = _simple(sheet, i[rows], j[rows], None if weight is None else weight[rows], notes)
    if data.interactions or nodes is not None:
        keys = data.keys if data.interactions else nodes.columns["id"]
        place = pc.fill_null(pc.index_in(names, value_set=keys), 0).to_numpy()
    else:
        keys, place = values.compact(names, np.concatenate([i, j]))
        i, j, place = place[: len(i)], place[len(i) :], np.arange(len(keys))
    data = data._replace(keys=keys, edges=Edges(place[i], place[j], weight))
    reward = request.columns.get("reward", "reward")
    if nodes is None or reward not in nodes.columns or request.rewards or request.interactions:
        return data
    return _paid(request, data, nodes, {"node": "id", "reward": reward})


def _edges(request: Request, notes: list[str]) -> tuple[Sheet, dict[str, str], Sheet | None]:
    """Read a graph: its edges with their columns, and what it says about its nodes, if it does."""
    needed, optional = ("source", "target"), ("weight",)
    if request.edges.suffix not in graph_files.READERS:
        return *_table(request.edges, request, needed, optional, notes), None
    edges, nodes = graph_files.READERS[request.edges.suffix](request.edges)
    columns = _columns(_Whole(edges), request, needed, optional, notes)
    return edges, columns, nodes if "id" in nodes.columns else None


def _repeats(i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the loops, the edges that were there before, and for each edge the first one between the same nodes."""
    size = max(i.max(), j.max()) + 1 if len(i) else 1
    loops = i == j
    code = np.where(loops, -1 - np.arange(len(i)), np.minimum(i, j) * size + np.maximum(i, j))
    place = encode(pa.array(code))[1]
    first = np.flatnonzero(np.diff(np.maximum.accumulate(place), prepend=-1))  # places count up as pairs appear
    return loops, first[place] != np.arange(len(i)), first[place]


def _refuse_repeats(request: Request, problems: Problems, names: pa.Array, i: np.ndarray, j: np.ndarray) -> None:
    loops, again, first = _repeats(i, j)
    if not request.drop_loops:
        itself = "is joined to itself"
        problems.rows(loops, lambda row: f"{_name(names, i[row])} {itself}", "--drop-loops leaves that out")
    if not request.merge_duplicates:

        def complaint(row: int) -> str:
            former = problems.sheet.place(int(first[row]))
            return f"{_name(names, i[row], 2)} and {_name(names, j[row], 2)} are joined again (as in {former})"

        problems.rows(again, complaint, "--merge-duplicates makes them one edge")


def _simple(
    sheet: Sheet, i: np.ndarray, j: np.ndarray, weight: np.ndarray | None, notes: list[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the edges without loops and repeats; weights of repeated edges are added."""
    loops, again, first = _repeats(i, j)
    if loops.any():
        notes.append(f"{loops.sum():,} edges from a node to itself are dropped")
    if again.any():
        how = "" if weight is None else ", weights added"
        notes.append(f"{again.sum():,} repeated edges are merged, whatever their direction{how}")
    kept = np.flatnonzero(~loops & ~again)
    if not len(kept):
        raise UserError(f"{sheet.name}: no edge between two nodes")
    return i[kept], j[kept], None if weight is None else np.bincount(first, weight)[kept]


def _rewards(request: Request, data: Data) -> Data:
    kind = {"reward": NUMBER if request.positive is None else TEXT}
    return _paid(request, data, *_table(request.rewards, request, ("node", "reward"), (), data.notes, kind))


def _paid(request: Request, data: Data, sheet: Sheet, columns: dict[str, str]) -> Data:
    """Take the rewards of items from a sheet."""
    problems, name = Problems(sheet, request.tolerant), columns["reward"]
    keys, place = problems.names(columns["node"])
    if request.positive is None:
        value = problems.numbers(name)
    else:
        value = pc.equal(sheet.columns[name], request.positive).to_numpy(zero_copy_only=False).astype(float)
        if not value.any():
            raise UserError(f"{sheet.name}: no {join_names([name])} is {request.positive!r}, the value of --positive")
        data.notes.append(f"reward: 1 where column {quote(name)} is {request.positive!r}, else 0")
    rows, item = _aligned(request, problems, keys, place, data)
    if more := len(item) - len(data.keys):
        data.notes.append(
            f"{Path(sheet.name).name}: {more:,} further rewards of items that have one: each of them counts"
        )
    value = value[rows]
    means = np.bincount(item, value) / np.bincount(item)
    files.refuse_equal(means, f"{sheet.name}: all rewards are")
    return data._replace(rewards=Rewards(item, value))


def _aligned(
    request: Request, problems: Problems, names: pa.Array, place: np.ndarray, data: Data, needed: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows about items of the data, and their items; refuse rows about others, and items without a row."""
    if data.keys is None:
        problems.kept()
        raise _NothingToCompareWith
    item_of = pc.index_in(names, value_set=data.keys)
    item = pc.fill_null(item_of, -1).to_numpy()[place]
    missing = pc.is_null(pc.index_in(data.keys, value_set=names))
    name = Path(problems.sheet.name).name
    if item_of.null_count:
        row = int(np.argmax(item < 0))
        others = f"{item_of.null_count:,} of {len(names):,} are not in the data"
        first = f"{_name(names, place[row])} first"
        if request.ignore_unknown or not needed:
            data.notes.append(f"{name}: {others} and are left out, {first}")
        else:
            remedy = "drop them, or give --ignore-unknown"
            problems.whole(f"{others}, {first}", problems.sheet.place(row), remedy)
    if count := pc.sum(missing).as_py():
        first = _name(data.keys, pc.index(missing, True).as_py())
        lacking = f"{count:,} of {len(data.keys):,} items"
        if needed:
            problems.whole(f"{lacking} of the data are missing, {first} first; expected a line for each")
        else:
            data.notes.append(f"{name}: {lacking} have no line, {first} first")
    kept = problems.kept()
    data.notes.extend(problems.notes)
    rows = np.flatnonzero(item >= 0) if kept is None else kept[item[kept] >= 0]
    return rows, item[rows]


def _titles(request: Request, data: Data) -> Data:
    sheet, columns = _table(request.titles, request, ("node", "title"), (), data.notes)
    problems = Problems(sheet, request.tolerant)
    names, place = problems.names(columns["node"])
    rows, item = _aligned(request, problems, names, place, data, needed=False)
    if again := int(files.repeated(item).sum()):
        data.notes.append(f"{Path(sheet.name).name}: {again:,} further titles of items that have one are left out")
    row_of = np.full(len(data.keys), -1)
    row_of[item[::-1]] = rows[::-1]  # the first one is the last to be put
    texts = sheet.columns[columns["title"]].cast(pa.string())
    titles = texts.take(pa.array(row_of, mask=row_of < 0))
    return data._replace(titles=pc.fill_null(pc.replace_substring_regex(titles, r"[\t\r\n]+", " "), ""))


def _features(request: Request, data: Data) -> Data:
    """Read a row of numbers for every item; without interactions and edges, these are the items."""
    table, columns = _opened(request.features, request, ("node",), (), data.notes)
    node = columns["node"]
    others = [name for name in table.names if name not in (node, roles.UNNAMED)]
    if not others:
        raise UserError(f"{table.name}: no column besides {quote(node)}; expected numbers about each item")
    sheet = table.sheet({node: KEY} | dict.fromkeys(others, NUMBER))
    problems = Problems(sheet, request.tolerant)
    names, place = problems.names(node)
    again = files.repeated(place)
    problems.rows(again, lambda row: f"{quote_cell(node, names[int(place[row])].as_py())} again; expected each once")
    numbers, assumed = features.matrix(problems, others)
    if assumed:
        data.notes.append(files.noted(request.features, assumed))
    if data.keys is not None and not (data.interactions or data.edges):
        kept = problems.kept()
        data.notes.extend(problems.notes)
        rows = np.arange(len(place)) if kept is None else kept
        return data._replace(keys=names.take(pa.array(place[rows])), features=numbers[rows])
    rows, item = _aligned(request, problems, names, place, data)
    return data._replace(features=numbers[rows][np.argsort(item)])


def _name(names: pa.Array, at: int, share: int = 1) -> str:
    return quote(names[int(at)].as_py(), share)


class _Whole(NamedTuple):
    """A sheet that was read from a format of its own, as a table that was opened."""

    whole: Sheet
    header: bool = True

    @property
    def name(self) -> str:
        return self.whole.name

    @property
    def names(self) -> list[str]:
        return list(self.whole.columns)


def _table(
    path: Path,
    request: Request,
    needed: Sequence[str],
    optional: Sequence[str],
    notes: list[str],
    kinds: dict[str, str] = KINDS,
) -> tuple[Sheet, dict[str, str]]:
    """Read the columns of a file that have a role, and say which they are."""
    table, columns = _opened(path, request, needed, optional, notes)
    return table.sheet({name: (KINDS | kinds).get(role, KEY) for role, name in columns.items()}), columns


def _opened(
    path: Path, request: Request, needed: Sequence[str], optional: Sequence[str], notes: list[str]
) -> tuple[files.Table, dict[str, str]]:
    """Open a file, and find its columns by role."""
    all_roles = *needed, *optional
    named = {files.plain(request.columns[role]) for role in all_roles if role in request.columns}
    written = files.Written(request.encoding, request.separator, request.header)
    table = files.opened(path, written, lambda name: files.plain(name) in named or roles.known(name, all_roles))
    return table, _columns(table, request, needed, optional, notes)


def _columns(
    table: files.Table | _Whole, request: Request, needed: Sequence[str], optional: Sequence[str], notes: list[str]
) -> dict[str, str]:
    for role in (*needed, *optional):
        if role in request.columns and request.columns[role] not in table.names:
            raise _no_column(table, repr(request.columns[role]), role)
    columns, missing, assumed = roles.find(table, request.columns, needed, optional)
    if missing:
        raise _no_column(table, f"of {missing[0]}s", missing[0])
    said = [*getattr(table, "assumed", ()), *assumed]
    if note := files.noted(Path(table.name), said):
        notes.append(note)
    return columns


def _no_column(table: files.Table | _Whole, which: str, role: str) -> UserError:
    return UserError(
        f"{table.name}: no column {which}; there are: {join_names(table.names)}; name it by --{role} COLUMN"
    )
