# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Which feedback moves the foothold of the legs."""

import math

import pytest
import rclpy
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from basis_ik.ros.demo.legs_motion import HIP_T_FOOTHOLD, LegsMotion


@pytest.fixture
def legs(monkeypatch):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    rclpy.init()
    node = LegsMotion()
    node.sent = []
    monkeypatch.setattr(node, "_broadcaster", node)
    node.sendTransform = node.sent.append
    yield node
    rclpy.shutdown()


def drag(legs, event=Feedback.POSE_UPDATE, frame="hip", z=-0.6, w=1.0):
    feedback = Feedback(event_type=event, marker_name="foothold")
    feedback.header.frame_id = frame
    feedback.pose.position.z, feedback.pose.orientation.w = z, w
    legs._on_drag(feedback)
    return [each.transform.translation.z for each in legs.sent]


@pytest.mark.parametrize("event", [Feedback.POSE_UPDATE, Feedback.MOUSE_UP])
def test_the_foothold_follows_the_handle(legs, event):
    assert drag(legs, event) == [-0.6]
    (sent,) = legs.sent
    assert (sent.header.frame_id, sent.child_frame_id) == ("hip", "foothold")


@pytest.mark.parametrize(
    "other",
    [
        {"event": Feedback.MOUSE_DOWN},
        {"event": Feedback.MENU_SELECT},
        {"frame": "world"},
        {"z": math.nan},
        {"w": 0.0},
    ],
    ids=str,
)
def test_no_other_feedback_moves_it(legs, other):
    assert drag(legs, **other) == []


def test_the_handle_begins_at_the_foothold(legs):
    place = legs._foothold.get("foothold").pose.position
    assert [place.x, place.y, place.z] == HIP_T_FOOTHOLD.translation.tolist()
