# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jogging: the tip moves with a twist, and accelerates and brakes on its line.

The limits scale the twist as a whole: the joints' velocities grow and shrink together, and the tip
keeps the direction of the twist; docs/mathematics.md has the formulae. The path to a pose is a
straight line, because the twist always points to the pose.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, isfinite
from typing import NamedTuple

import numpy as np

from basis_ik.arm.caps import CAP_TUNING
from basis_ik.arm.clearance import Approach
from basis_ik.arm.goals import TwistGoal
from basis_ik.arm.joints_kernel import (
    ACCELERATION,
    JERK,
    JOINT_COLUMNS,
    LOWER_BOUND,
    UPPER_BOUND,
    VELOCITY,
)
from basis_ik.arm.joints_kernel import step_joints as step_joints
from basis_ik.arm.limiter import Limiter
from basis_ik.arm.limits import MotionLimits, fastest_before
from basis_ik.arm.line_stop import LineStop
from basis_ik.arm.profile_kernel import ROW, plan_stop, sample
from basis_ik.arm.singularity import SINGULARITY_TUNING, Gains, Notice, Singularities
from basis_ik.arm.twist_kernel import states_on_line, weights_on_line
from basis_ik.collision.collision_scene import Gap
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose import track as tracking
from basis_ik.solvers.pose.track import track
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Reason, Verdict, shown_length


class JogTuning(NamedTuple):
    """Tuning of a jog; fractions are of the joints' limits, unless stated otherwise."""

    velocity: float = 0.9  # fraction of velocity limits; the rest is for corrections
    change: float = 0.7  # fraction of acceleration and jerk for changes of the twist
    line_acceleration: float = 0.2  # fraction that keeps the tip on its line at constant speed
    stop: float = 0.5  # fraction of acceleration and jerk for the stop at a position limit
    largest_loss: float = 0.02  # fraction of a twist that may be lost away from singularities
    look_ahead: float = 0.1  # [s], for the joints' velocities
    warning_time: float = 0.5  # [s], look-ahead for the warning of a singularity
    direction_tolerance: float = 1e-9  # a smaller relative deviation counts as none
    brake_delay: float = 3.0  # [periods], until braking before a position limit takes effect
    rest_ratio: float = 1e-6  # a joint slower than another by this factor counts as at rest
    # A step off a singularity.
    step_size: float = 0.15  # [rad or m], largest motion of each joint
    step_way: float = 1e-3  # [m or rad], motion of the tip
    step_tolerance: float = 0.02  # of `step_way`
    # Only joints to spare keep away from their position limits.
    limit_distance: float = 0.5  # [rad, or reaches for a slide], at which a limit begins to count
    limit_share: float = 0.25  # largest such distance, as a fraction of the joint's range
    weight_time: float = 0.1  # [s], time constant of the joints' weights
    held_scale: float = 1e-3  # a twist scaled below this factor counts as held
    # The direction is fixed on the final part of a line, because samples are coarse there.
    final_way: float = 4.0  # its length, in distances that the largest jerk covers in a period
    end_tolerance: float = 1e-6  # [m and rad], distance to the end within which the tip only stops
    # Before a singularity the tip stops instead of creeping towards it.
    largest_growth: float = 0.3  # of the joints' velocities during the stop, relative
    least_speed: float = 0.04  # fraction of the tip's speed below which it stops
    # Next to a singularity, a short way is covered in joint space if it would take long.
    short_way: float = 5e-4  # [m and rad]
    long_time: float = 0.5  # [s]
    corrections: int = 3  # iterations for the next positions; each leaves a hundredth of the error
    largest_bound: float = 1e9  # of speed, acceleration, jerk of a tip whose motion needs no joint
    largest_across: float = 1e-3  # fraction of a twist across its line that changes no direction
    across_share: float = 0.05  # fraction of acceleration and jerk that reduces a smaller one
    # Starting and stopping on a line takes the least fraction of acceleration and jerk that does.
    first_share: float = 0.5
    share_step: float = 0.02  # increment of that fraction
    stop_shares: tuple[float, ...] = (1.0, 0.95, 0.9, 0.8, 0.7)  # tried in turn to stop on the line
    longest_stop: float = 1.3  # duration of that stop, relative to the joints' own time to rest
    most_slides: int = 4  # obstacles along which a twist is turned, one after the other


