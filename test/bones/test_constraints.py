# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Constraints applied one after another to the legs of the text."""

import numpy as np
import pytest

from basis_ik.bones import constraints
from basis_ik.bones.bone_limits import Cone
from basis_ik.bones.bones import BoneChainError
from basis_ik.bones.constraints import Point, Reach, WorldLimitError
from basis_ik.bones.meet import meet
from basis_ik.fabrik.fabrik import sweep_chain
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import ScaledFrameError, TransformTree
from basis_ik.verdict import Verdict


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


def test_both_options_turn_the_legs_alike(legs):
    stand, look = (("thigh_r", "calf_r", "ankle_r"), "foothold"), ("calf_l", "ankle_l", "ankle_r")
    found = []
    for option in (1, 2):
        tree = TransformTree("hip")
        for frame in legs.frames[1:]:
            tree.add(frame, legs.parent(frame), legs.basis(frame))
        assert Reach(*stand, option=option).apply(tree)
        assert Point(*look, option=option).apply(tree)
        found.append([tree.lookup("hip", frame) for frame in legs.frames])
    assert all(one.is_close(two, 1e-12) for one, two in zip(*found, strict=True))


def test_option_1_is_computed_in_the_root_frame(legs, monkeypatch):
    used = []
    for name in ("points_at", "bones_in_object"):
        monkeypatch.setattr(constraints, name, lambda *_, **__: used.append(0))
    Reach(("thigh_r", "calf_r", "ankle_r"), "foothold", option=1).apply(legs)
    Point("calf_l", "ankle_l", "ankle_r", option=1).apply(legs)
    assert not used


def test_option_1_refuses_limits_and_scale(legs):
    limit = Cone(RigidTransform.identity(), 0.1)
    for refused in (
        lambda: Point("calf_l", "ankle_l", "ankle_r", limit, option=1),
        lambda: Reach(("thigh_r", "ankle_r"), "foothold", limits={"thigh_r": limit}, option=1),
    ):
        with pytest.raises(WorldLimitError, match="option 2"):
            refused()
    legs.move("calf_r", TransformNode(scale=(1.0, 2.0, 1.0)))
    for constraint in (
        Point("calf_r", "ankle_r", "foothold", option=1),
        Reach(("thigh_r", "calf_r", "ankle_r"), "foothold", option=1),
    ):
        with pytest.raises(ScaledFrameError, match="calf_r"):
            constraint.apply(legs)


def test_option_1_says_that_a_bone_without_a_direction_does_not_point(legs):
    legs.move("ankle_l", RigidTransform.identity())
    applied = Point("calf_l", "ankle_l", "ankle_r", option=1).apply(legs)
    assert applied.verdict is Verdict.DEGENERATE


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


def test_targets_that_do_not_fit_a_chain_are_refused(legs):
    legs.add("toe", "ankle_r", at(0.1, 0, 0))
    with pytest.raises(BoneChainError, match="moves its target 'toe'"):
        Reach(("thigh_r", "calf_r", "ankle_r"), "toe").apply(legs)
    with pytest.raises(BoneChainError, match="'calf_l' is not below 'thigh_r'"):
        Reach(("thigh_r", "calf_l", "ankle_l"), "foothold").apply(legs)
    with pytest.raises(BoneChainError, match="'thigh_r' is not below 'thigh_r'"):
        Reach(("thigh_r", "thigh_r"), "foothold").apply(legs)


def sweeps(monkeypatch):
    """Return the chains with which the published passes and `solve_chain` are called."""
    published, shared = [], []
    sweep, solve = constraints.sweep_chain, constraints.solve_chain

    def hear(heard, run):
        return lambda p, *more, **options: heard.append(p) or run(p, *more, **options)

    monkeypatch.setattr(constraints, "sweep_chain", hear(published, sweep))
    monkeypatch.setattr(constraints, "solve_chain", hear(shared, solve))
    return published, shared


