# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A stream of stamped poses over DDS, compared with the measured arm by the stamps' clock."""

import time

import numpy as np
import pytest
from moving_poses import RATE, circle, measure_errors
from robot_bench import down, running

from basis_ik.transforms.rigid import RigidTransform

START = down(0.45, 0.10, 0.40)
INTERVAL = 0.02
ROUNDS = 2.0
ATTEMPTS = 4  # on a busy machine commands come late, and the arm brakes


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain) as robot:
        yield robot


def clock(robot):
    return 1e-9 * robot.node.get_clock().now().nanoseconds


def placed(start, t):
    way, _ = circle(t)
    return RigidTransform.from_rotation_translation(start.rotation, start.translation + way)


def measured(robot, window, t):
    """Return a window's positions at a time."""
    stamp, times, positions = window
    q = np.array([np.interp(t - stamp, times, column) for column in positions.T])
    return robot.chain.forward(q).translation


def lead(robot):
    """Move the arm along the circle; return times, positions and the last pose."""
    robot.send("base_link", START)
    robot.wait_status(verdict="REACHED", state="ARRIVED")
    begin, seen = clock(robot), []
    while (t := clock(robot) - begin) < ROUNDS * 2.0 * np.pi / RATE:
        stamp = robot.node.get_clock().now()
        last = placed(START, 1e-9 * stamp.nanoseconds - begin)
        robot.send("base_link", last, stamp.to_msg())
        end = time.monotonic() + INTERVAL
        while time.monotonic() < end:
            window, now = robot.window, clock(robot)
            if window is not None and t > 1.0:
                seen.append((now - begin, measured(robot, window, now)))
            time.sleep(0.003)
    return np.array([t for t, _ in seen]), np.array([place for _, place in seen]), last


def test_a_circle_is_followed_without_lag_or_distortion(robot):
    for _ in range(ATTEMPTS):
        times, tips, last = lead(robot)
        robot.wait(lambda: robot.at(last), "it goes back to the last")  # noqa: B023  at once
        lag, shape = measure_errors(times, tips, lambda t: START.translation + circle(t)[0])
        print(f"lag {1e3 * lag:.1f} ms, shape {1e3 * shape:.2f} mm")
        if abs(lag) < 5e-3 and shape < 1e-3:
            return
    raise AssertionError("it was never followed")
