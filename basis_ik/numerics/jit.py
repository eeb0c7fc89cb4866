# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The decorators that compile kernels, and the cache of their machine code.

`compiler` makes them faster by what is undocumented in numba. It is used with the versions of numba
that it was tried with. With any other, numba compiles kernels by itself, and so it does if the
environment variable `BASIS_IK_PLAIN_NUMBA` is 1: the same results, but 3.5 times as much
compilation, and solves that take up to 1.9 times as long.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import errors, event

PLAIN_NUMBA_VARIABLE = "BASIS_IK_PLAIN_NUMBA"
# Versions of numba with which `compiler` was tried.
OLDEST_TRIED, NEWEST_TRIED = (0, 58), (0, 68)


def _why_plain() -> str:
    if os.environ.get(PLAIN_NUMBA_VARIABLE, "0") not in ("", "0"):
        return f"{PLAIN_NUMBA_VARIABLE} is set"
    if not OLDEST_TRIED <= numba.version_info.short <= NEWEST_TRIED:
        return f"basis_ik does not know numba {numba.__version__}"
    return ""


WHY_PLAIN = _why_plain()
"""Why numba compiles kernels by itself; empty if `compiler` does."""
if not WHY_PLAIN:
    from basis_ik.numerics import compiler

F = TypeVar("F", bound=Callable[..., Any])

# [s] that machine code of other sources is kept after its last use.
CACHE_LIFETIME = 30 * 24 * 3600.0
CACHE_NAME = re.compile(r"basis_ik-[0-9a-f]{16}")

_kernels: list[Any] = []  # numba's dispatchers


def jit(function: F) -> F:
    """Compile a function on first use, without the GIL, and keep the machine code on disk.

    There is no fastmath: a NaN must stay visible, and the last bits of a result must not depend on
    what is compiled into what. They do depend on whether the processor multiplies and adds in one
    operation, see `lowering`. Division by zero gives inf or nan as in numpy, not an exception. If
    no cache directory is writable, the kernel is compiled once per process.

    numba takes some milliseconds for each operation, loop and array, and twenty for each function
    and each further combination of argument types. Therefore each argument of a kernel has one
    type: a constant in a call is a type of its own, and so is a slice with strides. A variable
    keeps one type, or the kernel is compiled twice, and is assigned on all paths to its use.
    Assignments of whole slices, and most functions of numpy, compile a second's worth of numba's
    own library.

    Args:
        function: A function of arrays, floats and integers.

    Returns:
        The compiled function; under ``NUMBA_DISABLE_JIT=1`` the function itself.
    """
    return _compiled(function, no_cpython_wrapper=False)


def helper(function: F) -> F:
    """Compile like `jit`, for functions that only kernels call: without an entry from Python.

    The entry unpacks each array and takes most of a small function's compilation. A helper has no
    machine code of its own, only in its callers; see `compiler`.
    """
    return _compiled(function, no_cpython_wrapper=True)


def inlined(function: F) -> F:
    """Compile like `helper`, and inline into all callers: for parts of an inner loop.

    The calls would take 3 % of a descent.
    """
    return _compiled(function, no_cpython_wrapper=True, forceinline=True)


def _compiled(function: F, *, no_cpython_wrapper: bool, forceinline: bool = False) -> F:
    code = function.__code__
    source = os.path.realpath(code.co_filename)
    kept = _kept_source(source)
    function.__code__ = code.replace(co_filename=kept)
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if not WHY_PLAIN:
        options |= compiler.COMPILER_OPTIONS
        options |= {"no_cpython_wrapper": no_cpython_wrapper, "forceinline": forceinline}
    set_before = numba.config.CACHE_DIR
    # Read when the function is wrapped. Without it, numba's cache is beside the source.
    numba.config.CACHE_DIR = _cache_directory() if kept == source else ""
    try:
        # The cache's directory does not stand for what was edited, nor for what calls it.
        kernel: Any = numba.njit(cache=not _edited, **options)(function)
    except RuntimeError as error:  # numba: "cannot cache function ...: no locator available"
        warnings.warn(f"kernel cache is off, start-up will be slow: {error}", stacklevel=3)
        kernel = numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = set_before
    if _is_kernel(kernel):
        if WHY_PLAIN:
            kernel.compile = partial(_compile_plainly, kernel.compile)
        else:
            kernel.compile = partial(_compile, kernel, kernel.compile)
            compiler.guard_files(kernel, _only_one_process, _warn)
        _kernels.append(kernel)
    return kernel  # type: ignore[no-any-return]


