# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The way of commands: each end of it knows the other, and nothing of it is left at its end."""

from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from control_msgs.msg import JointTrajectoryControllerState

from basis_ik.arm.execution.execution import Drives
from basis_ik.arm.limiter import Motion
from basis_ik.arm.moment import Moment
from basis_ik.arm.pipeline import Phase
from basis_ik.ros.outputs import action_output
from basis_ik.ros.outputs.make_output import CommandPath, ControllerOptions
from basis_ik.ros.outputs.replacement_rule import NOT_ALLOWED

NOW = Moment(100.0, 100 * 10**9)
ARM = Drives(["a", "b"], 0.01, 0.2, np.ones(2))
OPTIONS = ControllerOptions(["/arm"], NOT_ALLOWED, resume_after_pause=True, hold_other_joints=False)


class Node:
    """A node alone with a controller, whose clock stands; what it has made, it destroys."""

    def __init__(self, *, simulated):
        self.ros_time_is_active, self.made, self.sent = simulated, [], []
        self.boundary = SimpleNamespace(
            steady=lambda: 0.0,
            moment=lambda _: NOW,
            read=lambda name, live: live(),
            publish=lambda publisher, message: self.sent.append(message),
            send=lambda name, message, send: send(),
            wrap=lambda name, callback, form: callback,
        )

    def get_clock(self):
        return self

    def _make(self, **what):
        self.made.append(SimpleNamespace(**what))
        return self.made[-1]

    def create_publisher(self, _, topic, __):
        return self._make(topic_name=topic, get_subscription_count=lambda: 1)

    def create_subscription(self, _, topic, callback, __):
        self.tell = callback
        return self._make(topic_name=topic)

    def destroy_publisher(self, which):
        self.made.remove(which)

    destroy_subscription = destroy_publisher

    def resolve_service_name(self, name):
        return name

    def count_publishers(self, _):
        return 1

    def count_subscribers(self, _):
        return 0

    def get_name(self):
        return "basis_ik"

    def get_namespace(self):
        return "/"

    def get_node_names_and_namespaces(self):
        return [("basis_ik", "/")]


@pytest.mark.parametrize("simulated", [True, False])
def test_only_without_simulated_time_a_stamp_tells_of_another_clock(simulated):
    node = Node(simulated=simulated)
    path = CommandPath("joint_trajectory", node, ARM, OPTIONS)
    message = JointTrajectoryControllerState(joint_names=["a", "b"])
    message.header.stamp = Time(sec=103)
    node.tell(message)
    assert ("3 s ahead" in path.execution.unmet(NOW)) is not simulated
    assert bool(path.execution.unmet(NOW)) is not simulated


def test_at_its_end_an_arm_in_motion_is_told_to_stand():
    node = Node(simulated=False)
    path = CommandPath("velocity", node, ARM, OPTIONS)
    pipeline = SimpleNamespace(
        command=np.zeros(2), state=np.ones((2, 3)), step=lambda *_: np.zeros(2), phase=Phase.MOVING,
        go_on=lambda _: None,
    )  # fmt: skip
    path.execution.advance(pipeline, np.zeros(2), NOW)
    path.send(path.execution.outgoing())
    path.destroy()
    assert [list(each.data) for each in node.sent] == [[1.0, 1.0], [0.0, 0.0]]


def test_a_goal_that_is_accepted_too_late_is_canceled_at_once(monkeypatch):
    answers, cancels = [], []
    client = SimpleNamespace(
        server_is_ready=lambda: True,
        send_goal_async=lambda *_, **__: SimpleNamespace(add_done_callback=answers.append),
    )
    monkeypatch.setattr(action_output, "ActionClient", lambda *_: client)
    path = CommandPath("follow_joint_trajectory", Node(simulated=False), ARM, OPTIONS)
    motion = Motion(np.array([0.0, 1.0]), *np.zeros((3, 2, 2)))
    pipeline = SimpleNamespace(plan=lambda *_, **__: motion, speed_override=1.0)
    path.execution.begin()
    path.execution.advance(pipeline, np.zeros(2), NOW)
    path.send(path.execution.outgoing())
    path.execution.end(pipeline, NOW)
    handle = SimpleNamespace(
        accepted=True,
        get_result_async=lambda: SimpleNamespace(add_done_callback=lambda _: None),
        cancel_goal_async=lambda: cancels.append(1),
    )
    (answer,) = answers
    answer(SimpleNamespace(result=lambda: handle))
    assert len(cancels) == 1


@pytest.mark.parametrize("kind", ["joint_trajectory", "position", "joint_state"])
def test_nothing_is_left_of_a_way_at_its_end(kind):
    node = Node(simulated=False)
    CommandPath(kind, node, ARM, OPTIONS).destroy()
    assert node.made == []
