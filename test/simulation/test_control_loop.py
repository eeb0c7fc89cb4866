# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from basis_ik.simulation.control_loop import ControlLoop
from basis_ik.simulation.simulated_joints import SimulatedJoints
from basis_ik.simulation.tolerances import Tolerances
from basis_ik.simulation.trajectory_command import TrajectoryCommand, Waypoint
from basis_ik.simulation.trajectory_controller import TrajectoryController

PERIOD = 0.01
TO_ONE = TrajectoryCommand(("b",), (Waypoint(0.1, np.ones(1), *[np.zeros(0)] * 3),))


@pytest.fixture
def rig():
    """Three joints, the middle one of which has a controller."""
    infinite = np.full(3, np.inf)
    joints = SimulatedJoints(-infinite, infinite, infinite, np.array([0.5, 0.0, -0.5]))
    nothing = Tolerances(np.zeros(1), np.zeros(1), 0.0)
    controller = TrajectoryController(
        ("b",), np.array([False]), np.zeros(1), nothing, period=PERIOD
    )
    return ControlLoop(joints, np.array([1]), controller, PERIOD), joints, controller


def test_joints_without_a_controller_keep_their_positions(rig):
    loop, joints, controller = rig
    controller.follow(TO_ONE)
    for cycle in range(20):
        loop.cycle(cycle * PERIOD)
    np.testing.assert_allclose(joints.positions, [0.5, 1.0, -0.5])


def test_a_command_is_executed_in_the_next_cycle(rig):
    loop, joints, controller = rig
    controller.follow(TO_ONE)
    update = loop.cycle(0.0)
    assert update.output.positions[0] == pytest.approx(0.1)
    assert joints.positions[1] == 0.0
    loop.cycle(PERIOD)
    assert joints.positions[1] == pytest.approx(0.1)


def test_the_last_command_is_kept_while_the_controller_is_inactive(rig):
    loop, joints, controller = rig
    controller.follow(TO_ONE)
    loop.cycle(0.0)
    controller.deactivate()
    assert loop.cycle(PERIOD) is None
    assert joints.positions[1] == pytest.approx(0.1)
    loop.cycle(2 * PERIOD)
    assert joints.positions[1] == pytest.approx(0.1)
