# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Markers for RViz: each kind of shape, and no more messages than needed."""

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.ros.rviz.marker_array import Drawing
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.shapes import GREEN, RED, YELLOW, Ball, Faces, Lines, Mesh, Text

PLACE = RigidTransform.from_rpy(0.1, 0.2, 0.3, [1.0, 2.0, 3.0])
ENDS = np.arange(12.0).reshape(4, 3)


def lines(**more):
    return Lines(
        **({"name": "a", "frame": "base", "color": RED, "ends": ENDS, "width": 0.1} | more)
    )


def drawn(*shapes):
    """The markers, as they arrive."""
    sent = serialize_message(Drawing(1.5).message(shapes))
    return deserialize_message(sent, MarkerArray).markers


def color(c):
    return pytest.approx((c.r, c.g, c.b, c.a))


def test_lines_become_a_line_list():
    plain, painted = drawn(lines(), lines(number=1, colors=(GREEN, YELLOW)))
    assert (plain.type, plain.scale.x) == (Marker.LINE_LIST, 0.1)
    assert [[p.x, p.y, p.z] for p in plain.points] == ENDS.tolist()
    assert not plain.colors
    assert color(plain.color) == RED
    assert tuple(color(c) for c in painted.colors) == (GREEN, GREEN, YELLOW, YELLOW)


def test_faces_become_a_triangle_list():
    corners = np.arange(18.0).reshape(6, 3)
    (faces,) = drawn(Faces(name="a", frame="base", color=RED, pose=PLACE, corners=corners))
    assert faces.type == Marker.TRIANGLE_LIST
    assert [[p.x, p.y, p.z] for p in faces.points] == corners.tolist()
    assert (faces.scale.x, faces.scale.y, faces.scale.z) == (1.0, 1.0, 1.0)


def test_a_ball_becomes_a_sphere():
    (ball,) = drawn(Ball(name="a", frame="base", color=YELLOW, pose=PLACE, diameter=0.2))
    assert ball.type == Marker.SPHERE
    assert (ball.scale.x, ball.scale.y, ball.scale.z) == (0.2, 0.2, 0.2)
    p, q = ball.pose.position, ball.pose.orientation
    assert (p.x, p.y, p.z) == (1.0, 2.0, 3.0)
    assert [q.x, q.y, q.z, q.w] == pytest.approx(PLACE.as_quaternion_xyzw())


def test_a_mesh_becomes_a_mesh_resource():
    file = "package://arm/hand.stl"
    (mesh,) = drawn(Mesh(name="a", frame="base", color=RED, file=file, scale=(1.0, 2.0, 3.0)))
    assert (mesh.type, mesh.mesh_resource) == (Marker.MESH_RESOURCE, file)
    assert (mesh.scale.x, mesh.scale.y, mesh.scale.z) == (1.0, 2.0, 3.0)
    assert not mesh.mesh_use_embedded_materials  # it has the colour of its state


def test_a_text_has_the_right_width():
    """RViz makes a space as wide as scale.x, or as in letters of 1 m if that is zero."""
    (text,) = drawn(Text(name="a", frame="base", color=RED, text="too far", height=0.06))
    assert (text.type, text.text, text.scale.z) == (Marker.TEXT_VIEW_FACING, "too far", 0.06)
    assert text.scale.x == pytest.approx(0.03)


def test_a_marker_is_locked_to_its_frame_and_expires():
    (marker,) = drawn(lines(name="x", number=7, frame="tool"))
    assert (marker.ns, marker.id, marker.action) == ("x", 7, Marker.ADD)
    assert marker.header.frame_id == "tool"
    assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)
    assert marker.frame_locked
    assert (marker.lifetime.sec, marker.lifetime.nanosec) == (4, 500_000_000)


def test_every_message_deletes_earlier_markers():
    drawing, other = Drawing(1.0), lines(name="b")
    drawing.message([lines(), other])
    for _ in range(2):
        actions = {m.ns: m.action for m in drawing.message([other]).markers}
        assert actions == {"a": Marker.DELETE, "b": Marker.ADD}
    actions = {m.ns: m.action for m in drawing.message([lines(), other]).markers}
    assert actions == {"a": Marker.ADD, "b": Marker.ADD}


def test_messages_of_unchanged_shapes_are_reused():
    drawing, still = Drawing(1.0), lines(name="b")
    before = drawing.message([lines(), still]).markers
    after = drawing.message([lines(pose=PLACE), still]).markers
    assert after[1] is before[1]
    assert after[0] is not before[0]
    assert after[0].points is before[0].points  # the ends are the same array
    assert after[0].pose.position.x == 1.0
    other = drawing.message([lines(ends=ENDS + 1.0), still]).markers[0]
    assert other.points[0].x == 1.0
