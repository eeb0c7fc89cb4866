# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Unexpected exceptions in a running node: it stops the arm and continues."""

import threading

import pytest
import rclpy
from bench import PERIOD, down, running
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from std_msgs.msg import String
from std_srvs.srv import Trigger

from basis_ik.arm.arm import Arm
from basis_ik.arm.pipeline import Pipeline
from basis_ik.ros.kinematics.side_thread import SideThread

BRAKING = 0.6  # s, with the repetitions of the last command, at the speed of these tests
NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)


@pytest.fixture(scope="module")
def started():
    with running() as robot:
        robot.home = robot.tip()
        yield robot


@pytest.fixture
def robot(started):
    """A robot that rests at home."""
    started.reach(started.home, 1e-9)
    started.wait(started.rests, "silence")
    yield started
    complaints, started.arm.complaints = started.arm.complaints, []
    assert complaints == []


def logged(robot, words):
    return sum(line.count(words) for line in robot.log.lines())


def fail(monkeypatch, kind, method, times=1):
    """Let a method fail several times; return a list that is shortened by each."""
    work, left = getattr(kind, method), [None] * times

    def failing(*arguments, **named):
        if left:
            left.pop()
            raise ZeroDivisionError(f"in {method}")
        return work(*arguments, **named)

    monkeypatch.setattr(kind, method, failing)
    return left


@pytest.mark.parametrize(
    ("kind", "method", "times"),
    [(Arm, "take_pose", 1), (Pipeline, "step", 1), (Pipeline, "step", 1000)],
    ids=["callback", "loop", "loop, and the braking"],
)
def test_an_exception_stops_the_arm_until_it_is_activated_again(
    robot, monkeypatch, kind, method, times
):
    before = logged(robot, "Traceback")
    robot.set_off(FAR)
    with monkeypatch.context() as defects:
        left = fail(defects, kind, method, times)
        robot.send("base_link", NEAR)
        robot.run(2 * PERIOD)
        assert logged(robot, "Traceback") == before + 1
        assert robot.state() == "inactive"
        robot.run(BRAKING)
        assert robot.rests()
    assert times - len(left) == min(times, 2), "it neither moves nor brakes after the second one"
    assert logged(robot, "braking fails, too") == (times > 1)
    if times > 1:  # the controller braked along the last window, whose samples are far apart
        complaints, robot.arm.complaints = robot.arm.complaints, []
        assert all(what == "speed" and part < 1.003 for _, what, part in complaints)
    robot.send("base_link", NEAR)
    assert robot.rests()
    assert logged(robot, f"ZeroDivisionError: in {method}") >= 1
    assert robot.transit("activate")


def test_an_exception_while_inactive_is_logged_and_changes_nothing(robot, monkeypatch):
    assert robot.transit("deactivate")
    fail(monkeypatch, Arm, "take_pose")
    robot.send("base_link", NEAR)
    robot.run(2 * PERIOD)
    assert logged(robot, "while inactive: Traceback") == 1
    assert robot.rests()
    assert robot.state() == "inactive"
    assert robot.transit("activate")
    robot.reach(NEAR, 1e-9)


@pytest.fixture
def moving(robot):
    """A moving robot, which must arrive despite requests."""
    robot.set_off(FAR)
    yield robot
    robot.wait(lambda: robot.at(FAR, 1e-9), "the arm goes on", 3.0)
    assert robot.state() == "active"


def test_an_exception_in_a_request_stops_nothing(moving, monkeypatch):
    fail(monkeypatch, Arm, "go_home")
    answer = moving.loop.spinner.request("/basis_ik/home", Trigger.Request())
    moving.run(0.1)
    assert logged(moving, "a request failed: ") == 1
    assert not answer.done()


@pytest.mark.parametrize("number", [3, 2, 99, 255])
def test_a_transition_that_the_state_does_not_have_is_refused(moving, number):
    transition = Transition(id=number)
    assert not moving.call(ChangeState, "change_state", transition=transition).success


def test_a_parameter_of_an_unknown_type_is_refused(moving):
    bad = [Parameter(name="position_only_ik", value=ParameterValue(type=77))]
    result = moving.call(SetParametersAtomically, "set_parameters_atomically", parameters=bad)
    assert not result.result.successful
    moving.call(SetParameters, "set_parameters", parameters=bad)  # is answered


@pytest.mark.parametrize("ends", [True, False])
def test_a_side_thread_in_whose_callback_the_context_ends_is_silent(ends, monkeypatch):
    raised = []
    monkeypatch.setattr(threading, "excepthook", lambda given: raised.append(given.exc_type))
    context = rclpy.Context()
    context.init()
    main = rclpy.create_node("main", context=context)
    side = SideThread(main, "side")
    publisher = side.node.create_publisher(String, "said", 1)

    def say():
        if ends:
            context.shutdown()
            publisher.publish(String())
        raise RuntimeError("of our own")

    side.node.create_timer(1e-3, say)
    side._thread.join(600.0)
    assert raised == ([] if ends else [RuntimeError])
    side.destroy()
    context.try_shutdown()
