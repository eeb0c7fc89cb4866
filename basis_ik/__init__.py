# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics for any ROS 2 arm: full poses, points to look at, FABRIK.

All names are loaded on first use: `import basis_ik` itself loads neither numpy nor the compiler,
and nothing here imports ROS.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from basis_ik.collision.collision_scene import Gap as Gap
    from basis_ik.collision.collision_scene import Scene as Scene
    from basis_ik.collision.shape import SceneError as SceneError
    from basis_ik.collision.shape import Shape as Shape
    from basis_ik.dependencies import DependencyError as DependencyError
    from basis_ik.dependencies import ExtraError as ExtraError
    from basis_ik.errors import BasisIkError as BasisIkError
    from basis_ik.errors import SolveArgumentError as SolveArgumentError
    from basis_ik.robot.chain import Chain as Chain
    from basis_ik.robot.chain_kernel import ChainArrays as ChainArrays
    from basis_ik.robot.elements import UrdfError as UrdfError
    from basis_ik.robot.joint_path import ChainError as ChainError
    from basis_ik.robot.placement import UnknownPositionError as UnknownPositionError
    from basis_ik.robot.robot import RobotModel as RobotModel
    from basis_ik.robot.urdf import Joint as Joint
    from basis_ik.robot.urdf import Mimic as Mimic
    from basis_ik.robot.visuals import Visual as Visual
    from basis_ik.search.distance_residual_kernel import DistanceTask as DistanceTask
    from basis_ik.search.pose_constraint import PoseConstraint as PoseConstraint
    from basis_ik.search.prepared_chain import OutsideLimitsError as OutsideLimitsError
    from basis_ik.solvers.look.look_at import look_at as look_at
    from basis_ik.solvers.path.cartesian_path import PathSolution as PathSolution
    from basis_ik.solvers.path.cartesian_path import arc as arc
    from basis_ik.solvers.path.cartesian_path import follow as follow
    from basis_ik.solvers.path.cartesian_path import line as line
    from basis_ik.solvers.pose.batch import BatchSolution as BatchSolution
    from basis_ik.solvers.pose.batch import solve_batch as solve_batch
    from basis_ik.solvers.pose.fabrik_passes import Passes as Passes
    from basis_ik.solvers.pose.fabrik_passes import Stage as Stage
    from basis_ik.solvers.pose.solve import Solution as Solution
    from basis_ik.solvers.pose.solve import solve as solve
    from basis_ik.solvers.pose.solve_all import Preference as Preference
    from basis_ik.solvers.pose.solve_all import solve_all as solve_all
    from basis_ik.solvers.pose.track import track as track
    from basis_ik.solvers.tasks.prefer import solve_pole as solve_pole
    from basis_ik.solvers.tasks.prefer import solve_posture as solve_posture
    from basis_ik.solvers.tasks.solve_tasks import Outcome as Outcome
    from basis_ik.solvers.tasks.solve_tasks import TasksSolution as TasksSolution
    from basis_ik.solvers.tasks.solve_tasks import solve_tasks as solve_tasks
    from basis_ik.solvers.tasks.task_problem import LookTask as LookTask
    from basis_ik.solvers.tasks.task_problem import PoseTask as PoseTask
    from basis_ik.solvers.tasks.task_problem import Task as Task
    from basis_ik.transforms.checks import NotARotationError as NotARotationError
    from basis_ik.transforms.checks import NotFiniteError as NotFiniteError
    from basis_ik.transforms.checks import NotHomogeneousError as NotHomogeneousError
    from basis_ik.transforms.checks import QuaternionError as QuaternionError
    from basis_ik.transforms.checks import ShapeError as ShapeError
    from basis_ik.transforms.checks import TransformError as TransformError
    from basis_ik.transforms.checks import ZeroLengthError as ZeroLengthError
    from basis_ik.transforms.rigid import RigidTransform as RigidTransform
    from basis_ik.verdict import Reason as Reason
    from basis_ik.verdict import Verdict as Verdict

__version__ = "0.1.0"

_HOME = {
    "BasisIkError": "errors",
    "BatchSolution": "solvers.pose.batch",
    "Chain": "robot.chain",
    "ChainArrays": "robot.chain_kernel",
    "ChainError": "robot.joint_path",
    "DependencyError": "dependencies",
    "DistanceTask": "search.distance_residual_kernel",
    "ExtraError": "dependencies",
    "Gap": "collision.collision_scene",
    "Joint": "robot.urdf",
    "LookTask": "solvers.tasks.task_problem",
    "Mimic": "robot.urdf",
    "NotARotationError": "transforms.checks",
    "NotFiniteError": "transforms.checks",
    "NotHomogeneousError": "transforms.checks",
    "Outcome": "solvers.tasks.solve_tasks",
    "OutsideLimitsError": "search.prepared_chain",
    "Passes": "solvers.pose.fabrik_passes",
    "PathSolution": "solvers.path.cartesian_path",
    "PoseConstraint": "search.pose_constraint",
    "PoseTask": "solvers.tasks.task_problem",
    "Preference": "solvers.pose.solve_all",
    "QuaternionError": "transforms.checks",
    "Reason": "verdict",
    "RigidTransform": "transforms.rigid",
    "RobotModel": "robot.robot",
    "Scene": "collision.collision_scene",
    "SceneError": "collision.shape",
    "Shape": "collision.shape",
    "ShapeError": "transforms.checks",
    "Solution": "solvers.pose.solve",
    "SolveArgumentError": "errors",
    "Stage": "solvers.pose.fabrik_passes",
    "Task": "solvers.tasks.task_problem",
    "TasksSolution": "solvers.tasks.solve_tasks",
    "TransformError": "transforms.checks",
    "UnknownPositionError": "robot.placement",
    "UrdfError": "robot.elements",
    "Verdict": "verdict",
    "Visual": "robot.visuals",
    "ZeroLengthError": "transforms.checks",
    "arc": "solvers.path.cartesian_path",
    "follow": "solvers.path.cartesian_path",
    "line": "solvers.path.cartesian_path",
    "look_at": "solvers.look.look_at",
    "solve": "solvers.pose.solve",
    "solve_all": "solvers.pose.solve_all",
    "solve_batch": "solvers.pose.batch",
    "solve_pole": "solvers.tasks.prefer",
    "solve_posture": "solvers.tasks.prefer",
    "solve_tasks": "solvers.tasks.solve_tasks",
    "track": "solvers.pose.track",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
