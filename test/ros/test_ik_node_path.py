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

"""The parameter `path`, over DDS, with the node in a process of its own: where the tip went."""

import signal
import threading
import time

import numpy as np
import pytest
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from robot_bench import down, running, wait_for_log

from basis_ik.transforms.rigid import RigidTransform

NEAR, AWAY = down(0.45, 0.20, 0.40), down(0.30, -0.35, 0.55)
BEHIND = down(-0.45, -0.20, 0.40)  # the line there passes the base too near
WIDE, TURNED = 5e-4, np.radians(0.1)  # m and rad off the line and the axis, at most


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain, "-p", "path:=straight") as robot:
        yield robot


def choose(robot, path):
    parameters = [Parameter(name="path", value=ParameterValue(type=4, string_value=path))]
    return robot.call(SetParameters, "set_parameters", parameters=parameters).results[0]


def way_to(robot, target):
    """Send the arm to a target; return the measured positions of its tip."""
    poses = [robot.tip()]
    robot.send("base_link", target)

    def there():
        poses.append(robot.tip())
        return robot.at(target)

    robot.wait(there, "the arm is there")
    robot.wait_status(verdict="REACHED", state="ARRIVED")
    return poses


def off_line(robot, start, target):
    """How far off the line [m] and the axis [rad] the arm comes, from one pose to another."""

    def attempt():
        way_to(robot, start)
        return off(way_to(robot, target), target)

    return robot.unstalled(attempt)


def off(poses, target):
    """How far off the line [m] and the axis [rad] between the first pose and the target."""
    start = poses[0]
    ways = np.array([pose.translation - start.translation for pose in poses])
    turns = np.array([(pose @ start.inverse()).log()[3:] for pose in poses])
    whole = (target @ start.inverse()).log()[3:]
    line = target.translation - start.translation
    return aside(ways, line), aside(turns, whole)


def aside(vectors, along):
    along = along / max(np.linalg.norm(along), 1e-9)
    return np.linalg.norm(vectors - np.outer(vectors @ along, along), axis=1).max()


def test_the_tip_keeps_the_line_and_the_path_changes_at_run_time(robot):
    for start, target in ((NEAR, AWAY), (AWAY, NEAR)):
        wide, turned = off_line(robot, start, target)
        assert wide < WIDE
        assert turned < TURNED
    assert choose(robot, "joint").successful
    assert off(way_to(robot, AWAY), AWAY)[0] > 20 * WIDE
    answer = choose(robot, "crooked")
    assert not answer.successful
    assert "must be one of joint, straight, straight_or_joint" in answer.reason
    assert choose(robot, "straight").successful
    assert off_line(robot, AWAY, NEAR)[0] < WIDE


def test_the_end_of_a_line_is_reported_and_joint_motion_may_continue(robot):
    def attempt():
        assert choose(robot, "joint").successful
        way_to(robot, NEAR)
        assert choose(robot, "straight").successful
        poses = [robot.tip()]
        robot.send("base_link", BEHIND)

        def ended():
            poses.append(robot.tip())
            return "the line ends" in robot.statuses[-1]["message"]

        robot.wait(ended, "the end of the line")
        robot.wait_status(state="ARRIVED")
        return poses

    poses = robot.unstalled(attempt)
    status = robot.statuses[-1]
    assert status["verdict"] in ("LIMIT", "SINGULAR")
    missing = np.linalg.norm(robot.tip().translation - BEHIND.translation)
    assert float(status["position_error"]) == pytest.approx(missing, abs=1e-3)
    assert missing > 0.1
    assert off(poses, BEHIND)[0] < WIDE
    before = robot.tip()
    assert choose(robot, "straight_or_joint").successful
    time.sleep(0.5)
    np.testing.assert_array_equal(robot.tip().matrix, before.matrix)  # nobody has asked for motion
    way_to(robot, BEHIND)  # the same target again
    way_to(robot, NEAR)
    way_to(robot, BEHIND)
    wait_for_log(robot.process, "continuing in joint space")


def test_an_arm_whose_node_stalls_in_mid_line_stays_near_the_line_and_reaches_the_pose(robot):
    assert choose(robot, "joint").successful
    way_to(robot, NEAR)
    assert choose(robot, "straight").successful
    robot.stalls, process, start = 0, robot.process, robot.tip()

    def stall():
        while np.linalg.norm(robot.tip().translation - start.translation) < 0.2:
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.15)
        process.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=stall, daemon=True)
    thread.start()
    poses = way_to(robot, AWAY)
    thread.join()
    assert robot.stalls > 0
    assert off(poses, AWAY)[0] < 0.006


def test_a_turn_is_about_one_axis(robot):
    assert choose(robot, "joint").successful
    start = way_to(robot, NEAR)[-1]
    turn = RigidTransform.from_axis_angle([0.0, 0.0, 1.0], 1.2)
    target = RigidTransform.from_rotation_translation(
        turn.rotation @ start.rotation, start.translation
    )

    def attempt():
        assert choose(robot, "joint").successful
        way_to(robot, start)
        assert choose(robot, "straight").successful
        return way_to(robot, target)

    poses = robot.unstalled(attempt)
    assert max(np.linalg.norm(pose.translation - start.translation) for pose in poses) < WIDE
    assert off(poses, target)[1] < TURNED
