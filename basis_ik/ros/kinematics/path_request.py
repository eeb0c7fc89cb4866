# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reads a GetCartesianPath request, and writes its trajectory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from moveit_msgs.msg import MotionPlanRequest, MoveItErrorCodes
from moveit_msgs.srv import GetCartesianPath
from trajectory_msgs.msg import JointTrajectory

from basis_ik.arm.limiter import Motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.settings import outside
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.elements import listed
from basis_ik.ros.convert import duration_message
from basis_ik.ros.kinematics.robot_state import RequestRefusedError
from basis_ik.ros.outputs.trajectory_messages import to_point
from basis_ik.solvers.path.cartesian_path import line
from basis_ik.transforms.rigid import RigidTransform

POSE_STEP = 0.01  # [m]; poses are at most so far apart, whatever max_step allows
TURN_PER_METRE = 3.5  # [rad/m], as in MoveIt; times the step, the largest angle between poses
MOST_REQUESTED_POSES = 10_000
# [m, rad] of poses: errors that differ along a path would be accelerations.
PATH_TOLERANCE = 1e-8
# Largest moves of a joint from pose to pose; thresholds of a request can only be smaller.
MOST_POSE_TURN = 0.2  # [rad]
MOST_POSE_SHIFT = 0.05  # [m]


def check_supported(request: GetCartesianPath.Request) -> None:
    """Refuse a request with a field that is not supported, or with an invalid number.

    Raises:
        RequestRefusedError: With the name of the field.
    """
    codes = MoveItErrorCodes
    for kind in ("joint", "position", "orientation", "visibility"):
        if getattr(request.path_constraints, f"{kind}_constraints"):
            text = f"path_constraints: {kind}_constraints are not supported along a path"
            raise RequestRefusedError(codes.INVALID_GOAL_CONSTRAINTS, text)
    if request.start_state.attached_collision_objects:
        text = "start_state: attached_collision_objects are not supported; attach them in the scene"
        raise RequestRefusedError(codes.INVALID_ROBOT_STATE, text)
    if request.max_cartesian_speed != 0.0:
        raise _bad_number("max_cartesian_speed: the speeds of links are not limited; set it to 0")
    if not 0.0 < request.max_step < math.inf:
        raise _bad_number(f"max_step: {request.max_step} m must be above 0 and finite")
    for name in ("jump_threshold", "prismatic_jump_threshold", "revolute_jump_threshold"):
        if not 0.0 <= getattr(request, name) < math.inf:
            text = f"{name}: {getattr(request, name)} must be finite, and 0 (none) or above"
            raise _bad_number(text)


def scaled_limits(
    limits: MotionLimits,
    request: GetCartesianPath.Request | MotionPlanRequest,
    velocity: float = 1.0,
    acceleration: float = 1.0,
) -> FloatArray:
    """Return the limits (5, n) with a request's factors; 0 means those that are given.

    Raises:
        RequestRefusedError: A factor is not in (0, 1].
    """
    factors = request.max_velocity_scaling_factor, request.max_acceleration_scaling_factor
    for name, factor in zip(("velocity", "acceleration"), factors, strict=True):
        if not 0.0 <= factor <= 1.0:
            text = f"max_{name}_scaling_factor: {factor} must be above 0 and at most 1, or 0"
            raise _bad_number(text)
    return limits.scaled(factors[0] or velocity, factors[1] or acceleration, 1.0)


def start_of(chain: Chain, positions: Mapping[str, float]) -> FloatArray:
    """Return where a chain starts (n,) [rad or m].

    Args:
        chain: The chain.
        positions: Positions of the robot's joints, by name.

    Raises:
        RequestRefusedError: A joint is not known, or too far outside its limits.
    """
    missing = [name for name in chain.joint_names if name not in positions]
    if missing:
        raise RequestRefusedError(
            MoveItErrorCodes.ROBOT_STATE_STALE,
            f"start_state: the position of {listed(missing)} is not known; name it there",
        )
    start = np.array([positions[name] for name in chain.joint_names])
    wrong = outside(chain, (), start)
    if wrong:
        code = MoveItErrorCodes.START_STATE_INVALID
        raise RequestRefusedError(code, f"start_state: {wrong}")
    return start


