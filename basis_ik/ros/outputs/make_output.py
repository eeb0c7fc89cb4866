# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Creates what the parameter `command_interface` names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from rclpy.node import Node

from basis_ik.arm.execution.controller_state import ControllerState
from basis_ik.arm.execution.controller_states import ControllerStates
from basis_ik.arm.execution.execution import Drives, Execution
from basis_ik.arm.execution.goal_execution import GoalExecution
from basis_ik.arm.execution.messages import ControllerReport, Outgoing
from basis_ik.arm.execution.shared_execution import Rules, SharedExecution
from basis_ik.arm.execution.stream_execution import PositionExecution, VelocityExecution
from basis_ik.arm.execution.trajectory_execution import Controller
from basis_ik.arm.execution.window_execution import WindowExecution
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.outputs.action_output import ActionOutput
from basis_ik.ros.outputs.controller_topic import ControllerTopic
from basis_ik.ros.outputs.output import Output
from basis_ik.ros.outputs.replacement_rule import ReplacementRule
from basis_ik.ros.outputs.shared_output import SharedOutput
from basis_ik.ros.outputs.topic_output import JointStateOutput, NumbersOutput, TrajectoryOutput

INTERFACES = (
    "joint_trajectory", "position", "velocity", "joint_state", "follow_joint_trajectory",
)  # fmt: skip

SHARED_INTERFACE = "joint_trajectory"  # for several controllers, too


class ControllerOptions(NamedTuple):
    """What the parameters say of the controller."""

    controllers: Sequence[str]
    """Its name, or those of several that share the arm."""
    trajectory_replacement: str
    """Its rule, one of `replacement_rule.RULES`."""
    resume_after_pause: bool
    """Whether a motion goes on after the controller has scaled its speed to 0."""
    hold_other_joints: bool
    """Whether trajectories hold its joints that are not the chain's."""


class CommandPath:
    """The way of commands to a controller, and back.

    Args:
        kind: One of `INTERFACES`.
        node: The node that owns the publishers, subscriptions and clients.
        drives: What is commanded.
        options: Of its controller.

    Attributes:
        execution: Decides what is sent.
        name: Topic or action of the commands.
    """

    def __init__(self, kind: str, node: Node, drives: Drives, options: ControllerOptions) -> None:
        self._node, self._boundary, self._options = node, boundary_of(node), options
        self._told: list[ControllerTopic | ReplacementRule] = []
        self._output: Output
        self.execution: Execution
        controller, names = options.controllers[0], drives.joint_names
        if kind == SHARED_INTERFACE and len(options.controllers) > 1:
            self._output = SharedOutput(node, options.controllers)
            self.execution = SharedExecution(drives, self._shared(drives))
        elif kind == "joint_trajectory":
            self._output = TrajectoryOutput(node, controller)
            self.execution = WindowExecution(drives, self._controller(drives))
        elif kind == "follow_joint_trajectory":
            action = self._output = ActionOutput(node, controller, names)
            goals = GoalExecution(drives, self._controller(drives))
            self.execution = action.execution = goals
            action.flush = self._flush
        elif kind == "velocity":
            self._output = NumbersOutput(node, controller)
            self.execution = VelocityExecution(drives, self._output)
        else:
            positions = kind == "position"
            self._output = (
                NumbersOutput(node, controller) if positions else JointStateOutput(node, names)
            )
            self.execution = PositionExecution(drives, self._output)
        self.name = self._output.name

    def _controller(self, drives: Drives) -> Controller:
        topic, state, rule = self._told_by(self._options.controllers[0], drives)
        self._take_reports(topic, state.take)
        return Controller(self._output, state, rule, self._options.resume_after_pause)

    def _shared(self, drives: Drives) -> Controller:
        told = [self._told_by(each, drives) for each in self._options.controllers]
        states = ControllerStates([state for _, state, _ in told], drives.joint_names)
        for k, (topic, _, _) in enumerate(told):
            self._take_reports(topic, partial(states.take, k))
        rules = Rules([rule for _, _, rule in told])
        return Controller(self._output, states, rules, self._options.resume_after_pause)

    def _told_by(
        self, controller: str, drives: Drives
    ) -> tuple[ControllerTopic, ControllerState, ReplacementRule]:
        """Return what a controller tells: where, its state, and its rule."""
        options, now = self._options, self._boundary.moment(self._node.get_clock())
        topic = ControllerTopic(self._node, controller)
        holds = options.hold_other_joints
        state = ControllerState(topic, drives.joint_names, now, holds_others=holds)
        rule = ReplacementRule(self._node, controller, options.trajectory_replacement)
        self._told += [topic, rule]
        return topic, state, rule

    def _take_reports(self, topic: ControllerTopic, take: Callable[..., None]) -> None:
        """Let a state take what comes on its topic."""
        clock = self._node.get_clock()

        def on_report(report: ControllerReport) -> None:
            simulated = bool(clock.ros_time_is_active)  # with simulated time both use /clock
            take(report, self._boundary.moment(clock), simulated=simulated)

        topic.on_report = on_report

    def send(self, outgoing: Sequence[Outgoing]) -> None:
        """Send messages, in this order."""
        for each in outgoing:
            self._output.send(each)

    def _flush(self) -> None:
        """Send what an answer of the controller asks for at once."""
        self.send(self.execution.outgoing())

    def find_other_commander(self) -> str:
        """Return the other node that commands the arm; empty if there is none."""
        return self._output.other_commander()

    def destroy(self) -> None:
        """Send the last, and destroy the node's entities."""
        self.execution.close()
        self._flush()
        for each in self._told:
            each.destroy()
        self._output.destroy()
