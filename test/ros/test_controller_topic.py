# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The topic of a controller's state: what is reported of each, and what the graph tells of it."""

from types import SimpleNamespace

import pytest
from builtin_interfaces.msg import Time
from control_msgs.msg import JointTrajectoryControllerState
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters

from basis_ik.ros.outputs.controller_topic import ControllerTopic

TOPIC, SCALING = "/cell/arm/controller_state", "/cell/arm/speed_scaling_input"


class Graph:
    """A node with a given graph; what it has made, it destroys."""

    def __init__(self):
        self.publishers, self.subscribers, self.made = {}, {}, []
        self.now, self.reachable, self.questions, self.answer = 0.0, False, 0, ParameterValue()
        self.boundary = SimpleNamespace(
            steady=lambda: self.now,
            read=lambda name, live: live(),
            send=lambda name, message, send: send(),
            wrap=lambda name, callback, form: callback,
        )

    def _make(self, **what):
        self.made.append(SimpleNamespace(**what))
        return self.made[-1]

    def create_subscription(self, kind, topic, callback, _):
        assert kind is JointTrajectoryControllerState
        self.publish = callback
        return self._make(topic_name=topic)

    def create_client(self, _, name):
        return self._make(
            srv_name=name, service_is_ready=lambda: self.reachable, call_async=self._call
        )

    def _call(self, _):
        self.questions += 1
        response = GetParameters.Response(values=[self.answer])
        answer = SimpleNamespace(result=lambda: response)
        return SimpleNamespace(add_done_callback=lambda callback: callback(answer))

    def destroy_subscription(self, which):
        self.made.remove(which)

    destroy_client = destroy_subscription

    def count_publishers(self, topic):
        return self.publishers.get(topic, 0)

    def count_subscribers(self, topic):
        return self.subscribers.get(topic, 0)


@pytest.fixture
def graph():
    return Graph()


@pytest.fixture
def topic(graph):
    return ControllerTopic(graph, "/cell/arm")


def test_each_field_of_a_state_is_reported(graph, topic):
    reports = []
    topic.on_report = reports.append
    message = JointTrajectoryControllerState(joint_names=["a"], speed_scaling_factor=0.5)
    message.header.stamp = Time(sec=100, nanosec=250_000_000)
    message.reference.positions, message.reference.velocities = [1.0], [2.0]
    message.output.positions, message.feedback.positions = [3.0], [4.0]
    message.error.positions = [5.0]
    graph.publish(message)
    (report,) = reports
    assert tuple(report.joint_names) == ("a",)
    assert (report.stamp, report.speed_scaling) == (100_250_000_000, 0.5)
    told = (
        report.reference, report.reference_velocities, report.output, report.feedback, report.error,
    )  # fmt: skip
    assert [list(each) for each in told] == [[1.0], [2.0], [3.0], [4.0], [5.0]]


def test_the_publishers_of_a_state_are_counted(graph, topic):
    assert topic.name == TOPIC
    assert topic.count_publishers() == 0
    graph.publishers[TOPIC] = 2
    assert topic.count_publishers() == 2


def test_a_controller_that_subscribes_to_its_scaling_takes_factors(graph, topic):
    assert not topic.takes_scaling()
    graph.subscribers[SCALING] = 1
    assert topic.takes_scaling()


@pytest.mark.parametrize(("takes", "questions"), [(True, 1), (False, 5)])
def test_a_controller_that_refuses_partial_goals_is_asked_again(graph, topic, takes, questions):
    graph.reachable, graph.answer = True, ParameterValue(type=1, bool_value=takes)
    for _ in range(100):
        topic.ask_for_partial_goals()
        graph.now += 0.1
    assert topic.takes_partial_goals is takes
    assert graph.questions == questions, "it can be set at run time"


def test_nothing_is_left_of_a_topic_at_its_end(graph, topic):
    topic.ask_for_partial_goals()
    assert len(graph.made) == 2
    topic.destroy()
    assert graph.made == []
