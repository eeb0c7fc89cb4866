# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of the measured arm, of its driver and of its controller."""

import numpy as np
import pytest
from bench import CYCLE, HOME, PERIOD, Robot, down
from bench_arm import (
    FAR,
    NEAR,
    SAFE,
    arrives,
    brakes,
    enable,
    moving,
    refusals,
    robot_of,
    stands,
)
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import Trigger
from world import MILLISECOND, SECOND

ELSEWHERE = HOME + np.array([0.6, 0.2, -0.3, 0.2, 0.0, 0.4])
BESIDE = down(0.45, -0.10, 0.30)
TIMEOUT = 0.5  # s: the default of joint_state_timeout
FOLLOWED = 0.002  # rad: how far off a joint may be that has followed
WHOLE = ("-p", "command_interface:=follow_joint_trajectory")


def ends(robot):
    """Let the driver end."""
    robot.publishing, robot.controller_states.link.loss = False, 1.0
    robot.boundary.sources |= {"listeners": 0, "publishers": 0}


def begins(robot, positions):
    """Let a driver begin, with its arm somewhere."""
    robot.positions = positions
    robot.publishing, robot.controller_states.link.loss = True, 0.0
    robot.boundary.sources |= {"listeners": 1, "publishers": 1}


def test_row_28_no_joint_states(observed):
    with robot_of(ready=False) as robot:
        robot.publishing = False
        robot.wait_status(state="WAITING")
        robot.send("base_link", FAR, stamp=None)
        robot.run(2.0)
        assert robot.commands == []
        message = robot.statuses[-1]["message"]
        assert message.startswith("no joint state of shoulder_pan_joint, ")
        observed(f"WAITING, {message[:36]}, ...; no command")
        robot.publishing = True
        robot.wait_status(state="READY")
        assert stands(robot), "what was asked before is not replayed"
        assert robot.commands == []


def test_row_37_moved_while_idle(robot, observed):
    robot.reach(NEAR)
    robot.wait(robot.rests, "silence")
    robot.positions = ELSEWHERE
    assert stands(robot, 1.0), "nothing brings it back"
    count = len(robot.commands)
    robot.send("base_link", FAR)
    robot.wait(lambda: len(robot.commands) > count, "the next motion")
    off = np.abs(np.array(robot.commands[count].message.points[0].positions) - ELSEWHERE).max()
    observed(f"the next motion begins {off:.1e} rad from the measured position")
    assert off < 1e-9
    arrives(robot, FAR)


def lost(robot, joint, seen):
    """Wait until the arm is stopped for a joint; it must not have been reported as arrived."""
    robot.wait_status(state="TRACKING_LOST", level=DiagnosticStatus.ERROR)
    message = robot.statuses[-1]["message"]
    assert f"{joint} is" in message
    assert all(status["state"] != "ARRIVED" for status in robot.statuses[seen:])
    robot.run(1.0)
    # Once the command leaps, to where the joints are.
    leaps, robot.arm.complaints = [time for time, _, _ in robot.arm.complaints], []
    assert not leaps or max(leaps) - min(leaps) <= 2 * CYCLE
    return message.partition(";")[0]


def releases(robot, release):
    """Hold that the arm is stopped, and that nothing moves when it is released."""
    held = robot.positions
    robot.send("base_link", NEAR)
    assert stands(robot), "latched"
    release()
    first = len(robot.arm.outputs)
    robot.run(1.0)
    step = max(np.abs(output - held).max() for _, output in robot.arm.outputs[first:])
    assert step <= FOLLOWED, "no step on release"
    enable(robot)


def test_row_38_arm_does_not_follow(robot, observed):
    blocked, seen = robot.arm.joints.blocked, len(robot.statuses)
    blocked[0] = True
    robot.send("base_link", FAR)
    observed(f"TRACKING_LOST: {lost(robot, 'shoulder_pan_joint', seen)}")
    releases(robot, lambda: blocked.fill(False))


