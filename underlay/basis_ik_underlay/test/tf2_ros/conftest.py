# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import socket

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.time import Time


@pytest.fixture(scope="session")
def stamped():
    def make(parent, child, at=0.0, translation=(0.0, 0.0, 0.0), rotation=(0.0, 0.0, 0.0, 1.0)):
        message = TransformStamped(child_frame_id=child)
        message.header.frame_id = parent
        message.header.stamp = Time(nanoseconds=round(at * 1e9)).to_msg()
        t, q = message.transform.translation, message.transform.rotation
        t.x, t.y, t.z = translation
        q.x, q.y, q.z, q.w = rotation
        return message

    return make


@pytest.fixture
def domain(monkeypatch):
    """A ROS_DOMAIN_ID of its own, claimed as upstream's domain_coordinator does it."""
    for number in range(1, 101):
        with socket.socket() as claim:
            try:
                claim.bind(("", 32768 + number))
            except OSError:
                continue
            monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
            yield number
            return
