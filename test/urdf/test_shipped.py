# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The robots that are shipped: published kinematics, conventional names, sound physics."""

import math
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from basis_ik.robot.robot import RobotModel

FOLDER = Path(__file__).parents[2] / "urdf"
ROBOTS = ["legs", "pan_tilt", "panda", "two_arms", "ur5e"]
H = math.pi / 2


def text_of(name):
    return (FOLDER / f"{name}.urdf").read_text(encoding="utf-8")


def model_of(name):
    return RobotModel.from_urdf(text_of(name))


def turn(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    m = np.eye(4)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    m[i, i], m[i, j], m[j, i], m[j, j] = c, -s, s, c
    return m


def move(x=0.0, y=0.0, z=0.0):
    m = np.eye(4)
    m[:3, 3] = x, y, z
    return m


def random_positions(chain, count=50):
    rng = np.random.default_rng(0)
    return rng.uniform(chain.lower, chain.upper, (count, len(chain.lower)))


def test_these_are_all():
    assert sorted(path.stem for path in FOLDER.glob("*.urdf")) == ROBOTS


# Universal Robots' table for the UR5e, Denavit-Hartenberg: a [m], d [m], alpha [rad].
UR5E = [
    (0.0, 0.1625, H),
    (-0.425, 0.0, 0.0),
    (-0.3922, 0.0, 0.0),
    (0.0, 0.1333, H),
    (0.0, 0.0997, -H),
    (0.0, 0.0996, 0.0),
]


def test_the_ur5e_has_the_published_kinematics():
    """The controller's table counts from its `base` frame, half a turn from base_link."""
    chain = model_of("ur5e").chain("base", "tool0")
    for q in random_positions(chain):
        expected = np.eye(4)
        for (a, d, alpha), angle in zip(UR5E, q, strict=True):
            expected = expected @ turn("z", angle) @ move(a, 0, d) @ turn("x", alpha)
        np.testing.assert_allclose(chain.forward(q).matrix, expected, atol=1e-14)
    half_turn = model_of("ur5e").chain("base_link", "tool0").forward(q).matrix
    np.testing.assert_allclose(half_turn, turn("z", math.pi) @ expected, atol=1e-14)


def test_the_ur5e_stretches_along_minus_x_at_zero():
    position = model_of("ur5e").chain("base_link", "tool0").forward([0] * 6).translation
    np.testing.assert_allclose(position, (0.425 + 0.3922, 0.1333 + 0.0996, 0.1625 - 0.0997))


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_two_arms_are_ur5e(side):
    one = model_of("ur5e").chain("base_link", "tool0")
    chain = model_of("two_arms").chain(f"{side}_base_link", f"{side}_tool0")
    assert chain.joint_names == tuple(f"{side}_{name}" for name in one.joint_names)
    for bound in ("lower", "upper", "velocity"):
        np.testing.assert_array_equal(getattr(chain, bound), getattr(one, bound))
    for q in random_positions(one):
        np.testing.assert_array_equal(chain.forward(q).matrix, one.forward(q).matrix)


def test_the_two_arms_stand_side_by_side():
    model = model_of("two_arms")
    left = model.chain("bench", "left_tool0").forward(np.zeros(6)).translation
    right = model.chain("bench", "right_tool0").forward(np.zeros(6)).translation
    np.testing.assert_allclose(left - right, (0.0, 0.8, 0.0), atol=1e-15)


# Franka's table for the Panda, Craig's convention: a [m], d [m], alpha [rad] before the turn.
PANDA = [
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -H),
    (0.0, 0.316, H),
    (0.0825, 0.0, H),
    (-0.0825, 0.384, -H),
    (0.0, 0.0, H),
    (0.088, 0.0, H),
]


def test_the_panda_has_the_published_kinematics():
    model = model_of("panda")
    chain, to_tcp = model.chain("panda_link0", "panda_link8"), model.chain("panda_link0", None)
    for q in random_positions(chain):
        flange = np.eye(4)
        for (a, d, alpha), angle in zip(PANDA, q, strict=True):
            flange = flange @ turn("x", alpha) @ move(a) @ turn("z", angle) @ move(0, 0, d)
        flange = flange @ move(0, 0, 0.107)
        np.testing.assert_allclose(chain.forward(q).matrix, flange, atol=1e-14)
        tcp = flange @ turn("z", -math.pi / 4) @ move(0, 0, 0.1034)
        np.testing.assert_allclose(to_tcp.forward(q).matrix, tcp, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "joints", "lower", "upper", "velocity"),
    [
        (
            "ur5e",
            ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"],
            [-4 * H, -4 * H, -2 * H, -4 * H, -4 * H, -4 * H],
            [4 * H, 4 * H, 2 * H, 4 * H, 4 * H, 4 * H],
            [math.pi] * 6,
        ),
        (
            "panda",
            [f"panda_joint{i}" for i in range(1, 8)],
            [-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973],
            [2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973],
            [2.175] * 4 + [2.61] * 3,
        ),
    ],
)
def test_limits_are_the_data_sheets(name, joints, lower, upper, velocity):
    chain = model_of(name).chain()
    assert [joint.removesuffix("_joint") for joint in chain.joint_names] == joints
    np.testing.assert_allclose(chain.lower, lower, atol=1e-15)
    np.testing.assert_allclose(chain.upper, upper, atol=1e-15)
    np.testing.assert_allclose(chain.velocity, velocity, atol=1e-15)


