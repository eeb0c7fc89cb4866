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

"""The node over DDS, in its own process: targets in, safe commands and correct verdicts out."""

import math
import time

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from robot_bench import HOME, PERIOD, URDF, down, running
from std_msgs.msg import String
from std_srvs.srv import Trigger

from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

TABLE = RigidTransform.from_rpy(0.1, -0.2, 2.0, [0.45, 0.10, 0.10])


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain) as robot:
        robot.place("base_link", "table", TABLE)
        yield robot


@pytest.fixture(autouse=True)
def _no_unsafe_command(robot):
    yield
    complaints, robot.complaints = robot.complaints, []
    assert complaints == []


def test_a_pose_in_the_root_frame_is_reached(robot):
    robot.reach(down(0.40, 0.20, 0.40), "the arm is there")
    robot.wait_status(verdict="REACHED", state="ARRIVED")


def test_a_pose_in_a_rotated_static_frame_is_reached(robot):
    table_T_target = down(0.0, 0.1, 0.2)
    robot.send("table", table_T_target)
    robot.wait_there(TABLE @ table_T_target, "the arm is there")


def test_commands_end_after_arrival(robot):
    robot.go_home()
    assert robot.no_commands(0.5)


def test_a_repeated_target_brings_back_a_displaced_arm(robot):
    robot.go_home()
    robot.positions = HOME + 0.2
    assert robot.no_commands(0.3)  # not of its own accord
    robot.settle()
    robot.go_home()
    robot.positions = HOME + 0.01  # hanging a little
    robot.send("base_link", robot.chain.forward(HOME))
    assert robot.no_commands(0.3)
    robot.positions = HOME.copy()


def test_a_target_without_stamp_follows_its_frame(robot):
    robot.go_home()
    start = time.monotonic()

    def swing():
        angle = 0.3 * math.sin(min(time.monotonic() - start, 2.0))
        return RigidTransform.from_rpy(0.0, 0.0, angle, [0.35, 0.0, 0.2])

    robot.frames["swing"] = swing
    time.sleep(0.1)
    robot.send("swing", down(0.1, 0.1, 0.2), stamp=None)
    robot.wait_for(
        lambda: robot.at(swing() @ down(0.1, 0.1, 0.2), 5e-3), "the arm is with the frame"
    )
    robot.wait(lambda: time.monotonic() - start > 2.2, "the frame rests")
    robot.wait_for(lambda: robot.at(swing() @ down(0.1, 0.1, 0.2)), "the arm is at the frame's end")
    robot.frames.clear()


def test_a_stamped_target_is_transformed_at_its_stamp(robot):
    robot.go_home()
    start = time.monotonic()
    robot.frames["drift"] = lambda: RigidTransform.from_rpy(
        0.0, 0.0, 0.0, [0.40, 0.05 * (time.monotonic() - start), 0.2]
    )
    time.sleep(0.3)
    then = robot.frames["drift"]()
    robot.send("drift", down(0.0, 0.0, 0.2))
    robot.wait_status(verdict="REACHED", state="ARRIVED", target_frame="drift")
    robot.wait(robot.no_commands, "silence, although the frame goes on")
    assert np.allclose(robot.tip().matrix, (then @ down(0.0, 0.0, 0.2)).matrix, atol=5e-3)
    robot.frames.clear()


def test_a_target_in_the_arms_own_frame_is_not_chased(robot):
    robot.go_home()
    robot.place("tool0", "camera", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, 0.01]))
    time.sleep(0.3)
    goal = robot.tip() @ RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, 0.06])
    robot.send("camera", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, 0.05]), stamp=None)
    robot.wait(lambda: robot.at(goal), "one step ahead of the tool")
    robot.wait(robot.no_commands, "silence")
    assert robot.at(goal)


def test_the_newest_target_wins(robot):
    robot.send("base_link", down(0.40, -0.20, 0.40))
    robot.reach(down(0.40, 0.25, 0.30), "the arm is at the second")


def test_a_flood_of_targets_does_not_change_the_command_rate(robot):
    """A target for an arm at rest is commanded at once; the next one waits for the period."""
    robot.go_home()
    before, start, sent = len(robot.commands), time.monotonic(), 0
    while (elapsed := time.monotonic() - start) < 1.0 or sent <= 3 / PERIOD:
        robot.send("base_link", down(0.40, 0.20 + 0.1 * min(elapsed, 1.0), 0.40))
        sent += 1
        time.sleep(0.001)
    commands = len(robot.commands) - before
    assert 0.3 * elapsed / PERIOD < commands <= elapsed / PERIOD + 2
    robot.wait(robot.no_commands, "silence")


def test_a_target_out_of_reach_is_approached_with_the_missing_distance(robot):
    target = down(1.2, 0.6, 0.6)
    robot.send("base_link", target)
    robot.wait_status(verdict="TOO_FAR", state="ARRIVED")
    status = robot.statuses[-1]
    missing = float(np.linalg.norm(robot.tip().translation - target.translation))
    assert float(status["missing_distance"]) == pytest.approx(missing, abs=1e-6)
    assert status["message"].startswith("too far by 0.4")


