# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basis_ik.transforms.checks import (
    NotARotationError,
    NotFiniteError,
    NotHomogeneousError,
    ShapeError,
)
from basis_ik.transforms.node import (
    NodeOverflowError,
    ReflectingMatrixError,
    ScaleError,
    SingularMatrixError,
    TransformNode,
)
from basis_ik.transforms.rigid import RigidTransform

COORDINATES = st.floats(-10.0, 10.0)
VECTORS = st.tuples(COORDINATES, COORDINATES, COORDINATES).map(np.array)
ANGLES = st.sampled_from([0.0, math.pi / 4, math.pi / 2, math.pi]) | st.floats(0.0, math.pi)
AXES = st.sampled_from([(0, 0, 1), (1, 0, 0), (0, 1, 0), (1, 1, 0), (1, 1, 1)]) | VECTORS.filter(
    lambda v: np.abs(v).max() > 1e-3
)
ROTATIONS = st.builds(lambda a, t: RigidTransform.from_axis_angle(a, t).rotation, AXES, ANGLES)
FACTORS = st.sampled_from([1.0, 2.0, 0.5]) | st.floats(0.05, 20.0)
SCALES = st.tuples(FACTORS, FACTORS, FACTORS)
RIGID_NODES = st.builds(TransformNode, center=VECTORS, rotation=ROTATIONS, translation=VECTORS)
NODES = st.builds(
    TransformNode,
    center=VECTORS,
    rotation=ROTATIONS,
    scale=SCALES,
    scale_orientation=ROTATIONS,
    translation=VECTORS,
)


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    return RigidTransform.exp(np.concatenate([np.zeros(3), rng.uniform(-2, 2, 3)])).rotation


def random_node(rng: np.random.Generator, spread: float) -> TransformNode:
    return TransformNode(
        center=rng.normal(size=3),
        rotation=random_rotation(rng),
        scale=np.exp(rng.uniform(-spread, spread, 3)),
        scale_orientation=random_rotation(rng),
        translation=rng.normal(size=3),
    )


def assert_close(actual: object, expected: object, tolerance: float = 1e-12) -> None:
    difference = np.abs(np.asarray(actual) - np.asarray(expected))
    assert (difference <= tolerance * (1.0 + np.abs(expected).max())).all(), difference


def assert_same_map(a: TransformNode, b: TransformNode, tolerance: float = 1e-11) -> None:
    assert_close(a.matrix, b.matrix, tolerance)
    assert_close(a.center, b.center, tolerance)


def as_the_text_has_it(node: TransformNode, p: np.ndarray) -> np.ndarray:
    C, T, R = node.center, node.translation, node.rotation
    S, SR = node.scale, node.scale_orientation
    return R @ (SR @ (S * (SR.T @ (p - C)))) + C + T


# --- one level ---


@given(RIGID_NODES, VECTORS)
def test_one_level_without_scale(node: TransformNode, p: np.ndarray) -> None:
    R, C, T = node.rotation, node.center, node.translation
    assert_close(node.apply(p), R @ (p - C) + C + T)
    assert_close(node.apply(p), R @ p - R @ C + C + T)  # the terms split up


def test_the_order_is_shift_rotate_shift_back_translate() -> None:
    quarter = RigidTransform.from_axis_angle((0, 0, 1), math.pi / 2).rotation
    node = TransformNode(center=(1, 0, 0), rotation=quarter, translation=(0, 0, 5))
    assert_close(node.apply((2, 0, 0)), (1, 1, 5))


@given(VECTORS, ROTATIONS, SCALES, ROTATIONS, VECTORS, VECTORS)
def test_one_level_with_scale_from_the_fields_as_given(
    C: np.ndarray,
    R: np.ndarray,
    S: tuple[float, float, float],
    SR: np.ndarray,
    T: np.ndarray,
    p: np.ndarray,
) -> None:
    node = TransformNode(center=C, rotation=R, scale=S, scale_orientation=SR, translation=T)
    expected = R @ (SR @ (S * (SR.T @ (p - C)))) + T + C
    assert_close(node.apply(p), expected, 1e-11)
    assert_close(as_the_text_has_it(node, p), expected, 1e-11)
    assert_close((node.matrix @ np.append(p, 1.0))[:3], expected, 1e-11)


