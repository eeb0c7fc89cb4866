# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Helpers of the rows with processes: motions and checks."""

import numpy as np
from rig import SPEED
from robot_bench import down

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
TOP_SPEED = SPEED * np.pi  # rad/s, of the commands
# What it brakes in: the largest speed in 0.25 s, and the jerk's 0.05 s; half as much again, for
# cycles of the arm that were late.
BRAKING_TIME = 1.5 * (0.25 * SPEED + 0.05)  # s
BRAKING_WAY = 0.75 * TOP_SPEED * (0.25 * SPEED + 0.05)  # rad
CYCLE = 0.008  # s between two joint states of the arm, by their stamps


def set_off(rig, way=0.4, height=0.4):
    """Send the arm towards `FAR`, and wait until it moves."""
    start, rig.set_off = rig.positions, len(rig.track)
    rig.send("base_link", down(-0.40, -0.30, height))
    rig.moved(start, way)


def has_braked(rig):
    """Wait until the arm rests; return its braking distance [rad].

    It is measured from the last of its own joint states with nine tenths of the largest speed. The
    arm must not have reached its target.
    """
    rig.settled()
    assert not rig.at(FAR, 1e-2), "it went on to the end"
    track = np.array(rig.track[rig.set_off :])
    speeds = np.abs(np.diff(track, axis=0)).max(axis=1) / CYCLE
    (fast,), (moving,) = np.nonzero(speeds >= 0.9 * TOP_SPEED), np.nonzero(speeds > 1e-3)
    assert len(fast), "it was at full speed"
    way = np.abs(track[-1] - track[fast[-1]]).max()
    assert way <= BRAKING_WAY
    assert (moving[-1] - fast[-1]) * CYCLE <= BRAKING_TIME
    return way


def stands(rig, seconds=0.5):
    """Return whether no command is sent and nothing moves for a while."""
    before = rig.positions
    return rig.is_silent(seconds) and np.abs(rig.positions - before).max() < 1e-3
