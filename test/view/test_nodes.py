# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The shapes for transform nodes."""

import numpy as np
import pytest

from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.nodes import NODE_COLORS, NodeView, filled_boxes, nodes_scene
from basis_ik.view.shapes import BOX_FACES, YELLOW

SIZE = 0.2
NODE = TransformNode(
    center=[0.1, -0.2, 0.3],
    rotation=RigidTransform.from_rpy(0.4, 1.1, -0.7).rotation,
    scale=[2.0, 0.5, 1.5],
    scale_orientation=RigidTransform.from_rpy(0.3, 0.2, 0.1).rotation,
    translation=[1.0, 2.0, 3.0],
)
ROOT_T_FRAME = RigidTransform.from_rotation_translation(
    NODE.rotation, NODE.apply(np.zeros(3))
)  # rotation nearest to the node's matrix, and the image of its origin


def shown(center=NODE.center, chain=()):
    """Return the scene by numbers; every shape is one of the node's, in its rigid frame."""
    origin = TransformNode(
        rotation=NODE.rotation,
        scale=NODE.scale,
        scale_orientation=NODE.scale_orientation,
        translation=ROOT_T_FRAME.translation,
    )
    scene = nodes_scene([NodeView("leaf", origin, np.array(center), chain)], SIZE)
    assert {(shape.name, shape.frame) for shape in scene} == {("leaf", "leaf")}
    found = {shape.number: shape for shape in scene}
    assert len(found) == len(scene)
    return found


def in_root(shape):
    return ROOT_T_FRAME.apply(shape.pose.apply(shape.ends))


def images(points):
    return np.array([NODE.apply(point) for point in points])


def test_a_box_and_axes_are_the_images_of_a_cube_and_axes():
    found = shown()
    assert found[0].color == found[6].color == NODE_COLORS[0]
    corners = [
        (x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)
    ]  # half the edge
    off = np.linalg.norm(in_root(found[0])[:, None] - images(corners)[None], axis=2)
    assert off.min(axis=1).max() < 1e-12
    assert np.allclose(in_root(found[1])[1::2], images(SIZE * np.eye(3)), atol=1e-12)


def test_boxes_are_filled_and_can_be_seen_through_but_those_of_combined_nodes():
    views = [NodeView(name, NODE, np.zeros(3), ("a",) if name == "b" else ()) for name in "abc"]
    edges = {shape.name: shape for shape in nodes_scene(views, SIZE) if shape.number == 0}
    filled = {shape.name: shape for shape in filled_boxes(views, SIZE)}
    assert list(filled) == ["a", "c"]
    for name, box in filled.items():
        assert box.frame == name
        assert box.color == (*edges[name].color[:3], pytest.approx(0.25))
        assert np.array_equal(
            np.unique(box.corners.round(9), axis=0), np.unique(edges[name].ends.round(9), axis=0)
        )


def test_the_faces_of_a_cube_are_twelve_triangles_on_its_sides():
    cube = BOX_FACES.reshape(12, 3, 3)
    areas = np.linalg.norm(np.cross(cube[:, 1] - cube[:, 0], cube[:, 2] - cube[:, 0]), axis=1) / 2
    middles = cube.mean(axis=1)
    assert np.allclose(areas, 0.5)
    assert np.allclose(np.abs(middles).max(axis=1), 0.5), "each is on a side"
    assert len(np.unique(middles.round(9), axis=0)) == 12


def test_a_line_leads_to_the_centre():
    assert np.allclose(in_root(shown()[2]), images([np.zeros(3), NODE.center]), atol=1e-12)
    # What rotation and scale leave in place is only moved.
    assert np.allclose(in_root(shown()[2])[1], NODE.center + NODE.translation, atol=1e-12)
    assert 2 not in shown(center=np.zeros(3))


def test_a_combined_node_is_drawn_again_above_its_box():
    found = shown(chain=("turntable", "arm", "leaf"))
    assert [found[number].color for number in (0, 3, 5)] == [YELLOW] * 3
    assert found[5].text == "leaf: turntable, arm, leaf in one"
    box, again = in_root(found[0]), in_root(found[3])
    shift = again - box
    assert np.allclose(shift, shift[0])
    assert np.allclose(shift[0][:2], 0.0)
    assert again[:, 2].min() > box[:, 2].max()
    assert np.allclose(in_root(found[4]) - in_root(found[1]), shift[0])
    text = ROOT_T_FRAME.apply(found[5].pose.translation)
    assert text[2] - 0.5 * found[5].height > again[:, 2].max()
    assert np.allclose(text[:2], ROOT_T_FRAME.translation[:2])


@pytest.mark.parametrize("chain", [(), ("arm", "leaf")])
def test_only_a_combined_node_is_drawn_twice(chain):
    assert set(shown(chain=chain)) == {0, 1, 2} | ({3, 4, 5} if chain else {6})


def test_names_are_above_the_boxes_and_neighbours_have_other_colors():
    found = shown()
    text = ROOT_T_FRAME.apply(found[6].pose.translation)
    assert found[6].text == "leaf"
    assert text[2] - 0.5 * found[6].height > in_root(found[0])[:, 2].max()
    views = [NodeView(name, NODE, np.zeros(3), ("a",) if name == "c" else ()) for name in "abcd"]
    colors = [shape.color for shape in nodes_scene(views, SIZE) if shape.number == 0]
    assert colors == [*NODE_COLORS[:2], YELLOW, NODE_COLORS[2]]
