"""The one place where kernels meet the compiler."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile `function` on first use, without the GIL, and keep the machine code on disk.

    No fastmath: a NaN must stay visible. Division by zero gives inf or nan as numpy does, not an
    exception. Where no cache directory can be written the kernel still compiles, once per process.

    Args:
        function: A function of arrays, floats and integers.

    Returns:
        The compiled function; under ``NUMBA_DISABLE_JIT=1`` the function itself.
    """
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]
    except RuntimeError as error:  # numba: "cannot cache function ...: no locator available"
        warnings.warn(f"kernel cache is off, start-up will be slow: {error}", stacklevel=2)
        return numba.njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]