@pytest.mark.parametrize("kind", ["never moves", "blocked for 0.6 s", "emergency stop"])
def test_row_84_an_arm_that_does_not_do_as_told(observed, kind):
    with robot_of(lag=0.03) as robot:
        joints, seen = robot.arm.joints, len(robot.statuses)
        if kind == "never moves":
            joints.stopped = True
            robot.send("base_link", FAR)
        else:
            robot.set_off(FAR, 0.4)
            joints.stopped = kind == "emergency stop"
            joints.blocked[0] = not joints.stopped
        message = lost(robot, "wrist_1_joint" if joints.stopped else "shoulder_pan_joint", seen)

        def release():
            joints.stopped = joints.blocked[0] = False

        releases(robot, release)
        observed(f"{kind}: {message}; no step on release")


def test_row_73_nobody_takes_the_commands(robot, observed):
    ends(robot)
    robot.wait_status(state="WAITING")
    assert robot.state() == "active", "it answers"
    robot.send("base_link", FAR)
    robot.run(2 * PERIOD)
    assert refusals(robot, "NOT_READY") == 1
    assert stands(robot)
    begins(robot, robot.positions)
    robot.wait_status(state="READY")
    assert stands(robot)
    observed("WAITING, answers, REJECT(NOT_READY); READY once somebody listens")


