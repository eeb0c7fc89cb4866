# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Results and errors of FABRIK, and the checks of its arguments."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray, is_same
from basis_ik.transforms.checks import NotFiniteError, ShapeError, real_array
from basis_ik.verdict import Verdict

# Beyond this coordinate [m] squares of squares leave the range of float64.
_LARGEST_COORDINATE = 1e75


class FabrikError(BasisIkError, ValueError):
    """Base class of FABRIK's errors, apart from those of shapes and of numbers not finite."""


class ToleranceError(FabrikError):
    """A tolerance is not a finite number above zero."""

    def __init__(self, name: str, value: object) -> None:
        super().__init__(f"{name} must be a finite number above zero, got {value}")
        self.name = name
        self.value = value


class BudgetError(FabrikError):
    """A budget is not a whole number of at least zero."""

    def __init__(self, name: str, value: object) -> None:
        super().__init__(f"{name} must be a whole number of at least 0, got {value}")
        self.name = name
        self.value = value


class NoBonesError(FabrikError):
    """A chain of one joint has no bone to turn."""

    def __init__(self) -> None:
        super().__init__("a chain needs at least two joint positions, got one")


class OutOfRangeError(FabrikError):
    """A coordinate is finite but too large to be squared twice."""

    def __init__(self, name: str, value: float) -> None:
        super().__init__(f"{name} must stay within ±{_LARGEST_COORDINATE:g} m, got {value:g}")
        self.name = name
        self.value = value


class FabrikResult(NamedTuple):
    """A pose, and how near it is to its goals; true only if it meets them.

    Attributes:
        positions: Joint positions [m], shape (n + 1, 3), read-only. Every bone has kept its length,
            whatever the verdict.
        verdict: REACHED; TOO_FAR or TOO_NEAR, by the bones' lengths alone; LIMIT, when no start led
            to the target within the limits; ORIENTATION_NOT_FOUND, when the position alone is in
            reach; BUDGET_SPENT.
        residual: Largest distance between an end effector (or the ends of a loop) and its target
            [m].
        iterations: Passes over the chain.
        turn: Largest angle between a bone and the orientation asked of it [rad].
        rotations: How each bone is turned against its rest pose, shape (n, 3, 3), read-only:
            `rotations[i] @ rest_bone[i]` is the bone. None for a chain without limits, rest pose
            and orientation: there `bone_rotations` gives them.
        held: Bones whose bounds are touched. A hinge may also stand in the way by its axis alone.
        record: Residual [m] of a free chain before the first pass; then in every pass that measures
            it towards the goals as they were asked; and last of what is returned. None if it was
            not asked for.
    """

    positions: FloatArray
    verdict: Verdict
    residual: float
    iterations: int
    turn: float = 0.0
    rotations: FloatArray | None = None
    held: tuple[int, ...] = ()
    record: FloatArray | None = None

    @property
    def success(self) -> bool:
        """Whether the target was reached."""
        return self.verdict is Verdict.REACHED

    def __bool__(self) -> bool:
        return self.success

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and is_same(tuple(self), tuple(other))

    def __ne__(self, other: object) -> bool:
        return not self == other


def check_tolerance(name: str, value: float) -> float:
    """Return a tolerance as a float, or raise ToleranceError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ToleranceError(name, value) from None
    if not 0.0 < number < math.inf:
        raise ToleranceError(name, value)
    return number


def check_budget(name: str, value: int) -> int:
    """Return a budget as an int, or raise BudgetError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise BudgetError(name, value)
    return int(value)


def check_points(name: str, points: FloatArray) -> None:
    """Raise NotFiniteError or OutOfRangeError unless all coordinates can be computed with."""
    if not np.isfinite(points).all():
        raise NotFiniteError(name, points.tolist() if points.size <= 12 else "a NaN or infinity")
    largest = float(np.abs(points).max())
    if largest > _LARGEST_COORDINATE:
        raise OutOfRangeError(name, largest)


def fresh_chain(name: str, positions: npt.ArrayLike) -> FloatArray:
    """Copy the joint positions of a chain, shape (n + 1, 3) with n ≥ 1; finiteness is not checked.

    Raises:
        ShapeError: Not of that shape.
        NoBonesError: One joint only.
    """
    p = real_array(name, positions)
    if p.ndim != 2 or p.shape[1] != 3 or p.shape[0] == 0:
        raise ShapeError(name, "(n + 1, 3)", p.shape)
    if p.shape[0] == 1:
        raise NoBonesError()
    return p


def finite_chain(name: str, positions: npt.ArrayLike) -> FloatArray:
    """Copy the joint positions of a chain that can be computed with, shape (n + 1, 3) with n ≥ 1.

    Raises:
        ShapeError: Not of that shape.
        NoBonesError: One joint only.
        NotFiniteError, OutOfRangeError: A coordinate that cannot be computed with.
    """
    p = fresh_chain(name, positions)
    check_points(name, p)
    return p


def fresh_point(name: str, point: npt.ArrayLike) -> FloatArray:
    """Copy a point, shape (3,); finiteness is not checked.

    Raises:
        ShapeError: Not of that shape.
    """
    t = real_array(name, point)
    if t.shape != (3,):
        raise ShapeError(name, "(3,)", t.shape)
    return t
