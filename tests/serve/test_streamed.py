"""Interactions from parquet by Dask: the graph of all in memory, whatever the files, and mistakes in one line."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphdr
from benchmarks import engines
from graphdr.graphs import from_data
from graphdr.graphs.records import Records
from graphdr.serve import streamed
from tests.support.policies import refused

dask = pytest.importorskip("dask", reason="no dask here, of the extra scale")
ITEMS, USERS = 70, 40


def interactions(rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Draw pairs with repetitions, of items up to the last."""
    rng = np.random.default_rng(seed)
    item = np.append((ITEMS * rng.random(rows - 1) ** 2).astype(np.int64), ITEMS - 1)
    return {"user": rng.integers(USERS, size=rows), "item": item, "value": rng.integers(1, 6, rows)}


def write(folder: Path, columns: dict, files: int = 3, group: int = 100) -> list[Path]:
    """Write rows to several files in row groups."""
    paths = [folder / f"{number}.parquet" for number in range(files)]
    for path, rows in zip(paths, np.array_split(np.arange(len(columns["item"])), files), strict=True):
        pq.write_table(pa.table({name: column[rows] for name, column in columns.items()}), path, row_group_size=group)
    return paths


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "value"), [("synchronous", None), ("synchronous", "value"), ("processes", "value")]
)
def test_the_graph_is_that_of_all_interactions_in_memory(workers, value, tmp_path, monkeypatch):
    columns = interactions(1000)
    given = columns | {"value": columns["value"] if value else np.ones(1000)}
    records = Records(given["user"], given["item"], given["value"], np.zeros(ITEMS))
    expected = from_data.knn.__wrapped__("all", records, neighbours=4)  # equally popular: in their order
    if workers == "synchronous":
        monkeypatch.setattr(streamed, "BUCKET", 90)  # in tasks of other processes it would not be seen
    with dask.config.set(scheduler=workers, num_workers=2):
        graph = graphdr.from_parquet(write(tmp_path, columns), value=value, neighbours=4, folder=tmp_path, blocks=3)
    assert (graph.adjacency != expected.adjacency).nnz == 0
    assert graph.adjacency.nnz > 4 * ITEMS
    assert [path.suffix for path in tmp_path.iterdir()] == [".parquet"] * 3  # nothing is left behind


def test_rows_and_columns_streamed_are_those_of_the_matrix(tmp_path, monkeypatch):
    columns, folder = interactions(500), tmp_path / "sorted"
    monkeypatch.setattr(streamed, "BUCKET", 60)
    folder.mkdir()
    with dask.config.set(scheduler="synchronous"):
        streamed.sort(write(tmp_path, columns), "user", "item", "value", folder)
    dense = np.zeros((ITEMS, columns["user"].max() + 1))
    np.add.at(dense, (columns["item"], columns["user"]), columns["value"])
    for side, expected in zip(streamed.open_matrix(folder), (dense, dense.T), strict=True):
        assert np.array_equal(side.toarray(), expected)
        assert side.data.flags.owndata is side.indices.flags.owndata is False  # mapped into memory
        assert all((np.diff(side.indices[a:b]) > 0).all() for a, b in zip(side.indptr, side.indptr[1:], strict=False))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"item": np.array(["a", "b"])}, "column 'item' is not of whole numbers from 0"),
        ({"user": np.array([1, 2**31])}, "numbers below 2³¹ - 1, not 2147483648"),
        ({"value": np.array([1.0, 0.0])}, "row group 0 has values that are not finite and positive"),
        ({"value": pa.array([1.0, None])}, "row group 0 has missing values"),
        ({"who": np.array([1, 2])}, "no column 'value'; there are: user, item, who"),
        ({"item": np.array([], int), "user": np.array([], int), "value": np.array([])}, "there are no interactions"),
    ],
)
def test_a_mistake_is_one_line(wrong, message, tmp_path):
    table = {"user": np.array([0, 1]), "item": np.array([0, 1]), "value": np.ones(2)} | wrong
    if "who" in wrong:
        del table["value"]
    pq.write_table(pa.table(table), tmp_path / "met.parquet")
    with refused(message), dask.config.set(scheduler="synchronous"):
        graphdr.from_parquet([tmp_path / "met.parquet"], value="value")


@pytest.mark.slow
def test_the_benchmark_plays_from_interactions_to_a_policy(tmp_path, monkeypatch):
    pytest.importorskip("pynndescent", reason="no pynndescent here, of the extra scale")
    monkeypatch.setattr(engines, "_workers", lambda: dask.config.set(scheduler="synchronous"))
    with dask.config.set(scheduler="synchronous"):
        figures = {step: engines.run(step, tmp_path, engines.SIZES["tiny"]) for step in engines.STEPS}
    assert figures["neighbours-exact"]["recall"] == 1.0
    assert figures["neighbours-approximate"]["recall"] >= 0.95
    assert figures["graph"]["nodes"] >= 1_400
    np.testing.assert_allclose(figures["basis-single"]["values"], figures["basis-exact"]["values"], atol=1e-5)
    assert figures["serve"]["regret"]["policy"] < 0.9 * figures["serve"]["regret"]["random"]
