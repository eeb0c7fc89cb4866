# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The plot of a solve, compared with forward kinematics of another library."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from transforms3d.axangles import mat2axangle

from basis_ik import RigidTransform, RobotModel, look_at, solve
from basis_ik.extras.solve_plot import (
    convergence,
    convergence_of_passes,
    gaze_error,
    pose_errors,
)

URDF = Path(__file__).parents[2] / "urdf"
TARGET = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.4, 0.1, 0.5])


@pytest.fixture(scope="module")
def panda():
    return RobotModel.from_urdf_file(URDF / "panda.urdf").chain()


def test_errors_begin_at_the_seed_and_end_at_the_solution(panda):
    solution = solve(panda, TARGET)
    at_seed = pose_errors(panda, panda.neutral, TARGET)
    again = partial(solve, panda, TARGET, None)
    errors = convergence(at_seed, lambda most: again(max_iterations=most), solution)
    assert errors.steps.tolist() == list(range(solution.iterations + 1))
    matrix = panda.forward(panda.neutral).matrix
    assert errors.position[0] == pytest.approx(np.linalg.norm(matrix[:3, 3] - [0.4, 0.1, 0.5]))
    _, angle = mat2axangle(matrix[:3, :3].T @ TARGET.rotation)
    assert errors.orientation[0] == pytest.approx(abs(angle))
    assert errors.position[-1] == solution.position_error
    assert errors.orientation[-1] == solution.orientation_error
    assert np.all(np.diff(errors.position) < 0.0)


def test_a_long_solve_is_sampled(panda):
    far = RigidTransform.from_rpy(0.0, 0.0, 0.0, [2.0, 0.0, 0.0])
    solution = solve(panda, far)
    again = partial(solve, panda, far, None)
    errors = convergence((2.0, 0.0), lambda most: again(max_iterations=most), solution)
    assert len(errors.steps) <= 41 < solution.iterations
    assert errors.steps[-1] == solution.iterations


def test_errors_of_passes_are_those_of_their_positions(panda):
    solution = solve(panda, TARGET, solver="fabrik", trace=True)
    errors = convergence_of_passes(panda, TARGET, solution)
    assert len(errors.steps) == solution.passes.count + 1
    assert errors.position[-1] == pytest.approx(solution.passes.position_error, abs=1e-12)
    assert errors.position[0] > 0.1
    assert convergence_of_passes(panda, TARGET, solve(panda, TARGET)) is None


def test_the_error_of_a_gaze_is_the_angle_to_the_point():
    head = RobotModel.from_urdf_file(URDF / "pan_tilt.urdf").chain()
    point = np.array([1.0, 0.5, 0.2])
    found = look_at(head, point, axis=(0, 0, 1))
    assert gaze_error(head, found.positions, point, (0, 0, 1)) == pytest.approx(0.0, abs=1e-9)
    away = gaze_error(head, head.neutral, point, (0, 0, 1))
    tip = head.forward(head.neutral).matrix
    way = point - tip[:3, 3]
    assert np.cos(away) == pytest.approx(tip[:3, 2] @ way / np.linalg.norm(way))
