"""Commands on the way to a goal, limited in position, velocity, acceleration and jerk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.kernels import motion_joints as kernels
from basis_ik.kernels.motion_profile import duration
from basis_ik.motion.limits import MotionLimits
from basis_ik.transforms.checks import finite_array

FloatArray = NDArray[np.float64]


class Motion(NamedTuple):
    """A motion from rest to rest, sampled.

    Attributes:
        times: Since its start [s], shape (k,); the last is its duration.
        positions: shape (k, n) [rad or m].
        velocities: shape (k, n) [rad/s or m/s].
        accelerations: shape (k, n) [rad/s² or m/s²].
    """

    times: FloatArray
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray


class Limiter:
    """Turns goals into commands, one each period.

    The commands are samples of a continuous motion that keeps every limit at every time: so the
    differences of n-th order between consecutive commands, by the period to the n-th, keep the
    limits of velocity, acceleration and jerk too, up to rounding. The motion is the quickest of
    each joint; from rest all joints move on a straight line in joint space (see
    `kernels.motion_joints.plan_joints`). At its end the command is the goal, bit for bit.

    Args:
        limits: Of the n joints.
        period: Time between two commands [s], positive.
        positions: Where the joints are (n,).

    Attributes:
        limits: As given.
        period: As given.
        braking: Whether the last command was one of `brake`.
    """

    def __init__(self, limits: MotionLimits, period: float, positions: FloatArray) -> None:
        self.limits, self.period = limits, period
        n = len(limits.lower)
        self._memory: FloatArray = np.zeros((n, kernels.COLUMNS))
        self._still = np.zeros(n)
        self._wanted = limits.scaled(1.0, 1.0, 1.0)
        self._scaling = (1.0, 1.0, 1.0)
        self.reset(positions)

    def reset(self, positions: FloatArray) -> None:
        """Start anew, from rest at measured positions (n,).

        Raises:
            ShapeError: Another number of positions.
            NotFiniteError: One of them is NaN or infinite.
        """
        n = len(self._memory)
        if positions.shape != (n,) or not kernels.begin(self._memory, positions):
            finite_array("positions", positions, n)
        self._kept = self._wanted
        self._ticks, self.braking = 0, False

    def scale(self, velocity: float, acceleration: float = 1.0, jerk: float = 1.0) -> None:
        """Use only a fraction of the limits, each in (0, 1].

        They are taken up once every joint can stop with them before its position limits, at rest at
        the latest. A joint that is then too fast slows down as fast as it may.

        Raises:
            MotionLimitError: A fraction is not in (0, 1].
        """
        if (velocity, acceleration, jerk) != self._scaling:
            self._wanted = self.limits.scaled(velocity, acceleration, jerk)
            self._scaling = (velocity, acceleration, jerk)

    @property
    def position(self) -> FloatArray:
        """The last command (n,) [rad or m]."""
        return np.array(self._memory[:, kernels.POSITION])

    @property
    def velocity(self) -> FloatArray:
        """The velocity at the last command (n,) [rad/s or m/s]."""
        return np.array(self._memory[:, kernels.SPEED])

    @property
    def bounds(self) -> FloatArray:
        """The limits in force, shape (5, n), as `MotionLimits.scaled` gives them; do not write."""
        return self._kept

    @property
    def at_rest(self) -> bool:
        """Whether velocity and acceleration are zero."""
        return not self._memory[:, kernels.SPEED : kernels.RATE + 1].any()

    def step(self, goal: FloatArray, velocity: FloatArray | None = None) -> FloatArray:
        """Return the command (n,) of the next period.

        Args:
            goal: Where to (n,) [rad or m]; the nearest position within the limits counts. One that
                is NaN makes the command NaN.
            velocity: With which the goal moves on (n,) [rad/s or m/s]; None: it rests.
        """
        self._prepare(braking=False)
        velocity = self._still if velocity is None else velocity
        self._ticks = kernels.step(
            self._memory, goal, velocity, self._kept, self.period, self._ticks
        )
        return self.position

    def take(self, states: FloatArray) -> bool:
        """Make somebody else's choice the next command, if that keeps all limits.

        Args:
            states: Positions, velocities and accelerations a period from now, shape (n, 3).

        Returns:
            Whether it was taken: no joint leaves a limit, nor could no longer stop before one.
        """
        self._prepare(braking=False)
        self._ticks = 0
        return bool(kernels.take(self._memory, states, self._kept, self.period))

    def brake(self) -> FloatArray:
        """Return the command (n,) of the next period on the quickest way to rest."""
        self._prepare(braking=True)
        self._ticks = kernels.brake(self._memory, self._kept, self.period, self._ticks)
        return self.position

    def plan(self, goal: FloatArray | None, most: int) -> Motion:
        """Return the whole motion that `step` makes from the last command on, to rest.

        Args:
            goal: As of `step`, at rest; None: the motion that `brake` makes.
            most: The samples after the first are a period apart, but at most so many.
        """
        self._prepare(braking=goal is None)
        memory = self._memory.copy()
        if goal is None:
            kernels.brake(memory, self._kept, self.period, 0)
        else:
            kernels.step(memory, goal, self._still, self._kept, self.period, 0)
        total = max(float(duration(row[kernels.PROFILE :])) for row in memory)
        times = sample_times(total, max(self.period, total / most))
        return _sampled(memory, self._kept, times)

    def _prepare(self, *, braking: bool) -> None:
        """Have the profiles planned anew where what they were planned for has changed."""
        if self._kept is not self._wanted and kernels.can_stop(self._memory, self._wanted):
            self._kept, self._ticks = self._wanted, 0
        if braking != self.braking:
            self.braking, self._ticks = braking, 0


def warm_up(limits: MotionLimits) -> None:
    """Compile all that a limiter may call, before a control loop starts."""
    here = np.zeros(len(limits.lower))
    limiter = Limiter(limits, 0.01, here)
    limiter.step(here, here + 0.1)
    limiter.scale(0.5)
    limiter.brake()
    limiter.plan(here, 2)
    limiter.take(np.zeros((len(here), 3)))


def plan_motion(limits: FloatArray, start: FloatArray, goal: FloatArray, period: float) -> Motion:
    """Return the motion between two positions from rest to rest that a `Limiter` makes.

    Args:
        limits: As `MotionLimits.scaled` gives them, shape (5, n).
        start: Where from (n,).
        goal: Where to (n,).
        period: Time between two samples [s]; the last step is shorter.

    Raises:
        ShapeError: Another number of positions.
        NotFiniteError: A position is NaN or infinite.
    """
    n = limits.shape[1]
    memory = np.zeros((n, kernels.COLUMNS))
    memory[:, kernels.POSITION] = finite_array("start", start, n)
    memory[:, kernels.GOAL] = finite_array("goal", goal, n)
    times = sample_times(kernels.plan_joints(memory, limits), period)
    return _sampled(memory, limits, times)


def sample_times(total: float, period: float) -> FloatArray:
    """Return the times (k,) of samples from 0 to the end of a motion [s], the end included."""
    # What rounding leaves of a last period is no sample of its own.
    return np.append(np.arange(0.0, total * (1.0 - 1e-9), period), total)


def _sampled(memory: FloatArray, limits: FloatArray, times: FloatArray) -> Motion:
    """Return the motion that profiles describe; the last of the times is taken for its end."""
    states = np.empty((len(times), len(memory), 3))
    for time, state in zip((*times[:-1], np.inf), states, strict=True):
        kernels.advance(memory, limits, time)
        state[:] = memory[:, :3]
    return Motion(times, states[..., 0], states[..., 1], states[..., 2])