def broken(**fields):
    message = PoseStamped()
    message.header.frame_id = fields.pop("frame_id", "base_link")
    message.pose = pose_message(down(0.3, 0.3, 0.3))
    for path, value in fields.items():
        owner = message
        *parts, last = path.split("__")
        for part in parts:
            owner = getattr(owner, part)
        setattr(owner, last, value)
    return message


@pytest.mark.parametrize(
    ("reason", "fields"),
    [
        ("NON_FINITE", {"pose__position__y": math.nan}),
        ("NON_FINITE", {"pose__orientation__w": math.inf}),
        ("OUT_OF_RANGE", {"pose__position__z": 1e200}),
        ("BAD_QUATERNION", {"pose__orientation__x": 0.5}),
        ("NO_FRAME", {"frame_id": ""}),
        ("BAD_FRAME", {"frame_id": "/base_link"}),
        ("STALE", {"header__stamp__sec": 1}),
        ("FUTURE", {"header__stamp__sec": 2_000_000_000}),
        ("BAD_STAMP", {"header__stamp__nanosec": 1_000_000_000}),
        ("NO_TRANSFORM", {"frame_id": "nowhere"}),
    ],
)
def test_a_bad_target_is_refused_with_its_reason_and_moves_nothing(robot, reason, fields):
    robot.wait(robot.no_commands, "silence")
    before = int(robot.statuses[-1].get(f"refused.{reason}", 0))
    robot.targets.publish(broken(**fields))
    robot.wait_status(**{f"refused.{reason}": str(before + 1)})
    assert robot.statuses[-1]["last_refusal"].startswith(reason)
    assert robot.no_commands(0.2)


def test_a_target_waits_for_a_late_transform(robot):
    robot.go_home()
    robot.send("late", down(0.0, 0.0, 0.2), stamp=None)
    time.sleep(0.1)
    robot.place("base_link", "late", TABLE)
    robot.wait(lambda: robot.at(TABLE @ down(0.0, 0.0, 0.2)), "the arm is there")


def test_missing_joint_states_end_the_motion(robot):
    robot.go_home()
    robot.set_off(down(-0.40, -0.30, 0.40), 0.01)
    robot.publishing = False
    robot.wait_status(state="WAITING")
    robot.wait(robot.no_commands, "silence")
    assert not robot.at(down(-0.40, -0.30, 0.40), 1e-2)
    assert "no joint state of" in robot.statuses[-1]["message"]
    here = robot.positions
    robot.publishing = True
    robot.wait_status(state="READY")
    time.sleep(0.5)
    assert np.array_equal(robot.positions, here)
    robot.reach(down(-0.40, -0.30, 0.40), "the arm goes where it is told anew")


def test_a_restart_begins_at_the_measured_positions(robot):
    robot.go_home()
    robot.positions = robot.positions + 0.2
    robot.settle()
    robot.go(down(0.40, 0.20, 0.40))


def test_home_without_the_parameter_is_refused(robot):
    robot.wait(robot.no_commands, "silence")
    answer = robot.call(Trigger, "home")
    assert not answer.success
    assert "parameter home" in answer.message
    assert robot.no_commands()


def test_a_position_only_target_leaves_the_orientation_free(robot):
    robot.go_home()
    turned = RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.60, 0.20, 0.20])  # upwards, below the elbow
    assert robot.set_parameter("position_only_ik", True).successful
    stamp = robot.send("base_link", turned).header.stamp
    robot.wait(
        lambda: np.allclose(robot.tip().translation, turned.translation, atol=1e-4), "the arm"
    )
    assert not np.allclose(robot.tip().rotation, turned.rotation, atol=0.1)
    robot.wait_status(
        verdict="REACHED", state="ARRIVED", target_stamp=f"{stamp.sec}.{stamp.nanosec:09}"
    )
    assert robot.set_parameter("position_only_ik", False).successful
    robot.go_home()


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("max_velocity_scaling_factor", math.nan, "max_velocity_scaling_factor"),
        ("max_velocity_scaling_factor", -1.0, "max_velocity_scaling_factor"),
        ("position_threshold", True, "ype"),
        ("tip_link", "flange", "read"),
        ("no_such_thing", 1.0, "undeclared"),
    ],
)
def test_bad_parameter_changes_are_refused_with_a_reason(robot, name, value, word):
    result = robot.set_parameter(name, value)
    assert not result.successful
    assert word in result.reason


def test_a_malformed_description_is_refused_and_the_old_one_kept(robot):
    robot.description.publish(String(data=URDF[: len(URDF) // 2]))
    robot.send("base_link", down(0.35, 0.20, 0.40))
    robot.wait(lambda: robot.at(down(0.35, 0.20, 0.40)), "the arm still moves")
