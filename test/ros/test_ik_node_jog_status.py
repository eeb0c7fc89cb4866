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

"""`~/status` while the tip is jogged, over DDS, with the node in its own process."""

import time

import numpy as np
import pytest
from robot_bench import down, running

READY = down(0.40, 0.20, 0.40)


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain) as robot:
        yield robot


def keep_jogging(robot, frame, until, what, **twist):
    def asked():
        robot.jog(frame, **twist)
        time.sleep(0.02)
        return until()

    robot.wait(asked, what)


def logged(statuses, key):
    """The values of a key one after the other, each only once."""
    values = [each.get(key, "") for each in statuses]
    return [new for old, new in zip([None, *values], values, strict=False) if new != old]


def test_at_a_limit_the_status_does_not_flicker(robot):
    robot.go(READY)
    seen = len(robot.statuses)
    bound = robot.chain.upper[5]
    twist = {"angular": (0.0, 0.0, 2.5)}
    keep_jogging(robot, "tool0", lambda: robot.positions[5] > bound - 1e-3, "the limit", **twist)
    count = len(robot.statuses) + 4  # two seconds more
    keep_jogging(robot, "tool0", lambda: len(robot.statuses) > count, "standing", **twist)
    verdicts = logged(robot.statuses[seen:], "verdict")
    assert verdicts.count("LIMIT") == 1
    assert verdicts[-1] == "LIMIT"
    assert robot.statuses[-1]["joint"] == "wrist_3_joint"
    robot.wait(robot.no_commands, "silence")


def test_a_singularity_is_reported_before_it_is_passed(robot):
    near = np.array([0.0, -1.57, 1.57, -1.57, -0.5, 0.0])
    robot.reach(robot.chain.forward(near), "the arm is beside it")
    robot.wait(robot.no_commands, "silence")
    seen, q = len(robot.statuses), robot.positions.copy()
    axes = robot.chain.jacobian(q)[3:]
    turn = -np.sign(q[4]) * axes[:, 4] + 0.03 * np.cross(axes[:, 4], axes[:, 5])
    twist = {"angular": tuple(0.3 * turn)}
    flipped = lambda: abs(robot.positions[3] - q[3]) > 2.0  # noqa: E731
    keep_jogging(robot, "base_link", flipped, "the wrist flips", **twist)
    reported = [text.split(":")[0] for text in logged(robot.statuses[seen:], "message")]
    assert "nearing a singularity" in reported
    assert "passing a singularity" in reported
    assert reported.index("nearing a singularity") < reported.index("passing a singularity")
    robot.wait(robot.no_commands, "silence")
