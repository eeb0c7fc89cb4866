# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Plans motions: straight in the joints, straight for a link, or for what two hands hold.

Nothing is planned around obstacles. If the joints' straight way to the nearest solution of a pose
is blocked, the others are tried; what collides on its way is refused, with the names.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import MotionPlanRequest, MoveItErrorCodes

from basis_ik.arm.admission import Refused, admit_distance
from basis_ik.arm.arm import Arm
from basis_ik.arm.free_way import Ways
from basis_ik.arm.given_motion import MotionRefusedError, at_times, keep_limits
from basis_ik.arm.limiter import Motion
from basis_ik.arm.path_timing import time_path
from basis_ik.collision.collision_scene import Scene
from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain, turning_link
from basis_ik.ros.convert import pose_value
from basis_ik.ros.kinematics.groups import Groups
from basis_ik.ros.kinematics.ik_request import told
from basis_ik.ros.kinematics.motion_request import (
    GoalReader,
    JointTarget,
    Locate,
    PoseTarget,
    is_straight,
    refuse_unsupported,
)
from basis_ik.ros.kinematics.path_request import (
    PATH_TOLERANCE,
    POSE_STEP,
    largest_moves,
    scaled_limits,
    start_of,
    straight_lines,
)
from basis_ik.ros.kinematics.robot_state import RequestRefusedError, positions_in
from basis_ik.ros.kinematics.scenes import Scenes
from basis_ik.solvers.path.cartesian_path import follow
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

CHECKED_MOVE = 0.1  # of the largest moves on a path, between two checks for collisions
# Poses of what two hands hold come closer [m], until the hands stay together to [m, rad]. Samples
# of their motion [s] tell whether they do.
HAND_STEPS = POSE_STEP / np.array([1.0, 2.0, 4.0, 8.0, 16.0])
HANDS_TOGETHER = np.array([5e-5, 1e-3])
HANDS_PERIOD = 0.004
LINE_END_TOLERANCE = 1e-4  # [rad or m] between a line's end and the positions it leads to


class Plan(NamedTuple):
    """A planned motion."""

    arm: Arm
    """Whose."""
    positions: dict[str, float]
    """Positions of the robot's joints at its start [rad or m]."""
    motion: Motion
    """The motion, which keeps all limits."""
    text: str
    """What was not checked; or empty."""
    took: float
    """Time that the planning took [s]."""


class Hand(NamedTuple):
    """One end of an arm's chain that turns."""

    chain: Chain
    """From the link in which it turns to that end."""
    own: list[int]
    """Places of its joints among the arm's."""


class HeldTarget(NamedTuple):
    """Where the tool is to be, and all that both ends of a chain hold with it."""

    hands: tuple[Hand, Hand]
    """At the chain's tip, and at its root."""
    tip_T_tool: RigidTransform
    """The pose of the tool."""
    turn_T_target: RigidTransform
    """The wanted pose of the tool, in the link in which the chain turns."""


