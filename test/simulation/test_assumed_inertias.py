# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Masses from the lengths of links."""

import math

import numpy as np
import pytest
from heavy_robots import joint, robot, rod, run, simulate

from basis_ik.robot.dynamics import read_dynamics
from basis_ik.robot.robot import RobotModel
from basis_ik.simulation.assumed_inertias import assume_inertials


def assumed(text):
    return assume_inertials(RobotModel.from_urdf(text), read_dynamics(text).inertials)


def test_a_link_is_a_cylinder_to_the_next_joint():
    found = assumed(robot(joint("a", ""), joint("b", "", parent="a_link", xyz="0 0.4 0")))
    mass = 1000.0 * math.pi * 0.05**2 * 0.4
    assert found["a_link"].mass == pytest.approx(mass)
    np.testing.assert_allclose(found["a_link"].link_T_mass.translation, [0.0, 0.2, 0.0])
    place = found["a_link"].link_T_mass.rotation
    along, across = 0.5 * mass * 0.05**2, mass * (3.0 * 0.05**2 + 0.4**2) / 12.0
    inertia = place @ found["a_link"].inertia @ place.T
    np.testing.assert_allclose(inertia, np.diag([across, along, across]), atol=1e-12)


def test_frames_that_are_fixed_to_a_link_count_as_its_end():
    tool = '<link name="tool"/><joint name="t" type="fixed"><parent link="a_link"/>'
    tool += '<child link="tool"/><origin xyz="0 0 -0.3"/></joint>'
    found = assumed(robot(joint("a", ""), tool))
    np.testing.assert_allclose(found["a_link"].link_T_mass.translation, [0.0, 0.0, -0.15])


def test_links_without_length_are_short():
    found = assumed(robot(joint("a", ""), joint("b", "", parent="a_link", xyz="1 0 0")))
    assert found["b_link"].mass == pytest.approx(1e-3 * found["a_link"].mass)
    (alone,) = assumed(robot(joint("a", ""))).values()
    assert alone.mass > 0.0


def test_stated_masses_of_rigid_groups_are_kept():
    load = f'<link name="load">{rod()}</link><joint name="l" type="fixed"><parent link="b_link"/>'
    load += '<child link="load"/></joint>'
    text = robot(
        joint("a", rod()),
        joint("b", "", parent="a_link", xyz="1 0 0"),
        joint("c", "", parent="b_link", xyz="1 0 0"),
        load,
    )
    assert set(assumed(text)) == {"c_link"}


def test_an_arm_without_masses_stands_and_moves_and_its_links_are_named_once():
    text = robot(
        joint("a", ""),
        joint("b", "", parent="a_link", xyz="0.5 0 0"),
        joint("c", "", "1 0 0", parent="b_link", xyz="0.4 0 0"),
    )
    drives, notes = simulate(text)
    assert notes == (
        "no mass is stated for 'a_link', 'b_link', 'c_link': assumed from their lengths",
    )
    np.testing.assert_allclose(run(drives, [0.0] * 3, 1.0)[-1], 0.0, atol=1e-9)
    np.testing.assert_allclose(run(drives, [0.5, -0.4, 0.3], 2.0)[-1], [0.5, -0.4, 0.3], atol=1e-3)
