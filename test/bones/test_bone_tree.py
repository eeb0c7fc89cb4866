# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK within the limits of frames, and on chains that share bones, by independent formulae."""

import math
from itertools import pairwise

import numpy as np
import pytest

from basis_ik.bones import bone_tree
from basis_ik.bones.bone_limits import Cone, Hinge, Limit, SwingTwist
from basis_ik.bones.constraints import MET_TOLERANCE, Reach, ScaledLimitError, apply_together
from basis_ik.fabrik.ball_limits import LimitError
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.verdict import Verdict

ROUNDING = 1e-7  # rad: what an arc cosine makes of rounding


def rotation(rng: np.random.Generator) -> np.ndarray:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.linalg.det(q)


def rigid(rng: np.random.Generator) -> RigidTransform:
    return RigidTransform.from_rotation_translation(rotation(rng), rng.normal(size=3))


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    return RigidTransform.exp(np.append(np.zeros(3), angle * np.asarray(axis))).rotation


def joint_rotation(tree: TransformTree, bone: str, limit: Limit) -> np.ndarray:
    """Return a bone's rotation relative to its rest pose, in its own space."""
    return limit.rest.rotation.T @ tree.basis(bone).rotation


def check(limit: Limit, turn: np.ndarray, along: np.ndarray) -> None:
    """Compare a joint's rotation with its limit; `along` is the bone at rest, in its own space."""
    along = along / np.linalg.norm(along)
    if isinstance(limit, Hinge):
        axis = np.asarray(limit.axis) / np.linalg.norm(limit.axis)
        np.testing.assert_allclose(turn @ axis, axis, rtol=0, atol=1e-9)
        side = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
        angle = math.atan2(axis @ np.cross(side, turn @ side), side @ turn @ side)
        assert limit.lower - ROUNDING <= angle <= limit.upper + ROUNDING
        return
    lean = math.atan2(np.linalg.norm(np.cross(along, turn @ along)), along @ turn @ along)
    assert lean <= limit.half_angle + ROUNDING
    if isinstance(limit, SwingTwist):
        axis = np.cross(along, turn @ along)
        swing = about(axis / np.linalg.norm(axis), lean) if lean > 1e-12 else np.eye(3)
        side = np.cross(along, np.eye(3)[np.abs(along).argmin()])
        rest = swing.T @ turn @ side
        twist = math.atan2(along @ np.cross(side, rest), side @ rest)
        assert limit.lower - ROUNDING <= twist <= limit.upper + ROUNDING


def random_limit(rng: np.random.Generator, kind: type[Limit]) -> Limit:
    rest = RigidTransform.from_rotation_translation(rotation(rng), np.zeros(3))
    if kind is Cone:
        return Cone(rest, rng.uniform(0.3, 1.5))
    if kind is SwingTwist:
        return SwingTwist(rest, rng.uniform(0.3, 1.5), -rng.uniform(0.1, 1), rng.uniform(0.1, 1))
    return Hinge(rest, rng.normal(size=3), -rng.uniform(0.1, 1), rng.uniform(0.1, 1.5))


def allowed(rng: np.random.Generator, limit: Limit, along: np.ndarray) -> np.ndarray:
    """Return a random allowed rotation in the parent."""
    along = along / np.linalg.norm(along)
    if isinstance(limit, Hinge):
        axis = np.asarray(limit.axis) / np.linalg.norm(limit.axis)
        return limit.rest.rotation @ about(axis, rng.uniform(limit.lower, limit.upper))
    across = np.cross(along, rng.normal(size=3))
    swing = about(across / np.linalg.norm(across), rng.uniform(0, limit.half_angle))
    bounds = (limit.lower, limit.upper) if isinstance(limit, SwingTwist) else (-math.pi, math.pi)
    return limit.rest.rotation @ swing @ about(along, rng.uniform(*bounds))


def put(tree: TransformTree, bone: str, turn: np.ndarray) -> None:
    place = tree.basis(bone).translation
    tree.move(bone, RigidTransform.from_rotation_translation(turn, place))


