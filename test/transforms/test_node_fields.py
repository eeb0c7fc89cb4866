# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fields of a transform node as VRML and X3D write them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rotations import turned

from basis_ik.transforms.node import NODE_FIELDS, FieldError, TransformNode

NUMBERS = st.floats(-3.0, 3.0)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
AXES = VECTORS.filter(lambda v: np.abs(v).max() > 1e-3)
TURNS = st.builds(lambda axis, angle: (*axis, angle), AXES, NUMBERS)
FACTORS = st.floats(0.1, 10.0)


@given(VECTORS, TURNS, st.tuples(FACTORS, FACTORS, FACTORS), TURNS, VECTORS, VECTORS)
def test_the_node_is_that_of_the_fields(
    C: tuple[float, ...],
    R: tuple[float, ...],
    S: tuple[float, ...],
    SR: tuple[float, ...],
    T: tuple[float, ...],
    p: tuple[float, ...],
) -> None:
    node = TransformNode.from_fields(
        {"center": C, "rotation": R, "scale": S, "scaleOrientation": SR, "translation": T}
    )
    along = turned(SR[:3], SR[3])
    local = np.array(p) - C
    expected = turned(R[:3], R[3]) @ (along @ (np.array(S) * (along.T @ local))) + T + C
    np.testing.assert_allclose(node.apply(p), expected, rtol=0, atol=1e-11)
    again = TransformNode.from_fields(node.as_fields())
    np.testing.assert_allclose(again.matrix, node.matrix, rtol=0, atol=1e-11)
    np.testing.assert_allclose(again.scale, node.scale, rtol=1e-12)


def test_no_fields_and_the_defaults_change_nothing() -> None:
    for node in (TransformNode.from_fields({}), TransformNode.from_fields(NODE_FIELDS)):
        assert node == TransformNode()
        assert node.as_fields() == {name: list(value) for name, value in NODE_FIELDS.items()}


@pytest.mark.parametrize("text", ["0 0 2 1.5", "0,0,2,1.5", " 0, 0  2\n1.5 "])
def test_fields_may_be_the_texts_of_a_file(text: str) -> None:
    node = TransformNode.from_fields({"rotation": text, "center": "1 0 0"})
    assert node == TransformNode.from_fields({"rotation": (0, 0, 2, 1.5), "center": (1, 0, 0)})


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("centre", (0, 0, 0), "did you mean 'center'?"),
        ("matrix4", (0, 0, 0), "there are center, rotation, scale, scaleOrientation, translation"),
        ("scale_orientation", (0, 0, 1, 0), "did you mean 'scaleOrientation'?"),
        ("center", (0, 0), "wants 3 numbers, got (0, 0)"),
        ("translation", 5, "wants 3 numbers, got 5"),
        ("rotation", (0, 0, 1), "wants 4 numbers, axis and angle [rad], got (0, 0, 1)"),
        ("rotation", np.eye(3), "wants 4 numbers"),
        ("rotation", (0, 0, 0, 1), "has an axis without length"),
        ("scaleOrientation", (0, 0, 0, 0), "has an axis without length"),
        ("rotation", (0, 0, 1, 1e300), "has too large an angle"),
        ("rotation", (0, 0, 1, math.nan), "all finite"),
        ("center", (0, math.inf, 0), "all finite"),
        ("center", "0 0 zero", "wants 3 numbers"),
        ("center", None, "wants 3 numbers"),
        ("scale", (1, 0, 1), "must be greater than zero, got (1, 0, 1)"),
        ("scale", (1, -1, 1), "must be greater than zero"),
        ("scale", (1, math.nan, 1), "all finite"),
    ],
)
def test_what_does_not_fit_is_told_in_one_line(field: str, value: object, words: str) -> None:
    with pytest.raises(FieldError) as caught:
        TransformNode.from_fields({"translation": (1, 2, 3), field: value})
    line = str(caught.value)
    assert line.startswith(f"{field}: ")
    assert words in line
    assert "\n" not in line
    assert caught.value.field == field
