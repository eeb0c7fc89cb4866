# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of targets, and of the publishers of targets."""

import contextlib

import numpy as np
import pytest
from bench import CYCLE, PERIOD, down
from bench_arm import FAR, NEAR, SAFE, arrives, enable, memory, refusals, robot_of, stands
from simulation import Simulation
from test_preview import ENDS, LOCKED, go, previews
from viewer import Viewer
from world import MILLISECOND, SECOND

from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.transforms.rigid import RigidTransform

TIMEOUT = 0.1  # s: the default of incoming_command_timeout
TOLD = 2 * PERIOD  # s until the node has handled a message, and told it


def test_row_09_unknown_frame(robot, observed):
    shelf = RigidTransform.from_rpy(0.0, 0.0, 0.3, [0.4, 0.1, 0.2])
    robot.send("shelf", down(0.0, 0.0, 0.2), stamp=None)
    robot.wait(lambda: refusals(robot, "NO_TRANSFORM") == 1, "its refusal")
    observed(robot.statuses[-1]["last_refusal.target_pose"].split(" (")[0])
    assert robot.commands == []
    robot.place("base_link", "shelf", shelf)
    robot.run(TOLD)
    robot.send("shelf", down(0.0, 0.0, 0.2), stamp=None)
    arrives(robot, shelf @ down(0.0, 0.0, 0.2))
    observed("reached once the frame was published")


