# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands towards a goal, limited in position, velocity, acceleration and jerk."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm import joints_kernel as kernels
from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.clearance import Approach
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.profile_kernel import duration
from basis_ik.collision.collision_scene import Gap, Scene
from basis_ik.numerics.arrays import FloatArray
from basis_ik.transforms.checks import finite_array

WIDEST_SPACING = 0.02  # [s], largest spacing of a window's commands, unless the period is larger


class BrakeTuning(NamedTuple):
    """Tuning of the braking."""

    # Pieces of the braking at the end of a window. A controller's interpolation exceeds the
    # acceleration limits by at most 4 %; with three pieces, by 5 %.
    pieces: int = 5
    shortest_segment: float = 1e-6  # [s]: shorter ones change nothing that can be seen
    longest_stop: float = 1.0  # [s], with a reduced acceleration, while the joints move


BRAKE_TUNING = BrakeTuning()


class CurveTuning(NamedTuple):
    """Tuning of the search for the place on a curve that is nearest to a position."""

    parts: int = 16  # of a curve that is split
    time_tolerance: float = 1e-10  # [s]: a time is not searched any closer
    rounding: float = 1e-15  # of positions of 1 rad or m: they are the same
    off_tolerance: float = 1e-2  # of a squared distance: off the way, a place is near enough


CURVE_TUNING = CurveTuning()


CHANGE_ROWS = [kernels.ACCELERATION, kernels.JERK]


def _splitting() -> FloatArray:
    """Return the matrix (6 * parts, 6) from a Bézier curve's control points to its parts'."""
    half = np.array([[math.comb(i, j) / 2.0**i for j in range(6)] for i in range(6)])
    halves, parts = np.concatenate([half, half[::-1, ::-1]]), np.eye(6)[np.newaxis]
    while len(parts) < CURVE_TUNING.parts:
        parts = (halves @ parts).reshape(-1, 6, 6)
    return parts.reshape(-1, 6)


SPLIT = _splitting()

# Of the coefficients of s³, s⁴, s⁵: factors of the way, of both velocities, and of halves of both
# accelerations.
OF_WAY, OF_V, OF_W, OF_A, OF_B = np.array(
    [[10.0, -15.0, 6.0], [-6.0, 8.0, -3.0], [-4.0, 7.0, -3.0], [-3.0, 3.0, -1.0], [1.0, -2.0, 1.0]]
)[..., None]
# Of the position and its derivatives: factors of s² to s⁵.
OF_2, OF_3, OF_4, OF_5 = np.array([[1, 2, 2], [1, 3, 6], [1, 4, 12], [1, 5, 20]], dtype=float)[
    ..., None
]