def largest_moves(chain: Chain, request: GetCartesianPath.Request | None = None) -> FloatArray:
    """Return how far each joint may move from pose to pose (n,) [rad or m]."""
    shift, turn = MOST_POSE_SHIFT, MOST_POSE_TURN
    if request is not None:
        shift = min(request.prismatic_jump_threshold or MOST_POSE_SHIFT, MOST_POSE_SHIFT)
        turn = min(request.revolute_jump_threshold or MOST_POSE_TURN, MOST_POSE_TURN)
    return np.where(chain.prismatic, shift, turn)


def first_jump(rows: FloatArray, factor: float) -> int | None:
    """Return after which of the rows (k, n) the joints jump, or None.

    As in MoveIt, a jump is a move of the joints, the sum of them, that is longer than a factor
    times the mean of all moves.

    Args:
        rows: Positions [rad or m].
        factor: `jump_threshold`; 0: nothing is a jump.
    """
    moves = np.abs(np.diff(rows, axis=0)).sum(axis=1)
    if factor == 0.0:
        return None
    jumps = np.flatnonzero(moves * len(moves) > factor * moves.sum())
    return int(jumps[0]) if len(jumps) else None


@dataclass(frozen=True)
class Way:
    """Poses on straight lines through waypoints.

    Attributes:
        poses: root_T_link after the start.
        counts: How many of them lead to each waypoint, at least one.
    """

    poses: list[RigidTransform]
    counts: list[int]

    def fraction(self, reached: int) -> float:
        """Return which part of the way some poses are; as in MoveIt all waypoints count alike."""
        parts = []
        for count in self.counts:
            parts.append(min(reached, count) / count)
            reached -= min(reached, count)
        return math.fsum(parts) / len(parts)

    def place(self, reached: int) -> str:
        """Return where the way goes on after a number of poses, in words."""
        ends = np.cumsum(self.counts)
        return f"on the way to waypoints[{np.searchsorted(ends, reached, side='right')}]"


def straight_lines(start: RigidTransform, targets: Sequence[RigidTransform], step: float) -> Way:
    """Return poses from a start over targets, at most a step [m] apart.

    They turn at most `TURN_PER_METRE` times the step from each to the next.

    Raises:
        RequestRefusedError: There would be too many.
    """
    step = min(step, POSE_STEP)
    turn = TURN_PER_METRE * step
    legs = list(zip([start, *targets], targets, strict=False))
    counts = []
    for begin, end in legs:
        angle = np.linalg.norm((begin.inverse() @ end).log()[3:])
        shift = np.linalg.norm(end.translation - begin.translation)
        counts.append(max(float(shift) / step, float(angle) / turn, 1.0))
    total = sum(counts)
    if not total <= MOST_REQUESTED_POSES:
        raise _bad_number(
            f"max_step: {step:g} m makes {total:.3g} poses, and {MOST_REQUESTED_POSES} are"
            " the most; give a larger step or a shorter way"
        )
    lines = [  # most of many waypoints are a step apart
        line(*leg, step=step, turn=turn)[1:] if count > 1.0 else [leg[1]]
        for leg, count in zip(legs, counts, strict=True)
    ]
    return Way([pose for each in lines for pose in each], [len(each) for each in lines])


def trajectory_message(motion: Motion, joints: Sequence[str], frame: str) -> JointTrajectory:
    """Return a motion as a message that a controller executes as soon as it comes."""
    message = JointTrajectory(joint_names=list(joints))
    message.header.frame_id = frame
    for time, *states in zip(*motion, strict=True):
        point = to_point(*states)
        point.time_from_start = duration_message(time)
        message.points.append(point)
    return message


def _bad_number(text: str) -> RequestRefusedError:
    return RequestRefusedError(MoveItErrorCodes.FAILURE, text)
