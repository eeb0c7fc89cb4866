# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest

from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel
from basis_ik.simulation.simulated_robot import SimulatedRobot, SimulatedRobotError


def joint(name, kind, limit="", extra=""):
    return f"""<link name="{name}_link"/>
    <joint name="{name}" type="{kind}"><parent link="base"/><child link="{name}_link"/>
    <axis xyz="0 0 1"/>{f'<limit {limit} effort="1"/>' if limit else ""}{extra}</joint>"""


def mimic(name, multiplier=1, offset=0):
    return f'<mimic joint="{name}" multiplier="{multiplier}" offset="{offset}"/>'


def robot(*joints, **options):
    text = f'<robot name="rig"><link name="base"/>{"".join(joints)}</robot>'
    return SimulatedRobot(RobotModel.from_urdf(text, **options))


SLIDE = joint("slide", "prismatic", 'lower="0.1" upper="0.5" velocity="1"')
TURN = joint("turn", "revolute", 'lower="-2" upper="2" velocity="3"')


def test_only_movable_joints_are_listed():
    rig = robot(
        joint("plate", "fixed"),
        TURN,
        joint("free", "floating"),
        joint("wheel", "continuous"),
        joint("finger", "revolute", 'lower="0" upper="9" velocity="9"', mimic("turn")),
        SLIDE,
    )
    assert rig.names == ("turn", "wheel", "finger", "slide")
    assert rig.driven == ("turn", "wheel", "slide")
    np.testing.assert_array_equal(rig.continuous, [False, True, False])
    np.testing.assert_allclose(rig.state()[0], [0.0, 0.0, 0.0, 0.3])


def test_faulty_joints_are_left_out():
    rig = robot(
        joint("bare", "revolute"),
        TURN,
        joint("led", "revolute", 'lower="0" upper="9" velocity="9"', mimic("ghost")),
        joint("follower", "revolute", 'lower="1" upper="0" velocity="0.1"', mimic("turn")),
    )
    assert rig.names == rig.driven == ("turn",)
    rig.joints.step(np.array([9.0]), 1.0)
    assert rig.state()[0] == [2.0]


def test_mimic_joints_follow_through_chains_with_offset_and_sign():
    wide = 'lower="-9" upper="9" velocity="9"'
    rig = robot(
        TURN,
        joint("first", "revolute", wide, mimic("turn", -0.5, 0.25)),
        joint("second", "revolute", wide, mimic("first", 2, 1)),
    )
    rig.joints.step(np.array([0.2]), 0.1)
    positions, velocities = rig.state()
    np.testing.assert_allclose(positions, [0.2, 0.15, 1.3])
    np.testing.assert_allclose(velocities, [2.0, -1.0, -2.0])


def test_a_mimic_joint_limits_the_speed_but_not_the_position_of_what_it_mimics():
    half = 'lower="-0.2" upper="0.1" velocity="1"'
    rig = robot(TURN, joint("finger", "revolute", half, mimic("turn", -0.5)))
    assert (rig.lower[0], rig.upper[0], rig.speed[0]) == (-2.0, 2.0, 2.0)


def test_the_limits_of_a_mimic_joint_stop_the_joint_that_it_mimics_on_request():
    half = 'lower="-0.2" upper="0.1" velocity="1"'
    finger = joint("finger", "revolute", half, mimic("turn", -0.5))
    rig = robot(TURN, finger, mimic_limits=True)
    np.testing.assert_allclose((rig.lower[0], rig.upper[0]), (-0.2, 0.4))
    for target in (9.0, -9.0):
        rig.joints.step(np.array([target]), 0.01)
        np.testing.assert_allclose(abs(rig.joints.velocities), [2.0])
        for _ in range(100):
            rig.joints.step(np.array([target]), 0.1)
        assert -0.2 <= rig.state()[0][1] <= 0.1


def test_a_mimic_joint_without_motion_limits_nothing():
    still = joint("still", "revolute", 'lower="0" upper="1" velocity="1"', mimic("turn", 0, 0.5))
    rig = robot(TURN, still)
    np.testing.assert_allclose((rig.lower[0], rig.upper[0]), (-2.0, 2.0))
    np.testing.assert_allclose(rig.state()[0], [0.0, 0.5])


def test_mimic_limits_that_exclude_all_positions_are_refused():
    beyond = joint("finger", "prismatic", 'lower="2" upper="3" velocity="1"', mimic("slide"))
    with pytest.raises(ChainError, match="'finger' mimics 'slide'") as caught:
        robot(SLIDE, beyond, mimic_limits=True)
    assert caught.value.joint == "finger"


def test_a_robot_that_cannot_move_is_refused():
    with pytest.raises(SimulatedRobotError, match="'rig' has no joint that moves"):
        robot(joint("plate", "fixed"))


def test_joints_are_found_by_name_in_any_order():
    rig = robot(TURN, SLIDE)
    np.testing.assert_array_equal(rig.columns(["slide", "turn"]), [1, 0])


@pytest.mark.parametrize("wrong", [["elbow"], ["turn", "turn"], ["turn", "finger"]])
def test_joints_that_cannot_be_controlled_are_refused_with_those_that_can(wrong):
    wide = 'lower="-9" upper="9" velocity="9"'
    rig = robot(TURN, joint("finger", "revolute", wide, mimic("turn")))
    with pytest.raises(SimulatedRobotError, match=f"'{wrong[-1]}'.*there are turn$"):
        rig.columns(wrong)


def test_placed_joints_have_the_requested_drives():
    rig = robot(joint("wheel", "continuous"))
    rig.place(np.zeros(1), time_constant=0.1, feedback_delay=0.1)
    rig.joints.step(np.array([0.1]), 0.1)
    assert rig.state()[0] == [0.0]
    rig.joints.step(np.array([0.1]), 0.1)
    assert rig.state()[0][0] == pytest.approx(0.1 * (1.0 - math.exp(-1.0)))


def test_placed_joints_rest_there_and_keep_their_limits():
    rig = robot(TURN, joint("wheel", "continuous"))
    rig.place(np.array([1.5, 40.0]))
    np.testing.assert_allclose(rig.state(), [[1.5, 40.0], [0.0, 0.0]])
    rig.joints.step(np.array([9.0, 40.0]), 0.1)
    np.testing.assert_allclose(rig.state()[0], [1.8, 40.0])
    assert math.isinf(rig.upper[1])