class Motion(NamedTuple):
    """A motion from rest to rest, sampled.

    Attributes:
        times: Times since its start [s], shape (k,); the last is its duration.
        positions: shape (k, n) [rad or m].
        velocities: shape (k, n) [rad/s or m/s].
        accelerations: shape (k, n) [rad/s² or m/s²].
    """

    times: FloatArray
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray

    def of(self, joints: NDArray[np.intp]) -> Motion:
        """Return the motion of some of the joints, by their indices (m,)."""
        states = (np.ascontiguousarray(each[:, joints]) for each in self[1:])
        return Motion(self.times, *states)

    def at(self, time: float) -> FloatArray:
        """Return positions, velocities and accelerations at a time, shape (n, 3).

        Between two samples the joints are on the quintic that fits both, as in a controller that
        follows these samples.

        Args:
            time: Time since the motion's start [s]; before it and after the end the joints rest.
        """
        times = self.times
        k = int(times.searchsorted(time, side="right")) - 1
        if k < 0 or k >= len(times) - 1:
            state = np.zeros((self.positions.shape[1], 3))
            state[:, 0] = self.positions[0 if k < 0 else -1]
            return state
        width = times[k + 1] - times[k]
        square = width**2
        s = (time - times[k]) / width
        # Velocities and halves of accelerations are scaled to the interval as unit of time.
        here = self.positions[k]
        v, w = self.velocities[k : k + 2] * width
        a, b = 0.5 * square * self.accelerations[k : k + 2]
        # In place, as a window is asked several times a period.
        c = OF_WAY * (self.positions[k + 1] - here)
        for factors, value in ((OF_V, v), (OF_W, w), (OF_A, a), (OF_B, b)):
            c += factors * value
        # Horner's scheme of the position and its derivatives at once: a row each.
        state = OF_4 * c[1]
        state += s * OF_5 * c[2]
        state *= s
        state += OF_3 * c[0]
        state *= s
        state += OF_2 * a
        state[:2] *= s
        state[:2] += v
        state[0] *= s
        state[0] += here
        state[1] /= width
        state[2] /= square
        return np.ascontiguousarray(state.T)

    def time_of(self, positions: FloatArray, since: float = 0.0) -> float:
        """Return the time at which the motion is at positions that are on its way [s].

        Args:
            positions: The positions (n,).
            since: Earliest time to consider [s].

        Returns:
            The first such time, to a nanosecond if a joint then is faster than 1e-5 rad/s or m/s.
            Compare the positions then with the given ones: off the way it is near them at best.
        """
        first = max(int(np.searchsorted(self.times, since, side="right")) - 1, 0)
        if first >= len(self.times) - 1:
            return float(self.times[-1])
        begins = np.array([max(since, self.times[first]), *self.times[first + 1 :]])
        states = np.stack(self[1:])[:, first:]
        states[:, 0] = self.at(float(begins[0])).T
        states[0] -= positions
        widths = np.append(np.diff(begins), 0.0)  # the last curve is the end
        curves = control_points(states, widths)
        rounding = (CURVE_TUNING.rounding * (1.0 + float(np.abs(positions).max()))) ** 2
        while True:  # each curve is in the box around its control points
            outside = np.maximum(np.maximum(curves.min(axis=1), -curves.max(axis=1)), 0.0)
            least, off = (np.einsum("kn,kn->k", each, each) for each in (outside, curves[:, 0]))
            allowed = rounding + CURVE_TUNING.off_tolerance * off.min()
            near = least <= off.min() + allowed
            split = near & (off - least > allowed) & (widths > CURVE_TUNING.time_tolerance)
            if not split.any():
                return float(begins[near].min())
            parts = widths[split, np.newaxis] / CURVE_TUNING.parts
            times = begins[split, np.newaxis] + parts * np.arange(CURVE_TUNING.parts)
            pieces = (SPLIT @ curves[split]).reshape(-1, *curves.shape[1:])
            near &= ~split
            begins = np.concatenate([begins[near], times.ravel()])
            widths = np.concatenate([widths[near], np.repeat(parts, CURVE_TUNING.parts)])
            curves = np.concatenate([curves[near], pieces])


