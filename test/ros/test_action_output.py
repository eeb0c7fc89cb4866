# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The output by goals: the messages that the controller gets, and what its answers tell."""

import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory

from basis_ik.arm.execution.messages import (
    CancelRequest,
    GoalFeedback,
    GoalOutcome,
    GoalRequest,
    GoalResult,
    Held,
    StatusRequest,
)
from basis_ik.arm.limiter import Motion
from basis_ik.arm.moment import Moment
from basis_ik.ros.outputs import action_output
from basis_ik.ros.outputs.action_output import ActionOutput

NOW = Moment(100.0, 100 * 10**9)
HELD = Held(("finger",), np.array([0.02]))
MOTION = Motion(np.array([-0.25, 1.5]), *np.arange(12.0).reshape(3, 2, 2))


class Handle:
    """A goal that a controller has accepted."""

    accepted = True

    def __init__(self):
        self.cancels, self._asked = 0, []

    def cancel_goal_async(self):
        self.cancels += 1

    def get_result_async(self):
        return SimpleNamespace(add_done_callback=self._asked.append)

    def end(self, status, text="", *, question=-1):
        """Answer a question for the result, the latest if nothing else is given."""
        result = SimpleNamespace(status=status, result=SimpleNamespace(error_string=text))
        self._asked[question](SimpleNamespace(result=lambda: result))


class Server:
    """A node, its clock, the action's client, and the execution: it keeps what they are told."""

    ros_time_is_active = True

    def __init__(self):
        self.goals, self.told, self.flushes = [], [], 0
        self.ready = self.destroyed = False
        self._answers, self._feedback = [], []

    def get_clock(self):
        return self

    def now(self):
        return SimpleNamespace(nanoseconds=NOW.clock)

    def resolve_service_name(self, name):
        return f"/{name}"

    def server_is_ready(self):
        return self.ready

    def destroy(self):
        self.destroyed = True

    def send_goal_async(self, goal, feedback_callback):
        self.goals.append(goal.trajectory)
        self._feedback.append(feedback_callback)
        return SimpleNamespace(add_done_callback=self._answers.append)

    def answer(self, number, handle):
        self._answers[number - 1](SimpleNamespace(result=lambda: handle))
        return handle

    def feed(self, number, feedback):
        self._feedback[number - 1](SimpleNamespace(feedback=feedback))

    def take_answer(self, number, now, *, accepted):
        self.told.append((number, now, accepted))

    def take_feedback(self, feedback, now):
        self.told.append((feedback, now))

    take_result = take_unknown = take_feedback

    def flush(self):
        assert self.told, "the execution hears of it first"
        self.flushes += 1


@pytest.fixture
def server(monkeypatch):
    server = Server()
    monkeypatch.setattr(action_output, "ActionClient", lambda *_: server)
    return server


@pytest.fixture
def output(server):
    output = ActionOutput(server, "arm", ["a", "b"])
    output.execution, output.flush = server, server.flush
    return output


@pytest.fixture
def handle(server, output):
    """Return the handle of goal 1, which was accepted."""
    output.send(GoalRequest(1, MOTION, None, HELD))
    handle = server.answer(1, Handle())
    server.told.clear()
    return handle


def test_an_output_is_as_ready_as_the_actions_server(server, output):
    assert output.complaint() == "waiting for the action /arm/follow_joint_trajectory"
    server.ready = True
    assert output.complaint() == ""
    output.destroy()
    assert server.destroyed


def test_a_goal_is_the_motion_after_its_stamp_and_holds_other_joints(server, output):
    output.send(GoalRequest(1, MOTION, 100.75, HELD))
    (goal,) = server.goals
    assert goal.joint_names == ["a", "b", "finger"]
    assert goal.header.stamp == Time(sec=100, nanosec=750_000_000)
    first, last = goal.points
    assert (first.time_from_start.sec, first.time_from_start.nanosec) == (-1, 750_000_000)
    assert (last.time_from_start.sec, last.time_from_start.nanosec) == (1, 500_000_000)
    assert list(first.positions) == [0.0, 1.0, 0.02]
    assert list(last.velocities) == [6.0, 7.0, 0.0]
    assert list(last.accelerations) == [10.0, 11.0, 0.0]


