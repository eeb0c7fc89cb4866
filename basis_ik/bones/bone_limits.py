# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of a bone's joint, in the bone's own space: a cone, swing and twist, or a hinge.

Each limit gets the joint's current rotation, the bone's direction at rest, the desired direction,
and a function that turns the bone towards a direction. It returns the best allowed rotation. Joint
rotations are `rest_R_bone`, relative to the bone's rest pose.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from basis_ik.errors import BasisIkError
from basis_ik.numerics.angles_kernel import nearest_angle
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import unit_vector
from basis_ik.transforms.directions_kernel import perpendicular, rotation_about, twist_angle
from basis_ik.transforms.rigid import RigidTransform

_ROUNDED_TURN = 1e-3  # [rad] by which bounds of a whole turn may be rounded up, as [-3.142, 3.142]
_ALONG_HINGE = 1e-9  # sine within which a direction counts as along a hinge


class BoneLimitError(BasisIkError, ValueError):
    """A limit's bounds are not a valid range."""

    def __init__(self, name: str, lower: float, upper: float, valid: str) -> None:
        super().__init__(f"{name} must be {valid}, got [{lower}, {upper}]")
        self.name = name
        self.lower = lower
        self.upper = upper


class Allowed(NamedTuple):
    """The best allowed rotation.

    Attributes:
        joint: rest_R_bone, shape (3, 3).
        angle: Swing from rest, or the hinge's angle [rad].
        twist: Twist about the bone [rad]; 0 for cone and hinge, which have none.
    """

    joint: FloatArray
    angle: float
    twist: float


Turn = Callable[[FloatArray], FloatArray]
"""Returns the joint rotation (3, 3) that points the bone along a direction in rest space."""


class BoneLimit(Protocol):
    """A limit of a bone's joint."""

    @property
    def rest(self) -> RigidTransform:
        """The bone in its parent, at rest."""

    def allow(self, now: FloatArray, bone: FloatArray, desired: FloatArray, turn: Turn) -> Allowed:
        """Return the allowed rotation with the bone nearest to the desired direction.

        Args:
            now: The joint's current rotation, shape (3, 3).
            bone: Direction of the bone at rest: unit vector in rest space, shape (3,).
            desired: Desired direction: unit vector in rest space, shape (3,).
            turn: Turns the bone towards a direction.
        """


@dataclass(frozen=True)
class Cone:
    """The bone stays within an angle of its direction at rest; its twist is free.

    Attributes:
        rest: The bone in its parent, at rest.
        half_angle: Largest angle from rest [rad], in [0, π].
    """

    rest: RigidTransform
    half_angle: float

    def __post_init__(self) -> None:
        """Check the angle."""
        _check_half_angle("cone", self.half_angle)

    def allow(self, now: FloatArray, bone: FloatArray, desired: FloatArray, turn: Turn) -> Allowed:
        """Point in the direction within the cone that is nearest to `desired`."""
        direction, angle = _within_cone(bone, desired, self.half_angle)
        return Allowed(turn(direction), angle, 0.0)


@dataclass(frozen=True)
class SwingTwist:
    """The bone stays within a cone, and its twist about itself within bounds.

    Attributes:
        rest: The bone in its parent, at rest.
        half_angle: Largest swing from rest [rad], in [0, π].
        lower: Least twist [rad].
        upper: Largest twist [rad], as for a hinge.
    """

    rest: RigidTransform
    half_angle: float
    lower: float
    upper: float

    def __post_init__(self) -> None:
        """Check the bounds."""
        _check_half_angle("swing", self.half_angle)
        _check_range("twist", self.lower, self.upper)

    def allow(self, now: FloatArray, bone: FloatArray, desired: FloatArray, turn: Turn) -> Allowed:
        """Point as for a cone, then twist back about the bone as far as necessary."""
        direction, angle = _within_cone(bone, desired, self.half_angle)
        joint = turn(direction)
        twist = twist_angle(joint, bone)
        allowed = nearest_angle(twist, twist_angle(now, bone), float(self.lower), float(self.upper))
        return Allowed(joint @ _rotation(bone, allowed - twist), angle, allowed)


@dataclass(frozen=True)
class Hinge:
    """The bone only turns about one axis.

    Attributes:
        rest: The bone in its parent, at angle 0.
        axis: Direction of the hinge in the bone's own space, shape (3,), of any positive length.
        lower: Least angle [rad].
        upper: Largest angle [rad], at most a turn above `lower`; −inf and inf: no limits.
    """

    rest: RigidTransform
    axis: npt.ArrayLike
    lower: float
    upper: float

    def __post_init__(self) -> None:
        """Check the bounds and the axis."""
        unit_vector("axis", self.axis)
        _check_range("hinge", self.lower, self.upper)

    def allow(self, now: FloatArray, bone: FloatArray, desired: FloatArray, turn: Turn) -> Allowed:
        """Turn to the angle with the bone nearest to `desired`.

        (R(φ) b)·d = const + cos φ (b⊥·d⊥) + sin φ (n·(b⊥×d⊥)) has one maximum, by atan2, and falls
        off to both sides, so that beyond a limit the nearer limit is best. If bone or target are
        along the hinge, all angles are equal, and the current one is kept.
        """
        n = unit_vector("axis", self.axis)
        present = twist_angle(now, n)
        b, d = bone - (bone @ n) * n, desired - (desired @ n) * n
        best = present
        if b @ b > _ALONG_HINGE**2 and d @ d > _ALONG_HINGE**2:
            best = math.atan2(n @ np.cross(b, d), b @ d)
        angle = nearest_angle(best, present, float(self.lower), float(self.upper))
        return Allowed(_rotation(n, angle), angle, 0.0)


Limit = Cone | SwingTwist | Hinge
"""All kinds of limits."""


def _within_cone(
    bone: FloatArray, desired: FloatArray, half_angle: float
) -> tuple[FloatArray, float]:
    """Return the direction within a cone about `bone` nearest to `desired`, and its angle."""
    side = desired - (desired @ bone) * bone
    angle = math.atan2(math.sqrt(side @ side), desired @ bone)
    if angle <= half_angle:
        return desired, angle
    if side @ side <= _ALONG_HINGE**2:  # opposite: all ways round are equally long
        perpendicular(bone, side)
    side /= math.sqrt(side @ side)
    return math.cos(half_angle) * bone + math.sin(half_angle) * side, half_angle


def _rotation(axis: FloatArray, angle: float) -> FloatArray:
    out = np.empty((3, 3))
    rotation_about(axis[0], axis[1], axis[2], math.cos(angle), math.sin(angle), out)
    return out


def _check_half_angle(name: str, half_angle: float) -> None:
    if not 0.0 <= half_angle <= math.pi:
        raise BoneLimitError(name, 0.0, half_angle, "an angle from 0 to π")


def _check_range(name: str, lower: float, upper: float) -> None:
    """Refuse bounds that are no range, and those that every angle keeps up to full turns."""
    if (lower, upper) == (-math.inf, math.inf):
        return
    if not lower <= upper or lower == math.inf or upper == -math.inf:
        raise BoneLimitError(name, lower, upper, "lower ≤ upper")
    if not upper - lower <= math.tau + _ROUNDED_TURN:
        valid = "a turn wide at most, because angles count no turns, or -inf and inf for none"
        raise BoneLimitError(name, lower, upper, valid)
