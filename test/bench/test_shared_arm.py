# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm whose joints two controllers share: one clock, and one path for all joints."""

import random

import numpy as np
import pytest
from bench import HOME, Robot
from shared_robot import BASE, SPLIT, WRIST, SharedRobot, off_path, sharing
from std_srvs.srv import SetBool
from test_late_commands import (
    ACCELERATION,
    ANY,
    DISTURBED,
    LEAP,
    PLACES,
    SPEED,
    Seen,
    disturb,
    explains,
    move,
    stop,
)
from world import MILLISECOND, SECOND

from basis_ik.errors import BasisIkError

BRAKES = 0.55  # s after which all rest: up to 0.15 until nothing is sent, 0.07 ahead, the brake
BESIDE = 1e-5  # rad: where all rest before a first motion, to show that they take messages
FAR = [0.9, -0.3, 0.4, 0.2, -0.2, 0.5]  # a motion of most of a second


@pytest.fixture
def robot():
    with sharing(judged=False) as robot:
        yield robot


def set_off(robot):
    """Send a target; return what it is once the arm is in mid-motion."""
    target = robot.chain.forward(np.add(HOME, FAR))
    robot.send("base_link", target)
    robot.run(0.35)
    return target


def way(robot, since=0):
    return np.array([positions for time, positions in robot.arm.outputs if time >= since])


def test_both_get_their_joints_of_one_motion_with_the_same_stamps(robot):
    robot.reach(PLACES[0], 1e-6)
    base, wrist = (
        [each.message for each in robot.commands if each.topic == part.command]
        for part in robot.parts.values()
    )
    assert len(base) == len(wrist) > 50
    for first, second in zip(base, wrist, strict=True):
        assert first.header.stamp == second.header.stamp
        assert [*first.joint_names, *second.joint_names] == list(robot.chain.joint_names)
        times = [[each.time_from_start for each in message.points] for message in (first, second)]
        assert times[0] == times[1]
    assert off_path(way(robot)) < BESIDE
    assert robot.arm.complaints == []
    assert not any(part.arm.refused for part in robot.parts.values())


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(each, marks=pytest.mark.long) for each in range(4, 40))]
)
def test_delays_of_up_to_50_ms_keep_the_limits(seed):
    """Of each controller its own; its drives, too, are its own."""
    rng = random.Random(seed)
    lags = {name: rng.choice([0.0, 0.03, 0.1]) for name in SPLIT}
    with sharing(lag=0.1, lags=lags, judged=False) as robot:
        for _ in range(3):
            since = robot.world.now
            links = disturb(robot, rng, *rng.choice([(50, 0), (10, 40)]))
            move(robot, rng, rng.choice([*ANY, "twist"]))
            robot.run(DISTURBED)
            for link in links:
                link.delay = (0, 0)
            robot.wait(robot.rests, "rest")
            seen = Seen(robot, since)
            assert seen.speed <= SPEED
            assert seen.rate <= ACCELERATION
            robot.call(SetBool, "enable", data=True)
            robot.reach(PLACES[2], 0.02)


@pytest.mark.parametrize("which", [BASE, WRIST])
def test_a_clock_that_is_behind_puts_its_joints_as_much_behind_on_the_path(which):
    with sharing() as robot:
        robot.parts[which].behind = 30 * MILLISECOND
        robot.run(2.5)  # until all states are by this clock
        robot.commandings[0].delay = (0, 8 * MILLISECOND)
        since = robot.world.now
        robot.reach(PLACES[0], 1e-6)
        passed = way(robot, since)
        fastest = np.abs(np.diff(passed, axis=0)).max() / 0.002
        assert 0.001 < off_path(passed) < 1.05 * 0.03 * fastest


def test_a_clock_that_is_ahead_is_refused_with_the_controllers_name(robot):
    robot.parts[WRIST].behind = -30 * MILLISECOND
    robot.run(2.5)
    robot.send("base_link", PLACES[0])
    robot.run(0.5)
    told = "wrist_controller's clock is 0.03 s ahead of this one: synchronise them"
    assert told in robot.statuses[-1]["message"]
    assert robot.commands == []


def test_drives_that_differ_leave_the_path_by_what_their_lags_explain():
    with sharing(lag=0.1, lags={BASE: 0.0}) as robot:
        robot.send("base_link", PLACES[0])
        positions = []
        for _ in range(150):
            robot.run(0.01)
            positions.append(robot.positions.copy())
        positions = np.array(positions)
        assert off_path(way(robot)) < BESIDE, "the outputs"
        fastest = np.abs(np.diff(positions, axis=0)).max() / 0.01
        assert off_path(positions) < 0.1 * fastest


