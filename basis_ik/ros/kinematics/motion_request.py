# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reads the goals of a MotionPlanRequest, and refuses what is not supported."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import Pose
from moveit_msgs.msg import (
    Constraints,
    MotionPlanRequest,
    MoveItErrorCodes,
    OrientationConstraint,
    PlanningOptions,
    PlanningScene,
    PositionConstraint,
)
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import Header

from basis_ik.arm.admission import Refused, printable
from basis_ik.arm.arm import Arm
from basis_ik.collision.collision_scene import Scene
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.ros.convert import pose_value
from basis_ik.ros.kinematics.groups import Groups
from basis_ik.ros.kinematics.ik_request import Start, hold
from basis_ik.ros.kinematics.robot_state import RequestRefusedError
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.pose.solve import Solution, solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.transforms.rigid import RigidTransform

CONSTRAINT_KINDS = ("joint", "position", "orientation", "visibility")
# Of a tolerance, what a search uses: the result is compared with all of it. Euler's angles may be
# larger than the components of a rotation vector.
SEARCHED_SHARES = (0.98, 0.6)
# Fields of a planning_scene_diff by which nothing moves or collides; headers are others.
DIFF_LABELS = ("name", "robot_model_name", "object_colors", "is_diff", "robot_state.is_diff")
CONSTRAINED_POINT = "the constrained point"
PARALLEL_COSINE = 1e-6  # of the cosines between axes that count as parallel
# pose of a frame in a chain's root: of root link, header, and positions of the joints
Locate = Callable[[str, Header, Mapping[str, float]], RigidTransform]


def refuse_unsupported(request: MotionPlanRequest) -> None:
    """Refuse a request with a field that is not supported.

    Raises:
        RequestRefusedError: With the name of the field.
    """
    for kind in CONSTRAINT_KINDS:
        if getattr(request.path_constraints, f"{kind}_constraints"):
            text = f"path_constraints: {kind}_constraints are not supported along a path"
            raise RequestRefusedError(MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS, text)
    if request.trajectory_constraints.constraints:
        text = "trajectory_constraints: they are not supported"
        raise RequestRefusedError(MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS, text)
    if request.reference_trajectories:
        text = "reference_trajectories: they are not supported"
        raise RequestRefusedError(MoveItErrorCodes.INVALID_MOTION_PLAN, text)
    if request.max_cartesian_speed != 0.0:
        text = "max_cartesian_speed: the node's parameter max_linear_speed caps speeds; set it to 0"
        raise RequestRefusedError(MoveItErrorCodes.FAILURE, text)
    if request.start_state.attached_collision_objects:
        text = "start_state: attached_collision_objects are not supported"
        raise RequestRefusedError(MoveItErrorCodes.INVALID_ROBOT_STATE, text)


def refuse_options(options: PlanningOptions) -> None:
    """Refuse options that are not supported.

    Raises:
        RequestRefusedError: With the name of the field.
    """
    for name in ("look_around", "replan"):
        if getattr(options, name):
            text = f"planning_options.{name}: a motion is planned once; set it to false"
            raise RequestRefusedError(MoveItErrorCodes.FAILURE, text)
    field = _first_set(options.planning_scene_diff, PlanningScene())
    if field:
        text = f"planning_options.planning_scene_diff: {field} is not supported"
        raise RequestRefusedError(MoveItErrorCodes.FAILURE, text)


def _first_set(given: Any, blank: Any, inside: str = "") -> str:
    """Return the name of the first field of a planning_scene_diff that is not blank; or nothing."""
    for name in given.get_fields_and_field_types():
        one, other, field = getattr(given, name), getattr(blank, name), inside + name
        if name == "header" or field in DIFF_LABELS or one == other:
            continue
        if not hasattr(one, "get_fields_and_field_types"):
            return field
        if within := _first_set(one, other, f"{field}."):
            return within
    return ""


def is_straight(request: MotionPlanRequest) -> bool:
    """Return whether the link is to move on a straight line, by Pilz's names of planners.

    Raises:
        RequestRefusedError: PLANNING_FAILED: on another curve.
    """
    planner = request.planner_id.upper()
    if planner == "CIRC":
        text = "planner_id: CIRC is not supported; LIN, PTP and the joints' path are"
        raise RequestRefusedError(MoveItErrorCodes.PLANNING_FAILED, text)
    return planner == "LIN"


class JointTarget(NamedTuple):
    """Where the joints of an arm are to be."""

    positions: FloatArray
    """All of them (n,) [rad or m]."""


