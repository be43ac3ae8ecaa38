"""Parquet files of a user within bounds: the footer says how much memory a table would take, before it is read."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from graphdr.raw import bounded

VALUE = 8  # bytes that a value takes at least, however well it is packed


def table(name: str, data: bytes, choose: Callable[[list[str]], list[str]] | None = None) -> pa.Table:
    """Read a parquet file, or those of its columns that are chosen by their names.

    Texts are read as places in a list of different ones, as they are packed: many copies of a long one are counted
    before they are made.
    """
    import pyarrow.parquet as pq

    plain = pq.ParquetFile(pa.BufferReader(data))
    names = plain.schema_arrow.names
    columns = choose(names) if choose else names
    bounded.require(name, _claimed(plain, columns), len(data), "its table")
    texts = [field.name for field in plain.schema_arrow if _is_text(field.type) and names.count(field.name) == 1]
    file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
    read = file.read(columns=columns if choose else None)
    read.validate(full=True)
    for column in read.columns:
        if pa.types.is_dictionary(column.type) and _is_text(column.type.value_type):
            bounded.require(name, _length(column), len(data), "the texts of a column")
    fields = map(plain.schema_arrow.field, read.column_names if choose else range(len(names)))
    return read.cast(pa.schema(fields))


def _claimed(file, columns: list[str]) -> int:
    """Return the bytes of memory that columns will take, by the footer."""
    total, footer = 0, file.metadata
    for place, leaf in enumerate(map(file.schema.column, range(footer.num_columns))):
        if any(leaf.path == column or leaf.path.startswith(f"{column}.") for column in columns):
            for group in range(footer.num_row_groups):
                part = footer.row_group(group).column(place)
                width = max(VALUE, leaf.length or 0)
                total += max(part.total_uncompressed_size, 0) + width * max(part.num_values, 0)
    return total


def _is_text(kind: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(test(kind) for test in tests)


def _length(column: pa.ChunkedArray) -> int:
    """Return the bytes of all texts of a column of places."""
    sizes = (pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks)
    return sum(pc.sum(size.cast(pa.int64())).as_py() or 0 for size in sizes)
