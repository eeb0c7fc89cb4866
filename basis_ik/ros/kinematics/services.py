# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""MoveIt's compute_ik, compute_fk, compute_cartesian_path, plan_kinematic_path, without MoveIt.

They move nothing, so they are available as soon as there is a robot, active or not. They run in
their own thread: the search for an unreachable pose takes many periods of the control loop.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import MotionPlanRequest, MoveItErrorCodes, PositionIKRequest, RobotState
from moveit_msgs.srv import GetCartesianPath, GetMotionPlan, GetPositionFK, GetPositionIK
from rclpy.node import Node
from std_msgs.msg import Header

from basis_ik.arm.admission import Refused, admit_distance, printable
from basis_ik.arm.arm import Arm
from basis_ik.arm.path_timing import time_path
from basis_ik.collision.collision_scene import Scene
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.placement import UnknownPositionError, place_link
from basis_ik.ros.convert import pose_message, pose_value
from basis_ik.ros.frame_buffer import FrameBuffer, look_up
from basis_ik.ros.kinematics.groups import Groups
from basis_ik.ros.kinematics.ik_request import (
    hold,
    refuse_attached,
    requested_poses,
    seconds,
    told,
)
from basis_ik.ros.kinematics.motion_planner import MotionPlanner, Problem
from basis_ik.ros.kinematics.motion_request import GoalReader
from basis_ik.ros.kinematics.path_request import (
    PATH_TOLERANCE,
    check_supported,
    first_jump,
    largest_moves,
    scaled_limits,
    start_of,
    straight_lines,
    trajectory_message,
)
from basis_ik.ros.kinematics.robot_state import (
    RequestRefusedError,
    error_code,
    positions_in,
    state_message,
)
from basis_ik.ros.kinematics.scenes import Scenes
from basis_ik.ros.kinematics.several_tips import solve_several
from basis_ik.ros.kinematics.side_thread import SideThread
from basis_ik.ros.parameters.parameters import Parameters
from basis_ik.ros.world.robot_frames import measured_positions
from basis_ik.search.prepare import prepared
from basis_ik.solvers.path.cartesian_path import PathSolution, follow
from basis_ik.solvers.pose.solve import MAX_ITERATIONS, MAX_RESTARTS, Solution, solve
from basis_ik.transforms.rigid import RigidTransform

# With at least this timeout [s], the search ends much earlier by its budget of iterations: the
# response is then repeatable, and has the reason for a failure.
LONG_TIMEOUT = 0.1
COLLISIONS_UNCHECKED = "collisions are NOT checked: the parameter avoid_collisions is ignore"


