# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The program `reach_map`: its cloud, read as any subscriber would, and what it says."""

import struct
import sys
import threading

import numpy as np
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import PointCloud2

from basis_ik.extras.reach_map import reach_cloud
from basis_ik.extras.reach_map.map_files import MapSpec, ReachMap, save_map

CLOUD = [(-0.25, 0.5, 1.0, 1.0, 0.8), (0.0, 1.0, 1.0, 0.125, 0.1)]


@pytest.fixture
def small_map():
    reached = np.zeros((2, 3, 1), np.uint16)
    reached[0, 0, 0], reached[1, 2, 0] = 8, 1
    return ReachMap(
        MapSpec("base", "tool", "0123", 0.25, 8, False),
        np.array([-0.25, 0.5, 1.0]),
        reached,
        (reached / 10).astype(np.float32),
        np.zeros_like(reached),
        np.array([True, False]),
    )


def read(cloud):
    """Return the points of a cloud of floats, by its fields alone."""
    assert (cloud.height, cloud.is_bigendian) == (1, False)
    assert len(cloud.data) == cloud.row_step == cloud.width * cloud.point_step
    assert {(field.datatype, field.count) for field in cloud.fields} == {(7, 1)}
    data = bytes(cloud.data)
    return [
        tuple(
            struct.unpack_from("<f", data, i * cloud.point_step + field.offset)[0]
            for field in cloud.fields
        )
        for i in range(cloud.width)
    ]


def test_the_cloud_has_the_reached_voxels(small_map):
    cloud = reach_cloud.to_cloud(small_map)
    assert cloud.header.frame_id == "base"
    assert [field.name for field in cloud.fields] == ["x", "y", "z", "intensity", "manipulability"]
    np.testing.assert_allclose(read(cloud), CLOUD, rtol=1e-6)


def test_who_comes_late_gets_the_cloud(small_map, tmp_path, monkeypatch, own_domain):
    file = tmp_path / "map.npz"
    save_map(file, small_map)
    ros = ["--ros-args", "-r", "__ns:=/cell", "-p", "frame_prefix:=arm1/"]
    monkeypatch.setattr(sys, "argv", ["reach_map", str(file), *ros])
    context, stop, cloud = Context(), threading.Event(), Future()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(own_domain))
    rclpy.init(args=sys.argv)
    rclpy.init(context=context)
    program = threading.Thread(target=reach_cloud.main, args=[stop])
    program.start()
    node = rclpy.create_node("listener", context=context)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.create_subscription(PointCloud2, "/cell/reach_map/points", cloud.set_result, latched)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        executor.spin_until_future_complete(cloud, 60.0)
    finally:
        stop.set()
        program.join()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)
        rclpy.shutdown()
    np.testing.assert_allclose(read(cloud.result()), CLOUD, rtol=1e-6)
    assert cloud.result().header.frame_id == "arm1/base"


def test_an_absent_map_is_one_line(complaint, tmp_path):
    line = complaint("reach_map", more=["--", str(tmp_path / "absent.npz")])
    assert line.startswith("reach_map: cannot read ")
    assert line.endswith("absent.npz': No such file or directory")


def test_a_wrong_parameter_is_one_line(complaint, tmp_path, small_map):
    file = tmp_path / "map.npz"
    save_map(file, small_map)
    line = complaint("reach_map", "frame_prefix:=/arm1", more=["--", str(file), "--ros-args"])
    assert line.startswith("reach_map: parameter 'frame_prefix' is '/arm1', which is not a frame")
    line = complaint("reach_map", "prefix:=arm1/", more=["--", str(file), "--ros-args"])
    assert "'prefix'" in line
