# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Which part of a target pose counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from basis_ik.closed_form.closed_form import closed_form
from basis_ik.closed_form.closed_form_axes import Free
from basis_ik.descent.tables_kernel import (
    BOX,
    BOX_RZ,
    BOX_X,
    ORIGIN,
    POSITION,
    ROTATION,
    ROTATION_BOX,
    WRZ,
)
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray, as_reals
from basis_ik.search.arguments import Target, as_target
from basis_ik.search.prepared_chain import PreparedChain
from basis_ik.transforms.directions_kernel import perpendicular
from basis_ik.transforms.rigid import RigidTransform

Triple = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]

MOST_CONSTRAINTS_KEPT = 64  # a box that changes on every call must not fill the memory


@dataclass(frozen=True, init=False)
class PoseConstraint:
    """Which part of a target pose a solution has to satisfy; by default the whole pose.

    Its numbers may be given as tuples, lists or arrays, and are kept as tuples.

    Attributes:
        position: Whether the tip's position counts.
        orientation: Whether its orientation counts.
        free_axis: An axis of the target, in the target's coordinates, about which the tip may turn
            freely, for a drill, a welding torch or a suction cup, or an arm of five joints.
        box: How far from the target the tip may be along each of the target's axes [m];
            infinite leaves the position along that axis free. Together with a free axis only where
            that is the target's x, y or z.
        rotation_box: How far the tip may be turned about each of the target's axes [rad]: bounds on
            the components of the rotation vector of target_T_tip; infinite leaves one free.
            Together with a free axis, which has to be the target's x, y or z, and is 0 or infinite
            here, they bound how far the axis may be tilted about the other two: the vector of the
            shortest rotation that takes the target's axis to the tip's.
        weights: Cost of an error along each of the target's axes [1/m], then about each [1/rad],
            in the best effort where the target cannot be reached.
    """

    position: bool
    orientation: bool
    free_axis: Triple | None
    box: Triple
    rotation_box: Triple
    weights: Six | None

    def __init__(
        self,
        position: bool = True,
        orientation: bool = True,
        free_axis: npt.ArrayLike | None = None,
        box: npt.ArrayLike = (0.0, 0.0, 0.0),
        rotation_box: npt.ArrayLike = (0.0, 0.0, 0.0),
        weights: npt.ArrayLike | None = None,
    ) -> None:
        values = {"free_axis": free_axis, "box": box, "rotation_box": rotation_box}
        values["weights"] = weights
        for name, value in values.items():  # neither a list nor an array can be a key
            if value is not None or name in ("box", "rotation_box"):
                array = as_reals(value)
                if array is None or array.ndim != 1:
                    raise SolveArgumentError(name, value, "some numbers")
                values[name] = tuple(array.tolist())
        for name, value in {"position": position, "orientation": orientation, **values}.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        if not self.position and not self.orientation:
            raise SolveArgumentError("orientation", self.orientation, "True if position is False")
        if len(self.box) != 3 or not all(half >= 0.0 for half in self.box):
            raise SolveArgumentError("box", self.box, "three lengths, 0 or more")
        if len(self.rotation_box) != 3 or not all(half >= 0.0 for half in self.rotation_box):
            raise SolveArgumentError("rotation_box", self.rotation_box, "three angles, 0 or more")
        if any(self.rotation_box) and not self.orientation:
            raise SolveArgumentError(
                "rotation_box", self.rotation_box, "zeros if orientation is free"
            )
        weights = (1.0,) * 6 if self.weights is None else self.weights
        if len(weights) != 6 or not all(1e-6 <= weight <= 1e6 for weight in weights):
            raise SolveArgumentError("weights", weights, "six numbers from 1e-6 to 1e6")
        if self.free_axis is not None:
            if len(self.free_axis) != 3 or not 1e-6 < math.hypot(*self.free_axis) < math.inf:
                raise SolveArgumentError("free_axis", self.free_axis, "a direction")
            if not self.orientation:
                raise SolveArgumentError("free_axis", self.free_axis, "None if orientation is free")
            along = any(self.box) or any(self.rotation_box) or self.weights is not None
            if along and sum(part != 0.0 for part in self.free_axis) > 1:
                required = "the target's x, y or z where there is a box or weights"
                raise SolveArgumentError("free_axis", self.free_axis, required)
            pairs = zip(self.free_axis, self.rotation_box, strict=True)
            if any(part != 0.0 and 0.0 < half < math.inf for part, half in pairs):
                required = "0 or infinite about the free axis"
                raise SolveArgumentError("rotation_box", self.rotation_box, required)


POSITION_ONLY = PoseConstraint(orientation=False)


def position_of(constraint: PoseConstraint | None) -> PoseConstraint:
    """Return a constraint with the orientation free, which `position_only=True` is short for."""
    if constraint is None:
        return POSITION_ONLY
    _check_kind(constraint)
    return replace(constraint, orientation=False, free_axis=None, rotation_box=(0.0, 0.0, 0.0))


def _check_kind(constraint: object) -> None:
    if not isinstance(constraint, PoseConstraint):
        raise SolveArgumentError("constraint", constraint, "a PoseConstraint, or None")


def aim(
    argument: str, target: Target, constraint: PoseConstraint | None
) -> tuple[RigidTransform, PoseConstraint | None]:
    """Return a target as a pose, and which part of it counts: of three numbers the position.

    Args:
        argument: The target's name, for errors.
        target: A transform, its matrix (4, 4), or a position (3,) [m].
        constraint: Which part of a pose counts; None: the whole pose.

    Raises:
        SolveArgumentError: It is none of these, or not finite.
    """
    position = None if type(target) is RigidTransform else as_reals(target)
    if position is None or position.shape != (3,):
        return as_target(argument, target, ", or a position (3,)"), constraint
    if not np.isfinite(position).all():
        raise SolveArgumentError(argument, target, "finite")
    pose = RigidTransform.from_rotation_translation(np.eye(3), position)
    return pose, position_of(constraint)


