# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""No marker hides the handle from the camera of a shipped configuration.

RViz takes hold of the surface that is nearest under the mouse, and transparency makes no surface
let the mouse through. Lines and text are too thin to matter.
"""

import numpy as np
import pytest
from arm_views import scene_of
from rviz_view import ROOT, camera, manager
from visualization_msgs.msg import Marker

from basis_ik.arm.goals import PointGoal, PoseGoal, Ray
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.rviz.drag import handle_size
from basis_ik.ros.rviz.drag_marker import Mode, drag_marker
from basis_ik.ros.rviz.marker_array import Drawing
from basis_ik.transforms.rigid import RigidTransform

THIN = {Marker.LINE_STRIP, Marker.LINE_LIST, Marker.POINTS, Marker.TEXT_VIEW_FACING}
ROUND = {Marker.SPHERE, Marker.SPHERE_LIST}
BOXES = {Marker.CUBE, Marker.CUBE_LIST, Marker.CYLINDER}  # a cylinder by the box around it
UR5E = [0.0, -1.57, 1.57, -1.57, -1.57, 0.0]
PANDA = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]
# Configuration, robot, each chain's root and tip, and where the demo's arm waits for its target.
SCENES = [
    ("basis_ik", "ur5e", [("base_link", "tool0")], UR5E),
    ("basis_ik", "panda", [("panda_link0", "panda_hand_tcp")], PANDA),
    ("point_head", "pan_tilt", [("base_link", "camera_optical_frame")], [0.0, 0.0]),
    (
        "two_arms",
        "two_arms",
        [("left_base_link", "left_tool0"), ("right_base_link", "right_tool0")],
        UR5E,
    ),
]


def cameras(name):
    """Return the camera's position, and one ten times as far away, in the fixed frame."""
    eye, focus = camera(name)
    return [eye, focus + 10.0 * (eye - focus)]


def fixed_frame(name, robot):
    named = manager(name)["Global Options"]["Fixed Frame"]
    return "panda_link0" if robot == "panda" else named  # as in demo.launch.py


def scenes(model, chain, q):
    """Nothing yet, a target that is reached, one out of reach, and a point to look at."""
    tip = chain.forward(q)
    away = RigidTransform.from_rpy(0.1, 0.2, 0.3, 2.0 * tip.translation)
    ahead = RigidTransform.from_rpy(0.0, 0.0, 0.0, tip.apply([0.0, 0.0, chain.reach]))
    point = PointGoal(tuple(ahead.translation), Ray((0.0, 0.0, 1.0)))
    yield Mode.POSE, tip, scene_of(chain, q)
    yield Mode.POSE, tip, scene_of(chain, q, PoseGoal(tip), visuals=model.visuals_of(chain))
    yield Mode.POSE, away, scene_of(chain, q, PoseGoal(away), visuals=model.visuals_of(chain))
    yield Mode.POINT, ahead, scene_of(chain, q, point, visuals=model.visuals_of(chain))


def solids(marker):
    """Return the bodies of a marker: whether round, root_T_body, extents along its axes."""
    if marker.action != Marker.ADD or marker.type in THIN:
        return []
    assert marker.type in ROUND | BOXES, f"tell this test which body '{marker.ns}' is"
    o, p = marker.pose.orientation, marker.pose.position
    place = RigidTransform.from_quaternion_xyzw([o.x, o.y, o.z, o.w], [p.x, p.y, p.z])
    extents = np.array([marker.scale.x, marker.scale.y, marker.scale.z])
    several = marker.type in (Marker.SPHERE_LIST, Marker.CUBE_LIST)
    offsets = [[c.x, c.y, c.z] for c in marker.points] if several else [[0.0, 0.0, 0.0]]
    at = [RigidTransform.from_rpy(0.0, 0.0, 0.0, offset) for offset in offsets]
    return [(marker.type in ROUND, place @ offset, extents) for offset in at]