@pytest.mark.parametrize("kind", ["fixed goal", "line", "jogging"])
def test_row_82_the_node_stands_still(observed, kind):
    """What is a window in each period brakes meanwhile; a line goes on from there."""
    with robot_of(*(("-p", "path:=straight") if kind == "line" else ())) as robot:
        if kind == "fixed goal":
            target, (earliest, latest) = FAR, (0.64, 0.66)  # s, in which it ends
            robot.set_off(FAR, 0.4)
        else:
            robot.reach(NEAR)
            if kind == "line":
                target, (earliest, latest) = BESIDE, (SAFE, 0.24)
                robot.set_off(BESIDE, 0.2)
            else:
                target, (earliest, latest) = None, (SAFE, 0.14)
                end = robot.time + 1.0
                while robot.time < end:
                    robot.jog("base_link", linear=(0.0, 0.0, -0.1))
                    robot.run(0.02)
        count, first, begin = len(robot.commands), len(robot.arm.outputs), robot.world.now
        robot.boundary.stalls.add(begin, 3.0)
        robot.run(2 * PERIOD)
        assert robot.world.now >= begin + 3 * SECOND
        meanwhile = moving(robot, first)[: 3 * SECOND // CYCLE]
        rests = 1e-9 * CYCLE * (np.flatnonzero(meanwhile)[-1] + 1)
        assert earliest <= rests <= latest
        held = robot.positions if kind == "jogging" else None
        assert (kind == "fixed goal") == robot.at(FAR, 1e-6)
        robot.wait(lambda: robot.statuses[-1]["state"] in ("READY", "ARRIVED"), "its decision")
        robot.wait(robot.rests, "silence")
        assert np.array_equal(robot.positions, held) if target is None else robot.at(target, 1e-6)
        assert kind == "line" or len(robot.commands) == count, "nothing more is sent"
        then = {
            "fixed goal": "it has arrived",
            "line": "it goes on from rest",
            "jogging": "READY, it stays there",
        }
        observed(f"{kind}: at rest after {rests:.2f} s meanwhile; then {then[kind]}")


@pytest.mark.parametrize("share", [0.2, 0.3])
@pytest.mark.parametrize("action", ["newer target", "stop", "deactivate"])
def test_row_83_a_slow_controller(observed, share, action):
    with robot_of(*WHOLE) as robot:
        # A goal in mid-motion is followed at the share of the speed that it begins with.
        robot.arm.bound = 30.0
        robot.arm.controller.speed_scaling = share
        robot.run(0.1)
        robot.set_off(FAR, 0.2)
        if action == "newer target":
            robot.send("base_link", BESIDE)
            arrives(robot, BESIDE)
        else:
            done = (
                robot.call(Trigger, action).success if action == "stop" else robot.transit(action)
            )
            assert done
            way = brakes(robot)
            observed(f"{action} at {share:.0%}: at rest after {way:.2f} rad")
            if action == "deactivate":
                assert robot.transit("activate")
            enable(robot)
        robot.arm.controller.speed_scaling = 1.0
        robot.run(0.1)


class Changed:
    """Publishes joint states, changed."""

    def __init__(self, publisher, change):
        self._publisher, self._change = publisher, change

    def publish(self, state):
        self._publisher.publish(self._change(state))


def of_1970(state):
    state.header.stamp = Time(sec=1)
    return state


@pytest.mark.parametrize("kind", ["one for ever", "1970"])
def test_row_85_joint_states_of_another_time(robot, observed, kind):
    assert robot.set_parameter("speed_override", 0.5).successful  # or it has arrived before
    robot.set_off(FAR, 0.2)
    count = len(robot.arm.outputs)
    good, kept = robot.states, []

    def first(state):
        kept.append(state)
        return kept[0]

    robot.states = Changed(good, first if kind == "one for ever" else of_1970)
    robot.wait_status(state="WAITING")
    robot.run(0.5)
    assert "STALE" in robot.statuses[-1]["message"]
    rests = 1e-9 * CYCLE * (np.flatnonzero(moving(robot, count))[-1] + 1)
    assert TIMEOUT + SAFE <= rests <= TIMEOUT + SAFE + 0.21, "noticed, joined, braked"
    assert not robot.at(FAR, 1e-2)
    robot.send("base_link", NEAR)
    assert stands(robot)
    robot.states = good
    robot.wait_status(state="READY")
    assert stands(robot), "what was asked before is not taken up"
    assert robot.set_parameter("speed_override", 1.0).successful
    observed("HOLD; STALE, as if it were silent; no motion by itself afterwards")


def test_row_86_zeros_beside_the_driver(robot, observed):
    good, over = robot.states, []
    robot.boundary.sources["publishing"] = ["/joint_state_publisher", "/robot"]
    robot.set_off(FAR, 0.4)

    def zeros(state):
        state.position = [0.0] * 6
        return state

    false = Changed(good, zeros)

    def publish():
        if not over:
            robot.states = false
            Robot._publish_states(robot)
            robot.states = good

    robot.world.every(11 * MILLISECOND, publish)
    robot.wait_status(state="WAITING")
    robot.wait(
        lambda: "/joint_state_publisher, /robot" in robot.statuses[-1]["message"], "both are named"
    )
    assert robot.statuses[-1]["last_refusal.joint_states"].startswith("JUMP: ")
    robot.wait(robot.rests, "silence")
    robot.send("base_link", NEAR)
    assert stands(robot, 1.0)
    over.append(True)
    robot.boundary.sources["publishing"] = ["/robot"]
    robot.wait_status(state="READY")
    observed("REJECT(JUMP), both publishers named; HOLD, and no command while they contradict")


@pytest.mark.parametrize("begin", ["here", "elsewhere", "for the first time"])
def test_row_87_a_driver_away_for_long(observed, begin):
    with robot_of(ready=False) as robot:
        if begin == "for the first time":
            ends(robot)
            robot.wait_status(state="WAITING")
            for stamp in ("now", None):
                robot.send("base_link", FAR, stamp=stamp)
            robot.look("base_link", (0.9, -0.5, 0.7))
            assert not robot.call(Trigger, "home").success
            at = HOME
        else:
            robot.wait_status(state="READY")
            robot.set_off(FAR, 0.4)
            ends(robot)
            robot.wait_status(state="WAITING")
            robot.send("base_link", NEAR, stamp=None)
            robot.run(25.0)
            at = robot.positions if begin == "here" else ELSEWHERE
        count = len(robot.commands)
        begins(robot, at)
        robot.wait_status(state="READY")
        assert stands(robot, 1.0)
        assert len(robot.commands) == count, "nothing is commanded without a new target"
    observed(f"{begin}: READY, nothing moves without a new target")


@pytest.mark.parametrize(
    "kind",
    [
        "stopped for 1 s",
        "stopped for 0.1 s",
        "exchanged",
        "second publisher",
        "stopped for 1 s on a line",
        "stopped for 0.1 s on a line",
    ],
)
def test_row_96_another_controller_in_mid_stream(robot, observed, kind):
    if "line" in kind:  # a window in each period
        robot.reach(NEAR)
        assert robot.set_parameter("path", "straight").successful
        robot.set_off(BESIDE, 0.2)
    else:
        robot.set_off(FAR, 0.4)
    if kind == "second publisher":
        sources = dict(robot.boundary.sources)
        robot.boundary.sources |= {"publishers": 2, "publishing": ["/basis_ik", "/robot"]}
        words = "has another publisher, /robot; end it"
        robot.wait(lambda: words in robot.statuses[-1]["message"], "it is named")
        robot.send("base_link", NEAR)
        assert stands(robot), "refused"
        robot.boundary.sources |= sources
        robot.wait_status(state="READY")
    else:
        robot.arm.deactivate()
        robot.run(PERIOD)
        robot.arm.complaints.clear()  # its output stops at once, of its own accord
        if kind == "exchanged":
            ends(robot)
            robot.run(1.0)
            held = robot.positions
            begins(robot, held)
        else:
            robot.run(0.1 if "0.1" in kind else 1.0)
            held = robot.positions
            robot.arm.activate()
        robot.run(1.5)
        assert np.array_equal(robot.positions, held), "no step when it is back"
        restarted = any("the controller was restarted" in line for line in robot.log.lines())
        assert restarted == ("0.1 s" in kind), "a longer silence is told as such"
    state = robot.statuses[-1]["state"]
    enable(robot)
    observed(f"{kind}: {state}, no step")


@pytest.mark.parametrize("delay", [0.12, 0.25, 0.6])
def test_row_99_a_brake_that_is_refused(observed, delay):
    with robot_of() as robot:
        assert robot.set_parameter("speed_override", 0.05).successful
        robot.set_off(FAR, 0.1)
        late = round(SECOND * delay)
        robot.commanding.delay = (late, late)
        since = robot.time
        assert robot.call(Trigger, "stop").success
        robot.wait_status(state="STOPPED")
        took, count, first = robot.time - since, len(robot.arm.refused), len(robot.arm.outputs)
        assert count > 0
        assert stands(robot, 1.0)
        assert not moving(robot, first).any(), "it had stopped"
        observed(f"{delay:g} s late: {count} refused, STOPPED after {took:.2f} s")
        robot.commanding.delay = (0, 0)
        assert robot.set_parameter("speed_override", 1.0).successful
        enable(robot)


@pytest.mark.parametrize("late", [0.3, 3.0, 20.0])
def test_row_100_a_stop_before_the_motion_is_taken(robot, observed, late):
    before = robot.positions
    robot.arm.taking.add(robot.world.now, late)
    robot.send("base_link", FAR)
    robot.run(0.05)
    assert robot.call(Trigger, "stop").success
    robot.wait_status(state="STOPPED")
    robot.run(late + 1.0)
    assert np.array_equal(robot.positions, before)
    observed(f"{late:g} s late: the arm has not moved")
    enable(robot)


@pytest.mark.parametrize("lag", [0.03, 0.1])
def test_row_101_a_hold_by_a_tolerance(observed, lag):
    with robot_of(lag=lag, path=0.4 * 3.1 * lag) as robot:
        robot.send("base_link", FAR)
        robot.wait(lambda: moving(robot, len(robot.arm.outputs) - 1)[-1], "it moves")
        robot.wait(lambda: not moving(robot, len(robot.arm.outputs) - 1)[-1], "it holds")
        since, count = robot.time, len(robot.commands)
        words = "parameter constraints.wrist_1_joint.trajectory"
        robot.wait(lambda: words in robot.statuses[-1]["message"], "it is told", 0.03)
        took = robot.time - since
        robot.run(1.0)
        assert len(robot.commands) == count
        robot.arm.complaints.clear()  # it holds where the arm is, of its own accord
        observed(f"drives that lag by {lag:g} s: told within {took + 0.01:.2f} s, nothing is sent")
        assert robot.set_parameter("speed_override", 0.2).successful  # within the tolerance


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("replaces", [False, True])
def test_row_102_a_controller_that_stands(observed, begun, replaces):
    with robot_of(lag=0.03, replaces=replaces) as robot:
        robot.run(0.5)

        def scale(factor):
            robot.arm.controller.speed_scaling = factor
            robot.run(0.1)
            robot.arm.complaints.clear()  # the step is the controller's

        def begin():
            if begun:
                robot.set_off(FAR, 0.2)
            else:  # the controller takes the motion, and stands at its begin
                robot.arm.taking.add(robot.world.now, 0.03)
                robot.send("base_link", FAR)
                robot.run(0.025)
            scale(0.0)

        begin()
        robot.run(3.0)
        assert robot.statuses[-1]["level"] == DiagnosticStatus.WARN
        assert "scales its speed to 0" in robot.statuses[-1]["message"]
        scale(1.0)
        arrives(robot, FAR)
        robot.send("base_link", BESIDE)
        arrives(robot, BESIDE)
        begin()
        count = len(robot.commands)
        robot.commanding.loss = 1.0
        robot.loop.spinner.request("/basis_ik/stop", Trigger.Request())
        robot.run(0.2)
        robot.commanding.loss = 0.0
        robot.wait_status(state="STOPPED")
        assert len(robot.commands) - count <= 4
        there = robot.positions
        scale(1.0)
        robot.run(2.0)
        assert np.abs(robot.positions - there).max() < 1e-4
        what = "in motion" if begun else "before it begins"
        observed(f"{what}: goes on; a stop whose first message is lost holds for good")
        enable(robot)


@pytest.mark.parametrize(("replaces", "late"), [(False, 50), (True, 8)])
def test_row_103_a_goal_that_comes_late(observed, replaces, late):
    with robot_of(*WHOLE, lag=0.03, replaces=replaces) as robot:
        robot.run(0.5)
        robot.commanding.delay = (MILLISECOND * late, MILLISECOND * late)
        for target in (FAR, BESIDE):
            robot.set_off(target, 0.3)
        robot.send("base_link", NEAR)
        arrives(robot, NEAR)
        robot.set_off(FAR, 0.3)
        since = robot.time
        assert robot.call(Trigger, "stop").success
        robot.wait_status(state="STOPPED")
        took, first = robot.time - since, len(robot.arm.outputs)
        robot.run(1.0)
        assert not robot.at(FAR, 1e-2)
        assert not moving(robot, first).any()
        observed(f"{late} ms late: within the limits, STOPPED after {took:.2f} s")
        robot.commanding.delay = (0, 0)
        enable(robot)


@pytest.mark.parametrize("late", [0.3, 0.9, 1.9])
def test_row_104_a_recalled_motion_that_comes(observed, late):
    with robot_of(lag=0.03) as robot:
        robot.commanding.delay = (round(SECOND * late), round(SECOND * late))
        since = robot.time
        robot.send("base_link", FAR)
        robot.run(0.2)
        assert robot.call(Trigger, "stop").success
        robot.wait_status(state="STOPPED", patience=6.0)
        took, first = robot.time - since - 0.2, len(robot.arm.outputs)
        robot.run(5.0)
        assert not moving(robot, first).any()
        observed(f"{late:g} s late: STOPPED after {took:.1f} s, nothing moves afterwards")
        robot.commanding.delay = (0, 0)
        enable(robot)


@pytest.mark.parametrize("stall", [0.8, 3.0])
def test_row_105_a_stop_while_the_driver_stands(observed, stall):
    with robot_of(lag=0.03) as robot:
        robot.send("base_link", FAR)
        robot.run(0.4)
        robot.arm.bound = np.inf  # it leaps by what it has missed
        robot.arm.updating.add(robot.world.now, stall)
        robot.commanding.hold(stall + 0.005)
        robot.states.link.hold(stall)
        robot.controller_states.link.hold(stall)
        robot.run(0.2)
        assert robot.call(Trigger, "stop").success
        robot.run(stall - 0.25)
        assert robot.statuses[-1]["state"] == "BRAKING"
        robot.wait_status(state="STOPPED")
        stopped = robot.positions
        robot.run(3.0)
        left = np.abs(robot.positions - stopped).max()
        assert left < 0.01
        observed(f"it stands for {stall:g} s: STOPPED afterwards, {left:.3f} rad of its way left")
        robot.arm.complaints.clear()
        enable(robot)
