# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of the joint between two bones: a ball within ellipses and twist bounds, or a hinge.

Limits are given in the rest pose, in the coordinates of its positions, so that no bone needs a
frame of its own. `basis_ik.bones.bone_limits` has the limits of single frames in a transform tree.
These here are the same joints for chains of points, as arrays for the kernels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from basis_ik.fabrik.result import FabrikError
from basis_ik.fabrik.swing_twist_kernel import (
    BALL_JOINT,
    GREATEST_TWIST,
    HINGE_JOINT,
    LEAST_TWIST,
    TILT_DOWN,
    TILT_LEFT,
    TILT_RIGHT,
    TILT_UP,
)
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import unit_vector
from basis_ik.transforms.directions_kernel import perpendicular
from basis_ik.transforms.quaternion import wxyz_from_matrix

# Sine below which `up` counts as lying along the bone.
_UP_ALONG_BONE = 1e-6


class LimitError(FabrikError):
    """A limit that is none, or that does not fit its bone."""

    def __init__(self, problem: str, bone: int | None = None) -> None:
        super().__init__(problem if bone is None else f"limit of bone {bone}: {problem}")
        self.problem = problem
        self.bone = bone


@dataclass(frozen=True)
class BallLimit:
    """A ball joint: how far the bone may lean away from where it points at rest, and twist.

    Seen along the bone with `up` upwards, each quadrant between two neighbouring angles is bounded
    by a quarter of an ellipse. Four equal angles make a cone.

    Attributes:
        left: Largest lean to the left [rad], 0 to π; left is up × bone.
        up: Largest lean upwards [rad], 0 to π.
        right: Largest lean to the right [rad], 0 to π.
        down: Largest lean downwards [rad], 0 to π.
        twist: Least and greatest twist about the bone against rest [rad].
        upwards: Which way is up in the rest pose, shape (3,); not along the bone. Cones need none.
    """

    left: float
    up: float
    right: float
    down: float
    twist: tuple[float, float] = (-math.pi, math.pi)
    upwards: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        """Refuse bounds that are none."""
        angles = (self.left, self.up, self.right, self.down)
        if not all(0.0 <= angle <= math.pi for angle in angles):
            raise LimitError(f"a lean must be an angle from 0 to π, got {angles}")
        _check_range(*self.twist)
        if self.upwards is not None:
            unit_vector("upwards", self.upwards)
        elif len(set(angles)) > 1:
            raise LimitError("a ball that leans further one way than another needs `upwards`")

    @classmethod
    def cone(cls, half_angle: float, twist: tuple[float, float] = (-math.pi, math.pi)) -> BallLimit:
        """Return a limit with the same largest lean to all sides [rad]."""
        return cls(half_angle, half_angle, half_angle, half_angle, twist)

    def write(
        self, bone: int, rest: FloatArray, bounds: FloatArray, axis: FloatArray, frame: FloatArray
    ) -> int:
        """Fill one bone's rows of a skeleton; see `Limit`."""
        length = math.sqrt(float(rest @ rest))
        if length == 0.0:
            raise LimitError("a bone without length does not lean; give it a hinge", bone)
        z = rest / length
        y = np.empty(3)
        perpendicular(z, y)
        if self.upwards is not None:
            y = unit_vector("upwards", self.upwards)
            y -= (y @ z) * z
            if not y @ y > _UP_ALONG_BONE**2:
                raise LimitError("`upwards` lies along the bone", bone)
            y /= math.sqrt(float(y @ y))
        frame[:] = wxyz_from_matrix(np.column_stack([np.cross(y, z), y, z]))
        bounds[TILT_LEFT], bounds[TILT_UP], bounds[TILT_RIGHT], bounds[TILT_DOWN] = (
            self.left, self.up, self.right, self.down,
        )  # fmt: skip
        bounds[LEAST_TWIST], bounds[GREATEST_TWIST] = self.twist
        return BALL_JOINT


@dataclass(frozen=True)
class HingeLimit:
    """A hinge: the bone turns about one axis only.

    Attributes:
        axis: Its direction in the rest pose, shape (3,), any length above zero.
        lower: Least angle against rest [rad], right-handed about the axis.
        upper: Greatest angle [rad].
    """

    axis: npt.ArrayLike
    lower: float = -math.pi
    upper: float = math.pi

    def __post_init__(self) -> None:
        """Refuse bounds that are none."""
        unit_vector("axis", self.axis)
        _check_range(self.lower, self.upper)

    def write(
        self, bone: int, rest: FloatArray, bounds: FloatArray, axis: FloatArray, frame: FloatArray
    ) -> int:
        """Fill one bone's rows of a skeleton; see `Limit`."""
        axis[:] = unit_vector("axis", self.axis)
        bounds[LEAST_TWIST], bounds[GREATEST_TWIST] = self.lower, self.upper
        return HINGE_JOINT


Limit = BallLimit | HingeLimit
"""What a joint allows. `write(bone, rest, bounds, axis, frame)` fills the bone's rows of a skeleton
from its rest vector [m], shape (3,), and returns the kind of joint."""


def _check_range(lower: float, upper: float) -> None:
    if not -math.inf < lower <= upper < math.inf:
        raise LimitError(f"bounds must be finite with lower ≤ upper, got [{lower}, {upper}]")