def entered(body, start, end):
    """Return which part of the way from start to end lies before a body; inf if it is missed."""
    is_round, place, extents = body
    back = place.inverse()
    a, b = back.apply(start) / extents, back.apply(end) / extents  # the body has diameter 1 now
    way = b - a
    if is_round:
        half, rest = a @ way, a @ a - 0.25
        root = half**2 - (way @ way) * rest
        first = (-half - np.sqrt(root)) / (way @ way) if root >= 0.0 else np.inf
    else:
        with np.errstate(divide="ignore"):
            sides = np.sort([(-0.5 - a) / way, (0.5 - a) / way], axis=0)
        first = sides[0].max() if sides[0].max() <= sides[1].min() else np.inf
    return first if first >= 0.0 else np.inf  # from inside nothing is seen of a body


def in_the_way(markers, camera, root_T_handle, handle):
    """Return the namespaces of what the mouse meets before the handle's ball."""
    (ball,) = solids(handle.controls[0].markers[0])
    centre = root_T_handle.translation
    seen = entered((ball[0], root_T_handle @ ball[1], ball[2]), camera, centre)
    assert 0.0 < seen < 1.0
    return [m.ns for m in markers for body in solids(m) if entered(body, camera, centre) < seen]


@pytest.mark.parametrize(
    ("config", "robot", "chains", "q"), SCENES, ids=[scene[1] for scene in SCENES]
)
def test_nothing_hides_the_handle(config, robot, chains, q):
    model = RobotModel.from_urdf((ROOT / "urdf" / f"{robot}.urdf").read_text())
    fixed = fixed_frame(config, robot)
    q = np.array(q)
    for root, tip in chains:
        chain = model.chain(root, tip)
        fixed_T_root = model.chain(fixed, tip).link_poses(q)[root]
        for mode, place, scene in scenes(model, chain, q):
            markers = Drawing(1.0).message(scene).markers
            handle = drag_marker("target", root, place, handle_size(chain, None), mode)
            for eye in cameras(config):
                seen_from = fixed_T_root.inverse().apply(eye)
                assert in_the_way(markers, seen_from, place, handle) == []


def marker(kind, centre, scale):
    made = Marker(ns="body", type=kind)
    made.pose.position.x, made.pose.position.y, made.pose.position.z = centre
    made.scale.x, made.scale.y, made.scale.z = scale
    return made


@pytest.mark.parametrize(
    ("body", "hides"),
    [
        (marker(Marker.SPHERE, (0.0, 0.0, 0.0), (2.0, 2.0, 2.0)), True),  # around it
        (marker(Marker.SPHERE, (1.0, 0.0, 0.0), (0.1, 0.1, 0.1)), True),  # before it
        (marker(Marker.CUBE, (1.0, 0.4, 0.0), (0.1, 1.0, 0.1)), True),
        (marker(Marker.CYLINDER, (0.0, 0.0, 0.0), (2.0, 2.0, 3.0)), True),
        (marker(Marker.SPHERE, (0.0, 0.0, 0.0), (0.01, 0.01, 0.01)), False),  # within its ball
        (marker(Marker.SPHERE, (-1.0, 0.0, 0.0), (0.1, 0.1, 0.1)), False),  # behind it
        (marker(Marker.CUBE, (1.0, 0.6, 0.0), (0.1, 1.0, 0.1)), False),  # beside it
        (marker(Marker.SPHERE, (0.0, 0.0, 0.0), (9.0, 9.0, 9.0)), False),  # around the camera, too
        (marker(Marker.LINE_LIST, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), False),
    ],
    ids=lambda value: str(value) if isinstance(value, bool) else f"type{value.type}",
)
def test_bodies_that_hide_a_handle_are_detected(body, hides):
    place = RigidTransform.identity()
    handle = drag_marker("target", "base", place, 0.2, Mode.POSE)
    assert bool(in_the_way([body], np.array([3.0, 0.0, 0.0]), place, handle)) == hides


def test_an_unknown_body_is_not_ignored():
    with pytest.raises(AssertionError, match="which body 'body' is"):
        solids(marker(Marker.MESH_RESOURCE, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)))