@given(NODES, st.lists(VECTORS, max_size=4))
def test_batches_agree_with_single_points(node: TransformNode, points: list[np.ndarray]) -> None:
    batch = np.array(points).reshape(-1, 3)
    assert node.apply(batch).tolist() == [node.apply(p).tolist() for p in points]


def test_near_its_centre_a_node_keeps_all_digits() -> None:
    node = TransformNode(center=(1e12, 0, 0), rotation=RigidTransform.from_rpy(0, 0, 1).rotation)
    assert node.apply((1e12, 0, 0)).tolist() == [1e12, 0, 0]


def test_the_default_node_changes_nothing() -> None:
    assert (TransformNode().matrix == np.eye(4)).all()


# --- matrix and inverse ---


@given(NODES)
def test_matrix_round_trip_about_the_same_centre(node: TransformNode) -> None:
    assert_same_map(TransformNode.from_matrix(node.matrix, node.center), node)


@given(NODES, VECTORS)
def test_any_centre_will_do(node: TransformNode, center: np.ndarray) -> None:
    other = TransformNode.from_matrix(node.matrix, center)
    assert other.center.tolist() == center.tolist()
    assert_close(other.matrix, node.matrix, 1e-11)


@given(NODES)
def test_inverse_undoes_on_either_side(node: TransformNode) -> None:
    worst = node.scale.max() / node.scale.min()
    assert_close((node @ node.inverse()).matrix, np.eye(4), 1e-12 * worst)
    assert_close((node.inverse() @ node).matrix, np.eye(4), 1e-12 * worst)
    assert_same_map(node.inverse().inverse(), node)


@given(NODES, NODES)
def test_inverse_of_a_combination_is_the_combination_of_inverses_reversed(
    a: TransformNode, b: TransformNode
) -> None:
    expected = (b.inverse() @ a.inverse()).matrix
    assert_close((a @ b).inverse().matrix, expected, 1e-8)


# --- two levels ---


@given(RIGID_NODES, RIGID_NODES)
def test_combination_without_scale_is_the_formula_of_the_text(
    a: TransformNode, b: TransformNode
) -> None:
    total = a @ b
    Ra, Ca, Ta, Cb, Tb = a.rotation, a.center, a.translation, b.center, b.translation
    assert_close(total.rotation, Ra @ b.rotation)
    assert total.center.tolist() == Cb.tolist()
    assert_close(total.translation, Ra @ (Cb + Tb - Ca) + Ca + Ta - Cb)
    assert total.scale.tolist() == [1, 1, 1]
    assert total.scale_orientation.tolist() == np.eye(3).tolist()


@given(NODES, NODES, VECTORS)
def test_combination_does_what_the_two_levels_do(
    a: TransformNode, b: TransformNode, p: np.ndarray
) -> None:
    total = a @ b
    assert_close(total.matrix, a.matrix @ b.matrix, 1e-11)
    assert_close(total.apply(p), a.apply(b.apply(p)), 1e-10)
    assert_close(as_the_text_has_it(total, p), a.apply(b.apply(p)), 1e-10)
    assert total.center.tolist() == b.center.tolist()


@given(NODES, NODES, NODES)
def test_combination_is_associative(a: TransformNode, b: TransformNode, c: TransformNode) -> None:
    assert_close(((a @ b) @ c).matrix, (a @ (b @ c)).matrix, 1e-10)


@given(NODES)
def test_the_default_node_is_neutral(node: TransformNode) -> None:
    assert_same_map(node @ TransformNode(), TransformNode.from_matrix(node.matrix))
    assert_same_map(TransformNode() @ node, node)


