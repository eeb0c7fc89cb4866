# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Arms with a closed form: with their makers' dimensions, and random ones for each form."""

from __future__ import annotations

from math import pi

import numpy as np
import transforms3d

from basis_ik.robot.robot import RobotModel

H = pi / 2
TURN = (-2 * pi, 2 * pi)


def turning(xyz, rpy, lower, upper, axis="0 0 1"):
    return ("revolute", xyz, rpy, axis, lower, upper)


def _ur(d1, d2, a2, d3, a3, d4, d5, d6):
    """Return the rows of a Universal Robots arm, in the style of its older descriptions."""
    return [
        turning(f"0 0 {d1}", "0 0 0", *TURN),
        turning(f"0 {d2} 0", f"0 {H} 0", *TURN, "0 1 0"),
        turning(f"0 {d3} {a2}", "0 0 0", -pi, pi, "0 1 0"),
        turning(f"0 0 {a3}", f"0 {H} 0", *TURN, "0 1 0"),
        turning(f"0 {d4} 0", "0 0 0", *TURN),
        turning(f"0 0 {d5}", "0 0 0", *TURN, "0 1 0"),
    ], f"0 {d6} 0"


def _dh(rows):
    """Return the rows of an arm from Denavit-Hartenberg parameters d, a, alpha, and limits."""
    made, xyz, rpy = [], "0 0 0", "0 0 0"
    for d, a, alpha, lower, upper in rows:
        made.append(turning(xyz, rpy, lower, upper))
        xyz, rpy = f"{a} 0 {d}", f"{alpha} 0 0"
    return made, xyz


ROWS = {
    "ur3": _ur(0.1519, 0.1198, 0.24365, -0.0925, 0.21325, 0.08505, 0.08535, 0.0819),
    "ur10": _ur(0.1273, 0.220941, 0.612, -0.1719, 0.5723, 0.1149, 0.1157, 0.0922),
    "abb_irb120": (
        [
            turning("0 0 0", "0 0 0", -2.87979, 2.87979),
            turning("0 0 0.29", "0 0 0", -1.91986, 1.91986, "0 1 0"),
            turning("0 0 0.27", "0 0 0", -1.91986, 1.22173, "0 1 0"),
            turning("0 0 0.07", "0 0 0", -2.79253, 2.79253, "1 0 0"),
            turning("0.302 0 0", "0 0 0", -2.094395, 2.094395, "0 1 0"),
            turning("0.072 0 0", "0 0 0", -6.98132, 6.98132, "1 0 0"),
        ],
        "0 0 0",
    ),
    "fanuc_lrmate200id": (
        [
            turning("0 0 0.33", "0 0 0", -2.9671, 2.9671),
            turning("0.05 0 0", "0 0 0", -1.7453, 2.5307, "0 1 0"),
            turning("0 0 0.33", "0 0 0", -2.4435, 4.8869, "0 -1 0"),
            turning("0 0 0.035", "0 0 0", -3.3161, 3.3161, "-1 0 0"),
            turning("0.335 0 0", "0 0 0", -2.1817, 2.1817, "0 -1 0"),
            turning("0.08 0 0", "0 0 0", -6.2832, 6.2832, "-1 0 0"),
        ],
        "0 0 0",
    ),
    "kuka_kr6_r900": (
        [
            turning("0 0 0.4", "0 0 0", -2.96706, 2.96706, "0 0 -1"),
            turning("0.025 0 0", "0 0 0", -3.31613, 0.785398, "0 1 0"),
            turning("0.455 0 0", "0 0 0", -2.094395, 2.722714, "0 1 0"),
            turning("0 0 0.035", "0 0 0", -3.22886, 3.22886, "-1 0 0"),
            turning("0.42 0 0", "0 0 0", -2.094395, 2.094395, "0 1 0"),
            turning("0.08 0 0", "0 0 0", -6.10865, 6.10865, "-1 0 0"),
        ],
        "0 0 0",
    ),
    "staubli_tx90": _dh(
        [
            (0.478, 0.05, -H, -pi, pi),
            (0.05, 0.425, 0, -2.27, 2.58),
            (0.0, 0.0, H, -2.53, 2.53),
            (0.425, 0.0, -H, -4.71, 4.71),
            (0.0, 0.0, H, -2.01, 2.44),
            (0.1, 0.0, 0, -4.71, 4.71),
        ]
    ),
    "motoman_sia_like": _dh(  # no offsets at all: shoulder and wrist are spheres
        [
            (0.36, 0.0, -H, -2.9, 2.9),
            (0.0, 0.42, 0, -2.0, 2.0),
            (0.0, 0.0, H, -2.9, 2.9),
            (0.4, 0.0, -H, -2.9, 2.9),
            (0.0, 0.0, H, -2.1, 2.1),
            (0.126, 0.0, 0, -3.0, 3.0),
        ]
    ),
    "rolling_shoulder": _dh(  # its axes 2 and 3 meet, the axes 1 and 2 do not
        [
            (0.2, 0.15, -H, -2.9, 2.9),
            (0.1, 0.0, H, -2.4, 2.4),
            (0.5, 0.1, -H, -2.9, 2.9),
            (0.0, 0.0, H, -2.9, 2.9),
            (0.0, 0.0, -H, -2.1, 2.1),
            (0.12, 0.0, 0, -3.0, 3.0),
        ]
    ),
    "scara_with_wrist": _dh(  # its axes 1 and 2 are parallel
        [
            (0.4, 0.35, 0, -2.9, 2.9),
            (0.0, 0.3, H, -2.4, 2.4),
            (0.1, 0.25, H, -2.9, 2.9),
            (0.0, 0.0, -H, -2.9, 2.9),
            (0.0, 0.0, H, -2.1, 2.1),
            (0.12, 0.0, 0, -3.0, 3.0),
        ]
    ),
}


