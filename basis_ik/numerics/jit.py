# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The one place where kernels meet the compiler."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.dispatcher import Dispatcher

# The versions of numba whose insides `compiler` was tried with; others compile all by themselves.
OLDEST_TRIED, NEWEST_TRIED = (0, 58), (0, 68)
TRIED: bool = OLDEST_TRIED <= numba.version_info.short <= NEWEST_TRIED
if TRIED:
    from basis_ik.numerics.compiler import KernelCompiler, spared

F = TypeVar("F", bound=Callable[..., Any])

KEPT_FOR = 30 * 24 * 3600.0  # s that machine code of other text is kept after its last use
OURS = re.compile(r"basis_ik-[0-9a-f]{16}")

_kernels: list[Dispatcher] = []


def jit(function: F) -> F:
    """Compile `function` on first use, without the GIL, and keep the machine code on disk.

    No fastmath: a NaN must stay visible, and what is compiled into what must not show in the last
    bits of a result. (Contracting a*b + c would make a descent a fifth faster, and a solve end on
    other bits when another kernel calls it.) Division by zero gives inf or nan as numpy does, not
    an exception. Where no cache directory can be written the kernel still compiles, once per
    process.

    numba takes some milliseconds for each operation, loop and array that it compiles, and twenty
    for each function and each further combination of argument types. Kernels are therefore written
    with one type for each argument: a constant in a call is a type of its own to numba, and so is
    a slice with strides. A variable keeps one type, or the kernel is compiled twice, and is set on
    every way to where it is used. Assignments of whole slices, and most of numpy's functions, bring
    in a second's worth of numba's own library.

    Args:
        function: A function of arrays, floats and integers.

    Returns:
        The compiled function; under ``NUMBA_DISABLE_JIT=1`` the function itself.
    """
    return _compiled(function, no_cpython_wrapper=False)


def helper(function: F) -> F:
    """Compile a function that only kernels call like `jit`, but without an entry for Python.

    That entry takes every array apart, and costs most of a small function's compilation. The
    function has no machine code of its own, only that within its callers (see `compiler`).
    """
    return _compiled(function, no_cpython_wrapper=True)


def inlined(function: F) -> F:
    """Compile a piece of an inner loop like `helper`, and always into its callers.

    A function that exists for readers alone then costs no call, which is 3 % of a descent's time.
    """
    return _compiled(function, no_cpython_wrapper=True, forceinline=True)


def _compiled(function: F, *, no_cpython_wrapper: bool, forceinline: bool = False) -> F:
    # Installed by symbolic links the package has two paths, and numba keeps a cache for each.
    code = function.__code__
    function.__code__ = code.replace(co_filename=os.path.realpath(code.co_filename))
    # No rewrites: they look for expressions of whole arrays, of which kernels have none.
    options: dict[str, Any] = {
        "nogil": True, "error_model": "numpy", "no_rewrites": True,
        "no_cfunc_wrapper": True, "no_cpython_wrapper": no_cpython_wrapper,
        "forceinline": forceinline,
    }  # fmt: skip
    if TRIED:
        options["pipeline_class"] = KernelCompiler
    set_before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _cache_directory()  # read when the function is wrapped
    try:
        kernel = numba.njit(cache=True, **options)(function)
    except RuntimeError as error:  # numba: "cannot cache function ...: no locator available"
        warnings.warn(f"kernel cache is off, start-up will be slow: {error}", stacklevel=3)
        kernel = numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = set_before
    if isinstance(kernel, Dispatcher):
        kernel.compile = partial(_compile, kernel, kernel.compile)  # type: ignore[method-assign]
        files: Any = kernel._cache  # type: ignore[attr-defined]
        if files.cache_path is not None:
            files.load_overload = partial(_load, files, files.load_overload)
            files.save_overload = partial(_save_alone, files.save_overload)
        _kernels.append(kernel)
    return kernel  # type: ignore[no-any-return]


def _compile(kernel: Dispatcher, compile_: Callable[..., Any], signature: Any) -> Any:
    """Compile a kernel for some types of arguments, once."""
    if isinstance(signature, tuple) and signature in kernel.overloads:
        return kernel.overloads[signature].entry_point
    with spared() if TRIED else nullcontext():
        return with_room(compile_, signature)