@pytest.mark.parametrize("spread", [0.1, 0.7, 2.0, 4.0, 6.0])
def test_a_chain_of_fifty_is_the_product_of_matrices(spread: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        total, product = TransformNode(), np.eye(4)
        for _ in range(50):
            node = random_node(rng, spread)
            total, product = total @ node, product @ node.matrix
        error = np.abs(total.matrix - product)[:3].max() / np.abs(product).max()
        assert error < 1e-10
        for rotation in (total.rotation, total.scale_orientation):
            assert_close(rotation.T @ rotation, np.eye(3))
            assert np.linalg.det(rotation) > 0.0


def test_fifty_rigid_nodes_stay_rigid() -> None:
    rng = np.random.default_rng(8)
    total = TransformNode()
    for _ in range(50):
        total = total @ random_node(rng, 0.0)
    assert total.scale.tolist() == [1, 1, 1]


# --- canonical ---


@given(NODES)
def test_the_same_fields_give_the_same_node(node: TransformNode) -> None:
    again = TransformNode(
        center=node.center,
        rotation=node.rotation,
        scale=node.scale,
        scale_orientation=node.scale_orientation,
        translation=node.translation,
    )
    assert again == node
    assert hash(again) == hash(node)


@given(ROTATIONS, FACTORS)
def test_uniform_scale_has_no_orientation(SR: np.ndarray, factor: float) -> None:
    node = TransformNode(scale=(factor,) * 3, scale_orientation=SR)
    assert node.scale_orientation.tolist() == np.eye(3).tolist()
    assert node == TransformNode(scale=(factor,) * 3)


def test_scale_along_the_axes_has_no_orientation() -> None:
    for scale in itertools.permutations((1.0, 2.0, 5.0)):
        node = TransformNode(scale=scale)
        assert node.scale.tolist() == list(scale)
        assert node.scale_orientation.tolist() == np.eye(3).tolist()


SPREAD_SCALES = st.sampled_from([(3.0, 2.0, 1.0), (1.0, 3.0, 3.0), (2.0, 2.0, 0.5)])


@settings(max_examples=40)
@given(ROTATIONS, SPREAD_SCALES, st.integers(0, 2**32 - 1))
def test_every_description_of_one_stretch_gives_one_node(
    SR: np.ndarray, scale: tuple[float, float, float], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    expected = TransformNode(scale=scale, scale_orientation=SR)
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            axes = SR[:, order] * signs
            if np.linalg.det(axes) > 0.0:
                axes = axes + rng.uniform(-1e-16, 1e-16, (3, 3))
                node = TransformNode(scale=np.array(scale)[list(order)], scale_orientation=axes)
                assert node.scale.tolist() == expected.scale.tolist()
                assert_close(node.scale_orientation, expected.scale_orientation, 1e-9)


@given(ROTATIONS, SPREAD_SCALES)
def test_the_scale_orientation_is_the_smallest(
    SR: np.ndarray, scale: tuple[float, float, float]
) -> None:
    node = TransformNode(scale=scale, scale_orientation=SR)
    found = np.trace(node.scale_orientation)
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            axes = SR[:, order] * signs
            if np.linalg.det(axes) > 0.0:
                assert np.trace(axes) <= found + 1e-8


def test_equal_factors_leave_the_turn_in_their_plane_free() -> None:
    tilt = RigidTransform.from_rpy(0.3, 0.2, 0.0).rotation
    expected = TransformNode(scale=(1, 1, 4), scale_orientation=tilt)
    for angle in np.linspace(0, 6, 30):
        turn = RigidTransform.from_rpy(0, 0, angle).rotation
        node = TransformNode(scale=(1, 1, 4), scale_orientation=tilt @ turn)
        assert_close(node.scale_orientation, expected.scale_orientation, 1e-14)


def test_a_decomposed_matrix_gives_the_node_it_came_from() -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        node = random_node(rng, 1.0)
        found = TransformNode.from_matrix(node.matrix, node.center)
        for field in ("center", "rotation", "scale", "scale_orientation", "translation"):
            assert_close(getattr(found, field), getattr(node, field), 1e-10)


# --- the door ---


@pytest.mark.parametrize("factor", [0.0, -0.0, -1.0, 1e-310])
def test_scale_factors_must_be_greater_than_zero(factor: float) -> None:
    with pytest.raises(ScaleError, match="greater than zero"):
        TransformNode(scale=(1, factor, 1))


@pytest.mark.parametrize("field", ["center", "rotation", "scale", "translation"])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_non_finite_fields_are_refused(field: str, bad: float) -> None:
    value = np.eye(3) if field == "rotation" else np.ones(3)
    value[0] = bad
    with pytest.raises(NotFiniteError):
        TransformNode(**{field: value})


@pytest.mark.parametrize("field", ["rotation", "scale_orientation"])
def test_what_is_no_rotation_is_refused(field: str) -> None:
    with pytest.raises(NotARotationError):
        TransformNode(**{field: np.diag([1.0, 1.0, -1.0])})


@pytest.mark.parametrize(
    "linear",
    [
        np.zeros((3, 3)),
        np.diag([1.0, 1.0, 0.0]),
        np.diag([1.0, 0.0, 0.0]),
        np.ones((3, 3)),
        np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),
        np.diag([1.0, 1.0, 1e-15]),
    ],
)
def test_singular_matrices_are_refused(linear: np.ndarray) -> None:
    m = np.eye(4)
    m[:3, :3] = linear
    with pytest.raises(SingularMatrixError):
        TransformNode.from_matrix(m)


@pytest.mark.parametrize("largest", [1e-6, 1.0, 1e6])
def test_a_matrix_is_singular_below_a_ratio_of_1e_14(largest: float) -> None:
    TransformNode.from_matrix(np.diag([largest, largest, 1.2e-14 * largest, 1.0]))
    with pytest.raises(SingularMatrixError):
        TransformNode.from_matrix(np.diag([largest, largest, 0.8e-14 * largest, 1.0]))


def test_reflecting_matrices_are_refused() -> None:
    with pytest.raises(ReflectingMatrixError):
        TransformNode.from_matrix(np.diag([1.0, -0.001, 1.0, 1.0]))


def test_other_bad_matrices_are_refused() -> None:
    with pytest.raises(NotHomogeneousError):
        TransformNode.from_matrix(np.eye(4) + 1e-3)
    with pytest.raises(ShapeError):
        TransformNode.from_matrix(np.eye(3))
    with pytest.raises(NotFiniteError):
        TransformNode.from_matrix(np.diag([1.0, math.nan, 1.0, 1.0]))


def test_shear_is_welcome() -> None:
    m = np.eye(4)
    m[0, 1] = 2.0
    assert_close(TransformNode.from_matrix(m).matrix, m)


def test_numbers_out_of_range_are_refused() -> None:
    big = TransformNode(scale=(1e200, 1, 1))
    with pytest.raises(NodeOverflowError):
        big @ big
    with pytest.raises(NodeOverflowError):
        big @ TransformNode(scale=(1e200, 2, 1), rotation=RigidTransform.from_rpy(1, 2, 3).rotation)
    tiny = TransformNode(scale=(1e-200, 1e-200, 1e-200))
    with pytest.raises(NodeOverflowError):
        tiny @ tiny
    with pytest.raises(NodeOverflowError):
        TransformNode(scale=(1e-300, 1, 1), translation=(1e300, 0, 0)).inverse()
    rotated = TransformNode(
        scale=(1e-290, 1, 1), rotation=RigidTransform.from_rpy(1, 0, 0).rotation
    )
    with pytest.raises(NodeOverflowError):
        rotated @ TransformNode(scale=(1, 1e-290, 1), translation=(1e308, 1e308, 1e308)) @ (
            TransformNode(translation=(1.7e308, 1.7e308, 1.7e308))
        )


@pytest.mark.parametrize("points", [1.0, (1, 2), np.zeros((3, 2)), np.zeros((2, 2, 3)), "abc"])
def test_points_of_wrong_shape_are_refused(points: object) -> None:
    with pytest.raises(ShapeError):
        TransformNode().apply(points)


# --- a frozen value ---


def test_frozen_hashable_picklable() -> None:
    node = random_node(np.random.default_rng(1), 1.0)
    for field in (
        "center",
        "rotation",
        "scale",
        "scale_orientation",
        "translation",
        "linear",
        "matrix",
    ):
        with pytest.raises(ValueError, match="read-only"):
            getattr(node, field)[0] = 1.0
        with pytest.raises(AttributeError):
            setattr(node, field, 1.0)
    assert pickle.loads(pickle.dumps(node)) == node
    assert copy.deepcopy(node) == node
    assert node != TransformNode()
    assert node != "node"
    assert "scale_orientation" in repr(node)
    for wrong in (np.eye(4), 2.0):
        with pytest.raises(TypeError):
            node @ wrong
        with pytest.raises(TypeError):
            wrong @ node
