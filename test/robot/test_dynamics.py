# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Masses, friction and shapes from a URDF."""

import numpy as np
import pytest

from basis_ik.robot.dynamics import read_dynamics
from basis_ik.robot.elements import UrdfError


def link(body, version="1.0"):
    return read_dynamics(
        f'<robot name="r" version="{version}"><link name="a">{body}</link></robot>'
    )


def inertial(mass='<mass value="2"/>', inertia='ixx="1" iyy="2" izz="2.5" ixy="0.1"', origin=""):
    return f"<inertial>{origin}{mass}<inertia {inertia}/></inertial>"


def test_an_inertial_is_read_with_its_place():
    read = link(inertial(origin='<origin xyz="1 2 3" rpy="0 0 1"/>')).inertials["a"]
    assert read.mass == 2.0
    np.testing.assert_allclose(read.link_T_mass.translation, [1, 2, 3])
    np.testing.assert_allclose(read.link_T_mass.rotation[0, :2], [np.cos(1.0), -np.sin(1.0)])
    np.testing.assert_allclose(read.inertia, [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]])


def test_an_inertial_is_turned_by_a_quaternion():
    turned = inertial(origin='<origin quat_xyzw="0 0 0.6 0.8"/>')
    read = link(turned, "1.1").inertials["a"]
    np.testing.assert_allclose(read.link_T_mass.rotation[0, :2], [0.28, -0.96])
    assert link(turned).inertials == {}  # version 1.0 has no quaternions


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<inertial/>",
        inertial(mass=""),
        inertial(mass='<mass value="0"/>'),
        inertial(mass='<mass value="-1"/>'),
        inertial(mass='<mass value="nan"/>'),
        inertial(mass='<mass value="2"/><mass value="3"/>'),
        inertial(inertia='ixx="0" iyy="0" izz="0"'),
        inertial(inertia='ixx="1" iyy="1" izz="1" ixy="2"'),
        inertial(inertia='ixx="1" iyy="1" izz="?"'),
        inertial(origin='<origin xyz="1 2"/>'),
    ],
)
def test_a_mass_that_makes_no_sense_is_left_out(body):
    assert link(body).inertials == {}


def frictions(dynamics):
    text = f"""<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed">
    <parent link="a"/><child link="b"/>{dynamics}</joint></robot>"""
    return read_dynamics(text).frictions


def test_friction_and_damping_are_read():
    read = frictions('<dynamics damping="0.5" friction="2"/>')["j"]
    assert (read.damping, read.friction) == (0.5, 2.0)


@pytest.mark.parametrize("text", ["", '<dynamics damping="a lot"/>', "<dynamics/><dynamics/>"])
def test_friction_that_makes_no_sense_is_left_out(text):
    assert frictions(text) == {}


def test_no_friction_drives_a_joint():
    read = frictions('<dynamics damping="-1" friction="-1"/>')["j"]
    assert (read.damping, read.friction) == (0.0, 0.0)


def test_collisions_are_read_and_visuals_are_not():
    shape = '<geometry><box size="1 2 3"/></geometry>'
    read = link(f"<visual>{shape}</visual><collision>{shape}</collision>").collisions
    assert [(each.kind, each.size) for each in read] == [("box", (1.0, 2.0, 3.0))]


def test_malformed_xml_is_refused():
    with pytest.raises(UrdfError):
        read_dynamics("<robot")
