# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Targets: what the arm does when they come, exactly."""

import math

import numpy as np
import pytest
from bench import PERIOD, down, running
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

TABLE = RigidTransform.from_rpy(0.1, -0.2, 2.0, [0.45, 0.10, 0.10])
NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)


def moved(x, y, z):
    return RigidTransform.from_rpy(0.0, 0.0, 0.0, [x, y, z])


@pytest.fixture(scope="module")
def robot():
    with running() as robot:
        robot.place("base_link", "table", TABLE)
        robot.home = robot.tip()
        yield robot


@pytest.fixture(autouse=True)
def _at_home_with_nothing_unsafe_behind(robot):
    if not robot.at(robot.home, 1e-9):
        robot.reach(robot.home)
    robot.wait(robot.rests, "silence")
    yield
    robot.frames.clear()
    complaints, robot.arm.complaints = robot.arm.complaints, []
    assert complaints == []
    assert robot.arm.refused == []


def test_a_pose_in_the_root_frame_is_reached(robot):
    robot.reach(NEAR, 1e-9)
    assert robot.statuses[-1]["verdict"] == "REACHED"


def test_a_pose_in_a_rotated_static_frame_is_reached(robot):
    table_T_target = down(0.0, 0.1, 0.2)
    robot.send("table", table_T_target)
    robot.wait_status(state="ARRIVED", target_frame="table")
    robot.wait(robot.rests, "silence")
    assert robot.at(TABLE @ table_T_target, 1e-9)


def test_a_target_for_an_arm_at_rest_is_commanded_at_once(robot):
    robot.run(0.5 * PERIOD)
    before, count = robot.world.now, len(robot.commands)
    robot.send("base_link", NEAR)
    robot.wait(lambda: len(robot.commands) > count, "a command")
    assert robot.commands[count].time == before


def test_a_newer_target_in_motion_is_commanded_within_a_period(robot):
    robot.set_off(FAR)
    sent = robot.send("base_link", NEAR).header.stamp
    before = robot.time
    robot.wait_status(target_stamp=f"{sent.sec}.{sent.nanosec:09}")
    assert robot.statuses[-1]["heard"] - before <= PERIOD + 1e-9
    robot.wait_status(state="ARRIVED")
    assert robot.at(NEAR, 1e-9)


@pytest.mark.parametrize("stall", [0.06, 0.08, 0.1, 0.12, 0.3])
def test_a_node_that_stood_still_goes_on_from_where_the_arm_is(robot, stall):
    """The fixture judges: in its window's braking the arm is between two points."""
    robot.set_off(FAR)
    robot.boundary.stalls.add(robot.world.now, stall)
    robot.run(1.0)
    robot.reach(FAR, 1e-9)


def test_commands_end_after_arrival(robot):
    robot.reach(NEAR)
    robot.run(1.0)
    count = len(robot.commands)
    robot.run(10.0)
    assert len(robot.commands) == count


def test_a_repeated_target_brings_back_a_displaced_arm(robot):
    home = robot.positions
    robot.reach(robot.home)
    robot.positions = home + 0.2
    robot.run(1.0)
    assert np.array_equal(robot.positions, home + 0.2), "not of its own accord"
    robot.reach(robot.home, 1e-9)


def test_a_repeated_target_also_brings_back_an_arm_that_is_hardly_displaced(robot):
    """By more than goal_tolerance, where the arm is not at the target any more."""
    robot.reach(robot.home)
    assert robot.rests()
    robot.positions = robot.positions + 0.02
    robot.wait_status(state="HOLDING")
    assert robot.rests()
    robot.reach(robot.home, 1e-9)


