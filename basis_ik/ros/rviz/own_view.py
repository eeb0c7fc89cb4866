# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""RViz's configuration for a robot that it was not made for: view, frames and sizes.

`python -m basis_ik.ros.rviz.own_view rviz2 -d FILE ...` awaits the robot's description, and becomes
the program behind it, with a fitted copy of the file if the description has come.
"""

from __future__ import annotations

import copy
import math
import os
import re
import sys
import tempfile
from typing import Any, NamedTuple

import numpy as np
import rclpy
import yaml
from rclpy.wait_for_message import wait_for_message
from std_msgs.msg import String

from basis_ik.errors import BasisIkError
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.scene import scene
from basis_ik.ros.qos import LATCHED
from basis_ik.view.camera import fitted


class ViewTuning(NamedTuple):
    """RViz's window, and how a robot fills it."""

    description_timeout: float = 5.0  # [s]
    panel_width: int = 380  # [px] beside the scene
    bars_height: int = 110  # [px] above and below the scene
    field_of_view: float = math.pi / 4  # [rad], RViz's own, from bottom to top
    frame_scale: float = 0.2  # of a frame's axes and name, as a fraction of the camera's distance
    cell_size: float = 0.25  # [reaches], of the grid
    margin: float = 0.1  # around the robot and its reach


VIEW = ViewTuning()
REACH_DIRECTIONS = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, 0]])


def fitted_to(config: dict[str, Any], model: RobotModel) -> dict[str, Any]:
    """Return RViz's configuration with a robot in view, its ends named, and sizes like its own.

    Args:
        config: The configuration, with one chain's displays.
        model: The robot.
    """
    config = copy.deepcopy(config)
    manager, window = config["Visualization Manager"], config["Window Geometry"]
    options = manager["Global Options"]
    if options["Fixed Frame"] not in model.links:
        options["Fixed Frame"] = model.root
    tree = scene(model, {})
    fixed = options["Fixed Frame"] if options["Fixed Frame"] in tree.frames else model.root
    points = np.array([tree.lookup(fixed, link).translation for link in tree.frames])
    try:
        chain = model.chain()
        names, reach = [chain.root, chain.tip], chain.reach
        points = np.vstack(
            [points, tree.lookup(fixed, chain.root).translation + reach * REACH_DIRECTIONS]
        )
    except BasisIkError:  # several arms, or none
        above = {joint.parent for joint in model.joints.values()}
        names = [model.root, *(link for link in tree.frames if link not in above)]
        reach = 0.5 * float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0  # of one link
    aspect = (window["Width"] - VIEW.panel_width) / (window["Height"] - VIEW.bars_height)
    eye, focus = fitted(points, VIEW.field_of_view, aspect, VIEW.margin)
    away, distance = eye - focus, float(np.linalg.norm(eye - focus))
    for display in manager["Displays"]:
        if display["Class"].endswith("/TF"):
            display["Marker Scale"] = VIEW.frame_scale * distance
            display["Filter (whitelist)"] = f"^({'|'.join(map(re.escape, names))})$"
        elif display["Class"].endswith("/Grid"):
            display["Cell Size"] = float(f"{VIEW.cell_size * reach:.1g}")
    manager["Views"]["Current"] |= {
        "Distance": distance,
        "Focal Point": dict(zip("XYZ", focus.tolist(), strict=True)),
        "Pitch": float(np.arcsin(away[2] / distance)),
        "Yaw": float(np.arctan2(away[1], away[0])),
    }
    return config


def main(command: list[str]) -> None:
    """Become a program, with its configuration fitted to the robot if that has come.

    Args:
        command: The program and its arguments, of which `-d` has the configuration.
    """
    at = command.index("-d") + 1
    rclpy.init(args=command)
    node = rclpy.create_node("own_view")
    found, message = wait_for_message(
        String,
        node,
        "/robot_description",
        qos_profile=LATCHED,
        time_to_wait=VIEW.description_timeout,
    )
    interrupted = not rclpy.ok()
    node.destroy_node()
    rclpy.try_shutdown()
    if interrupted:
        return
    if not found:
        print(
            f"no /robot_description in {VIEW.description_timeout:g} s: "
            f"the view is as in {command[at]}"
        )
    else:
        try:
            with open(command[at]) as file:
                config = fitted_to(yaml.safe_load(file), RobotModel.from_urdf(message.data))
        except BasisIkError as error:
            print(f"the view is as in {command[at]}: {error}")
        else:
            # RViz reads it at its start, and may save to it.
            number, command[at] = tempfile.mkstemp(prefix="basis_ik_", suffix=".rviz")
            with open(number, "w") as file:
                yaml.safe_dump(config, file)
    sys.stdout.flush()
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
