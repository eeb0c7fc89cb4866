# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The checker of the looking head detects a head that does not look."""

from threading import Event

import numpy as np
import rclpy
from geometry_msgs.msg import PointStamped

from basis_ik.ros.demo import moving_point
from basis_ik.ros.demo.moving_point import MovingPoint
from basis_ik.transforms.rigid import RigidTransform


def test_a_resting_head_fails(domain, monkeypatch, capsys):
    monkeypatch.setattr(moving_point, "ARRIVAL_TIMEOUT", 1.0)
    rclpy.init(args=["--ros-args", "-p", "duration:=1.0", "-p", "period:=60.0"], domain_id=domain)
    try:
        checker = MovingPoint(Event())
        checker.status = {"state": "READY"}
        checker.create_subscription(PointStamped, "basis_ik/target_point", lambda _: None, 1)
        # It looks along x of the root, 11 deg below the middle of the figure.
        head = RigidTransform.from_matrix(
            np.array([[0, 0, 1, 0], [-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, 1]], float)
        )
        checker.create_timer(
            0.02, lambda: checker.broadcast("base_link", "camera_optical_frame", head)
        )
        assert not checker.measure()
        checker.destroy_node()
    finally:
        rclpy.shutdown()
    assert capsys.readouterr().out.splitlines()[-1].endswith("FAILED")