def test_an_arm_that_another_client_moves_at_rest_is_told(robot):
    robot.reach(robot.home)
    end = JointTrajectoryPoint(positions=robot.positions.tolist(), time_from_start=Duration(sec=2))
    end.velocities = end.accelerations = [0.0] * 6
    end.positions[2] += 0.2
    robot.arm.take(JointTrajectory(joint_names=list(robot.chain.joint_names), points=[end]))
    robot.run(3.0)
    status = robot.statuses[-1]
    assert (status["state"], status["level"]) == ("HOLDING", DiagnosticStatus.WARN)
    assert status["message"] == (
        "another client of the controller has moved the arm from the target: elbow_joint is 0.2 rad"
        " off; send the target again to return"
    )
    assert robot.rests()
    seen = len(robot.statuses) + 1
    robot.reach(robot.home, 1e-9)
    assert not any("moved the arm" in each["message"] for each in robot.statuses[seen:])


def test_an_arm_that_hangs_a_little_is_not_moved(robot):
    robot.reach(robot.home)
    home = robot.positions
    robot.positions = home + 0.009  # less than goal_tolerance
    robot.run(0.5)
    robot.send("base_link", robot.home)
    robot.run(1.0)
    assert np.array_equal(robot.positions, home + 0.009)
    robot.positions = home
    robot.run(1.0)


def test_a_target_without_stamp_follows_its_frame(robot):
    start = robot.time

    def swing():
        angle = 0.3 * math.sin(min(robot.time - start, 2.0))
        return RigidTransform.from_rpy(0.0, 0.0, angle, [0.35, 0.0, 0.2])

    robot.frames["base_link", "swing"] = swing
    robot.run(0.1)
    robot.send("swing", down(0.1, 0.1, 0.2), stamp=None)
    robot.run(1.5)
    assert robot.at(swing() @ down(0.1, 0.1, 0.2), 5e-3), "the arm is with the frame"
    robot.run(2.0)
    assert robot.at(swing() @ down(0.1, 0.1, 0.2), 1e-6), "the arm is at the frame's end"


def test_a_stamped_target_is_transformed_at_its_stamp(robot):
    start = robot.time
    robot.frames["base_link", "drift"] = lambda: moved(0.40, 0.5 * (robot.time - start) - 0.3, 0.2)
    robot.run(0.3)
    then, stamp = robot.frames["base_link", "drift"](), robot.stamp()
    robot.run(0.3)
    robot.send("drift", down(0.0, 0.0, 0.2), stamp)
    robot.wait_status(verdict="REACHED", state="ARRIVED", target_frame="drift")
    assert robot.at(then @ down(0.0, 0.0, 0.2), 1e-4)
    robot.wait(robot.rests, "silence, although the frame goes on")


@pytest.mark.parametrize("static", [True, False])
def test_a_target_in_the_arms_own_frame_is_not_chased(robot, static):
    tip_T_camera = moved(0.0, 0.0, 0.01)
    if static:
        robot.place("tool0", "camera", tip_T_camera)
    else:
        robot.frames["tool0", "moving_camera"] = lambda: tip_T_camera
    robot.run(0.3)
    goal = robot.tip() @ moved(0.0, 0.0, 0.06)
    robot.send("camera" if static else "moving_camera", moved(0.0, 0.0, 0.05), stamp=None)
    robot.run(3.0)
    assert robot.at(goal, 1e-3), "one step ahead of the tool"
    assert robot.rests()


def test_the_newest_target_wins(robot):
    robot.send("base_link", down(0.40, -0.20, 0.40))
    robot.reach(down(0.40, 0.25, 0.30), 1e-9)


def test_a_flood_of_targets_does_not_change_the_command_rate(robot):
    """A target for an arm at rest is commanded at once; the next one waits for the period."""
    count, start = len(robot.commands), robot.world.now
    for k in range(1000):
        target = down(0.40, 0.20 + 1e-4 * k, 0.40)
        robot.world.at(start + k * 10**6, lambda target=target: robot.send("base_link", target))
    robot.run(1.0)
    times = [command.time for command in robot.commands[count:]]
    assert min(np.diff(times)) >= 1e9 * PERIOD - 1
    assert 1.0 / PERIOD - 2 <= len(times) <= 1.0 / PERIOD + 1
    robot.wait_status(state="ARRIVED")