def _is_kernel(function: Any) -> bool:
    """Return whether a function is one of numba's; under ``NUMBA_DISABLE_JIT=1`` none is."""
    return hasattr(function, "py_func")


def _compile(kernel: Any, compile_: Callable[..., Any], signature: Any) -> Any:
    """Compile a kernel for a signature, once."""
    if isinstance(signature, tuple) and signature in kernel.overloads:
        return kernel.overloads[signature].entry_point
    with compiler.shortcuts():
        return with_large_frame(compile_, signature)


def _compile_plainly(compile_: Callable[..., Any], signature: Any) -> Any:
    """Compile a kernel by numba alone, while no other process does; see `_only_one_process`.

    A cache that cannot be read is removed, and one that cannot be written is left out: after a
    failure to save, numba already has the machine code that it is asked for again.
    """
    with _compiling:
        try:
            with _only_one_process():
                return compile_(signature)
        except errors.NumbaError:
            raise
        except OSError as error:  # the disk is full
            _warn(f"cannot be written ({error.strerror})")
        except Exception as error:
            _warn(f"is corrupt ({type(error).__name__})")
            shutil.rmtree(_cache_directory(), ignore_errors=True)
        return compile_(signature)


def with_large_frame(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with memory for the frames of all functions below it.

    Since Python 3.11, frames of Python functions are in chunks of 16 kB. A loop that calls across
    the end of a chunk maps and unmaps the next one in every iteration, which took a fifth of the
    compiler's time. This function claims a frame of half of a chunk of 8 MB; the other half is for
    the callees.
    """
    return function(*arguments)


with_large_frame.__code__ = with_large_frame.__code__.replace(co_stacksize=1 << 19)


def count_ready() -> tuple[int, int]:
    """Return the number of kernels that are compiled, alone or in a caller, and of all imported."""
    return len(ready_kernels()), len(_kernels)


def ready_kernels() -> set[str]:
    """Return the names of the kernels that are compiled, alone or in a caller."""
    open_, ready = [kernel for kernel in _kernels if kernel.overloads], set()
    while open_:
        kernel = open_.pop()
        if kernel not in ready:
            ready.add(kernel)
            open_ += _callees(kernel)
    return {f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}" for kernel in ready}


@cache
def _callees(kernel: Any) -> list[Any]:
    """Return the kernels that a kernel may call; they need not be compiled once it is."""
    function = kernel.py_func
    found = [function.__globals__.get(name) for name in function.__code__.co_names]
    found += [cell.cell_contents for cell in function.__closure__ or ()]
    return [each for each in found if _is_kernel(each)]


# The announcement -----------------------------------------------------------------------------


ANNOUNCEMENT_DELAY = 1.0  # [s] of waiting for the compiler before it is announced
COMPILATION_MESSAGE = (
    "basis_ik: compiling the solver's kernels, once; this may take a minute. "
    "`python -m basis_ik warm-up` does it ahead"
)


class _Compilations(event.Listener):  # type: ignore[misc]
    """Announces once per process that kernels are compiled and not loaded from the cache.

    Attributes:
        announce: Called at the first compilation; None: whoever waits is told on stderr.
        happened: Whether there was a compilation.
    """

    def __init__(self) -> None:
        self.announce: Callable[[], None] | None = None
        self.happened = False
        self._depth = 0  # a kernel's callees are compiled while it is
        self._began, self._waited = 0.0, 0.0
        self._timer: threading.Timer | None = None
        self._told = False

    def on_start(self, event: event.Event) -> None:
        if event.data["dispatcher"] not in _kernels:
            return
        self._depth += 1
        if not self.happened:
            self.happened = True
            if self.announce is not None:
                self.announce()
            remove_old_caches()
        if self._depth == 1 and self.announce is None and not self._told:
            self._began = time.monotonic()
            self._timer = threading.Timer(ANNOUNCEMENT_DELAY - self._waited, self._tell)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: event.Event) -> None:
        if event.data["dispatcher"] not in _kernels:
            return
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._waited += time.monotonic() - self._began

    def _tell(self) -> None:
        self._told = True
        if sys.stderr is not None:
            print(COMPILATION_MESSAGE, file=sys.stderr, flush=True)


_compilations = _Compilations()
event.register("numba:compile", _compilations)


def when_compiling(announce: Callable[[], None]) -> None:
    """Set the function that is called, instead of a line on stderr, when a kernel is compiled.

    Args:
        announce: Called at most once in a process, in the thread that compiles.
    """
    _compilations.announce = announce


# The cache --------------------------------------------------------------------------------------


def _root() -> Path:
    return Path(numba.config.CACHE_DIR or Path(__file__).parent / "__pycache__")


_compiling = threading.RLock()
_lock_depth = 0  # a kernel's callees are compiled, and saved, while it is


@contextmanager
def _only_one_process() -> Iterator[None]:
    """Keep other processes from saving into the cache.

    numba numbers a kernel's files by the content of its index. Two processes that add to the index
    at once would give one number to the machine code of two signatures.

    Raises:
        OSError: The cache cannot be written.
    """
    global _lock_depth
    with _compiling:
        if _lock_depth:
            yield
            return
        directory = Path(_cache_directory())
        directory.mkdir(parents=True, exist_ok=True)
        with (directory / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            _lock_depth += 1
            try:
                yield
            finally:
                _lock_depth -= 1


@cache
def _warn(what: str) -> None:
    """Warn of a fault of the cache, once and not for each kernel."""
    text = f"the kernel cache in {_cache_directory()} {what}: start-up will be slow"
    warnings.warn(text, stacklevel=1)


@cache
def _sources() -> dict[str, tuple[str, bytes]]:
    """Return the place in the package of each source of the kernels, and its hash, by its path."""
    here = Path(__file__).parent
    paths = sorted({*here.glob("*.py"), *here.parent.rglob("*_kernel.py")})
    return {
        os.path.realpath(path): (
            str(path.relative_to(here.parent)), hashlib.sha256(path.read_bytes()).digest()
        )
        for path in paths
    }  # fmt: skip


@cache
def _cache_directory() -> str:
    """Return the directory for the present sources of the kernels.

    numba discards a function's machine code when its own file changes, but not when a function that
    it calls does: the old callee would live on inside. numba separates processors and versions of
    numba and Python itself, but not the settings that are added here.
    """
    settings = f"{numba.config.BOUNDSCHECK} {numba.config.OPT} {bool(WHY_PLAIN)} "
    digest = hashlib.sha256(settings.encode())
    for _, hash_ in _sources().values():
        digest.update(hash_)
    return str(_root() / f"basis_ik-{digest.hexdigest()[:16]}")


_edited: list[str] = []  # sources that were edited while this process runs, before their import


@cache
def _kept_source(path: str) -> str:
    """Return the path of a source's copy in the cache, or its own if there can be none.

    numba finds machine code by the path of the source, and in older versions by the time of its
    last change, so a package that was moved or installed again would be compiled again. Beside a
    copy that belongs to the content, it finds its cache wherever the package is.
    """
    if numba.config.DISABLE_JIT or path not in _sources():
        return path
    name, hash_ = _sources()[path]
    kept = Path(_cache_directory(), name).with_suffix(".source")  # not to be taken for a module
    try:
        content = Path(path).read_bytes()
        if hashlib.sha256(content).digest() != hash_:
            _edited.append(path)
            return path
        if not kept.exists() or kept.stat().st_mtime != 0.0 or kept.read_bytes() != content:
            kept.parent.mkdir(parents=True, exist_ok=True)
            part = kept.with_name(f"{kept.name}.{os.getpid()}")
            part.write_bytes(content)
            os.utime(part, (0.0, 0.0))
            part.replace(kept)
    except OSError:  # not writable
        return path
    return str(kept)


def remove_old_caches() -> None:
    """Remove the machine code of other sources that nobody has used for a month.

    A process that compiles marks its directory as used by its time. Only directories named by
    `_cache_directory` are considered.
    """
    mine = Path(_cache_directory())
    try:
        mine.mkdir(parents=True, exist_ok=True)
        os.utime(mine)
        others = [path for path in mine.parent.iterdir() if CACHE_NAME.fullmatch(path.name)]
    except OSError:  # not writable, so nothing of ours is there
        return
    for path in others:
        try:
            unused = time.time() - path.stat().st_mtime
        except OSError:  # another process has just removed it
            continue
        if unused > CACHE_LIFETIME:
            shutil.rmtree(path, ignore_errors=True)  # refuses symbolic links
