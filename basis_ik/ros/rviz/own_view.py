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
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import rclpy
import yaml
from rclpy.node import Node
from rclpy.wait_for_message import wait_for_message
from std_msgs.msg import String

from basis_ik.errors import BasisIkError
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.scene import scene
from basis_ik.ros.qos import LATCHED
from basis_ik.view.camera import fitted


class ViewTuning(NamedTuple):
    """RViz's window, and how a robot fills it."""

    description_timeout: float = 5.0  # [s]
    arms_timeout: float = 10.0  # [s], for the topics of several arms
    panel_width: int = 380  # [px] beside the scene
    bars_height: int = 110  # [px] above and below the scene
    field_of_view: float = math.pi / 4  # [rad], RViz's own, from bottom to top
    frame_scale: float = 0.2  # of a frame's axes and name, as a fraction of the camera's distance
    cell_size: float = 0.25  # [reaches], of the grid
    margin: float = 0.1  # around the robot and its reach


VIEW = ViewTuning()
CHAIN_MARKERS, CHAIN_HANDLE = "/basis_ik/markers", "/basis_ik/target"  # in the configuration
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
    except ChainError as error:  # several arms, or none
        names = [model.root, *error.candidates]
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


def for_arms(config: dict[str, Any], node_name: str, arms: Sequence[str]) -> dict[str, Any]:
    """Return RViz's configuration with the markers and the handle of each arm.

    Args:
        config: The configuration, with one chain's displays.
        node_name: Name of the node that drives them, with its namespace.
        arms: Names of its chains; empty: it has one, without a name.
    """
    config, displays = copy.deepcopy(config), []
    manager = config["Visualization Manager"]
    for display in manager["Displays"]:
        own = {
            display.get("Topic", {}).get("Value"): "markers",
            display.get("Interactive Markers Namespace"): "target",
        }
        of_arm = own.get(CHAIN_MARKERS, own.get(CHAIN_HANDLE))
        for arm in arms if of_arm else ():
            shown = copy.deepcopy(display) | {"Name": f"{display['Name']}: {arm}"}
            if of_arm == "markers":
                shown["Topic"]["Value"] = f"{node_name}/{arm}/markers"
            else:
                shown["Interactive Markers Namespace"] = f"{node_name}/{arm}/target"
            displays.append(shown)
        if not arms or not of_arm:
            displays.append(display)
    manager["Displays"] = displays
    return config


def arms_among(topics: Iterable[str], node_name: str) -> list[str] | None:
    """Return the names of a node's chains by its topics, or None if it has none yet.

    Args:
        topics: Names of all topics.
        node_name: The node's, with its namespace.
    """
    found = (re.fullmatch(f"{re.escape(node_name)}(/[^/]+)?/markers", name) for name in topics)
    names = sorted((each[1] or "").removeprefix("/") for each in found if each)
    return [name for name in names if name] if names else None


def await_arms(node: Node, model: RobotModel) -> tuple[str, list[str]]:
    """Return the name of the node that drives a robot, and those of its chains.

    Nothing is awaited of a robot with one arm.
    """
    name = node.resolve_topic_name(CHAIN_MARKERS).removesuffix("/markers")
    try:
        model.chain()
        return name, []
    except BasisIkError:
        end = time.monotonic() + VIEW.arms_timeout
    while rclpy.ok() and time.monotonic() < end:
        arms = arms_among((topic for topic, _ in node.get_topic_names_and_types()), name)
        if arms is not None:
            return name, arms
        time.sleep(0.1)
    return name, []


def _own_config(node: Node, path: str) -> dict[str, Any]:
    """Return the configuration in a file, fitted to the robot whose description comes.

    Raises:
        BasisIkError: None comes, or it is not one.
    """
    found, message = wait_for_message(
        String,
        node,
        "/robot_description",
        qos_profile=LATCHED,
        time_to_wait=VIEW.description_timeout,
    )
    if not found:
        raise BasisIkError(f"no /robot_description in {VIEW.description_timeout:g} s")
    model = RobotModel.from_urdf(message.data)
    with open(path) as file:
        config = fitted_to(yaml.safe_load(file), model)
    return for_arms(config, *await_arms(node, model))


def main(command: list[str]) -> None:
    """Become a program, with its configuration fitted to the robot if that has come.

    Args:
        command: The program and its arguments, of which `-d` has the configuration.
    """
    at = command.index("-d") + 1
    rclpy.init(args=command)
    node = rclpy.create_node("own_view")
    try:
        config = _own_config(node, command[at])
    except BasisIkError as error:
        config = None
        print(f"the view is as in {command[at]}: {error}")
    interrupted = not rclpy.ok()
    node.destroy_node()
    rclpy.try_shutdown()
    if interrupted:
        return
    if config is not None:
        # RViz reads it at its start, and may save to it.
        number, command[at] = tempfile.mkstemp(prefix="basis_ik_", suffix=".rviz")
        with open(number, "w") as file:
            yaml.safe_dump(config, file)
    sys.stdout.flush()
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