JOG_TUNING = JogTuning()


LINEAR_TWISTS = np.eye(6)[:3]  # twists along the axes


@dataclass(frozen=True)
class Held(Reason):
    """Why the tip is held although it should move.

    Attributes:
        distance: How far the two in its way are apart, for COLLISION [m]; inf: far, below 0: they
            overlap.
    """

    distance: float = 0.0

    def __str__(self) -> str:
        if self.verdict is Verdict.COLLISION:
            return f"held by {' and '.join(self.pair or ())}{self._apart()}"
        line = f"the line ends {shown_length(self.missing)} before: " if self.missing > 0.0 else ""
        if self.verdict is Verdict.LIMIT:
            return f"{line}{self.joint} is held by its limit {self.bound:.4g}"
        if self.joint is not None:
            return f"{line}near a singularity: {self.joint} would turn fast"
        return f"{line}singular: the joints cannot move the tip that way"

    def _apart(self) -> str:
        if not isfinite(self.distance):
            return ""
        overlap = ", which overlap by" if self.distance < 0.0 else ","
        return f"{overlap} {shown_length(abs(self.distance))}"


class Jog:
    """Moves a tip with a twist, one command each period.

    Args:
        chain: The chain that moves.
        limiter: Checks every command.

    Attributes:
        held: Why the tip is held although it should move; None if it is not.
        notice: The effect of a singularity on the motion; None if none is near.
        slides: Whether the tip slides along what is in its way, instead of stopping before it.
        singularities: "pass" them at the joints' largest speeds, "slow" the joints down, or "stop"
            before them.
    """

    def __init__(self, chain: Chain, limiter: Limiter) -> None:
        self._gains = Gains(chain)
        self.singularities: Singularities = "slow"
        self.slides = False
        self._chain, self._limiter = chain, limiter
        self._row: FloatArray = np.zeros(ROW)
        # Pose of a line on which the joints had to brake independently.
        self._blocked_target: RigidTransform | None = None
        n, self._exact = len(chain.joint_names), prepared(chain).exact
        self._axes: FloatArray = np.zeros((len(self._exact) - 1, 6))
        self._columns: FloatArray = np.zeros((n, 6))
        self._work: FloatArray = np.zeros((2, 12))
        self._moves: FloatArray = np.zeros((5, n))
        near = JOG_TUNING.limit_distance * np.where(chain.prismatic, chain.reach, 1.0)
        self._near: FloatArray = np.minimum(
            near, JOG_TUNING.limit_share * (chain.upper - chain.lower)
        )
        # Weights of the joints as `states_on_line` takes them: equal, present, and intended.
        self._even: FloatArray = np.stack([np.append(np.ones(n), 0.0), np.zeros(n + 1)])
        self._weights, self._aim = self._even, self._even[0]
        self._line: FloatArray = np.zeros((1, JOINT_COLUMNS))
        self._line_limits: FloatArray = np.zeros((5, 1))
        self._line_limits[LOWER_BOUND], self._line_limits[UPPER_BOUND] = -inf, inf
        self._used = True
        self.reset()

    def reset(self) -> None:
        """Restart from rest."""
        if not self._used:
            return
        self._used = False
        self._twist: FloatArray = np.zeros(6)  # along the axes of the last goal
        self._rate: FloatArray = np.zeros(6)  # its derivative
        self._in_tip = False
        self._final_direction: FloatArray | None = None  # on the final part of a line
        self._step_target: FloatArray | None = None  # positions after a step off a singularity
        self._tried: tuple[TwistGoal, bytes] | None = None
        self._stop: LineStop | None = None  # while the tip brakes
        self._since = 0  # periods since the stop began
        self.held: Held | None = None
        self.notice: Notice | None = None

    @property
    def moving(self) -> bool:
        """Whether the tip moves: accelerating, at speed, braking or leaving a singularity."""
        return bool(self._twist.any() or self._rate.any() or self._step_target is not None)

    def step(self, goal: TwistGoal | None) -> FloatArray:
        """Return the command (n,) of the next period.

        Args:
            goal: The desired twist; None or zero: brake on the line.
        """
        self._used, self.notice = True, None
        limiter, period = self._limiter, self._limiter.period
        if not (self.moving or limiter.at_rest):
            return limiter.brake()  # the motion to another kind of goal ends first
        q, desired = limiter.position, np.zeros(6)
        if goal is None or not any((*goal.linear, *goal.angular)):
            self._step_target = None
            self.held = self.held if goal is None else None
        elif self._step_target is None:
            self._turn_axes(q, in_tip=goal.in_tip)
            wanted = np.array([*goal.linear, *goal.angular])
            if len(q) > 6:
                self._weigh(q, wanted)
            desired = self._scaled(q, wanted) * limiter.override
            if self.held is not None and not self.moving and limiter.override > 0.0:
                self._step_target = self._step_off(q, goal)
        if self._step_target is not None:
            return self._step_on(self._step_target)
        if not (self.moving or desired.any()):
            return limiter.brake()
        if not desired.any():
            return self._brake(q)
        return self._advance(q, self._after(q, desired, period))

    def _brake(self, q: FloatArray) -> FloatArray:
        """Return the command (n,) of the next period for the quickest stop on the line.

        The joints stop independently if that is much quicker, as during a turn of the twist.
        """
        self._aim = self._weights[0]
        if self._stop is not None and self._advance_stop(self._stop, q):
            return self._limiter.position
        longest = JOG_TUNING.longest_stop * self._limiter.time_to_rest()
        for share in JOG_TUNING.stop_shares:
            self._since = 0
            self._stop = LineStop(
                q, self._twist, self._rate, self._limiter.bounds, share, self._line_states
            )
            if self._stop.duration > longest:
                break
            if self._advance_stop(self._stop, q):
                return self._limiter.position
        self.reset()
        return self._limiter.brake()

    def _advance_stop(self, stop: LineStop, q: FloatArray) -> bool:
        """Advance a stop by one period; return whether the limits allow it."""
        before, then = (stop.at((self._since + k) * self._limiter.period) for k in (0, 1))
        then[0] -= before[0]
        if not self._follow(q, then):
            return False
        self._since += 1
        return True

    def _line_states(self, q: FloatArray, twist: FloatArray, rate: FloatArray) -> FloatArray:
        return self._states(q, twist, rate)[0]

    def approach(self, target: RigidTransform) -> FloatArray | None:
        """Return the command (n,) of the next period on the line to a pose.

        The tip's origin moves on a line while the tip turns about one axis, in proportion, from the
        current pose; velocity across the line fades meanwhile. `held` is why the tip stops early.

        Args:
            target: root_T_tip at the end, which may change with every call.

        Returns:
            The command; None once the tip rests, within some micrometres of the end.
        """
        self._used, self.notice = True, None
        limiter, period = self._limiter, self._limiter.period
        self._step_target = self.held = None
        if not (self.moving or limiter.at_rest):
            return limiter.brake()  # the motion to another kind of goal ends first
        if limiter.override == 0.0:
            self._final_direction = None
            return self.step(None)
        if target is self._blocked_target:
            self.held = Held(Verdict.SINGULAR)
            return limiter.brake()
        q = limiter.position
        self._turn_axes(q, in_tip=False)
        way = _way(self._chain.forward(q), target)
        size = float(np.linalg.norm(way))
        along = way / size if size > JOG_TUNING.end_tolerance else np.zeros(6)
        if size > JOG_TUNING.end_tolerance and len(q) > 6:
            self._weigh(q, JOG_TUNING.velocity * self._bounds(q, along, self._even)[0] * along)
        fastest, _, jerk = self._bounds(q, along)
        if size > JOG_TUNING.final_way * jerk * period**3:
            self._final_direction = None
        elif self._final_direction is None:
            self._final_direction = along
        elif not self.moving:
            return None
        if self._final_direction is not None:
            along, size = self._final_direction, float(way @ self._final_direction)
        fastest = self._approach_speed(q, along, size, fastest)
        if abs(size) <= JOG_TUNING.end_tolerance or fastest == 0.0:  # there, or held
            if not self.moving:
                return None if self.held is None else limiter.brake()
            return self._brake(q)
        command = self._advance(q, self._approach_step(q, along, size, fastest))
        if not self.moving and not limiter.at_rest:
            self._blocked_target = target
        return command

    def _approach_speed(
        self, q: FloatArray, along: FloatArray, size: float, fastest: float
    ) -> float:
        """Return the largest speed towards a goal; set `held` if a limit or a singularity stops it.

        Arguments as of `_approach_step`.
        """
        if abs(size) > JOG_TUNING.end_tolerance:
            fastest = min(fastest, float(np.linalg.norm(self._scaled(q, fastest * along))))
            fastest *= self._factor_to_stop(q, fastest * along)
            if abs(size) < JOG_TUNING.short_way and abs(size) > JOG_TUNING.long_time * fastest:
                fastest = 0.0
        return fastest * self._limiter.override

    def _factor_to_stop(self, q: FloatArray, twist: FloatArray) -> float:
        """Return the factor on a twist with which the tip can still stop before a singularity.

        The joints' velocities grow towards a singularity, very quickly close to it. Their relative
        growth during the stop is proportional to the twist to the power 3/2.
        """
        if self.held is not None:
            return 0.0
        _, v, a = np.abs(self._states(q, twist)[0].T)
        time = 2.0 * float(np.sqrt(v / (JOG_TUNING.first_share * self._limiter.bounds[JERK])).max())
        growth = time * float(a.max()) / float(v.max())
        if growth <= JOG_TUNING.largest_growth:
            return 1.0
        part = float((JOG_TUNING.largest_growth / growth) ** (2.0 / 3.0))
        if part < JOG_TUNING.least_speed:
            self.held = Held(Verdict.SINGULAR)
            return 0.0
        return part

    def _bounds(
        self, q: FloatArray, along: FloatArray, weights: FloatArray | None = None
    ) -> FloatArray:
        """Return the largest speed, acceleration and jerk of the joints at q along a unit twist."""
        speeds = np.abs(self._states(q, along, None, weights)[0][:, 1])
        with np.errstate(divide="ignore"):  # a joint at rest sets no bound
            most = self._limiter.bounds[[VELOCITY, ACCELERATION, JERK]] / speeds
        least: FloatArray = np.minimum(most.min(axis=1), JOG_TUNING.largest_bound)
        return least

    def _approach_step(
        self, q: FloatArray, along: FloatArray, size: float, fastest: float
    ) -> FloatArray:
        """Return displacement, twist and rate (3, 6) after a period of the quickest approach.

        Args:
            q: Positions of the joints (n,) [rad or m].
            along: Unit twist towards the goal (6,).
            size: Distance to the goal along it.
            fastest: Largest speed along it.
        """
        speed, push = float(self._twist @ along), float(self._rate @ along)
        across, rate_across = self._twist - speed * along, self._rate - push * along
        turns = np.linalg.norm(across) > JOG_TUNING.largest_across * np.linalg.norm(self._twist)
        part, trim = (0.5, 0.5 * JOG_TUNING.change) if turns else (1.0, JOG_TUNING.across_share)
        line, limits = self._line, self._line_limits
        _, top, jerk = part * self._bounds(q, along)
        share = min(JOG_TUNING.change, self._share_to_stop(size, speed, push, top, jerk))
        limits[VELOCITY:, 0] = fastest, share * top, share * jerk
        line[0, :3] = 0.0, speed, push
        still = np.zeros(1)
        step_joints(line, np.array([size]), still, still, limits, self._limiter.period, 0)
        left = self._faded(q, across, rate_across, self._limiter.period, trim)
        return np.outer(line[0, :3], along) + left

    def _share_to_stop(
        self, size: float, speed: float, push: float, top: float, jerk: float
    ) -> float:
        """Return the fraction of acceleration and jerk that a stop within a distance (size) needs.

        It is as small as possible: the bounds change along the line, which needs a reserve.
        """
        size, speed, push = (size, speed, push) if size > 0.0 else (-size, -speed, -push)
        share = JOG_TUNING.first_share
        while share < JOG_TUNING.change:
            plan_stop(speed, push, share * top, share * jerk, self._row)
            if sample(self._row, 0.0, speed, push, inf)[0] <= size:
                break
            share += JOG_TUNING.share_step
        return share

    def _advance(self, q: FloatArray, then: FloatArray) -> FloatArray:
        """Return the command (n,) of the next period; arguments as of `_follow`."""
        self._stop = None
        if self._follow(q, then):
            return self._limiter.position
        self.reset()
        return self._limiter.brake()

    def _follow(self, q: FloatArray, then: FloatArray) -> bool:
        """Advance by one period; return whether the limits allow it.

        Args:
            q: Positions of the joints (n,).
            then: The tip's displacement in the period, its twist and rate after it (3, 6).
        """
        limiter, period = self._limiter, self._limiter.period
        lower, upper = (
            np.minimum(limiter.bounds[LOWER_BOUND], q),
            np.maximum(limiter.bounds[UPPER_BOUND], q),
        )
        _, v, a = limiter.state.T
        way, twist, rate = then
        # A constant jerk connects the states before and after. The joints' displacement deviates
        # from that motion in proportion to the tip's.
        smooth = self._twist + twist + period / 6.0 * (self._rate - rate)
        middle = q + 0.5 * period * (v + 0.25 * period * a)
        extra = self._speeds(middle, way - 0.5 * period * smooth)
        goal = q + period * (v + 0.5 * period * a)
        weights = self._next_weights()
        for _ in range(JOG_TUNING.corrections):
            states, _ = self._states(goal, twist, rate, weights)
            smooth = v + states[:, 1] + period / 6.0 * (a - states[:, 2])
            goal = np.clip(q + 0.5 * period * smooth + extra, lower, upper)
        states[:, 0] = goal
        if limiter.take(states):
            self._twist, self._rate, self._weights = twist, rate, weights
            return True
        return False

    def _weigh(self, q: FloatArray, twist: FloatArray) -> None:
        """Choose the weights with which joints to spare make a twist within their limits.

        At rest the joints take the weights at once.

        Args:
            q: Positions of the joints (n,).
            twist: The desired twist (6,).
        """
        bounds = self._limiter.bounds
        gaps = np.maximum([q - bounds[LOWER_BOUND], bounds[UPPER_BOUND] - q], 0.0)
        stops = (JOG_TUNING.stop * bounds[[ACCELERATION, JERK]]).T.tolist()
        caps = np.array(
            [
                [fastest_before(gap, *stop) for gap, stop in zip(row, stops, strict=True)]
                for row in gaps.tolist()
            ]
        )
        caps = np.minimum(
            np.minimum(caps, gaps / (JOG_TUNING.brake_delay * self._limiter.period)),
            JOG_TUNING.velocity * bounds[VELOCITY],
        )
        caps[0] *= -1.0
        self._moves[0], self._aim = q, np.zeros(len(q) + 1)
        weights_on_line(
            (self._exact, twist, np.zeros(6), self._in_tip),
            (self._axes, self._columns, self._work), (bounds, self._near), caps, self._moves,
            self._aim,
        )  # fmt: skip
        if not self.moving:
            self._weights = np.stack([self._aim, np.zeros(len(q) + 1)])

    def _next_weights(self) -> FloatArray:
        """Return the weights and their rates (2, n + 1) a period from now, without overshoot."""
        (weights, rates), period = self._weights, self._limiter.period
        off = weights - self._aim
        if not (off.any() or rates.any()):
            return self._weights
        # Critically damped: (off + slope t) exp(-t / weight_time).
        slope, fade = rates + off / JOG_TUNING.weight_time, exp(-period / JOG_TUNING.weight_time)
        left = off + slope * period
        return np.stack([self._aim + left * fade, (slope - left / JOG_TUNING.weight_time) * fade])

    def _capped(self, q: FloatArray, twist: FloatArray) -> FloatArray:
        """Return a twist (6,), scaled down to the caps on speeds."""
        for ahead in (0.0, JOG_TUNING.look_ahead):
            at = q + ahead * self._speeds(q, twist)
            part = self._limiter.part_of_caps(at, self._speeds(at, twist))
            twist = twist if part <= CAP_TUNING.jogging else CAP_TUNING.jogging / part * twist
        return twist

    def _step_off(self, q: FloatArray, goal: TwistGoal) -> FloatArray | None:
        """Return positions slightly beyond a singularity in the desired direction, or None."""
        size = max(float(np.linalg.norm(goal.linear)), float(np.linalg.norm(goal.angular)))
        attempt = (goal, q.tobytes())
        if self.held != Held(Verdict.SINGULAR) or size == 0.0 or attempt == self._tried:
            return None
        self._tried = attempt
        root_T_tip = self._chain.forward(q)
        axes = root_T_tip.rotation if goal.in_tip else np.eye(3)
        way, turn = (
            axes @ np.array(v) * JOG_TUNING.step_way / size for v in (goal.linear, goal.angular)
        )
        rotation = RigidTransform.exp(np.concatenate([np.zeros(3), turn])).rotation
        target = RigidTransform.from_rotation_translation(
            rotation @ root_T_tip.rotation, root_T_tip.translation + way
        )
        near = JOG_TUNING.step_tolerance * JOG_TUNING.step_way
        found = track(
            self._chain,
            target,
            q,
            JOG_TUNING.step_size,
            position_tolerance=near,
            orientation_tolerance=near,
        )
        return found.positions.copy() if found.success else None

    def _step_on(self, beyond: FloatArray) -> FloatArray:
        """Return the next command of a step off a singularity, from rest to rest."""
        self.held = None
        command = self._limiter.step(beyond)
        if self._limiter.at_rest:
            self._step_target = None
        return command

    def _turn_axes(self, q: FloatArray, *, in_tip: bool) -> None:
        """Express the current motion along the axes of a goal."""
        if in_tip != self._in_tip:
            rotation = self._chain.forward(q).rotation
            turn = rotation.T if in_tip else rotation
            # Along axes that turn with the tip, the derivative lacks the part of their rotation.
            turned = np.cross(self._twist[3:], self._twist[:3])
            self._rate[:3] += -turned if in_tip else turned
            for vector in (self._twist, self._rate):
                vector[:3], vector[3:] = turn @ vector[:3], turn @ vector[3:]
            self._in_tip, self._stop = in_tip, None

    def _states(
        self, q: FloatArray, twist: FloatArray, rate: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> tuple[FloatArray, float]:  # fmt: skip
        """Return positions, velocities, accelerations (n, 3) for a twist, and its lost fraction."""
        states = np.zeros((len(q), 3))
        states[:, 0] = q
        rate = np.zeros(6) if rate is None else rate
        lost = states_on_line(
            (self._exact, twist, rate, self._in_tip), (self._axes, self._columns, self._work),
            (self._limiter.bounds, self._near), self._weights if weights is None else weights,
            self._moves, states,
        )  # fmt: skip
        return states, float(lost)

    def _speeds(self, q: FloatArray, twist: FloatArray) -> FloatArray:
        return self._states(q, twist)[0][:, 1]

    def _scaled(self, q: FloatArray, twist: FloatArray) -> FloatArray:
        """Return a twist (6,), scaled down to the joints' limits; set `held` if that is zero."""
        if self._limiter.capped:
            twist = self._capped(q, twist)
        twist, obstacle = self._before_obstacles(q, twist)
        states, lost = self._states(q, twist)
        to_stop, joint = self._to_stop(q, states[:, 1])
        here = self._steady(states)
        states_ahead, _ = self._states(q + JOG_TUNING.look_ahead * here * states[:, 1], twist)
        ahead = self._steady(states_ahead)
        self.held = obstacle
        # Slow motion out of a singularity is allowed, but not into one.
        if (lost > JOG_TUNING.largest_loss and len(q) >= 6) or ahead <= min(
            here, JOG_TUNING.held_scale
        ):
            self.held = Held(Verdict.SINGULAR)
        elif to_stop <= JOG_TUNING.held_scale:
            bound = self._limiter.bounds[
                UPPER_BOUND if states[joint, 1] > 0.0 else LOWER_BOUND, joint
            ]
            self.held = Held(Verdict.LIMIT, joint=self._chain.joint_names[joint], bound=bound)
        part = min(here, ahead, to_stop)
        if self.held is None and len(q) >= 6:
            part = self._limit_by_gain(q, twist, part, states[:, 1], states_ahead[:, 1])
        return np.zeros(6) if self.held else part * twist

    def _before_obstacles(self, q: FloatArray, twist: FloatArray) -> tuple[FloatArray, Held | None]:
        """Return a twist (6,) with which the arm can stop before what is in its way.

        Also returns why it is held, if nothing of the twist is left. Arguments as of `_scaled`.
        """
        wanted = twist
        for _ in range(JOG_TUNING.most_slides if self.slides else 0):
            closing = self._approaches(q, twist)
            if not closing:
                return twist, None
            across = [-float(closing[0].gradient @ self._speeds(q, axis)) for axis in LINEAR_TWISTS]
            size = float(np.dot(across, across))
            if size <= JOG_TUNING.direction_tolerance:
                break
            twist = twist.copy()
            twist[:3] -= (closing[0].rate - closing[0].allowed) / size * np.array(across)
        closing = self._approaches(q, twist)
        if not closing:
            return twist, None
        first = closing[0]
        twist = first.allowed / first.rate * twist
        held = np.linalg.norm(twist) <= JOG_TUNING.held_scale * np.linalg.norm(wanted)
        return twist, held_by(first.gap) if held else None

    def _approaches(self, q: FloatArray, twist: FloatArray) -> list[Approach]:
        return self._limiter.approaches(
            self._speeds(q, twist), JOG_TUNING.stop, JOG_TUNING.brake_delay
        )

    def _limit_by_gain(
        self, q: FloatArray, twist: FloatArray, part: float, here: FloatArray, ahead: FloatArray
    ) -> float:
        """Return the factor on a twist with regard to singularities; set `notice`.

        Args:
            q: Positions of the joints (n,).
            twist: The desired twist (6,).
            part: The factor that all other limits allow.
            here: Velocities of the joints for the whole twist (n,).
            ahead: The same at the positions ahead.
        """
        gains, bounds = self._gains, self._limiter.bounds
        now = gains.of(here, twist)
        if self.singularities == "slow":
            for speeds in (here, ahead):
                most = gains.most(gains.of(speeds, twist), JOG_TUNING.velocity) * bounds[VELOCITY]
                with np.errstate(divide="ignore"):
                    part = min(part, float((most / np.abs(speeds)).min()))
        soon = gains.of(self._speeds(q + JOG_TUNING.warning_time * part * here, twist), twist)
        if self.singularities == "stop":
            rest = part * np.abs(here)
            times = rest / bounds[ACCELERATION] + 2.0 * np.sqrt(rest / bounds[JERK])
            way = 0.5 * float(times.max()) + JOG_TUNING.brake_delay * self._limiter.period
            there = gains.of(self._speeds(q + way * part * here, twist), twist)
            if there.max() >= max(SINGULARITY_TUNING.very_near, float(now.max())):
                self.held = Held(Verdict.SINGULAR, joint=", ".join(gains.names(there)))
        if self.held is None:
            self.notice = gains.notice(now, soon)
        return part

    def _steady(self, states: FloatArray) -> float:
        """Return the factor on a twist, at most 1, for the limits of velocity and acceleration."""
        bounds, (_, v, a) = self._limiter.bounds, np.abs(states.T)
        with np.errstate(divide="ignore"):
            fast = JOG_TUNING.velocity * bounds[VELOCITY] / v
            curved = np.sqrt(JOG_TUNING.line_acceleration * bounds[ACCELERATION] / a)
        return min(1.0, float(fast.min()), float(curved.min()))

    def _to_stop(self, q: FloatArray, v: FloatArray) -> tuple[float, int]:
        """Return the factor on velocities (n,) to let all joints stop, and the worst joint."""
        bounds, speeds = self._limiter.bounds, np.abs(v)
        moves = speeds > JOG_TUNING.rest_ratio * speeds.max()
        if not moves.any():
            return inf, 0
        gap = np.where(v > 0.0, bounds[UPPER_BOUND] - q, q - bounds[LOWER_BOUND])
        late = JOG_TUNING.brake_delay * self._limiter.period
        time = np.divide(gap, speeds, out=np.full_like(v, inf), where=moves)
        joint = int(np.argmin(time))
        left = float(time[joint]) - late * abs(self._limiter.velocity[joint]) / speeds[joint]
        top, jerk = (JOG_TUNING.stop * bounds[[ACCELERATION, JERK]][:, moves] / speeds[moves]).min(
            axis=1
        )
        part = fastest_before(left, float(top), float(jerk))
        return min(part, float(time[joint]) / late), joint

    def _after(self, q: FloatArray, desired: FloatArray, time: float) -> FloatArray:
        """Return displacement, twist and rate (3, 6) after a time of change to a desired twist."""
        change = self._faded(q, self._twist - desired, self._rate, time, JOG_TUNING.change)
        change[:2] += time * desired, desired
        return change

    def _faded(
        self, q: FloatArray, off: FloatArray, rate: FloatArray, time: float, share: float
    ) -> FloatArray:
        """Return displacement, twist and rate (3, 6) of a part of the twist that fades to zero.

        It fades as quickly as possible. Meanwhile the rate across it fades with half of the jerk.

        Args:
            q: Positions of the joints (n,).
            off: That part (6,).
            rate: Its rate (6,).
            time: Since now [s].
            share: Fraction of the joints' limits of acceleration and jerk to use.
        """
        size, part, acceleration = float(np.linalg.norm(off)), off, share
        if size == 0.0:
            part, size = rate, float(np.linalg.norm(rate))
        if size == 0.0:
            return np.zeros((3, 6))
        away = part / size
        along = float(rate @ away)
        across = rate - along * away
        fading = 0.0
        jerk = self._limiter.bounds[JERK]
        if np.linalg.norm(across) > JOG_TUNING.direction_tolerance * np.linalg.norm(rate):
            share = 0.5 * share
            fading = float((np.abs(self._speeds(q, across)) / (share * jerk)).max())
        speeds = np.abs(self._speeds(q, away))
        with np.errstate(divide="ignore"):  # a joint at rest sets no bound
            top = float((acceleration * self._limiter.bounds[ACCELERATION] / speeds).min())
            push = float((share * jerk / speeds).min())
        left = float(off @ away)
        plan_stop(left, along, top, push, self._row)
        faded = np.outer(sample(self._row, 0.0, left, along, time)[:3], away)
        if fading > 0.0:
            spent = min(time, fading)
            turned = spent * (1.0 - 0.5 * spent / fading)
            faded[0] += across * spent * spent * (0.5 - spent / (6.0 * fading))
            faded[0] += across * (time - spent) * turned
            faded[1] += across * turned
            faded[2] += across * (1.0 - spent / fading)
        return faded


def held_by(gap: Gap) -> Held:
    """Return that a pair holds the arm."""
    return Held(Verdict.COLLISION, pair=gap.names, distance=gap.distance + gap.padding)


def _way(root_T_tip: RigidTransform, target: RigidTransform) -> FloatArray:
    """Return the displacement to a pose (6,) along the root's axes: translation [m], turn [rad]."""
    turn = (target @ root_T_tip.inverse()).log()[3:]
    return np.concatenate([target.translation - root_T_tip.translation, turn])


def warm_up(chain: Chain, limits: MotionLimits) -> None:
    """Compile everything that jogging may call, before a control loop starts."""
    middle = np.clip(0.0, limits.lower, limits.upper)
    tracking.warm_up(chain)
    limiter = Limiter(limits, 0.01, middle)
    jog = Jog(chain, limiter)
    jog.step(TwistGoal((0.0, 0.0, 0.0), (1e-3, 1e-3, 1e-3)))
    jog.step(None)
    # A step off a singularity does not reach these.
    jog._after(middle, np.full(6, 1e-3), limiter.period)
    jog._approach_step(middle, np.full(6, 0.4), 1e-3, 1e-3)
    jog._weigh(middle, np.full(6, 1e-3))  # nor six joints this
