# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""MoveIt's actions move_action and execute_trajectory, without MoveIt."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import MoveItErrorCodes
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from rclpy.timer import Timer
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectoryPoint

from basis_ik.arm.admission import printable
from basis_ik.arm.arm import Arm
from basis_ik.arm.chain_state import State
from basis_ik.arm.given_motion import MotionRefusedError, given_motion, keep_limits
from basis_ik.arm.goals import MotionGoal
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.elements import listed
from basis_ik.ros.action_forms import goal_of, handle_of
from basis_ik.ros.boundary import Job, boundary_of
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.convert import duration_message
from basis_ik.ros.kinematics.motion_planner import Plan
from basis_ik.ros.kinematics.motion_request import refuse_options
from basis_ik.ros.kinematics.path_request import trajectory_message
from basis_ik.ros.kinematics.robot_state import (
    RequestRefusedError,
    error_code,
    positions_in,
    state_message,
)
from basis_ik.ros.kinematics.services import KinematicsServices
from basis_ik.ros.outputs.trajectory_messages import to_array
from basis_ik.ros.parameters.parameters import controllers_of
from basis_ik.ros.periodic_spinner import Inputs
from basis_ik.ros.qos import RESULT_TIMEOUT
from basis_ik.ros.sim_clock import loop_time

PLAN_ACTION, EXECUTE_ACTION = "move_action", "execute_trajectory"
EVENT_TOPIC = "trajectory_execution_event"


class MotionGoalTuning(NamedTuple):
    """Tuning of goals: where they may begin, and when they end."""

    look_period: float = 0.02  # [s]; each look is a sample of what was executed
    start_tolerance: float = 0.01  # [rad or m] from the arm, as in MoveIt
    rest_time: float = 0.5  # [s] at the end of its commands; then a lagging arm counts as at rest
    stall_time: float = 5.0  # [s] there, after which it does not get to the end any more


MOTION_GOALS = MotionGoalTuning()


@dataclass
class Standstill:
    """Tells whether a motion may begin from rest.

    Attributes:
        since: When the commands were first seen at their end, on the loop's clock [s]; None: they
            were not.
    """

    since: float | None = None

    def lasts(self, now: float) -> float:
        """Return for how long the commands are known to be at their end [s]."""
        self.since = now if self.since is None else self.since
        return now - self.since

    def allows(self, arm: Arm, now: float) -> bool:
        """Return whether a motion may begin: a lagging arm rests later than its commands."""
        if arm.state.state is State.HOLDING:
            return self.lasts(now) > MOTION_GOALS.rest_time
        return arm.state.state not in (State.MOVING, State.BRAKING)


@dataclass(eq=False)
class _Goal:
    """A goal that has not ended.

    Attributes:
        action: Its action.
        handle: Its handle.
        result: What its client gets.
        moves: Whether it is to move an arm.
        arm: That arm, once it is the goal's; None: not yet.
        placements: Number of targets that the arm had accepted before it.
        job: What is being planned or checked in a thread.
        plan: The motion, once it is known.
        motion: The arm's goal, once it moves.
        begun: When it began to move, on the loop's clock [s].
        standstill: Whether the commands are at their end.
        canceled: Whether the client has canceled it, and the arm brakes.
        executed: Times [s] and measured positions while it moved.
    """

    action: str
    handle: ServerGoalHandle
    result: Future
    moves: bool
    arm: Arm | None = None
    placements: int = 0
    job: Job[Plan] | None = None
    plan: Plan | None = None
    motion: MotionGoal | None = None
    begun: float = 0.0
    standstill: Standstill = field(default_factory=Standstill)
    canceled: bool = False
    executed: list[tuple[float, FloatArray]] = field(default_factory=list)


