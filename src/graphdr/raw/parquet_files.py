"""Parquet files of a user within bounds: the footer says how much memory a table would take, before it is read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from graphdr.core.errors import UserError, quote
from graphdr.raw import bounded, parquet_footer

if TYPE_CHECKING:
    import pyarrow.parquet as pq

VALUE = 8  # bytes that a value takes at least, however well it is packed


def opened(name: str, data: bytes) -> "pq.ParquetFile":
    """Open a parquet file, without reading a column of it."""
    import pyarrow.parquet as pq

    with _readable(name):
        file = pq.ParquetFile(pa.BufferReader(data))
        _ = file.schema_arrow.names  # which may be no text
        return file


def table(name: str, data: bytes, choose: Callable[[list[str]], list[str]] | None = None) -> pa.Table:
    """Read a parquet file, or those of its columns that are chosen by their names.

    Texts are read as places in a list of different ones, as they are packed: many copies of a long one are counted
    before they are made.
    """
    import pyarrow.parquet as pq

    plain = opened(name, data)
    names = plain.schema_arrow.names
    columns = choose(names) if choose else names
    with _readable(name):
        claimed = _claimed(plain, parquet_footer.chunks(data), columns)
    bounded.require(name, claimed, len(data), "its table")
    texts = [field.name for field in plain.schema_arrow if _is_text(field.type) and names.count(field.name) == 1]
    with _readable(name):
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
        read = file.read(columns=columns if choose else None)
        read.validate(full=True)
    for column in read.columns:
        if pa.types.is_dictionary(column.type) and _is_text(column.type.value_type):
            bounded.require(name, _length(column), len(data), "the texts of a column")
    fields = map(plain.schema_arrow.field, read.column_names if choose else range(len(names)))
    with _readable(name):
        return read.cast(pa.schema(fields))


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn what damaged files raise into one line."""
    try:
        yield
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{name}: not a readable parquet file ({quote(reason)})") from None


def _claimed(file: "pq.ParquetFile", groups: list[list[parquet_footer.Chunk]], columns: list[str]) -> int:
    """Return the bytes of memory that columns will take, by the footer."""
    total = 0
    wanted = set(columns)
    leaves = list(map(file.schema.column, range(file.metadata.num_columns)))
    if any(len(group) != len(leaves) for group in groups):
        raise ValueError("a row group with another number of columns")
    for place, leaf in enumerate(leaves):
        if any(path in wanted for path in accumulate(leaf.path.split("."), "{}.{}".format)):
            width = max(VALUE, leaf.length or 0)
            for rows, values, unpacked in (group[place] for group in groups):
                total += max(unpacked, 0) + width * max(rows, values, 0)
    return total


def _is_text(kind: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(test(kind) for test in tests)


def _length(column: pa.ChunkedArray) -> int:
    """Return the bytes of all texts of a column of places."""
    sizes = (pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks)
    return sum(pc.sum(size.cast(pa.int64())).as_py() or 0 for size in sizes)
