"""The interface of ros2_control's joint_trajectory_controller, in front of simulated joints."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from basis_ik.motion.simulated_robot import SimulatedRobot
from basis_ik.motion.tolerances import Tolerances
from basis_ik.motion.trajectory import TrajectorySample
from basis_ik.motion.trajectory_command import (
    Refusal,
    RefusalCode,
    TrajectoryCommand,
    refuse_trajectory,
)
from basis_ik.motion.trajectory_follower import Judgement, Progress, TrajectoryFollower
from basis_ik.ros.simulated_arm_parameters import ArmParameters
from basis_ik.ros.trajectory_messages import to_array, to_command, to_point, to_wishes

Result = FollowJointTrajectory.Result

# After a longer pause of the process, or a leap of its clock, the motion goes on where it was.
LONGEST_STEP = 0.1  # [s]
# Results are kept this long for clients that ask late, as rclcpp does [s]; with rclpy's 15 min the
# goals of somebody who streams them would pile up.
RESULT_TIMEOUT = 10
# A fault that goes on is told once in this time [s].
LOG_PERIOD = 1.0
VIOLATIONS = {
    Progress.PATH_VIOLATED: (Result.PATH_TOLERANCE_VIOLATED, "path"),
    Progress.GOAL_VIOLATED: (Result.GOAL_TOLERANCE_VIOLATED, "goal"),
}


@dataclass
class ActiveGoal:
    """The action goal that is being executed, and the command that it is judged by."""

    handle: ServerGoalHandle
    result: Future
    command: TrajectoryCommand
    tolerances: Tolerances


class Every:
    """Tells when something is due that happens less often than it is asked for."""

    def __init__(self, rate: float) -> None:
        self._period = 1.0 / rate
        self._left = 0.0

    def due(self, dt: float) -> bool:
        """Let time pass [s] and say whether the period is over."""
        self._left -= dt
        if self._left > 0.0:
            return False
        self._left = max(self._left + self._period, 0.0)
        return True


class SimulatedController:
    """Takes trajectories by topic and action, moves the joints and publishes what they do."""

    def __init__(
        self, node: Node, parameters: ArmParameters, robot: SimulatedRobot, joints: Sequence[str]
    ) -> None:
        """Open the interface and start to move.

        Args:
            node: Its name is the name of the controller.
            parameters: Declared, with those of the joints.
            robot: All joints, at their initial positions.
            joints: The controlled ones among the robot's driven joints.
        """
        self._node = node
        self._parameters = parameters
        self._robot = robot
        self._joints = tuple(joints)
        self._columns = robot.columns(joints)
        self._targets = robot.joints.positions.copy()
        self._follower = TrajectoryFollower(
            self._joints, robot.continuous[self._columns], self._targets[self._columns]
        )
        self._goal: ActiveGoal | None = None
        self._state_due = Every(parameters.number("state_publish_rate"))
        self._feedback_due = Every(parameters.number("action_monitor_rate"))
        own = robot.moved_by(self._columns)
        everything = parameters.flag("publish_uncontrolled_joints")
        self._told = np.arange(len(robot.names)) if everything else own
        self._joint_state = JointState(name=[robot.names[i] for i in self._told])
        self._joint_states = node.create_publisher(JointState, "joint_states", 10)
        self._state = JointTrajectoryControllerState(
            joint_names=list(joints), speed_scaling_factor=1.0
        )
        self._states = node.create_publisher(
            JointTrajectoryControllerState, "~/controller_state", 10
        )
        node.create_subscription(JointTrajectory, "~/joint_trajectory", self._on_trajectory, 10)
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
        self._clock = node.get_clock()
        self._last_step = self._clock.now().nanoseconds
        # The system's clock may be set at any moment, which must not stop the timer.
        simulated_time = node.get_parameter("use_sim_time").value
        pace = self._clock if simulated_time else Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(1.0 / parameters.number("publish_rate"), self._step, clock=pace)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        command = to_command(message, self._last_step)
        refusal = self._refusal(command)
        if refusal is not None:
            self._node.get_logger().error(
                f"trajectory refused, {refusal.code.name}: {refusal.reason}",
                throttle_duration_sec=LOG_PERIOD,
            )
            return
        goal = self._goal
        if goal is None:
            self._follower.accept(command, self._parameters.tolerances(self._joints))
            return
        # As upstream: the goal is not aborted but judged by the trajectory that replaces its own.
        if self._follower.waiting is goal.command:
            goal.command = command
        self._follower.accept(command, goal.tolerances)

    def _on_goal(self, goal: FollowJointTrajectory.Goal) -> GoalResponse:
        refusal = self._refusal(to_command(goal.trajectory, self._last_step))
        if refusal is None and goal.multi_dof_trajectory.points:
            refusal = Refusal(RefusalCode.INVALID_GOAL, "multi_dof_trajectory is not supported")
        if refusal is not None:
            self._node.get_logger().error(
                f"goal refused, {refusal.code.name}: {refusal.reason}",
                throttle_duration_sec=LOG_PERIOD,
            )
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        if self._goal is not None:
            self._goal.handle.abort()
            self._finish(self._goal, Result.INVALID_GOAL, "replaced by a new goal")
        command = to_command(handle.request.trajectory, self._last_step)
        tolerances = self._tolerances(handle.request)
        self._goal = ActiveGoal(handle, Future(), command, tolerances)
        self._follower.accept(command, tolerances)
        handle.execute(functools.partial(self._result_of, result=self._goal.result))

    @staticmethod
    async def _result_of(_: ServerGoalHandle, result: Future) -> FollowJointTrajectory.Result:
        return await result

    def _refusal(self, command: TrajectoryCommand) -> Refusal | None:
        return refuse_trajectory(
            command,
            self._joints,
            allow_partial_joints=self._parameters.flag("allow_partial_joints_goal"),
            allow_final_velocity=self._parameters.flag("allow_nonzero_velocity_at_trajectory_end"),
        )

    def _tolerances(self, goal: FollowJointTrajectory.Goal) -> Tolerances:
        defaults = self._parameters.tolerances(self._joints)
        merged = defaults.with_wishes(self._joints, *to_wishes(goal))
        if isinstance(merged, Tolerances):
            return merged
        self._node.get_logger().warning(
            f"the goal's tolerances are ignored, the default ones are used: {merged}",
            throttle_duration_sec=LOG_PERIOD,
        )
        return defaults

    def _step(self) -> None:
        now = self._clock.now()
        dt = min(max(1e-9 * (now.nanoseconds - self._last_step), 0.0), LONGEST_STEP)
        self._last_step = now.nanoseconds
        joints, columns = self._robot.joints, self._columns
        if self._goal is not None and self._goal.handle.is_cancel_requested:
            self._follower.hold(joints.positions[columns])
            self._goal.handle.canceled()
            self._finish(self._goal, Result.SUCCESSFUL, "canceled; the position is held")
        desired = self._follower.advance(dt, joints.positions[columns], joints.velocities[columns])
        self._targets[columns] = desired.positions
        joints.step(self._targets, dt)
        judgement = self._follower.judge(joints.positions[columns], joints.velocities[columns])
        self._publish(now.to_msg(), dt, desired, judgement)
        self._conclude(judgement)

    def _publish(
        self, stamp: Time, dt: float, desired: TrajectorySample, judgement: Judgement
    ) -> None:
        positions, velocities = self._robot.state()
        self._joint_state.header.stamp = stamp
        self._joint_state.position = to_array(positions[self._told])
        self._joint_state.velocity = to_array(velocities[self._told])
        self._joint_states.publish(self._joint_state)
        state_due, feedback_due = self._state_due.due(dt), self._feedback_due.due(dt)
        goal = self._goal
        feedback_due = feedback_due and goal is not None and self._is_judged(goal)
        if not state_due and not feedback_due:
            return
        joints, columns = self._robot.joints, self._columns
        reference = to_point(*desired[:3])
        actual = to_point(joints.positions[columns], joints.velocities[columns])
        error = to_point(*judgement.errors)
        if state_due:
            state = self._state
            state.header.stamp = stamp
            state.reference = state.output = reference
            state.feedback, state.error = actual, error
            self._states.publish(state)
        if feedback_due and goal is not None:
            feedback = FollowJointTrajectory.Feedback(
                joint_names=self._state.joint_names, desired=reference, actual=actual, error=error
            )
            feedback.header.stamp = stamp
            goal.handle.publish_feedback(feedback)

    def _conclude(self, judgement: Judgement) -> None:
        if judgement.progress is Progress.REACHED:
            code, text = Result.SUCCESSFUL, "the goal was reached"
        elif judgement.progress in VIOLATIONS:
            code, what = VIOLATIONS[judgement.progress]
            text = f"{what} tolerance violated: {judgement.reason}"
            self._node.get_logger().warning(
                f"{text}; the position is held", throttle_duration_sec=LOG_PERIOD
            )
        else:
            return
        if self._goal is not None and self._is_judged(self._goal):
            if code == Result.SUCCESSFUL:
                self._goal.handle.succeed()
            else:
                self._goal.handle.abort()
            self._finish(self._goal, code, text)

    def _is_judged(self, goal: ActiveGoal) -> bool:
        """Whether the present motion is the goal's: not while it waits for its start time."""
        return self._follower.waiting is not goal.command

    def _finish(self, goal: ActiveGoal, code: int, text: str) -> None:
        goal.result.set_result(Result(error_code=code, error_string=text))
        self._goal = None
