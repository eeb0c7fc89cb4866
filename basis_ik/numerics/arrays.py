# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Arrays of real numbers: their type, and the door through which all of them come in."""

from __future__ import annotations

from types import NoneType

import numpy as np
from numpy.typing import NDArray

from basis_ik.errors import SolveArgumentError

NUMBERS = "fiuUS"  # kinds of arrays that hold real numbers, or their texts
FloatArray = NDArray[np.float64]


class ByValue:
    """A base of dataclasses that are equal if their values are, arrays among them."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and is_same(
            tuple(vars(self).values()), tuple(vars(other).values())
        )

    __hash__ = None  # type: ignore[assignment]


def is_same(one: object, other: object) -> bool:
    """Return whether values are equal; of arrays, and of what is in tuples, all have to be."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)  # type: ignore[arg-type]
    return bool(one == other)


def as_reals(values: object) -> FloatArray | None:
    """Return a fresh C-contiguous copy of real numbers, of any shape; None where these are none."""
    try:
        array = np.array(values, order="C")
        kind = array.dtype.kind
        if kind in NUMBERS or (kind == "O" and _are_real(array)):
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        pass
    return None


def _are_real(objects: NDArray[np.object_]) -> bool:
    """Return whether objects are no stand-ins for numbers: numpy takes None for NaN."""
    return not any(isinstance(each, (NoneType, bool, complex)) for each in objects.flat)


def as_numbers(argument: str, values: object, count: int, required: str) -> FloatArray:
    """Return so many numbers as an array (count,), which may hold NaN and infinities.

    Args:
        argument: Its name, for the error.
        values: The numbers.
        count: How many.
        required: What they must be, for the error.

    Raises:
        SolveArgumentError: These are not so many numbers.
    """
    array = as_reals(values)
    if array is None or array.shape != (count,):
        raise SolveArgumentError(argument, values, required)
    return array


def as_three(argument: str, values: object, largest: float) -> FloatArray:
    """Return three finite numbers as an array (3,), none larger than a bound in size.

    Raises:
        SolveArgumentError: These are not such numbers.
    """
    required = f"three numbers within ±{largest:g}"
    array = as_numbers(argument, values, 3, required)
    if not (np.abs(array) <= largest).all():
        raise SolveArgumentError(argument, values, required)
    return array


def as_number(argument: str, value: object, required: str) -> float:
    """Return a number, which may be NaN or infinite, as a float.

    Raises:
        SolveArgumentError: It is none.
    """
    array = as_reals(value)
    if array is None or array.ndim > 0:
        raise SolveArgumentError(argument, value, required)
    return float(array)


def as_length(argument: str, value: object, largest: float) -> float:
    """Return a length above 0 and up to a bound as a float [m].

    Raises:
        SolveArgumentError: It is not such a length.
    """
    if not (isinstance(value, (float, int, np.floating)) and 0.0 < value <= largest):
        raise SolveArgumentError(argument, value, f"a length above 0, up to {largest:g} m")
    return float(value)
