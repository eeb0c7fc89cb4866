# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Publishes a map of reach as a point cloud for RViz."""

from __future__ import annotations

import argparse
import sys
from array import array
from pathlib import Path
from threading import Event

from rclpy.node import Node
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import PointCloud2, PointField

from basis_ik.extras.reach_map.map_files import POINT_FIELDS, ReachMap, load_map, points
from basis_ik.ros.parameters.parameters import (
    Declaration,
    Parameters,
    given_frame_complaint,
    given_lists,
)
from basis_ik.ros.periodic_spinner import spin
from basis_ik.ros.qos import LATCHED

# RViz colors points by the field `intensity` by default.
CLOUD_FIELDS = ["intensity" if name == "share" else name for name in POINT_FIELDS]
REACH_PARAMETERS = (
    Declaration(
        "frame_prefix",
        "",
        "What robot_state_publisher puts before the names of all links in tf.",
        read_only=True,
        check=given_frame_complaint,
    ),
)


def to_cloud(map_: ReachMap, frame_prefix: str = "") -> PointCloud2:
    """Return the reached voxels in the root's frame; the intensity is the share of orientations.

    Args:
        map_: The map; its root is a link of the URDF.
        frame_prefix: What tf has before the names of all links.
    """
    records = points(map_)
    cloud = PointCloud2(height=1, width=len(records), is_dense=True)
    cloud.header.frame_id = frame_prefix + map_.spec.root
    cloud.fields = [
        PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
        for i, name in enumerate(CLOUD_FIELDS)
    ]
    cloud.point_step = records.itemsize
    cloud.row_step = records.nbytes
    cloud.data = array("B", records.tobytes())
    return cloud


def main(stop: Event) -> int:
    """Publish the map on the command line until `stop`; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="reach_map",
        description="Publishes a map of reach on ~/points, latched, as RViz shows it.",
        epilog="Exit status: 0 when it is stopped, 1 an error, 2 wrong usage.",
    )
    parser.add_argument("file", type=Path, help="what `basis_ik reach` has written")
    map_ = load_map(parser.parse_args(remove_ros_args(sys.argv)[1:]).file)
    with given_lists():
        node = Node("reach_map", automatically_declare_parameters_from_overrides=True)
    parameters = Parameters(node)
    parameters.declare(REACH_PARAMETERS)
    parameters.refuse_unknown()
    publisher = node.create_publisher(PointCloud2, "~/points", LATCHED)
    cloud = to_cloud(map_, parameters["frame_prefix"])
    publisher.publish(cloud)
    part = "" if map_.complete else f"; {map_.done.mean():.0%} of the work is done so far"
    node.get_logger().info(f"{cloud.width} voxels on {publisher.topic_name}{part}")
    spin(node, stop)
    return 0
