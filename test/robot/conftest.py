# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A slow forward kinematics that shares no code with the package, and URDF snippets."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from rotations import turned

Matrix = NDArray[np.float64]
Poses = dict[str, Matrix]


def _rotation(axis: tuple[float, ...], angle: float) -> Matrix:
    m = np.eye(4)
    m[:3, :3] = turned(axis, angle)
    return m


def _shift(xyz: tuple[float, ...]) -> Matrix:
    m = np.eye(4)
    m[:3, 3] = xyz
    return m


def _triple(element: ET.Element | None, key: str, default: str) -> tuple[float, ...]:
    text = default if element is None else element.get(key, default)
    return tuple(float(word) for word in text.split())


def reference_poses(urdf: str, values: Mapping[str, float]) -> Poses:
    """Return the pose of every link in the root link's frame, from raw URDF text."""
    robot = ET.fromstring(urdf)
    joints = {joint.get("name"): joint for joint in robot.findall("joint")}

    def value(name: str) -> float:
        mimic = joints[name].find("mimic")
        if mimic is None:
            return values.get(name, 0.0)
        factor, offset = mimic.get("multiplier", "1"), mimic.get("offset", "0")
        return float(factor) * value(mimic.get("joint")) + float(offset)

    def pose(link: str) -> Matrix:
        above = [joint for joint in joints.values() if joint.find("child").get("link") == link]
        if not above:
            return np.eye(4)
        (joint,) = above
        roll, pitch, yaw = _triple(joint.find("origin"), "rpy", "0 0 0")
        m = pose(joint.find("parent").get("link"))
        m = m @ _shift(_triple(joint.find("origin"), "xyz", "0 0 0"))
        m = m @ _rotation((0, 0, 1), yaw) @ _rotation((0, 1, 0), pitch) @ _rotation((1, 0, 0), roll)
        axis = _triple(joint.find("axis"), "xyz", "1 0 0")
        if joint.get("type") in ("revolute", "continuous"):
            return m @ _rotation(axis, value(joint.get("name")))
        if joint.get("type") == "prismatic":
            length = math.sqrt(sum(a * a for a in axis))
            slide = value(joint.get("name"))
            return m @ _shift(tuple(slide * a / length for a in axis))
        return m

    return {link.get("name"): pose(link.get("name")) for link in robot.findall("link")}


@pytest.fixture(scope="session")
def poses_of() -> Callable[[str, Mapping[str, float]], Poses]:
    return reference_poses


@pytest.fixture(scope="session")
def shipped() -> Callable[[str], str]:
    """Text of a URDF that the package ships."""
    folder = Path(__file__).parents[2] / "urdf"
    return lambda name: (folder / f"{name}.urdf").read_text(encoding="utf-8")


def joint_xml(
    name: str,
    parent: str,
    child: str,
    kind: str = "revolute",
    inside: str = "",
    limit: str = 'lower="-2" upper="2" velocity="1.5" effort="10"',
    origin: str = "",
) -> str:
    """Return a <joint>; `inside` is copied verbatim."""
    limits = f"<limit {limit}/>" if kind in ("revolute", "prismatic") and limit else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{f'<origin {origin}/>' if origin else ''}{limits}{inside}</joint>"
    )


def robot_xml(*joints: str, links: str = "", name: str = "r", version: str = "") -> str:
    """A <robot> with the joints, and the links that they name (or those of `links`)."""
    body = "".join(joints)
    if not links:
        ends = ET.fromstring(f"<robot>{body}</robot>").iter()
        names = dict.fromkeys(end.get("link", "") for end in ends if end.tag in ("parent", "child"))
        links = " ".join(names)
    tags = "".join(f'<link name="{link}"/>' for link in links.split())
    stated = f' version="{version}"' if version else ""
    return f'<robot name="{name}"{stated}>{tags}{body}</robot>'


@pytest.fixture(scope="session")
def joint() -> Callable[..., str]:
    return joint_xml


@pytest.fixture(scope="session")
def robot() -> Callable[..., str]:
    return robot_xml
