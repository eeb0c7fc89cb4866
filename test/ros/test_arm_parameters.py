"""What a chain's parameters mean: the pointing ray, home, and what is refused."""

import math
from pathlib import Path

import numpy as np
import pytest

from basis_ik.errors import BasisIkError
from basis_ik.model.robot import RobotModel
from basis_ik.motion.admission import StampRules
from basis_ik.ros.arm_parameters import (
    MOST_JOINTS,
    Settings,
    check_home,
    check_size,
    misplaced,
    motion_limits,
    pointing_ray,
)

MODEL = RobotModel.from_urdf(
    (Path(__file__).parents[2] / "urdf" / "panda.urdf").read_text(),
)


@pytest.fixture(scope="module")
def chain():
    return MODEL.chain("panda_link0", "panda_link8")


@pytest.fixture
def head():
    model = RobotModel.from_urdf(
        """<robot name="head"><link name="base"/><link name="camera"/>
        <link name="camera_optical_frame"/>
        <joint name="pan" type="continuous"><parent link="base"/><child link="camera"/>
          <axis xyz="0 0 1"/></joint>
        <joint name="optics" type="fixed"><parent link="camera"/>
          <child link="camera_optical_frame"/>
          <origin xyz="0.1 0 0" rpy="-1.5707963267948966 0 -1.5707963267948966"/></joint>
        </robot>"""
    )
    return model, model.chain("base", "camera")


def test_motion_limits_are_given_for_each_joint_or_not_at_all(chain):
    given = motion_limits(chain, [2.0] * 7, [])
    assert given.acceleration.tolist() == [2.0] * 7
    assert given.jerk.tolist() == [2.0 / 0.05] * 7
    np.testing.assert_allclose(motion_limits(chain, [], []).acceleration, chain.velocity / 0.25)
    with pytest.raises(BasisIkError, match="max_jerk must be one for each joint"):
        motion_limits(chain, [], [1.0])


def test_a_tip_points_along_x(chain):
    ray = pointing_ray(MODEL, chain, [], "")
    assert (ray.axis, ray.origin) == ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def test_an_optical_frame_points_along_its_z_from_its_origin(head):
    ray = pointing_ray(*head, [], "camera_optical_frame")
    np.testing.assert_allclose(ray.axis, [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(ray.origin, [0.1, 0.0, 0.0], atol=1e-12)


def test_a_given_axis_is_in_the_axes_of_its_frame(head):
    ray = pointing_ray(*head, [1.0, 0.0, 0.0], "camera_optical_frame")
    np.testing.assert_allclose(ray.axis, [0.0, -1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("axis", "frame", "word"),
    [
        ([1.0, 0.0], "", "three numbers"),
        ([0.0, 0.0, 0.0], "", "three numbers"),
        ([], "lens", "lens"),
        ([], "base", "pan"),
    ],
)
def test_a_ray_that_makes_no_sense_is_refused(head, axis, frame, word):
    with pytest.raises(BasisIkError, match=word):
        pointing_ray(*head, axis, frame)


def test_home_as_given_or_nowhere(chain):
    check_home(chain, (0.5 * (chain.lower + chain.upper)).tolist())
    check_home(chain, [])


def test_a_home_that_makes_no_sense_is_refused(chain):
    with pytest.raises(BasisIkError, match="7 positions are wanted"):
        check_home(chain, [0.0])
    with pytest.raises(BasisIkError, match="panda_joint4 must lie in"):
        check_home(chain, [0.0] * 7)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_positions_that_are_not_finite_are_refused(head, bad):
    _, chain = head
    assert misplaced(chain, [bad])


def snake(count):
    """Return a robot of so many joints in a row, each beside the last and across it."""
    joints = (
        f'<link name="l{i + 1}"/><joint name="j{i}" type="continuous"><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/><origin xyz="0.1 0 0.2" rpy="1.5 0 0"/></joint>'
        for i in range(count)
    )
    return RobotModel.from_urdf(f'<robot name="snake"><link name="l0"/>{"".join(joints)}</robot>')


def test_a_chain_too_long_to_be_followed_is_refused_before_anything_is_compiled():
    check_size(snake(MOST_JOINTS).chain())
    with pytest.raises(BasisIkError, match="101 joints move between l0 and l101"):
        check_size(snake(MOST_JOINTS + 1).chain())


def test_each_setting_is_its_parameter():
    parameters = {
        "target_max_age": 2.5,
        "target_max_future": 0.1,
        "transform_timeout": 0.2,
        "joint_state_timeout": 0.3,
        "incoming_command_timeout": 0.4,
        "position_only_ik": True,
        "max_velocity_scaling_factor": 0.5,
        "max_acceleration_scaling_factor": 0.6,
        "position_threshold": 0.7,
        "orientation_threshold": 0.8,
    }
    assert Settings.of(parameters) == Settings(
        stamp_rules=StampRules(max_age=2_500_000_000, max_future=100_000_000),
        transform_timeout=0.2,
        joint_state_timeout=0.3,
        twist_lasts=0.4,
        position_only=True,
        velocity_scaling=0.5,
        acceleration_scaling=0.6,
        position_tolerance=0.7,
        orientation_tolerance=0.8,
    )