class MoveGroupServer:
    """Serves `~/move_action` and `~/execute_trajectory`; "stop" on the event's topic stops.

    A motion is the arm's target: a newer one replaces it, by action or by topic. One that comes
    while the arm moves waits until it has braked, and begins from there.

    Args:
        node: The node that owns them.
        inputs: Its callback groups.
        controllers: Of its arms.
        kinematics: Reads requests for motions.
    """

    def __init__(
        self,
        node: Node,
        inputs: Inputs,
        controllers: Sequence[ChainController],
        kinematics: KinematicsServices,
    ) -> None:
        self._node, self._inputs, self._kinematics = node, inputs, kinematics
        self._controllers = {each.arm.name: each for each in controllers}
        self._arms = [each.arm for each in controllers]
        self._model = self._arms[0].model
        self._goals: list[_Goal] = []
        self._timer: Timer | None = None  # only while there are goals: timers cost time per cycle
        self._boundary = boundary = boundary_of(node)
        self._submit: Callable[[Callable[[], Plan]], Job[Plan]] = boundary.thread("planner")
        self._servers = []
        for kind, action in ((MoveGroup, PLAN_ACTION), (ExecuteTrajectory, EXECUTE_ACTION)):
            name = f"~/{action}"
            accepted = functools.partial(self._on_accepted, action)
            server = ActionServer(
                node,
                kind,
                node.resolve_service_name(name),  # rcl does not remap names of actions
                execute_callback=self._result_of,
                goal_callback=boundary.wrap(f"goal {name}", _accept, goal_of(kind)),
                handle_accepted_callback=boundary.wrap(
                    f"accepted {name}", accepted, handle_of(kind)
                ),
                cancel_callback=lambda _: CancelResponse.ACCEPT,
                result_timeout=RESULT_TIMEOUT,
            )
            self._servers.append(server)
        self._event = node.create_subscription(String, f"~/{EVENT_TOPIC}", self._on_event, 1)

    def destroy(self) -> None:
        """Abort all goals, and destroy the servers."""
        for goal in list(self._goals):
            self._abort(goal, MoveItErrorCodes.CONTROL_FAILED, "the robot is being replaced")
        for server in self._servers:
            server.destroy()
        self._node.destroy_subscription(self._event)

    def _on_event(self, message: String) -> None:
        """Stop all arms, as MoveIt does; they accept new targets at once."""
        if message.data != "stop":
            return
        for arm in self._arms:
            arm.clutch.block(f"stopped by {EVENT_TOPIC}")
            arm.targets.drop(f"stopped by {EVENT_TOPIC}")
        for goal in list(self._goals):
            if goal.moves:
                self._abort(goal, MoveItErrorCodes.PREEMPTED, f"stopped by {EVENT_TOPIC}")

    async def _result_of(self, _: ServerGoalHandle, result: Future) -> Any:
        self._inputs.awaiting += 1
        try:
            return await result
        finally:
            self._inputs.awaiting -= 1

    # A new goal ------------------------------------------------------------------------------

    def _on_accepted(self, action: str, handle: ServerGoalHandle) -> None:
        moves = action == EXECUTE_ACTION or not handle.request.planning_options.plan_only
        goal = _Goal(action, handle, Future(), moves)
        self._goals.append(goal)
        handle.execute(functools.partial(self._result_of, result=goal.result))
        if self._timer is None:
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._timer = self._node.create_timer(
                MOTION_GOALS.look_period, self._look, clock=steady
            )
        self._attempt(goal, self._begin_plan if action == PLAN_ACTION else self._begin_execution)

    def _attempt(self, goal: _Goal, step: Callable[[_Goal], None]) -> None:
        """Take a step, and abort a goal that is refused."""
        try:
            step(goal)
        except RequestRefusedError as error:
            self._abort(goal, error.code, str(error))
        except Exception:  # a bad request must not end the control of the arm
            self._node.get_logger().error(traceback.format_exc(), throttle_duration_sec=1.0)
            self._abort(goal, MoveItErrorCodes.FAILURE, "internal error")

    def _begin_plan(self, goal: _Goal) -> None:
        request = goal.handle.request
        refuse_options(request.planning_options)
        problem = self._kinematics.read_motion(request.request)
        self._tell(goal, "PLANNING")
        if not goal.moves:
            goal.job = self._submit(problem.solve)
            return
        self._check_start(goal, problem.arm)
        self._take_over(goal, problem.arm)
        self._attempt(goal, self._go_on)

    def _begin_execution(self, goal: _Goal) -> None:
        request = goal.handle.request
        arm, rows = self._read_trajectory(request)
        if arm.state.why_not:
            raise RequestRefusedError(MoveItErrorCodes.CONTROL_FAILED, arm.state.why_not)
        check_beside(arm, rows[1][0], "trajectory")
        positions = dict(zip(arm.chain.joint_names, rows[1][0].tolist(), strict=True))

        def check() -> Plan:
            try:
                motion = keep_limits(given_motion(*rows), arm.limits, arm.chain.joint_names)
            except MotionRefusedError as error:
                raise RequestRefusedError(
                    MoveItErrorCodes.INVALID_MOTION_PLAN, f"trajectory: {error}"
                ) from None
            return Plan(arm, positions, motion, "", 0.0)

        goal.job = self._submit(check)

    def _check_start(self, goal: _Goal, arm: Arm) -> None:
        """Refuse a start state where the arm is not, and an arm that may not move."""
        if arm.state.why_not:
            raise RequestRefusedError(MoveItErrorCodes.CONTROL_FAILED, arm.state.why_not)
        state = goal.handle.request.request.start_state
        given = positions_in(state, self._model, "start_state")
        here = arm.resting_at
        wanted = [given.get(name, at) for name, at in zip(arm.chain.joint_names, here, strict=True)]
        check_beside(arm, np.array(wanted), "start_state", MoveItErrorCodes.START_STATE_INVALID)

    def _take_over(self, goal: _Goal, arm: Arm) -> None:
        """End what the arm does for others."""
        for other in list(self._goals):
            if other is not goal and other.arm is arm:
                self._abort(other, MoveItErrorCodes.PREEMPTED, "replaced by a newer goal")
        goal.arm, goal.placements = arm, arm.targets.placements
        goal.standstill.since = None
        if not self._rests(goal, arm):
            arm.targets.clear()

    def _read_trajectory(
        self, request: ExecuteTrajectory.Goal
    ) -> tuple[Arm, tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]]:
        """Return the arm of a trajectory, and times, positions, velocities and accelerations.

        Raises:
            RequestRefusedError: With the name of the field.
        """
        code = MoveItErrorCodes.INVALID_MOTION_PLAN
        given = request.trajectory.joint_trajectory
        if request.trajectory.multi_dof_joint_trajectory.points:
            text = "trajectory.multi_dof_joint_trajectory: joints have one value each"
            raise RequestRefusedError(code, text)
        names = list(given.joint_names)
        found = [arm for arm in self._arms if sorted(arm.chain.joint_names) == sorted(names)]
        if not found:
            chains = " or ".join(listed(arm.chain.joint_names) for arm in self._arms)
            text = f"trajectory: joint_names are {printable(listed(names) or 'none')}, not {chains}"
            raise RequestRefusedError(code, text)
        arm = found[0]
        own: str = self._controllers[arm.name].own("controller")
        foreign = [each for each in request.controller_names if each not in controllers_of(own)]
        if foreign:
            text = f"controller_names: {printable(listed(foreign))}; the node commands {own}"
            raise RequestRefusedError(MoveItErrorCodes.CONTROL_FAILED, text)
        stamp = given.header.stamp
        if stamp.sec + 1e-9 * stamp.nanosec > 1e-9 * self._boundary.clock(self._node.get_clock()):
            text = "trajectory: header.stamp is ahead: a trajectory begins when it comes"
            raise RequestRefusedError(code, text)
        if not given.points:
            raise RequestRefusedError(code, "trajectory: it has no points")
        order = [names.index(name) for name in arm.chain.joint_names]
        return arm, _rows(given.points, order)

    # While there are goals -------------------------------------------------------------------

    def _look(self) -> None:
        """See how far each goal is."""
        for goal in list(self._goals):
            if goal in self._goals:  # one may end others
                canceled = self._boundary.read("cancel", functools.partial(_is_canceled, goal))
                self._attempt(goal, self._cancel if canceled else self._go_on)

    def _cancel(self, goal: _Goal) -> None:
        """Brake, and end a goal once the arm rests."""
        arm = goal.arm
        if arm is not None and not goal.canceled and arm.targets.goal is goal.motion:
            arm.targets.clear()
        self._record(goal)
        if not goal.canceled:
            goal.canceled, goal.standstill.since = True, None
        elif arm is None or goal.motion is None or arm.targets.pursues or self._rests(goal, arm):
            self._finish(goal, goal.handle.canceled, MoveItErrorCodes.PREEMPTED, "canceled")

    def _go_on(self, goal: _Goal) -> None:
        """Take the next step towards a goal's end."""
        if goal.motion is not None:
            self._record(goal)
            self._follow(goal)
            return
        if goal.job is not None and goal.plan is None:
            if not goal.job.done():
                return
            goal.plan = goal.job.result()
            if goal.action == EXECUTE_ACTION:
                self._take_over(goal, goal.plan.arm)
        arm, plan = goal.arm, goal.plan
        if arm is None:  # it was only planned
            assert plan is not None
            self._finish(goal, goal.handle.succeed, MoveItErrorCodes.SUCCESS, plan.text)
            return
        if arm.state.why_not:
            raise RequestRefusedError(*_why_stopped(arm))
        if arm.targets.placements != goal.placements:
            raise RequestRefusedError(MoveItErrorCodes.PREEMPTED, "replaced by another target")
        if not self._rests(goal, arm):
            return
        if plan is None:
            self._check_start(goal, arm)
            problem = self._kinematics.read_motion(goal.handle.request.request)
            goal.job = self._submit(replace(problem, start=arm.resting_at).solve)
        else:
            self._begin_motion(goal, arm, plan)

    def _begin_motion(self, goal: _Goal, arm: Arm, plan: Plan) -> None:
        check_beside(arm, plan.motion.positions[0], "the motion's begin")
        goal.motion = arm.follow(plan.motion, arm.targets.request(goal.action))
        goal.begun, goal.standstill.since = loop_time(self._node), None
        self._record(goal)
        self._tell(goal, "MONITOR")

    def _follow(self, goal: _Goal) -> None:
        """End a goal whose arm has arrived, or will not arrive."""
        arm = goal.arm
        assert arm is not None
        if arm.targets.goal is not goal.motion:
            raise RequestRefusedError(*self._why_lost(goal, arm))
        if arm.pipeline.goal is not goal.motion:
            return  # it begins with the next period
        if arm.state.state is State.ARRIVED:
            text = "" if goal.plan is None else goal.plan.text
            self._finish(goal, goal.handle.succeed, MoveItErrorCodes.SUCCESS, text)
        elif arm.state.state is not State.HOLDING and arm.pipeline.obstacle is None:
            goal.standstill.since = None
        elif goal.standstill.lasts(loop_time(self._node)) > MOTION_GOALS.stall_time:
            obstacle = arm.pipeline.obstacle
            arm.targets.clear()
            if obstacle is not None:
                code = MoveItErrorCodes.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
                raise RequestRefusedError(code, str(obstacle))
            off = np.abs(arm.pipeline.missing(arm.measured.positions()))
            k = int(off.argmax())
            text = f"{arm.chain.joint_names[k]} stays {off[k]:.3g} short of the motion's end"
            raise RequestRefusedError(MoveItErrorCodes.CONTROL_FAILED, text)

    def _rests(self, goal: _Goal, arm: Arm) -> bool:
        """Return whether a motion may begin."""
        return goal.standstill.allows(arm, loop_time(self._node))

    def _why_lost(self, goal: _Goal, arm: Arm) -> tuple[int, str]:
        """Return why the arm has another target, or none."""
        if arm.state.why_not:
            return _why_stopped(arm)
        if arm.problem:
            return MoveItErrorCodes.CONTROL_FAILED, arm.problem
        last = arm.refusals.last.get(goal.action)
        if not arm.targets.pursues and last is not None:
            return MoveItErrorCodes.CONTROL_FAILED, str(last.refused)
        return MoveItErrorCodes.PREEMPTED, "replaced by another target"

    def _record(self, goal: _Goal) -> None:
        if goal.arm is not None and goal.motion is not None:
            time = max(loop_time(self._node) - goal.begun, 0.0)
            goal.executed.append((time, goal.arm.measured.positions()))

    # Its end ---------------------------------------------------------------------------------

    def _abort(self, goal: _Goal, code: int, text: str) -> None:
        self._finish(goal, goal.handle.abort, code, text)

    def _finish(self, goal: _Goal, end: Callable[[], None], code: int, text: str) -> None:
        """End a goal, and send its result."""
        self._tell(goal, "IDLE")
        end()
        text = printable(text, 400)
        if goal.action == PLAN_ACTION:
            result = self._planned(goal, code, text)
        else:
            result = ExecuteTrajectory.Result(error_code=error_code(code, text))
        goal.result.set_result(result)
        self._goals.remove(goal)
        if not self._goals and self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
        journal = self._controllers[
            self._arms[0].name if goal.arm is None else goal.arm.name
        ].journal
        outcome = "succeeded" if code == MoveItErrorCodes.SUCCESS else f"ended with {code}"
        said = f"{goal.action} {outcome}" + (f": {text}" if text else "")
        journal.info(goal.action, f"{code} {text}"[:80], said)

    def _planned(self, goal: _Goal, code: int, text: str) -> MoveGroup.Result:
        result, plan = MoveGroup.Result(error_code=error_code(code, text)), goal.plan
        if plan is not None:
            names, root = plan.arm.chain.joint_names, self._model.root
            stamp = self._node.get_clock().now().to_msg()
            result.trajectory_start = state_message(plan.positions, self._model, stamp)
            result.planned_trajectory.joint_trajectory = trajectory_message(
                plan.motion, names, root
            )
            executed = result.executed_trajectory.joint_trajectory
            executed.joint_names = list(names) if goal.executed else []
            for time, positions in goal.executed:
                point = JointTrajectoryPoint(positions=to_array(positions))
                point.time_from_start = duration_message(time)
                executed.points.append(point)
            result.planning_time = plan.took
        return result

    def _tell(self, goal: _Goal, state: str) -> None:
        kind = MoveGroup if goal.action == PLAN_ACTION else ExecuteTrajectory
        goal.handle.publish_feedback(kind.Feedback(state=state))


