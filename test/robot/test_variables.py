# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of independent joints, and which of their mimic joints' limits bind them."""

import math

import pytest

from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel


def limit(lower, upper, velocity=1.0):
    return f'lower="{lower}" upper="{upper}" velocity="{velocity}"'


@pytest.fixture
def pair(joint, robot):
    """A chain of a joint `a` and a joint `b` that mimics it."""

    def build(a, b, tie, kinds=("revolute", "revolute"), tip="l2", mimic_limits=False):
        mimic = f'<mimic joint="a" {tie}/>'
        model = RobotModel.from_urdf(
            robot(
                joint("a", "l0", "l1", kinds[0], limit=a),
                joint("b", "l1", "l2", kinds[1], limit=b, inside=mimic),
            ),
            mimic_limits=mimic_limits,
        )
        return model.chain("l0", tip)

    return build


def test_one_variable_drives_both(pair):
    chain = pair(limit(-2, 2), limit(-2, 2), "")
    assert chain.joint_names == ("a",)
    assert chain.arrays.variables.tolist() == [0, 0]


FOLLOWERS = [
    ((-1, 1), "", -1, 1),
    ((-1, 3), "", -1, 2),
    ((-1, 3), 'multiplier="-1"', -2, 1),
    ((-1, 1), 'multiplier="2"', -0.5, 0.5),
    ((-1, 1), 'multiplier="0.25"', -2, 2),
    ((-1, 1), 'offset="0.5"', -1.5, 0.5),
    ((-1, 1), 'multiplier="-2" offset="0.5"', -0.25, 0.75),
    ((5, 6), 'multiplier="0" offset="9"', -2, 2),
    ((2, 4), "", 2, 2),
]


@pytest.mark.parametrize(("b", "tie", "lower", "upper"), FOLLOWERS)
def test_mimic_limits_are_folded_in_on_request(pair, b, tie, lower, upper):
    chain = pair(limit(-2, 2), limit(*b), tie, mimic_limits=True)
    assert (chain.lower[0], chain.upper[0]) == (lower, upper)
    assert (chain.arrays.lower[0], chain.arrays.upper[0]) == (lower, upper)
    narrowed = (lower, upper) != (-2, 2)
    assert any("narrowed" in line and "'b'" in line for line in chain.inferences) == narrowed


@pytest.mark.parametrize(("b", "tie", "lower", "upper"), FOLLOWERS)
def test_mimic_limits_bind_nothing_by_default_but_are_told(pair, b, tie, lower, upper):
    chain = pair(limit(-2, 2), limit(*b), tie)
    assert (chain.lower[0], chain.upper[0]) == (-2, 2)
    assert (chain.arrays.lower[0], chain.arrays.upper[0]) == (-2, 2)
    told = f"limits of mimic joints do not bind: those of 'b' would leave a {lower}..{upper}"
    assert chain.inferences == ((told,) if (lower, upper) != (-2, 2) else ())


def test_a_cylinder_beside_the_arm_does_not_narrow_it(joint, robot, tmp_path):
    """IRB 6700: a drawn cylinder has the driver's limits without their sign."""
    span, tie = limit(-1.1345, 1.4835), '<mimic joint="joint_2" multiplier="-1"/>'
    file = tmp_path / "irb.urdf"
    file.write_text(
        robot(
            joint("joint_2", "base", "arm", limit=span),
            joint("joint_3", "arm", "tool0"),
            joint("cylinder", "arm", "drawn", limit=span, inside=tie),
        )
    )
    narrow = RobotModel.from_urdf_file(file, mimic_limits=True).chain("base", "tool0")
    assert (narrow.lower[0], narrow.upper[0]) == (-1.1345, 1.1345)
    chain = RobotModel.from_urdf_file(file).chain("base", "tool0")
    assert (chain.lower[0], chain.upper[0]) == (-1.1345, 1.4835)
    assert "'cylinder' would leave joint_2 -1.135..1.135" in chain.inferences[-1]
    assert chain.solve(chain.forward((1.4, 0.5)), (1.2, 0.3)).success


def test_the_slower_of_the_two_sets_the_speed(pair):
    assert pair(limit(-2, 2, 3), limit(-2, 2, 4), 'multiplier="-2"').velocity[0] == 2
    assert pair(limit(-2, 2, 3), limit(-2, 2, 4), 'multiplier="0.5"').velocity[0] == 3


