# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.transforms.checks import NotFiniteError, ShapeError
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.trackball import drag, drag_off_centre

COORDINATES = st.floats(-10.0, 10.0)
VECTORS = st.tuples(COORDINATES, COORDINATES, COORDINATES).map(np.array)
FACTORS = st.floats(0.2, 5.0)
OUTER = st.builds(
    lambda rpy, c, t, s, o: TransformNode(
        center=c,
        rotation=RigidTransform.from_rpy(*rpy).rotation,
        translation=t,
        scale=s,
        scale_orientation=RigidTransform.from_rpy(*o).rotation,
    ),
    VECTORS,
    VECTORS,
    VECTORS,
    st.just((1, 1, 1)) | st.tuples(FACTORS, FACTORS, FACTORS),
    VECTORS,
)


def assert_close(actual: np.ndarray, expected: object, tolerance: float = 1e-11) -> None:
    difference = np.abs(actual - np.asarray(expected))
    assert (difference <= tolerance * (1.0 + np.abs(expected).max())).all(), difference


def test_example_1_undoes_the_45_degrees() -> None:
    turn = RigidTransform.from_axis_angle((0, 0, 1), math.radians(45)).rotation
    half = math.sqrt(0.5)
    local = drag(TransformNode(rotation=turn), (1, 0, 0))
    assert_close(local, (half, -half, 0))  # the input turned by minus 45 degrees


@given(OUTER, VECTORS, VECTORS)
def test_example_1_moves_what_is_inside_as_wanted(
    outer: TransformNode, wanted: np.ndarray, p: np.ndarray
) -> None:
    inner = TransformNode(translation=drag(outer, wanted))
    assert_close((outer @ inner).apply(p), outer.apply(p) + wanted)


@given(OUTER, VECTORS)
def test_example_1_total_translation_of_a_centred_node(
    outer: TransformNode, wanted: np.ndarray
) -> None:
    centred = TransformNode(
        rotation=outer.rotation, scale=outer.scale, scale_orientation=outer.scale_orientation
    )
    total = centred @ TransformNode(translation=drag(centred, wanted))
    assert_close(total.translation, wanted)


@given(OUTER, VECTORS)
def test_example_2_total_translation_is_the_outer_plus_the_input(
    outer: TransformNode, wanted: np.ndarray
) -> None:
    total = outer @ TransformNode(translation=drag_off_centre(outer, wanted))
    assert_close(total.translation, outer.translation + wanted)
    assert total.center.tolist() == [0, 0, 0]


@given(OUTER, VECTORS)
def test_example_2_is_the_formula_of_the_text(outer: TransformNode, wanted: np.ndarray) -> None:
    rigid = TransformNode(
        center=outer.center, rotation=outer.rotation, translation=outer.translation
    )
    expected = outer.rotation.T @ (wanted - outer.center) + outer.center
    assert_close(drag_off_centre(rigid, wanted), expected)


@pytest.mark.parametrize("function", [drag, drag_off_centre])
def test_bad_input_is_refused(function: object) -> None:
    with pytest.raises(ShapeError, match="wanted"):
        function(TransformNode(), (1, 2))
    with pytest.raises(NotFiniteError, match="wanted"):
        function(TransformNode(), (1, 2, math.nan))