def _is_canceled(goal: _Goal) -> bool:
    return bool(goal.handle.is_cancel_requested)


def _accept(_: object) -> GoalResponse:
    """Accept any goal: the result says why it is refused."""
    return GoalResponse.ACCEPT


def check_beside(
    arm: Arm, positions: FloatArray, what: str, code: int = MoveItErrorCodes.INVALID_MOTION_PLAN
) -> None:
    """Refuse a begin (n,) where the arm neither is measured nor rests."""
    off = np.minimum(
        np.abs(positions - arm.measured.positions()), np.abs(positions - arm.resting_at)
    )
    k = int(np.argmax(np.where(np.isfinite(off), off, np.inf)))
    if not off[k] <= MOTION_GOALS.start_tolerance:
        here = arm.measured.positions()[k]
        text = (
            f"{what} has {arm.chain.joint_names[k]} at {positions[k]:.4g}, and it is measured at "
            f"{here:.4g}: the arm has moved since, or moves"
        )
        raise RequestRefusedError(code, text)


def _why_stopped(arm: Arm) -> tuple[int, str]:
    stopped = arm.state.latch is State.STOPPED
    return (
        MoveItErrorCodes.PREEMPTED if stopped else MoveItErrorCodes.CONTROL_FAILED,
        arm.state.why_not,
    )


