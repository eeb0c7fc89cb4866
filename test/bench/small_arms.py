# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Arms whose descriptions no package has: their joints and lengths, with the makers' names."""

import math

PI = math.pi


def described(name, base, tip, rows):
    """Return a URDF of joints one after the other.

    Args:
        name: Of the robot.
        base: Its first link.
        tip: A link at the end, and where it is fixed [m].
        rows: For each joint its name, its child, where it is [m], its axis and its limits [rad].
    """
    text, parent = [f'<robot name="{name}"><link name="{base}"/>'], base
    for joint, child, xyz, axis, lower, upper in rows:
        text.append(
            f'<link name="{child}"/><joint name="{joint}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{xyz}"/><axis xyz="{axis}"/>'
            f'<limit lower="{lower}" upper="{upper}" velocity="3.0" effort="10"/></joint>'
        )
        parent = child
    link, xyz = tip
    text.append(
        f'<link name="{link}"/><joint name="{link}_joint" type="fixed"><parent link="{parent}"/>'
        f'<child link="{link}"/><origin xyz="{xyz}"/></joint></robot>'
    )
    return "".join(text)


X, Y, Z = "1 0 0", "0 1 0", "0 0 1"


def so101():
    return described(
        "so101", "base_link", ("gripper_frame_link", "0.098 0 0"),
        [
            ("shoulder_pan", "shoulder_link", "0.039 0 0.062", Z, -1.92, 1.92),
            ("shoulder_lift", "upper_arm_link", "0.03 0 0.054", Y, -1.745, 1.745),
            ("elbow_flex", "lower_arm_link", "0.028 0 0.113", Y, -1.69, 1.69),
            ("wrist_flex", "wrist_link", "0.135 0 0.005", Y, -1.658, 1.658),
            ("wrist_roll", "gripper_link", "0.061 0 0", X, -2.79, 2.79),
        ],
    )  # fmt: skip


def piper():
    return described(
        "piper", "base_link", ("gripper_base", "0.091 0 0"),
        [
            ("joint1", "link1", "0 0 0.123", Z, -2.618, 2.618),
            ("joint2", "link2", "0 0 0", Y, 0.0, 3.14),
            ("joint3", "link3", "-0.285 0 0", Y, -2.967, 0.0),
            ("joint4", "link4", "0.25 0 0.022", X, -1.745, 1.745),
            ("joint5", "link5", "0 0 0", Y, -1.22, 1.22),
            ("joint6", "link6", "0 0 0", X, -2.094, 2.094),
        ],
    )  # fmt: skip


def widowx():
    return described(
        "wx250s", "wx250s/base_link", ("wx250s/ee_gripper_link", "0.0925 0 0"),
        [
            ("waist", "wx250s/shoulder_link", "0 0 0.072", Z, -PI, PI),
            ("shoulder", "wx250s/upper_arm_link", "0 0 0.039", Y, -1.885, 1.99),
            ("elbow", "wx250s/upper_forearm_link", "0.05 0 0.25", Y, -2.147, 1.606),
            ("forearm_roll", "wx250s/lower_forearm_link", "0.175 0 0", X, -PI, PI),
            ("wrist_angle", "wx250s/wrist_link", "0.075 0 0", Y, -1.745, 2.147),
            ("wrist_rotate", "wx250s/gripper_link", "0.065 0 0", X, -PI, PI),
        ],
    )  # fmt: skip
