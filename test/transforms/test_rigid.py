# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from basis_ik.errors import BasisIkError
from basis_ik.transforms.checks import (
    NotARotationError,
    NotFiniteError,
    NotHomogeneousError,
    QuaternionError,
    ShapeError,
    ZeroLengthError,
)
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform

NEAR = [0.0, 1e-300, 1e-160, 1e-12, 1e-7, 1e-3, 0.0999, 0.1001]
ANGLES = st.sampled_from([*NEAR, *(math.pi - a for a in NEAR)]) | st.floats(0.0, math.pi)
COORDINATES = st.floats(-100.0, 100.0)
VECTORS = st.tuples(COORDINATES, COORDINATES, COORDINATES)
AXES = st.sampled_from(
    [(1, 0, 0), (0, -1, 0), (0, 0, 1), (1, -1, 0), (-1e-9, 1, 1e-9), (-1, -1, 1)]
) | VECTORS.filter(lambda v: max(map(abs, v)) > 1e-3)
TRANSFORMS = st.builds(RigidTransform.from_axis_angle, AXES, ANGLES, VECTORS)
RICE_HALL = [[0, 0, 1, 9], [0, 1, 0, 4], [-1, 0, 0, 28], [0, 0, 0, 1]]


def assert_close(actual: object, expected: object, tolerance: float = 1e-12) -> None:
    actual = actual.matrix if isinstance(actual, RigidTransform) else np.asarray(actual)
    expected = expected.matrix if isinstance(expected, RigidTransform) else np.asarray(expected)
    assert actual.shape == expected.shape
    difference = np.abs(actual - expected)
    # Written so that a NaN fails.
    assert (difference <= tolerance * (1.0 + np.abs(expected).max(initial=0.0))).all(), difference


def assert_rigid(transform: RigidTransform) -> None:
    R = transform.rotation
    assert_close(R.T @ R, np.eye(3))
    assert abs(np.linalg.det(R) - 1.0) < 1e-12
    assert transform.matrix[3].tolist() == [0, 0, 0, 1]


def test_the_comparator_rejects_nan() -> None:
    with pytest.raises(AssertionError):
        assert_close([math.nan], [math.nan])


