# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm whose joints two controllers share: one clock, and one path for all joints."""

import random

import numpy as np
import pytest
from bench import PERIOD, Robot
from shared_robot import BASE, BRAKES, SPLIT, WRIST, SharedRobot, off_path, set_off, sharing
from std_srvs.srv import SetBool
from test_late_commands import (
    ACCELERATION,
    ANY,
    DISTURBED,
    PLACES,
    SPEED,
    Seen,
    disturb,
    move,
    stop,
    swung,
)
from world import MILLISECOND, SECOND

from basis_ik.errors import BasisIkError

BESIDE = 1e-5  # rad: where all rest before a first motion, to show that they take messages


@pytest.fixture
def robot():
    with sharing(judged=False) as robot:
        yield robot


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


def test_a_next_motion_begins_70_ms_after_it_is_sent(robot):
    """They may take it 50 ms late, and then begin together."""
    robot.reach(PLACES[0], 1e-6)
    robot.wait(robot.rests, "rest")
    since, rest = robot.world.now, way(robot)[-1]
    robot.reach(PLACES[1], 1e-6)
    moves = [time - since for time, place in robot.arm.outputs if (place != rest).any()]
    begun = min(time for time in moves if time > 0) / MILLISECOND
    assert 70 <= begun <= 70 + 1e3 * PERIOD + 4


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


@pytest.mark.parametrize("seed", range(3))
def test_a_motion_that_pauses_until_all_are_heard_keeps_the_limits(seed):
    """One is heard late, as its clock is behind; what is sent after that, the other takes late."""
    with sharing(lag=0.03, seed=seed) as robot:
        base, wrist = robot.parts.values()
        base.behind = 30 * MILLISECOND
        robot.run(2.5)  # until all states are by this clock
        for link in (base.commanding, *robot.told, robot.states.link):
            link.delay = (0, 10 * MILLISECOND)
        for link in (wrist.commanding, robot.targets.link):
            link.delay = (0, 50 * MILLISECOND)
        for target in (PLACES[3], PLACES[1]):
            robot.send("base_link", target)
            robot.run(0.2)
            for step in range(25):
                robot.send("base_link", swung(target, step))
                robot.run(0.02)
            robot.run(DISTURBED)


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
def test_one_that_falls_silent_lets_all_brake_on_the_path(which, robot):
    target = set_off(robot)
    since = robot.world.now
    robot.parts[which].states.link.loss = 1.0
    robot.run(BRAKES)
    assert robot.rests()
    assert not robot.at(target, 0.1), "they have braked"
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


def test_without_resuming_a_target_is_dropped_by_one_that_scales_its_speed():
    with sharing("-p", "resume_after_pause:=false", judged=False) as robot:
        set_off(robot)
        robot.parts[WRIST].arm.controller.speed_scaling = 0.5
        robot.run(1.0)
        assert "wrist_controller scales its speed to 0.5" in robot.statuses[-1]["message"]
        robot.parts[WRIST].arm.controller.speed_scaling = 1.0
        robot.run(1.0)
        assert robot.statuses[-1]["state"] == "READY"


@pytest.mark.parametrize("which", [BASE, WRIST])
def test_a_stop_while_one_stands_ends_its_motion_there(which, robot):
    set_off(robot)
    robot.parts[which].arm.controller.speed_scaling = 0.0
    robot.run(0.1)
    stop(robot)
    robot.wait_status(state="STOPPED", patience=1.0)
    here = robot.positions
    robot.parts[which].arm.controller.speed_scaling = 1.0
    robot.run(1.0)
    assert np.abs(robot.positions - here).max() < BESIDE
    robot.call(SetBool, "enable", data=True)
    robot.reach(PLACES[0], 1e-6)


@pytest.mark.parametrize("jump", [-3600, -1, 1, 3600])  # s
def test_a_clock_that_jumps_lets_the_arm_rest_within_its_limits(jump, robot):
    set_off(robot)
    robot.boundary.offset += jump * SECOND
    for part in robot.parts.values():
        part.arm.bound = np.inf  # the controllers themselves jump
    robot.run(3.0)
    assert robot.rests()
    robot.reach(PLACES[0], 1e-6)


def test_joints_that_a_controller_loses_in_mid_motion_are_told_and_all_brake(robot):
    set_off(robot)
    wrist = robot.parts[WRIST]
    wrist.controlled = wrist.controlled[1:]
    robot.run(BRAKES)
    assert "do not have elbow_joint: add the controller" in robot.statuses[-1]["message"]
    assert robot.rests()
    assert robot.arm.complaints == []
    wrist.controlled = list(wrist.arm.joint_names)
    robot.run(0.5)
    robot.reach(PLACES[0], 1e-6)


def test_a_node_that_is_deactivated_brakes_all(robot):
    set_off(robot)
    assert robot.transit("deactivate")
    robot.run(BRAKES)
    assert robot.rests()
    assert robot.arm.complaints == []


def test_a_motion_begins_where_something_else_has_moved_the_arm(robot):
    robot.reach(PLACES[0], 1e-6)
    robot.run(0.5)
    moved = robot.positions + 0.2
    for part in robot.parts.values():
        part.arm.joints.blocked[:] = True
        part.arm.joints.positions[:] += 0.2
    robot.run(0.1)
    robot.send("base_link", PLACES[1])
    robot.run(0.06)
    assert np.abs(robot.arm.outputs[-1][1] - moved).max() < BESIDE
    for part in robot.parts.values():
        part.arm.joints.blocked[:] = False
    robot.run(2.0)
    assert robot.at(PLACES[1])


def test_joints_that_are_not_the_chains_are_held_by_the_controller_that_has_them():
    """A gripper in the wrist's controller."""
    with sharing("-p", "hold_other_joints:=true", others={WRIST: {"finger": 0.3}}) as robot:
        robot.reach(PLACES[0], 1e-6)
        for each in robot.commands:
            assert ("finger" in each.message.joint_names) == ("wrist" in each.topic)
        assert robot.parts[WRIST].arm.others.tolist() == [0.3]


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