def test_a_goal_without_a_stamp_begins_when_it_is_taken(server, output):
    output.send(GoalRequest(1, MOTION, None, HELD))
    assert server.goals[0].header.stamp == Time()


@pytest.mark.parametrize("accepted", [True, False])
def test_an_answer_is_told_and_its_consequences_are_sent(server, output, accepted):
    output.send(GoalRequest(1, MOTION, None, HELD))
    server.answer(1, Handle() if accepted else SimpleNamespace(accepted=False))
    assert server.told == [(1, NOW, accepted)]
    assert server.flushes == 1


@pytest.mark.parametrize(
    ("stamp", "when"), [(Time(sec=99, nanosec=250_000_000), 99.25), (Time(), None)]
)
def test_feedback_tells_joints_where_they_should_be_and_when(server, handle, stamp, when):
    feedback = FollowJointTrajectory.Feedback(joint_names=["b", "a"])
    feedback.header.stamp = stamp
    feedback.desired.positions, feedback.actual.positions = [0.2, 0.1], [0.4, 0.3]
    server.feed(1, feedback)
    ((told, now),) = server.told
    assert now == NOW
    told = told._replace(desired=list(told.desired))
    assert told == GoalFeedback(1, when, ["b", "a"], [0.2, 0.1])


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (GoalStatus.STATUS_SUCCEEDED, GoalOutcome.SUCCEEDED),
        (GoalStatus.STATUS_ABORTED, GoalOutcome.ABORTED),
        (GoalStatus.STATUS_CANCELED, GoalOutcome.CANCELED),
        (GoalStatus.STATUS_UNKNOWN, GoalOutcome.UNKNOWN),
        (GoalStatus.STATUS_EXECUTING, GoalOutcome.OTHER),
    ],
)
def test_a_result_is_told_with_its_reason(server, handle, status, outcome):
    handle.end(status, "too late")
    assert server.told == [(GoalResult(1, outcome, "too late"), NOW)]


def test_a_goal_is_canceled_by_its_number(server, output, handle):
    output.send(GoalRequest(2, MOTION, None, HELD))
    newer = server.answer(2, Handle())
    output.send(CancelRequest(2))
    assert (handle.cancels, newer.cancels) == (0, 1)


@pytest.mark.parametrize(
    ("status", "told"), [(GoalStatus.STATUS_UNKNOWN, True), (GoalStatus.STATUS_CANCELED, False)]
)
def test_only_that_a_goal_is_unknown_is_told_of_its_status(server, output, handle, status, told):
    request = StatusRequest(1, 1)
    output.send(request)
    handle.end(status)
    assert server.told == ([(request, NOW)] if told else [])


def test_a_goal_that_is_unknown_may_be_asked_about_again_and_canceled(server, output, handle):
    """A newer one was sent meanwhile, and is not answered: the answer does not end that."""
    for newest in (1, 2):
        output.send(StatusRequest(1, newest))
        handle.end(GoalStatus.STATUS_UNKNOWN)
    output.send(CancelRequest(1))
    assert [request.newest for request, _ in server.told] == [1, 2]
    assert handle.cancels == 1


def test_a_goal_is_forgotten_once_a_newer_one_is_accepted(server, output):
    for number in (1, 2):
        output.send(GoalRequest(number, MOTION, None, HELD))
    older = weakref.ref(server.answer(1, Handle()))
    assert older() is not None
    server.answer(2, Handle())
    assert older() is None


def test_a_goal_is_not_forgotten_for_an_older_one_that_is_accepted_late(server, output):
    for number in (1, 2):
        output.send(GoalRequest(number, MOTION, None, HELD))
    handles = {number: server.answer(number, Handle()) for number in (2, 1)}
    for number, handle in handles.items():
        output.send(CancelRequest(number))
        assert handle.cancels == 1
