"""Columns of a user: found by node in any order, and every mistake in the file is one line."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphdr.core.errors import UserError
from graphdr.store.datasets import read_user_columns

RIGHT = "a column 'node' and columns of numbers are needed, with one row for every node"


def write(columns: dict) -> str:
    pq.write_table(pa.table(columns), "mine.parquet")
    return "mine.parquet"


def test_columns_are_found_by_node_whatever_the_order(workdir):
    path = write({"b": [1.5, 2.5, 3.5], "node": ["y", "x", "other"], "a": [1, 2, 3]})
    first, second = read_user_columns(path, [["x", "y"], ["y"]])
    assert np.array_equal(first, [[2.5, 2], [1.5, 1]])
    assert np.array_equal(second, [[1.5, 1]])


def test_nodes_of_a_random_graph_are_numbers(workdir):
    (columns,) = read_user_columns(write({"node": [2, 0, 1], "a": [20.0, 0.0, 10.0]}), [["0", "1", "2"]])
    assert columns[:, 0].tolist() == [0, 10, 20]


@pytest.mark.parametrize(
    ("columns", "wrong"),
    [
        ({"item": ["x"], "a": [1]}, "its columns are item, a"),
        ({"node": ["x"]}, "its columns are node"),
        ({"node": ["x"], "a": ["one"]}, "column 'a' has the type string, not numbers"),
        ({"node": ["x", "y"], "a": [1, 2]}, "1 of 2 nodes have no row, the first is 'z'; the file begins with 'x'"),
        ({"node": ["x", "x", "z"], "a": [1, 2, 3]}, "node 'x' has more than one row"),
        ({"node": ["x", None, "z"], "a": [1, 2, 3]}, "a row has no node"),
        ({"node": ["x", "z"], "a": [1, 2], "b": [1, None]}, "column 'b' has no finite number for node 'z'"),
        ({"node": ["x", "z"], "a": [np.inf, 2]}, "column 'a' has no finite number for node 'x'"),
        (
            {"node": pa.nulls(0, pa.string()), "a": pa.nulls(0, pa.int64())},
            "2 of 2 nodes have no row, the first is 'x'",
        ),
    ],
)
def test_a_mistake_is_one_line_that_says_what_would_be_right(columns, wrong, workdir):
    with pytest.raises(UserError) as caught:
        read_user_columns(write(columns), [["x", "z"]])
    assert str(caught.value) == f"user_columns: mine.parquet: {wrong}; {RIGHT}"


def test_a_file_that_is_not_there_or_not_parquet_is_one_line(workdir):
    (workdir / "text.parquet").write_text("node,a")
    for path in ("none.parquet", "text.parquet"):
        message = rf"^user_columns: {path}: it cannot be read as a parquet file \(.*\); a column"
        with pytest.raises(UserError, match=message):
            read_user_columns(path, [["x"]])
