# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of the joints' positions, velocities, accelerations and jerks."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.transforms.checks import read_only, real_array

# Few URDFs state acceleration and jerk. Otherwise joints reach the largest speed and the largest
# acceleration in these times [s].
SPEED_TIME = 0.25
ACCELERATION_TIME = 0.05


class MotionLimitError(BasisIkError):
    """An invalid limit of motion."""

    def __init__(self, name: str, value: object, remedy: str) -> None:
        super().__init__(f"{name} must be {remedy}, got {value}")
        self.name = name
        self.value = value


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Limits of n joints, arrays of shape (n,), read-only.

    Attributes:
        lower: Least positions [rad or m]; -inf for none.
        upper: Largest positions [rad or m]; inf for none.
        velocity: Largest speeds [rad/s or m/s], positive and finite.
        acceleration: Largest accelerations [rad/s² or m/s²], positive and finite.
        jerk: Largest jerks [rad/s³ or m/s³], positive and finite.
    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    jerk: FloatArray

    def __post_init__(self) -> None:
        """Copy and check the limits.

        Raises:
            MotionLimitError: A lower limit is above the upper one, another limit is not positive
                and finite, or the number of limits is wrong.
        """
        for name in ("lower", "upper", "velocity", "acceleration", "jerk"):
            value = real_array(name, getattr(self, name))
            if value.shape != np.shape(self.lower):
                raise MotionLimitError(f"max_{name}", value.tolist(), "one for each joint")
            object.__setattr__(self, name, read_only(value))
            if name not in ("lower", "upper") and not ((value > 0.0) & np.isfinite(value)).all():
                raise MotionLimitError(f"max_{name}", value.tolist(), "positive and finite")
        if not (self.lower <= self.upper).all():
            raise MotionLimitError("lower", self.lower.tolist(), f"below {self.upper.tolist()}")

    def scaled(self, velocity: float, acceleration: float, jerk: float) -> FloatArray:
        """Return the limits for kernels, shape (5, n).

        Args:
            velocity: Fraction of the largest velocities, in (0, 1].
            acceleration: Fraction of the largest accelerations, in (0, 1].
            jerk: Fraction of the largest jerks, in (0, 1].

        Raises:
            MotionLimitError: A fraction is not in (0, 1].
        """
        for name, value in (("velocity", velocity), ("acceleration", acceleration), ("jerk", jerk)):
            if not 0.0 < value <= 1.0:
                raise MotionLimitError(f"{name} scaling", value, "above 0 and at most 1")
        return np.array(
            [
                self.lower,
                self.upper,
                self.velocity * velocity,
                self.acceleration * acceleration,
                self.jerk * jerk,
            ]
        )

    @classmethod
    def of_chain(
        cls,
        chain: Chain,
        acceleration: FloatArray | None = None,
        jerk: FloatArray | None = None,
    ) -> MotionLimits:
        """Return the limits of a chain's variables, with defaults for acceleration and jerk.

        Args:
            chain: The chain.
            acceleration: Largest accelerations (n,) [rad/s² or m/s²]; None: those of the URDF;
                where it states none, the largest speed is reached in `SPEED_TIME`. Joints brake
                with the same limit, which is not above the URDF's deceleration.
            jerk: Largest jerks (n,) [rad/s³ or m/s³]; None: those of the URDF; where it states
                none, the largest acceleration is reached in `ACCELERATION_TIME`.

        Raises:
            MotionLimitError: A limit is not positive and finite, or the number of limits is wrong.
        """
        if acceleration is None:
            assumed = chain.velocity / SPEED_TIME
            stated = np.where(np.isinf(chain.acceleration), assumed, chain.acceleration)
            acceleration = np.minimum(stated, chain.deceleration)
        if jerk is None:
            assumed = np.asarray(acceleration, dtype=float) / ACCELERATION_TIME
            jerk = assumed
            if assumed.shape == chain.jerk.shape:  # otherwise the number of limits is wrong
                jerk = np.where(np.isinf(chain.jerk), assumed, chain.jerk)
        return cls(chain.lower, chain.upper, chain.velocity, acceleration, jerk)


def fastest_before(gap: float, acceleration: float, jerk: float) -> float:
    """Return the largest speed that can stop within a gap, starting without acceleration.

    A stop from speed v takes 2 √(v/j) if the acceleration stays below its limit a (v ≤ a²/j), and
    otherwise v/a + a/j; the distance is half of speed times time. This is solved for v.

    Args:
        gap: Distance to stop in [rad or m]; below zero counts as zero.
        acceleration: Largest acceleration.
        jerk: Largest jerk.
    """
    gap = max(gap, 0.0)
    short, ramp = float(np.cbrt(jerk * gap * gap)), acceleration * acceleration / jerk
    if short <= ramp:
        return short
    return 0.5 * (sqrt(ramp * ramp + 8.0 * acceleration * gap) - ramp)
