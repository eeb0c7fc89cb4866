"""The compiler setting of the innermost solver loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def contracted(function: F) -> F:
    """Compile like `jit`, and let a*b + c become one instruction.

    That is the only liberty taken: a fused product is rounded once instead of twice, NaN and
    infinity behave as ever. It is worth a fifth of the time of a descent.
    """
    return _compile(function, inline="never")


def inlined(function: F) -> F:
    """Compile like `contracted`, and dissolve the function in its callers.

    A call costs tens of nanoseconds when it hands over arrays, as much as the work between two.
    """
    return _compile(function, inline="always")


def _compile(function: F, inline: str) -> F:
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"contract"},
        "inline": inline,
    }
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no cache directory can be written; `jit` has warned of it already
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
