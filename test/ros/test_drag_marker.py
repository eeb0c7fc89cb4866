# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The handles, by the definition of their message."""

import numpy as np
import pytest
from visualization_msgs.msg import InteractiveMarkerControl as Control

from basis_ik.ros.rviz.drag_marker import TO_AXIS, Mode, drag_marker
from basis_ik.transforms.rigid import RigidTransform

PLACE = RigidTransform.from_rpy(0.1, 0.2, 0.3, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(("number", "axis"), list(enumerate("xyz")))
def test_each_control_acts_along_its_axis(number, axis):
    q = TO_AXIS[axis]
    turn = RigidTransform.from_quaternion_xyzw([q.x, q.y, q.z, q.w], [0.0, 0.0, 0.0])
    assert np.allclose(turn.rotation[:, 0], np.eye(3)[number], atol=1e-12)


@pytest.mark.parametrize(
    ("mode", "moves", "turns"), [(Mode.POSE, 3, 3), (Mode.POINT, 3, 0)], ids=["pose", "point"]
)
def test_a_pose_has_six_degrees_of_freedom_and_a_point_three(mode, moves, turns):
    controls = drag_marker("m", "base", PLACE, 0.2, mode).controls
    modes = [c.interaction_mode for c in controls]
    assert modes.count(Control.MOVE_AXIS) == moves
    assert modes.count(Control.ROTATE_AXIS) == turns
    assert modes.count(Control.MOVE_3D) == 1
    assert len({c.name for c in controls}) == len(controls)


def test_the_marker_has_the_given_pose_and_frame():
    marker = drag_marker("m", "base", PLACE, 0.2, Mode.POSE)
    assert (marker.name, marker.header.frame_id) == ("m", "base")
    assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)
    p, q = marker.pose.position, marker.pose.orientation
    assert [p.x, p.y, p.z] == [1.0, 2.0, 3.0]
    assert np.allclose([q.x, q.y, q.z, q.w], PLACE.as_quaternion_xyzw())
    assert marker.scale == pytest.approx(0.2)


def test_the_ball_is_always_visible():
    ball = drag_marker("m", "base", PLACE, 0.2, Mode.POSE).controls[0]
    assert ball.always_visible
    assert ball.markers[0].color.a > 0.0
    assert 0.0 < ball.markers[0].scale.x < 0.2
