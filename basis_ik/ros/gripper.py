# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The gripper beside an arm: opened and closed by its own controller."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus
from control_msgs import action
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Float64, Float64MultiArray

from basis_ik.arm.admission import Refusal, Refused, Request, admit_fraction
from basis_ik.ros.action_forms import GOAL_RESPONSE, GRIPPER_END
from basis_ik.ros.boundary import Form, boundary_of
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.parameters.parameters import refused
from basis_ik.ros.publishers import incompatible_qos

GRIPPER_SILENCE = 2.0  # [s] after which a controller that has not answered is told of
GRIPPER_CHECK_PERIOD = 0.5  # [s] between two checks whether it is still there
GRIPPER_ACTIONS = {
    "gripper_command": "GripperCommand",
    "parallel_gripper_command": "ParallelGripperCommand",
}
OPENING_WORDS = {0.0: "closed", 1.0: "open"}


class Gripper:
    """Subscribes to `~/gripper` of one arm, and commands the gripper's controller.

    A stop of the arm cancels a goal that the gripper is on its way to, so that its controller holds
    it where it is. A gripper at rest is left alone: it keeps what it grips.

    Args:
        node: The node that subscribes.
        controller: Of the arm beside it.

    Raises:
        ConfigError: The installed control_msgs does not have the action.

    Attributes:
        state: `MOVING`, `REACHED`, `STALLED`, `STOPPED`, `FAILED`, or `SENT` if nothing tells where
            it is; empty before the first command.
        text: The same in words.
        opening: What was commanded last, from 0, closed, to 1, open; NaN before that.
    """

    def __init__(self, node: Node, controller: ChainController) -> None:
        self._node, self._controller, self._boundary = node, controller, boundary_of(node)
        self._interface: str = controller.own("gripper.interface")
        self._client: Any = None
        self._publisher: Any = None
        name: str = controller.own("gripper.controller")
        if self._interface == "position":
            self._publisher = node.create_publisher(Float64MultiArray, f"{name}/commands", 1)
        else:
            kind = getattr(action, GRIPPER_ACTIONS[self._interface], None)
            if kind is None:
                wanted = GRIPPER_ACTIONS[self._interface]
                text = f"needs {wanted}, which this control_msgs does not have"
                raise refused("gripper.interface", text)
            self._client, self._goal = ActionClient(node, kind, f"{name}/gripper_cmd"), kind.Goal
        self.name = node.resolve_service_name(f"{name}/gripper_cmd")
        self.state = self.text = self._aim = ""
        self.opening = math.nan
        self._number, self._handle = 0, None  # of the newest goal; None: it is not accepted
        self._sent_at = self._checked_at = 0.0
        self._subscriptions = [self._subscribe(Float64, "gripper", self._on_message)]
        self._buttons: list[int] = controller.own("joy.gripper_buttons")
        self._pressed = [True, True]  # what is pressed at first does not count
        if self._buttons:
            self._subscriptions.append(self._subscribe(Joy, "joy", self._on_joy))
        controller.gripper = self

    def _subscribe(self, kind: type, name: str, callback: Callable[[Any], None]) -> Any:
        topic = self._controller.resolve(name)
        unfit = incompatible_qos(self._node, topic)
        return self._node.create_subscription(kind, topic, callback, 1, event_callbacks=unfit)

    def destroy(self) -> None:
        """Destroy the subscriptions, and the client or publisher."""
        self._controller.gripper = None
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        if self._client is None:
            self._node.destroy_publisher(self._publisher)
        else:
            self._client.destroy()

    def _on_joy(self, message: Joy) -> None:
        before, self._pressed = self._pressed, pressed(message.buttons, self._buttons)
        for now, earlier, opening in zip(self._pressed, before, (1.0, 0.0), strict=True):
            if now and not earlier:
                self.move(opening)

    def _on_message(self, message: Float64) -> None:
        self.move(message.data)

    def move(self, opening: float) -> None:
        """Send the gripper to a part of its way, unless that is refused.

        Args:
            opening: 0: closed; 1: open.
        """
        arm, journal = self._controller.arm, self._controller.journal
        if not arm.state.active:
            return
        refusal = self._refusal(opening)
        if refusal is not None:
            arm.refusals.add(refusal, Request("gripper"))
            journal.warn("gripper", refusal.reason.name, f"gripper refused: {refusal}")
            return
        journal.recovered("gripper", "commands of the gripper are valid again")
        arm.refusals.accept(Request("gripper"))
        self.opening = opening
        self._aim = OPENING_WORDS.get(opening, f"{100.0 * opening:.0f} % open")
        closed, opened = (self._controller.own(f"gripper.{each}") for each in ("closed", "open"))
        position = closed + opening * (opened - closed)
        if self._client is None:
            self._boundary.publish(self._publisher, Float64MultiArray(data=[position]))
            self._tell("SENT", f"sent: {self._aim}")
        else:
            self._send(position)

    def _refusal(self, opening: float) -> Refused | None:
        admitted, state = admit_fraction(opening), self._controller.arm.state
        if isinstance(admitted, Refused):
            return admitted
        if state.latch is not None:
            return Refused(Refusal.NOT_READY, state.why_not)
        if not self._is_there():
            return Refused(Refusal.NOT_READY, f"waiting for the action {self.name}")
        return None

    def _is_there(self) -> bool:
        client = self._client
        return client is None or self._boundary.read(f"ready {self.name}", client.server_is_ready)

    def _send(self, position: float) -> None:
        effort: float = self._controller.own("gripper.max_effort")
        goal = self._goal()
        if self._interface == "gripper_command":
            goal.command.position, goal.command.max_effort = position, effort
        else:
            names = [self._controller.own("gripper.joint")]
            goal.command = JointState(name=names, position=[position])
            goal.command.effort = [effort] if effort else []
        self._number += 1
        self._handle, self._sent_at = None, self._boundary.steady()
        self._tell("MOVING", f"on its way: {self._aim}")
        callback = self._wrap("response", self._on_response, GOAL_RESPONSE)
        response = self._boundary.send(
            f"{self.name}/goal", goal.command, lambda: self._client.send_goal_async(goal)
        )
        if response is not None:
            response.add_done_callback(callback)

    def _wrap(self, what: str, take: Callable[[int, Any], None], form: Form) -> Any:
        name, callback = f"{what} {self.name} {self._number}", partial(take, self._number)
        return self._boundary.wrap(name, callback, form)

    def _on_response(self, number: int, response: Any) -> None:
        if number != self._number:
            return
        handle = response.result()
        if not handle.accepted:
            self._tell("FAILED", f"its controller has refused: {self._aim}")
            return
        self._handle = handle
        self._tell("MOVING", f"on its way: {self._aim}")
        handle.get_result_async().add_done_callback(self._wrap("end", self._on_end, GRIPPER_END))

    def _on_end(self, number: int, response: Any) -> None:
        if number != self._number:
            return
        end = response.result()
        if end.status == GoalStatus.STATUS_CANCELED:
            self._tell("STOPPED", f"stopped before it was {self._aim}")
        elif end.result.stalled:  # its controller may call this a success, or not
            self._tell("STALLED", f"something holds it before it is {self._aim}")
        elif end.status == GoalStatus.STATUS_SUCCEEDED:
            self._tell("REACHED", self._aim)
        else:
            self._tell("FAILED", f"its controller has given up: {self._aim}")

    def watch(self) -> None:
        """Stop it with the arm, and notice a controller that is silent or gone; each period."""
        if self.state != "MOVING":
            return
        state, now = self._controller.arm.state, self._boundary.steady()
        if self._handle is None:
            if now - self._sent_at > GRIPPER_SILENCE:
                self._tell("FAILED", f"the action {self.name} does not answer")
        elif state.latch is not None or not state.active:
            self._handle.cancel_goal_async()
            self._tell("STOPPED", f"stopped before it was {self._aim}")
        elif now - self._checked_at > GRIPPER_CHECK_PERIOD:
            self._checked_at = now
            if not self._is_there():
                self._tell("FAILED", f"the action {self.name} has gone")

    def _tell(self, state: str, text: str) -> None:
        self.state, self.text = state, text
        if state == "FAILED":
            self._controller.journal.warn("gripper", state, f"the gripper has failed: {text}")


def pressed(buttons: Sequence[int], chosen: Sequence[int]) -> list[bool]:
    """Return whether each of some buttons is pressed; those that are missing are not.

    Args:
        buttons: Of a joystick's message.
        chosen: Their numbers.
    """
    return [any(buttons[k : k + 1]) for k in chosen]
