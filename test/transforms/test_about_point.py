# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.transforms.about_point import rotation_about_point
from basis_ik.transforms.checks import NotARotationError, NotFiniteError
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform

COORDINATES = st.floats(-10.0, 10.0)
VECTORS = st.tuples(COORDINATES, COORDINATES, COORDINATES).map(np.array)
ROTATIONS = VECTORS.map(lambda v: RigidTransform.from_rpy(*v).rotation)


@given(ROTATIONS, VECTORS, VECTORS)
def test_same_angle_and_translation_c_minus_rotated_c(
    R: np.ndarray, C: np.ndarray, p: np.ndarray
) -> None:
    about = rotation_about_point(R, C)
    np.testing.assert_array_equal(about.rotation, R)
    np.testing.assert_allclose(about.translation, C - R @ C, rtol=0, atol=1e-13)
    np.testing.assert_allclose(about.apply(C), C, rtol=0, atol=1e-13)
    np.testing.assert_allclose(about.apply(p), R @ (p - C) + C, rtol=0, atol=1e-13)


@given(ROTATIONS, VECTORS)
def test_it_is_the_conjugate_by_the_translation(R: np.ndarray, C: np.ndarray) -> None:
    there = RigidTransform.from_rotation_translation(np.eye(3), C)
    turn = RigidTransform.from_rotation_translation(R, (0, 0, 0))
    assert rotation_about_point(R, C).is_close(there @ turn @ there.inverse(), 1e-13)


@given(ROTATIONS, VECTORS)
def test_it_is_a_node_with_that_centre(R: np.ndarray, C: np.ndarray) -> None:
    node = TransformNode(center=C, rotation=R)
    np.testing.assert_allclose(rotation_about_point(R, C).matrix, node.matrix, rtol=0, atol=1e-13)


@given(ROTATIONS)
def test_about_the_origin_nothing_is_translated(R: np.ndarray) -> None:
    assert rotation_about_point(R, (0, 0, 0)).translation.tolist() == [0, 0, 0]


def test_bad_input_is_refused() -> None:
    with pytest.raises(NotARotationError):
        rotation_about_point(2 * np.eye(3), (0, 0, 0))
    with pytest.raises(NotFiniteError, match="point"):
        rotation_about_point(np.eye(3), (0, math.nan, 0))
