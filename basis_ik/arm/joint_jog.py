# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jogging joint by joint: each moves with its commanded velocity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from basis_ik.arm.caps import CAP_TUNING
from basis_ik.arm.jog import JOG_TUNING, Held, held_by
from basis_ik.arm.joints_kernel import ACCELERATION, JERK, LOWER_BOUND, UPPER_BOUND, VELOCITY
from basis_ik.arm.limiter import Limiter
from basis_ik.arm.limits import fastest_before
from basis_ik.arm.profile_kernel import ROW, plan_stop, sample
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.verdict import Verdict


class JointJogTuning(NamedTuple):
    """Tuning of a jog of joints; fractions are of their limits."""

    velocity: float = 0.999
    change: float = 0.95  # fraction of acceleration and jerk for changes of the velocity
    stop: float = 0.4  # fraction of acceleration and jerk for the stop at a position limit
    most_obstacles: int = 6  # for which joints are slowed down, one after the other


JOINT_JOG_TUNING = JointJogTuning()


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
            top, jerk = JOINT_JOG_TUNING.change * bounds[[ACCELERATION, JERK], i]
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
            part = min(
                1.0,
                float((JOINT_JOG_TUNING.velocity * bounds[VELOCITY] / np.abs(velocities)).min()),
            )
        desired: FloatArray = self._limiter.override * part * velocities
        desired = desired * min(
            1.0,
            CAP_TUNING.jogging
            / max(self._limiter.part_of_caps(states[:, 0], desired), CAP_TUNING.jogging),
        )
        gaps = np.where(
            desired > 0.0, bounds[UPPER_BOUND] - states[:, 0], states[:, 0] - bounds[LOWER_BOUND]
        )
        self.held = None
        desired = self._before_obstacles(desired)
        for i in np.flatnonzero(desired):
            left = gaps[i] - JOG_TUNING.brake_delay * self._limiter.period * abs(states[i, 1])
            top, jerk = JOINT_JOG_TUNING.stop * bounds[[ACCELERATION, JERK], i]
            speed = fastest_before(float(left), float(top), float(jerk))
            speed = min(speed, float(gaps[i]) / (JOG_TUNING.brake_delay * self._limiter.period))
            if speed <= JOG_TUNING.held_scale * abs(desired[i]):
                bound = float(bounds[UPPER_BOUND if desired[i] > 0.0 else LOWER_BOUND, i])
                name = self._chain.joint_names[i]
                self.held = Held(Verdict.LIMIT, joint=name, bound=bound)
                speed = 0.0
            desired[i] = np.copysign(min(speed, abs(desired[i])), desired[i])
        return desired

    def _before_obstacles(self, desired: FloatArray) -> FloatArray:
        """Return velocities (n,) with which the arm can stop before what is in its way.

        Only the joints that bring a pair nearer are slowed down, in proportion to how they do it.
        """
        for _ in range(JOINT_JOG_TUNING.most_obstacles):
            closing = self._limiter.approaches(
                desired, JOINT_JOG_TUNING.stop, JOG_TUNING.brake_delay
            )
            if not closing:
                break
            first = closing[0]
            if first.allowed <= JOG_TUNING.held_scale * first.rate:
                self.held = held_by(first.gap)
            nearer = first.gradient * desired < 0.0
            pull = np.where(nearer, first.gradient, 0.0)
            slowed = desired + (first.rate - first.allowed) / float(pull @ pull) * pull
            desired = np.where(nearer & (slowed * desired < 0.0), 0.0, slowed)
        return desired
