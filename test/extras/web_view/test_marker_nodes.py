# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Markers as nodes of the page's scene."""

import numpy as np
import pytest
import trimesh
from viser_stand_in import Scene
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.extras.web_view.frame_nodes import FrameNodes
from basis_ik.extras.web_view.marker_nodes import MarkerNodes
from basis_ik.extras.web_view.mesh_reader import MeshReader
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.rviz.marker_array import Drawing
from basis_ik.view.shapes import RED, Ball, Faces, Lines, Mesh, Text, at

AWAY = at(np.array([1.0, 2.0, 3.0]))
TRIANGLES = np.arange(18.0).reshape(6, 3)
LINES = np.arange(12.0).reshape(4, 3)


@pytest.fixture
def scene():
    return Scene()


@pytest.fixture
def show(scene, tmp_path):
    """Show shapes, one message after the other."""
    frames = FrameNodes(scene, FrameBuffer())
    nodes = MarkerNodes(scene, frames, MeshReader(lambda _: None), "/arm/markers")
    nodes.frames = frames
    drawing = Drawing(period=2.0)

    def show(*shapes, now=0.0):
        nodes.show(drawing.message(shapes), now)
        return nodes

    return show


def ball(**changes):
    return Ball(**{"name": "b", "frame": "world", "color": RED, "diameter": 0.2, **changes})


def test_each_kind_is_shown_where_it_is_in_its_frame(show, scene, tmp_path):
    path = tmp_path / "box.stl"
    trimesh.creation.box((1, 1, 1)).export(path)
    common = {"frame": "a/b", "color": (1.0, 0.5, 0.0, 0.25), "pose": AWAY}
    show(
        Lines(name="l", ends=LINES, width=0.1, **common),
        Ball(name="b", number=3, diameter=0.2, **common),
        Text(name="t", text="words", height=0.3, **common),
        Mesh(name="m", file=str(path), scale=(2.0, 3.0, 4.0), **common),
        Mesh(name="n", file="none.stl", scale=(1.0, 1.0, 1.0), **common),
        Faces(name="f", corners=TRIANGLES, **common),
    )
    assert scene.kinds() == ["line_segments", "icosphere", "label", "mesh_simple", "mesh_simple"]
    names = [name for name in scene.nodes if not name.endswith("a%2Fb")]
    assert names == [
        f"/frames/a%2Fb/arm_markers_{each}" for each in ("l_0", "b_3", "t_0", "m_0", "f_0")
    ]
    lines, sphere, text, mesh, faces = (scene.nodes[name] for name in names)
    everything = (lines, sphere, text, mesh, faces)
    assert {node.position for node in everything} == {(1.0, 2.0, 3.0)}
    assert {node.wxyz for node in everything} == {(1.0, 0.0, 0.0, 0.0)}
    assert np.array_equal(lines.given[0], LINES.reshape(2, 2, 3))
    assert lines.thickness == 0.1
    assert sphere.given == (0.1, (255, 128, 0))
    assert {sphere.opacity, mesh.opacity, faces.opacity} == {0.25}
    assert np.array_equal(faces.given[0][faces.given[1]].reshape(-1, 3), TRIANGLES)
    assert faces.side == "double"
    assert (text.given, text.font_scene_height) == (("words",), 0.3)
    assert np.allclose(np.ptp(mesh.given[0], axis=0), [2.0, 3.0, 4.0])


def test_lines_may_have_colors_of_their_own(show, scene):
    colors = ((1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0))
    show(Lines(name="l", frame="w", color=RED, ends=LINES, width=0.1, colors=colors))
    (node,) = (each for each in scene.nodes.values() if each.kind == "line_segments")
    expected = [[[255, 0, 0]] * 2, [[0, 0, 255]] * 2]
    assert np.array_equal(node.given[1], expected)


def test_what_stays_is_not_sent_again(show, scene):
    show(ball(), Text(name="t", frame="world", color=RED, text="a", height=1.0))
    sent = scene.sent
    show(ball(), Text(name="t", frame="world", color=RED, text="a", height=1.0))
    assert scene.sent == sent