FEWER = {
    "planar_3r": (
        [
            turning("0 0 0.1", "0 0 0", -2.9, 2.9),
            turning("0.4 0 0", "0 0 0", -2.5, 2.5),
            turning("0.3 0 0.05", "0 0 0", -2.9, 2.9),
        ],
        "0.2 0.05 0",
    ),
    "anthropomorphic_3r": (
        [
            turning("0 0 0.1", "0 0 0", -2.9, 2.9),
            turning("0 0.05 0.2", "0 0 0", -1.9, 1.9, "0 1 0"),
            turning("0 0 0.4", "0 0 0", -2.5, 2.5, "0 1 0"),
        ],
        "0.35 0.02 0",
    ),
    "oblique_3r": (
        [
            turning("0 0 0.1", "0 0 0", -2.9, 2.9, "0.1 0.2 1"),
            turning("0.1 0.05 0.2", "0 0 0", -1.9, 1.9, "0.3 1 0"),
            turning("0.1 0.1 0.3", "0 0 0", -2.5, 2.5, "1 0 0.4"),
        ],
        "0.35 0.02 0.1",
    ),
    "open_manipulator": (
        [
            turning("0.012 0 0.017", "0 0 0", -3.1, 3.1),
            turning("0 0 0.0595", "0 0 0", -1.5, 1.5, "0 1 0"),
            turning("0.024 0 0.128", "0 0 0", -1.5, 1.4, "0 1 0"),
            turning("0.124 0 0", "0 0 0", -1.7, 1.97, "0 1 0"),
        ],
        "0.126 0 0",
    ),
    "oblique_4r": (
        [
            turning("0 0 0.1", "0 0 0", -2.9, 2.9, "0.1 0.2 1"),
            turning("0.1 0.05 0.2", "0 0 0", -1.9, 1.9, "0.3 1 0"),
            turning("0.1 0.1 0.3", "0 0 0", -2.5, 2.5, "1 0 0.4"),
            turning("0.2 0.1 0.1", "0 0 0", -2.5, 2.5, "0.2 1 0.4"),
        ],
        "0.15 0.02 0.1",
    ),
    "youbot": (
        [
            turning("0.024 0 0.096", "0 0 0", -2.9496, 2.9496),
            turning("0.033 0 0.019", "0 0 0", -1.1345, 1.5708, "0 1 0"),
            turning("0 0 0.155", "0 0 0", -2.6354, 2.5482, "0 1 0"),
            turning("0 0 0.135", "0 0 0", -1.7890, 1.7890, "0 1 0"),
            turning("0 0 0.1136", "0 0 0", -2.9234, 2.9234),
        ],
        "0 0 0.05716",
    ),
    "parallel_5r": (  # its axes 4 and 5 do not meet
        [
            turning("0.024 0.01 0.096", "0 0 0", -2.9496, 2.9496),
            turning("0.033 0.02 0.019", "0 0 0", -1.1345, 1.5708, "0 1 0"),
            turning("0.02 0 0.155", "0 0 0", -2.6354, 2.5482, "0 1 0"),
            turning("0 0.03 0.135", "0 0 0", -1.7890, 1.7890, "0 1 0"),
            turning("0.06 0 0.1136", "0 0 0", -2.9234, 2.9234, "0.2 0.1 1"),
        ],
        "0.03 0.1 0.05716",
    ),
    "scara": (
        [
            turning("0 0 0.2", "0 0 0", -2.3, 2.3),
            turning("0.225 0 0.05", "0 0 0", -2.5, 2.5, "0 0 -1"),
            ("prismatic", "0.175 0 0", "0 0 0", "0 0 -1", 0.0, 0.15),
            turning("0 0.01 0.02", "0 0 0", -3.1, 3.1),
        ],
        "0.02 0.03 -0.1",
    ),
    "scara_with_a_leaning_column": (
        [
            ("prismatic", "0.1 0 0.2", "0.3 0.2 0.1", "0 0 1", -0.2, 0.35),
            turning("0 0.02 0", "0 0 0", -2.9, 2.9),
            turning("0.225 0 0.05", "0 0 0", -2.5, 2.5),
            turning("0.175 0 0.02", "0 0 0", -3.1, 3.1, "0 0 -1"),
        ],
        "0.02 0.03 -0.1",
    ),
    "oblique_5r": (  # its axes 4 and 5 meet, and nothing else is special
        [
            turning("0 0 0.1", "0 0 0", -2.9, 2.9, "0.1 0.2 1"),
            turning("0.1 0.05 0.2", "0 0 0", -1.9, 1.9, "0.3 1 0"),
            turning("0.1 0.1 0.3", "0 0 0", -2.5, 2.5, "1 0 0.4"),
            turning("0.2 0.1 0.1", "0 0 0", -2.5, 2.5, "0.2 1 0.4"),
            turning("0 0 0", "0 0 0", -2.5, 2.5, "1 0.2 0.4"),
        ],
        "0.15 0.02 0.1",
    ),
    "shouldered_5r": (  # its axes 1 and 2 meet, and nothing else is special
        [
            turning("0 0 0.1", "0 0 0", -2.9, 2.9, "0.1 0.2 1"),
            turning("0 0 0", "0 0 0", -1.9, 1.9, "0.3 1 0"),
            turning("0.1 0.1 0.3", "0 0 0", -2.5, 2.5, "1 0 0.4"),
            turning("0.2 0.1 0.1", "0 0 0", -2.5, 2.5, "0.2 1 0.4"),
            turning("0.1 0 0.1", "0 0 0", -2.5, 2.5, "1 0.2 0.4"),
        ],
        "0.15 0.02 0.1",
    ),
    "rolling_5r": (  # its axes 2 and 3 meet, and nothing else is special
        [
            turning("0 0 0.1", "0 0 0", -2.9, 2.9, "0.1 0.2 1"),
            turning("0.1 0.05 0.2", "0 0 0", -1.9, 1.9, "0.3 1 0"),
            turning("0 0 0", "0 0 0", -2.5, 2.5, "1 0 0.4"),
            turning("0.2 0.1 0.3", "0 0 0", -2.5, 2.5, "0.2 1 0.4"),
            turning("0.1 0 0.1", "0 0 0", -2.5, 2.5, "1 0.2 0.4"),
        ],
        "0.15 0.02 0.1",
    ),
    "planar_5r": (  # its axes 1 and 2 are parallel, and nothing else is special
        [
            turning("0 0 0.1", "0 0 0", -2.9, 2.9),
            turning("0.3 0.05 0.2", "0 0 0", -2.4, 2.4),
            turning("0.2 0.1 0.1", "0 0 0", -2.5, 2.5, "1 0 0.4"),
            turning("0.2 0.1 0.1", "0 0 0", -2.5, 2.5, "0.2 1 0.4"),
            turning("0.1 0 0.1", "0 0 0", -2.5, 2.5, "1 0.2 0.4"),
        ],
        "0.15 0.02 0.1",
    ),
    "anyhow_5r": (  # nothing is special
        [
            turning("0 0 0.1", "0 0 0", -2.9, 2.9, "0.1 0.2 1"),
            turning("0.1 0.05 0.2", "0 0 0", -1.9, 1.9, "0.3 1 0"),
            turning("0.1 0.1 0.3", "0 0 0", -2.5, 2.5, "1 0 0.4"),
            turning("0.2 0.1 0.1", "0 0 0", -2.5, 2.5, "0.2 1 0.4"),
            turning("0.1 0 0.1", "0 0 0", -2.5, 2.5, "1 0.2 0.4"),
        ],
        "0.15 0.02 0.1",
    ),
}
"""Arms of fewer than six joints."""


