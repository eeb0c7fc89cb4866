# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of an arm: the pointing ray, positions, settings."""

import math
from pathlib import Path

import numpy as np
import pytest

from basis_ik.arm.admission import StampRules, Units
from basis_ik.arm.input_filter import FilterRules
from basis_ik.arm.settings import DeviceRules, Settings, Wish, misplaced, outside
from basis_ik.errors import BasisIkError
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.parameters.arm_parameters import axis_complaint, pointing_ray
from basis_ik.ros.parameters.chain_parameters import ChainParameters
from basis_ik.search.pose_constraint import PoseConstraint

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
def test_an_invalid_ray_is_refused(head, axis, frame, word):
    with pytest.raises(BasisIkError, match=word):
        pointing_ray(*head, axis, frame)


@pytest.mark.parametrize(
    "axis",
    [[1.0], [1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0] * 3, [1e-200, 0.0, 0.0], [math.nan, 1.0, 0.0],
     [math.inf, 0.0, 0.0]],
    ids=["one", "two", "four", "zero", "vanishing", "nan", "inf"],
)  # fmt: skip
def test_an_invalid_direction_is_refused_without_a_robot(axis):
    assert "three numbers that are not all 0" in axis_complaint(axis)


@pytest.mark.parametrize(
    "axis", [[], [0.0, 0.0, 1e-3], [-3.0, 4.0, 0.0]], ids=["none", "short", "long"]
)
def test_a_direction_may_have_any_length(axis):
    assert axis_complaint(axis) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_positions_that_are_not_finite_are_refused(head, bad):
    _, chain = head
    assert misplaced(chain, [bad])


def test_each_setting_is_its_parameter():
    of_node = {
        "target_max_age": 2.5,
        "target_max_future": 0.1,
        "target_max_reach": 0.15,
        "transform_timeout": 0.2,
        "joint_state_timeout": 0.3,
        "resume_timeout": 0.25,
        "incoming_command_timeout": 0.4,
        "position_only_ik": True,
        "max_velocity_scaling_factor": 0.5,
        "max_acceleration_scaling_factor": 0.6,
        "position_threshold": 0.7,
        "orientation_threshold": 0.8,
        "goal_tolerance": 0.9,
    }
    of_chain = {
        "command_in_type": "unitless",
        "scale.linear": 0.11,
        "scale.rotational": 0.12,
        "scale.joint": 0.13,
        "approximate": True,
        "solver": "fabrik",
        "path": "straight",
        "singularities": "stop",
        "jog_slides": True,
        "speed_override": 0.14,
        "max_linear_speed": 0.16,
        "max_angular_speed": 0.17,
        "joint_limit_margin": [0.18],
        "tool_frame": "panda_hand",
        "follow_drag": "confirm",
        "orientation": "near",
        "tolerance.position": [0.25, 0.26, 0.27],
        "tolerance.orientation": [0.28, 0.29, 0.31],
        "weights": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "preferred_posture": [0.32],
        "elbow.link": "panda_hand",
        "elbow.point": [0.33, 0.34, 0.35],
        "angular_frame": "panda_hand",
        "device.axes": "panda_hand",
        "device.linear_scale": 0.21,
        "device.rotational_scale": 0.22,
        "device.max_linear_speed": 0.23,
        "device.max_angular_speed": 0.24,
    }
    filters = {
        "target_pose": FilterRules(True, 0.36, (0.37, 0.38)),
        "device_pose": FilterRules(True, 0.39, (0.41, 0.42)),
        "joint_target": FilterRules(True, 0.43, (0.44,)),
    }
    for name, rules in filters.items():
        of_chain |= {f"filter.{name}.{key}": value for key, value in rules._asdict().items()}
    of_chain = {f"left.{name}": value for name, value in of_chain.items()}
    parameters = ChainParameters({**of_node, **of_chain}, "left")
    assert parameters.settings(MODEL, MODEL.chain()) == Settings(
        stamp_rules=StampRules(max_age=2_500_000_000, max_future=100_000_000),
        target_max_reach=0.15,
        transform_timeout=0.2,
        joint_state_timeout=0.3,
        resume_timeout=0.25,
        twist_lasts=0.4,
        units=Units(1.0, 0.11, 0.12, 0.13),
        position_only=True,
        approximate=True,
        solver="fabrik",
        path="straight",
        singularities="stop",
        jog_slides=True,
        velocity_scaling=0.5,
        acceleration_scaling=0.6,
        speed_override=0.14,
        max_linear_speed=0.16,
        max_angular_speed=0.17,
        position_tolerance=0.7,
        orientation_tolerance=0.8,
        goal_tolerance=0.9,
        joint_limit_margin=(0.18,),
        tool_frame="panda_hand",
        follow_drag="confirm",
        device=DeviceRules("panda_hand", 0.21, 0.22, 0.23, 0.24),
        wish=Wish(
            PoseConstraint(box=(0.25, 0.26, 0.27), rotation_box=(0.28, 0.29, 0.31)),
            (1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
            (0.32,),
            ("panda_hand", (0.33, 0.34, 0.35)),
            near=True,
        ),
        angular_frame="panda_hand",
        filters=filters,
    )


@pytest.mark.parametrize(("kind", "most"), [("revolute", 0.5), ("prismatic", 0.1)])
def test_a_joint_a_little_outside_its_limits_moves_by_itself(kind, most):
    chain = RobotModel.from_urdf(
        f"""<robot name="r"><link name="a"/><link name="b"/>
        <joint name="j" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
          <limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
    ).chain("a", "b")
    for side in (-1.0, 1.0):
        assert outside(chain, [], np.array([side * (1.0 + 0.99 * most)])) == ""
        text = outside(chain, [], np.array([side * (1.0 + 1.01 * most)]))
        assert text.startswith(f"j is at {side * (1.0 + 1.01 * most):.4g}, ")