@dataclass(frozen=True)
class Problem:
    """A motion to plan; all that is asked of the node is known.

    Attributes:
        arm: The arm.
        positions: Positions of the robot's joints at the start, by name [rad or m].
        start: Those of the arm (n,).
        targets: Any of them is to be reached.
        straight: Whether the link moves on a straight line.
        limits: Limits of the motion, as from `MotionLimits.scaled`.
        exact: Tolerances of a solution [m] and [rad].
        scenes: Where collisions are looked for; None: nowhere.
        text: What is not checked; or empty.
    """

    arm: Arm
    positions: dict[str, float]
    start: FloatArray
    targets: Sequence[JointTarget | PoseTarget | HeldTarget]
    straight: bool
    limits: FloatArray
    exact: tuple[float, float]
    scenes: Scenes | None
    text: str

    def solve(self) -> Plan:
        """Return the motion to the first target to which one leads; any thread may do it.

        Raises:
            RequestRefusedError: There is none; why the first target has none.
        """
        began, refused = time.perf_counter(), None
        scene = None
        if self.scenes is not None:
            scene = self.scenes.of(self.arm.chain, self.positions)
            if struck := scene.collisions(self.start):
                raise RequestRefusedError(
                    MoveItErrorCodes.START_STATE_IN_COLLISION, f"start: {struck[0]}"
                )
        for target in self.targets:
            try:
                motion = self._motion(target, scene)
            except RequestRefusedError as error:
                refused = refused or error
            else:
                took = time.perf_counter() - began
                return Plan(self.arm, self.positions, motion, self.text, took)
        assert refused is not None
        raise refused

    def _motion(self, target: JointTarget | PoseTarget | HeldTarget, scene: Scene | None) -> Motion:
        if isinstance(target, HeldTarget):
            return self._held(target, scene)
        if self.straight:
            return self._timed(self._line(target), scene)
        goal = self._goal(target)
        try:
            return self._timed(np.stack([self.start, goal]), scene)
        except RequestRefusedError:
            other = None if scene is None else self._goal_with_free_way(target, scene)
            if other is None:
                raise
            return self._timed(np.stack([self.start, other]), scene)

    def _goal_with_free_way(
        self, target: JointTarget | PoseTarget, scene: Scene
    ) -> FloatArray | None:
        """Return other positions at a pose (n,), to which the joints can move straight; or None."""
        if not isinstance(target, PoseTarget) or target.start.max_move is not None:
            return None
        if target.own != list(range(len(self.start))):  # the others of the arm's joints stay
            return None
        ways = Ways(self.arm.chain, self.arm.limits, scene, self.start)
        other = ways.first_free(target.all_solutions(self.exact, scene))
        return None if other is None else other.positions

    def _timed(self, rows: FloatArray, scene: Scene | None) -> Motion:
        """Return the motion along positions (m, n)."""
        if scene is not None:
            self._check_collisions(rows, scene)
        try:
            motion = time_path(rows, self.limits)
            return keep_limits(motion, self.arm.limits, self.arm.chain.joint_names)
        except MotionRefusedError as error:
            raise RequestRefusedError(MoveItErrorCodes.INVALID_MOTION_PLAN, str(error)) from None

    def _goal(self, target: JointTarget | PoseTarget) -> FloatArray:
        """Return the arm's positions at a target (n,)."""
        if isinstance(target, JointTarget):
            return target.positions
        scene = None if self.scenes is None else self.scenes.of(target.chain, self.positions)
        failure = None
        try:
            for found, goal, keeps in target.solutions(self.start, self.exact, scene):
                if keeps:
                    return goal
                if not found.success:
                    failure = failure or found
        except SolveArgumentError as error:
            code = MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS
            raise RequestRefusedError(code, f"goal_constraints: {error}") from None
        collides = failure is not None and failure.verdict is Verdict.COLLISION
        code = MoveItErrorCodes.GOAL_IN_COLLISION if collides else MoveItErrorCodes.NO_IK_SOLUTION
        why = "no solution within the tolerances" if failure is None else told(failure.reason)
        raise RequestRefusedError(code, f"goal_constraints: {why}")

    def _line(self, target: JointTarget | PoseTarget) -> FloatArray:
        """Return positions (m, n) along the straight line to a target."""
        chain, own = self.arm.chain, list(range(len(self.start)))
        if isinstance(target, PoseTarget):
            chain, own = target.chain, target.own
        here = chain.forward(self.start[own])
        if isinstance(target, JointTarget):
            there = chain.forward(target.positions)
        else:  # what is free stays as it is
            turned = target.root_T_target if target.orientation else here
            placed = target.root_T_target if target.position else here
            there = RigidTransform.from_rotation_translation(turned.rotation, placed.translation)
        found = self._along(chain, own, straight_lines(here, [there], POSE_STEP).poses)
        rows = np.tile(self.start, (1 + len(found), 1))
        rows[1:, own] = found
        if isinstance(target, JointTarget):
            k = int(np.abs(rows[-1] - target.positions).argmax())
            if not abs(rows[-1, k] - target.positions[k]) <= LINE_END_TOLERANCE:
                raise RequestRefusedError(
                    MoveItErrorCodes.PLANNING_FAILED,
                    f"the straight line ends with {chain.joint_names[k]} at {rows[-1, k]:.4g}, not "
                    f"{target.positions[k]:.4g}: the joints' path (PTP) leads there",
                )
        elif target.start.max_move is not None:
            off = np.abs(rows[-1, own] - target.start.seed) - target.start.max_move
            if not (off <= LINE_END_TOLERANCE).all():
                name = chain.joint_names[int(off.argmax())]
                text = f"the straight line ends with {name} outside its joint constraint"
                raise RequestRefusedError(MoveItErrorCodes.PLANNING_FAILED, text)
        return rows

    def _held(self, target: HeldTarget, scene: Scene | None) -> Motion:
        """Return the motion along the straight line of what both hands hold.

        Between two poses the joints do not keep the hands together: the closer the poses, the less
        they are off.
        """
        here = [chain.forward(self.start[own]) for chain, own in target.hands]
        tool = here[0] @ target.tip_T_tool
        off = np.zeros(2)
        for step in HAND_STEPS:
            way = straight_lines(tool, [target.turn_T_target], step)
            rows = np.tile(self.start, (1 + len(way.poses), 1))
            for (chain, own), hand in zip(target.hands, here, strict=True):
                tool_T_hand = tool.inverse() @ hand
                rows[1:, own] = self._along(chain, own, [pose @ tool_T_hand for pose in way.poses])
            motion = self._timed(rows, scene)
            off = self._apart(target, motion)
            if (off <= HANDS_TOGETHER).all():
                return motion
        text = (
            f"the hands would be {1e3 * off[0]:.2g} mm and {np.degrees(off[1]):.2g}° off each other"
        )
        raise RequestRefusedError(MoveItErrorCodes.PLANNING_FAILED, text)

    def _apart(self, target: HeldTarget, motion: Motion) -> FloatArray:
        """Return how far the hands are off each other at most, [m] and [rad]."""
        count = 1 + int(np.ceil(motion.times[-1] / HANDS_PERIOD))
        way = at_times(motion, np.linspace(0.0, motion.times[-1], count))[0]
        (chain, own), (other, others) = target.hands
        hand_T_other = chain.forward(way[0, own]).inverse() @ other.forward(way[0, others])
        most = np.zeros(2)
        for row in way:
            wanted = chain.forward(row[own]) @ hand_T_other
            off = (wanted.inverse() @ other.forward(row[others])).log()
            most = np.maximum(most, [np.linalg.norm(off[:3]), np.linalg.norm(off[3:])])
        return most

    def _along(self, chain: Chain, own: list[int], poses: Sequence[RigidTransform]) -> FloatArray:
        """Return positions (m, k) of a chain at poses (m), from the start on."""
        path = follow(
            chain, poses, self.start[own], max_move=largest_moves(chain), from_seed=True,
            position_tolerance=PATH_TOLERANCE, orientation_tolerance=PATH_TOLERANCE,
        )  # fmt: skip
        if not path.success:
            text = f"the straight line of {chain.tip} ends after {path.fraction:.0%}: {path.reason}"
            raise RequestRefusedError(MoveItErrorCodes.NO_IK_SOLUTION, text)
        return path.positions

    def _check_collisions(self, rows: FloatArray, scene: Scene) -> None:
        """Refuse a way on which the arm strikes itself."""
        if struck := scene.collisions(rows[-1]):
            raise RequestRefusedError(MoveItErrorCodes.GOAL_IN_COLLISION, f"goal: {struck[0]}")
        most = CHECKED_MOVE * largest_moves(self.arm.chain)
        for k, (one, other) in enumerate(itertools.pairwise(rows)):
            count = max(int(np.ceil((np.abs(other - one) / most).max())), 1)
            for part in range(1, count + 1):
                if struck := scene.collisions(one + (other - one) * (part / count)):
                    done = (k + part / count) / (len(rows) - 1)
                    text = f"after {done:.0%} of the way {struck[0]}; nothing is planned around it"
                    raise RequestRefusedError(MoveItErrorCodes.INVALID_MOTION_PLAN, text)