def test_the_pandas_fingers_move_together_and_apart():
    model = model_of("panda")
    left = model.chain("panda_hand", "panda_leftfinger")
    right = model.chain("panda_hand", "panda_rightfinger")
    assert left.joint_names == right.joint_names == ("panda_finger_joint1",)
    np.testing.assert_allclose(left.forward([0.03]).translation, (0, 0.03, 0.0584))
    np.testing.assert_allclose(right.forward([0.03]).translation, (0, -0.03, 0.0584))


def test_the_heads_camera_looks_ahead_then_left_then_down():
    """REP-103: an optical frame's z looks ahead, its x to the right, its y down."""
    chain = model_of("pan_tilt").chain()
    assert (chain.root, chain.tip) == ("base_link", "camera_optical_frame")
    ahead = chain.forward([0, 0]).rotation
    np.testing.assert_allclose(ahead.T, ((0, -1, 0), (0, 0, -1), (1, 0, 0)), atol=1e-15)
    np.testing.assert_allclose(chain.forward([H, 0]).rotation[:, 2], (0, 1, 0), atol=1e-15)
    assert chain.forward([0, 0.5]).rotation[2, 2] < 0
    offset = model_of("pan_tilt").chain("base_link", "tilt_link").forward([0, 0]).translation
    assert offset[0] != 0, "the tilt axis passes beside the pan axis"
    assert chain.forward([0, 0]).translation[1] != 0, "the ray passes beside both"


def test_the_legs_are_the_texts_hierarchy():
    model = model_of("legs")
    assert model.root == "hip"
    for side, sign in (("l", 1), ("r", -1)):
        chain = model.chain("hip", f"ankle_{side}")
        assert [f"thigh_{side}", f"calf_{side}", f"ankle_{side}"] == [
            link for link in chain.link_poses([0] * 4) if not link.endswith("_link")
        ][1:]
        np.testing.assert_allclose(
            chain.forward([0] * 4).translation, (0, sign * 0.09, -0.86), atol=1e-12
        )
        assert chain.forward([0, 0, -1, 0]).translation[0] > 0.5, "a thigh swings forward"
        assert chain.forward([0, 0, 0, 1]).translation[0] < -0.3, "a calf folds backward"
        outward = chain.forward([0, sign * 0.5, 0, 0]).translation[1]
        assert outward * sign > 0.4


def test_the_legs_mirror_each_other():
    model = model_of("legs")
    left, right = model.chain("hip", "ankle_l"), model.chain("hip", "ankle_r")
    flip = np.array((-1, -1, 1, 1))  # yaw and roll change sign in the mirror
    for q in random_positions(left, 20):
        assert (right.lower <= flip * q).all()
        assert (flip * q <= right.upper).all()
        a, b = left.forward(q).translation, right.forward(flip * q).translation
        np.testing.assert_allclose(a * (1, -1, 1), b, atol=1e-14)


@pytest.mark.parametrize("name", ROBOTS)
def test_bodies_are_possible(name):
    """Inertia matrices of solid bodies: positive, and no moment above the sum of the others."""
    bodies = ET.fromstring(text_of(name)).iter("inertial")
    count = 0
    for body in bodies:
        assert float(body.find("mass").get("value")) > 0
        values = {key: float(value) for key, value in body.find("inertia").attrib.items()}
        xx, yy, zz = (values[key] for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (values[key] for key in ("ixy", "ixz", "iyz"))
        moments = np.linalg.eigvalsh(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        assert moments[0] > 0
        assert moments[2] <= moments[0] + moments[1] + 1e-6 * moments[2]
        count += 1
    assert count >= 4


@pytest.mark.parametrize("name", ROBOTS)
def test_shapes_are_primitive_coloured_and_have_weight(name):
    robot = ET.fromstring(text_of(name))
    colours = {material.get("name") for material in robot.findall("material")}
    assert not list(robot.iter("mesh"))
    assert len(list(robot.iter("visual"))) == len(list(robot.iter("collision")))
    for link in robot.findall("link"):
        assert bool(link.findall("collision")) == (link.find("inertial") is not None)
        # RViz paints all of a link in the colour of its first visual (ros2/rviz#1293).
        used = {visual.find("material").get("name") for visual in link.findall("visual")}
        assert len(used) <= 1
        assert used <= colours


@pytest.mark.parametrize("name", ROBOTS)
def test_every_moving_joint_moves_a_body(name):
    robot = ET.fromstring(text_of(name))
    heavy = {link.get("name") for link in robot.findall("link") if link.find("inertial")}
    for joint in robot.findall("joint"):
        if joint.get("type") != "fixed":
            assert joint.find("child").get("link") in heavy


def test_the_arms_weigh_what_they_should():
    def weight(name):
        masses = ET.fromstring(text_of(name)).iter("mass")
        return sum(float(mass.get("value")) for mass in masses)

    assert weight("ur5e") == pytest.approx(20.6, abs=1.5)  # data sheet: 20.6 kg
    assert weight("panda") == pytest.approx(18.5, abs=2.0)  # data sheet: 18 kg, and the hand