def test_a_target_out_of_reach_is_approached_with_the_missing_distance(robot):
    target = down(1.2, 0.6, 0.6)
    robot.send("base_link", target)
    robot.wait_status(verdict="TOO_FAR", state="ARRIVED")
    status = robot.statuses[-1]
    missing = float(np.linalg.norm(robot.tip().translation - target.translation))
    assert float(status["missing_distance"]) == pytest.approx(missing, abs=1e-6)
    assert status["message"].startswith("too far by 4")


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
    before, count = int(robot.statuses[-1].get(f"refused.{reason}", 0)), len(robot.commands)
    robot.targets.publish(broken(**fields))
    robot.wait_status(**{f"refused.{reason}": str(before + 1)})
    assert robot.statuses[-1]["last_refusal.target_pose"].startswith(reason)
    robot.run(1.0)
    assert len(robot.commands) == count


def test_the_status_speaks_of_the_newest_target(robot):
    """Whoever waits for REACHED must not take it of the target before a refused one."""
    robot.reach(NEAR)
    kept, bad = robot.statuses[-1]["target_stamp"], robot.send("nowhere", NEAR).header.stamp
    robot.wait_status(verdict="REFUSED", level=DiagnosticStatus.WARN)
    status = robot.statuses[-1]
    assert "reached; the newest target was refused 0.0 s ago: NO_TRANSFORM: " in status["message"]
    assert (status["state"], status["target_stamp"]) == ("ARRIVED", kept), "the arm stays"
    assert status["last_refusal_stamp.target_pose"] == f"{bad.sec}.{bad.nanosec:09}"
    robot.run(3.0)
    assert "refused 3." in robot.statuses[-1]["message"]
    robot.reach(NEAR)
    status = robot.statuses[-1]
    assert (status["level"], status["message"]) == (DiagnosticStatus.OK, "reached")
    assert float(status["last_refusal_age.target_pose"]) > 3.0, "history, with its age"


def test_every_target_is_counted_as_accepted_or_refused(robot):
    """The sender of one without a stamp knows it by the count."""

    def counts():
        names = ("accepted.target_pose", "refused.target_pose", "accepted.home", "refused.twist")
        return np.array([int(robot.statuses[-1].get(name, 0)) for name in names])

    robot.run(1.0)
    before = counts()
    robot.send("base_link", NEAR, stamp=None)
    robot.run(0.1)
    assert (counts() - before).tolist() == [1, 0, 0, 0]
    robot.send("", NEAR, stamp=None)
    robot.run(0.1)
    robot.send("nowhere", NEAR, stamp=None)
    robot.jog("")
    assert not robot.call(Trigger, "home").success, "it has no home"
    robot.run(1.0)
    assert (counts() - before).tolist() == [1, 2, 0, 1]
    robot.call(Trigger, "stop")
    robot.wait_status(state="STOPPED")
    robot.send("base_link", FAR, stamp=None)
    robot.run(0.1)
    assert (counts() - before).tolist() == [1, 3, 0, 1]
    assert "call ~/enable" in robot.statuses[-1]["last_refusal.target_pose"]
    robot.call(SetBool, "enable", data=True)
    robot.wait_status(state="READY", level=DiagnosticStatus.OK, message="no target")


def test_an_older_target_that_waits_does_not_answer_for_a_refused_one(robot):
    before = int(robot.statuses[-1]["accepted.target_pose"])
    robot.send("late", down(0.0, 0.0, 0.2), stamp=None)
    robot.run(0.1)
    robot.send("", NEAR, stamp=None)
    robot.run(0.1)
    robot.place("base_link", "late", TABLE)
    robot.wait(lambda: int(robot.statuses[-1]["accepted.target_pose"]) > before, "its transform")
    robot.wait_status(state="ARRIVED", verdict="REFUSED", level=DiagnosticStatus.WARN)
    assert robot.at(TABLE @ down(0.0, 0.0, 0.2), 1e-3), "the one that waited is pursued"
    assert "NO_FRAME" in robot.statuses[-1]["message"]