def place(tree: TransformTree, frame: str) -> np.ndarray:
    return tree.lookup(tree.root, frame).translation


@pytest.mark.parametrize("start", ["anywhere", "allowed"])
@pytest.mark.parametrize("seed", range(12))
def test_chains_reach_within_the_limits_of_their_frames(seed: int, start: str) -> None:
    """All kinds of limits, random rest poses, a bone without limit, frames in between."""
    rng = np.random.default_rng(seed)
    tree = TransformTree("root")
    tree.add("base", "root", rigid(rng))
    chain = ("a", "b", "c", "d", "tip")
    for above, bone in zip(("base", "a", "b2", "c"), chain, strict=False):
        tree.add(bone, above, rigid(rng))
        if bone == "b":
            tree.add("b2", "b", rigid(rng))
    tree.add("tip", "d", rigid(rng))
    kinds: dict[str, type[Limit]] = {"a": SwingTwist, "b": Cone, "c": Hinge}
    limits = {bone: random_limit(rng, kind) for bone, kind in kinds.items()}
    along = {bone: tree.lookup(bone, tail).translation for bone, tail in pairwise(chain)}
    before = {bone: tree.basis(bone) for bone in chain}
    for bone, limit in limits.items():
        put(tree, bone, allowed(rng, limit, along[bone]))
    tree.add("goal", "root", tree.lookup("root", "tip"))
    for bone, limit in limits.items():
        put(tree, bone, allowed(rng, limit, along[bone]))
        if start == "anywhere":
            tree.move(bone, before[bone])
    lengths = [np.linalg.norm(along[bone]) for bone in chain[:-1]]
    applied = Reach(chain, "goal", limits=limits).apply(tree)
    assert applied.verdict is Verdict.REACHED
    assert np.linalg.norm(place(tree, "tip") - place(tree, "goal")) <= MET_TOLERANCE
    for bone, limit in limits.items():
        check(limit, joint_rotation(tree, bone, limit), along[bone])
    for bone, tail, length in zip(chain[:-1], chain[1:], lengths, strict=True):
        assert np.linalg.norm(tree.lookup(bone, tail).translation) == pytest.approx(length)
        assert (tree.basis(bone).translation == before[bone].translation).all()


def test_a_goal_beyond_the_limits_is_reported_and_the_limits_are_kept() -> None:
    tree = TransformTree("root")
    tree.add("bone", "root", RigidTransform.identity())
    tree.add("tip", "bone", RigidTransform.from_rpy(0, 0, 0, (1, 0, 0)))
    tree.add("goal", "root", RigidTransform.from_rpy(0, 0, 0, (0, 1, 0)))
    limit = Hinge(RigidTransform.identity(), (0, 0, 1), -5.0, 0.5)
    applied = Reach(("bone", "tip"), "goal", limits={"bone": limit}).apply(tree)
    assert applied.verdict is Verdict.REACHED  # on the circle: −270° is 90°
    limit = Hinge(RigidTransform.identity(), (0, 0, 1), -0.5, 0.5)
    tree.move("bone", RigidTransform.identity())
    applied = Reach(("bone", "tip"), "goal", limits={"bone": limit}).apply(tree)
    assert applied.verdict is Verdict.LIMIT
    assert applied.miss == pytest.approx(2.0 * math.sin(0.5 * (0.5 * math.pi - 0.5)), abs=1e-6)
    np.testing.assert_allclose(place(tree, "tip"), (math.cos(0.5), math.sin(0.5), 0), atol=1e-6)


