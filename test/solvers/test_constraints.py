"""Constraints applied to a tree: the text's legs, one after another."""

import numpy as np
import pytest

from basis_ik.solvers.constraints import Point, Reach
from basis_ik.solvers.verdict import Verdict
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree


def at(*xyz, rpy=(0.0, 0.0, 0.0)):
    return RigidTransform.from_rpy(*rpy, xyz)


@pytest.fixture
def legs():
    tree = TransformTree("hip")
    for side, y in (("l", 0.1), ("r", -0.1)):
        tree.add(f"thigh_{side}", "hip", at(0, y, 0, rpy=(0, -0.3, 0)))
        tree.add(f"calf_{side}", f"thigh_{side}", at(0, 0, -0.45, rpy=(0, 0.5, 0)))
        tree.add(f"ankle_{side}", f"calf_{side}", at(0, 0, -0.45))
    tree.add("foothold", "hip", at(0.2, -0.1, -0.7))
    return tree


def angle(tree, bone, tail, target):
    joint, a, b = (tree.lookup("hip", f).translation for f in (bone, tail, target))
    u, v = a - joint, b - joint
    return np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v)


def test_the_left_calf_points_at_the_right_ankle(legs):
    assert angle(legs, "calf_l", "ankle_l", "ankle_r") > 0.1
    applied = Point("calf_l", "ankle_l", "ankle_r").apply(legs)
    assert applied.verdict is Verdict.REACHED
    assert angle(legs, "calf_l", "ankle_l", "ankle_r") < 1e-12


def test_the_right_leg_reaches_the_foothold_and_keeps_its_lengths(legs):
    applied = Reach(("thigh_r", "calf_r", "ankle_r"), "foothold").apply(legs)
    assert applied.verdict is Verdict.REACHED
    np.testing.assert_allclose(
        legs.lookup("hip", "ankle_r").translation, [0.2, -0.1, -0.7], atol=1e-9
    )
    assert np.linalg.norm(legs.lookup("thigh_r", "calf_r").translation) == pytest.approx(0.45)


def test_a_later_constraint_sees_what_an_earlier_one_moved(legs):
    Reach(("thigh_r", "calf_r", "ankle_r"), "foothold").apply(legs)
    Point("calf_l", "ankle_l", "ankle_r").apply(legs)
    assert angle(legs, "calf_l", "ankle_l", "foothold") < 1e-8


def test_out_of_reach_is_told_with_the_distance(legs):
    legs.move("foothold", at(2.0, -0.1, 0.0))
    applied = Reach(("thigh_r", "calf_r", "ankle_r"), "foothold").apply(legs)
    assert applied.verdict is Verdict.TOO_FAR
    assert applied.miss == pytest.approx(2.0 - 0.9)