class MotionPlanner:
    """Reads requests for motions.

    Args:
        groups: Finds arms by name.
        scenes: Their scenes.
        locate: Returns poses of frames.
        exact: Tolerances of solutions [m] and [rad].
    """

    def __init__(
        self,
        groups: Groups,
        scenes: Scenes,
        locate: Locate,
        exact: tuple[float, float],
    ) -> None:
        self._groups, self._scenes, self._locate, self._exact = groups, scenes, locate, exact
        self._hands: dict[str, tuple[Hand, Hand]] = {}  # by arm

    def read(
        self,
        request: MotionPlanRequest,
        measured: Mapping[str, float],
        checks: bool,
        text: str,
    ) -> Problem:
        """Return what a request asks for.

        Args:
            request: The request.
            measured: Where the robot's joints are, by name [rad or m].
            checks: Whether collisions count.
            text: What is not checked.

        Raises:
            RequestRefusedError: With the name of the field.
        """
        refuse_unsupported(request)
        arm = self._groups.arm(request.group_name)
        given = positions_in(request.start_state, arm.model, "start_state")
        positions = {**measured, **given}
        start = start_of(arm.chain, positions)
        settings = arm.settings
        limits = scaled_limits(
            arm.limits, request, settings.velocity_scaling, settings.acceleration_scaling
        )
        reader = GoalReader(self._groups, arm, self._locate, positions, start)
        targets = reader.read(list(request.goal_constraints))
        scenes = self._scenes if checks else None
        straight = is_straight(request)
        return Problem(arm, positions, start, targets, straight, limits, self._exact, scenes, text)

    def read_held(
        self, arm: Arm, pose: PoseStamped, measured: Mapping[str, float], checks: bool
    ) -> Problem:
        """Return the motion of both hands by which the tool gets to a pose, with what they hold.

        Args:
            arm: The arm, whose chain turns.
            pose: The pose of its tool.
            measured: Where the robot's joints are, by name [rad or m].
            checks: Whether collisions count.

        Raises:
            RequestRefusedError: With what is at fault.
        """
        chain, start, settings = arm.chain, start_of(arm.chain, measured), arm.settings
        frame_T_target = pose_value(pose.pose)
        if isinstance(frame_T_target, Refused):
            raise RequestRefusedError(
                MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS, str(frame_T_target)
            )
        turn, hands = self._hands_of(arm)
        turn_T_target = self._locate(turn, pose.header, measured) @ frame_T_target
        place, reach = turn_T_target.translation.tolist(), hands[0].chain.reach
        refused = admit_distance(place, reach, settings.target_max_reach)
        if refused is not None:
            raise RequestRefusedError(MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS, str(refused))
        tip_T_tool = chain.forward(start).inverse() @ arm.tool.chain.forward(start)
        targets = [HeldTarget(hands, tip_T_tool, turn_T_target)]
        limits = arm.limits.scaled(settings.velocity_scaling, settings.acceleration_scaling, 1.0)
        scenes = self._scenes if checks else None
        return Problem(arm, dict(measured), start, targets, True, limits, self._exact, scenes, "")

    def _hands_of(self, arm: Arm) -> tuple[str, tuple[Hand, Hand]]:
        """Return the link in which an arm's chain turns, and the hands at its two ends."""
        turn, chain = turning_link(arm.chain), arm.chain
        assert turn is not None
        if arm.name not in self._hands:
            found = []
            for end in (chain.tip, chain.root):
                side = arm.model.chain(turn, end)
                own = [chain.joint_names.index(name) for name in side.joint_names]
                # with the margin of their limits
                found.append(Hand(side.within(chain.lower[own], chain.upper[own]), own))
            self._hands[arm.name] = found[0], found[1]
        return turn, self._hands[arm.name]