def test_what_only_moves_or_says_something_else_is_not_made_anew(show, scene):
    show(ball(), Text(name="t", frame="world", color=RED, text="a", height=1.0))
    sent = scene.sent
    text = Text(name="t", frame="world", color=RED, text="b", height=1.0, pose=AWAY)
    show(ball(pose=AWAY), text)
    assert scene.sent == sent
    assert scene.nodes["/frames/world/arm_markers_b_0"].position == (1.0, 2.0, 3.0)
    shown = scene.nodes["/frames/world/arm_markers_t_0"]
    assert (shown.text, shown.position) == ("b", (1.0, 2.0, 3.0))


@pytest.mark.parametrize(
    "other",
    [{"frame": "tool"}, {"diameter": 0.3}, {"color": (0.0, 0.0, 0.0, 1.0)}],
    ids=lambda change: next(iter(change)),
)
def test_what_is_another_shape_takes_its_place(show, scene, other):
    show(ball())
    show(ball(**other))
    assert scene.kinds() == ["icosphere"]
    assert scene.sent == (4 if "frame" in other else 3)


def test_what_is_deleted_goes(show, scene):
    nodes = show(ball(), ball(number=1))
    show(ball())
    assert scene.kinds() == ["icosphere"]
    nodes.show(MarkerArray(markers=[Marker(action=Marker.DELETEALL)]), 0.0)
    assert scene.kinds() == []


def test_everything_goes_when_nobody_publishes_any_more(show, scene):
    nodes = show(ball(), now=10.0)
    nodes.update(14.9)
    assert scene.kinds() == ["icosphere"]
    nodes.update(15.1)
    assert scene.kinds() == []
    show(ball(), now=20.0)
    assert scene.kinds() == ["icosphere"]


def test_a_tours_objects_are_not_shown_twice_and_its_names_end_with_it(show, scene):
    """The page has the objects from the planning scene."""
    nodes = show()
    objects = [Marker(ns="objects", type=kind) for kind in (Marker.CUBE, Marker.CYLINDER)]
    name = Text(name="targets", frame="world", color=RED, text="first", height=0.1)
    names = Drawing(period=2.0).message([name]).markers
    nodes.show(MarkerArray(markers=[*objects, *names]), 0.0)
    assert scene.kinds() == ["label"]
    nodes.update(5.1)
    assert scene.kinds() == []


def test_the_frame_of_an_arms_markers_is_the_root_of_its_chain(show):
    assert show(ball()).root == "world"


def test_verdicts_are_for_the_panel_and_hide_nothing_in_the_scene(show, scene):
    verdict = {"frame": "world", "pose": AWAY, "height": 0.1}
    show(
        Text(name="state", color=RED, text="stopped", **verdict),
        Text(name="verdict", number=1, color=RED, text="met", **verdict),
        Text(name="constraint verdict", number=1, color=RED, text="met", **verdict),
    )
    assert scene.kinds() == []


def test_a_layer_that_is_switched_off_is_hidden_until_it_is_on_again(show, scene):
    shapes = [Lines(name=name, frame="w", color=RED, ends=LINES, width=0.1)
              for name in ("reach", "ghost", "chain", "target")]  # fmt: skip

    def seen():
        return {name.split("_")[-2] for name, node in scene.nodes.items()
                if node.kind == "line_segments" and node.visible}  # fmt: skip

    nodes = show(*shapes[:2])
    assert seen() == {"reach", "ghost"}
    nodes.frames.hidden = frozenset({"ghost", "frames"})
    nodes.update(0.0)
    show(*shapes)  # what comes later is hidden, too
    assert seen() == {"reach", "target"}
    nodes.frames.hidden = frozenset()
    nodes.update(0.0)
    assert seen() == {"reach", "ghost", "chain", "target"}


def test_lines_say_how_far_the_scene_extends(show):
    nodes = show(
        Lines(name="l", frame="w", color=RED, ends=LINES, width=0.1, pose=AWAY), ball(frame="v")
    )
    ((frame, points),) = nodes.extents()
    assert frame == "w"
    assert np.allclose(points - LINES, [1.0, 2.0, 3.0])


def test_bones_are_known(show):
    assert not show(ball()).has_bones
    bones = Lines(name="bones", frame="w", color=RED, ends=LINES, width=0.1)
    assert show(bones).has_bones
    assert not show(ball()).has_bones
