# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of frames and of the clock."""

import numpy as np
import pytest
from bench import CYCLE, PERIOD, down
from bench_arm import BRAKING_WAY, FAR, NEAR, arrives, moving, robot_of, stands
from simulation import Simulation
from world import MILLISECOND, SECOND

from basis_ik.ros.sim_clock import CLOCK_MISSING
from basis_ik.transforms.rigid import RigidTransform

HERE = RigidTransform.identity()
BESIDE = down(0.40, -0.20, 0.40)


def test_row_23_contradictory_frames(robot, observed):
    robot.frames["base_link", "belt"] = lambda: NEAR
    robot.place("belt", "on_belt", HERE)
    robot.run(2 * PERIOD)
    robot.send("on_belt", HERE, stamp=None)
    arrives(robot, NEAR)
    first, poses = len(robot.arm.outputs), [NEAR, BESIDE]
    robot.frames["base_link", "belt"] = lambda: poses[round(robot.time / PERIOD) % 2]
    robot.run(2.0)
    assert np.count_nonzero(~moving(robot, first)) <= 10, "the arm follows both"
    tips = [robot.chain.forward(each).translation for _, each in robot.arm.outputs[first::10]]
    assert np.ptp(tips, axis=0)[1] == pytest.approx(0.4, abs=2e-3), "from one to the other"
    robot.frames["base_link", "belt"] = lambda: NEAR
    arrives(robot, NEAR)
    observed("two authorities 0.4 m apart for 2 s: never beyond the limits")
    robot.place("base_link", "on_belt", BESIDE)
    robot.run(2 * PERIOD)
    arrives(robot, BESIDE)
    observed("another parent: led there within the limits")


def holds_once(robot, seconds, unseen=0.0):
    """Let the clock jump in motion; the arm brakes once, and rests; return the count of commands.

    It may go on as it did for the time [s] in which the controller has not told where it is.

    The motion from rest has no stamp, so it goes on; the window that brakes has one of afterwards.
    """
    robot.set_off(FAR, 0.4)
    count, seen, here = len(robot.commands), len(robot.statuses), robot.positions
    (_, before), (_, last) = robot.arm.outputs[-2:]
    way = BRAKING_WAY + unseen * SECOND / CYCLE * np.abs(last - before)
    robot.jumps += round(SECOND * seconds)
    robot.wait(robot.rests, "silence")
    assert robot.arm.complaints == [], "it does not leap"
    assert (np.abs(robot.positions - here) <= way).all()
    assert not robot.at(FAR, 1e-2)
    times = [command.time for command in robot.commands[count:]]
    assert times
    assert (np.diff(times) >= SECOND * PERIOD - 1).all(), "one in a period: no burst"
    assert stands(robot, 1.0), "it does not go on by itself"
    assert "target_frame" not in robot.statuses[-1], "the target is forgotten"
    states = [status["state"] for status in robot.statuses[seen:]]
    begins = [b for a, b in zip(["MOVING", *states], states, strict=False) if a != b == "BRAKING"]
    assert len(begins) == 1, "once"
    return len(times)


@pytest.mark.parametrize("seconds", [-0.5, -5.0])
def test_row_24_clock_goes_back(observed, seconds):
    with robot_of(kind=Simulation) as robot:
        robot.frames["base_link", "table"] = lambda: NEAR
        newest = robot.now()  # of tf
        observed(f"HOLD with {holds_once(robot, seconds)} commands")
        robot.frames["base_link", "table"] = lambda: BESIDE
        robot.run(2 * PERIOD)
        robot.send("table", HERE, stamp=None)
        arrives(robot, BESIDE)
        assert robot.now() < newest or seconds > -5.0, "by tf of afterwards"
        assert "refused.OUT_OF_ORDER" not in robot.statuses[-1]
        observed("then a new target is reached, by tf of afterwards")


@pytest.mark.parametrize("interval", [20, 200])
def test_row_25_clock_leaps_ahead(observed, interval):
    """Even if the controller publishes rarely; a jump of the clock is no silence of it."""
    with robot_of(kind=Simulation) as robot:
        publish = robot.arm.on_state

        def rarely(stamp, update):
            if robot.simulated.now % (interval * MILLISECOND) == 0:
                publish(stamp, update)

        robot.arm.on_state = rarely
        robot.run(0.5)
        observed(f"HOLD with {holds_once(robot, 3600.0, 1e-3 * interval)} commands")


def test_row_26_no_clock(observed):
    with robot_of(kind=Simulation, ready=False) as robot:
        robot.wait_status(state="WAITING", message=CLOCK_MISSING)
        observed(f"WAITING: {CLOCK_MISSING.partition(':')[0]}")
        robot.send("base_link", FAR, stamp=None)
        robot.run(3.0)
        assert robot.commands == []
        observed("no command")
        robot.factor = 1.0
        robot.wait_status(state="READY")
        assert stands(robot), "what was asked before is not replayed"


def test_row_91_a_frame_comes_to_hang_on_the_tool(robot, observed):
    """The frame is then 2 cm off where it was: from there it would run ahead of the tool."""
    robot.frames["base_link", "box"] = lambda: NEAR
    robot.run(2 * PERIOD)
    robot.send("box", HERE, stamp=None)
    arrives(robot, NEAR)
    del robot.frames["base_link", "box"]
    robot.place("tool0", "box", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.02, 0.0, 0.0]))
    assert stands(robot, 2.5)
    away = np.linalg.norm(robot.tip().translation - NEAR.translation)
    assert away < 1e-6
    observed(f"the tool stays within {1e3 * away:.1f} mm")


def test_row_97_a_simulation_with_a_time_of_its_own(observed):
    with robot_of(kind=Simulation) as robot:
        robot.factor = 0.2
        robot.set_off(FAR, 0.4)
        robot.factor = 0.0
        robot.wait_status(state="WAITING")
        assert "stands still" in robot.statuses[-1]["message"]
        assert stands(robot, 1.0), "nothing moves while it is paused"
        robot.send("base_link", NEAR, stamp=None)
        assert stands(robot)
        robot.factor = 0.2
        robot.send("base_link", FAR)
        arrives(robot, FAR)
        observed("at a fifth: within the limits in its own time; paused: WAITING, nothing moves")
        robot.factor = 1.0
        robot.reach(NEAR)
        holds_once(robot, -1e-9 * robot.now() + 5.0)
        observed("reset: HOLD, and new targets are taken")