class KinematicsServices:
    """Serves `~/compute_ik`, `~/compute_fk` and their like for a robot's arms.

    Args:
        node: The main node.
        arms: Its arms, at least one; their names are the names of the groups.
        buffer: The node's transforms.
        parameters: The node's parameters.
        scenes: The robot among the objects around it.
    """

    def __init__(
        self,
        node: Node,
        arms: Sequence[Arm],
        buffer: FrameBuffer,
        parameters: Parameters,
        scenes: Scenes,
    ) -> None:
        self._node, self._arms, self._buffer, self._parameters = node, arms, buffer, parameters
        self._model = arms[0].model
        self._groups, self._scenes = Groups(arms, parameters["moveit_group"]), scenes
        self._planner = MotionPlanner(self._groups, scenes, self._root_T_frame, self._thresholds)
        if parameters["avoid_collisions"] == "ignore":
            node.get_logger().warning(COLLISIONS_UNCHECKED)
        self._side = SideThread(node, "kinematics")
        for kind, name, handle in (
            (GetPositionIK, "~/compute_ik", self._compute_ik),
            (GetPositionFK, "~/compute_fk", self._compute_fk),
            (GetCartesianPath, "~/compute_cartesian_path", self._compute_cartesian_path),
        ):
            name = node.resolve_service_name(name)
            self._side.node.create_service(kind, name, self._guarded(handle))
        name, plan = node.resolve_service_name("~/plan_kinematic_path"), self._guarded(self._plan)

        def plan_path(request: Any, response: Any) -> Any:
            plan(request.motion_plan_request, response.motion_plan_response)
            return response

        self._side.node.create_service(GetMotionPlan, name, plan_path)

    def destroy(self) -> None:
        """Destroy the services."""
        self._side.destroy()

    def _guarded(self, handle: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
        """Return a service callback that converts exceptions to error codes."""

        def callback(request: Any, response: Any) -> Any:
            try:
                handle(request, response)
            except RequestRefusedError as error:
                text = printable(str(error), 400)
                response.error_code = error_code(error.code, text)
                self._node.get_logger().warning(
                    f"request refused: {text}", throttle_duration_sec=1.0
                )
            except Exception:  # a bad request must not end the control of the arm
                response.error_code = error_code(MoveItErrorCodes.FAILURE, "internal error")
                self._node.get_logger().error(traceback.format_exc(), throttle_duration_sec=1.0)
            return response

        return callback

    # Inverse ---------------------------------------------------------------------------------

    def _compute_ik(self, message: Any, response: Any) -> None:
        request = message.ik_request
        checks, warning = self._checks(request)
        refuse_attached(request)
        requested = requested_poses(request)
        positions = self._positions(request.robot_state)
        if len(requested) == 1:
            arms = [self._groups.arm(request.group_name)]
            found, code = self._solve_one(arms[0], *requested[0], request, positions, checks)
        else:
            arms, began = self._groups.arms(request.group_name), time.perf_counter()
            timeout = self._timeout(request)
            found, code = self._solve_several(arms, requested, positions)
            if code.val == MoveItErrorCodes.NO_IK_SOLUTION:
                code.val = _failure(timeout, began)
            if checks and code.val == MoveItErrorCodes.SUCCESS:
                self._check_collisions(arms, {**positions, **found})
        response.error_code = code
        if code.val == MoveItErrorCodes.SUCCESS:
            # Joints of the arms that do not move the links stay as they are.
            unmoved: dict[str, float] = {}
            for arm in arms:
                unmoved.update(_named(arm.chain, _filled(arm.chain, positions)))
            response.solution = state_message({**unmoved, **found}, self._model, self._now())
            if warning:
                texts = filter(None, (getattr(code, "message", ""), warning))
                response.error_code = error_code(code.val, "; ".join(texts))

    def _checks(self, request: PositionIKRequest | GetCartesianPath.Request) -> tuple[bool, str]:
        """Return whether collisions are to be checked, and the warning of a solution, or nothing.

        Raises:
            RequestRefusedError: COLLISION_CHECKING_UNAVAILABLE, if the parameter is refuse.
        """
        return self._checks_wanted() if request.avoid_collisions else (False, "")

    def _checks_wanted(self) -> tuple[bool, str]:
        """Return the same for a request that wants them."""
        how = self._parameters["avoid_collisions"]
        if how == "check":
            return True, ""
        if how == "refuse":
            raise RequestRefusedError(
                MoveItErrorCodes.COLLISION_CHECKING_UNAVAILABLE,
                "avoid_collisions: the node's parameter avoid_collisions is refuse; set it to "
                "check or ignore, or the field avoid_collisions to false",
            )
        self._node.get_logger().warning(COLLISIONS_UNCHECKED, throttle_duration_sec=1.0)
        return False, COLLISIONS_UNCHECKED

    def _solve_one(
        self,
        arm: Arm,
        link: str,
        pose: PoseStamped,
        request: PositionIKRequest,
        positions: Mapping[str, float],
        checks: bool,
    ) -> tuple[dict[str, float], MoveItErrorCodes]:
        chain = self._groups.chain_to(arm, link)
        target = self._locate(chain.root, pose)
        scene = self._scenes.of(chain, positions) if checks else None
        here = _filled(arm.chain, positions)
        reader = GoalReader(self._groups, arm, self._root_T_frame, positions, here)
        turns = not self._parameters["position_only_ik"]
        wanted = reader.around(request.constraints, chain.tip, target, turns=turns)
        solution, code = self._solve(chain, target, request, positions, scene)
        exact = self._thresholds
        if wanted is not None and not wanted.placed(solution, here, max(exact))[1]:
            if checks:
                scene = self._scenes.of(wanted.chain, positions)
            tried = wanted.solutions(here, exact, scene)
            within = next((found for found, _, keeps in tried if keeps), None)
            if within is not None:
                off = target.inverse() @ chain.forward(within.positions)
                way, angle = float(np.linalg.norm(off.translation)), off.as_axis_angle()[1]
                text = f"within the constraints: {way:.3g} m and {angle:.3g} rad from pose_stamped"
                solution, code = within, error_code(MoveItErrorCodes.SUCCESS, text)
            elif solution.success:
                text = "the pose is reached outside the constraints, and nothing within them"
                code = error_code(MoveItErrorCodes.NO_IK_SOLUTION, text)
        return _named(chain, solution.positions), code

    @property
    def _thresholds(self) -> tuple[float, float]:
        """Tolerances of solutions [m] and [rad]."""
        return self._parameters["position_threshold"], self._parameters["orientation_threshold"]

    def _solve_several(
        self,
        arms: Sequence[Arm],
        requested: Sequence[tuple[str, PoseStamped]],
        positions: Mapping[str, float],
    ) -> tuple[dict[str, float], MoveItErrorCodes]:
        links, poses = zip(*requested, strict=True)
        chains = [self._groups.chain_among(arms, link) for link in links]
        root = arms[0].chain.root
        targets = [self._locate(root, pose) for pose in poses]
        for chain, target in zip(chains, targets, strict=True):
            self._admit_distance(chain, target, f"pose_stamped_vector: {chain.tip}")
        return solve_several(self._model, root, links, targets, positions, self._parameters)

    def _check_collisions(self, arms: Sequence[Arm], positions: Mapping[str, float]) -> None:
        """Refuse positions in which an arm strikes something; no others are sought."""
        for chain in (arm.chain for arm in arms):
            struck = self._scenes.of(chain, positions).collisions(_filled(chain, positions))
            if struck:
                raise RequestRefusedError(MoveItErrorCodes.NO_IK_SOLUTION, str(struck[0]))

    def _locate(self, root: str, pose: PoseStamped) -> RigidTransform:
        """Return root_T_target of a pose in any frame; an empty frame is the robot's root."""
        frame_T_target = pose_value(pose.pose)
        if isinstance(frame_T_target, Refused):
            raise RequestRefusedError(
                MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS, f"pose_stamped: {frame_T_target}"
            )
        return self._root_T_frame(root, pose.header, {}) @ frame_T_target

    def _solve(
        self,
        chain: Chain,
        root_T_target: RigidTransform,
        request: PositionIKRequest,
        positions: Mapping[str, float],
        scene: Scene | None,
    ) -> tuple[Solution, MoveItErrorCodes]:
        parameters, timeout = self._parameters, self._timeout(request)
        is_short, began = timeout < LONG_TIMEOUT, time.perf_counter()
        self._admit_distance(chain, root_T_target, "pose_stamped")
        start = hold(request.constraints, chain, _filled(chain, positions))
        try:
            solution = solve(
                chain,
                root_T_target,
                start.seed,
                max_move=start.max_move,
                position_only=parameters["position_only_ik"],
                position_tolerance=parameters["position_threshold"],
                orientation_tolerance=parameters["orientation_threshold"],
                time_limit=timeout if is_short else None,
                max_iterations=MAX_ITERATIONS,  # so that requests end before their timeout
                max_restarts=MAX_RESTARTS if is_short else None,
                scene=scene,
            )
        except SolveArgumentError as error:
            code = MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS
            raise RequestRefusedError(code, f"pose_stamped: {error}") from None
        if solution.success:
            return solution, error_code(MoveItErrorCodes.SUCCESS, "")
        is_free = scene is None or scene.is_free(solution.positions)
        if parameters["approximate_solutions"] and is_free:
            text = f"approximate: {told(solution.reason)}"
            return solution, error_code(MoveItErrorCodes.SUCCESS, text)
        return solution, error_code(_failure(timeout, began), told(solution.reason))

    def _timeout(self, request: PositionIKRequest) -> float:
        """Return the timeout of a request [s], that of the node's parameter if it has none."""
        given = self._parameters["kinematics_solver_timeout"]
        return seconds(request.timeout) or float(given)

    def _admit_distance(self, chain: Chain, root_T_target: RigidTransform, field: str) -> None:
        """Refuse a pose whose units are in doubt."""
        place = root_T_target.translation.tolist()
        refused = admit_distance(place, chain.reach, self._parameters["target_max_reach"])
        if refused is not None:
            code = MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS
            raise RequestRefusedError(code, f"{field}: {refused}")

    # Forward ---------------------------------------------------------------------------------

    def _compute_fk(self, request: Any, response: Any) -> None:
        if not request.fk_link_names:
            raise RequestRefusedError(
                MoveItErrorCodes.INVALID_LINK_NAME, "fk_link_names: no link is named"
            )
        positions = self._positions(request.robot_state)
        base = self._arms[0].chain.root
        frame_T_base = self._frame_T_base(base, request.header, positions)
        header = Header(stamp=self._now(), frame_id=request.header.frame_id or self._model.root)
        complaint = ""
        for link in request.fk_link_names:
            try:
                base_T_link = self._place(base, self._model.link(link), positions)
            except RequestRefusedError as error:
                if error.code != MoveItErrorCodes.INVALID_LINK_NAME:
                    raise
                complaint = complaint or str(error)
                continue
            pose = pose_message(frame_T_base @ base_T_link)
            response.pose_stamped.append(PoseStamped(header=header, pose=pose))
            response.fk_link_names.append(link)
        if complaint:  # as in MoveIt, with the poses of the links that exist
            raise RequestRefusedError(MoveItErrorCodes.INVALID_LINK_NAME, complaint)
        response.error_code = error_code(MoveItErrorCodes.SUCCESS, "")

    def _frame_T_base(
        self, base: str, header: Header, positions: Mapping[str, float]
    ) -> RigidTransform:
        """Return the pose of a link in the requested frame.

        If that frame is a link, its pose is that in the requested state, not the current one.
        """
        frame = header.frame_id or self._model.root
        if frame in self._model.links:
            return self._place(frame, base, positions)
        return self._look_up(base, header).inverse()

    def _place(self, reference: str, link: str, positions: Mapping[str, float]) -> RigidTransform:
        try:
            return place_link(self._model, reference, link, positions)
        except ChainError as error:
            raise RequestRefusedError(MoveItErrorCodes.INVALID_LINK_NAME, str(error)) from None
        except UnknownPositionError as error:
            raise RequestRefusedError(
                MoveItErrorCodes.ROBOT_STATE_STALE, f"{error}; name it in robot_state"
            ) from None

    # Along a path ----------------------------------------------------------------------------

    def _compute_cartesian_path(self, request: Any, response: Any) -> None:
        check_supported(request)
        checks, warning = self._checks(request)
        arm = self._groups.arm(request.group_name)
        chain = self._groups.chain_to(arm, request.link_name)
        limits = scaled_limits(arm.limits, request)
        positions = self._positions(request.start_state, "start_state")
        start = start_of(arm.chain, positions)
        own = [arm.chain.joint_names.index(name) for name in chain.joint_names]
        here = chain.forward(start[own])
        targets = self._waypoints(chain, here, request, positions)
        way = straight_lines(here, targets, request.max_step)
        path = self._follow(chain, way.poses, start[own], largest_moves(chain, request))
        rows = np.tile(start, (1 + len(path.positions), 1))
        rows[1:, own] = path.positions
        text = "" if path.success else f"{way.place(len(path.positions))}: {path.reason}"
        jump = first_jump(rows, request.jump_threshold)
        if jump is not None:
            text, rows = f"{way.place(jump)}: the joints jump, by jump_threshold", rows[: jump + 1]
        if checks:
            scene = self._scenes.of(arm.chain, positions)
            struck = next((k for k, row in enumerate(rows) if not scene.is_free(row)), None)
            if struck is not None:
                # The start is part of every path.
                text = f"{way.place(max(struck - 1, 0))}: {scene.collisions(rows[struck])[0]}"
                rows = rows[: max(struck, 1)]
        response.start_state = state_message(positions, self._model, self._now())
        response.solution.joint_trajectory = trajectory_message(
            time_path(rows, limits), arm.chain.joint_names, self._model.root
        )
        response.fraction = way.fraction(len(rows) - 1)
        text = "; ".join(filter(None, (text, warning)))
        response.error_code = error_code(MoveItErrorCodes.SUCCESS, text)  # as in MoveIt

    def _waypoints(
        self,
        chain: Chain,
        root_T_start: RigidTransform,
        request: GetCartesianPath.Request,
        positions: Mapping[str, float],
    ) -> list[RigidTransform]:
        """Return root_T_waypoint of each waypoint.

        In the frame of the link itself each is relative to the one before, as in MoveIt.
        """
        code = MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS
        if not request.waypoints:
            raise RequestRefusedError(code, "waypoints: there are none")
        steps = request.header.frame_id == chain.tip
        root_T_frame = root_T_start
        if not steps:
            root_T_frame = self._root_T_frame(chain.root, request.header, positions)
        targets = []
        for k, pose in enumerate(request.waypoints):
            frame_T_waypoint = pose_value(pose)
            if isinstance(frame_T_waypoint, Refused):
                raise RequestRefusedError(code, f"waypoints[{k}]: {frame_T_waypoint}")
            targets.append(root_T_frame @ frame_T_waypoint)
            self._admit_distance(chain, targets[-1], f"waypoints[{k}]")
            if steps:
                root_T_frame = targets[-1]
        return targets

    def _follow(
        self,
        chain: Chain,
        poses: Sequence[RigidTransform],
        start: FloatArray,
        max_move: FloatArray,
    ) -> PathSolution:
        """Return the joints along poses, by the node's thresholds where that leads farther."""
        found: PathSolution | None = None
        for position, orientation in ((PATH_TOLERANCE, PATH_TOLERANCE), self._thresholds):
            path = follow(
                chain,
                poses,
                start,
                position_only=self._parameters["position_only_ik"],
                max_move=max_move,
                from_seed=True,
                position_tolerance=position,
                orientation_tolerance=orientation,
            )
            if found is None or len(path.positions) > len(found.positions):
                found = path
            if found.success:
                break
        assert found is not None
        return found

    # Motions ---------------------------------------------------------------------------------

    def read_motion(self, request: MotionPlanRequest) -> Problem:
        """Return what a request for a motion asks for; unnamed joints are where they are measured.

        Raises:
            RequestRefusedError: With the name of the field.
        """
        return self._planner.read(request, self._positions(RobotState()), *self._checks_wanted())

    def read_held(self, arm: Arm, pose: PoseStamped, *, checks: bool) -> Problem:
        """Return the motion by which both hands of an arm take what they hold to a pose.

        Raises:
            RequestRefusedError: With what is at fault.
        """
        return self._planner.read_held(arm, pose, self._positions(RobotState()), checks)

    def _plan(self, request: Any, response: Any) -> None:
        plan = self.read_motion(request).solve()
        response.trajectory_start = state_message(plan.positions, self._model, self._now())
        response.group_name = request.group_name
        response.trajectory.joint_trajectory = trajectory_message(
            plan.motion, plan.arm.chain.joint_names, self._model.root
        )
        response.planning_time = plan.took
        response.error_code = error_code(MoveItErrorCodes.SUCCESS, plan.text)

    # All of them -----------------------------------------------------------------------------

    def _positions(self, state: RobotState, field: str = "robot_state") -> dict[str, float]:
        """Return the positions in a request, with measured positions for the other joints."""
        positions = measured_positions(self._arms)
        return {**positions, **positions_in(state, self._model, field)}

    def _root_T_frame(
        self, root: str, header: Header, positions: Mapping[str, float]
    ) -> RigidTransform:
        """Return the pose of a frame; that of a link is where the positions put it."""
        frame = header.frame_id or self._model.root
        try:  # links that the positions place need no tf
            return place_link(self._model, root, frame, positions)
        except (ChainError, UnknownPositionError):
            return self._look_up(root, Header(stamp=header.stamp, frame_id=frame))

    def _look_up(self, reference: str, header: Header) -> RigidTransform:
        found = look_up(self._buffer, reference, header)
        if isinstance(found, Refused):
            raise RequestRefusedError(MoveItErrorCodes.FRAME_TRANSFORM_FAILURE, str(found))
        return found

    def _now(self) -> Time:
        return self._node.get_clock().now().to_msg()


def _failure(timeout: float, began: float) -> int:
    """Return the code of a search without a solution that began at a time [s]."""
    late = timeout < LONG_TIMEOUT and time.perf_counter() - began >= timeout
    return int(MoveItErrorCodes.TIMED_OUT if late else MoveItErrorCodes.NO_IK_SOLUTION)


def _filled(chain: Chain, positions: Mapping[str, float]) -> FloatArray:
    """Return the positions of a chain (n,), the middle of the limits for unknown ones."""
    middle = prepared(chain).middle
    return np.array([positions.get(n, m) for n, m in zip(chain.joint_names, middle, strict=True)])


def _named(chain: Chain, positions: FloatArray) -> dict[str, float]:
    return dict(zip(chain.joint_names, positions.tolist(), strict=True))
