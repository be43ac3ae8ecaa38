"""Kernels are compiled once per machine, and again after an edit of what they are made of."""

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


def printed(code: str, *arguments: str, folder=None, **variables: object) -> str:
    """Run code in a process with some variables of its environment; return what it prints."""
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_a_cold_cache_is_filled_once_by_jobs_that_start_together(tmp_path):
    with ThreadPoolExecutor(3) as threads:
        jobs = [threads.submit(printed, RUN, NUMBA_CACHE_DIR=tmp_path, TMPDIR=tmp_path) for _ in range(3)]
        assert sorted(int(job.result()) for job in jobs) == [0, 0, 1]


@pytest.mark.slow
def test_kernels_compiled_for_several_sizes_live_together(tmp_path):
    """One process that loads what others compiled plays the same as one that compiles all itself."""
    for size in ("2", "9"):
        printed(SIZES, size, NUMBA_CACHE_DIR=tmp_path / "shared")
    first, second = (printed(SIZES, "9", "2", "9", NUMBA_CACHE_DIR=tmp_path / name) for name in ("shared", "empty"))
    assert first == second


KERNEL = """
from graphdr.core.compiled import kernel
from part import Point, step

@kernel
def twice(point):
    return step(step(point.x))

print(twice(Point(x=1.0, y=7.0)), sum(twice.compiled.stats.cache_misses.values()))
"""
PART = """
from typing import NamedTuple
from graphdr.core.compiled import inlined

class Point(NamedTuple):
    {fields}

@inlined
def add(x):
    return x + {term}

@inlined
def step(x):
    return add(x)
"""


@pytest.mark.slow
def test_an_edit_of_an_inlined_function_or_a_record_reaches_the_kernels_that_were_cached_with_it(tmp_path):
    (tmp_path / "whole.py").write_text(KERNEL)

    def play(term, fields="x: float; y: float"):
        (tmp_path / "part.py").write_text(PART.format(term=term, fields=fields))
        return printed("import whole", folder=tmp_path).split()

    assert [play(term) for term in (1, 1, 50)] == [["3.0", "1"], ["3.0", "0"], ["101.0", "1"]]
    assert play(50, "y: float; x: float") == ["101.0", "1"]


def half(x):
    return x / 2


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def none(*_, **__):
    raise FileNotFoundError("No usable temporary directory found")


def test_where_no_folder_can_be_written_kernels_are_compiled_without_a_cache_and_that_is_said_once(monkeypatch):
    compiled._say_uncached.cache_clear()
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])  # as if none of Numba's folders could be
    monkeypatch.setattr(tempfile, "gettempdir", none)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [compiled.kernel(half)(3.0) for _ in range(2)] == [1.5, 1.5]
    assert [str(warning.message).count("NUMBA_CACHE_DIR") for warning in caught] == [1]


def test_a_disk_that_is_full_by_now_fails_no_kernel(monkeypatch, tmp_path):
    compiled._say_uncached.cache_clear()
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    kernel = compiled.kernel(half)
    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        assert kernel(3.0) == 1.5
    monkeypatch.undo()
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    assert compiled.kernel(half)(3.0) == 1.5
    assert list(tmp_path.rglob("*.nbc"))
