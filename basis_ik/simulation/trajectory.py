# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint trajectories: polynomials through waypoints, sampled at any time.

The interpolation is that of ros2_control's joint_trajectory_controller, according to its manual.
Positions are [rad] or [m], velocities and accelerations per second, times [s].
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.simulation.trajectory_command import TrajectoryCommand


class TrajectorySample(NamedTuple):
    """A desired state.

    Attributes:
        positions: shape (n,).
        velocities: shape (n,).
        accelerations: shape (n,).
        finished: Whether the time of the last waypoint has passed.
    """

    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    finished: bool

    @classmethod
    def at_rest(cls, positions: FloatArray) -> TrajectorySample:
        """Return the state at rest at positions, shape (n,)."""
        zero = np.zeros_like(positions)
        return cls(positions, zero, zero, finished=True)


class Trajectory:
    """A piecewise polynomial through waypoints.

    A piece is linear if its ends have only positions, cubic if both also have velocities, quintic
    if both also have accelerations. Before the first waypoint the trajectory rests there; after the
    last one, the last waypoint remains the desired state.

    Attributes:
        times: Times of the waypoints, shape (m,) [s].
        states: Their positions, velocities and accelerations, shape (3, m, n); a row of NaN means
            none.
        commanded: Number of commanded waypoints: without the state that leads to the first.
    """

    def __init__(
        self,
        times: FloatArray,
        positions: FloatArray,
        velocities: FloatArray,
        accelerations: FloatArray,
        *,
        leads_in: bool = False,
    ) -> None:
        """Fit the pieces.

        Args:
            times: shape (m,). Where they step back, what comes before the step is followed first.
            positions: shape (m, n), finite.
            velocities: shape (m, n); a row of NaN means none.
            accelerations: shape (m, n); a row of NaN means none.
            leads_in: Whether the first row is a state that leads to the first commanded waypoint.
        """
        self.commanded = len(times) - leads_in
        self.times, self.states = times, np.stack([positions, velocities, accelerations])
        self._times = [float(time) for time in times]
        self._durations = np.diff(times)
        self._in_order = bool((self._durations > 0.0).all())
        self._pieces = _fit(self._durations, positions, velocities, accelerations)
        last = (positions[-1], np.nan_to_num(velocities[-1]), np.nan_to_num(accelerations[-1]))
        self._last = TrajectorySample(*last, finished=True)
        self._newest = (math.nan, self._last)

    @classmethod
    def constant(cls, state: TrajectorySample) -> Trajectory:
        """Return the trajectory that is in this state, finished, at any time."""
        return cls(np.array([-np.inf]), *(values[None] for values in state[:3]))

    @property
    def begin(self) -> float:
        """The time of the first commanded waypoint [s]."""
        return self._times[-self.commanded]

    @property
    def end(self) -> float:
        """The time of the last waypoint [s]."""
        return self._times[-1]

    def sample(self, time: float) -> TrajectorySample:
        """Return the desired state at a time [s]; the newest one is remembered."""
        if time == self._newest[0]:  # a cycle's output is the reference of the next one
            return self._newest[1]
        index = self._piece(time)
        if index is None:
            return self._last
        duration = float(self._durations[index])
        s = max(time - self._times[index], 0.0) / duration
        s2, s3, s4 = s * s, s**3, s**4
        powers = np.array(
            [
                [1.0, s, s2, s3, s4, s4 * s],
                [0.0, 1.0, 2.0 * s, 3.0 * s2, 4.0 * s3, 5.0 * s4],
                [0.0, 0.0, 2.0, 6.0 * s, 12.0 * s2, 20.0 * s3],
            ]
        )
        state = powers @ self._pieces[index]
        sample = TrajectorySample(
            state[0], state[1] / duration, state[2] / (duration * duration), finished=False
        )
        self._newest = (time, sample)
        return sample

    def _piece(self, time: float) -> int | None:
        """Return the index of the first piece at a time, or None after the end."""
        if self._in_order:
            index = max(bisect_right(self._times, time) - 1, 0)
            return index if time < self.end else None
        if time < self._times[0]:
            return 0
        pieces = enumerate(itertools.pairwise(self._times))
        return next((index for index, (begin, end) in pieces if begin <= time < end), None)


