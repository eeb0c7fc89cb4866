"""Inverse kinematics for any ROS 2 arm: full poses, points to look at, FABRIK.

Everything that is imported from here is loaded on first use: `import basis_ik` itself loads neither
numpy nor the compiler, and nothing of this imports ROS.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from basis_ik.errors import BasisIkError as BasisIkError
    from basis_ik.model.chain import Chain as Chain
    from basis_ik.model.robot import RobotModel as RobotModel
    from basis_ik.solvers.batch import solve_batch as solve_batch
    from basis_ik.solvers.look_at import look_at as look_at
    from basis_ik.solvers.path import arc as arc
    from basis_ik.solvers.path import follow as follow
    from basis_ik.solvers.path import line as line
    from basis_ik.solvers.pose_constraint import PoseConstraint as PoseConstraint
    from basis_ik.solvers.prefer import solve_pole as solve_pole
    from basis_ik.solvers.prefer import solve_posture as solve_posture
    from basis_ik.solvers.solve import Solution as Solution
    from basis_ik.solvers.solve import solve as solve
    from basis_ik.solvers.solve_all import Preference as Preference
    from basis_ik.solvers.solve_all import solve_all as solve_all
    from basis_ik.solvers.solve_tasks import solve_tasks as solve_tasks
    from basis_ik.solvers.task_problem import LookTask as LookTask
    from basis_ik.solvers.task_problem import PoseTask as PoseTask
    from basis_ik.solvers.track import track as track
    from basis_ik.solvers.verdict import Verdict as Verdict
    from basis_ik.transforms.rigid import RigidTransform as RigidTransform

__version__ = "0.1.0"

_HOME = {
    "BasisIkError": "errors",
    "Chain": "model.chain",
    "LookTask": "solvers.task_problem",
    "PoseConstraint": "solvers.pose_constraint",
    "PoseTask": "solvers.task_problem",
    "Preference": "solvers.solve_all",
    "RigidTransform": "transforms.rigid",
    "RobotModel": "model.robot",
    "Solution": "solvers.solve",
    "Verdict": "solvers.verdict",
    "arc": "solvers.path",
    "follow": "solvers.path",
    "line": "solvers.path",
    "look_at": "solvers.look_at",
    "solve": "solvers.solve",
    "solve_all": "solvers.solve_all",
    "solve_batch": "solvers.batch",
    "solve_pole": "solvers.prefer",
    "solve_posture": "solvers.prefer",
    "solve_tasks": "solvers.solve_tasks",
    "track": "solvers.track",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
