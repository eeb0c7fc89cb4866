# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Links of robots, compared with the independent kinematics of conftest.py."""

from pathlib import Path

import numpy as np
import pytest

from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.placement import UnknownPositionError, place_link
from basis_ik.robot.robot import RobotModel

URDF = Path(__file__).parents[2] / "urdf"


@pytest.mark.parametrize("name", ["ur5e", "panda", "pan_tilt", "legs"])
def test_every_link_from_every_link(poses_of, name):
    urdf = (URDF / f"{name}.urdf").read_text()
    model = RobotModel.from_urdf(urdf)
    draw = np.random.default_rng(5)
    moving = [joint.name for joint in model.joints.values() if joint.moves]
    values = {joint: draw.uniform(-1.0, 1.0) for joint in moving if joint not in model.mimics}
    poses = poses_of(urdf, values)
    assert len(model.links) > 2
    for reference in model.links:
        for link in model.links:
            wanted = np.linalg.inv(poses[reference]) @ poses[link]
            placed = place_link(model, reference, link, values)
            np.testing.assert_allclose(placed.matrix, wanted, atol=1e-12)


@pytest.fixture
def hand(joint, robot):
    """A wrist, two fingers of which one mimics the other, a stiff mimic, and a floating ball."""
    mimic = '<mimic joint="left" multiplier="-2" offset="0.1"/>'
    still = '<mimic joint="left" multiplier="0" offset="0.3"/>'
    wide = 'lower="-9" upper="9" velocity="1"'
    return robot(
        joint("wrist", "base", "palm", inside='<axis xyz="0 0 1"/>', origin='xyz="0 0 1"'),
        joint("left", "palm", "l", "prismatic", '<axis xyz="0 1 0"/>', wide),
        joint("right", "palm", "r", "prismatic", f'<axis xyz="0 1 0"/>{mimic}', wide),
        joint("stiff", "palm", "s", "prismatic", f'<axis xyz="0 1 0"/>{still}', wide),
        joint("float", "palm", "ball", "floating"),
    )


def test_mimic_joints_follow(hand):
    model = RobotModel.from_urdf(hand)
    place = place_link(model, "palm", "r", {"left": 0.2}).translation
    np.testing.assert_allclose(place, [0.0, -0.3, 0.0], atol=1e-15)
    place = place_link(model, "l", "s", {"left": 0.2}).translation
    np.testing.assert_allclose(place, [0.0, 0.1, 0.0], atol=1e-15)


def test_only_what_is_on_the_way_must_be_known(hand):
    model = RobotModel.from_urdf(hand)
    place_link(model, "palm", "s", {})
    with pytest.raises(UnknownPositionError, match="'r' hangs on 'wrist', 'left'") as caught:
        place_link(model, "base", "r", {"right": 1.0})
    assert caught.value.joints == ("wrist", "left")
    assert caught.value.link == "r"


def test_what_cannot_be_placed_is_named(hand):
    model = RobotModel.from_urdf(hand)
    with pytest.raises(ChainError, match="plam"):
        place_link(model, "plam", "l", {})
    with pytest.raises(ChainError, match="float"):
        place_link(model, "base", "ball", {"wrist": 0.0})
