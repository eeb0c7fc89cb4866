# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The arguments of the solvers: checked, and brought to the form that kernels take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from basis_ik.descent.pose_search_kernel import (
    BAD_SEED,
    BAD_TARGET,
    LARGEST_ANGLE,
    LARGEST_LENGTH,
    LARGEST_TOLERANCE,
    begin_inside,
)
from basis_ik.descent.tables_kernel import (
    COLUMNS,
    LOWER,
    LOWER_UPPER,
    START_LOWER,
    START_UPPER,
    UPPER,
)
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray, as_reals
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.transforms.checks import NotFiniteError, TransformError
from basis_ik.transforms.rigid import RigidTransform

Target = RigidTransform | npt.ArrayLike
"""A target pose: a transform, or its matrix (4, 4); or a position (3,) alone [m]."""
Positions = npt.ArrayLike | Mapping[str, float]
"""Joint positions: (n,) in the order of `chain.joint_names`, or by joint name."""

SMALLEST_TOLERANCE = 1e-15
"""Rounding alone misses by less [m] or [rad]: a smaller tolerance would be called out of reach."""

FLOAT64 = np.dtype(np.float64)


def hold_near(ready: PreparedChain, seed: FloatArray, max_move: npt.ArrayLike) -> PreparedChain:
    """Return the chain with limits no farther than `max_move` from the seed."""
    reach = as_bounds("max_move", max_move, len(seed))
    variables = ready.variables[:, :COLUMNS].copy()  # the chain's own starts may be too far
    centre = np.empty_like(seed)
    begin_inside(ready.variables, seed, centre)
    variables[:, LOWER] = np.maximum(variables[:, LOWER], centre - reach)
    variables[:, UPPER] = np.minimum(variables[:, UPPER], centre + reach)
    held = np.isfinite(variables[:, LOWER_UPPER]).all(axis=1)
    variables[held, START_LOWER : START_UPPER + 1] = variables[held, LOWER_UPPER]
    return replace(ready, variables=variables)


def as_bounds(argument: str, values: npt.ArrayLike, n: int) -> FloatArray:
    """Return the largest moves of n joints as an array (n,).

    Raises:
        SolveArgumentError: Not one for all or one each, or not above 0.
    """
    bounds = np.empty(n)
    try:
        bounds[:] = values
    except (TypeError, ValueError):
        bounds = np.zeros(1)
    if not (bounds > 0.0).all():
        raise SolveArgumentError(argument, values, "above 0, one for all joints or one each")
    return bounds


def refuse(status: int, argument: str, values: object, target: RigidTransform) -> None:
    """Raise the error for a status that a kernel returned before any work.

    Raises:
        SolveArgumentError: Positions or a target that no solve can start from.
    """
    if status == BAD_SEED:
        raise SolveArgumentError(argument, values, f"finite and within ±{LARGEST_ANGLE:g}")
    if status == BAD_TARGET:
        raise bad_target("target", target)


def bad_target(argument: str, target: RigidTransform) -> SolveArgumentError:
    """Return the error for a target that is not finite, or too far away to compute with."""
    if not np.isfinite(target.rotation).all():
        return SolveArgumentError(argument, target.matrix.tolist(), "finite")
    where = target.translation.tolist()
    return SolveArgumentError(argument, where, f"within {LARGEST_LENGTH:g} m of the root")


def as_target(argument: str, target: Target, also: str = "") -> RigidTransform:
    """Return a target pose as a transform.

    Args:
        argument: Its name, for the error.
        target: A transform, or its matrix (4, 4).
        also: What else it might have been, for the error.

    Raises:
        SolveArgumentError: Neither a transform nor the matrix (4, 4) of one.
    """
    if type(target) is RigidTransform:
        return target
    try:
        return RigidTransform.from_matrix(target)
    except NotFiniteError:
        raise SolveArgumentError(argument, target, "finite") from None
    except TransformError as error:
        wanted = f"a RigidTransform or the (4, 4) matrix of one{also} ({error})"
        raise SolveArgumentError(argument, target, wanted) from None


def as_positions(argument: str, values: Positions, names: tuple[str, ...]) -> FloatArray:
    """Return a copy (n,) of joint positions in the one dtype and layout that the kernels take.

    Raises:
        SolveArgumentError: Not one number for each joint.
    """
    if type(values) is np.ndarray and values.dtype is FLOAT64 and values.shape == (len(names),):
        return values.copy()  # in a third of the time
    if isinstance(values, Mapping):  # which may have the robot's other joints, too
        missing = [name for name in names if name not in values]
        if missing:
            wanted = f"positions that include joint {missing[0]!r}"
            raise SolveArgumentError(argument, dict(values), wanted)
        values = [values[name] for name in names]
    array = as_reals(values)
    if array is None or array.shape != (len(names),):
        raise SolveArgumentError(argument, values, f"{len(names)} numbers, one each for {names}")
    return array


def positive(name: str, value: float, unit: str) -> float:
    """Return a tolerance or a time as a float, or refuse it."""
    is_number = isinstance(value, (float, int, np.floating)) and not isinstance(value, bool)
    if not (is_number and SMALLEST_TOLERANCE <= value < LARGEST_TOLERANCE):
        raise SolveArgumentError(name, value, f"a number from {SMALLEST_TOLERANCE:g} up {unit}")
    return float(value)


def count(name: str, value: int, least: int) -> int:
    """Return a whole number of at least `least` as an int, or refuse it."""
    is_number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not (is_number and value >= least):
        raise SolveArgumentError(name, value, f"a whole number, at least {least}")
    return int(value)
