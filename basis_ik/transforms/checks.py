# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Checks of the transform layer's input: finite, float64, C-contiguous, of the right shape."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray, as_reals

_Array = TypeVar("_Array", bound=npt.NDArray[Any])


class TransformError(BasisIkError, ValueError):
    """Base class of the transform layer's errors."""


class ShapeError(TransformError):
    """An array has the wrong shape, or is not an array of real numbers."""

    def __init__(self, name: str, expected: str, actual: object) -> None:
        super().__init__(f"{name} must be real numbers of shape {expected}, got {actual}")
        self.name = name
        self.expected = expected
        self.actual = actual


class NotFiniteError(TransformError):
    """A number is NaN or infinite."""

    def __init__(self, name: str, value: object) -> None:
        super().__init__(f"{name} must be finite, got {value}")
        self.name = name
        self.value = value


class NotARotationError(TransformError):
    """A 3×3 matrix is not orthonormal, or reflects."""

    def __init__(self, deviation: float, determinant: float) -> None:
        remedy = "reflects or collapses" if not determinant > 0.0 else "is not orthonormal"
        super().__init__(
            f"rotation matrix {remedy}: max |RᵀR − I| = {deviation:.3g}, det R = {determinant:.6g}"
        )
        self.deviation = deviation
        self.determinant = determinant


class NotHomogeneousError(TransformError):
    """The last row of a 4×4 matrix is not (0, 0, 0, 1)."""

    def __init__(self, row: FloatArray) -> None:
        super().__init__(f"last row of a transform must be 0 0 0 1, got {row}")
        self.row = row


class QuaternionError(TransformError):
    """A quaternion is not of unit length."""

    def __init__(self, norm: float) -> None:
        super().__init__(f"quaternion must have length 1, got {norm:.6g}")
        self.norm = norm


class ZeroLengthError(TransformError):
    """A direction has no length."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} must have a length above zero")
        self.name = name


def real_array(name: str, value: npt.ArrayLike) -> FloatArray:
    """Copy a value into a fresh C-contiguous float64 array.

    Args:
        name: Its name in errors.
        value: Numbers, of any shape.

    Returns:
        The copy, writable.

    Raises:
        ShapeError: It is not an array of real numbers.
    """
    array = as_reals(value)
    if array is None:
        raise ShapeError(name, "(...)", type(value).__name__)
    return array


def finite_array(name: str, value: npt.ArrayLike, *shape: int) -> FloatArray:
    """Copy a value into a fresh C-contiguous float64 array of a given shape, all finite.

    Args:
        name: Its name in errors.
        value: Numbers.
        *shape: The required shape.

    Returns:
        The copy, writable.

    Raises:
        ShapeError: It has another shape, or is not an array of real numbers.
        NotFiniteError: An element is NaN or infinite.
    """
    array = real_array(name, value)
    if array.shape != shape:
        raise ShapeError(name, str(shape), array.shape)
    if not np.isfinite(array).all():
        raise NotFiniteError(name, array.tolist())
    return array


def unit_vector(name: str, value: npt.ArrayLike) -> FloatArray:
    """Return a direction as a unit vector.

    Args:
        name: What to call it in an error.
        value: Direction, shape (3,), of any finite positive length.

    Returns:
        The unit vector, shape (3,), writable.

    Raises:
        ShapeError: It has another shape.
        NotFiniteError: An element is NaN or infinite.
        ZeroLengthError: It has no length.
    """
    vector = finite_array(name, value, 3)
    largest = float(np.abs(vector).max())
    if largest == 0.0:
        raise ZeroLengthError(name)
    vector /= largest  # so that neither 1e200 nor 1e-200 leaves the range when squared
    vector /= math.sqrt(float(vector.dot(vector)))
    return vector


def read_only(array: _Array) -> _Array:
    """Return a view of an array that cannot be written through."""
    view = array.view()
    view.setflags(write=False)
    return view