def test_a_target_whose_frame_ceases_is_refused_after_all(robot):
    robot.frames["base_link", "cart"] = lambda: moved(0.4, 0.1, 0.2)
    robot.run(0.1)
    robot.send("cart", down(0.0, 0.0, 0.2), stamp=None)
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    robot.frames.clear()
    robot.wait_status(verdict="REFUSED")
    robot.wait_status(state="READY", verdict="REFUSED")


def test_a_twist_that_expires_does_not_bring_back_an_old_refusal(robot):
    robot.jog("")
    robot.wait_status(level=DiagnosticStatus.WARN)
    robot.jog("base_link")
    robot.run(2.0)
    status = robot.statuses[-1]
    assert (status["level"], status["message"]) == (DiagnosticStatus.OK, "no target")


def test_a_target_waits_for_a_late_transform(robot):
    robot.send("late", down(0.0, 0.0, 0.2), stamp=None)
    robot.run(0.1)
    robot.place("base_link", "late", TABLE)
    robot.wait(lambda: robot.at(TABLE @ down(0.0, 0.0, 0.2)), "the arm is there")


def test_missing_joint_states_end_the_motion(robot):
    robot.set_off(FAR, 0.01)
    robot.publishing = False
    robot.wait_status(state="WAITING")
    assert "no joint state of" in robot.statuses[-1]["message"]
    robot.run(1.0)
    assert robot.rests()
    assert not robot.at(FAR, 1e-2)
    here = robot.positions
    robot.publishing = True
    robot.wait_status(state="READY")
    robot.run(0.5)
    assert np.array_equal(robot.positions, here)
    robot.reach(FAR, 1e-9)


def test_joints_of_other_names_are_named(robot):
    """Nothing comes of a driver with a prefix; an old refusal is not the cause."""

    class Prefixed:
        def publish(self, state):
            state.name = [f"ur_{name}" for name in state.name] + ["gripper"]
            state.position = [*state.position, 0.0]
            good.publish(state)

    good = robot.states
    bad = JointState(name=["elbow_joint"], position=[math.nan])
    good.publish(bad)
    robot.states = Prefixed()
    robot.wait_status(state="WAITING")
    robot.run(1.5)
    said = robot.statuses[-1]["message"]
    assert said.startswith("no joint state of shoulder_pan_joint, ")
    assert ", but of gripper, ur_elbow_joint, ur_shoulder_lift_joint, " in said
    assert said.endswith(" in the URDF and in the driver")
    robot.states, robot.publishing = good, False
    robot.run(1.5)
    assert "ur_" not in robot.statuses[-1]["message"], "nothing comes any more"
    robot.publishing = True
    robot.wait_status(state="READY")


def test_a_motion_begins_at_the_measured_positions(robot):
    robot.positions = robot.positions + 0.2
    robot.run(1.0)
    robot.reach(NEAR, 1e-9)


def test_home_without_the_parameter_is_refused(robot):
    answer = robot.call(Trigger, "home")
    assert not answer.success
    assert "parameter home" in answer.message
    assert robot.rests()


def test_a_position_only_target_leaves_the_orientation_free(robot):
    turned = moved(0.60, 0.20, 0.20)  # upwards, below the elbow
    assert robot.set_parameter("position_only_ik", True).successful
    stamp = robot.send("base_link", turned).header.stamp
    robot.wait_status(
        verdict="REACHED", state="ARRIVED", target_stamp=f"{stamp.sec}.{stamp.nanosec:09}"
    )
    assert np.allclose(robot.tip().translation, turned.translation, rtol=0.0, atol=1e-4)
    assert not np.allclose(robot.tip().rotation, turned.rotation, atol=0.1)
    assert robot.set_parameter("position_only_ik", False).successful


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
    robot.description.publish(String(data=robot.urdf[: len(robot.urdf) // 2]))
    robot.reach(down(0.35, 0.20, 0.40), 1e-9)
    assert any("robot description refused" in line for line in robot.log.lines())