@pytest.mark.parametrize("defect", [2e-12, 1e-9, 9e-7])
def test_what_is_nearly_a_rotation_becomes_one_to_rounding(defect: float) -> None:
    """Return the nearest rotation: singular values become 1."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        u, _, vt = np.linalg.svd(rng.normal(size=(3, 3)))
        u[:, 0] *= np.linalg.det(u @ vt)
        stretched = u @ np.diag(1.0 + 0.49 * defect * rng.choice([-1.0, 1.0], 3)) @ vt
        R = RigidTransform.from_rotation_translation(stretched, np.zeros(3)).rotation
        np.testing.assert_allclose(R.T @ R, np.eye(3), rtol=0, atol=2e-15)
        np.testing.assert_allclose(R, u @ vt, rtol=0, atol=2e-15)


# --- the text's own numbers (change_of_basis, section 1) ---


def test_rice_hall_office_coordinates_to_door_coordinates() -> None:
    door_T_office = RigidTransform.from_matrix(RICE_HALL)
    einstein_in_office = (-2.0, -4.0, -10.0)  # forward 10 m, down 4 m, left 2 m; −z is forward
    assert door_T_office.apply(einstein_in_office).tolist() == [-1.0, 0.0, 30.0]
    assert door_T_office.inverse().apply((-1.0, 0.0, 30.0)).tolist() == [-2.0, -4.0, -10.0]
    assert (door_T_office.matrix == RICE_HALL).all()


# --- group axioms ---


@given(TRANSFORMS, TRANSFORMS)
def test_closure(a: RigidTransform, b: RigidTransform) -> None:
    assert_rigid(a @ b)
    assert_rigid(a.inverse())


@given(TRANSFORMS)
def test_identity_on_either_side(a: RigidTransform) -> None:
    assert_close(RigidTransform.identity() @ a, a, 0.0)
    assert_close(a @ RigidTransform.identity(), a, 0.0)


@given(TRANSFORMS)
def test_inverse_on_either_side(a: RigidTransform) -> None:
    assert_close(a @ a.inverse(), RigidTransform.identity(), 1e-13 * 300)
    assert_close(a.inverse() @ a, RigidTransform.identity(), 1e-13 * 300)


@given(TRANSFORMS, TRANSFORMS)
def test_inverse_of_a_product_is_the_product_of_inverses_reversed(
    a: RigidTransform, b: RigidTransform
) -> None:
    assert_close((a @ b).inverse(), b.inverse() @ a.inverse())


@given(TRANSFORMS, TRANSFORMS, TRANSFORMS)
def test_associativity(a: RigidTransform, b: RigidTransform, c: RigidTransform) -> None:
    assert_close((a @ b) @ c, a @ (b @ c))


def test_inverse_of_translation_negates_and_of_rotation_transposes() -> None:
    assert RigidTransform.from_rpy(0, 0, 0, (1, 2, 3)).inverse().translation.tolist() == [
        -1,
        -2,
        -3,
    ]
    turn = RigidTransform.from_rpy(0.3, -0.2, 1.1)
    assert (turn.inverse().rotation == turn.rotation.T).all()


# --- application ---


@given(TRANSFORMS, TRANSFORMS, VECTORS)
def test_product_applies_right_factor_first(
    a: RigidTransform, b: RigidTransform, p: tuple[float, float, float]
) -> None:
    assert_close((a @ b).apply(p), a.apply(b.apply(p)))


@given(TRANSFORMS, st.lists(VECTORS, max_size=5))
def test_batches_agree_with_single_points(
    a: RigidTransform, points: list[tuple[float, float, float]]
) -> None:
    batch = np.array(points).reshape(-1, 3)
    assert_close(a.apply(batch), np.array([a.apply(p) for p in points]).reshape(-1, 3), 1e-15)
    assert_close(
        a.apply_vector(batch), np.array([a.apply_vector(p) for p in points]).reshape(-1, 3), 1e-15
    )


@given(TRANSFORMS, VECTORS, VECTORS)
def test_a_vector_is_the_difference_of_two_points(
    a: RigidTransform, p: tuple[float, float, float], q: tuple[float, float, float]
) -> None:
    assert_close(a.apply_vector(np.subtract(p, q)), a.apply(p) - a.apply(q))


@given(TRANSFORMS, VECTORS, VECTORS)
def test_rotation_of_a_sum_is_the_sum_of_rotations(
    a: RigidTransform, p: tuple[float, float, float], q: tuple[float, float, float]
) -> None:
    assert_close(a.apply_vector(np.add(p, q)), a.apply_vector(p) + a.apply_vector(q))


def test_apply_neither_writes_to_its_argument_nor_minds_its_layout() -> None:
    a = RigidTransform.from_rpy(0.1, 0.2, 0.3, (1, 2, 3))
    points = np.arange(12.0).reshape(4, 3)
    expected = a.apply(points)
    before = points.copy()
    points.setflags(write=False)
    for layout in (points, np.asfortranarray(points), points.tolist(), points.astype(np.float32)):
        assert_close(a.apply(layout), expected, 1e-15)
    strided = np.arange(24.0).reshape(4, 6)[:, ::2]
    assert_close(a.apply(strided), a.apply(strided.tolist()), 1e-15)
    assert (points == before).all()


def test_nan_points_stay_visible() -> None:
    assert np.isnan(RigidTransform.identity().apply((math.nan, 0, 0))).any()


# --- conversions ---


@given(TRANSFORMS)
def test_matrix_and_parts_round_trip_bit_for_bit(a: RigidTransform) -> None:
    assert RigidTransform.from_matrix(a.matrix) == a
    assert RigidTransform.from_rotation_translation(a.rotation, a.translation) == a


@given(TRANSFORMS)
def test_quaternion_round_trip(a: RigidTransform) -> None:
    q = a.as_quaternion_xyzw()
    assert abs(np.linalg.norm(q) - 1.0) < 1e-15 * 4
    assert q[3] >= 0.0
    assert_close(RigidTransform.from_quaternion_xyzw(q, a.translation), a)
    assert RigidTransform.from_quaternion_xyzw(-q, a.translation) == (
        RigidTransform.from_quaternion_xyzw(q, a.translation)
    )


@example(RigidTransform.from_axis_angle((0, 0, 1), 1e-160))  # whose square has lost digits
@given(TRANSFORMS)
def test_axis_angle_round_trip(a: RigidTransform) -> None:
    axis, angle = a.as_axis_angle()
    assert 0.0 <= angle <= math.pi
    assert_close(np.linalg.norm(axis), 1.0)
    assert_close(RigidTransform.from_axis_angle(axis, angle, a.translation), a)


@given(TRANSFORMS)
def test_rpy_round_trip(a: RigidTransform) -> None:
    assert_close(RigidTransform.from_rpy(*a.as_rpy(), a.translation), a)


@given(ANGLES, st.sampled_from([math.pi / 2, -math.pi / 2, 1.57079632, -1.5707963, 1.5707]), ANGLES)
def test_rpy_round_trip_at_and_near_its_singularity(r: float, p: float, y: float) -> None:
    a = RigidTransform.from_rpy(r, p, y)
    assert_close(RigidTransform.from_rpy(*a.as_rpy()), a)


def test_rpy_at_the_singularity_has_yaw_zero_whatever_the_sign_of_its_zeros() -> None:
    for zero in (0.0, -0.0):
        a = RigidTransform.from_matrix(
            [[zero, 0, 1, 0], [zero, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]]
        )
        assert a.as_rpy() == pytest.approx((0.0, math.pi / 2, 0.0))


def test_rpy_turns_about_fixed_axes_x_then_y_then_z() -> None:
    x, y, z = (RigidTransform.from_axis_angle(axis, 0.4 + i) for i, axis in enumerate(np.eye(3)))
    assert_close(RigidTransform.from_rpy(0.4, 1.4, 2.4), z @ y @ x)


@given(TRANSFORMS)
def test_exp_of_log_gives_the_transform_back(a: RigidTransform) -> None:
    assert_close(RigidTransform.exp(a.log()), a)


@given(AXES, ANGLES.filter(lambda a: a < math.pi - 1e-9), VECTORS)
def test_log_of_exp_gives_the_twist_back(
    axis: tuple[float, float, float], angle: float, v: tuple[float, float, float]
) -> None:
    twist = np.concatenate([v, np.array(axis) / np.linalg.norm(axis) * angle])
    # Towards π the axis flips sign: the twist is as ill-conditioned as 1/(π − angle).
    assert_close(RigidTransform.exp(twist).log(), twist, 1e-12 + 1e-15 / (math.pi - angle))


def test_exp_matches_the_power_series() -> None:
    twist = np.array([0.3, -1.2, 2.0, 0.7, -0.4, 0.9])
    v, (x, y, z) = twist[:3], twist[3:]
    xi = np.zeros((4, 4))
    xi[:3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    xi[:3, 3] = v
    series, term = np.eye(4), np.eye(4)
    for k in range(1, 40):
        term = term @ xi / k
        series += term
    assert_close(RigidTransform.exp(twist), series)


def test_half_turns_have_one_deterministic_axis() -> None:
    for axis in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, -1], [1, -2, 0.5]):
        a = RigidTransform.from_matrix(
            np.block(
                [
                    [2 * np.outer(axis, axis) / np.dot(axis, axis) - np.eye(3), np.zeros((3, 1))],
                    [np.zeros((1, 3)), np.ones((1, 1))],
                ]
            )
        )
        found, angle = a.as_axis_angle()
        assert angle == math.pi
        assert_close(found, np.array(axis) / np.linalg.norm(axis))
        assert next(q for q in a.as_quaternion_xyzw() if q != 0) > 0


def test_identity_has_a_deterministic_axis() -> None:
    axis, angle = RigidTransform.identity().as_axis_angle()
    assert (axis.tolist(), angle) == ([1, 0, 0], 0.0)


# --- the door ---


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_non_finite_numbers_are_refused(bad: float) -> None:
    for i in range(3):
        for j in range(4):
            m = np.eye(4)
            m[i, j] = bad
            with pytest.raises(NotFiniteError):
                RigidTransform.from_matrix(m)
    with pytest.raises(NotFiniteError, match="translation"):
        RigidTransform.from_rotation_translation(np.eye(3), (0, bad, 0))
    with pytest.raises(NotFiniteError, match="quaternion"):
        RigidTransform.from_quaternion_xyzw((0, 0, bad, 1), (0, 0, 0))
    with pytest.raises(NotFiniteError, match="translation"):
        RigidTransform.from_quaternion_xyzw((0, 0, 0, 1), (0, 0, bad))
    with pytest.raises(NotFiniteError, match="angle"):
        RigidTransform.from_axis_angle((1, 0, 0), bad)
    with pytest.raises(NotFiniteError, match="axis"):
        RigidTransform.from_axis_angle((1, bad, 0), 1.0)
    with pytest.raises(NotFiniteError, match="roll"):
        RigidTransform.from_rpy(0, bad, 0)
    with pytest.raises(NotFiniteError, match="twist"):
        RigidTransform.exp((0, 0, 0, 0, 0, bad))


@pytest.mark.parametrize("angle", [1e155, -1e200, 1.7e308])
def test_turns_whose_square_overflows_are_refused(angle: float) -> None:
    with pytest.raises(NotFiniteError, match="angle"):
        RigidTransform.from_axis_angle((0, 0, 1), angle)
    with pytest.raises(NotFiniteError, match="twist"):
        RigidTransform.exp((0, 0, 0, angle, 0, 0))


def test_motions_that_overflow_are_refused() -> None:
    with pytest.raises(NotFiniteError, match="twist"):
        RigidTransform.exp((1.7e308, 1.7e308, 0, 0.1, 2.0, 3.0))
    assert np.isfinite(RigidTransform.from_axis_angle((0, 0, 1), 1e150).matrix).all()


def test_reflection_is_refused_with_its_determinant() -> None:
    with pytest.raises(NotARotationError, match="reflects") as caught:
        RigidTransform.from_matrix(np.diag([1.0, 1.0, -1.0, 1.0]))
    assert caught.value.determinant == pytest.approx(-1.0)


@pytest.mark.parametrize(
    "matrix",
    [np.diag([2.0, 1, 1]), np.zeros((3, 3)), np.eye(3) + 0.01, np.diag([1, 1, 1 + 1e-5])],
)
def test_what_is_not_orthonormal_is_refused(matrix: np.ndarray) -> None:
    with pytest.raises(NotARotationError) as caught:
        RigidTransform.from_rotation_translation(matrix, (0, 0, 0))
    assert caught.value.deviation > 1e-6


def test_a_rotation_in_single_precision_is_taken_and_made_orthonormal() -> None:
    exact = RigidTransform.from_rpy(0.3, -1.0, 2.0)
    taken = RigidTransform.from_matrix(exact.matrix.astype(np.float32))
    assert_rigid(taken)
    assert_close(taken, exact, 1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (3, 4), (4, 3), (16,), ()])
def test_wrong_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=r"\(4, 4\)"):
        RigidTransform.from_matrix(np.ones(shape))


@pytest.mark.parametrize("points", [1.0, (1, 2), np.zeros((3, 2)), np.zeros((2, 2, 3)), "abc"])
def test_points_of_wrong_shape_are_refused(points: object) -> None:
    with pytest.raises(ShapeError, match="points"):
        RigidTransform.identity().apply(points)


@pytest.mark.parametrize("value", ["abc", None, [[1], [2, 3]], {}])
def test_what_is_no_array_is_refused(value: object) -> None:
    with pytest.raises(ShapeError):
        RigidTransform.from_matrix(value)


def test_another_last_row_is_refused() -> None:
    m = np.eye(4)
    for bad, error in (1e-3, NotHomogeneousError), (math.nan, NotFiniteError):
        m[3, 0] = bad
        with pytest.raises(error):
            RigidTransform.from_matrix(m)


@pytest.mark.parametrize("q", [(0, 0, 0, 0), (0, 0, 0, 1.002), (0, 0, 0, 0.998), (1e200, 0, 0, 0)])
def test_quaternions_off_unit_length_are_refused(q: tuple[float, ...]) -> None:
    with pytest.raises(QuaternionError) as caught:
        RigidTransform.from_quaternion_xyzw(q, (0, 0, 0))
    assert caught.value.norm == pytest.approx(max(q))


def test_quaternion_slightly_off_is_normalised() -> None:
    assert_rigid(RigidTransform.from_quaternion_xyzw((0.5, 0.5, 0.5, 0.5009), (0, 0, 0)))


@pytest.mark.parametrize("length", [1e200, 1e-200])
def test_an_axis_may_have_any_length_above_zero(length: float) -> None:
    turned = RigidTransform.from_axis_angle((0, length, length), 1.0)
    assert_close(turned, RigidTransform.from_axis_angle((0, 1, 1), 1.0))


def test_zero_axis_is_refused() -> None:
    with pytest.raises(ZeroLengthError, match="axis"):
        RigidTransform.from_axis_angle((0, 0, 0), 1.0)


def test_every_refusal_descends_from_the_root_error() -> None:
    for error in (NotARotationError, NotFiniteError, QuaternionError, ShapeError, ZeroLengthError):
        assert issubclass(error, BasisIkError)


# --- a frozen value ---


def test_arrays_handed_out_are_read_only() -> None:
    a = RigidTransform.from_rpy(0.1, 0.2, 0.3)
    for array in (a.matrix, a.rotation, a.translation):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_the_source_array_is_copied() -> None:
    m = np.eye(4)
    a = RigidTransform.from_matrix(m)
    m[0, 3] = 5.0
    assert a == RigidTransform.identity()


def test_attributes_cannot_be_set_nor_instances_made_unchecked() -> None:
    a = RigidTransform.identity()
    for name in ("matrix", "rotation", "translation", "new"):
        with pytest.raises(AttributeError):
            setattr(a, name, np.eye(4))
    with pytest.raises(TypeError, match="from_"):
        RigidTransform()


def test_equality_hash_copy_and_pickle() -> None:
    a = RigidTransform.from_rpy(0.1, 0.2, 0.3, (1, 2, 3))
    same = RigidTransform.from_rpy(0.1, 0.2, 0.3, (1, 2, 3))
    assert a == same
    assert hash(a) == hash(same)
    assert a != RigidTransform.identity()
    assert a != "a"
    assert pickle.loads(pickle.dumps(a)) == a
    assert copy.deepcopy(a) == a
    zero, minus = (RigidTransform.from_rpy(0, 0, 0, (z, 0, 0)) for z in (0.0, -0.0))
    assert zero == minus
    assert hash(zero) == hash(minus)


def test_product_with_something_else_is_a_type_error() -> None:
    for wrong in (
        "frame",
        None,
        np.eye(3),
        np.zeros(3),
        np.zeros((4, 3)),
        TransformNode.from_matrix(np.eye(4)),
    ):
        with pytest.raises(
            TypeError, match=r"another or its \(4, 4\) matrix; apply\(points\) maps"
        ):
            RigidTransform.identity() @ wrong
        with pytest.raises(TypeError):
            wrong @ RigidTransform.identity()
    with pytest.raises(NotARotationError):
        RigidTransform.identity() @ np.diag([2.0, 1.0, 1.0, 1.0])


def test_a_factor_may_be_a_matrix() -> None:
    a, b = (RigidTransform.from_rpy(0.1, 0.2, 0.3, (x, 2, 3)) for x in (1, 4))
    for factor in (b.matrix, b.matrix.tolist(), np.array(b, object)):
        assert a @ factor == a @ b
        assert factor @ a == b @ a


def test_numpy_takes_a_transform_as_its_matrix() -> None:
    a = RigidTransform.from_rpy(0.1, 0.2, 0.3, (1, 2, 3))
    for array in (np.asarray(a), np.array(a), np.asarray([a])[0], a.__array__(), a.__array__(None)):
        assert array.dtype == np.float64
        assert array.tolist() == a.matrix.tolist()
        array[0] = 0.0  # a copy
    assert np.allclose(a, a.matrix)
    assert not np.allclose(a.matrix, a.inverse())
    for single in (
        np.asarray(a, np.float32),
        a.__array__(np.float32),
        a.__array__(float, copy=True),
    ):
        assert np.array_equal(single, a.matrix.astype(single.dtype))
    assert not a.__array__(copy=False).flags.writeable  # a view, as of numpy 2
    with pytest.raises(ValueError, match="float32 is a copy"):
        a.__array__(np.float32, copy=False)


def test_is_close_rejects_differences_and_tolerates_rounding() -> None:
    a = RigidTransform.from_rpy(0, 0, 0, (1, 0, 0))
    assert a.is_close(RigidTransform.from_rpy(0, 0, 0, (1 + 1e-10, 0, 0)))
    assert not a.is_close(RigidTransform.from_rpy(0, 0, 0, (1 + 1e-8, 0, 0)))


def test_repr_shows_the_numbers() -> None:
    assert "3." in repr(RigidTransform.from_rpy(0, 0, 0, (1, 2, 3)))
