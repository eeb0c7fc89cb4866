# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Which frames may be a tool, with a tf of the test's own."""

import math

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.time import Time
from robot_bench import URDF
from tf2_ros import TransformException

from basis_ik.robot.robot import RobotModel
from basis_ik.ros.boundary import LIVE
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.tool import Tool

MODEL = RobotModel.from_urdf(URDF)


def tool(found=None, latest=0):
    """A tool with one transform in tf, from a given time on."""

    def look_up(*_):
        if found is None:
            raise TransformException("nobody knows it")
        return found

    buffer = FrameBuffer()
    buffer.lookup_transform = look_up
    buffer.get_latest_common_time = lambda *_: Time(nanoseconds=latest)
    return Tool(MODEL, MODEL.chain(), buffer, LIVE.thread("tool"))


def transform(x=0.1, w=1.0):
    message = TransformStamped()
    message.transform.translation.x, message.transform.rotation.w = x, w
    return message


def test_a_frame_fixed_to_the_tip_may_be_the_tool():
    assert tool(transform()).complaint("tcp") is None
    assert tool().complaint("") is None
    assert tool().complaint("flange") is None, "a link needs no tf"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((), "NO_TRANSFORM"),
        ((transform(), 5), "moves against 'tool0'"),
        ((transform(x=math.nan),), "NON_FINITE"),
        ((transform(w=0.9),), "BAD_QUATERNION"),
        ((transform(x=2e6),), "OUT_OF_RANGE"),
    ],
    ids=["unknown", "moving", "nan", "quaternion", "far"],
)
def test_other_frames_are_refused_with_the_reason(given, words):
    refused = tool(*given)
    assert refused.complaint("tcp").startswith("is 'tcp', which is not fixed to tool0: ")
    assert words in refused.complaint("tcp")
    assert words in refused.change("tcp")
    assert refused.frame == ""


def test_a_long_invalid_name_is_shortened():
    for text in (tool().complaint("x" * 1000), tool().change("x" * 1000)):
        assert "BAD_FRAME" in text
        assert len(text) < 300


def test_a_moving_link_is_refused():
    assert "elbow_joint" in tool().complaint("upper_arm_link")


def test_a_tool_is_used_once_ready_and_removed_at_once():
    given = tool(transform())
    while given.change("tcp"):
        pass
    assert (given.frame, given.chain.tip) == ("tcp", "tcp")
    assert given.change("") == ""
    assert (given.frame, given.chain.tip) == ("", "tool0")
