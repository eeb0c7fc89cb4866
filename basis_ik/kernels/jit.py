"""The one place where kernels meet the compiler."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile `function` on first use, without the GIL, and keep the machine code on disk.

    No fastmath: a NaN must stay visible, and what is compiled into what must not show in the last
    bits of a result. (Contracting a*b + c would make a descent a fifth faster, and a solve end on
    other bits when another kernel calls it.) Division by zero gives inf or nan as numpy does, not
    an exception. Where no cache directory can be written the kernel still compiles, once per
    process.

    Args:
        function: A function of arrays, floats and integers.

    Returns:
        The compiled function; under ``NUMBA_DISABLE_JIT=1`` the function itself.
    """
    return _compiled(function, inline="never")


def inlined(function: F) -> F:
    """Compile like `jit`, and dissolve the function in its callers.

    A call costs tens of nanoseconds when it hands over arrays, as much as the work between two.
    """
    return _compiled(function, inline="always")


def _compiled(function: F, inline: str) -> F:
    # Installed by symbolic links the package has two paths, and numba keeps a cache for each.
    code = function.__code__
    function.__code__ = code.replace(co_filename=os.path.realpath(code.co_filename))
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "inline": inline}
    set_before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _cache_directory()  # read when the function is wrapped
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError as error:  # numba: "cannot cache function ...: no locator available"
        warnings.warn(f"kernel cache is off, start-up will be slow: {error}", stacklevel=3)
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = set_before


@cache
def _cache_directory() -> str:
    """Return a directory that belongs to the kernels' present text.

    Numba drops what it cached of a function when that function's own file changes, not when one
    that it calls does: the machine code of the old callee would live on inside.
    """
    here = Path(__file__).parent
    text = b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))
    root = Path(numba.config.CACHE_DIR or here / "__pycache__")
    return str(root / hashlib.sha256(text).hexdigest()[:16])
