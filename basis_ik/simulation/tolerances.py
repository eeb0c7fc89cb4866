# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tolerances of a followed trajectory, on its path and at its end.

Only positions are checked, as in the real controller when it commands positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.elements import shown


class JointTolerance(NamedTuple):
    """Override for one joint: 0 keeps the default, -1 removes it, a positive value replaces it."""

    name: str
    position: float
    velocity: float


@dataclass(frozen=True)
class Tolerances:
    """Largest errors; a tolerance of zero is not checked.

    Attributes:
        path: shape (n,), until the last waypoint [rad or m].
        goal: shape (n,), from the time of the last waypoint on [rad or m].
        goal_time: Time after the last waypoint until which the goal must be reached [s]; 0: no
            limit.
    """

    path: FloatArray
    goal: FloatArray
    goal_time: float

    def with_overrides(
        self,
        joints: Sequence[str],
        path: Sequence[JointTolerance],
        goal: Sequence[JointTolerance],
        goal_time: float,
    ) -> Tolerances | str:
        """Return these tolerances with the overrides of a goal.

        Args:
            joints: The n joints.
            path: Overrides for single joints.
            goal: Overrides for single joints.
            goal_time: Override of the goal time, with the same meaning [s].

        Returns:
            The tolerances, or why an override is invalid.
        """
        if not _is_valid(goal_time):
            return f"goal_time_tolerance {goal_time:g} s"
        changed = []
        for default, overrides in ((self.path, path), (self.goal, goal)):
            limits = default.copy()
            for each in overrides:
                if each.name not in joints:
                    return f"tolerance for unknown joint {shown(each.name)}"
                for kind, value in (("position", each.position), ("velocity", each.velocity)):
                    if not _is_valid(value):
                        return f"{kind} tolerance {value:g} of joint '{each.name}'"
                column = list(joints).index(each.name)
                limits[column] = _resolved(limits[column], each.position)
            changed.append(limits)
        return Tolerances(changed[0], changed[1], _resolved(self.goal_time, goal_time))


def _is_valid(value: float) -> bool:
    return value == -1.0 or 0.0 <= value < float("inf")


def _resolved(default: float, override: float) -> float:
    return default if override == 0.0 else max(override, 0.0)


def exceeded(errors: FloatArray, limits: FloatArray, joints: Sequence[str]) -> str:
    """Return a text about the first joint that exceeds its tolerance.

    Args:
        errors: shape (n,), desired minus measured positions.
        limits: shape (n,); zero is not checked.
        joints: The n joints.

    Returns:
        One phrase; empty if all joints are within tolerance.
    """
    if not limits.any():
        return ""
    outside = (limits > 0.0) & ~(np.abs(errors) <= limits)
    if not outside.any():
        return ""
    joint = int(np.argmax(outside))
    return (
        f"joint '{joints[joint]}' misses its position by {abs(errors[joint]):.4g}, "
        f"{limits[joint]:.4g} allowed"
    )