class Limiter:
    """Turns goals into commands, one each period.

    The commands are samples of a continuous motion that keeps all limits at all times. Therefore
    their n-th differences, divided by the period to the n-th power, also keep the limits of
    velocity, acceleration and jerk, up to rounding. Each joint moves as quickly as it can. From
    rest all joints move on a straight line in joint space (see `arm.joints_kernel.plan_joints`).
    The last command equals the goal, bit for bit.

    Args:
        limits: Limits of the n joints.
        period: Time between two commands [s], positive.
        positions: Current positions of the joints (n,) [rad or m].
        caps: Caps on the speeds of links; None: none.

    Attributes:
        limits: As given.
        period: As given.
        braking: Whether the last command was from `brake`.
        override: As set by `slow_down`.
        to_rest: Whether the motion ends at a goal at rest; see `scale`.
    """

    def __init__(
        self,
        limits: MotionLimits,
        period: float,
        positions: FloatArray,
        caps: SpeedCaps | None = None,
    ) -> None:
        self.limits, self.period, self._caps = limits, period, caps
        n = len(limits.lower)
        self._memory: FloatArray = np.zeros((n, kernels.JOINT_COLUMNS))
        self._before = self._memory.copy()
        self._still = np.zeros(n)
        self._wanted = limits.scaled(1.0, 1.0, 1.0)
        self._scaling = (1.0, 1.0, 1.0)
        self.override, self.to_rest, self._renewed = 1.0, False, False
        self.reset(positions)

    def reset(self, positions: FloatArray) -> None:
        """Restart from rest at measured positions (n,).

        Raises:
            ShapeError: The number of positions is wrong.
            NotFiniteError: One of them is NaN or infinite.
        """
        n = len(self._memory)
        if positions.shape != (n,) or not kernels.begin(self._memory, positions):
            finite_array("positions", positions, n)
        self._before[:] = self._memory
        if self._caps is not None:
            self._caps.reset()
        self._kept = self._wanted
        self._ticks, self.braking = 0, False

    def go_on(self, states: FloatArray) -> None:
        """Restart in motion.

        Args:
            states: Positions, velocities and accelerations, shape (n, 3), all finite. Between two
                samples of a motion they may be some thousandths beyond the limits, and lead beyond
                them; they are then reduced, because the next command must not be.
        """
        kept = self._kept
        self.reset(np.ascontiguousarray(states[:, 0]))
        limits = self.limits
        velocity = np.clip(states[:, 1], -limits.velocity, limits.velocity)
        acceleration = np.clip(states[:, 2], -limits.acceleration, limits.acceleration)
        # A joint that gains speed must still be able to end that at its largest speed.
        steepest = np.sqrt(2.0 * limits.jerk * (limits.velocity - np.abs(velocity)))
        gains = velocity * acceleration > 0.0
        acceleration = np.where(gains, np.clip(acceleration, -steepest, steepest), acceleration)
        self._memory[:, :3] = np.column_stack([states[:, 0], velocity, acceleration])
        self._before[:, :3] = self._memory[:, :3]
        if not self.at_rest:
            self._kept = kept

    @property
    def state(self) -> FloatArray:
        """Positions, velocities and accelerations of the last command (n, 3)."""
        return np.array(self._memory[:, :3])

    def undo(self) -> None:
        """Undo the last command: the next one continues from its predecessor."""
        self._memory[:] = self._before
        if self._caps is not None:
            self._caps.reset()
        self._ticks = 0

    def scale(self, velocity: float, acceleration: float = 1.0, jerk: float = 1.0) -> None:
        """Use only a fraction of the limits, each in (0, 1].

        They take effect once all joints can stop before their position limits with them, at rest
        at the latest. A joint that is then too fast slows down as quickly as its limits allow.
        Acceleration and jerk of a motion `to_rest` are those with which it began (see `renew`):
        with less of them it would end beyond its goal, and with more leave its straight way. They
        are never reduced while the joints brake, and otherwise once all can stop in a second with
        less of them.

        Raises:
            MotionLimitError: A fraction is not in (0, 1].
        """
        if (velocity, acceleration, jerk) != self._scaling:
            self._wanted = self.limits.scaled(velocity, acceleration, jerk)
            self._scaling = (velocity, acceleration, jerk)

    def renew(self) -> None:
        """Let the next `step` or `plan` begin another motion, although the joints may be moving.

        It uses less acceleration and jerk unless a joint would then pass its goal.
        """
        self._renewed = True

    def slow_down(self, override: float) -> None:
        """Scale the velocities of motions to goals.

        Unlike `scale`, this does not change the limits of `take`, whose caller must slow down on
        its own line.

        Args:
            override: The fraction, in [0, 1]; at 0 `step` brakes.
        """
        if override != self.override:
            self.override, self._ticks = override, 0

    @property
    def position(self) -> FloatArray:
        """The last command (n,) [rad or m]."""
        return np.array(self._memory[:, kernels.JOINT_POSITION])

    @property
    def velocity(self) -> FloatArray:
        """The velocity at the last command (n,) [rad/s or m/s]."""
        return np.array(self._memory[:, kernels.JOINT_SPEED])

    @property
    def bounds(self) -> FloatArray:
        """The current limits, shape (5, n), as from `MotionLimits.scaled`; read-only."""
        return self._kept

    @property
    def at_rest(self) -> bool:
        """Whether velocity and acceleration are zero."""
        return not self._memory[:, kernels.JOINT_SPEED : kernels.JOINT_RATE + 1].any()

    def step(
        self,
        goal: FloatArray,
        velocity: FloatArray | None = None,
        acceleration: FloatArray | None = None,
    ) -> FloatArray:
        """Return the command (n,) of the next period.

        Args:
            goal: Position to reach (n,) [rad or m], clamped to the limits. NaN gives a NaN command.
            velocity: Velocity of the goal (n,) [rad/s or m/s]; None: zero.
            acceleration: Acceleration of the goal (n,) [rad/s² or m/s²]; None: zero.
        """
        if self.override == 0.0:
            return self.brake()
        self._prepare(braking=False, goal=goal)
        velocity = self._still if velocity is None else velocity
        acceleration = self._still if acceleration is None else acceleration
        step = kernels.step_joints if self._capped is None else self._capped.step
        self._ticks = step(
            self._memory, goal, velocity, acceleration, self._slowed(), self.period, self._ticks
        )
        return self.position

    def take(self, states: FloatArray) -> bool:
        """Make given states the next command, if they keep all limits.

        Args:
            states: Positions, velocities and accelerations a period from now, shape (n, 3).

        Returns:
            Whether they were accepted: no joint exceeds a limit, and each can stop before its
            position limits.
        """
        self._prepare(braking=False)
        self._ticks = 0
        if not kernels.take(self._memory, states, self._kept, self.period):
            return False
        if self._capped is not None and not self._capped.allows(
            self._before, self._memory, self._kept, self.period
        ):
            self._memory[:] = self._before
            return False
        return True

    def lead(self, states: FloatArray) -> FloatArray:
        """Make given states (n, 3) the next command, and return its positions (n,).

        The caller knows that they keep the limits; of acceleration and jerk nothing is checked. If
        a pair would come too near, `blocked` is set, and the joints brake instead.
        """
        self._prepare(braking=False)
        self._memory[:, :3], self._ticks, caps = states, 0, self._capped
        if caps is None or caps.keeps_clear(self._before, self._memory, self._kept, self.period):
            return self.position
        self._memory[:] = self._before
        self._ticks = caps.brake(self._memory, self._kept, self.period)
        return self.position

    def brake(self) -> FloatArray:
        """Return the command (n,) of the next period for the quickest stop."""
        self._prepare(braking=True)
        if self._capped is not None:
            self._ticks = self._capped.brake(self._memory, self._kept, self.period)
        else:
            self._ticks = kernels.brake(self._memory, self._kept, self.period, self._ticks)
        return self.position

    def time_to_rest(self) -> float:
        """Return the time until `brake` would bring the slowest joint to rest [s]."""
        self._prepare(braking=self.braking)
        return self._time_to_rest(self._kept)

    def _time_to_rest(self, limits: FloatArray) -> float:
        memory = self._memory.copy()
        kernels.brake(memory, limits, self.period, 0)
        return max(float(duration(row[kernels.PROFILE :])) for row in memory)

    def plan(self, goal: FloatArray | None, most: int, spacing: float = 0.0) -> Motion:
        """Return the whole motion of `step` from the last command to rest.

        Args:
            goal: As for `step`, at rest; None: the motion of `brake`.
            most: Maximum number of samples after the first; they are a period apart if possible.
            spacing: Least time between two samples [s], if that is more.
        """
        spacing = max(self.period, spacing)
        goal = None if self.override == 0.0 else goal
        self._prepare(braking=goal is None, goal=goal)
        caps, limits, share = self._capped, self._slowed(), 1.0
        if caps is None or goal is None:
            return self._planned(goal, limits, most, spacing, share)
        keeps, line = caps.clearance is not None, None
        if keeps:
            line = caps.line(self._memory, goal, self._still, limits)
        end, limits = line or (goal, limits)
        if caps.capped:
            share = caps.pace(lambda share: self._planned(end, limits, most, spacing, share)[:2])
        # In motion the joints brake, if the way to the goal is not free.
        if keeps and line is None and not caps.is_free(self._profiles(end, limits, share)):
            return self._planned(None, limits, most, spacing, 1.0)
        return self._planned(end, limits, most, spacing, share)

    def _profiles(self, goal: FloatArray, limits: FloatArray, share: float) -> FloatArray:
        """Return the memory (n, 27) with profiles to a goal, with a share of the velocities."""
        memory, slower = self._memory.copy(), limits.copy()
        slower[kernels.VELOCITY] *= share
        kernels.step_joints(memory, goal, self._still, self._still, slower, self.period, 0)
        return memory

    def _planned(
        self, goal: FloatArray | None, limits: FloatArray, most: int, spacing: float, share: float
    ) -> Motion:
        """Return the motion of `plan` with a share of the velocity limits."""
        if goal is not None:
            memory = self._profiles(goal, limits, share)
        else:
            memory = self._memory.copy()
            if self._capped is not None:
                kernels.plan_brake_together(memory, limits)
            else:
                kernels.brake(memory, limits, self.period, 0)
        total = max(float(duration(row[kernels.PROFILE :])) for row in memory)
        times = sample_times(total, max(spacing, total / most))
        return _sampled(memory, limits, times)

    def capped_pace(self, times: FloatArray, way: FloatArray) -> float:
        """Return the pace at which a motion keeps the caps on the speeds of links, in (0, 1].

        Args:
            times: Of its samples (k,) [s].
            way: Its positions then (k, n), contiguous.
        """
        if self._capped is None:
            return 1.0
        return self._capped.pace(lambda share: (times / share, way))

    @property
    def capped(self) -> bool:
        """Whether there are caps on the speeds of links."""
        return self._caps is not None and self._caps.capped

    @property
    def _capped(self) -> SpeedCaps | None:
        return self._caps if self._caps is not None and self._caps.active else None

    def part_of_caps(self, q: FloatArray, v: FloatArray) -> float:
        """Return the largest fraction of a cap that joints at q (n,) with velocities v (n,) use."""
        return 0.0 if self._capped is None else self._capped.part(q, v)

    def approaches(self, wanted: FloatArray, share: float, late: float) -> list[Approach]:
        """Return the pairs that joints bring nearer too quickly; see `Clearance.approaches`.

        Args:
            wanted: Wanted velocities (n,) [rad/s or m/s].
            share: Fraction of acceleration and jerk that may be used to stop.
            late: Periods until braking takes effect.
        """
        if self._caps is None or self._caps.clearance is None:
            return []
        self._caps.observe(self.position, at_rest=self.at_rest)
        bounds = self._kept.copy()
        bounds[CHANGE_ROWS] *= share
        clearance = self._caps.clearance
        return clearance.approaches(wanted, self.velocity, bounds, late * self.period)

    @property
    def scene(self) -> Scene | None:
        """The scene whose distances are kept; None if there is none."""
        clearance = None if self._caps is None else self._caps.clearance
        return None if clearance is None else clearance.scene

    def strikes(self, before: FloatArray, command: FloatArray) -> Gap | None:
        """Return a pair that the last command brings too near; see `SpeedCaps.strikes`."""
        return None if self._caps is None else self._caps.strikes(before, command)

    @property
    def blocked(self) -> Gap | None:
        """The pair that keeps the arm from its goal, as of the last step; None if none does."""
        return None if self._caps is None else self._caps.blocked

    def is_way_free(self, start: FloatArray, goal: FloatArray) -> bool:
        """Return whether nothing is in the joints' straight way from rest; see `SpeedCaps`."""
        return self._caps is None or self._caps.is_way_free(start, goal)

    def tail(self) -> Motion:
        """Return the motion from the last command if no other one follows.

        It brakes to rest. The joints stop together: on a line the tip hardly leaves it.

        Returns:
            The motion, of `BRAKE_TUNING.pieces`; one if it is shorter than a period, none at rest.
        """
        memory = self._memory.copy()
        longest = kernels.plan_brake_together(memory, self._kept)
        pieces = 0 if longest == 0.0 else 1 if longest < self.period else BRAKE_TUNING.pieces
        return _sampled(memory, self._kept, np.linspace(0.0, longest, 1 + pieces))

    def remainder(self, goal: FloatArray | None) -> Motion | None:
        """Return the motion of all further commands to a goal at rest, from the last one.

        Its samples are the ends of the profiles' segments, in which the jerk is constant. So an
        interpolation with positions, velocities and accelerations is exact.

        Args:
            goal: As for `step`, at rest; None: the motion of `brake`.

        Returns:
            The motion; None if its commands depend on caps or distances, which are found step by
            step.
        """
        capped = self._capped
        goal = None if self.override == 0.0 else goal
        if capped is not None and capped.capped and goal is not None:
            return None
        self._prepare(braking=goal is None)
        memory, limits = self._memory.copy(), self._slowed()
        if capped is not None and goal is not None:
            line = capped.line(memory, goal, self._still, limits)
            if line is None:
                return None
            goal, limits = line
        if goal is None and capped is not None:
            limits = self._kept
            memory, ticks = capped.braking(memory, limits)
        elif goal is None:
            ticks = kernels.brake(memory, self._kept, 0.0, self._ticks) - 1
        else:
            still = self._still
            ticks = kernels.step_joints(memory, goal, still, still, limits, 0.0, self._ticks) - 1
        elapsed = ticks * self.period
        rows = memory[:, kernels.PROFILE :]
        ends = np.cumsum(rows[:, : rows.shape[1] // 2], axis=1).ravel() - elapsed
        times = [0.0]
        for end in np.sort(ends):
            if end > times[-1] + BRAKE_TUNING.shortest_segment:
                times.append(float(end))
        out = np.empty((len(times), len(memory), 3))
        out[0] = self._memory[:, :3]
        for k, time in enumerate(times[1:-1], 1):
            kernels.advance(memory, limits, elapsed + time)
            out[k] = memory[:, :3]
        kernels.advance(memory, limits, np.inf)
        out[-1] = memory[:, :3]  # the only one, if what is left is too short
        return Motion(np.array(times), out[..., 0], out[..., 1], out[..., 2])

    def _prepare(self, *, braking: bool, goal: FloatArray | None = None) -> None:
        """Discard the profiles if the conditions of their planning have changed."""
        self._before[:] = self._memory
        if self._capped is not None:
            self._capped.observe(self.position, at_rest=self.at_rest)
        if self._kept is not self._wanted:
            self._take_over(braking=braking, goal=goal if self._renewed else None)
        self._renewed = self._renewed and goal is None
        if braking != self.braking:
            self.braking, self._ticks = braking, 0

    def _slowed(self) -> FloatArray:
        """Return the current limits (5, n), with the velocities scaled by the override."""
        if self.override == 1.0:
            return self._kept
        slowed = self._kept.copy()
        slowed[kernels.VELOCITY] *= self.override
        return slowed

    def _take_over(self, *, braking: bool, goal: FloatArray | None) -> None:
        """Use the wanted limits from now on, if that is possible yet; see `scale` and `renew`."""
        limits = self._wanted
        if not self.at_rest:
            limits = limits.copy()
            passes = goal is not None and self._passes(goal, limits)
            if self.to_rest and not braking and goal is None:
                limits[CHANGE_ROWS] = self._kept[CHANGE_ROWS]
            elif braking or passes or self._time_to_rest(limits) > BRAKE_TUNING.longest_stop:
                limits[CHANGE_ROWS] = np.maximum(limits[CHANGE_ROWS], self._kept[CHANGE_ROWS])
            if np.array_equal(limits, self._kept):
                return
        if self._can_stop(limits):
            self._kept, self._ticks = limits, 0

    def _passes(self, goal: FloatArray, limits: FloatArray) -> bool:
        """Return whether the quickest stop with other limits leads a joint past a goal (n,)."""
        memory, velocity = self._memory.copy(), self.velocity
        kernels.brake(memory, limits, self.period, 0)
        kernels.advance(memory, limits, np.inf)
        is_ahead = (goal - self.position) * velocity > 0.0
        is_passed = (memory[:, kernels.JOINT_POSITION] - goal) * velocity > 0.0
        return bool((is_ahead & is_passed).any())

    def _can_stop(self, limits: FloatArray) -> bool:
        """Return whether all joints can stop with other limits, and with the caps."""
        if not kernels.can_stop(self._memory, limits):
            return False
        return self._capped is None or self._capped.brakes(self._memory, limits, self.period)


def stride_of(spacing: float, period: float) -> int:
    """Return the least number of periods that last as long as a spacing; both in [s]."""
    return max(1, math.ceil(spacing / period - 1e-6))


def warm_up(limits: MotionLimits) -> None:
    """Compile everything that a limiter may call, before a control loop starts."""
    here = np.zeros(len(limits.lower))
    limiter = Limiter(limits, 0.01, here)
    limiter.step(here, here + 0.1)
    limiter.scale(0.5)
    limiter.brake()
    limiter.plan(here, 2)
    limiter.take(np.zeros((len(here), 3)))
    limiter.tail()
    limiter.remainder(here)
    limiter.remainder(None)


def plan_motion(limits: FloatArray, start: FloatArray, goal: FloatArray, period: float) -> Motion:
    """Return the motion of a `Limiter` between two positions, from rest to rest.

    Args:
        limits: As from `MotionLimits.scaled`, shape (5, n).
        start: First positions (n,) [rad or m].
        goal: Last positions (n,) [rad or m].
        period: Time between two samples [s]; the last step is shorter.

    Raises:
        ShapeError: The number of positions is wrong.
        NotFiniteError: A position is NaN or infinite.
    """
    n = limits.shape[1]
    memory = np.zeros((n, kernels.JOINT_COLUMNS))
    memory[:, kernels.JOINT_POSITION] = finite_array("start", start, n)
    memory[:, kernels.GOAL] = finite_array("goal", goal, n)
    times = sample_times(kernels.plan_joints(memory, limits), period)
    return _sampled(memory, limits, times)


def sample_times(total: float, period: float) -> FloatArray:
    """Return the times (k,) of samples from 0 to the end of a motion, inclusive [s]."""
    # A last period that is only rounding gets no sample.
    return np.append(np.arange(0.0, total * (1.0 - 1e-9), period), total)


def _sampled(memory: FloatArray, limits: FloatArray, times: FloatArray) -> Motion:
    """Return the motion that profiles describe; the last of the times is its end."""
    states = np.empty((len(times), len(memory), 3))
    for time, state in zip((*times[:-1], np.inf), states, strict=True):
        kernels.advance(memory, limits, time)
        state[:] = memory[:, :3]
    return Motion(times, states[..., 0], states[..., 1], states[..., 2])


def control_points(states: FloatArray, widths: FloatArray) -> FloatArray:
    """Return the control points of quintics as Bézier curves of degree 5, shape (k, 6, n).

    Args:
        states: Positions, velocities and accelerations at their begins, shape (3, k, n). Each ends
            where the next one begins, the last one where it begins.
        widths: How long each lasts (k,) [s].
    """
    p, v, a = states
    q, w, b = (np.concatenate([each[1:], each[-1:]]) for each in states)
    width = widths[:, np.newaxis]
    v, w, a, b = (each / 5.0 * width for each in (v, w, 0.25 * width * a, 0.25 * width * b))
    return np.stack([p, p + v, p + 2.0 * v + a, q - 2.0 * w + b, q - w, q], axis=1)
