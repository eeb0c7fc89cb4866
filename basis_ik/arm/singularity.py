# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Nearness of a motion to a singularity: the speed of joints relative to that of the tip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.verdict import Reason, Verdict

Singularities = Literal["pass", "slow", "stop"]


class SingularityTuning(NamedTuple):
    """What counts as near a singularity, by the gain of a joint."""

    near: float = 5.0  # gain above which a singularity is near
    very_near: float = 10.0  # gain above which the motion runs into it
    slow: float = 0.2  # fraction of a joint's largest speed allowed above twice `near`


SINGULARITY_TUNING = SingularityTuning()


@dataclass(frozen=True)
class Notice(Reason):
    """The effect of a singularity on the motion.

    Attributes:
        joints: The fast joints.
        passing: Whether they are fast now; otherwise they will be.
    """

    joints: tuple[str, ...] = ()
    passing: bool = False

    def __str__(self) -> str:
        names = ", ".join(self.joints)
        if self.passing:
            return f"passing a singularity: {names} turn fast"
        return f"nearing a singularity: {names} will turn fast"


class Gains:
    """The gain of a joint: its speed, relative to that of the tip.

    The tip's speed is its linear velocity divided by the chain's reach, plus its angular velocity.
    Therefore the gain has no unit, and does not depend on the arm's size. It depends on the
    direction of motion: near a singularity it is large only for motions in the lost direction.

    Args:
        chain: The chain that moves.
    """

    def __init__(self, chain: Chain) -> None:
        self._names, self._reach = np.array(chain.joint_names), chain.reach
        self._units = np.where(chain.prismatic, 1.0 / chain.reach, 1.0)

    def of(self, speeds: FloatArray, twist: FloatArray) -> FloatArray:
        """Return the gains (n,) of joints with speeds (n,) whose tip moves with a twist (6,)."""
        linear, angular = np.linalg.norm(twist[:3]), np.linalg.norm(twist[3:])
        gains: FloatArray = np.abs(speeds) * self._units / (linear / self._reach + angular)
        return gains

    def names(self, gains: FloatArray) -> tuple[str, ...]:
        """Return the fast joints, by their gains (n,): the fastest and similar ones."""
        return tuple(
            map(str, self._names[gains >= max(SINGULARITY_TUNING.near, 0.5 * float(gains.max()))])
        )

    def notice(self, here: FloatArray, ahead: FloatArray) -> Notice | None:
        """Return the notice for the gains (n,) here and ahead, or None."""
        now, then = float(here.max()), float(ahead.max())
        if now >= SINGULARITY_TUNING.very_near:
            return Notice(Verdict.SINGULAR, joints=self.names(here), passing=True)
        if then >= max(SINGULARITY_TUNING.near, now):
            return Notice(Verdict.SINGULAR, joints=self.names(ahead))
        return None

    @staticmethod
    def most(gains: FloatArray, fast: float) -> FloatArray:
        """Return the fractions (n,) of their largest speeds that "slow" allows to joints.

        Args:
            gains: Their gains (n,).
            fast: The fraction away from singularities.
        """
        return np.clip(
            fast * (SINGULARITY_TUNING.near / np.maximum(gains, 1e-9)) ** 2,
            SINGULARITY_TUNING.slow,
            fast,
        )
