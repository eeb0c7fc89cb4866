# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jogging joint by joint: each moves with its commanded velocity."""

from __future__ import annotations

import numpy as np

from basis_ik.arm.caps import SPARE
from basis_ik.arm.jog import LATE, STANDING, Held, held_by
from basis_ik.arm.joints_kernel import ACCELERATION, JERK, LOWER, UPPER, VELOCITY
from basis_ik.arm.limiter import Limiter
from basis_ik.arm.limits import fastest_before
from basis_ik.arm.profile_kernel import ROW, plan_stop, sample
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.verdict import Verdict

# Fractions of the joints' limits: velocity; acceleration and jerk for changes of the velocity;
# acceleration and jerk to come to rest at a position limit.
FAST, CHANGE, STOP = 0.999, 0.95, 0.4
OBSTACLES = 6  # for which joints are slowed down, one after the other


class JointJog:
    """Moves joints with velocities, one command each period.

    Args:
        chain: The chain that moves.
        limiter: Checks every command.

    Attributes:
        held: Why a joint is held at its limit although it should move; None if none is.
    """

    def __init__(self, chain: Chain, limiter: Limiter) -> None:
        self._chain, self._limiter = chain, limiter
        self._row: FloatArray = np.zeros(ROW)
        self.held: Held | None = None

    def step(self, velocities: FloatArray) -> FloatArray:
        """Return the command (n,) of the next period.

        Args:
            velocities: Velocities of the joints (n,) [rad/s or m/s]. The limiter's override scales
                them, and if one exceeds its joint's limit, all are scaled down together. A joint
                that approaches its position limit stops by itself.
        """
        limiter, period = self._limiter, self._limiter.period
        bounds, states = limiter.bounds, limiter.state
        desired = self._within_limits(velocities, states)
        for i, (_, v, a) in enumerate(states):
            top, jerk = CHANGE * bounds[[ACCELERATION, JERK], i]
            plan_stop(v - desired[i], a, float(top), float(jerk), self._row)
            x, v, a, _ = sample(self._row, 0.0, v - desired[i], a, period)
            states[i] = states[i, 0] + desired[i] * period + x, v + desired[i], a
        if limiter.take(states):
            return limiter.position
        return limiter.brake()

    def _within_limits(self, velocities: FloatArray, states: FloatArray) -> FloatArray:
        """Return velocities (n,) reduced at position limits; set `held` if one becomes zero."""
        bounds = self._limiter.bounds
        with np.errstate(divide="ignore"):
            part = min(1.0, float((FAST * bounds[VELOCITY] / np.abs(velocities)).min()))
        desired: FloatArray = self._limiter.override * part * velocities
        desired = desired * min(
            1.0, SPARE / max(self._limiter.part_of_caps(states[:, 0], desired), SPARE)
        )
        gaps = np.where(desired > 0.0, bounds[UPPER] - states[:, 0], states[:, 0] - bounds[LOWER])
        self.held = None
        desired = self._before_obstacles(desired)
        for i in np.flatnonzero(desired):
            left = gaps[i] - LATE * self._limiter.period * abs(states[i, 1])
            top, jerk = STOP * bounds[[ACCELERATION, JERK], i]
            speed = fastest_before(float(left), float(top), float(jerk))
            speed = min(speed, float(gaps[i]) / (LATE * self._limiter.period))
            if speed <= STANDING * abs(desired[i]):
                bound = float(bounds[UPPER if desired[i] > 0.0 else LOWER, i])
                name = self._chain.joint_names[i]
                self.held = Held(Verdict.LIMIT, joint=name, bound=bound)
                speed = 0.0
            desired[i] = np.copysign(min(speed, abs(desired[i])), desired[i])
        return desired

    def _before_obstacles(self, desired: FloatArray) -> FloatArray:
        """Return velocities (n,) with which the arm can stop before what is in its way.

        Only the joints that bring a pair nearer are slowed down, in proportion to how they do it.
        """
        for _ in range(OBSTACLES):
            closing = self._limiter.approaches(desired, STOP, LATE)
            if not closing:
                break
            first = closing[0]
            if first.allowed <= STANDING * first.rate:
                self.held = held_by(first.gap)
            nearer = first.gradient * desired < 0.0
            pull = np.where(nearer, first.gradient, 0.0)
            slowed = desired + (first.rate - first.allowed) / float(pull @ pull) * pull
            desired = np.where(nearer & (slowed * desired < 0.0), 0.0, slowed)
        return desired