@dataclass(frozen=True)
class PoseTarget:
    """Where a point of a link is to be, and how it is to be turned.

    Attributes:
        chain: From the arm's root to the point.
        own: Places of its joints among the arm's.
        root_T_target: Middle of the region, and the wanted rotation.
        position: Whether the position counts.
        orientation: Whether the orientation counts.
        root_T_region: Axes of the region.
        box: Half its sizes along these axes [m]; infinite for a sphere.
        radius: Of a sphere [m]; infinite for a box.
        turn: Largest angles about the target's axes [rad].
        rotation_vector: Whether they bound the rotation vector, instead of Euler's angles x, y, z.
        start: The seed, and joint constraints as bounds.
    """

    chain: Chain
    own: list[int]
    root_T_target: RigidTransform
    position: bool
    orientation: bool
    root_T_region: RigidTransform
    box: FloatArray
    radius: float
    turn: FloatArray
    rotation_vector: bool
    start: Start

    def searches(self, exact: float) -> list[PoseConstraint]:
        """Return what to search for: first the middle, then anything within the tolerances.

        Args:
            exact: Smaller tolerances than this [m or rad] are none.
        """
        free = np.where(self.turn >= math.pi, np.inf, 0.0)
        turns = self.orientation and not np.isinf(free).all()
        found = [self._constraint(np.zeros(3), free, turns)]
        for inner in SEARCHED_SHARES:
            box = inner * self._box_about_target() if self.position else np.zeros(3)
            turn = np.maximum(free, inner * self.turn)
            if (box > exact).any() or (turns and (turn[free == 0.0] > exact).any()):
                found.append(self._constraint(box, turn, turns))
        return found

    def solutions(
        self, positions: FloatArray, exact: tuple[float, float], scene: Scene | None
    ) -> Iterator[tuple[Solution, FloatArray, bool]]:
        """Yield each search's solution, the arm's positions (n,), and whether they keep tolerances.

        Args:
            positions: The arm's other joints are there (n,) [rad or m].
            exact: Tolerances of a solution [m] and [rad].
            scene: What it must not collide with; None: nothing.

        Raises:
            SolveArgumentError: A search cannot be made.
        """
        for constraint in self.searches(max(exact)):
            found = solve(
                self.chain,
                self.root_T_target,
                self.start.seed,
                constraint=constraint,
                max_move=self.start.max_move,
                position_tolerance=exact[0],
                orientation_tolerance=exact[1],
                scene=scene,
            )
            yield found, *self.placed(found, positions, max(exact))

    def all_solutions(self, exact: tuple[float, float], scene: Scene | None) -> Iterable[Solution]:
        """Return all solutions for the middle; arguments as of `solutions`."""
        return solve_all(
            self.chain,
            self.root_T_target,
            self.start.seed,
            constraint=self.searches(max(exact))[0],
            position_tolerance=exact[0],
            orientation_tolerance=exact[1],
            scene=scene,
        )

    def placed(
        self, solution: Solution, positions: FloatArray, exact: float
    ) -> tuple[FloatArray, bool]:
        """Return the arm's positions with a solution (n,), and whether they keep all tolerances."""
        whole = positions.copy()
        whole[self.own] = solution.positions
        return whole, solution.success and self.is_met(whole, 2.0 * exact)

    def _box_about_target(self) -> FloatArray:
        """Return half the sizes of a box within the region, along the target's axes (3,) [m]."""
        along = np.abs(self.root_T_target.rotation.T @ self.root_T_region.rotation)
        if math.isinf(self.radius) and np.allclose(
            along, along.round(), rtol=0.0, atol=PARALLEL_COSINE
        ):
            box: FloatArray = along.round() @ self.box
            return box
        # A cube in a sphere, or in a box that is turned, fits with any axes.
        return np.full(3, min(self.radius, float(self.box.min())) / math.sqrt(3.0))

    def _constraint(self, box: FloatArray, turn: FloatArray, turns: bool) -> PoseConstraint:
        return PoseConstraint(
            position=self.position,
            orientation=turns,
            box=box if self.position else (0.0, 0.0, 0.0),
            rotation_box=turn if turns else (0.0, 0.0, 0.0),
        )

    def is_met(self, positions: FloatArray, exact: float) -> bool:
        """Return whether the arm's joints (n,) keep all tolerances, or `exact` if that is more."""
        root_T_point = self.chain.forward(positions[self.own])
        if self.position:
            off = (self.root_T_region.inverse() @ root_T_point).translation
            if not (np.abs(off) <= np.maximum(self.box, exact)).all():
                return False
            if not float(np.linalg.norm(off)) <= max(self.radius, exact):
                return False
        if not self.orientation:
            return True
        left = self.root_T_target.inverse() @ root_T_point
        turn = left.log()[3:] if self.rotation_vector else euler_xyz(left.matrix[:3, :3])
        return bool((np.abs(turn) <= np.maximum(self.turn, exact)).all())


