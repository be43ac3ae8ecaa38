"""Kernels are compiled once per machine, and reading and writing needs no pandas."""

import errno
import os
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from numba.core import caching

from graphdr.core import compiled

RUN = """
import numpy as np
from graphdr.bandit import linucb
linucb.one_hot(1.0, np.ones(3), np.zeros((2, 2), np.uint32), np.zeros(2), np.ones(2))
print(sum(linucb._one_hot.compiled.stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_a_cold_cache_is_filled_once_by_jobs_that_start_together(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}

    def job(_):
        done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True)
        return int(done.stdout)

    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(job, range(3))) == [0, 0, 1]


SIZES = """
import sys
import numpy as np
from graphdr.bandit import residuals
rng = np.random.default_rng(0)
arms = rng.integers(12, size=50, dtype=np.uint32)
for k in map(int, sys.argv[1:]):
    features, residual = rng.standard_normal((12, k)), rng.standard_normal(12)
    print(*residuals.residual_leverage(features, np.eye(k), arms, residual, 10)[0])
"""


@pytest.mark.slow
def test_kernels_compiled_for_several_sizes_live_together(tmp_path):
    """One process that loads what others compiled plays the same as one that compiles all itself."""

    def play(folder, *sizes):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / folder)}
        command = [sys.executable, "-c", SIZES, *sizes]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    for size in ("2", "9"):
        play("shared", size)
    assert play("shared", "9", "2", "9") == play("own", "9", "2", "9")


def test_reading_and_writing_does_not_import_pandas(tmp_path):
    code = """
import sys
import numpy as np
from graphdr.cache import io
from graphdr.panels.items import read_items
from graphdr.panels.problems import read_thetas
columns = {"problem": np.array(["a", "a"]), "instance": np.zeros(2, int), "node": np.arange(2), "theta": np.ones(2)}
io.write("theta", columns, "t.parquet")
ones, gaps = np.ones(2), np.array([np.nan, 3.0])
nodes = {"instance": ones, "node": ones, "origin": ones, "item": ones, "popularity": ones, "reward": gaps}
io.write("nodes", nodes, "n.parquet")
(items,) = read_items("n.parquet")
print(read_thetas("t.parquet")["a", 0].sum(), *items.reward, "pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2.0", "nan", "3.0", "False"]


@pytest.mark.slow
def test_an_edit_of_an_inlined_function_reaches_the_kernels_that_were_cached_with_it(tmp_path):
    imports = "from graphdr.core.compiled import kernel\nfrom part import step\n\n"
    (tmp_path / "whole.py").write_text(imports + "@kernel\ndef twice(x):\n    return step(step(x))\n")
    code = "from whole import twice; print(twice(1.0), sum(twice.compiled.stats.cache_misses.values()))"

    def play(term):
        source = f"from graphdr.core.compiled import inlined\n\n@inlined\ndef step(x):\n    return x + {term}\n"
        (tmp_path / "part.py").write_text(source)
        return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert [play(term).stdout.split() for term in (1, 1, 50)] == [["3.0", "1"], ["3.0", "0"], ["101.0", "1"]]


def half(x):
    return x / 2


@pytest.fixture
def first():
    """Have what is said once be said once more."""
    compiled._say_uncached.cache_clear()
    yield
    compiled._say_uncached.cache_clear()


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def none(*_, **__):
    raise FileNotFoundError("No usable temporary directory found")


def test_where_no_folder_can_be_written_kernels_are_compiled_without_a_cache_and_that_is_said_once(monkeypatch, first):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])  # as if none of Numba's folders could be
    monkeypatch.setattr(tempfile, "gettempdir", none)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert [compiled.kernel(half)(3.0) for _ in range(2)] == [1.5, 1.5]
    assert [str(warning.message).count("NUMBA_CACHE_DIR") for warning in said] == [1]


def test_a_disk_that_is_full_by_now_fails_no_kernel(monkeypatch, first, tmp_path):
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    kernel = compiled.kernel(half)
    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        assert kernel(3.0) == 1.5
    monkeypatch.undo()
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    assert compiled.kernel(half)(3.0) == 1.5
    assert list(tmp_path.rglob("*.nbc"))
