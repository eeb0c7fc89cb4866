"""A request for several links at once, compute_ik with `pose_stamped_vector`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moveit_msgs.msg import MoveItErrorCodes

from basis_ik.errors import SolveArgumentError
from basis_ik.model.robot import RobotModel
from basis_ik.ros.kinematics.robot_state import RequestRefusedError, error_code
from basis_ik.ros.parameters import Parameters
from basis_ik.solvers.pose_constraint import PoseConstraint
from basis_ik.solvers.solve_tasks import solve_tasks
from basis_ik.solvers.task_problem import PoseTask
from basis_ik.solvers.verdict import Verdict
from basis_ik.transforms.rigid import RigidTransform


def solve_several(
    model: RobotModel,
    root: str,
    links: Sequence[str],
    targets: Sequence[RigidTransform],
    positions: Mapping[str, float],
    parameters: Parameters,
) -> tuple[dict[str, float], MoveItErrorCodes]:
    """Bring several links to their poses, all equally important.

    The search ends by its own budget, not by a timeout.

    Args:
        model: The robot.
        root: Link in whose frame the targets are; joints before it stay as they are.
        links: Which links.
        targets: root_T_target of each.
        positions: Where joints are; the start of the search.
        parameters: The node's.

    Returns:
        Positions of the joints that move the links, and what to answer.

    Raises:
        RequestRefusedError: A target that no solver takes.
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
    text = "; ".join(
        f"{link}: {outcome.reason}"
        for link, outcome in zip(links, found.outcomes, strict=True)
        if outcome.verdict is not Verdict.REACHED
    )
    if found.success:
        return found.positions, error_code(MoveItErrorCodes.SUCCESS, "")
    if parameters["approximate_solutions"]:
        return found.positions, error_code(MoveItErrorCodes.SUCCESS, f"approximate: {text}")
    return found.positions, error_code(MoveItErrorCodes.NO_IK_SOLUTION, text)
