# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Caps on the speeds of an arm's links, and distances that these keep, for every kind of motion.

A command is accepted only if the links keep their caps and distances on the way to it and while
braking after it. Thus there is always a next command, at least a braking one. docs/mathematics.md
has the details.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from basis_ik.arm import caps_kernel as kernels
from basis_ik.arm.clearance import Clearance
from basis_ik.arm.joints_kernel import (
    ACCELERATION,
    GOAL,
    JERK,
    JOINT_COLUMNS,
    JOINT_POSITION,
    JOINT_RATE,
    JOINT_SPEED,
    LIMIT_ALLOWANCE,
    LOWER_BOUND,
    UPPER_BOUND,
    VELOCITY,
    advance,
    is_equal,
    plan_brake_together,
)
from basis_ik.arm.joints_kernel import step_joints as step_joints
from basis_ik.collision.collision_scene import Gap
from basis_ik.descent.tables_kernel import VARIABLE
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.search.prepare import prepared


class CapTuning(NamedTuple):
    """Tuning of the caps on the links' speeds, and of the way to an obstacle."""

    half_interval: float = 1e-4  # [s], half of the finite difference for a speed
    tolerance: float = 1e-4  # fraction of the caps that the fastest step may leave unused
    iterations: int = 10  # of the search for that step
    jogging: float = 0.98  # fraction of the caps that jogging uses; the rest is for changes
    # Fraction of the caps that is used. A controller's interpolation is a little faster between the
    # instants at which speeds are compared.
    sampled: float = 0.999
    corrections: int = 16  # iterations for the speed of a whole motion
    # Fractions of the joints' velocities. An arm before an obstacle rests instead of creeping.
    rests_below: float = 0.005
    leaves_above: float = 0.05  # the arm leaves this rest
    most_shortenings: int = 4  # of a way until all of it is free
    least_share: float = 1e-6  # of a way: less is none


CAP_TUNING = CapTuning()


class _Step(NamedTuple):
    """A candidate for the next step."""

    part: float
    """Largest fraction of a cap that the step and the braking after it use."""
    memory: FloatArray
    """(n, 27) after the step."""
    out: FloatArray
    """(n, 27) the same, with profiles that brake."""
    ticks: int
    """As in `arm.joints_kernel.step_joints`."""
    pair: int
    """The pair that would come too near; -1: none."""


class _Line(NamedTuple):
    """A straight way of the joints from rest that keeps all distances."""

    goal: FloatArray
    """(n,) its wanted end [rad or m]."""
    end: FloatArray
    """(n,) where it ends, before the pair in its way."""
    pair: int
    """That pair; -1: none."""
    revision: int
    """That of the clearance."""
    begins_outside: bool
    """Whether a joint begins outside its limits."""


