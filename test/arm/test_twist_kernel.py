# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint velocities and accelerations for a twist of the tip, compared with the tip's motion."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.twist_kernel import states_on_line
from basis_ik.robot.robot import RobotModel
from basis_ik.search.prepare import prepared
from basis_ik.transforms.rigid import RigidTransform

URDF = Path(__file__).parents[2] / "urdf"
HOME = np.array([0.3, -1.2, 1.4, -1.1, -1.3, 0.2])
TWIST, RATE = np.array([0.2, -0.1, 0.3, 0.4, 0.1, -0.5]), np.array([1.0, 0.5, -2.0, 0.7, -1.0, 1.5])
TIME = 1e-3


@cache
def chain_of(robot):
    return RobotModel.from_urdf((URDF / f"{robot}.urdf").read_text()).chain()


def states_at(chain, q, twist, rate, in_tip, weights=None):
    states = np.zeros((len(q), 3))
    states[:, 0] = q
    exact = prepared(chain).exact
    scratch = tuple(map(np.zeros, [(len(exact) - 1, 6), (len(q), 6), (2, 12)]))
    limits = MotionLimits.of_chain(chain).scaled(1.0, 1.0, 1.0), np.full(len(q), 0.5)
    if weights is None:
        weights = np.stack([np.append(np.ones(len(q)), 0.0), np.zeros(len(q) + 1)])
    moves = np.zeros((5, len(q)))
    lost = states_on_line((exact, twist, rate, in_tip), scratch, limits, weights, moves, states)
    return states, lost


def twist_between(before: RigidTransform, after: RigidTransform, middle, time):
    """Return the mean twist along the root's axes, or, given a middle frame, along its axes."""
    turn = RigidTransform.from_rotation_translation(after.rotation @ before.rotation.T, np.zeros(3))
    twist = np.concatenate([after.translation - before.translation, turn.log()[3:]]) / time
    axes = np.eye(3) if middle is None else middle.rotation
    return np.concatenate([axes.T @ twist[:3], axes.T @ twist[3:]])


@pytest.mark.parametrize("in_tip", [False, True])
def test_the_states_move_the_tip_with_the_twist_and_its_rate(in_tip):
    ur5e = chain_of("ur5e")
    states, lost = states_at(ur5e, HOME, TWIST, RATE, in_tip)
    assert lost < 1e-6

    def pose(time):
        return ur5e.forward(HOME + time * states[:, 1] + 0.5 * time * time * states[:, 2])

    made = []
    for start in (-TIME, 0.0):
        middle = pose(start + 0.5 * TIME) if in_tip else None
        made.append(twist_between(pose(start), pose(start + TIME), middle, TIME))
    np.testing.assert_allclose(0.5 * (made[0] + made[1]), TWIST, atol=1e-5)
    np.testing.assert_allclose((made[1] - made[0]) / TIME, RATE, atol=1e-3)


def test_the_lost_part_of_a_twist_is_returned():
    ur5e = chain_of("ur5e")
    stretched = np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, -1.0, 0.0])
    up = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    states, lost = states_at(ur5e, stretched, up, np.zeros(6), False)
    assert lost > 0.5
    assert np.isfinite(states).all()


def test_the_velocities_are_the_least():
    panda = chain_of("panda")
    q = np.array([0.1, -0.8, 0.2, -2.4, 0.1, 1.6, 0.8])
    states, _ = states_at(panda, q, TWIST, np.zeros(6), False)
    expected = np.linalg.lstsq(panda.jacobian(q), TWIST, rcond=None)[0]
    np.testing.assert_allclose(states[:, 1], expected, atol=1e-6)


def test_the_accelerations_are_the_derivative_while_weights_change_near_limits():
    panda = chain_of("panda")
    q = np.array([2.7, -0.8, 0.2, -2.4, 0.1, 0.2, 0.8])
    weights = np.array(
        [[0.3, 1.0, 0.8, 0.5, 1.0, 0.1, 1.0, 0.4], [0.5, 0, -0.4, 0.3, 0, 0.6, 0, 0.7]]
    )
    states, lost = states_at(panda, q, TWIST, RATE, False, weights)
    assert lost < 1e-5
    speeds = []
    for time in (-TIME, TIME):
        there = weights + np.outer([time, 0.0], weights[1])
        at = q + time * states[:, 1] + 0.5 * time * time * states[:, 2]
        speeds.append(states_at(panda, at, TWIST + time * RATE, RATE, False, there)[0][:, 1])
    np.testing.assert_allclose((speeds[1] - speeds[0]) / (2.0 * TIME), states[:, 2], rtol=1e-3)
