# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of motion: from the chain, or defaults; invalid ones are refused by name."""

import numpy as np
import pytest

from basis_ik.arm.limits import MotionLimitError, MotionLimits
from basis_ik.robot.robot import RobotModel

# The numbers themselves: with those of the module no change of them would be seen.
ACCELERATION_TIME = 0.05
SPEED_TIME = 0.25

ROBOT = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="turn" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="slide" type="prismatic"><parent link="b"/><child link="c"/>
  <axis xyz="1 0 0"/><limit lower="0" upper="1" velocity="0.7" effort="1"/></joint>
</robot>"""


@pytest.fixture(scope="module")
def chain():
    return RobotModel.from_urdf(ROBOT).chain("a", "c")


def test_acceleration_and_jerk_have_defaults(chain):
    limits = MotionLimits.of_chain(chain)
    assert limits.lower.tolist() == [-np.inf, 0.0]
    assert limits.upper.tolist() == [np.inf, 1.0]
    assert limits.velocity.tolist() == chain.velocity.tolist() == [1.0, 0.7]
    np.testing.assert_allclose(limits.acceleration * SPEED_TIME, limits.velocity)
    np.testing.assert_allclose(limits.jerk * ACCELERATION_TIME, limits.acceleration)


def test_given_limits_are_used(chain):
    limits = MotionLimits.of_chain(chain, acceleration=np.array([2.0, 3.0]))
    assert limits.acceleration.tolist() == [2.0, 3.0]
    np.testing.assert_allclose(limits.jerk * ACCELERATION_TIME, [2.0, 3.0])
    limits = MotionLimits.of_chain(chain, jerk=np.array([20.0, 30.0]))
    assert limits.jerk.tolist() == [20.0, 30.0]
    with pytest.raises(ValueError, match="read-only"):
        limits.jerk[0] = 1.0


@pytest.mark.parametrize(
    "bad", [[0.0, 1.0], [-1.0, 1.0], [np.nan, 1.0], [np.inf, 1.0], [1.0], [1.0] * 3]
)
@pytest.mark.parametrize("name", ["acceleration", "jerk"])
def test_an_invalid_limit_is_refused_by_name(chain, name, bad):
    with pytest.raises(MotionLimitError, match=f"max_{name} must be"):
        MotionLimits.of_chain(chain, **{name: np.array(bad)})


def test_a_lower_limit_above_the_upper_is_refused():
    one = np.ones(1)
    with pytest.raises(MotionLimitError, match="lower must be below"):
        MotionLimits(one, -one, one, one, one)


def test_fractions_scale_the_limits(chain):
    limits = MotionLimits.of_chain(chain)
    scaled = limits.scaled(0.5, 0.25, 1.0)
    np.testing.assert_array_equal(scaled[:2], [limits.lower, limits.upper])
    np.testing.assert_array_equal(scaled[2], 0.5 * limits.velocity)
    np.testing.assert_array_equal(scaled[3], 0.25 * limits.acceleration)
    np.testing.assert_array_equal(scaled[4], limits.jerk)
    for bad in (0.0, -1.0, 1.1, np.nan):
        with pytest.raises(MotionLimitError, match="acceleration scaling must be above 0"):
            limits.scaled(1.0, bad, 1.0)


def stated(slide='acceleration="2" jerk="30"', turn=""):
    """A chain of version 1.2 whose joints state limits of acceleration and jerk."""
    text = ROBOT.replace("<robot", '<robot version="1.2"').replace('effort="1"', slide)
    text = text.replace('<axis xyz="0 0 1"/>', f'<axis xyz="0 0 1"/><limit {turn}/>')
    return RobotModel.from_urdf(text).chain("a", "c")


def test_the_limits_of_the_urdf_are_the_defaults():
    limits = MotionLimits.of_chain(stated())
    assert limits.acceleration.tolist() == [4.0, 2.0]  # the first reaches its speed in 0.25 s
    np.testing.assert_allclose(limits.jerk, [80.0, 30.0])
    limits = MotionLimits.of_chain(stated(turn='velocity="1" acceleration="50"'))
    assert limits.acceleration.tolist() == [50.0, 2.0]
    np.testing.assert_allclose(limits.jerk, [1000.0, 30.0])


def test_given_limits_override_those_of_the_urdf():
    given = np.array([9.0, 9.0])
    limits = MotionLimits.of_chain(stated(), acceleration=given)
    assert limits.acceleration.tolist() == [9.0, 9.0]
    np.testing.assert_allclose(limits.jerk, [180.0, 30.0])
    limits = MotionLimits.of_chain(stated(), jerk=given)
    assert (limits.acceleration.tolist(), limits.jerk.tolist()) == ([4.0, 2.0], [9.0, 9.0])


@pytest.mark.parametrize(
    ("slide", "acceleration"),
    [
        ('acceleration="2" deceleration="1"', 1.0),
        ('acceleration="1" deceleration="2"', 1.0),
        ('deceleration="1"', 1.0),
        ('deceleration="50"', 0.7 / SPEED_TIME),  # no reason to speed up as quickly
    ],
)
def test_no_joint_brakes_harder_than_the_urdf_allows(slide, acceleration):
    assert MotionLimits.of_chain(stated(slide)).acceleration[1] == acceleration