def _fit(
    durations: FloatArray, positions: FloatArray, velocities: FloatArray, accelerations: FloatArray
) -> FloatArray:
    """Return coefficients, shape (m - 1, 6, n), in s = elapsed/duration from 0 to 1.

    A quintic is solved from p, p', p'' at s = 0 and s = 1, a cubic from p, p'. The variable is s
    instead of seconds, because powers of a short duration would be lost in rounding.
    """
    t = durations[:, None]
    ends = [positions, velocities, accelerations]
    (p0, v0, a0), (p1, v1, a1) = ([x[:-1] for x in ends], [x[1:] for x in ends])
    step = p1 - p0
    zero = np.zeros_like(step)
    linear = np.stack([p0, step, zero, zero, zero, zero], axis=1)
    v0, v1 = v0 * t, v1 * t
    cubic = np.stack([p0, v0, 3.0 * step - 2.0 * v0 - v1, v0 + v1 - 2.0 * step, zero, zero], axis=1)
    a0, a1 = 0.5 * a0 * t**2, 0.5 * a1 * t**2
    quintic = np.stack(
        [
            p0,
            v0,
            a0,
            10.0 * step - 6.0 * v0 - 4.0 * v1 - 3.0 * a0 + a1,
            -15.0 * step + 8.0 * v0 + 7.0 * v1 + 3.0 * a0 - 2.0 * a1,
            6.0 * step - 3.0 * (v0 + v1) - a0 + a1,
        ],
        axis=1,
    )
    pieces = np.where(np.isnan(cubic).any(axis=(1, 2), keepdims=True), linear, cubic)
    return np.where(np.isnan(quintic).any(axis=(1, 2), keepdims=True), pieces, quintic)


def whole_nanoseconds(time: float) -> float:
    """Return a time [s] as upstream counts it, so that what falls on a cycle does so exactly."""
    return round(time, 9)


class Entry(NamedTuple):
    """Where and when a controller enters a new trajectory.

    Attributes:
        now: Time at which the trajectory takes effect, on the clock of the command's start [s].
        since: Time of `state` [s], not after now.
        state: The state at which the trajectory begins; NaN accelerations are unknown.
        held: shape (n,), positions of joints that the command omits.
    """

    now: float
    since: float
    state: TrajectorySample
    held: FloatArray


def plan_trajectory(
    command: TrajectoryCommand, joints: Sequence[str], continuous: NDArray[np.bool_], entry: Entry
) -> Trajectory:
    """Return the trajectory that executes a valid command from a state.

    If the first waypoint is ahead, the trajectory leads to it from that state; otherwise the
    commanded trajectory is entered at the current time. Joints that the command omits hold their
    positions. A continuous joint is commanded modulo 2 pi: all its waypoints are shifted by whole
    turns, so that it reaches the next one by the shortest way.

    Args:
        command: The command.
        joints: The controller's n joints.
        continuous: shape (n,), True for continuous joints.
        entry: The present state.

    Returns:
        The trajectory of the controller's joints, in their order.
    """
    start = entry.now if command.start is None else command.start
    times, states = _waypoints(command, joints, start)
    omitted = _omitted(command, joints)
    states[0][:, omitted], states[1:, :, omitted] = entry.held[omitted], 0.0
    ahead = min(bisect_right(times.tolist(), entry.now), len(times) - 1)
    states[0] += _turns(continuous, entry.state.positions - states[0, ahead])
    return _entered(times, states, entry)