@pytest.mark.parametrize("which", [BASE, WRIST])
@pytest.mark.parametrize("stall", [0.25, 0.5, 1.5])
@pytest.mark.parametrize("change", ["", "stop", "another target"])
def test_one_that_takes_nothing_for_a_while_does_not_leap(which, stall, change, robot):
    target = set_off(robot)
    since = robot.world.now
    robot.parts[which].arm.taking.add(since, stall)
    robot.run(0.05)
    if change == "stop":
        stop(robot)
    elif change:
        target = PLACES[1]
        robot.send("base_link", target)
    robot.run(BRAKES)
    rested = stall < 1.0 or robot.rests()
    robot.run(stall + 1.0)
    assert rested, "all have braked"
    assert Seen(robot, 0).leap <= LEAP
    assert Seen(robot, 0).rate <= ACCELERATION
    if change == "stop":
        robot.wait_status(state="STOPPED")
    else:
        assert robot.at(target, 1e-3) or "DROPPED" in robot.statuses[-1]["message"]
        assert explains(robot, since)


@pytest.mark.parametrize("which", [BASE, WRIST])
def test_one_that_takes_nothing_from_the_begin_on_moves_nothing(which, robot):
    robot.parts[which].commanding.loss = 1.0
    robot.send("base_link", PLACES[0])
    robot.run(2.5)
    assert f"{which} has not taken the motion" in robot.statuses[-1]["message"]
    assert np.abs(np.subtract(robot.positions, HOME)).max() < 1e-5, "nothing moves alone"
    assert robot.rests()
    robot.parts[which].commanding.loss = 0.0
    robot.reach(PLACES[0], 1e-6)


@pytest.mark.parametrize("which", [BASE, WRIST])
def test_one_that_falls_silent_lets_all_brake_on_the_path(which, robot):
    target = set_off(robot)
    since = robot.world.now
    robot.parts[which].states.link.loss = 1.0
    robot.run(BRAKES)
    assert robot.rests()
    assert off_path(way(robot)) < BESIDE
    robot.run(0.5)
    told = f"{which} is not active: no /{which}/controller_state"
    assert told in robot.statuses[-1]["message"]
    robot.parts[which].states.link.loss = 0.0
    robot.run(0.5)
    robot.reach(target, 1e-6)
    assert Seen(robot, since).rate <= ACCELERATION


@pytest.mark.parametrize("which", [BASE, WRIST])
def test_a_silence_that_ends_soon_only_interrupts_the_motion(which, robot):
    target = set_off(robot)
    robot.parts[which].states.link.loss = 1.0
    robot.run(0.3)
    robot.parts[which].states.link.loss = 0.0
    robot.run(2.0)
    assert robot.at(target, 1e-6)
    assert robot.arm.complaints == []


@pytest.mark.parametrize("which", [BASE, WRIST])
@pytest.mark.parametrize("away", [0.2, 1.0])
def test_one_that_is_switched_off_and_on_lets_the_others_brake(which, away, robot):
    set_off(robot)
    since, part = robot.world.now, robot.parts[which]
    part.arm.deactivate()
    robot.run(away)
    part.arm.activate()
    robot.run(BRAKES)
    told = {each["message"] for each in robot.statuses if each["heard"] > 1e-9 * since}
    words = "is not active" if away > 0.5 else "was restarted: it was not active for a moment"
    assert any(f"{which} {words}" in message for message in told), told
    assert robot.rests()
    assert Seen(robot, 0).leap <= LEAP
    assert not any(each.arm.complaints for each in robot.parts.values() if each is not part)
    robot.run(0.5)
    robot.reach(PLACES[0], 1e-6)


@pytest.mark.parametrize(("which", "other"), [(BASE, WRIST), (WRIST, BASE)])
def test_one_that_holds_by_its_tolerance_is_named_and_the_others_brake(which, other):
    with sharing(lag=0.1, lags={other: 0.0}, path=0.06, judged=False) as robot:
        robot.send("base_link", robot.chain.forward(np.add(HOME, FAR)))
        arm, home = robot.parts[which].arm, np.array(HOME)[SPLIT[which]]
        robot.wait(lambda: np.abs(arm.joints.positions - home).max() > 0.02, "it moves")
        robot.wait(lambda: np.array_equal(arm.outputs[-1][1], arm.outputs[-2][1]), "it holds")
        robot.wait(lambda: "has left" in robot.statuses[-1]["message"], "it is told", 0.04)
        assert f"{which} has left the trajectory when" in robot.statuses[-1]["message"]
        robot.run(BRAKES)
        assert robot.rests()
        assert robot.parts[other].arm.complaints == []