def aim_each(
    argument: str, targets: Iterable[Target], constraint: PoseConstraint | None
) -> tuple[list[RigidTransform], PoseConstraint | None]:
    """Return targets as poses, and which part of them counts, see `aim`.

    Raises:
        SolveArgumentError: One is no target; or some are poses, and others positions.
    """
    if not isinstance(targets, Iterable):
        raise SolveArgumentError(argument, targets, "targets, one after the other")
    aims = [aim(f"{argument}[{i}]", target, constraint) for i, target in enumerate(targets)]
    parts = {part for _, part in aims}
    if len(parts) > 1:
        raise SolveArgumentError(argument, targets, "all poses, or all positions (3,)")
    return [pose for pose, _ in aims], parts.pop() if parts else constraint


def constrain(
    ready: PreparedChain, constraint: PoseConstraint | None, targets: FloatArray
) -> tuple[PreparedChain, FloatArray, FloatArray]:
    """Return the chain prepared for a constraint, its weights, and the goals (..., 4, 4).

    Args:
        ready: The chain.
        constraint: Which part of the pose counts; None: the whole pose.
        targets: (..., 4, 4) root_T_target.
    """
    if constraint is not None:
        ready = narrow(ready, constraint)
    goals = targets if ready.target_T_goal is None else targets @ ready.target_T_goal
    return ready, ready.weights, goals


def narrow(ready: PreparedChain, constraint: PoseConstraint) -> PreparedChain:
    """Return the chain prepared for a constraint, from memory after the first time."""
    if constraint is POSITION_ONLY:  # a look-up would take a tenth of a solve
        return ready.of_position
    _check_kind(constraint)
    kept = ready.narrowed.get(constraint)
    if kept is None:
        if len(ready.narrowed) >= MOST_CONSTRAINTS_KEPT:
            ready.narrowed.clear()
        kept = ready.narrowed[constraint] = _narrow(ready, constraint)
    return kept


def _narrow(ready: PreparedChain, constraint: PoseConstraint) -> PreparedChain:
    weights, position = ready.weights.copy(), ready.position_weights.copy()
    weights[BOX] = position[BOX] = constraint.box
    weights[ROTATION_BOX] = constraint.rotation_box
    if not constraint.position:
        weights[POSITION] = position[POSITION] = 0.0
    reach = ready.reach + math.hypot(*constraint.box) if constraint.position else math.inf
    exactly = constraint.position and not any(constraint.box)
    placed = ready.closed_position if exactly else None
    exactly = exactly and constraint.orientation
    if constraint.free_axis is None:
        exactly = exactly and not any(constraint.rotation_box)
        narrowed = replace(
            ready, weights=weights, position_weights=position, reach=reach,
            closed=ready.closed if exactly else None, closed_position=placed,
            redundant=ready.redundant if exactly else None,
        )  # fmt: skip
        return narrowed if constraint.orientation else narrowed.of_position
    weights[WRZ] = 0.0
    turn = frame_about(constraint.free_axis)
    weights[BOX] = position[BOX] = np.array(constraint.box)[_order(turn)]
    weights[ROTATION_BOX] = np.array(constraint.rotation_box)[_order(turn)]
    weights[BOX_RZ] = 0.0
    exactly = exactly and not weights[ROTATION_BOX].any()
    exact, ends = move_tip(ready, turn)
    closed = closed_form(exact, ready.variables, ready.size, Free.AXIS) if exactly else None
    return replace(
        ready, weights=weights, position_weights=position, reach=reach, exact=exact, ends=ends,
        target_T_goal=turn, closed=closed, closed_position=placed, redundant=None,
    )  # fmt: skip


def weigh(ready: PreparedChain, constraint: PoseConstraint | None) -> FloatArray:
    """Return the weights (12,) of a best effort, see `search.residuals_kernel.evaluate`.

    Args:
        ready: The chain, not narrowed.
        constraint: Which part of the pose counts; None: the whole pose.
    """
    narrowed = ready if constraint is None else narrow(ready, constraint)
    weights = narrowed.weights.copy()
    if constraint is None or constraint.weights is None:
        return weights
    given = np.array(constraint.weights)
    if constraint.free_axis is not None:
        along = _order(frame_about(constraint.free_axis))
        given = given.reshape(2, 3)[:, along].reshape(6)
    given[weights[:BOX_X] == 0.0] = 0.0
    largest = max(given[POSITION].max() * ready.size, given[ROTATION].max())
    weights[:BOX_X] = given / largest
    return weights


def _order(turn: FloatArray) -> npt.NDArray[np.intp]:
    """Return which of the target's axes each axis of the goal lies along."""
    order: npt.NDArray[np.intp] = np.argmax(np.abs(turn[:3, :3]), axis=0)
    return order


def move_tip(ready: PreparedChain, tip_T_frame: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return `exact` and `ends` of a chain with another frame of its last link as the tip.

    Args:
        ready: The chain.
        tip_T_frame: (4, 4).
    """
    exact, ends = ready.exact.copy(), ready.ends.copy()
    ends[1] = ends[1] @ tip_T_frame
    exact[-1, ORIGIN] = ends[1].reshape(12)
    return exact, ends


def frame_about(axis: Triple) -> FloatArray:
    """Return a rotation (4, 4) with the axis, of any length but zero, as its third column."""
    frame = np.eye(4)
    z = np.array(axis) / math.hypot(*axis)
    x = np.empty(3)
    perpendicular(z, x)
    frame[:3, 0], frame[:3, 1], frame[:3, 2] = x, np.cross(z, x), z
    return frame