def test_a_start_outside_its_limit_is_moved_within_it() -> None:
    tree = TransformTree("root")
    tree.add("a", "root", RigidTransform.from_rpy(0, 0, 1.0, (0, 0, 0)))
    tree.add("b", "a", RigidTransform.from_rpy(0, 0, 1.0, (1, 0, 0)))
    tree.add("tip", "b", RigidTransform.from_rpy(0, 0, 0, (1, 0, 0)))
    tree.add("goal", "root", tree.lookup("root", "tip"))
    limit = Hinge(RigidTransform.identity(), (0, 0, 1), -2.0, 0.0)  # the elbow bends the other way
    applied = Reach(("a", "b", "tip"), "goal", limits={"b": limit}).apply(tree)
    assert applied.verdict is Verdict.REACHED
    assert tree.basis("b").as_rpy()[2] == pytest.approx(-1.0, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_reached_goal_within_the_limits_turns_nothing(seed: int) -> None:
    """Bones do not roll either, which positions would not show."""
    rng = np.random.default_rng(seed)
    tree = TransformTree("root")
    for above, bone in (("root", "a"), ("a", "b"), ("b", "tip")):
        tree.add(bone, above, rigid(rng))
    limit = random_limit(rng, SwingTwist)
    put(tree, "a", allowed(rng, limit, tree.lookup("a", "b").translation))
    tree.add("goal", "root", tree.lookup("root", "tip"))
    before = {bone: tree.basis(bone).matrix for bone in "ab"}
    assert Reach(("a", "b", "tip"), "goal", limits={"a": limit}).apply(tree).miss < MET_TOLERANCE
    for bone, matrix in before.items():
        np.testing.assert_allclose(tree.basis(bone).matrix, matrix, rtol=0, atol=1e-9)


def body(rng: np.random.Generator) -> TransformTree:
    """A spine and a chest with two separate shoulders, and arms of two bones."""
    tree = TransformTree("root")
    tree.add("spine", "root", rigid(rng))
    tree.add("chest", "spine", rigid(rng))
    for side in "lr":
        tree.add(f"upper_{side}", "chest", rigid(rng))
        tree.add(f"fore_{side}", f"upper_{side}", rigid(rng))
        tree.add(f"hand_{side}", f"fore_{side}", rigid(rng))
    return tree


def arm(side: str, *shared: str) -> tuple[str, ...]:
    return (*shared, f"upper_{side}", f"fore_{side}", f"hand_{side}")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limited", [False, True], ids=["free", "limited"])
def test_two_arms_that_share_spine_and_chest_reach_at_once(seed: int, limited: bool) -> None:
    """A sub-base with several points: the shoulders stay in place on the chest."""
    rng = np.random.default_rng(seed)
    tree = body(rng)
    limits = {"fore_l": random_limit(rng, Hinge), "chest": random_limit(rng, SwingTwist)}
    along = {
        "fore_l": tree.lookup("fore_l", "hand_l").translation,
        "chest": tree.lookup("chest", "upper_l").translation,
    }
    shoulders = {side: tree.basis(f"upper_{side}").translation for side in "lr"}
    for bone, limit in limits.items():
        put(tree, bone, allowed(rng, limit, along[bone]))
    for side in "lr":
        tree.add(f"goal_{side}", "root", tree.lookup("root", f"hand_{side}"))
    for bone in ("spine", "upper_l", "upper_r", "fore_r"):
        put(tree, bone, rotation(rng))
    put(tree, "chest", allowed(rng, limits["chest"], along["chest"]))
    for side in "lr":  # out of the hands' reach without the spine
        assert np.linalg.norm(place(tree, f"hand_{side}") - place(tree, f"goal_{side}")) > 0.1
    reaches = [
        Reach(arm(side, "spine", "chest"), f"goal_{side}", limits=limits if limited else {})
        for side in "lr"
    ]
    # The goals were made with another spine; it is asked to find it back.
    applied = apply_together(tree, reaches)
    for side, each in zip("lr", applied, strict=True):
        assert each.verdict is Verdict.REACHED
        assert (
            np.linalg.norm(place(tree, f"hand_{side}") - place(tree, f"goal_{side}"))
            <= MET_TOLERANCE
        )
        assert (tree.basis(f"upper_{side}").translation == shoulders[side]).all()
    if limited:
        for bone, limit in limits.items():
            check(limit, joint_rotation(tree, bone, limit), along[bone])


@pytest.mark.parametrize("seed", range(4))
def test_a_chain_that_begins_within_another_and_one_that_ends_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = body(rng)
    shoulder = Reach(("spine", "chest", "upper_l"), "goal_u")
    reaches = [Reach(arm("l", "chest"), "goal_l"), shoulder, Reach(arm("r", "chest"), "goal_r")]
    for side in "lr":
        tree.add(f"goal_{side}", "root", tree.lookup("root", f"hand_{side}"))
    tree.add("goal_u", "root", tree.lookup("root", "upper_l"))
    for bone in ("spine", "chest", "upper_l", "upper_r", "fore_l", "fore_r"):
        put(tree, bone, rotation(rng))
    for each in apply_together(tree, reaches):
        assert each.verdict is Verdict.REACHED
    for tip, goal in (("upper_l", "goal_u"), ("hand_l", "goal_l"), ("hand_r", "goal_r")):
        np.testing.assert_allclose(place(tree, tip), place(tree, goal), rtol=0, atol=MET_TOLERANCE)


def test_chains_that_part_at_one_joint_are_a_sub_base() -> None:
    """Without limits and separate joints, sweeps over limbs are used."""
    tree = TransformTree("root")
    tree.add("trunk", "root", RigidTransform.identity())
    for side, y in (("l", 1.0), ("r", -1.0)):
        tree.add(f"upper_{side}", "trunk", RigidTransform.from_rpy(0, 0, y, (1, 0, 0)))
        tree.add(f"fore_{side}", f"upper_{side}", RigidTransform.from_rpy(0, 0, y, (1, 0, 0)))
        tree.add(f"hand_{side}", f"fore_{side}", RigidTransform.from_rpy(0, 0, 0, (1, 0, 0)))
        tree.add(f"goal_{side}", "root", RigidTransform.from_rpy(0, 0, 0, (0.5, 1.2 * y, 0.7)))
    bones = bone_tree._Bones(tree, [arm(s, "trunk") for s in "lr"], "root", {})
    assert bones.joints["upper_l"] == bones.joints["upper_r"]
    assert bones.limits({}) == {}
    applied = apply_together(tree, [Reach(arm(s, "trunk"), f"goal_{s}") for s in "lr"])
    assert [each.verdict for each in applied] == [Verdict.REACHED] * 2
    for side in "lr":
        np.testing.assert_allclose(
            place(tree, f"hand_{side}"), place(tree, f"goal_{side}"), rtol=0, atol=MET_TOLERANCE
        )


@pytest.mark.parametrize(("apart", "joints"), [(0.8e-12, 1), (1.2e-12, 2)])
def test_joints_of_a_bone_are_one_only_where_they_coincide(apart: float, joints: int) -> None:
    tree = TransformTree("root")
    tree.add("trunk", "root", RigidTransform.identity())
    for side, y in (("l", 0.0), ("r", apart)):
        tree.add(f"upper_{side}", "trunk", RigidTransform.from_rpy(0, 0, 0, (1, y, 0)))
        tree.add(f"hand_{side}", f"upper_{side}", RigidTransform.from_rpy(0, 0, 0, (1, 0, 0)))
    chains = [("trunk", f"upper_{side}", f"hand_{side}") for side in "lr"]
    bones = bone_tree._Bones(tree, chains, "root", {})
    assert len({bones.joints["upper_l"], bones.joints["upper_r"]}) == joints


def test_goals_too_far_apart_are_too_far_for_each_missed_hand() -> None:
    tree = body(np.random.default_rng(0))
    for side, x in (("l", 50.0), ("r", -50.0)):
        tree.add(f"goal_{side}", "root", RigidTransform.from_rpy(0, 0, 0, (x, 0, 0)))
    applied = apply_together(tree, [Reach(arm(s, "chest"), f"goal_{s}") for s in "lr"])
    for side, each in zip("lr", applied, strict=True):
        assert each.verdict is Verdict.TOO_FAR
        miss = np.linalg.norm(place(tree, f"hand_{side}") - place(tree, f"goal_{side}"))
        assert each.miss == pytest.approx(miss, abs=1e-9)


def test_fixed_bones_within_a_bone_are_not_limits() -> None:
    """A body of three hands whose goals are its mirror image, with the right lengths."""
    tree = TransformTree("root")
    tree.add("body", "root", RigidTransform.identity())
    places = np.eye(3)
    for hand, goal in ((0, 0), (1, 2), (2, 1)):
        tree.add(f"hand{hand}", "body", RigidTransform.from_rpy(0, 0, 0, places[hand]))
        tree.add(f"goal{hand}", "root", RigidTransform.from_rpy(0, 0, 0, places[goal]))
    applied = apply_together(tree, [Reach(("body", f"hand{i}"), f"goal{i}") for i in range(3)])
    assert Verdict.BUDGET_SPENT in [each.verdict for each in applied]
    assert Verdict.LIMIT not in [each.verdict for each in applied]


def test_bones_that_are_nodes_turn_about_their_centres_within_limits() -> None:
    rng = np.random.default_rng(2)
    tree = TransformTree("root")
    for above, bone in (("root", "a"), ("a", "b")):
        node = TransformNode(
            center=rng.normal(size=3), rotation=rotation(rng), translation=rng.normal(size=3)
        )
        tree.add(bone, above, node)
    tree.add("tip", "b", rigid(rng))
    limit = Hinge(
        RigidTransform.from_rotation_translation(tree.basis("b").rotation, np.zeros(3)),
        (0, 0, 1), -1.0, 1.0,
    )  # fmt: skip
    before = tree.basis("b")
    tree.move("b", before.with_rotation(before.rotation @ about(np.array((0, 0, 1.0)), 0.7)))
    tree.add(
        "goal", "root", RigidTransform.from_rotation_translation(np.eye(3), place(tree, "tip"))
    )
    tree.move("b", before)
    applied = Reach(("a", "b", "tip"), "goal", limits={"b": limit}).apply(tree)
    assert applied.verdict is Verdict.REACHED
    np.testing.assert_allclose(place(tree, "tip"), place(tree, "goal"), rtol=0, atol=MET_TOLERANCE)
    now = tree.basis("b")
    assert isinstance(now, TransformNode)
    assert (now.center == before.center).all()
    check(limit, joint_rotation(tree, "b", limit), np.array((1.0, 0, 0)))


def test_limits_below_a_scaled_bone_are_refused() -> None:
    tree = TransformTree("root")
    tree.add("a", "root", TransformNode(scale=(1, 2, 1)))
    tree.add("b", "a", RigidTransform.from_rpy(0, 0, 0, (1, 0, 0)))
    tree.add("tip", "b", RigidTransform.from_rpy(0, 0, 0, (1, 0, 0)))
    tree.add("goal", "root", RigidTransform.from_rpy(0, 0, 0, (1, 1, 0)))
    limit = Cone(RigidTransform.identity(), 1.0)
    with pytest.raises(ScaledLimitError, match="a → b → tip"):
        Reach(("a", "b", "tip"), "goal", limits={"b": limit}).apply(tree)


def test_a_cone_for_a_bone_without_length_is_refused() -> None:
    tree = TransformTree("root")
    tree.add("a", "root", RigidTransform.identity())
    tree.add("b", "a", RigidTransform.identity())
    tree.add("tip", "b", RigidTransform.from_rpy(0, 0, 0, (1, 0, 0)))
    tree.add("goal", "root", RigidTransform.from_rpy(0, 0, 0, (0, 1, 0)))
    with pytest.raises(LimitError, match="without length"):
        Reach(("a", "b", "tip"), "goal", limits={"a": Cone(RigidTransform.identity(), 1.0)}).apply(
            tree
        )