def test_limits_without_room_are_refused(pair):
    pair_without_room = (limit(-2, 2), limit(2.1, 3), "")
    with pytest.raises(ChainError, match="'b' mimics 'a', and its limits exclude all") as e:
        pair(*pair_without_room, mimic_limits=True)
    assert e.value.joint == "b"
    chain = pair(*pair_without_room)
    assert (chain.lower[0], chain.upper[0]) == (-2, 2)
    assert chain.inferences[-1].endswith("those of 'b' would exclude all positions of a")


def test_a_locked_joint_survives_rounding(pair):
    chain = pair(limit(0.1, 0.1), limit(0.3, 0.3), 'multiplier="3"', mimic_limits=True)
    assert chain.lower[0] == chain.upper[0] == pytest.approx(0.1)


@pytest.mark.parametrize(("mimic_limits", "upper"), [(False, 2), (True, 1)])
def test_a_mimic_joint_that_is_not_on_the_chain_counts_all_the_same(pair, mimic_limits, upper):
    both = (limit(-2, 2, 3), limit(-1, 1, 1))
    chain = pair(*both, "", tip="l1", mimic_limits=mimic_limits)
    assert (chain.lower[0], chain.upper[0], chain.velocity[0]) == (-upper, upper, 1)


def test_a_master_that_is_not_on_the_chain_is_its_variable(joint, robot):
    model = RobotModel.from_urdf(
        robot(
            joint("a", "l0", "l1"),
            joint("b", "l0", "l2", inside='<mimic joint="a" multiplier="2" offset="0.5"/>'),
        )
    )
    chain = model.chain("l0", "l2")
    assert chain.joint_names == ("a",)
    assert chain.arrays.multipliers.tolist() == [2]
    assert chain.arrays.offsets.tolist() == [0.5]
    assert (chain.lower[0], chain.upper[0]) == (-2, 2)
    assert "'b' would leave a -1.25..0.75" in chain.inferences[-1]


@pytest.mark.parametrize("multiplier", ["1", "-2"])
def test_continuous_joints_that_turn_together_stay_continuous(pair, multiplier):
    chain = pair("", "", f'multiplier="{multiplier}"', ("continuous", "continuous"))
    assert chain.continuous[0]
    assert chain.arrays.continuous[0] == 1
    assert (chain.lower[0], chain.upper[0]) == (-math.inf, math.inf)


def test_a_fraction_of_a_turn_is_not_periodic(pair):
    chain = pair("", "", 'multiplier="0.5"', ("continuous", "continuous"))
    assert not chain.continuous[0]
    assert chain.upper[0] == -chain.lower[0] == pytest.approx(2 * math.pi)
    assert "fraction" in chain.inferences[-1]


def test_a_limited_hinge_does_not_bind_a_continuous_joint(pair):
    chain = pair("", limit(-1, 1), 'multiplier="2"', ("continuous", "revolute"))
    assert chain.continuous[0]
    assert chain.upper[0] == math.inf
    assert "those of 'b' would leave a -0.5..0.5" in chain.inferences[-1]


def test_a_slide_ends_the_turns_of_the_continuous_joint_that_drives_it(pair):
    chain = pair("", limit(-1, 1), 'multiplier="2"', ("continuous", "prismatic"))
    assert not chain.continuous[0]
    assert (chain.lower[0], chain.upper[0]) == (-0.5, 0.5)
    assert "narrowed to -0.5..0.5 by its mimics 'b'" in chain.inferences[-1]


@pytest.mark.parametrize(("kind", "x", "y"), [("revolute", 0.0, 1.0), ("prismatic", 2.57, 0.0)])
def test_a_multiplier_of_zero_holds_the_joint_at_its_offset(joint, robot, kind, x, y):
    hold = '<axis xyz="0 0 1"/>' if kind == "revolute" else '<axis xyz="1 0 0"/>'
    hold += '<mimic joint="a" multiplier="0" offset="1.57"/>'
    model = RobotModel.from_urdf(
        robot(
            joint("a", "l0", "l1", inside='<axis xyz="0 0 1"/>'),
            joint("b", "l1", "l2", kind, hold),
            joint("end", "l2", "tip", "fixed", origin='xyz="1 0 0"'),
        )
    )
    chain = model.chain("l0", "tip")
    assert chain.arrays.origins.shape == (1, 3, 4)
    position = chain.forward([0.0]).translation
    assert tuple(position) == pytest.approx((x, y, 0), abs=1e-3)
    assert chain.link_poses([0.0])["tip"] == chain.forward([0.0])
