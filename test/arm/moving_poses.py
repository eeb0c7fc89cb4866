# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Moving poses, senders with delays and losses, and measures of the following arm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from rotations import turned

from basis_ik.arm.goals import PoseGoal
from basis_ik.transforms.rigid import RigidTransform

# Paths: the ways of the tip (..., 3) [m] and its turns about the vertical (...) [rad] at times
# (...) [s], from rest.
SPEED, RADIUS = 0.31, 0.1
RATE = SPEED / RADIUS


def circle(t):
    angle = RATE * np.asarray(t)
    return RADIUS * np.stack([0.0 * angle, np.sin(angle), np.cos(angle) - 1.0], -1), 0.0 * angle


def line(t):
    """To and fro, 0.31 m/s in the middle."""
    along = RADIUS * np.array([0.3, 0.9, 0.3]) / 0.9950
    size = np.sin(RATE * np.asarray(t))
    return along * size[..., None], 0.0 * size


def eight(t):
    angle = 0.8 * RATE * np.asarray(t)
    way = RADIUS * np.stack([0.0 * angle, np.sin(angle), 0.5 * np.sin(2.0 * angle)], -1)
    return way, 0.4 * np.sin(angle)


PATHS = (circle, line, eight)


class Sender(NamedTuple):
    """The rate, delays and losses of poses."""

    rate: float
    """How many in a second."""
    jitter: float = 0.0
    """Standard deviation of what a message is late [s]; they stay in order."""
    loss: float = 0.0
    """Part of the messages that are lost."""
    late: float = 0.0
    """What every message is late [s]."""
    stamped: bool = True

    def messages(self, until, rng):
        """Return the time and the arrival of each pose [s]."""
        times = np.arange(0.0, until, 1.0 / self.rate)
        arrivals = times + self.late + np.abs(self.jitter * rng.normal(size=len(times)))
        kept = rng.random(len(times)) >= self.loss
        times, arrivals = times[kept], np.maximum.accumulate(arrivals[kept])
        return times, arrivals


class Run(NamedTuple):
    """The arm's motion."""

    times: np.ndarray
    """For which each command was [s]."""
    commands: np.ndarray
    tips: np.ndarray
    """Where it was then (k, 4, 4)."""
    reported: float
    """When the last pose was of [s]."""


def pose_of(start, path, t):
    """Return rotations and positions of the path at times, from a pose (4, 4)."""
    way, turn = path(t)
    return turned([0.0, 0.0, 1.0], turn) @ start[:3, :3], start[:3, 3] + way


def follow(pipe, kinematics, home, path, sender, *, period, until=4.0, after=1.5, seed=0):
    """Send the poses of a path to the pipeline of an exact arm, and continue for a while."""
    rng = np.random.default_rng(seed)
    times, arrivals = sender.messages(until, rng)
    start, command, goal, k = kinematics(home), home, None, 0
    logged, commands = [], []
    # The loop's beat has nothing to do with the sender's.
    for now in np.arange(0.37 * period, until + after, period):
        new = int(np.searchsorted(arrivals, now, side="right"))
        if new > k:
            k = new
            rotation, place = pose_of(start, path, times[k - 1])
            goal = PoseGoal(RigidTransform.from_rotation_translation(rotation, place))
            when = times[k - 1] if sender.stamped else arrivals[k - 1]
        if goal is None:
            continue
        following(pipe, goal, command, when)
        answer = stepping(pipe, command, now + period)
        command = command if answer is None else answer
        logged.append(now + period)
        commands.append(command)
    commands = np.array(commands)
    return Run(np.array(logged), commands, kinematics(commands), times[-1])


def following(pipe, goal, command, when):
    pipe.set_goal(goal, command, time=when)


def stepping(pipe, command, when):
    return pipe.step(command, when)


class Figures(NamedTuple):
    """How well a path was followed."""

    lag: float
    """The time by which the arm is behind, at the best fit [s]."""
    shape: float
    """What is left of the error without it, the root of the mean square [m]."""
    shape_max: float
    """Likewise the largest [m]."""
    turn: float
    """Likewise of the orientation, the largest [rad]."""
    error: float
    """The largest error [m]."""


def measure(run, path, *, since=1.0, until=None):
    """Compare the tip with the path, while poses came."""
    until = run.reported if until is None else until
    chosen = (run.times >= since) & (run.times <= until)
    times, tips = run.times[chosen], run.tips[chosen]
    start = run.tips[0].copy()

    def errors(lag):
        rotations, places = pose_of(start, path, times - lag)
        turns = np.linalg.norm(tips[:, :3, :3] - rotations, axis=(1, 2)) / np.sqrt(2.0)
        return np.linalg.norm(tips[:, :3, 3] - places, axis=1), turns

    lags = np.linspace(-0.05, 0.15, 41)
    for _ in range(3):
        best = lags[np.argmin([np.mean(errors(lag)[0] ** 2) for lag in lags])]
        width = lags[1] - lags[0]
        lags = np.linspace(best - width, best + width, 21)
    off, turns = errors(best)
    return Figures(
        float(best), float(np.sqrt(np.mean(off**2))), float(off.max()), float(turns.max()),
        float(errors(0.0)[0].max()),
    )  # fmt: skip


def measure_errors(times, places, path):
    """Return the lag of places (k, 3) behind a path [s], and the root mean square of the rest.

    The path gives the places (k, 3) for times (k,).
    """

    def off(lag):
        wanted = path(times - lag)
        return float(np.sqrt(np.mean(np.sum((places - wanted) ** 2, axis=1))))

    lags = np.arange(-0.05, 0.15, 2e-4)
    errors = [off(lag) for lag in lags]
    return float(lags[np.argmin(errors)]), min(errors)


class Ending(NamedTuple):
    """The end of the motion after the last pose."""

    past: float
    """Return the overshoot of the tip over the last pose [m]."""
    missing: float
    """How far from it it came to rest [m]."""
    time: float
    """When it was within a millimetre of it for good, since the last pose [s]."""


def ending(run, path):
    """Evaluate the end of the motion."""
    start = run.tips[0]
    last = pose_of(start, path, run.reported)[1]
    after = run.times > run.reported
    off = np.linalg.norm(run.tips[after, :3, 3] - last, axis=1)
    away = np.flatnonzero(off > 1e-3)
    time = run.times[after][away[-1]] - run.reported if len(away) else 0.0
    return Ending(float(off.max()), float(off[-1]), float(time))
