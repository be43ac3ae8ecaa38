"""Compiled functions: cached on disk, and compiled once per machine even when many jobs start at once."""

import fcntl
import functools
import inspect
import os
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
from llvmlite import ir
from numba.core.caching import FunctionCache, NullCache
from numba.extending import intrinsic

from graphdr.core import spent

# One file a user and copy of the package: a copy that compiles keeps nobody waiting but its own jobs.
LOCK = f"graphdr-kernels-{os.getuid()}-{zlib.crc32(os.fsencode(__file__)):08x}.lock"
# Contraction lets a * b + c be one instruction; nothing else of fastmath, so that equal arms keep equal scores.
OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


class _Cache(FunctionCache):
    """A cache that forgets a kernel when an inlined function was edited; Numba's watches the kernel's file alone."""

    def _index_key(self, sig, codegen):
        function = self._py_func
        parts = (function.__globals__.get(name) for name in function.__code__.co_names)
        sources = (inspect.getsource(part.py_func) for part in parts if hasattr(part, "py_func"))
        return *super()._index_key(sig, codegen), *sources

    @contextmanager
    def _guard_against_spurious_io_errors(self):  # around every reading and writing
        try:
            yield
        except OSError:  # a full disk, or a folder that was closed meanwhile
            _say_uncached()


def _cache(function: Callable) -> _Cache | NullCache:
    """Return the cache of a function, in the first folder of Numba's choice that can be written; else none."""
    try:
        return _Cache(function)
    except RuntimeError:  # no such folder
        _say_uncached()
        return NullCache()


@functools.cache  # once in a process, whatever the filters of warnings
def _say_uncached() -> None:
    said = "no folder for compiled functions can be written: they are compiled again in every process"
    warnings.warn(f"{said}; set NUMBA_CACHE_DIR to a folder that can", RuntimeWarning, stacklevel=2)


# Compile a part that kernels share into each of them. It is called by name, from the kernel's own module.
inlined = numba.njit(**OPTIONS, inline="always")
# Compile a long sum, which may then be taken in any order. It is the same order for every row, so that equal rows still
# have equal sums.
summed = numba.njit(**OPTIONS | {"fastmath": {"contract", "reassoc"}})


@intrinsic
def prefetch(context, address):
    """Ask for the memory at an address, to have it in the cache when it is needed; it changes nothing else."""

    def emit(_, builder, __, arguments):
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        ask = numba.core.cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_read, keep, data = (ir.Constant(flag, value) for value in (0, 3, 1))
        builder.call(ask, [builder.inttoptr(arguments[0], pointer), to_read, keep, data])
        return numba.core.cgutils.get_null_value(ir.LiteralStructType([]))

    return numba.types.void(numba.types.uintp), emit


def kernel(function: Callable) -> Callable:
    """Compile a function at its first call, or load it from the cache, one process at a time.

    Not for closures: cached variants of one closure share a symbol, and loading two of them runs the wrong one.
    """
    compiled = numba.njit(**OPTIONS)(function)
    compiled._cache = _cache(function)
    ready = []

    @functools.wraps(function)
    def call(*arguments):
        sizes = [len(argument) for argument in arguments if type(argument) is tuple]  # all that varies in type
        if sizes not in ready:
            with spent.on(spent.KERNELS), _one_at_a_time():
                compiled.compile(tuple(map(numba.typeof, arguments)))
            ready.append(sizes)
        return compiled(*arguments)

    call.compiled = compiled
    return call


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Hold a lock of this user and this copy of the package: whoever waits finds the result in the cache."""
    try:
        path = Path(tempfile.gettempdir()) / LOCK
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    except OSError:  # no folder, or a link or the file of somebody else under that name: compile without the lock
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