OFFSET_WRISTS = {
    "xarm6": _dh(
        [
            (0.267, 0.0, -H, *TURN),
            (0.0, 0.2895, 0, -3.5, 0.6),
            (0.0, 0.0775, -H, -4.0, 1.6),
            (0.3425, 0.0, H, *TURN),
            (0.0, 0.076, -H, -1.69, 3.14),
            (0.097, 0.0, 0, *TURN),
        ]
    ),
    "fanuc_crx10ia": (
        [
            turning("0 0 0.245", "0 0 0", -3.3, 3.3),
            turning("0 0 0", "0 0 0", -3.14, 3.14, "0 1 0"),
            turning("0 0 0.54", "0 0 0", -4.7, 4.7, "0 -1 0"),
            turning("0 0 0", "0 0 0", -3.3, 3.3, "-1 0 0"),
            turning("0.54 0 0", "0 0 0", -3.14, 3.14, "0 -1 0"),
            turning("0 -0.15 0", "0 0 0", -3.9, 3.9, "-1 0 0"),
        ],
        "0.16 0 0",
    ),
    "abb_crb15000": (
        [
            turning("0 0 0.265", "0 0 0", -3.14, 3.14),
            turning("0 0 0", "0 0 0", -3.14, 3.14, "0 1 0"),
            turning("0 0 0.444", "0 0 0", -3.92, 1.48, "0 1 0"),
            turning("0 0 0.11", "0 0 0", -3.14, 3.14, "1 0 0"),
            turning("0.47 0 0", "0 0 0", -3.14, 3.14, "0 1 0"),
            turning("0.101 0 0.08", "0 0 0", -4.71, 4.71, "1 0 0"),
        ],
        "0 0 0",
    ),
    "kinova_jaco": (
        [
            turning("0 0 0.2755", "0 0 0", *TURN),
            turning("0 0.0016 0", f"{-H} 0 0", -2.3, 2.3),
            turning("0 -0.41 0", "0 0 0", -2.6, 2.6),
            turning("0 -0.2073 -0.0114", f"{H} 0 0", *TURN),
            turning("0 0 0.0741", f"{-pi / 3} 0 0", *TURN),
            turning("0 0 0.0741", f"{pi / 3} 0 0", *TURN),
        ],
        "0 0 0.16",
    ),
}
"""Arms whose neighbouring axes intersect only in pairs."""


