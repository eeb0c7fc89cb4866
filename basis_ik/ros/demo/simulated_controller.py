# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Simulated joints with the ROS interface of ros2_control's joint_trajectory_controller."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from builtin_interfaces.msg import Time as TimeMessage
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from basis_ik.ros.demo.simulated_arm_parameters import ArmParameters
from basis_ik.ros.outputs.trajectory_messages import to_array, to_command, to_overrides, to_point
from basis_ik.ros.qos import RESULT_TIMEOUT
from basis_ik.simulation.control_loop import ControlLoop
from basis_ik.simulation.simulated_robot import SimulatedRobot
from basis_ik.simulation.tolerances import Tolerances
from basis_ik.simulation.trajectory_command import (
    CommandFault,
    ErrorCode,
    TrajectoryCommand,
    refuse_trajectory,
)
from basis_ik.simulation.trajectory_controller import (
    GoalEnd,
    GoalStatus,
    TrajectoryController,
    Update,
)

# After a longer pause of the process or jump of its clock, the motion continues from where it was.
LONGEST_PAUSE = 5 * 10**8  # [ns]
LOG_PERIOD = 1.0  # [s] between two lines about a lasting fault


@dataclass
class ActiveGoal:
    """The active action goal."""

    handle: ServerGoalHandle
    result: Future


class RateDivider:
    """Decides in which cycles a slower event is due."""

    def __init__(self, rate: float) -> None:
        self._period = 1.0 / rate
        self._remaining = 0.0

    def due(self, dt: float) -> bool:
        """Add elapsed time [s]; return whether the period is over."""
        self._remaining -= dt
        if self._remaining > 0.0:
            return False
        self._remaining = max(self._remaining + self._period, 0.0)
        return True


