# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The arms of the benchmark: URDF files of PyPI packages and our own, cut down to one chain.

Every contestant reads the same small file: the chain's links and joints, without meshes.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

PACKAGES = {
    "example": ("pinocchio", "../../../../share/example-robot-data/robots"),
    "rtb": ("rtbdata", "xacro"),
    "pybullet": ("pybullet_data", "."),
    "ours": ("basis_ik", "../urdf"),
}

# name: (package, file, root link, tip link)
ROBOTS = {
    "UR5": ("example", "ur_description/urdf/ur5_robot.urdf", "base_link", "tool0"),
    "UR10": ("example", "ur_description/urdf/ur10_robot.urdf", "base_link", "tool0"),
    "Puma560": (
        "rtb", "unimation_puma560_description/urdf/puma560_robot.urdf", "link1", "link7",
    ),
    "xArm6": ("pybullet", "xarm/xarm6_robot.urdf", "link_base", "link6"),
    "Jaco2": (
        "example", "kinova_description/robots/kinova.urdf",
        "j2s6s200_link_base", "j2s6s200_end_effector",
    ),
    "Panda": ("example", "panda_description/urdf/panda.urdf", "panda_link0", "panda_link8"),
    "iiwa14": (
        "rtb", "kuka_description/kuka_lbr_iiwa/urdf/lbr_iiwa_14_r820.urdf", "base_link", "tool0",
    ),
    "PR2": (
        "example", "pr2_description/urdf/pr2.urdf", "torso_lift_link", "r_gripper_tool_frame",
    ),
    "Baxter": ("example", "baxter_description/urdf/baxter.urdf", "torso", "left_gripper"),
    "xArm7": ("example", "xarm_description/urdf/xarm7.urdf", "link_base", "link_eef"),
    # Beyond the ten of the table: five joints (SO101), slides (TIAGo), ten joints (G1).
    "UR3": ("example", "ur_description/urdf/ur3_robot.urdf", "base_link", "tool0"),
    "iiwa7": ("pybullet", "kuka_iiwa/model.urdf", "lbr_iiwa_link_0", "lbr_iiwa_link_7"),
    "IRB140": ("rtb", "abb_irb140_description/urdf/irb140.urdf", "base_link", "tool0"),
    "KR16": ("rtb", "kuka_description/kuka_kr16/urdf/kr16_2.urdf", "base_link", "tool0"),
    "Talos": (
        "example", "talos_data/robots/talos_reduced.urdf", "torso_2_link", "gripper_left_base_link",
    ),
    "TIAGo": (
        "example", "tiago_description/robots/tiago.urdf", "base_footprint", "arm_tool_link",
    ),
    "KR210": ("rtb", "kuka_description/kuka_kr210/urdf/kr210l150.urdf", "base_link", "tool0"),
    "KR120": ("rtb", "kuka_description/kuka_kr120/urdf/kr120r2500pro.urdf", "base_link", "tool0"),
    "Z1": ("example", "z1_description/urdf/z1.urdf", "world", "link06"),
    "SO101": ("example", "so_arm_description/urdf/so101.urdf", "base_link", "gripper_link"),
    "TIAGoPro": (
        "example", "tiago_pro_description/robots/tiago_pro.urdf",
        "base_footprint", "arm_right_tool_link",
    ),
    "G1": ("example", "g1_description/urdf/g1_29dof_rev_1_0.urdf", "pelvis", "right_rubber_hand"),
    "Romeo": ("example", "romeo_description/urdf/romeo.urdf", "base_link", "r_gripper"),
    "Centauro": (
        "example", "centauro_description/urdf/centauro.urdf", "pelvis", "arm1_8",
    ),
    "iCub": ("example", "icub_description/robots/icub_reduced.urdf", "chest", "r_hand"),
    "UR5e": ("ours", "ur5e.urdf", "base_link", "tool0"),
}  # fmt: skip
THE_TEN = tuple(ROBOTS)[:10]
FABRIK_ARMS = ("UR5e", *THE_TEN[1:])


@dataclass(frozen=True)
class Arm:
    """One chain as a file and as text."""

    name: str
    path: Path
    text: str
    root: str
    tip: str


def find(name: str, folder: Path) -> Arm | None:
    """Write the chain of a robot into a folder; None where its package or file is missing."""
    package, file, root, tip = ROBOTS[name]
    module, below = PACKAGES[package]
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return None
    source = (Path(spec.origin).parent / below / file).resolve()
    if not source.is_file():
        return None
    text = cut(source.read_text(), root, tip)
    path = folder / f"{name}.urdf"
    path.write_text(text)
    return Arm(name, path, text, root, tip)


def cut(text: str, root: str, tip: str) -> str:
    """Return a URDF of nothing but the links and joints between two links."""
    source = ElementTree.fromstring(text)
    above = {joint.find("child").get("link"): joint for joint in source.findall("joint")}  # type: ignore[union-attr]
    chain = []
    link = tip
    while link != root:
        chain.append(above[link])
        link = above[link].find("parent").get("link")  # type: ignore[union-attr, assignment]
    robot = ElementTree.Element("robot", dict(source.attrib))
    ElementTree.SubElement(robot, "link", name=root)
    for joint in reversed(chain):
        ElementTree.SubElement(robot, "link", name=joint.find("child").get("link", ""))  # type: ignore[union-attr]
        kept = ElementTree.SubElement(robot, "joint", dict(joint.attrib))
        for tag in ("parent", "child", "origin", "axis", "limit"):
            element = joint.find(tag)
            if element is not None:
                kept.append(element)
        limit = kept.find("limit")
        if limit is not None and float(limit.get("velocity", "0")) == 0.0:
            limit.set("velocity", "1")  # the Puma's file states none
    return ElementTree.tostring(robot, encoding="unicode")