def test_fabrik_is_the_published_iteration_in_the_frame_that_the_chain_hangs_in(legs, monkeypatch):
    tree = TransformTree("map")
    tree.add("hip", "map", at(5, -7, 1, rpy=(0.3, 0.2, 1.0)))
    for frame in legs.frames[1:]:
        tree.add(frame, legs.parent(frame), legs.basis(frame))
    start = [tree.lookup("hip", f).translation for f in ("thigh_r", "calf_r", "ankle_r")]
    expected = published_passes(start, [0.2, -0.1, -0.7], 1e-9)
    published, shared = sweeps(monkeypatch)
    Reach(("thigh_r", "calf_r", "ankle_r"), "foothold").apply(tree)
    np.testing.assert_allclose(published, [start], rtol=0, atol=1e-15)
    assert shared == []
    found = [tree.lookup("hip", f).translation for f in ("thigh_r", "calf_r", "ankle_r")]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def published_passes(start, target, tolerance):
    """Aristidou and Lasenby's Algorithm 1, backward and forward, written independently."""
    p, target = np.array(start), np.array(target)
    root, lengths = p[0].copy(), np.linalg.norm(np.diff(p, axis=0), axis=1)
    while np.linalg.norm(p[-1] - target) > tolerance:
        p[-1] = target
        for i in range(len(lengths) - 1, -1, -1):
            p[i] = p[i + 1] + lengths[i] * (p[i] - p[i + 1]) / np.linalg.norm(p[i] - p[i + 1])
        p[0] = root
        for i in range(len(lengths)):
            p[i + 1] = p[i] + lengths[i] * (p[i + 1] - p[i]) / np.linalg.norm(p[i + 1] - p[i])
    return p


def test_shared_distributes_the_motion_over_all_bones(legs, monkeypatch):
    published, shared = sweeps(monkeypatch)
    applied = Reach(("thigh_r", "calf_r", "ankle_r"), "foothold", "shared").apply(legs)
    assert applied.verdict is Verdict.REACHED
    assert (len(published), len(shared)) == (0, 1)


@pytest.mark.parametrize("off", [1e-12, 1e-9, 1e-6, 1e-4])
@pytest.mark.parametrize(("lengths", "bound", "side"), [((1, 1, 1), 3, -1), ((1, 4, 1), 2, 1)])
def test_fabrik_arrives_where_its_passes_do_not(lengths, bound, side, off, monkeypatch):
    """Just within full reach, and just outside the inner void."""
    tree = TransformTree("map")
    tree.add("a", "map", at(0, 0, 0, rpy=(0.1, -0.3, 0)))
    for above, below, along in zip("abc", "bcd", lengths, strict=True):
        tree.add(below, above, at(along, 0, 0, rpy=(0, 0.3, 0.2)))
    tree.add("goal", "map", at(bound + side * off, 0, 0))
    start = [tree.lookup("map", frame).translation for frame in "abcd"]
    swept = sweep_chain(start, (bound + side * off, 0, 0), tolerance=1e-9)
    assert (swept.verdict, swept.iterations) == (Verdict.BUDGET_SPENT, 1000)
    _, shared = sweeps(monkeypatch)
    applied = Reach(tuple("abcd"), "goal").apply(tree)
    assert applied.verdict is Verdict.REACHED
    miss = tree.lookup("map", "d").translation - (bound + side * off, 0, 0)
    assert np.linalg.norm(miss) < 1e-9
    np.testing.assert_array_equal(shared, [swept.positions], err_msg="it goes on from there")


