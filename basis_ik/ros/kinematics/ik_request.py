# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reads a PositionIKRequest."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import Constraints, JointConstraint, MoveItErrorCodes, PositionIKRequest

from basis_ik.arm.admission import printable
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.ros.kinematics.robot_state import RequestRefusedError
from basis_ik.verdict import Reason, Verdict

NARROWEST_RANGE = 1e-9  # half the range of a joint that is held at one position [rad or m]


class Start(NamedTuple):
    """The seed of a search (n,), and the largest distance of each joint from it; None: no bound."""

    seed: FloatArray
    max_move: FloatArray | None


def requested_poses(request: PositionIKRequest) -> list[tuple[str, PoseStamped]]:
    """Return links and their target poses; a single link may be empty, for the chain's tip.

    As in MoveIt, `pose_stamped_vector` takes precedence over `pose_stamped`.

    Raises:
        RequestRefusedError: The numbers of poses and links differ, or a link has no pose.
    """
    poses, links = list(request.pose_stamped_vector), list(request.ik_link_names)
    if not poses and not links:
        return [(request.ik_link_name, request.pose_stamped)]
    if request.ik_link_name not in ("", *links):
        text = "ik_link_name: ik_link_names are those of pose_stamped_vector, without it"
        raise RequestRefusedError(MoveItErrorCodes.INVALID_LINK_NAME, text)
    if len(poses) == 1 and len(links) <= 1:
        return [("".join(links), poses[0])]
    if len(links) != len(poses) or "" in links:
        text = f"pose_stamped_vector has {len(poses)} poses: ik_link_names must name as many links"
        raise RequestRefusedError(MoveItErrorCodes.INVALID_LINK_NAME, text)
    if request.constraints != Constraints():
        raise _bad_constraint("they are supported for one pose, not for several at once")
    return list(zip(links, poses, strict=True))


def refuse_attached(request: PositionIKRequest) -> None:
    """Refuse objects in the robot's hand that are to be compared, and that the scene has not.

    Raises:
        RequestRefusedError: INVALID_ROBOT_STATE.
    """
    if request.avoid_collisions and request.robot_state.attached_collision_objects:
        text = "robot_state: attached_collision_objects are not supported; attach them in the scene"
        raise RequestRefusedError(MoveItErrorCodes.INVALID_ROBOT_STATE, text)


def seconds(timeout: Duration) -> float:
    """Return a timeout [s].

    Raises:
        RequestRefusedError: FAILURE: it is negative.
    """
    value = timeout.sec + 1e-9 * timeout.nanosec
    if value < 0.0:
        raise RequestRefusedError(MoveItErrorCodes.FAILURE, f"timeout: {value} s is negative")
    return float(value)


def hold(constraints: Constraints, chain: Chain, seed: FloatArray) -> Start:
    """Return the start of a search that satisfies joint constraints.

    Args:
        constraints: Constraints of a request; others than those of joints do not count.
        chain: The chain to solve for.
        seed: The seed without constraints (n,).

    Raises:
        RequestRefusedError: INVALID_GOAL_CONSTRAINTS, with the name of the constraint.
    """
    if not constraints.joint_constraints:
        return Start(seed, None)
    lower, upper = chain.lower.copy(), chain.upper.copy()
    for constraint in constraints.joint_constraints:
        k = _narrow(constraint, chain, seed, lower, upper)
        if not lower[k] <= upper[k]:
            name = constraint.joint_name
            raise _bad_constraint(f"joint '{name}' has no position within its limits")
    given = sorted({chain.joint_names.index(c.joint_name) for c in constraints.joint_constraints})
    start, max_move = seed.copy(), np.full(len(seed), np.inf)
    start[given] = 0.5 * (lower[given] + upper[given])
    max_move[given] = np.maximum(0.5 * (upper[given] - lower[given]), NARROWEST_RANGE)
    return Start(start, max_move)


def told(reason: Reason) -> str:
    """Return why a search failed that began with a `Start`: only joint constraints bound moves."""
    bound = reason.verdict is Verdict.MOVE_BOUND or reason.elsewhere
    return f"joint_constraints: {reason}" if bound else str(reason)


def _narrow(
    constraint: JointConstraint,
    chain: Chain,
    seed: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> int:
    """Narrow the limits of a constraint's joint; return the joint's index."""
    name = constraint.joint_name
    if name not in chain.joint_names:
        raise _bad_constraint(
            f"joint '{printable(name)}' is not one of {', '.join(chain.joint_names)}"
        )
    k = chain.joint_names.index(name)
    position, below, above = (
        constraint.position,
        constraint.tolerance_below,
        constraint.tolerance_above,
    )
    if not (math.isfinite(position) and 0.0 <= below < math.inf and 0.0 <= above < math.inf):
        raise _bad_constraint(f"joint '{name}': a number is negative or not finite")
    if chain.continuous[k]:  # choose the turn nearest to the seed
        position += math.tau * round((seed[k] - position) / math.tau)
    lower[k] = max(lower[k], position - below)
    upper[k] = min(upper[k], position + above)
    return k


def _bad_constraint(text: str) -> RequestRefusedError:
    return RequestRefusedError(MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS, f"constraints: {text}")
