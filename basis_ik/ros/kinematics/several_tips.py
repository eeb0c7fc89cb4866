# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Requests for several links at once: compute_ik with `pose_stamped_vector`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moveit_msgs.msg import MoveItErrorCodes

from basis_ik.errors import SolveArgumentError
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.kinematics.robot_state import RequestRefusedError, error_code
from basis_ik.ros.parameters.parameters import Parameters
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.tasks.solve_tasks import TasksSolution, solve_tasks
from basis_ik.solvers.tasks.task_problem import PoseTask
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict


def solve_several(
    model: RobotModel,
    root: str,
    links: Sequence[str],
    targets: Sequence[RigidTransform],
    positions: Mapping[str, float],
    parameters: Parameters,
) -> tuple[dict[str, float], MoveItErrorCodes]:
    """Solve for the poses of several links, all with equal priority.

    The search ends by its own budget, not by a timeout.

    Args:
        model: The robot.
        root: Reference link of the targets; joints above it are not moved.
        links: The links.
        targets: root_T_target of each.
        positions: Positions of the joints; the seed of the search.
        parameters: The node's parameters.

    Returns:
        Positions of the joints that move the links, and the error code.

    Raises:
        RequestRefusedError: A target is invalid.
    """
    constraint = PoseConstraint(orientation=False) if parameters["position_only_ik"] else None
    tasks = [PoseTask(link, goal, constraint) for link, goal in zip(links, targets, strict=True)]
    try:
        found = solve_tasks(
            model,
            tasks,
            positions,
            root=root,
            position_tolerance=parameters["position_threshold"],
            orientation_tolerance=parameters["orientation_threshold"],
        )
    except SolveArgumentError as error:
        code = MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS
        raise RequestRefusedError(code, f"pose_stamped_vector: {error}") from None
    return found.positions, _result(found, links, approximate=parameters["approximate_solutions"])


def _result(found: TasksSolution, links: Sequence[str], *, approximate: bool) -> MoveItErrorCodes:
    if found.success:
        return error_code(MoveItErrorCodes.SUCCESS, "")
    text = "; ".join(
        f"{link}: {outcome.reason}"
        for link, outcome in zip(links, found.outcomes, strict=True)
        if outcome.verdict is not Verdict.REACHED
    )
    if approximate:
        return error_code(MoveItErrorCodes.SUCCESS, f"approximate: {text}")
    return error_code(MoveItErrorCodes.NO_IK_SOLUTION, text)