@pytest.mark.parametrize("which", [BASE, WRIST])
def test_one_whose_joint_is_blocked_holds_and_the_others_brake(which, robot):
    set_off(robot)
    robot.parts[which].arm.joints.blocked[0] = True
    robot.wait_status(state="TRACKING_LOST", patience=2.0)
    robot.run(BRAKES)
    assert robot.rests()
    robot.parts[which].arm.joints.blocked[0] = False
    assert robot.rests(), "it does not go on by itself"
    robot.call(SetBool, "enable", data=True)
    robot.reach(PLACES[0], 1e-6)


@pytest.mark.parametrize("which", [BASE, WRIST])
@pytest.mark.parametrize("factor", [0.5, 0.0])
def test_one_that_scales_its_speed_lets_all_rest_and_then_go_on(which, factor, robot):
    target = set_off(robot)
    robot.parts[which].arm.controller.speed_scaling = factor
    robot.run(1.0)
    told = f"{which} scales its speed to {factor:.2g}: the arm goes on once it is at full speed"
    assert told in robot.statuses[-1]["message"]
    assert robot.rests()
    robot.parts[which].arm.controller.speed_scaling = 1.0
    since = robot.world.now + SECOND // 4
    robot.run(2.0)
    assert robot.at(target, 1e-6)
    assert Seen(robot, since).rate <= ACCELERATION
    assert Seen(robot, 0).leap <= LEAP


def test_without_resuming_a_target_is_dropped_by_one_that_scales_its_speed():
    with sharing("-p", "resume_after_pause:=false", judged=False) as robot:
        set_off(robot)
        robot.parts[WRIST].arm.controller.speed_scaling = 0.5
        robot.run(1.0)
        assert "wrist_controller scales its speed to 0.5" in robot.statuses[-1]["message"]
        robot.parts[WRIST].arm.controller.speed_scaling = 1.0
        robot.run(1.0)
        assert robot.statuses[-1]["state"] == "READY"


def test_a_motion_begins_where_something_else_has_moved_the_arm(robot):
    robot.reach(PLACES[0], 1e-6)
    robot.run(0.5)
    for part in robot.parts.values():
        reference = part.arm.joints.positions.copy()
        part.arm.joints.positions[:] = reference + 0.2
    robot.run(0.1)
    robot.reach(PLACES[1], 1e-6)


def test_joints_that_are_not_the_chains_are_held_by_the_controller_that_has_them():
    """A gripper in the wrist's controller."""
    with sharing("-p", "hold_other_joints:=true", others={WRIST: {"finger": 0.3}}) as robot:
        robot.reach(PLACES[0], 1e-6)
        for each in robot.commands:
            assert ("finger" in each.message.joint_names) == ("wrist" in each.topic)
        assert robot.parts[WRIST].arm.others.tolist() == [0.3]


@pytest.mark.parametrize(
    ("joints", "told"),
    [
        ({BASE: [0], WRIST: [2, 3, 4, 5]}, "do not have shoulder_lift_joint: add the controller"),
        ({BASE: [0, 1, 2], WRIST: [2, 3, 4, 5]}, "both have elbow_joint: each joint must have one"),
        ({BASE: [0, 1, 2, 3, 4, 5], WRIST: []}, "wrist_controller has no joint of the chain"),
    ],
)
def test_joints_that_are_not_in_one_controller_each_are_refused_before_a_motion(joints, told):
    robot = SharedRobot()
    for name, part in robot.parts.items():
        part.controlled = [robot.chain.joint_names[k] for k in joints[name]] or ["finger"]
    robot.run(1.0)
    assert told in robot.statuses[-1]["message"]
    robot.send("base_link", PLACES[0])
    robot.run(0.5)
    assert robot.commands == []
    robot.loop.end()


@pytest.mark.parametrize("replaces", [True, None])
def test_a_controller_that_may_blend_is_refused_before_a_motion(replaces):
    robot = SharedRobot(replaces=bool(replaces))
    robot.boundary.replaces = replaces
    robot.run(3.0)
    told = "base_controller may blend trajectories"
    assert told in robot.statuses[-1]["message"]
    robot.send("base_link", PLACES[0])
    robot.run(0.5)
    assert robot.commands == []
    robot.loop.end()


@pytest.mark.parametrize("interface", ["follow_joint_trajectory", "position", "velocity"])
def test_another_interface_is_not_for_several_controllers(interface):
    with pytest.raises(BasisIkError, match="parameter 'controller' names several controllers"):
        SharedRobot("-p", f"command_interface:={interface}")


@pytest.mark.parametrize(
    ("given", "told"),
    [("a,a", "has 'a' twice"), ("a,", "is '', which is not"), ("a b", "is 'a b', which is not")],
)
def test_names_of_controllers_that_cannot_be(given, told):
    with pytest.raises(BasisIkError, match=told):
        Robot("-p", f"controller:='{given}'")
