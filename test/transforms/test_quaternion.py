# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import numpy.typing as npt
import pytest
from transforms3d.quaternions import quat2mat

from basis_ik.transforms.checks import QuaternionError, ShapeError
from basis_ik.transforms.quaternion import wxyz_from_matrix, xyzw_from_matrix
from basis_ik.transforms.rigid import RigidTransform


def matrix_from_xyzw(quaternion: npt.ArrayLike) -> npt.NDArray[np.float64]:
    return RigidTransform.from_quaternion_xyzw(quaternion, (0.0, 0.0, 0.0)).rotation


def test_order_is_xyzw_outside_and_wxyz_inside() -> None:
    x, y, z, w = 0.1, -0.5, 0.7, 0.5
    scale = np.sqrt(x * x + y * y + z * z + w * w)
    xyzw = np.array((x, y, z, w)) / scale
    np.testing.assert_allclose(matrix_from_xyzw(xyzw), quat2mat((w, x, y, z)), rtol=0, atol=1e-15)
    np.testing.assert_allclose(xyzw_from_matrix(quat2mat((w, x, y, z))), xyzw, rtol=0, atol=1e-15)


def test_quarter_turn_about_z_takes_x_to_y() -> None:
    half = np.sqrt(0.5)
    np.testing.assert_allclose(
        matrix_from_xyzw((0, 0, half, half)) @ (1, 0, 0), (0, 1, 0), atol=1e-15
    )


def test_the_sign_is_canonical() -> None:
    for xyzw in ([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.6, -0.8, 0, 0]):
        for sign in (1, -1):
            q = xyzw_from_matrix(matrix_from_xyzw(sign * np.array(xyzw, float)))
            np.testing.assert_allclose(q, xyzw, rtol=0, atol=1e-15)


def test_a_zero_quaternion_is_never_the_identity() -> None:
    with pytest.raises(QuaternionError):
        matrix_from_xyzw((0, 0, 0, 0))


def test_it_agrees_with_transforms3d() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        xyzw = rng.normal(size=4)
        xyzw /= np.linalg.norm(xyzw)
        np.testing.assert_allclose(
            matrix_from_xyzw(xyzw), quat2mat(np.roll(xyzw, 1)), rtol=0, atol=1e-15
        )


def test_an_absurd_quaternion_is_refused_with_its_length() -> None:
    with pytest.raises(QuaternionError, match=r"1e\+200"):
        matrix_from_xyzw((0, 0, 1e200, 0))


@pytest.mark.parametrize("bad", [(1, 0, 0), (1, 0, 0, 0, 0), "nonsense", [[0, 0, 0, 1]]])
def test_four_numbers_are_wanted(bad: npt.ArrayLike) -> None:
    with pytest.raises(ShapeError, match="quaternion"):
        matrix_from_xyzw(bad)


def test_the_real_part_can_come_first():
    turn = RigidTransform.from_axis_angle([0.0, 0.0, 1.0], 1.0).rotation
    np.testing.assert_allclose(wxyz_from_matrix(turn), [np.cos(0.5), 0.0, 0.0, np.sin(0.5)])


@pytest.mark.parametrize("length", [0.9991, 1.0009])
def test_a_length_is_right_to_a_thousandth(length: float) -> None:
    exact = matrix_from_xyzw((0.6, 0.0, 0.0, 0.8))
    near = matrix_from_xyzw((0.6 * length, 0.0, 0.0, 0.8 * length))
    np.testing.assert_allclose(near, exact, rtol=0, atol=1e-15)
    wrong = 2e-4 * np.sign(length - 1.0) + length
    with pytest.raises(QuaternionError):
        matrix_from_xyzw((0.6 * wrong, 0.0, 0.0, 0.8 * wrong))