class SimulatedController:
    """Receives trajectories by topic and action, moves the joints, and publishes their state."""

    def __init__(
        self, node: Node, parameters: ArmParameters, robot: SimulatedRobot, joints: Sequence[str]
    ) -> None:
        """Create the interface and start the cycles.

        Args:
            node: The node; its name is the name of the controller.
            parameters: The declared parameters, with those of the joints.
            robot: All joints, at their initial positions.
            joints: The controlled joints.
        """
        self._node = node
        self._parameters = parameters
        self._robot = robot
        self._joints = tuple(joints)
        self._columns = robot.columns(joints)
        self._period = 1.0 / parameters.number("publish_rate")
        self._controller = TrajectoryController(
            self._joints,
            robot.continuous[self._columns],
            robot.joints.positions[self._columns],
            parameters.tolerances(self._joints),
            period=self._period,
            interpolate_from_desired_state=parameters.flag("interpolate_from_desired_state"),
            allow_trajectory_replacement=parameters.flag("allow_trajectory_replacement"),
        )
        self._loop = ControlLoop(robot.joints, self._columns, self._controller, self._period)
        self._goal: ActiveGoal | None = None
        self._state_due = RateDivider(parameters.number("state_publish_rate"))
        self._feedback_due = RateDivider(parameters.number("action_monitor_rate"))
        moved = robot.moved_by(self._columns)
        all_joints = parameters.flag("publish_uncontrolled_joints")
        self._published = np.arange(len(robot.names)) if all_joints else moved
        self._joint_state = JointState(name=[robot.names[i] for i in self._published])
        self._state = JointTrajectoryControllerState(joint_names=list(joints))
        self._create_interface(node)
        self._clock = node.get_clock()
        # A steady clock: the system's clock may be set at any moment.
        simulated_time = node.get_parameter("use_sim_time").value
        timer_clock = self._clock if simulated_time else Clock(clock_type=ClockType.STEADY_TIME)
        # Cycles are due a period apart from now on, even if the timer is late.
        self._origin = self._last_cycle = self._clock.now().nanoseconds
        node.create_timer(self._period, self._on_timer, clock=timer_clock)

    def _create_interface(self, node: Node) -> None:
        """Create the publishers, subscription, services and action server."""
        self._joint_states = node.create_publisher(JointState, "joint_states", 10)
        self._states = node.create_publisher(
            JointTrajectoryControllerState, "~/controller_state", 10
        )
        # As upstream, without a queue: an arm that is late follows the newest.
        node.create_subscription(JointTrajectory, "~/joint_trajectory", self._on_trajectory, 1)
        node.create_service(SetBool, "~/activate", self._on_activate)
        node.create_service(SetBool, "~/emergency_stop", self._on_emergency_stop)
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            "~/follow_joint_trajectory",
            execute_callback=self._result_of,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            result_timeout=RESULT_TIMEOUT,
        )

    def _on_trajectory(self, message: JointTrajectory) -> None:
        self._catch_up()
        command = to_command(message, self._origin)
        refusal = self._refusal(command)
        if refusal is not None:
            self._node.get_logger().error(
                f"trajectory refused, {refusal.code.name}: {refusal.reason}",
                throttle_duration_sec=LOG_PERIOD,
            )
            return
        self._controller.follow(command)

    def _on_goal(self, goal: FollowJointTrajectory.Goal) -> GoalResponse:
        if not self._controller.active:
            self._node.get_logger().error(
                "goal refused: the controller is inactive", throttle_duration_sec=LOG_PERIOD
            )
            return GoalResponse.REJECT
        refusal = self._refusal(to_command(goal.trajectory, self._origin))
        if refusal is None and goal.multi_dof_trajectory.points:
            refusal = CommandFault(ErrorCode.INVALID_GOAL, "multi_dof_trajectory is not supported")
        if refusal is not None:
            self._node.get_logger().error(
                f"goal refused, {refusal.code.name}: {refusal.reason}",
                throttle_duration_sec=LOG_PERIOD,
            )
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        self._catch_up()
        goal = ActiveGoal(handle, Future())
        command = to_command(handle.request.trajectory, self._origin)
        self._finish(self._controller.start_goal(command, self._tolerances(handle.request)))
        self._goal = goal
        handle.execute(functools.partial(self._result_of, result=goal.result))

    @staticmethod
    async def _result_of(_: ServerGoalHandle, result: Future) -> FollowJointTrajectory.Result:
        return await result

    def _on_activate(
        self, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        if not request.data:
            self._finish(self._controller.deactivate())
        elif not self._controller.active:
            self._controller.activate()
        return self._respond(response, "active" if request.data else "inactive")

    def _on_emergency_stop(
        self, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        self._robot.joints.stopped = request.data
        return self._respond(response, "stopped" if request.data else "released")

    def _respond(self, response: SetBool.Response, text: str) -> SetBool.Response:
        self._node.get_logger().info(text)
        response.success, response.message = True, text
        return response

    def _refusal(self, command: TrajectoryCommand) -> CommandFault | None:
        return refuse_trajectory(
            command,
            self._joints,
            1e-9 * (self._clock.now().nanoseconds - self._origin),
            allow_partial_joints=self._parameters.flag("allow_partial_joints_goal"),
            allow_final_velocity=self._parameters.flag("allow_nonzero_velocity_at_trajectory_end"),
        )

    def _tolerances(self, goal: FollowJointTrajectory.Goal) -> Tolerances:
        defaults = self._parameters.tolerances(self._joints)
        merged = defaults.with_overrides(self._joints, *to_overrides(goal))
        if isinstance(merged, Tolerances):
            return merged
        self._node.get_logger().warning(
            f"the goal's tolerances are ignored, the default ones are used: {merged}",
            throttle_duration_sec=LOG_PERIOD,
        )
        return defaults

    def _on_timer(self) -> None:
        if self._goal is not None and self._goal.handle.is_cancel_requested:
            self._finish(self._controller.cancel_goal())
        self._catch_up()

    def _catch_up(self) -> None:
        """Run the cycles that are due.

        A trajectory counts from now on. In a cycle of before, it would lie in the future, and begin
        where the arm is measured.
        """
        self._controller.speed_scaling = self._parameters.number("speed_scaling")
        blocked = self._parameters.text("blocked_joint")
        self._robot.joints.blocked = np.array([name == blocked for name in self._robot.driven])
        now, period = self._clock.now().nanoseconds, round(1e9 * self._period)
        if not 0 <= now - self._last_cycle <= LONGEST_PAUSE:
            self._last_cycle = now - period
        while self._last_cycle + period <= now:
            self._last_cycle += period
            self._cycle()

    def _cycle(self) -> None:
        update = self._loop.cycle(1e-9 * (self._last_cycle - self._origin))
        stamp = Time(nanoseconds=self._last_cycle).to_msg()
        positions, velocities = self._robot.state()
        self._joint_state.header.stamp = stamp
        self._joint_state.position = to_array(positions[self._published])
        self._joint_state.velocity = to_array(velocities[self._published])
        self._joint_states.publish(self._joint_state)
        if update is None:
            return
        self._publish(stamp, update)
        if update.violation:
            self._node.get_logger().warning(
                f"tolerance violated, the position is held: {update.violation}",
                throttle_duration_sec=LOG_PERIOD,
            )
        self._finish(update.goal_end)

    def _publish(self, stamp: TimeMessage, update: Update) -> None:
        state_due = self._state_due.due(self._period)
        feedback_due = self._feedback_due.due(self._period) and self._goal is not None
        if not state_due and not feedback_due:
            return
        joints, columns = self._robot.joints, self._columns
        reference = to_point(*update.reference[:3])
        actual = to_point(joints.positions[columns], joints.velocities[columns])
        error = to_point(*update.errors)
        if state_due:
            state = self._state
            state.header.stamp = stamp
            state.reference, state.output = reference, to_point(*update.output[:3])
            state.feedback, state.error = actual, error
            state.speed_scaling_factor = self._controller.speed_scaling
            self._states.publish(state)
        if feedback_due and self._goal is not None:
            feedback = FollowJointTrajectory.Feedback(
                joint_names=self._state.joint_names, desired=reference, actual=actual, error=error
            )
            feedback.header.stamp = stamp
            self._goal.handle.publish_feedback(feedback)

    def _finish(self, end: GoalEnd | None) -> None:
        """Send the result of the active goal; None: it continues, or there is none."""
        if end is None or self._goal is None:
            return
        goal, self._goal = self._goal, None
        if end.status is GoalStatus.SUCCEEDED:
            goal.handle.succeed()
        elif end.status is GoalStatus.CANCELED:
            goal.handle.canceled()
        else:
            goal.handle.abort()
        goal.result.set_result(
            FollowJointTrajectory.Result(error_code=end.code, error_string=end.text)
        )