class SpeedCaps:
    """Caps on the speed of a chain's tip, and of other links.

    Args:
        chain: The chain that moves.
        others: Chains from its root to the other links, with its joints only.

    Attributes:
        clearance: The distances that links keep; None: they may collide.
        capped: Whether any cap is set.
        blocked: The pair that keeps the arm from going on; None if none does.
    """

    def __init__(self, chain: Chain, others: Sequence[Chain] = ()) -> None:
        limbs = []
        for each in (chain, *others):
            limb = prepared(each).exact.copy()
            own = np.array([chain.joint_names.index(name) for name in each.joint_names])
            limb[:-1, VARIABLE] = own[limb[:-1, VARIABLE].astype(int)]
            limbs.append(limb)
        self._limbs = np.concatenate(limbs)
        self._starts = np.cumsum([0, *map(len, limbs)])
        self._caps: FloatArray = np.full((len(limbs), 2), np.inf)
        self.capped = False
        self.clearance: Clearance | None = None
        self.blocked: Gap | None = None
        self._gave_way = False  # whether the last step was one of braking
        self.reset()

    def twin(self) -> SpeedCaps:
        """Return the same caps without distances, for another thread."""
        twin = copy.copy(self)
        twin._caps, twin.clearance = self._caps.copy(), None
        twin.reset()
        return twin

    @property
    def active(self) -> bool:
        """Whether there is anything to keep."""
        return self.capped or self.clearance is not None

    def set(self, linear: float, angular: float) -> None:
        """Set the caps on the speed of all links.

        Links that are faster slow down as quickly as the joints' limits allow.

        Args:
            linear: Cap for a link's origin [m/s]; 0: none.
            angular: Cap for the link [rad/s]; 0: none.
        """
        caps = (linear or np.inf, angular or np.inf)
        self._caps[:] = np.multiply(caps, CAP_TUNING.sampled)
        if not self.active:
            self.reset()
        self.capped = min(caps) < np.inf

    def reset(self) -> None:
        """Discard the motion so far."""
        self._out: FloatArray | None = None
        self._out_ticks = 0
        self._share = 1.0
        self._goal: FloatArray | None = None
        self._way: FloatArray = np.zeros(0)
        self._line: _Line | None = None
        self._in_way: int | None = None
        if self.clearance is not None:
            self.clearance.reset()

    def observe(self, q: FloatArray, *, at_rest: bool) -> None:
        """Measure the distances before a step; arguments as of `Clearance.observe`."""
        self.blocked, self._gave_way = None, False
        if self.clearance is not None:
            revision = self.clearance.revision
            self.clearance.observe(q, at_rest=at_rest)
            if self.clearance.revision != revision:
                self._in_way = None  # the pairs have other numbers

    def part(self, q: FloatArray, v: FloatArray) -> float:
        """Return the largest fraction of a cap that joints at q (n,) with v (n,) use."""
        if not self.capped:
            return 0.0
        return self._between(
            q - CAP_TUNING.half_interval * v,
            q + CAP_TUNING.half_interval * v,
            2.0 * CAP_TUNING.half_interval,
        )

    def _between(self, before: FloatArray, after: FloatArray, time: float) -> float:
        return float(
            kernels.part_of_caps(self._limbs, self._starts, self._caps, before, after, time)
        )

    def allows(
        self, memory: FloatArray, then: FloatArray, limits: FloatArray, period: float
    ) -> bool:
        """Return whether a step keeps the caps; if so, store the braking after it.

        Args:
            memory: As in `arm.joints_kernel`, before the step.
            then: The same, after the step.
            limits: As in `arm.joints_kernel`.
            period: Time between the two [s].
        """
        self._goal = self._line = None  # the joints leave their way
        return self._accept(self._evaluated(memory, then, limits, period, 0))

    def _evaluated(
        self, memory: FloatArray, then: FloatArray, limits: FloatArray, period: float, ticks: int,
        only: int | None = None,
    ) -> _Step:  # fmt: skip
        """Return a step with what it uses.

        Args:
            memory: As of `step`.
            then: The same, after the step.
            limits: As of `step`.
            period: As of `step`.
            ticks: Of the step.
            only: The pair to look at, where it comes to rest; -1: none; None: all, on their way.
        """
        out, part, pair = then.copy(), 0.0, -1
        if self.capped:
            part = kernels.part_to_rest(
                memory, out, limits, period, self._limbs, self._starts, self._caps
            )
        else:
            plan_brake_together(out, limits)
        if self.clearance is not None and only is None:
            before = np.ascontiguousarray(memory[:, JOINT_POSITION])
            used, worst = self.clearance.part(out, before, period)
            part, pair = max(part, used), worst if used > LIMIT_ALLOWANCE else -1
        elif self.clearance is not None and only is not None and only >= 0:
            used = self.clearance.part_at_rest(out, only)
            part, pair = max(part, used), only if used > LIMIT_ALLOWANCE else -1
        return _Step(float(part), then, out, ticks, pair)

    def _accept(self, step: _Step) -> bool:
        if step.part <= LIMIT_ALLOWANCE:
            self._out, self._out_ticks = step.out, 0
            return True
        return False

    def keeps_clear(
        self, memory: FloatArray, then: FloatArray, limits: FloatArray, period: float
    ) -> bool:
        """Return whether a step keeps the distances, whatever its speed; as `allows`.

        If not, `blocked` is the pair that would come too near.
        """
        if self.clearance is None:
            return True
        self._goal = self._line = None  # the joints leave their way
        out = then.copy()
        plan_brake_together(out, limits)
        before = np.ascontiguousarray(memory[:, JOINT_POSITION])
        part, pair = self.clearance.part(out, before, period)
        if part > LIMIT_ALLOWANCE:
            self.blocked = self.clearance.gap(pair)
            return False
        self._out, self._out_ticks = out, 0
        return True

    def strikes(self, before: FloatArray, command: FloatArray) -> Gap | None:
        """Return a pair that a command brings too near, or the braking after it; None: none.

        This asks for all distances there by the shapes, and relies on nothing that `step` knows.
        Braking itself strikes nothing: there is nothing better.

        Args:
            before: Positions before the command (n,) [rad or m].
            command: Its positions (n,).
        """
        if self.clearance is None or self._gave_way:
            return None
        rest = command if self._out is None else np.ascontiguousarray(self._out[:, GOAL])
        for place in (command, rest):
            gap = self.clearance.nearer(before, place)
            if gap is not None:
                return gap
        return None

    def brakes(self, memory: FloatArray, limits: FloatArray, period: float) -> bool:
        """Return whether the links would keep their caps while the joints brake with new limits."""
        if self._evaluated(memory, memory, limits, period, 0).part > LIMIT_ALLOWANCE:
            return False
        self._out = None
        return True

    def brake(self, memory: FloatArray, limits: FloatArray, period: float) -> int:
        """Advance the stored braking by one period; return the periods braked so far."""
        if self._out is None:
            self._out, self._out_ticks = self.braking(memory, limits)
        self._out_ticks, self._gave_way = self._out_ticks + 1, True
        advance(self._out, limits, self._out_ticks * period)
        memory[:] = self._out
        return self._out_ticks

    def braking(self, memory: FloatArray, limits: FloatArray) -> tuple[FloatArray, int]:
        """Return a memory (n, 27) with the braking of `brake`, and the periods braked so far."""
        if self._out is not None:
            return self._out.copy(), self._out_ticks
        out = memory.copy()
        plan_brake_together(out, limits)
        return out, 0

    def step(
        self, memory: FloatArray, goal: FloatArray, velocity: FloatArray, acceleration: FloatArray,
        limits: FloatArray, period: float, ticks: int,
    ) -> int:  # fmt: skip
        """Advance a period as fast as the caps allow; arguments and result as of the kernel."""
        line = self.line(memory, goal, velocity, limits)
        goal, bounds = line or (goal, self._on_line(memory, goal, velocity, limits))

        def attempt(share: float, ticks: int, pair: int | None) -> _Step:
            then, slower = memory.copy(), bounds.copy()
            slower[VELOCITY] *= share
            ticks = step_joints(then, goal, velocity, acceleration, slower, period, ticks)
            return self._evaluated(memory, then, bounds if line else limits, period, ticks, pair)

        # The pair that was in the way is asked first: to look at all is most of a step's work.
        best, creeps = attempt(1.0, ticks, -1 if line else self._in_way), False
        if line is None and self._in_way is not None and best.pair < 0:
            best = attempt(1.0, ticks, None)
        self._in_way = None
        if best.part > LIMIT_ALLOWANCE:
            pair = best.pair
            best = self._fastest(
                memory, bounds, period, best, lambda share: attempt(share, 0, pair)
            )
            best = best._replace(ticks=0)
            if self.clearance is not None and pair >= 0:
                self.blocked, creeps = self.clearance.gap(pair), self._creeps(memory)
                # Only this pair was looked at, and only where it comes to rest.
                best = self._evaluated(memory, best.memory, limits, period, 0)
                self._in_way = pair
        if not creeps and self._accept(best):
            memory[:] = best.memory
            return best.ticks
        return self.brake(memory, limits, period)

    def line(
        self, memory: FloatArray, goal: FloatArray, velocity: FloatArray, limits: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return where the joints' straight way to a goal ends, and limits that keep them on it.

        It ends before the pair in its way. Braking does not leave it, so that no distance needs to
        be measured on it again.

        Args:
            memory: As of `step`, and so are the others.
            goal: (n,).
            velocity: (n,).
            limits: (5, n).

        Returns:
            The end (n,) and the limits (5, n); None without distances to keep, or if the joints are
            on no straight way from rest.
        """
        clearance, bounds = self.clearance, self._on_line(memory, goal, velocity, limits)
        if clearance is None or self._goal is None:
            self._line = None
            return None
        line = self._line
        if line is None or line.revision != clearance.revision or not is_equal(line.goal, goal):
            self._line = line = self._free_line(memory, goal, bounds, clearance)
        if line is None:
            return None
        self.blocked = clearance.gap(line.pair)
        if line.begins_outside:  # what is in its way may hold a joint there
            bounds = bounds.copy()
            bounds[LOWER_BOUND] = np.minimum(bounds[LOWER_BOUND], line.end)
            bounds[UPPER_BOUND] = np.maximum(bounds[UPPER_BOUND], line.end)
        return line.end, bounds

    def is_free(self, memory: FloatArray) -> bool:
        """Return whether the joints keep all distances on their profiles; see `step`.

        Args:
            memory: (n, 27) with profiles from where the distances were observed.
        """
        if self.clearance is None:
            return True
        pair, _ = self.clearance.pair_in_way(memory)
        self.blocked = self.clearance.gap(pair)
        return pair < 0

    def is_way_free(self, start: FloatArray, goal: FloatArray) -> bool:
        """Return whether nothing is in the joints' straight way from rest.

        Args:
            start: Where they rest (n,) [rad or m].
            goal: Where the way ends (n,).
        """
        if self.clearance is None:
            return True
        self.clearance.reset()
        self.observe(start, at_rest=True)
        return self.clearance.pair_on_line(start, goal) < 0

    def _free_line(
        self, memory: FloatArray, goal: FloatArray, bounds: FloatArray, clearance: Clearance
    ) -> _Line | None:
        """Return the free part of a way from rest; None in motion, or if none is found."""
        if memory[:, JOINT_SPEED : JOINT_RATE + 1].any():
            return None
        start, blocked = memory[:, JOINT_POSITION].copy(), -1
        lower, upper = bounds[LOWER_BOUND], bounds[UPPER_BOUND]
        outside, end = bool(((start < lower) | (start > upper)).any()), np.clip(goal, lower, upper)
        for _ in range(CAP_TUNING.most_shortenings):
            share, pair = clearance.free_share(start, end)
            if pair < 0:
                return _Line(goal.copy(), end, blocked, clearance.revision, outside)
            blocked = pair
            end = start + share * (end - start) if share > CAP_TUNING.least_share else start.copy()
        return _Line(goal.copy(), start, blocked, clearance.revision, outside)

    def _creeps(self, memory: FloatArray) -> bool:
        """Return whether an obstacle leaves so little room that the arm should rest."""
        still = not memory[:, JOINT_SPEED : JOINT_RATE + 1].any()
        return self._share < (CAP_TUNING.leaves_above if still else CAP_TUNING.rests_below)

    def _on_line(
        self, memory: FloatArray, goal: FloatArray, velocity: FloatArray, limits: FloatArray
    ) -> FloatArray:
        """Return limits (5, n) that keep the joints on their straight line in joint space.

        They are proportional to the joints' distances, so this holds at any speed.
        """
        if velocity.any():
            self._goal = None
        elif self._goal is None or not is_equal(goal, self._goal):
            still = not memory[:, JOINT_SPEED : JOINT_RATE + 1].any()
            self._way = np.abs(goal - memory[:, JOINT_POSITION])
            self._goal = goal.copy() if still and self._way.any() else None
        if self._goal is None:
            return limits
        moves, bounds = self._way > 0.0, limits.copy()
        for row in (VELOCITY, ACCELERATION, JERK):
            bounds[row, moves] = self._way[moves] * (bounds[row, moves] / self._way[moves]).min()
        return bounds

    def _fastest(
        self, memory: FloatArray, bounds: FloatArray, period: float,
        full: _Step, attempt: Callable[[float], _Step],
    ) -> _Step:  # fmt: skip
        """Return the step with the largest share of the velocities that the caps allow.

        At the cap the share hardly changes from period to period, so values near the last one are
        tried first. The velocities change little within a period, which brackets the relevant
        shares; the search between them is regula falsi (the Illinois method).
        """
        share = self._share
        for _ in range(2):
            best = attempt(share)
            if 1.0 - CAP_TUNING.tolerance <= best.part <= 1.0:
                self._share = share
                return best
            share = (
                min(share * (1.0 - 0.5 * CAP_TUNING.tolerance) / best.part, 1.0)
                if best.part
                else 1.0
            )
        v, a, jerk = memory[:, JOINT_SPEED], memory[:, JOINT_RATE], bounds[JERK]
        ahead = np.abs(v + 0.5 * a * np.abs(a) / jerk) / bounds[VELOCITY]
        reach = ((jerk * period + np.abs(a)) * period / bounds[VELOCITY]).max()
        low, high = max(float(ahead.max() - reach), 1e-6), min(1.0, float(ahead.max() + reach))
        best, f_high = attempt(low), full.part - 1.0
        f_low = best.part - 1.0
        for _ in range(CAP_TUNING.iterations):
            if best.part > LIMIT_ALLOWANCE or best.part >= 1.0 - CAP_TUNING.tolerance:
                break
            share = (low * f_high - high * f_low) / (f_high - f_low)
            tried = attempt(share)
            off = tried.part - 1.0 + 0.5 * CAP_TUNING.tolerance
            if tried.part <= 1.0:
                best, low, f_low, f_high = tried, share, off, 0.5 * f_high
            else:
                high, f_high, f_low = share, off, 0.5 * f_low
        self._share = low
        return best

    def pace(self, planned: Callable[[float], tuple[FloatArray, FloatArray]]) -> float:
        """Return the fraction of the joints' velocities with which a whole motion keeps the caps.

        Args:
            planned: Returns times (s,) and positions (s, n) of the motion with a given fraction.
        """
        share = 1.0
        for _ in range(CAP_TUNING.corrections):
            times, way = planned(share)
            way = np.ascontiguousarray(way)
            part = kernels.part_on_way(times, way, self._limbs, self._starts, self._caps)
            if part <= 1.0:
                break
            share *= CAP_TUNING.sampled / float(part)
        return share


def warm_up(chain: Chain) -> None:
    """Compile everything that caps may call, before a control loop starts."""
    caps, n = SpeedCaps(chain), len(chain.joint_names)
    memory, limits, here = np.zeros((n, JOINT_COLUMNS)), np.ones((5, n)), np.zeros(n)
    caps.set(1e-6, 0.0)
    caps.part(here, here)
    caps.step(memory, here + 0.5, here, here, limits, 0.01, 0)
    caps.brake(memory, limits, 0.01)
    caps.pace(lambda _: (np.arange(2.0), np.zeros((2, n))))