def euler_xyz(rotation: FloatArray) -> FloatArray:
    """Return the angles (3,) [rad] about x, y and z, each about the axis turned before."""
    y = math.asin(min(max(float(rotation[0, 2]), -1.0), 1.0))
    x = math.atan2(-float(rotation[1, 2]), float(rotation[2, 2]))
    z = math.atan2(-float(rotation[0, 1]), float(rotation[0, 0]))
    return np.array([x, y, z])


class GoalReader:
    """Reads the goals of requests for one arm.

    Args:
        groups: Finds chains of links.
        arm: The arm.
        locate: Returns poses of frames.
        positions: Positions of the robot's joints at the start, by name [rad or m].
        start: Those of the arm (n,).
    """

    def __init__(
        self,
        groups: Groups,
        arm: Arm,
        locate: Locate,
        positions: Mapping[str, float],
        start: FloatArray,
    ) -> None:
        self._groups, self._arm, self._locate = groups, arm, locate
        self._positions, self._start = positions, start

    def read(self, goals: list[Constraints]) -> list[JointTarget | PoseTarget]:
        """Return the targets of goals, any of which may be reached.

        Raises:
            RequestRefusedError: With the name of the field.
        """
        if not goals:
            raise _bad("goal_constraints", "there are none")
        return [self._one(goal, f"goal_constraints[{k}]") for k, goal in enumerate(goals)]

    def around(
        self, constraints: Constraints, link: str, root_T_pose: RigidTransform, *, turns: bool
    ) -> PoseTarget | None:
        """Return what of a pose counts by constraints of its link; None: all of it.

        Args:
            constraints: Of a request for inverse kinematics.
            link: The link whose pose it is.
            root_T_pose: The pose, which counts where nothing else is said.
            turns: Whether its orientation counts.

        Raises:
            RequestRefusedError: With the name of the field.
        """
        field = "constraints"
        self._refuse_kinds(constraints, field)
        both = (*constraints.position_constraints, *constraints.orientation_constraints)
        if not both:
            return None
        for each in both:
            if self._arm.model.link(each.link_name or link) != link:
                raise _bad(field, f"link_name '{printable(each.link_name)}' is not {link}")
        found = self._pose(
            constraints,
            constraints.position_constraints,
            constraints.orientation_constraints,
            link,
            field,
        )
        place = found.root_T_target if found.position else root_T_pose
        rotation = found.root_T_target if found.orientation else root_T_pose
        target = RigidTransform.from_rotation_translation(rotation.rotation, place.translation)
        if not found.position:
            found = replace(found, root_T_region=root_T_pose, box=np.zeros(3), position=True)
        if not found.orientation and turns:
            found = replace(found, turn=np.zeros(3), orientation=True)
        return replace(found, root_T_target=target)

    def _refuse_kinds(self, goal: Constraints, field: str) -> None:
        """Refuse constraints that are not supported."""
        if goal.visibility_constraints:
            raise _bad(field, "visibility_constraints are not supported")
        for name in ("position", "orientation"):
            given = getattr(goal, f"{name}_constraints")
            if len(given) > 1:
                raise _bad(field, f"{name}_constraints: {len(given)} at once are not supported")

    def _one(self, goal: Constraints, field: str) -> JointTarget | PoseTarget:
        places, turns = goal.position_constraints, goal.orientation_constraints
        self._refuse_kinds(goal, field)
        if not places and not turns:
            if not goal.joint_constraints:
                raise _bad(field, "it has no constraints")
            return self._joints(goal, field)
        links = {each.link_name or self._arm.chain.tip for each in (*places, *turns)}
        if len(links) > 1:
            raise _bad(field, f"position and orientation are of two links: {sorted(links)}")
        return self._pose(goal, places, turns, links.pop(), field)

    def _held(self, goal: Constraints, chain: Chain, seed: FloatArray, field: str) -> Start:
        """Return the start of a search that keeps a goal's joint constraints."""
        inside = np.minimum(np.maximum(seed, chain.lower), chain.upper)
        try:
            return hold(Constraints(joint_constraints=goal.joint_constraints), chain, inside)
        except RequestRefusedError as error:
            raise RequestRefusedError(error.code, f"{field}: {error}") from None

    def _joints(self, goal: Constraints, field: str) -> JointTarget:
        """Return the wanted positions, or the nearest within tolerances and limits."""
        chain = self._arm.chain
        held = self._held(goal, chain, self._start, field)
        assert held.max_move is not None  # there are joint constraints
        positions = held.seed.copy()
        for each in goal.joint_constraints:
            k = chain.joint_names.index(each.joint_name)
            turns = round((positions[k] - each.position) / math.tau) if chain.continuous[k] else 0
            wanted, room = each.position + turns * math.tau, held.max_move[k]
            low, high = held.seed[k] - room, held.seed[k] + room
            wanted = min(max(wanted, low), high)
            positions[k] = min(max(wanted, chain.lower[k]), chain.upper[k])
        return JointTarget(positions)

    def _pose(
        self,
        goal: Constraints,
        places: list[PositionConstraint],
        turns: list[OrientationConstraint],
        link: str,
        field: str,
    ) -> PoseTarget:
        chain = self._groups.chain_to(self._arm, self._arm.model.link(link))
        own = [self._arm.chain.joint_names.index(name) for name in chain.joint_names]
        start = self._held(goal, chain, self._start[own], field)
        root_T_region, box, radius = RigidTransform.identity(), np.full(3, np.inf), np.inf
        rotation, turn, rotation_vector = RigidTransform.identity(), np.full(3, np.inf), False
        if places:
            name = f"{field}: position_constraints[0]"
            o = places[0].target_point_offset
            if not all(map(math.isfinite, (o.x, o.y, o.z))):
                raise _bad(name, "target_point_offset is not finite")
            if any((o.x, o.y, o.z)):
                chain = chain.with_tool(
                    CONSTRAINED_POINT, RigidTransform.from_rpy(0, 0, 0, [o.x, o.y, o.z])
                )
            region, box, radius = _region(places[0], name)
            root_T_region = self._frame(chain, places[0].header) @ region
        if turns:
            name = f"{field}: orientation_constraints[0]"
            frame_T_target = pose_value(Pose(orientation=turns[0].orientation))
            if isinstance(frame_T_target, Refused):
                raise _bad(name, str(frame_T_target))
            rotation = self._frame(chain, turns[0].header) @ frame_T_target
            turn, rotation_vector = _turn(turns[0], name)
        target = RigidTransform.from_rotation_translation(
            rotation.rotation, root_T_region.translation
        )
        return PoseTarget(
            chain, own, target, bool(places), bool(turns), root_T_region, box, radius, turn,
            rotation_vector, start,
        )  # fmt: skip

    def _frame(self, chain: Chain, header: Header) -> RigidTransform:
        return self._locate(chain.root, header, self._positions)


