"""Compiled functions: cached on disk, and compiled once per machine even when many jobs start at once."""

import fcntl
import functools
import inspect
import os
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba.core.caching import FunctionCache, NullCache
from numba.extending import intrinsic

Function = Callable[..., Any]  # that Numba compiles; it has no annotations

# One file a user and copy of the package: a copy that compiles keeps nobody waiting but its own jobs.
LOCK = f"graphdr-kernels-{os.getuid()}-{zlib.crc32(os.fsencode(__file__)):08x}.lock"
# Contraction lets a * b + c be one instruction; nothing else of fastmath, so that equal arms keep equal scores.
OPTIONS: Mapping[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


class _Cache(FunctionCache):
    """A cache that also watches inlined functions and fields of records; Numba's watches the kernel's file alone."""

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        records = (numba.types.NamedTuple, numba.types.NamedUniTuple)
        fields = [kind.fields for kind in sig if isinstance(kind, records)]
        return *super()._index_key(sig, codegen), *fields, *_inlined_sources(self._py_func)

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:  # around every reading and writing
        try:
            yield
        except OSError:  # a full disk, or a folder that was closed meanwhile
            _say_uncached()


def _inlined_sources(function: Function) -> Iterator[str]:
    """Yield the source of every compiled function that a function calls by name, and of those that these call."""
    for name in function.__code__.co_names:
        part = function.__globals__.get(name)
        python_function = getattr(part, "py_func", None)
        if python_function is not None:
            yield inspect.getsource(python_function)
            yield from _inlined_sources(python_function)


def _cache(function: Function) -> _Cache | NullCache:
    """Return the cache of a function, in the first folder of Numba's choice that can be written; else none."""
    try:
        return _Cache(function)
    except RuntimeError:  # no such folder
        _say_uncached()
        return NullCache()


@functools.cache  # once in a process, whatever the filters of warnings
def _say_uncached() -> None:
    problem = "no folder for compiled functions can be written: they are compiled again in every process"
    warnings.warn(f"{problem}; set NUMBA_CACHE_DIR to a folder that can", RuntimeWarning, stacklevel=2)


# Compile a part that kernels share into each of them. It must be called by its name, not as an attribute of a module:
# the cache looks for it there.
inlined = numba.njit(**OPTIONS, inline="always")
# Compile a long sum, which may then be taken in any order. It is the same order for every row, so that equal rows still
# have equal sums.
summed = numba.njit(**{**OPTIONS, "fastmath": {"contract", "reassoc"}})


@intrinsic
def prefetch(context: Any, address: Any) -> tuple[Any, Function]:
    """Ask for the memory at an address, to have it in the cache when it is needed; it changes nothing else."""

    def emit(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        pointer, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        ask = numba.core.cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_read, keep, data = (ir.Constant(flag, value) for value in (0, 3, 1))
        builder.call(ask, [builder.inttoptr(arguments[0], pointer), to_read, keep, data])
        return numba.core.cgutils.get_null_value(ir.LiteralStructType([]))

    return numba.types.void(numba.types.uintp), emit


def kernel(function: Function) -> Function:
    """Compile a function at its first call, or load it from the cache, one process at a time.

    Not for closures: cached variants of one closure share a symbol, and loading two of them runs the wrong one.
    """
    compiled = numba.njit(**OPTIONS)(function)
    compiled._cache = _cache(function)
    ready: list[list[int]] = []

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        sizes = [len(argument) for argument in arguments if type(argument) is tuple]  # all that varies in type
        if sizes not in ready:
            with _one_at_a_time():
                compiled.compile(tuple(map(numba.typeof, arguments)))
            ready.append(sizes)
        return compiled(*arguments)

    vars(call)["compiled"] = compiled
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