KINDS = (
    "parallel_2_3", "parallel_1_2", "meet_1_2", "meet_2_3", "parallel_2_3_4", "wrist", "parallels",
    "meet_2_3_4", "parallel_1_2_3", "parallel_1_2_3_meet_4_5",
)  # fmt: skip
MEETING = ("meet_5_6", "meet_4_5", "meet_3_4")
BOTH_WAYS = (*KINDS, *(f"{kind}_from_tip" for kind in KINDS))


def random_arm(kind, rng, limit=pi, noise=0.0):
    """Return the rows and the tip of an arm with the axes of a form, which are arbitrary otherwise.

    Args:
        kind: Of BOTH_WAYS or MEETING.
        rng: Random generator.
        limit: Limit of all joints, ± [rad].
        noise: Standard deviation of the axes from the form [m] and [rad].
    """
    h, p = rng.normal(size=(6, 3)), rng.uniform(-0.3, 0.3, (6, 3))
    form = kind.removesuffix("_from_tip")
    if form == "parallel_2_3_4":
        h[2], h[3], p[5] = h[1], -h[1], p[4]
    elif form == "parallels":
        h[2], h[3] = -h[1], h[1]
    elif form == "wrist":
        p[4] = p[5] = p[3]
    elif form == "meet_2_3_4":
        p[2] = p[3] = p[1]
    elif form in MEETING:
        p[int(form[-1]) - 1] = p[int(form[-3]) - 1]
    elif form.startswith("parallel_1_2_3"):
        h[1], h[2] = -h[0], h[0]
        if form != "parallel_1_2_3":
            p[4] = p[3]
    else:
        p[4] = p[5] = p[3]
        first, second = int(form[-3]) - 1, int(form[-1]) - 1
        if form.startswith("parallel"):
            h[second] = -h[first]
        else:
            p[second] = p[first]
    if kind.endswith("_from_tip"):
        h, p = h[::-1], p[::-1]
    h = h + noise * rng.normal(size=(6, 3))
    p = p + noise * rng.normal(size=(6, 3))
    rows, before = [], np.zeros(3)
    for axis, point in zip(h, p, strict=True):
        words = [" ".join(map(repr, each.tolist())) for each in (point - before, axis)]
        rows.append(turning(words[0], "0 0 0", -limit, limit, words[1]))
        before = point
    return rows, "0.05 0.1 -0.07"


