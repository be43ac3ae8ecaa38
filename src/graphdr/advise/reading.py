"""Read all files of a user as arrays: interactions, a graph, features and rewards, or several of these."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphdr.advise.data import Data, Edges, Interactions, Rewards
from graphdr.core.errors import UserError, join_names, quote, quote_cell
from graphdr.raw import graph_files, sheets, user_tables
from graphdr.raw.dialect import PLAIN, TextFormat, is_number
from graphdr.raw.sheets import FINITE, InputErrors, Sheet, encode, first_rows
from graphdr.raw.user_tables import KEY, NUMBER, TEXT, TIME, UNNAMED, OpenedTable

KINDS = {"value": NUMBER, "weight": NUMBER, "reward": NUMBER, "time": TIME}  # of columns by role; others are keys
MANY, SKEW = 100, 10  # values above MANY and above SKEW medians are counts, of which the logarithm is taken
CATEGORIES = 1000  # different texts that a column of features may hold
MOST_FEATURES = 1 << 28  # numbers in all, which take 2 GB
IMPLICIT = "no column of values: a row says that the user chose the item; name one by --value"


class Request(NamedTuple):
    """The files of a user, their columns by role, how texts are written, and what to do with mistakes."""

    interactions: Path | None = None
    edges: Path | None = None
    rewards: Path | None = None
    features: Path | None = None
    columns: dict[str, str] = {}  # noqa: RUF012 - never changed
    text_format: TextFormat = PLAIN
    transform: str = "auto"
    positive: str | None = None
    merge_duplicates: bool = False
    drop_loops: bool = False
    ignore_unknown: bool = False
    tolerant: bool = False  # leave out lines with mistakes, besides the three choices above

    @property
    def main_file(self) -> Path:
        """Return the file that the data set is named after."""
        path = self.interactions or self.edges or self.features
        if path is None:
            graph = "--edges FILE with --rewards FILE, or both"
            raise UserError(
                f"give a file of interactions, or {graph}, or --features FILE with --rewards FILE or --log FILE"
            )
        return path


def read(request: Request) -> Data:
    """Read and check all files of a user; mistakes of all files are one error."""
    _ = request.main_file  # refuses a request without one
    if request.tolerant:
        request = request._replace(merge_duplicates=True, drop_loops=True, ignore_unknown=True)
    reader = _Reader(request)
    steps = (
        (request.interactions, reader.read_interactions),
        (request.edges, reader.read_graph),
        (request.features, reader.read_features),
        (request.rewards, reader.read_rewards),
    )
    for path, step in steps:
        if path:
            try:
                step(path)
            except UserError as error:
                reader.failures.append(str(error))
    if reader.failures:
        raise sheets.join_errors(reader.failures)
    if request.edges and not (request.interactions or reader.data.rewards):
        raise UserError(f"{request.edges}: no rewards; give --rewards FILE with a line per node")
    return reader.data


def choose_transform(value: np.ndarray, wanted: str) -> tuple[str, str]:
    """Choose between values as they are and log(1 + value), with the reason; only skewed counts are logged."""
    if wanted != "auto":
        return wanted, {"identity": "taken as it is", "log1p": "as log(1 + value)"}[wanted] + ", as asked"
    if len(value) and value.min() >= 0 and value.max() > MANY and np.array_equal(value, np.floor(value)):
        median = float(np.median(value))
        if value.max() > SKEW * max(median, 1.0):
            size = f"whole numbers up to {value.max():g} with median {median:g}"
            return "log1p", f"as log(1 + value), for they are {size} (--transform identity takes them as they are)"
    return "identity", "taken as it is (--transform log1p would take log(1 + value))"


class _Reader:
    """Read one file after the other; each adds to the data, and to the notes on what was assumed."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.notes: list[str] = []
        self.failures: list[str] = []  # messages on files with mistakes
        self.data = Data(pa.array([], pa.string()), notes=self.notes)

    def read_interactions(self, path: Path) -> None:
        """Read users and items, and values and times if there are columns of them."""
        table = self._open(path, ("user", "item", "value", "time"))
        columns = self._columns(table, ("user", "item"), ("value", "time"))
        sheet, errors = self._read(table, _kinds(columns))
        (_, user), (items, item) = (errors.names(columns[role]) for role in ("user", "item"))
        value, time, transform = None, None, "identity"
        if "value" in columns:
            value, transform = self._values(errors, columns["value"])
        elif not self.request.rewards:
            unused = [name for name in table.names if name not in (*columns.values(), UNNAMED)]
            self.notes.append(IMPLICIT + (f" (not used: {join_names(unused)})" if unused else ""))
        if "time" in columns:
            times = sheets.times(sheet.columns[columns["time"]])
            time = times.values if times else None
            if not times:
                wrong = "is not used, for it holds neither numbers nor dates such as 2024-12-31 (--time)"
                self.notes.append(f"time: column {quote(columns['time'])} {wrong}")
        kept = errors.refuse()
        if errors.bad.any():
            user, (items, item) = encode(pa.array(user[kept]))[1], sheets.compact(items, item[kept])
            value, time = (None if column is None else column[kept] for column in (value, time))
        pairs = np.sort(user.astype(np.int64) * len(items) + item)
        if again := int((pairs[1:] == pairs[:-1]).sum()):
            effect = "each of them counts" if value is not None else "the item's reward counts its users, each once"
            self.notes.append(f"{again:,} interactions repeat a user and an item: {effect}")
        if value is not None and not self.request.rewards:
            rewards = np.log1p(value) if transform == "log1p" else value
            _refuse_equal(item, rewards, f"{sheet.name}: all items have the mean value")
        interactions = Interactions(user, item, value, time)
        self.data = self.data._replace(keys=items, interactions=interactions, transform=transform)

    def _values(self, errors: InputErrors, name: str) -> tuple[np.ndarray, str]:
        """Return the values of interactions as they are in the file, and the name of the transform that fits them."""
        value = errors.numbers(name)
        transform, reason = choose_transform(value[np.isfinite(value)], self.request.transform)
        if transform == "log1p":
            errors.add_rows(value < 0, lambda row: f"{join_names([name])} {value[row]:g} has no log(1 + value)")
        self.notes.append(f"value: column {quote(name)}, {reason}")
        return value, transform

    def read_graph(self, path: Path) -> None:
        """Read edges, among the items of interactions if there are any, and rewards of nodes that the file holds."""
        nodes: Sheet | None = None
        if path.suffix in graph_files.READERS:
            edges, nodes = graph_files.READERS[path.suffix](path)
            table = OpenedTable(edges.name, list(edges.columns), lambda kinds: edges)
        else:
            table = self._open(path, ("source", "target", "weight"))
        columns = self._columns(table, ("source", "target"), ("weight",))
        sheet, errors = self._read(table, _kinds(columns))
        (sources, i), (targets, j) = (errors.names(columns[role]) for role in ("source", "target"))
        weight = _weights(errors, columns["weight"]) if "weight" in columns else None
        names, place = encode(pa.concat_arrays([sources, targets]))
        i, j = place[: len(sources)][i].astype(np.int64), place[len(sources) :][j].astype(np.int64)
        if nodes is not None:
            unknown = ~_is_in(names, nodes.columns["id"])
            among = "is not among the nodes of the graph"
            errors.add_rows(unknown[i], lambda row: f"{_name(names, i[row])} {among}")
            errors.add_rows(unknown[j], lambda row: f"{_name(names, j[row])} {among}")
        self._check_repeats(errors, names, i, j)
        kept = errors.refuse()
        if self.data.interactions:
            inside = _is_in(names, self.data.keys)
            inner = inside[i[kept]] & inside[j[kept]]
            if not inner.all():
                other = "with an end that is not among the interactions' items are dropped"
                self.notes.append(f"{(~inner).sum():,} edges {other}")
            kept = kept[inner]
        i, j, weight = self._simplify(sheet.name, i[kept], j[kept], None if weight is None else weight[kept])
        if self.data.interactions:
            keys = self.data.keys
        elif nodes is not None:
            keys = nodes.columns["id"]
        else:
            keys = sheets.compact(names, np.append(i, j))[0]
        place = pc.fill_null(pc.index_in(names, value_set=keys), 0).to_numpy()
        self.data = self.data._replace(keys=keys, edges=Edges(place[i], place[j], weight))
        reward = self.request.columns.get("reward", "reward")
        if nodes is not None and reward in nodes.columns and not (self.request.rewards or self.request.interactions):
            self._take_rewards(nodes, "id", reward)

    def _check_repeats(self, errors: InputErrors, names: pa.Array, i: np.ndarray, j: np.ndarray) -> None:
        """Add loops and repeated edges to the mistakes, unless the user says what to do with them."""
        loops, again, first = _repeats(i, j)
        if not self.request.drop_loops:
            itself = "is joined to itself"
            errors.add_rows(loops, lambda row: f"{_name(names, i[row])} {itself}", "--drop-loops leaves that out")
        if not self.request.merge_duplicates:

            def complaint(row: int) -> str:
                former = errors.sheet.place(int(first[row]))
                return f"{_name(names, i[row], 2)} and {_name(names, j[row], 2)} are joined again (as in {former})"

            errors.add_rows(again, complaint, "--merge-duplicates makes them one edge")

    def _simplify(
        self, name: str, i: np.ndarray, j: np.ndarray, weight: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the edges without loops and repeats; weights of repeated edges are added."""
        loops, again, first = _repeats(i, j)
        if loops.any():
            self.notes.append(f"{loops.sum():,} edges from a node to itself are dropped")
        if again.any():
            how = "" if weight is None else ", weights added"
            self.notes.append(f"{again.sum():,} repeated edges are merged, whatever their direction{how}")
        kept = np.flatnonzero(~loops & ~again)
        if not len(kept):
            raise UserError(f"{name}: no edge between two nodes")
        return i[kept], j[kept], None if weight is None else np.bincount(first, weight)[kept]

    def read_features(self, path: Path) -> None:
        """Read a row of numbers for every item; without interactions and edges, these are the items."""
        table = self._open(path, ("node",))
        node = self._columns(table, ("node",))["node"]
        others = [name for name in table.names if name not in (node, UNNAMED)]
        if not others:
            raise UserError(f"{table.name}: no column besides {quote(node)}; expected numbers about each item")
        _, errors = self._read(table, {node: KEY} | dict.fromkeys(others, NUMBER))
        names, place = errors.names(node)
        again = "again; expected each once"
        errors.add_rows(
            sheets.repeated(place), lambda row: f"{quote_cell(node, names[int(place[row])].as_py())} {again}"
        )
        numbers, assumed = _feature_matrix(errors, others)
        self.notes += user_tables.note(table.name, assumed)
        if self.failures or not (self.data.interactions or self.data.edges):
            rows = errors.refuse()
            if not self.failures:
                self.data = self.data._replace(keys=names.take(pa.array(place[rows])), features=numbers[rows])
            return
        rows, item = self._align(errors, names, place)
        self.data = self.data._replace(features=numbers[rows][np.argsort(item)])

    def read_rewards(self, path: Path) -> None:
        """Read rewards of items, one or several of each."""
        table = self._open(path, ("node", "reward"))
        columns = self._columns(table, ("node", "reward"))
        kind = NUMBER if self.request.positive is None else TEXT
        node, reward = columns["node"], columns["reward"]
        self._take_rewards(table.read({node: KEY, reward: kind}), node, reward)

    def _take_rewards(self, sheet: Sheet, node: str, reward: str) -> None:
        """Take the rewards of items from a sheet."""
        errors, positive = InputErrors(sheet, self.request.tolerant, self.notes), self.request.positive
        names, place = errors.names(node)
        if positive is None:
            value = errors.numbers(reward)
        else:
            value = pc.equal(sheet.columns[reward], positive).to_numpy(zero_copy_only=False).astype(float)
            if not value.any():
                raise UserError(f"{sheet.name}: no {join_names([reward])} is {positive!r}, the value of --positive")
            self.notes.append(f"reward: 1 where column {quote(reward)} is {positive!r}, else 0")
        if self.failures:  # there are no items to compare with
            errors.refuse()
            return
        rows, item = self._align(errors, names, place)
        if more := len(item) - len(self.data.keys):
            further = f"{more:,} further rewards of items that have one: each of them counts"
            self.notes.append(f"{Path(sheet.name).name}: {further}")
        _refuse_equal(item, value[rows], f"{sheet.name}: all rewards are")
        self.data = self.data._replace(rewards=Rewards(item, value[rows]))

    def _align(self, errors: InputErrors, names: pa.Array, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows about items of the data, and their items; refuse other rows, and items without a row."""
        keys, sheet = self.data.keys, errors.sheet
        item_of = pc.index_in(names, value_set=keys)
        item = pc.fill_null(item_of, -1).to_numpy()[place]
        if item_of.null_count:
            row = int(np.argmax(item < 0))
            others = f"{item_of.null_count:,} of {len(names):,} are not in the data"
            first = f"{_name(names, place[row])} first"
            if self.request.ignore_unknown:
                self.notes.append(f"{Path(sheet.name).name}: {others} and are left out, {first}")
            else:
                errors.add_file(f"{others}, {first}", sheet.place(row), "drop them, or give --ignore-unknown")
        missing = ~_is_in(keys, names)
        if missing.any():
            count = f"{missing.sum():,} of {len(keys):,} items of the data are missing"
            errors.add_file(f"{count}, {_name(keys, int(missing.argmax()))} first; expected a line for each")
        rows = errors.refuse()
        rows = rows[item[rows] >= 0]
        return rows, item[rows]

    def _open(self, path: Path, wanted: Sequence[str]) -> OpenedTable:
        """Open a table whose columns may have these roles."""
        columns = self.request.columns
        named = {user_tables.normalize(columns[role]) for role in wanted if role in columns}

        def is_column(name: str) -> bool:
            return user_tables.normalize(name) in named or user_tables.is_usual(name, wanted)

        return user_tables.open_table(path, self.request.text_format, is_column)

    def _columns(self, table: OpenedTable, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, str]:
        """Find the columns of a table by role, and note what was assumed."""
        columns, assumed = user_tables.find_roles(table, self.request.columns, required, optional)
        self.notes += user_tables.note(table.name, [*table.assumed, *assumed])
        return columns

    def _read(self, table: OpenedTable, kinds: dict[str, str]) -> tuple[Sheet, InputErrors]:
        sheet = table.read(kinds)
        return sheet, InputErrors(sheet, self.request.tolerant, self.notes)


def _kinds(columns: dict[str, str]) -> dict[str, str]:
    return {name: KINDS.get(role, KEY) for role, name in columns.items()}


def _weights(errors: InputErrors, name: str) -> np.ndarray:
    """Return the weights of edges; those that are not positive are mistakes."""
    weight = errors.numbers(name)
    meaning = "a weight says how near two nodes are"
    errors.add_rows(weight < 0, lambda row: f"negative weight {weight[row]:g}; {meaning}")
    errors.add_rows(weight == 0, lambda row: "weight 0; leave out the edge")
    return weight


def _name(names: pa.Array, at: int, parts: int = 1) -> str:
    return quote(names[int(at)].as_py(), parts)


def _is_in(names: pa.Array, keys: pa.Array) -> np.ndarray:
    return pc.is_in(names, value_set=keys).to_numpy(zero_copy_only=False)


def _refuse_equal(item: np.ndarray, value: np.ndarray, complaint: str) -> None:
    """Refuse rewards if the mean is the same for all items."""
    means = np.bincount(item, value) / np.bincount(item)
    if len(means) > 1 and np.ptp(means) == 0:
        raise UserError(f"{complaint} {means[0]:g}, so that there is nothing to learn")


def _repeats(i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the loops, the edges that occurred before, and for each edge the first one between the same nodes."""
    size = max(i.max(), j.max()) + 1 if len(i) else 1
    loops = i == j
    code = np.where(loops, -1 - np.arange(len(i)), np.minimum(i, j) * size + np.maximum(i, j))
    place = encode(pa.array(code))[1]
    first = np.flatnonzero(first_rows(place))
    return loops, first[place] != np.arange(len(i)), first[place]


# Features: numbers as they are, lists of numbers side by side, categories as indicators


def _feature_matrix(errors: InputErrors, names: list[str]) -> tuple[np.ndarray, list[str]]:
    """Return a row of numbers per row of the sheet, and assumptions about columns of texts."""
    parts, assumed, indicators = [], [], []
    for name in names:
        column = errors.sheet.columns[name]
        words = str(column[0].as_py()).split() if pa.types.is_string(column.type) and len(column) else []
        if len(words) > 1 and all(map(is_number, words)):
            parts.append(_numbers_of_lists(errors, name))
        elif np.isfinite(sheets.numbers(column)).mean() < 0.5:  # a single text among numbers is a mistake
            keys, place = sheets.places(column)
            if len(keys) > CATEGORIES:
                assumed.append(f"column {quote(name)} is left out, for it holds {len(keys):,} different texts")
                continue
            _check_size(len(place), len(keys), errors.sheet.name)
            indicators.append(name)
            parts.append((place[:, None] == np.arange(len(keys))).astype(float))
        else:
            parts.append(errors.numbers(name)[:, None])
    if indicators:
        shown = join_names(map(repr, indicators))
        assumed.append(f"columns of texts as indicators, one per category: {shown}")
    if not parts:
        raise UserError(f"{errors.sheet.name}: no column of numbers or of at most {CATEGORIES:,} different texts")
    _check_size(len(parts[0]), sum(part.shape[1] for part in parts), errors.sheet.name)
    return np.hstack(parts), assumed


def _check_size(rows: int, columns: int, name: str) -> None:
    if rows * columns > MOST_FEATURES:
        raise UserError(
            f"{name}: {rows:,} × {columns:,} features are more than {MOST_FEATURES:,} numbers; take fewer columns"
        )


def _numbers_of_lists(errors: InputErrors, name: str) -> np.ndarray:
    sheet = errors.sheet
    lists = pc.split_pattern(pc.utf8_trim_whitespace(sheet.columns[name]), " ")
    sizes = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    errors.add_rows(sizes != sizes[0], lambda row: f"{sizes[row]} features; expected {sizes[0]} as above")
    rows = np.repeat(np.arange(len(sizes)), sizes)
    words = lists.flatten()
    values = sheets.numbers(words)
    errors.add_rows(~np.isfinite(values), lambda at: f"{quote_cell(name, words[at].as_py())} {FINITE}", rows=rows)
    even = sizes[rows] == sizes[0]
    numbers = np.zeros((len(sizes), sizes[0]))
    numbers[sizes == sizes[0]] = values[even].reshape(-1, sizes[0])
    return numbers