def _region(constraint: PositionConstraint, name: str) -> tuple[RigidTransform, FloatArray, float]:
    """Return pose, half the sizes of a box, and the radius of a region."""
    region = constraint.constraint_region
    meshes = region.meshes or region.mesh_poses
    if meshes or len(region.primitives) != 1 or len(region.primitive_poses) != 1:
        raise _bad(name, "constraint_region: one sphere or one box with its pose is supported")
    pose = pose_value(_upright(region.primitive_poses[0]))
    if isinstance(pose, Refused):
        raise _bad(name, f"constraint_region: {pose}")
    shape, sizes = region.primitives[0].type, list(region.primitives[0].dimensions)
    count = {SolidPrimitive.SPHERE: 1, SolidPrimitive.BOX: 3}.get(shape)
    if count is None or region.primitives[0].polygon.points:
        raise _bad(name, "constraint_region: a sphere or a box is supported, no other shape")
    if len(sizes) != count or not all(0.0 <= size < math.inf for size in sizes):
        text = f"constraint_region: dimensions are {sizes}, not {count} lengths of 0 or more"
        raise _bad(name, text)
    if shape == SolidPrimitive.SPHERE:
        return pose, np.full(3, np.inf), float(sizes[0])
    return pose, 0.5 * np.array(sizes), math.inf


def _upright(pose: Pose) -> Pose:
    """Return a pose whose orientation, if it is all zero, is none: clients leave it out."""
    q = pose.orientation
    if not any((q.x, q.y, q.z, q.w)):
        return Pose(position=pose.position)
    return pose


def _turn(constraint: OrientationConstraint, name: str) -> tuple[FloatArray, bool]:
    """Return the largest angles (3,), and whether they bound the rotation vector."""
    angles = [getattr(constraint, f"absolute_{axis}_axis_tolerance") for axis in "xyz"]
    if not all(angle >= 0.0 for angle in angles):
        raise _bad(name, f"tolerances are {angles}, not three angles of 0 or more")
    kinds = (OrientationConstraint.XYZ_EULER_ANGLES, OrientationConstraint.ROTATION_VECTOR)
    if constraint.parameterization not in kinds:
        raise _bad(name, f"parameterization: {constraint.parameterization} is unknown")
    return np.array(angles), constraint.parameterization == OrientationConstraint.ROTATION_VECTOR


def _bad(field: str, text: str) -> RequestRefusedError:
    return RequestRefusedError(MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS, f"{field}: {text}")
