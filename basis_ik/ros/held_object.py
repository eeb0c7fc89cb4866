# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Moves what two hands hold: poses on `~/target_object`, for a chain from one hand to the other."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from geometry_msgs.msg import PoseStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer

from basis_ik.arm.admission import Refusal, Refused, Request
from basis_ik.ros.boundary import Job, boundary_of
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.convert import frame_stamp, pose_value
from basis_ik.ros.kinematics.motion_planner import Plan, Problem
from basis_ik.ros.kinematics.robot_state import RequestRefusedError
from basis_ik.ros.kinematics.services import KinematicsServices
from basis_ik.ros.move_group import Standstill, check_beside
from basis_ik.ros.publishers import incompatible_qos
from basis_ik.ros.sim_clock import loop_time

HELD_TOPIC = "target_object"
HELD_PERIOD = 0.02  # [s] between two looks at what is being planned


@dataclass(eq=False)
class _Planned:
    """A motion that is being planned.

    Attributes:
        request: What identifies its target.
        problem: The motion, from where the arm was when the target came.
        standstill: Of the arm, which brakes first.
        job: The planning in a thread, once the arm rests.
    """

    request: Request
    problem: Problem
    standstill: Standstill = field(default_factory=Standstill)
    job: Job[Plan] | None = None


class HeldObject:
    """Takes what both ends of an arm's chain hold to poses, on straight lines.

    The ends keep their poses to each other. A pose that comes while the arm moves waits until the
    arm has braked; a newer target of any input replaces it.

    Args:
        node: The node that owns it.
        controller: Of the arm, whose chain turns.
        kinematics: Reads the poses.
    """

    def __init__(
        self, node: Node, controller: ChainController, kinematics: KinematicsServices
    ) -> None:
        self._node, self._controller, self._kinematics = node, controller, kinematics
        self._boundary = boundary = boundary_of(node)
        self._submit: Callable[[Callable[[], Plan]], Job[Plan]] = boundary.thread("held object")
        self._planned: _Planned | None = None
        self._timer: Timer | None = None  # only while something is planned
        topic = controller.resolve(HELD_TOPIC)
        self._subscription = node.create_subscription(
            PoseStamped, topic, self._on_pose, 1, event_callbacks=incompatible_qos(node, topic)
        )

    def destroy(self) -> None:
        """Give up what is being planned."""
        self._end()
        self._node.destroy_subscription(self._subscription)

    def _on_pose(self, message: PoseStamped) -> None:
        arm, now = self._controller.arm, self._boundary.moment(self._node.get_clock())
        at, pose = frame_stamp(message.header), pose_value(message.pose)
        request = arm.take_object(at, pose, now)
        if request is None:
            return
        checks = not arm.unchecked
        try:
            problem = self._kinematics.read_held(arm, message, checks=checks)
        except RequestRefusedError as error:
            arm.targets.refuse(Refused(Refusal.NO_MOTION, str(error)), request)
            return
        arm.targets.plan(request)
        self._planned = _Planned(request, problem)
        if self._timer is None:
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._timer = self._node.create_timer(HELD_PERIOD, self._look, clock=steady)
        self._look()

    def _look(self) -> None:
        """Take the next step towards a motion."""
        arm, planned = self._controller.arm, self._planned
        if planned is None or arm.targets.planned is not planned.request:  # its sender knows
            self._end()
        elif arm.state.why_not:
            self._refuse(planned, Refused(Refusal.NOT_READY, arm.state.why_not))
        elif planned.job is None:
            if planned.standstill.allows(arm, loop_time(self._node)):
                problem = replace(planned.problem, start=arm.resting_at)
                planned.job = self._submit(problem.solve)
        elif planned.job.done():
            try:
                motion = planned.job.result().motion
                check_beside(arm, motion.positions[0], "the motion's begin")
            except RequestRefusedError as error:
                self._refuse(planned, Refused(Refusal.NO_MOTION, str(error)))
            except Exception:  # a bad pose must not end the control of the arm
                self._node.get_logger().error(traceback.format_exc(), throttle_duration_sec=1.0)
                self._refuse(planned, Refused(Refusal.NO_MOTION, "internal error"))
            else:
                arm.follow(motion, planned.request)
                self._end()

    def _refuse(self, planned: _Planned, refused: Refused) -> None:
        targets = self._controller.arm.targets
        targets.clear()
        targets.refuse(refused, planned.request)
        self._end()

    def _end(self) -> None:
        self._planned = None
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