class Running(NamedTuple):
    """The trajectory that a controller follows.

    Attributes:
        trajectory: The trajectory.
        cursor: Time within it in the last cycle [s].
        scaling: Rate of trajectory time.
    """

    trajectory: Trajectory
    cursor: float
    scaling: float


def blend_trajectory(
    command: TrajectoryCommand,
    joints: Sequence[str],
    continuous: NDArray[np.bool_],
    entry: Entry,
    running: Running,
) -> Trajectory:
    """Return the trajectory that continues a running one, and then executes a valid command.

    The rule of ros2_controllers after 6.9.0 with `allow_trajectory_replacement`. The command starts
    at its stamp if that is ahead; otherwise now, whatever its stamp. Until then the waypoints of
    the running trajectory stay. Both are shifted so that the cursor, the time of the last cycle,
    is now: what remains of the running trajectory comes a cycle late.

    Args:
        command: The command.
        joints: The controller's n joints.
        continuous: shape (n,), True for continuous joints.
        entry: The present state.
        running: The running trajectory.

    Returns:
        The trajectory of the controller's joints, in their order.
    """
    old, cursor = running.trajectory, running.cursor
    ahead = 0.0 if command.start is None else command.start - entry.now
    start = whole_nanoseconds(cursor + max(ahead, 0.0) * running.scaling)
    bridge = old.sample(start)
    times, states = _waypoints(command, joints, start)
    omitted = _omitted(command, joints)
    if omitted.any():
        kept = np.stack([np.stack(old.sample(time)[:3]) for time in times], axis=1)
        states[:, :, omitted] = kept[:, :, omitted]
    states[0] += _turns(continuous, bridge.positions - states[0, 0])
    before = (old.times > cursor) & (old.times < start)
    parts = [(old.times[before], old.states[:, before])]
    if start < times[0]:
        parts.append((np.array([start]), np.stack(bridge[:3])[:, None]))
    parts.append((times, states))
    if omitted.any():
        after = old.times > times[-1]
        rest = old.states[:, after].copy()
        rest[0][:, ~omitted] = states[0, -1, ~omitted]
        rest[1:][:, :, ~omitted] *= 0.0  # NaN stays: what is not stated
        parts.append((old.times[after], rest))
    merged = np.round(np.concatenate([part for part, _ in parts]) + (entry.now - cursor), 9)
    return _entered(merged, np.concatenate([part for _, part in parts], axis=1), entry)


def _waypoints(
    command: TrajectoryCommand, joints: Sequence[str], start: float
) -> tuple[FloatArray, FloatArray]:
    """Return the times (m,) and states (3, m, n) of a command; NaN where it states nothing."""
    states = np.full((3, len(command.waypoints), len(joints)), np.nan)
    columns = [list(joints).index(name) for name in command.joint_names]
    for row, waypoint in enumerate(command.waypoints):
        for kind, values in enumerate(waypoint[1:4]):
            if values.size:
                states[kind, row, columns] = values
    times = [whole_nanoseconds(start + waypoint.time) for waypoint in command.waypoints]
    return np.array(times), states


def _omitted(command: TrajectoryCommand, joints: Sequence[str]) -> NDArray[np.bool_]:
    """Return which joints a command omits, shape (n,)."""
    return np.array([name not in command.joint_names for name in joints])


def _turns(continuous: NDArray[np.bool_], off: FloatArray) -> FloatArray:
    """Return the whole turns in a difference of positions (n,); 0 for joints with limits."""
    return np.where(continuous, np.round(off / math.tau) * math.tau, 0.0)


def _entered(times: FloatArray, states: FloatArray, entry: Entry) -> Trajectory:
    """Return a trajectory to which the present state leads if its first waypoint is ahead."""
    if not entry.now < times[0]:
        return Trajectory(times, *states)
    times = np.concatenate([[entry.since], times])
    states = np.concatenate([np.stack(entry.state[:3])[:, None], states], axis=1)
    return Trajectory(times, *states, leads_in=True)