def chain_of(rows, tip="0 0 0", ends=("l0", "tip")):
    """Return the chain of rows (kind, xyz, rpy, axis, lower, upper) and the tip."""
    text = "<robot name='arm'><link name='l0'/>"
    for i, (kind, xyz, rpy, axis, lower, upper) in enumerate(rows, 1):
        text += f"<link name='l{i}'/><joint name='j{i}' type='{kind}'><parent link='l{i - 1}'/>"
        text += f"<child link='l{i}'/><origin xyz='{xyz}' rpy='{rpy}'/><axis xyz='{axis}'/>"
        bounds = "" if kind == "continuous" else f"lower='{lower}' upper='{upper}'"
        text += f"<limit {bounds} velocity='2' effort='9'/></joint>"
    text += "<link name='tip'/><joint name='end' type='fixed'>"
    text += f"<parent link='l{len(rows)}'/><child link='tip'/><origin xyz='{tip}'/></joint></robot>"
    return RobotModel.from_urdf(text).chain(*ends)


def apart(a, b):
    """Return the largest angle between joint positions (..., 6), modulo full turns [rad]."""
    return np.abs(np.remainder(np.subtract(a, b) + pi, 2 * pi) - pi).max(axis=-1)


def place(chain, q):
    """Return root_T_tip (4, 4), calculated by scalars from the description."""
    total, k = np.eye(4), 0
    for joint in chain.joints:
        total = total @ joint.origin.matrix
        if joint.name in chain.joint_names:
            turn = transforms3d.axangles.axangle2aff(joint.axis, q[k])
            total, k = total @ turn, k + 1
    return total
