"""Parquet files of a user: a damaged footer is one line, and never ends the process."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphdr.core.errors import UserError
from graphdr.raw import parquet_files

COLUMNS = {"item": [1, 2, None], "user": ["a", "b", None], "tags": [["x"], [], ["y", "z"]]}


def written(columns: dict = COLUMNS, **options) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, **options)
    return stream.getvalue()


@pytest.mark.parametrize("options", [{}, {"row_group_size": 2}, {"use_dictionary": False, "compression": "none"}])
def test_the_footer_says_what_arrow_says(options):
    data = written(**options)
    footer = pq.ParquetFile(io.BytesIO(data)).metadata
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    parts = [[group.column(at) for at in range(footer.num_columns)] for group in groups]
    assert parquet_files.chunks(data) == [
        [(group.num_rows, part.num_values, part.total_uncompressed_size) for part in row]
        for group, row in zip(groups, parts, strict=True)
    ]


@pytest.mark.parametrize("byte", [0, 1, 0x2C, 0xFF])
def test_any_byte_of_a_footer_may_be_wrong(byte):
    """A zero turns a column that may have no values into one that must, whose histograms end Arrow."""
    data = written(store_schema=False)
    size = int.from_bytes(data[-8:-4], "little")
    for at in range(len(data) - 8 - size, len(data)):
        damaged = data[:at] + bytes([byte]) + data[at + 1 :]
        try:
            parquet_files.table("x", damaged, ["item"])
        except UserError as error:
            assert "\n" not in str(error)
            assert str(error).startswith("x: ")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PAR1",
        b"PAR1\0\0\0\0PAR1",
        b"PAR1" + b"\x19" * 100 + (100).to_bytes(4, "little") + b"PAR1",
        b"PAR1" + b"\x1c" * 10_000 + (10_000).to_bytes(4, "little") + b"PAR1",
        b"PAR1" + b"\x49\xfc\xff\xff\xff\x0f" + (6).to_bytes(4, "little") + b"PAR1",
        b"PAR1\xff\xff\xff\x7fPAR1",
    ],
)
def test_no_footer_is_read_beyond_its_end(data):
    with pytest.raises(ValueError, match="footer"):
        parquet_files.chunks(data)


def test_rows_that_a_group_claims_are_counted():
    data = written({"item": list(range(100))}, compression="none")
    assert [[rows for rows, _, _ in group] for group in parquet_files.chunks(data)] == [[100]]
    with pytest.raises(UserError, match="x: its table would take"):
        parquet_files.table("x", written({"item": np.zeros(9_000_000, np.int8)}, write_statistics=False), ["item"])