@pytest.mark.parametrize("clock", ["goes on", "stands still"])
def test_row_15_stream_ceases(observed, clock):
    with robot_of(kind=Simulation) as robot:
        robot.reach(NEAR)
        begin = robot.time
        while robot.time < begin + 2.0:
            robot.jog("base_link", linear=(0.0, 0.0, -0.1))
            last = robot.simulated.now
            robot.run(0.02)
        if clock == "stands still":
            robot.factor = 0.0
            robot.run(PERIOD)
            assert stands(robot, 3.0)
            observed("no command while /clock stood still")
            robot.factor = 1.0
        robot.run(1.0)
        times, outputs = zip(*robot.arm.outputs[-SECOND // CYCLE :], strict=True)
        tips = np.array([robot.chain.forward(output).translation for output in outputs])
        speeds = np.linalg.norm(np.diff(tips, axis=0), axis=1) / (1e-9 * CYCLE)
        assert speeds.max() == pytest.approx(0.1, abs=1e-3)
        late = 1e-9 * (times[np.nonzero(speeds > 0.099)[0][-1]] - last)
        observed(f"the tip slowed down {1e3 * late:.0f} ms after the last twist")
        # A period, in which it is noticed, and two that were settled by then.
        assert TIMEOUT + SAFE <= late <= TIMEOUT + SAFE + 3 * PERIOD + 1e-9


def test_row_16_flood(robot, observed):
    def flood(seconds):
        """Send 10,000 targets a second."""
        begin = robot.world.now
        for k in range(round(10_000 * seconds)):
            target = down(0.40, 0.20 + 0.1 * np.sin(1e-4 * k), 0.40)
            when = begin + k * MILLISECOND // 10
            robot.world.at(when, lambda target=target: robot.send("base_link", target))
            if k % 1000 == 999:
                robot.run(0.1)
        return target

    flood(1.0)
    before, count, begin = memory(), len(robot.commands), robot.time
    newest = flood(2.0)
    sent = len(robot.commands) - count
    assert sent >= round((robot.time - begin) / PERIOD) - 1
    assert memory() - before < 4.0
    observed(f"a command in each of {sent} periods")
    arrives(robot, newest)
    observed("the newest is reached")


def test_row_17_two_publishers(robot, observed):
    alone = robot.boundary.sources["publishing"]
    robot.boundary.sources["publishing"] = ["/robot", "/second"]
    robot.run(3.0)
    words = "2 publishers, the newest target wins: published on /basis_ik/target_pose by"
    (line,) = [line for line in robot.log.lines() if words in line]
    assert "by /robot, /second" in line
    observed("WARN: 2 publishers, /robot and /second")
    robot.send("base_link", FAR)
    robot.run(0.2)
    robot.reach(NEAR)
    observed("the newest is reached")
    robot.boundary.sources["publishing"] = alone
    robot.run(3.0)
    log = "\n".join(robot.log.lines())
    assert log.count("no second publisher on /basis_ik/target_pose") == 1
    assert log.count(words) == 1, "it is told once"


def test_row_18_target_jumps(robot, observed):
    turned = FAR @ RigidTransform.from_rpy(0.0, 0.0, np.pi, [0.0, 0.0, 0.0])
    for target in (NEAR, FAR, turned, NEAR):
        robot.send("base_link", target)
        robot.run(0.4)  # in mid-motion the next one comes
    arrives(robot, NEAR)
    steps = np.abs(np.diff([output for _, output in robot.arm.outputs], axis=0))
    fastest = (steps.max(axis=0) / robot.chain.velocity).max() / (1e-9 * CYCLE)
    observed(f"four jumps of 0.9 m and half a turn; at most {fastest:.1%} of the speed allowed")
    assert 0.9 < fastest <= 1.003


def test_row_94_targets_out_of_reach(robot, observed):
    robot.reach(NEAR)
    count, begin = len(robot.commands), robot.world.now
    for k in range(300):
        turn = 0.2 * np.sin(0.02 * k)
        robot.send("base_link", down(2.0 * np.cos(turn), 2.0 * np.sin(turn), 0.5))
        robot.run(PERIOD)
        assert k < 3 or robot.statuses[-1]["verdict"] == "TOO_FAR"
    times = [command.time for command in robot.commands[count:]]
    assert times[0] - begin <= 10 * MILLISECOND
    begun, *others = np.diff(times[1:])  # it waits until the controller is seen to have begun
    assert times[1] - times[0] <= 20 * MILLISECOND
    assert begun <= 20 * MILLISECOND
    assert set(others) == {10 * MILLISECOND}
    observed(f"300 targets in 3 s: TOO_FAR; {len(times)} commands, one in each period")


@contextlib.contextmanager
def confirming(robot, mode="confirm"):
    """Let targets wait for a go; afterwards they do not any more."""
    assert robot.set_parameter("follow_drag", mode).successful
    yield
    robot.boundary.solving = 0.0
    assert robot.set_parameter("follow_drag", "live").successful


def test_row_112_go_without_a_preview(robot, observed):
    with confirming(robot):
        told = go(robot).message
        observed(told)
        assert "there is no preview" in told
        robot.boundary.solving = 0.2
        robot.send("base_link", NEAR)
        robot.run(0.1)
        assert "not ready" in go(robot).message
        robot.run(0.5)
        assert stands(robot, 3.0), "it waits"
        assert go(robot).success
        assert "there is no preview" in go(robot).message
        arrives(robot, NEAR)
        observed("not before it is ready; once")


def test_row_113_moved_by_others(robot, observed):
    with confirming(robot):
        previews(robot, NEAR)
        robot.boundary.solving = 0.2
        robot.positions = robot.positions + 0.04
        robot.run(0.05)
        told = go(robot).message
        observed(told)
        assert "the arm has moved" in told
        assert stands(robot, 1.0)
        assert go(robot).success
        arrives(robot, NEAR)


def test_row_114_old_previews(robot, observed):
    robot.frames["base_link", "cart"] = lambda: NEAR
    with confirming(robot):
        previews(robot, NEAR)
        assert stands(robot, 61.0)
        told = go(robot).message
        observed(told)
        assert "older than 60 s" in told
        robot.send("cart", RigidTransform.identity(), stamp=None)
        robot.run(0.5)
        assert "reached" in robot.statuses[-1]["preview"]
        del robot.frames["base_link", "cart"]
        robot.wait(lambda: refusals(robot, "TF_STALE") == 1, "its refusal")
        told = go(robot).message
        observed(f"without its frame: {told}")
        assert "there is no preview" in told
        assert stands(robot, 1.0)


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_row_115_what_drops_a_preview(robot, observed, end):
    here = robot.positions
    with confirming(robot):
        previews(robot, NEAR)
        end(robot)
        robot.run(3.0)
        robot.publishing = True
        if robot.state() == "inactive":
            assert robot.transit("activate")
        robot.run(0.5)
        if robot.statuses[-1]["state"] == "STOPPED":
            enable(robot)  # which drops all targets itself
        robot.run(0.5)
        assert "there is no preview" in go(robot).message
        assert stands(robot, 1.0)
        assert np.abs(robot.positions - here).max() < 1e-9
        observed("dropped; ~/go moves nothing")


@pytest.mark.parametrize("viewer", ["dies", "clicks"])
def test_row_116_a_viewer_without_a_release(robot, observed, viewer):
    robot.run(LOCKED)
    hand = Viewer(robot)
    with confirming(robot, "release"):
        robot.run(1.0)
        count = len(robot.commands)
        if viewer == "dies":
            hand.say("POSE_UPDATE", NEAR)
        else:
            here = hand.marker().pose
            hand.say("MOUSE_DOWN", here)
            hand.say("MOUSE_UP", here)
        assert stands(robot, 5.0)
        assert len(robot.commands) == count
        assert "accepted.target_pose" not in robot.statuses[-1], "nothing to go to, either"
        observed(f"it {viewer}: nothing moves")


def test_row_117_another_branch(robot, observed):
    with confirming(robot):
        previews(robot, NEAR)
        (arm,) = robot.node._robot.arms
        found = arm.preview.rehearsal
        others = (each.positions for each in solve_all(robot.chain, NEAR, found.seed))
        other = next(each for each in others if np.abs(each - found.seed).max() > 0.5)
        arm.preview.rehearsal = found._replace(seed=other)
        assert go(robot).success
        arrives(robot, NEAR)
        assert np.abs(robot.positions - other).max() < 1e-6
        observed("there, to 1e-6 rad")