def _rows(
    points: Sequence[JointTrajectoryPoint], order: list[int]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]:
    """Return times, positions, velocities and accelerations of points; see `given_motion`.

    Args:
        points: At least one.
        order: Places of the chain's joints in them.

    Raises:
        RequestRefusedError: INVALID_MOTION_PLAN.
    """
    code, count = MoveItErrorCodes.INVALID_MOTION_PLAN, len(order)
    fields = {}
    for name in ("positions", "velocities", "accelerations"):
        lengths = [len(getattr(point, name)) for point in points]
        k = next((k for k, length in enumerate(lengths) if length != count), None)
        if k is None:
            fields[name] = np.array([getattr(point, name) for point in points])[:, order]
        elif name == "positions" or any(lengths):
            text = f"trajectory: points[{k}] has {lengths[k]} {name}, and there are {count} joints"
            raise RequestRefusedError(code, text)
        elif name == "velocities" and len(points) > 1:
            text = "trajectory: its points have no velocities: let a time parameterization add them"
            raise RequestRefusedError(code, text)
    if any(any(point.effort) for point in points):
        text = "trajectory: effort is not supported"
        raise RequestRefusedError(code, text)
    times = np.array(
        [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in points]
    )
    velocities = fields.get("velocities", np.zeros_like(fields["positions"]))
    return times, fields["positions"], velocities, fields.get("accelerations")