def with_room(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with room for the frames of all that it calls.

    Since Python 3.11 the frames of Python functions lie in chunks of 16 kB. A loop that calls
    across the end of one has the next chunk mapped and unmapped in every turn, and the compiler,
    which is deep and made of loops, spent a fifth of its time so. This function claims a frame of
    half of a chunk of 8 MB; the other half is for what it calls.
    """
    return function(*arguments)


with_room.__code__ = with_room.__code__.replace(co_stacksize=1 << 19)


def count_ready() -> tuple[int, int]:
    """Count the kernels that are compiled, or part of one that is, and all that are imported."""
    return len(ready_kernels()), len(_kernels)


def ready_kernels() -> set[str]:
    """Return the names of the kernels that are compiled, or part of one that is."""
    open_, ready = [kernel for kernel in _kernels if kernel.overloads], set()
    while open_:
        kernel = open_.pop()
        if kernel not in ready:
            ready.add(kernel)
            open_ += _callees(kernel)
    return {f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}" for kernel in ready}


@cache
def _callees(kernel: Dispatcher) -> list[Dispatcher]:
    """Return the kernels that a kernel may call."""
    function = kernel.py_func
    found = (function.__globals__.get(name) for name in function.__code__.co_names)
    return [each for each in found if isinstance(each, Dispatcher)]


# What is compiled -------------------------------------------------------------------------------


def _announce_on_terminal() -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        print("basis_ik: compiling the solver's kernels, once; some seconds", file=sys.stderr)


class _FirstCompilation(event.Listener):  # type: ignore[misc]
    """Tells once in a process that a kernel is really compiled, and not fetched from the cache."""

    announce: Callable[[], None] = staticmethod(_announce_on_terminal)
    happened = False

    def on_start(self, event: event.Event) -> None:
        if self.happened or event.data["dispatcher"] not in _kernels:
            return
        self.happened = True
        self.announce()
        remove_old_caches()

    def on_end(self, event: event.Event) -> None:
        pass


_first_compilation = _FirstCompilation()
event.register("numba:compile", _first_compilation)


def when_compiling(announce: Callable[[], None]) -> None:
    """Say who is told, instead of the terminal, when a kernel is really compiled.

    Args:
        announce: Is called once at most in a process, in the thread that compiles.
    """
    _first_compilation.announce = announce


# Where it is kept -------------------------------------------------------------------------------


def _root() -> Path:
    return Path(numba.config.CACHE_DIR or Path(__file__).parent / "__pycache__")


def _load(files: Any, load: Callable[[Any, Any], Any], signature: Any, context: Any) -> Any:
    """Fetch a kernel from the cache; a corrupt file counts as missing.

    A machine that lost its power leaves files that are empty or cut off, and numba raises any error
    of unpickling them. The index is emptied, because numba reads it again before it saves.
    """
    try:
        return load(signature, context)
    except Exception as error:
        _warn(f"is corrupt ({type(error).__name__})")
    with suppress(OSError):
        files.flush()
    return None


def _save_alone(save: Callable[[Any, Any], None], signature: Any, result: Any) -> None:
    """Write into the cache while no other process does; where that fails, do without.

    Numba numbers a kernel's files by what its index holds: two processes that add to the index at
    once would give the same number to the machine code of different types of arguments.
    """
    directory = Path(_cache_directory())
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with (directory / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            save(signature, result)
    except OSError as error:  # the disk is full
        _warn(f"cannot be written ({error.strerror})")


@cache
def _warn(what: str) -> None:
    """Warn of a fault of the cache, once and not for each kernel."""
    text = f"the kernel cache in {_cache_directory()} {what}: start-up will be slow"
    warnings.warn(text, stacklevel=1)


@cache
def _cache_directory() -> str:
    """Return a directory that belongs to the kernels' present text.

    Numba drops its cache of a function when the function's own file changes, but not when that of a
    callee does, whose old machine code would live on inside. Numba does tell apart processors and
    versions of numba and Python, but not the settings that are added here.
    """
    digest = hashlib.sha256(f"{numba.config.BOUNDSCHECK} {numba.config.OPT} ".encode())
    here = Path(__file__).parent
    for path in sorted({*here.glob("*.py"), *here.parent.glob("*/*_kernel.py")}):
        digest.update(path.read_bytes())
    return str(_root() / f"basis_ik-{digest.hexdigest()[:16]}")


def remove_old_caches() -> None:
    """Remove machine code of older kernels that nobody has used for a month.

    A process that compiles marks its directory as used by the directory's time. Only directories
    that `_cache_directory` has named are considered.
    """
    mine = Path(_cache_directory())
    try:
        mine.mkdir(parents=True, exist_ok=True)
        os.utime(mine)
        others = [path for path in mine.parent.iterdir() if OURS.fullmatch(path.name)]
    except OSError:  # the place cannot be written: there is nothing of ours
        return
    for path in others:
        try:
            unused = time.time() - path.stat().st_mtime
        except OSError:  # somebody else has just removed it
            continue
        if unused > KEPT_FOR:
            shutil.rmtree(path, ignore_errors=True)  # which refuses symbolic links
