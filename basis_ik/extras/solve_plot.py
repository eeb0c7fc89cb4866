# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A plot of a solve: the chain before and after, and the convergence of the error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray

if TYPE_CHECKING:
    from basis_ik.robot.chain import Chain
    from basis_ik.solvers.pose.solve import Solution
    from basis_ik.transforms.rigid import RigidTransform

LEAST_ERROR = 1e-12  # smallest value on the logarithmic axis
PLOTTED_BUDGETS = 40  # number of budgets for which a long solve's error is drawn
PLOTTED_AXES = ("#c53030", "#2f855a", "#2b6cb0")
BEFORE_COLOR, AFTER_COLOR, PASS_COLOR, TARGET_COLOR = "#a0aec0", "#2b6cb0", "#dd6b20", "#2f855a"


class PlotFileError(BasisIkError):
    """A plot cannot be written."""


@dataclass(frozen=True, eq=False)
class Convergence:
    """Errors of a solve within increasing budgets.

    Attributes:
        steps: (k,) allowed steps, increasing; 0 is the seed.
        position: (k,) position error of the tip [m], by forward kinematics.
        orientation: (k,) orientation error of the tip [rad], by forward kinematics.
        unit: Name of a step.
    """

    steps: FloatArray
    position: FloatArray
    orientation: FloatArray
    unit: str


def convergence(
    at_seed: tuple[float, float], solve_within: Callable[[int], Solution], solution: Solution
) -> Convergence:
    """Return the errors of repeated solves with different budgets.

    Args:
        at_seed: Errors at the seed [m], [rad].
        solve_within: Solves the same problem with at most a number of iterations, at least 1.
        solution: The solution without that limit.
    """
    most = max(1, solution.iterations)
    steps = np.unique(np.geomspace(1, most, min(most, PLOTTED_BUDGETS)).round().astype(int))
    found = [solve_within(int(each)) for each in steps[:-1]] + [solution]
    errors = np.array([at_seed, *((each.position_error, each.orientation_error) for each in found)])
    return Convergence(np.array([0.0, *steps]), errors[:, 0], errors[:, 1], "iterations allowed")


def convergence_of_passes(
    chain: Chain, target: RigidTransform, solution: Solution
) -> Convergence | None:
    """Return the errors at the seed and after each pass of FABRIK; None without a trace."""
    stages = solution.passes.stages if solution.passes is not None else ()
    after = [each.positions for each in stages if each.name != "backward"]
    if not after:
        return None
    errors = np.array([pose_errors(chain, each, target) for each in after])
    return Convergence(np.arange(float(len(after))), errors[:, 0], errors[:, 1], "passes")


def pose_errors(chain: Chain, positions: FloatArray, target: RigidTransform) -> tuple[float, float]:
    """Return the tip's position error [m] and orientation error [rad] at positions (n,)."""
    tip = chain.forward(positions)
    distance = np.linalg.norm(tip.translation - target.translation)
    return float(distance), (tip.inverse() @ target).as_axis_angle()[1]


def gaze_error(
    chain: Chain, positions: FloatArray, point: FloatArray, axis: tuple[float, float, float]
) -> float:
    """Return the angle [rad] between the tip's axis and the direction to a point (3,)."""
    tip = chain.forward(positions)
    ray, way = tip.apply_vector(axis), point - tip.translation
    return float(np.arctan2(np.linalg.norm(np.cross(ray, way)), ray @ way))


def write_plot(
    file: Path,
    chain: Chain,
    goal: RigidTransform | FloatArray,
    seed: FloatArray,
    solution: Solution,
    errors: Convergence,
    *,
    position_only: bool = False,
) -> None:
    """Draw a solve; matplotlib chooses the format by the file's suffix.

    Args:
        file: The file to write.
        chain: The chain.
        goal: root_T_target, or the point (3,) to look at [m].
        seed: The seed (n,) [rad or m].
        solution: The solution; its passes of FABRIK are drawn, too.
        errors: Convergence of the errors.
        position_only: Whether the orientation was free.

    Raises:
        PlotFileError: The plot cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 5.0), layout="constrained")
    figure.suptitle(f"{chain.root} to {chain.tip}: {solution.reason}")
    _draw_chain(figure.add_subplot(1, 2, 1, projection="3d"), chain, goal, seed, solution)
    drawn = {
        "position [m]": (errors.position, AFTER_COLOR),
        "orientation [rad]": (errors.orientation, PASS_COLOR),
    }
    if position_only:
        del drawn["orientation [rad]"]
    elif isinstance(goal, np.ndarray):
        del drawn["position [m]"]
    _draw_errors(figure.add_subplot(1, 2, 2), errors.steps, drawn, errors.unit)
    try:
        figure.savefig(file, dpi=100)
    except (OSError, ValueError) as error:  # ValueError: the suffix is not a format
        raise PlotFileError(f"{file} cannot be written: {error}") from None


def _draw_chain(
    ax: Any, chain: Chain, goal: RigidTransform | FloatArray, seed: FloatArray, solution: Solution
) -> None:
    before, after = _points(chain, seed), _points(chain, solution.positions)
    ax.plot(*before.T, "o-", color=BEFORE_COLOR, lw=1.5, ms=3, label="seed")
    passes = solution.passes.stages if solution.passes is not None else ()
    for number, stage in enumerate(passes):
        name = "passes" if number == 0 else None
        ax.plot(*stage.points.T, "-", color=PASS_COLOR, lw=0.7, alpha=0.5, label=name)
    ax.plot(*after.T, "o-", color=AFTER_COLOR, lw=2.5, ms=4, label="solution")
    seen = [before, after, *(stage.points for stage in passes)]
    if isinstance(goal, np.ndarray):
        ray = goal - after[-1]  # for a distant point only its beginning is drawn
        end = after[-1] + min(1.0, chain.reach / max(float(np.linalg.norm(ray)), LEAST_ERROR)) * ray
        seen.append(end[np.newaxis])
        ax.plot(*np.stack([after[-1], end]).T, ":", color=TARGET_COLOR, label="to the point")
    else:
        seen.append(goal.translation[np.newaxis])
        for axis, color in enumerate(PLOTTED_AXES):
            tip = goal.translation + 0.15 * chain.reach * goal.rotation[:, axis]
            ax.plot(*np.stack([goal.translation, tip]).T, color=color, lw=2)
    points = np.concatenate(seen)
    middle, half = (points.max(0) + points.min(0)) / 2, (points.max(0) - points.min(0)).max() / 2
    ax.set(
        xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half),
        zlim=(middle[2] - half, middle[2] + half),
        xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", box_aspect=(1, 1, 1),
    )  # fmt: skip
    ax.legend(loc="upper left", fontsize="small")


def _points(chain: Chain, positions: FloatArray) -> FloatArray:
    """Return the origins of the links' frames (k, 3), root first [m]."""
    poses = chain.link_poses(positions)
    return np.stack([poses[link].translation for link in chain.links])


def _draw_errors(
    ax: Any, steps: FloatArray, drawn: dict[str, tuple[FloatArray, str]], unit: str
) -> None:
    for label, (errors, color) in drawn.items():
        ax.semilogy(steps, np.maximum(errors, LEAST_ERROR), "o-", color=color, ms=3, label=label)
    ax.axhline(1e-6, color=BEFORE_COLOR, ls="--", lw=1, label="tolerance")
    ax.set(xlabel=unit, ylabel="error")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(visible=True, color="#e2e8f0")
    ax.legend(fontsize="small")
