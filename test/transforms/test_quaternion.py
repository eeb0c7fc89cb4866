import numpy as np
import pytest
from transforms3d.quaternions import quat2mat

from basis_ik.transforms.checks import QuaternionError
from basis_ik.transforms.quaternion import matrix_from_xyzw, xyzw_from_matrix


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
