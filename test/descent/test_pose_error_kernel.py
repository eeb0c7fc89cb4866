# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The error of a rotation with a deadband, and its proof, against the library's logarithm."""

from __future__ import annotations

from math import atan2, inf, pi

import numpy as np
import pytest
from from_python import from_python

from basis_ik.descent.pose_error_kernel import rotation_excess
from basis_ik.descent.proof_kernel import distance_and_angle
from basis_ik.transforms.rigid import RigidTransform

rotation_excess = from_python(rotation_excess)

TOLERANCES = [(0.1, 0.2, 0.3), (0.0, 0.0, 1.0), (0.1, 0.0, inf), (inf, inf, 0.05)]


def rotations():
    rng = np.random.default_rng(0)
    for angle in (0.0, 1e-9, 1e-5, 1.1e-3, 0.2, 1.0, 2.5, 3.0, pi - 1e-6):
        for axis in rng.normal(size=(6, 3)):
            yield RigidTransform.from_axis_angle(axis, angle)


def vector_of(turn, spins):
    if not spins:
        return turn.log()[3:]
    x, y, z = turn.rotation[:, 2]  # of the shortest rotation that takes z there
    size = np.hypot(x, y)
    return np.array([-y, x, 0.0]) * (atan2(size, z) / size if size else 1.0)


def excess(vector, tolerances):
    return vector - np.clip(vector, -np.array(tolerances), tolerances)


@pytest.mark.parametrize("tolerances", TOLERANCES)
@pytest.mark.parametrize("spins", [False, True])
def test_the_error_is_the_excess_of_the_rotation_vector(tolerances, spins):
    weights = np.array([1, 1, 1, 0.5, 0.6, 0.0 if spins else 0.7, 0, 0, 0, *tolerances])
    slopes, h = np.empty((1, 9)), 1e-6
    for turn in rotations():
        frame = tuple(turn.matrix[:3].ravel().tolist())
        error = np.array(rotation_excess(weights, slopes, 0, frame))
        left = excess(vector_of(turn, spins), tolerances)
        assert np.allclose(error, -weights[3:6] * left, atol=1e-8)
        if np.linalg.norm(turn.log()[3:]) > 3.0:
            continue  # differences across half a turn
        answers = slopes.reshape(3, 3).copy()
        for k, spin in enumerate(h * np.eye(3)):
            ends = [
                RigidTransform.exp(np.concatenate((np.zeros(3), side * spin))) @ turn
                for side in (1.0, -1.0)
            ]
            ahead, behind = (excess(vector_of(end, spins), tolerances) for end in ends)
            slope = weights[3:6] * (ahead - behind) / (2.0 * h)
            sure = (ahead != 0.0) == (behind != 0.0)  # not at the very edge of a tolerance
            assert np.allclose(answers[sure, k], slope[sure], atol=1e-6)


@pytest.mark.parametrize("tolerances", TOLERANCES)
@pytest.mark.parametrize("spins", [False, True])
def test_the_proof_measures_the_same(tolerances, spins):
    weights = np.array([1, 1, 1, 0.5, 0.5, 0.0 if spins else 0.5, 0, 0, 0, *tolerances])
    target = RigidTransform.from_rpy(0.3, -0.8, 2.0, (0.1, 0.2, 0.3))
    for turn in rotations():
        frame = (target @ turn).matrix[:3].copy()
        away, angle = distance_and_angle(frame, target.matrix.copy(), weights)
        left = np.linalg.norm(excess(vector_of(turn, spins), tolerances))
        assert away < 1e-15
        assert angle == pytest.approx(left, abs=2e-9)


def test_half_a_turn_is_measured_about_any_axis():
    weights = np.array([1.0] * 6 + [0.0] * 3 + [0.0, 0.0, 1e-3])
    for axis in np.vstack((np.eye(3), np.random.default_rng(1).normal(size=(9, 3)))):
        axis /= np.linalg.norm(axis)
        frame = (2.0 * np.outer(axis, axis) - np.eye(3)) @ np.eye(3, 4)
        left = excess(pi * axis, (0.0, 0.0, 1e-3))
        angle = distance_and_angle(frame, np.eye(4), weights)[1]
        assert angle == pytest.approx(np.linalg.norm(left), abs=1e-8)