@pytest.mark.parametrize(("beyond", "is_met"), [(1e-9, True), (1e-7, False)])
def test_a_constraint_is_met_to_ten_nanometres(beyond, is_met):
    """A straight leg, and a foothold that is a little too far."""
    tree = TransformTree("hip")
    tree.add("thigh", "hip", at(0, 0, 0))
    tree.add("calf", "thigh", at(0, 0, -0.45))
    tree.add("ankle", "calf", at(0, 0, -0.45))
    tree.add("foothold", "hip", at(0, 0, -0.9 - beyond))
    reach = Reach(("thigh", "calf", "ankle"), "foothold")
    for applied in (reach.apply(tree), meet(tree, {"stand": reach})["stand"]):
        assert applied.miss == pytest.approx(beyond, abs=1e-10)
        assert applied.verdict is (Verdict.REACHED if is_met else Verdict.TOO_FAR)


@pytest.mark.parametrize("short", [1e-2, 1e-3, 1e-9])
@pytest.mark.parametrize("scale", [1.0, 1e-4])
@pytest.mark.parametrize(("part", "is_met"), [(0.9e-6, True), (1.1e-6, False)])
def test_a_short_chain_is_met_to_a_millionth_of_its_reach(short, scale, part, is_met):
    """Straight, with a goal a little too far, and all of it drawn to scale."""
    tree = TransformTree("map")
    tree.add("base", "map", TransformNode.from_fields({"scale": 3 * [scale]}))
    tree.add("a", "base", at(0, 0, 0))
    tree.add("b", "a", at(0.5 * short, 0, 0))
    tree.add("tip", "b", at(0.5 * short, 0, 0))
    tree.add("goal", "base", at((1 + part) * short, 0, 0))
    reach = Reach(("a", "b", "tip"), "goal")
    for applied in (reach.apply(tree), meet(tree, {"reach": reach})["reach"]):
        assert applied.miss == pytest.approx(part * short * scale, rel=1e-3)
        assert applied.verdict is (Verdict.REACHED if is_met else Verdict.TOO_FAR)


CHAIN = tuple("abcd")
ALONE = {"one": Reach(CHAIN, "goal")}
FREE = Cone(RigidTransform.identity(), 3.0)


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize(
    "given",
    [
        ALONE,
        {"one": Reach(CHAIN, "goal", "shared")},
        {"one": Reach(CHAIN, "goal", limits={"b": FREE})},
        {"one": Reach(CHAIN, "goal"), "two": Reach((*"abc", "e"), "side")},
    ],
    ids=["fabrik", "shared", "limits", "two chains"],
)
def test_chains_of_any_size_arrive_to_a_millionth_of_their_reach(size, given):
    tree = small(size)
    for name, applied in meet(tree, given).items():
        assert applied.verdict is Verdict.REACHED
        tip, goal = given[name].chain[-1], given[name].target
        miss = tree.lookup("base", tip).translation - tree.lookup("base", goal).translation
        assert np.linalg.norm(miss) <= 1e-6 * size


def small(size):
    tree = TransformTree("base")
    for above, frame, *place in (
        ("base", "a", 0, 0, 0), ("a", "b", 0.4, 0, 0), ("b", "c", 0.3, 0, 0), ("c", "d", 0.3, 0, 0),
        ("c", "e", 0.3, 0.1, 0), ("base", "goal", 0.3, 0.1, 0.5), ("base", "side", 0.3, 0.2, 0.5),
    ):  # fmt: skip
        tree.add(frame, above, at(*(size * np.array(place)), rpy=(0, 0.3, 0)))
    return tree


def test_bones_too_short_for_a_direction_are_not_met():
    tree = small(1e-13)
    for applied in (ALONE["one"].apply(tree), meet(tree, ALONE)["one"]):
        assert applied.verdict is Verdict.DEGENERATE
        assert applied.miss > 1e-14


def test_an_unreachable_target_is_reported_with_the_distance(legs):
    legs.move("foothold", at(2.0, -0.1, 0.0))
    applied = Reach(("thigh_r", "calf_r", "ankle_r"), "foothold").apply(legs)
    assert applied.verdict is Verdict.TOO_FAR
    assert applied.miss == pytest.approx(2.0 - 0.9)
