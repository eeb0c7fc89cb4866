# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The simulated arm's parameter `physics`, in this process."""

import sys

import numpy as np
import pytest
import rclpy
from heavy_robots import joint, robot, rod

from basis_ik.ros.demo.simulated_arm import SimulatedArm
from basis_ik.ros.demo.simulated_controller import SimulatedController
from basis_ik.simulation.mujoco_joints import MujocoJoints
from basis_ik.simulation.simulated_joints import SimulatedJoints

BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
HEAVY = robot(joint("lift", rod(along="1 0 0")))
RAIL = 'lower="-1" upper="0.6" velocity="5" effort="500"'
# Two arms on one rail, each of which would run into the other.
TWO = robot(
    joint("left", rod(shape=BALL), "1 0 0", "prismatic", limit=RAIL),
    joint("right", rod(shape=BALL), "1 0 0", "prismatic", xyz="0.5 0 2", limit=RAIL),
)


@pytest.fixture
def started(monkeypatch, own_domain):
    """Start an arm with parameters; return the drives that its controller was given."""
    given = []
    monkeypatch.setattr(
        SimulatedController,
        "__init__",
        lambda _self, _node, _parameters, robot, _joints: given.append(robot.joints),
    )

    def start(**parameters):
        words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
        rclpy.init(args=["arm", "--ros-args", *words], domain_id=own_domain)
        try:
            node = SimulatedArm()
            node.destroy_node()
        finally:
            rclpy.shutdown()
        return given[-1]

    return start


def test_the_kinematic_engine_is_the_default(started):
    assert isinstance(started(robot_description=HEAVY), SimulatedJoints)
    assert isinstance(started(robot_description=HEAVY, physics="kinematic"), SimulatedJoints)


def test_the_engine_with_masses_has_the_parameters_of_the_arm(started, capfd):
    drives = started(
        **{"robot_description": HEAVY, "physics": "mujoco", "initial_positions.lift": 0.3},
        drive_time_constant=0.5,
        feedback_delay=0.2,
    )
    assert isinstance(drives, MujocoJoints)
    for _ in range(25):
        drives.step(np.array([0.5]), 0.008)
        assert drives.positions == pytest.approx(0.3)
    drives.step(np.array([0.5]), 0.008)
    assert 0.3 < drives.positions[0] < 0.31
    assert "WARN" not in capfd.readouterr().err


def test_what_was_assumed_is_a_warning(started, capfd):
    started(robot_description=robot(joint("lift", "")), physics="mujoco")
    (line,) = [line for line in capfd.readouterr().err.splitlines() if "WARN" in line]
    assert "no mass is stated for 'lift_link': assumed from their lengths" in line


@pytest.mark.parametrize(("everything", "stop"), [("true", 0.3), ("false", 0.6)])
def test_an_arm_that_another_controller_moves_is_not_in_the_way(started, everything, stop):
    drives = started(
        robot_description=TWO,
        physics="mujoco",
        joints="[left]",
        publish_uncontrolled_joints=everything,
    )
    for _ in range(200):
        drives.step(np.array([0.6, 0.0]), 0.008)
    # Both give way a little where they push each other.
    assert drives.positions[0] - drives.positions[1] == pytest.approx(stop, abs=0.03)


def test_an_engine_that_does_not_exist_is_refused(complaint):
    line = complaint("simulated_arm", f"robot_description:={HEAVY}", "physics:=bullet")
    assert "parameter 'physics' must be kinematic or mujoco, not 'bullet'" in line


def test_without_mujoco_it_says_where_it_comes_from(complaint, monkeypatch):
    for name in ("basis_ik.simulation.mujoco_joints", "basis_ik.simulation.mujoco_scene"):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    line = complaint("simulated_arm", f"robot_description:={HEAVY}", "physics:=mujoco")
    assert "parameter 'physics' is mujoco, which needs the Python package mujoco, 3.3" in line
    assert "python3 -m pip install 'mujoco>=3.3'" in line


def test_a_robot_that_mujoco_refuses_is_one_line(complaint):
    light = HEAVY.replace('mass value="1.0"', 'mass value="1e-20"')
    line = complaint("simulated_arm", f"robot_description:={light}", "physics:=mujoco")
    assert "MuJoCo refuses the robot" in line
