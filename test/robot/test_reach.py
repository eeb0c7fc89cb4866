# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The bound on the reach: never too small, and tight for simple geometries."""

import numpy as np
import pytest

from basis_ik.robot.robot import RobotModel


def test_a_planar_arm_reaches_the_sum_of_its_bones(joint, robot):
    model = RobotModel.from_urdf(
        robot(
            joint("a", "l0", "l1", inside='<axis xyz="0 0 1"/>'),
            joint("b", "l1", "l2", inside='<axis xyz="0 0 1"/>', origin='xyz="1 0 0"'),
            joint("c", "l2", "tip", "fixed", origin='xyz="0.5 0 0"'),
        )
    )
    assert model.chain("l0", "tip").reach == pytest.approx(1.5, abs=1e-6)


def test_offsets_along_parallel_axes_that_cancel_do_not_count(joint, robot):
    model = RobotModel.from_urdf(
        robot(
            joint("a", "l0", "l1", inside='<axis xyz="0 0 1"/>'),
            joint("b", "l1", "l2", inside='<axis xyz="0 0 1"/>', origin='xyz="1 0 3"'),
            joint("c", "l2", "tip", "fixed", origin='xyz="1 0 -3"'),
        )
    )
    assert model.chain("l0", "tip").reach == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 -1"])
def test_a_slide_counts_by_its_travel(joint, robot, axis):
    limit = 'lower="-0.5" upper="2" velocity="1"'
    inside = f'<axis xyz="{axis}"/>'
    model = RobotModel.from_urdf(robot(joint("a", "l0", "tip", "prismatic", inside, limit)))
    assert model.chain("l0", "tip").reach == pytest.approx(2.0, abs=1e-6)


def test_a_joint_that_moves_nothing_reaches_nowhere(joint, robot):
    model = RobotModel.from_urdf(robot(joint("a", "l0", "tip")))
    assert model.chain("l0", "tip").reach == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("name", "most"), [("ur5e", 1.14), ("panda", 1.29), ("pan_tilt", 0.17)])
def test_the_bound_is_tight_enough_to_be_useful(shipped, name, most):
    chain = RobotModel.from_urdf(shipped(name)).chain()
    rng = np.random.default_rng(0)
    far = max(
        np.linalg.norm(chain.forward(q).translation)
        for q in rng.uniform(chain.lower, chain.upper, (2000, len(chain.lower)))
    )
    assert far <= chain.reach <= most


def test_of_a_very_long_chain_the_sum_of_its_offsets_is_taken(joint, robot):
    """A better bound would take minutes for a robot of a thousand joints."""
    joints = [
        joint(f"j{i}", f"l{i}", f"l{i + 1}", origin='xyz="0.3 0 0.4" rpy="1.5 0 0"')
        for i in range(1000)
    ]
    assert RobotModel.from_urdf(robot(*joints)).chain().reach == pytest.approx(500.0)
