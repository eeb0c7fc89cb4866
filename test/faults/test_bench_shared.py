# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of one of two controllers that share an arm."""

import numpy as np
import pytest
from bench import HOME
from shared_robot import BASE, BRAKES, FAR, SPLIT, WRIST, SharedRobot, set_off, sharing
from test_late_commands import ACCELERATION, LEAP, PLACES, Seen, explains, stop
from world import SECOND


@pytest.fixture
def robot():
    with sharing(judged=False) as robot:
        yield robot


@pytest.mark.parametrize(
    ("which", "stall", "change"),
    [
        (BASE, 0.25, "stop"),
        (WRIST, 0.25, "another target"),
        (BASE, 0.5, ""),
        (WRIST, 0.5, "stop"),
        (BASE, 1.5, "another target"),
        (WRIST, 1.5, ""),
    ],
)
def test_row_118_one_takes_nothing_for_a_while(observed, which, stall, change, robot):
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
    if not change:
        outputs = np.array([positions for _, positions in robot.arm.outputs])
        base, wrist = ((outputs[:, k] - HOME[k]) / FAR[k] for k in (0, 5))
        assert np.abs(base - wrist).max() * max(FAR) < 0.3, "one is behind on the path"
    assert Seen(robot, 0).leap <= LEAP
    assert Seen(robot, 0).rate <= ACCELERATION
    if change == "stop":
        robot.wait_status(state="STOPPED")
    else:
        assert robot.at(target, 1e-3) or "DROPPED" in robot.statuses[-1]["message"]
        assert explains(robot, since)
    observed("no leap, none beyond the limits; it goes on, or says why it rests")


@pytest.mark.parametrize("which", [BASE, WRIST])
def test_row_119_one_takes_nothing_from_the_begin_on(observed, which, robot):
    robot.parts[which].commanding.loss = 1.0
    robot.send("base_link", PLACES[0])
    robot.run(2.5)
    assert f"{which} has not taken the motion" in robot.statuses[-1]["message"]
    assert np.abs(np.subtract(robot.positions, HOME)).max() < 1e-5, "nothing moves alone"
    assert robot.rests()
    robot.parts[which].commanding.loss = 0.0
    robot.reach(PLACES[0], 1e-6)
    observed("<controller> has not taken the motion; nothing moves")


@pytest.mark.parametrize("which", [BASE, WRIST])
@pytest.mark.parametrize("away", [0.2, 1.0])
def test_row_120_one_is_switched_off_and_on(observed, which, away, robot):
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
    observed(f"<controller> {words}; the other brakes within its limits")


@pytest.mark.parametrize(("which", "other"), [(BASE, WRIST), (WRIST, BASE)])
def test_row_121_one_holds_by_its_tolerance(observed, which, other):
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
        observed("<controller> has left the trajectory ..., within 40 ms; the other brakes")


@pytest.mark.parametrize("which", [BASE, WRIST])
@pytest.mark.parametrize("factor", [0.5, 0.0])
def test_row_122_one_scales_its_speed(observed, which, factor, robot):
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
    observed(f"at a factor of {factor:g} both rest; at 1 they go on to the goal")


@pytest.mark.parametrize(
    ("joints", "told"),
    [
        ({BASE: [0], WRIST: [2, 3, 4, 5]}, "do not have shoulder_lift_joint: add the controller"),
        ({BASE: [0, 1, 2], WRIST: [2, 3, 4, 5]}, "both have elbow_joint: each joint must have one"),
        ({BASE: [0, 1, 2, 3, 4, 5], WRIST: []}, "wrist_controller has no joint of the chain"),
    ],
)
def test_row_123_a_joint_is_not_in_one_controller(observed, joints, told):
    robot = SharedRobot()
    for name, part in robot.parts.items():
        part.controlled = [robot.chain.joint_names[k] for k in joints[name]] or ["finger"]
    robot.run(1.0)
    assert told in robot.statuses[-1]["message"]
    robot.send("base_link", PLACES[0])
    robot.run(0.5)
    assert robot.commands == []
    robot.loop.end()
    observed(f"WAITING: ... {told} ...; no command")
