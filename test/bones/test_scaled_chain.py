# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Points-at and FABRIK below scaled frames, compared with products of 4×4 matrices."""

import numpy as np
import pytest

from basis_ik.bones.bone_limits import Cone
from basis_ik.bones.bones import BoneChainError, bones_in_object, bones_in_world, chain_positions
from basis_ik.bones.constraints import Point, Reach
from basis_ik.bones.points_at import Up, points_at, points_at_in_object, points_at_in_world
from basis_ik.fabrik.fabrik import solve_chain
from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import ScaledFrameError, TransformTree
from basis_ik.verdict import Verdict

SEEDS = pytest.mark.parametrize("seed", range(20))
BONES = pytest.mark.parametrize("scaled_bones", [False, True], ids=["rigid", "scaled"])


def rotation(rng: np.random.Generator) -> np.ndarray:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.linalg.det(q)


def node(rng: np.random.Generator, spread: float = 0.7) -> TransformNode:
    return TransformNode(
        center=0.2 * rng.normal(size=3),
        rotation=rotation(rng),
        scale=np.exp(rng.uniform(-spread, spread, 3)),
        scale_orientation=rotation(rng),
        translation=rng.normal(size=3),
    )


def rigid(rng: np.random.Generator) -> RigidTransform:
    return RigidTransform.from_rotation_translation(rotation(rng), rng.normal(size=3))


def matrix(basis: RigidTransform | TransformNode) -> np.ndarray:
    """The homogeneous matrix, from the fields alone."""
    m = np.eye(4)
    if isinstance(basis, RigidTransform):
        m[:3, :3], m[:3, 3] = basis.rotation, basis.translation
        return m
    axes = basis.scale_orientation
    m[:3, :3] = basis.rotation @ axes @ np.diag(basis.scale) @ axes.T
    m[:3, 3] = basis.center + basis.translation - m[:3, :3] @ basis.center
    return m


def in_root(tree: TransformTree, frame: str, point: object = (0, 0, 0)) -> np.ndarray:
    """A point of a frame in root coordinates, by matrices."""
    p = np.append(np.asarray(point, float), 1.0)
    above: str | None = frame
    while above is not None:
        p, above = matrix(tree.basis(above)) @ p, tree.parent(above)
    return p[:3]


def joint(tree: TransformTree, bone: str) -> np.ndarray:
    basis = tree.basis(bone)
    return in_root(tree, bone, basis.center if isinstance(basis, TransformNode) else (0, 0, 0))


def angle(u: np.ndarray, v: np.ndarray) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v))


def legs(rng: np.random.Generator, *, scaled_bones: bool) -> TransformTree:
    """Return two legs on a scaled hip, below a scaled world."""
    bone = node if scaled_bones else rigid
    tree = TransformTree("root")
    tree.add("world", "root", node(rng))
    tree.add("hip", "world", node(rng))
    for side in "lr":
        above = "hip"
        for name in ("thigh", "calf"):
            tree.add(f"{name}.{side}", above, bone(rng))
            above = f"{name}.{side}"
        tree.add(f"ankle.{side}", above, rigid(rng))
    return tree


@SEEDS
@BONES
def test_left_calf_points_at_right_ankle_below_scale(seed: int, scaled_bones: bool) -> None:
    tree = legs(np.random.default_rng(seed), scaled_bones=scaled_bones)
    before = tree.basis("calf.l")
    knee = joint(tree, "calf.l")
    answer = points_at(tree, "calf.l", "ankle.l", "ankle.r")
    tree.move("calf.l", answer.parent_T_bone)
    assert answer.verdict is Verdict.REACHED
    np.testing.assert_allclose(joint(tree, "calf.l"), knee, rtol=0, atol=1e-12)  # it turned there
    pointing = in_root(tree, "ankle.l") - knee
    assert angle(pointing, in_root(tree, "ankle.r") - knee) < 1e-9
    now = tree.basis("calf.l")
    if isinstance(before, TransformNode):  # the rotation alone has changed
        assert isinstance(now, TransformNode)
        np.testing.assert_allclose(now.scale, before.scale, rtol=1e-14)
        np.testing.assert_allclose(now.scale_orientation, before.scale_orientation, atol=1e-14)
        assert (now.center == before.center).all()
        assert (now.translation == before.translation).all()
    else:
        assert isinstance(now, RigidTransform)
        np.testing.assert_allclose(now.translation, before.translation, rtol=0, atol=1e-15)
    correction = before.rotation.T @ now.rotation
    assert angle_of(correction) == pytest.approx(answer.angle, abs=1e-9)


def angle_of(turn: np.ndarray) -> float:
    sine = np.array((turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]))
    return float(np.arctan2(np.linalg.norm(sine), np.trace(turn) - 1.0))


@SEEDS
@BONES
def test_the_object_coordinates_hold_the_correction(seed: int, scaled_bones: bool) -> None:
    tree = legs(np.random.default_rng(seed), scaled_bones=scaled_bones)
    correction = points_at_in_object(tree, "calf.l", "ankle.l", "ankle.r").rotation
    answer = points_at(tree, "calf.l", "ankle.l", "ankle.r").parent_T_bone
    expected = tree.basis("calf.l").rotation @ correction
    np.testing.assert_allclose(answer.rotation, expected, rtol=0, atol=1e-14)


def test_the_world_has_no_correction_below_scale() -> None:
    tree = legs(np.random.default_rng(0), scaled_bones=False)
    with pytest.raises(ScaledFrameError, match="'hip'"):
        points_at_in_world(tree, "calf.l", "ankle.l", "ankle.r")
    correction = points_at_in_world(tree, "calf.l", "ankle.l", "ankle.r", world="hip")
    bone = correction @ tree.lookup("hip", "calf.l")  # between hip and calf nothing is scaled
    tree.move("calf.l", tree.lookup("hip", "thigh.l").inverse() @ bone)
    knee = in_root(tree, "calf.l")
    assert angle(in_root(tree, "ankle.l") - knee, in_root(tree, "ankle.r") - knee) < 1e-9


@SEEDS
def test_a_node_without_scale_turns_about_its_centre_in_the_world_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = TransformTree("root")
    tree.add("bone", "root", node(rng, 0.0))
    tree.add("tail", "bone", rigid(rng))
    tree.add("target", "root", rigid(rng))
    world = points_at_in_world(tree, "bone", "tail", "target") @ tree.lookup("root", "bone")
    answer = points_at(tree, "bone", "tail", "target").parent_T_bone
    np.testing.assert_allclose(answer.matrix, world.matrix, rtol=0, atol=1e-9)


@SEEDS
@BONES
def test_the_roll_leans_as_seen_from_the_root(seed: int, scaled_bones: bool) -> None:
    """The axis is in one plane with the bone and `up`, on its side, through any scale."""
    rng = np.random.default_rng(seed)
    tree = legs(rng, scaled_bones=scaled_bones)
    up = Up(rng.normal(size=3), "world", rng.normal(size=3))
    answer = points_at(tree, "calf.l", "ankle.l", "ankle.r", up=up)
    tree.move("calf.l", answer.parent_T_bone)
    assert answer.roll_miss < 1e-9
    knee = joint(tree, "calf.l")
    bone = in_root(tree, "ankle.l") - knee
    axis = in_root(tree, "calf.l", up.axis) - in_root(tree, "calf.l")
    towards = in_root(tree, "world", up.direction) - in_root(tree, "world")
    parts, *_ = np.linalg.lstsq(np.column_stack((bone, towards)), axis, rcond=None)
    left = axis - np.column_stack((bone, towards)) @ parts
    spread = np.linalg.cond(np.column_stack((bone, towards, axis + left)))
    assert np.linalg.norm(left) < 1e-8 * np.linalg.norm(axis) * min(spread, 1e6)
    assert parts[1] > 0.0


def test_a_limit_is_kept_in_the_bones_own_coordinates() -> None:
    tree = legs(np.random.default_rng(3), scaled_bones=True)
    calf = tree.basis("calf.l")
    rest = RigidTransform.from_rotation_translation(calf.rotation, np.zeros(3))
    free = points_at(tree, "calf.l", "ankle.l", "ankle.r")
    tail = calf.stretch @ (tree.lookup("calf.l", "ankle.l").translation - calf.center)
    limit = Cone(rest, 0.1)
    held = points_at(tree, "calf.l", "ankle.l", "ankle.r", limit=limit)
    assert free.angle > 0.1
    assert held.verdict is Verdict.LIMIT
    now = calf.rotation.T @ held.parent_T_bone.rotation @ tail
    assert angle(now, tail) == pytest.approx(0.1, abs=1e-9)


CHAIN = ("thigh.l", "calf.l", "ankle.l")


@SEEDS
def test_a_leg_below_scale_reaches_a_foothold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = legs(rng, scaled_bones=False)
    goal = reachable(tree, rng, CHAIN)
    joints_before = joint(tree, "thigh.l")
    applied = Reach(CHAIN, "foothold").apply(tree)
    assert applied.verdict is Verdict.REACHED
    missing = np.linalg.norm(in_root(tree, "ankle.l") - goal)
    assert missing < 1e-7
    assert applied.miss == pytest.approx(missing, abs=1e-9)
    np.testing.assert_allclose(joint(tree, "thigh.l"), joints_before, rtol=0, atol=1e-12)
    assert all(isinstance(tree.basis(bone), RigidTransform) for bone in CHAIN[:-1])


def reachable(tree: TransformTree, rng: np.random.Generator, chain: tuple[str, ...]) -> np.ndarray:
    """Put `foothold` at the tip's position for random rotations of the bones."""
    saved = {bone: tree.basis(bone) for bone in chain[:-1]}
    for bone, basis in saved.items():
        turn = rotation(rng)
        tree.move(
            bone,
            basis.with_rotation(turn)
            if isinstance(basis, TransformNode)
            else RigidTransform.from_rotation_translation(turn, basis.translation),
        )
    goal = in_root(tree, chain[-1])
    for bone, basis in saved.items():
        tree.move(bone, basis)
    tree.add("foothold", "root", RigidTransform.from_rotation_translation(np.eye(3), goal))
    return goal


@pytest.mark.parametrize("bones", [2, 3, 5])
def test_bones_that_are_scaled_themselves_reach(bones: int) -> None:
    """Their lengths change as they turn; 20 chains with factors from 0.5 to 2."""
    rng = np.random.default_rng(bones)
    for _ in range(20):
        tree = TransformTree("root")
        tree.add("base", "root", node(rng))
        chain = tuple(f"b{i}" for i in range(bones))
        for above, bone in zip(("base", *chain), chain, strict=False):
            tree.add(bone, above, node(rng))
        tree.add("tip", chain[-1], rigid(rng))
        chain = (*chain, "tip")
        before = {bone: tree.basis(bone) for bone in chain[:-1]}
        goal = reachable(tree, rng, chain)
        applied = Reach(chain, "foothold").apply(tree)
        assert applied.verdict is Verdict.REACHED
        assert np.linalg.norm(in_root(tree, "tip") - goal) < 1e-7
        for bone, basis in before.items():  # the rotation alone has changed
            np.testing.assert_allclose(tree.basis(bone).scale, basis.scale, rtol=1e-12)
            np.testing.assert_allclose(tree.basis(bone).translation, basis.translation)


def test_scaled_bones_get_closer_to_an_unreachable_goal() -> None:
    """One scaled bone below another: no small rotation brings the tip closer."""
    rng = np.random.default_rng(12)
    tree = TransformTree("root")
    tree.add("a", "root", node(rng, 0.4))
    tree.add("b", "a", node(rng, 0.4))
    tree.add("tip", "b", rigid(rng))
    goal = np.array((4.0, 5.0, 1.0))
    tree.add("goal", "root", RigidTransform.from_rotation_translation(np.eye(3), goal))
    applied = Reach(("a", "b", "tip"), "goal").apply(tree)
    assert applied.verdict is Verdict.BUDGET_SPENT
    best = np.linalg.norm(in_root(tree, "tip") - goal)
    assert applied.miss == pytest.approx(best, abs=1e-9)
    for _ in range(200):
        other = TransformTree("root")
        for bone, above in (("a", "root"), ("b", "a")):
            basis = tree.basis(bone)
            turn = RigidTransform.exp(np.append(np.zeros(3), 0.1 * rng.normal(size=3))).rotation
            other.add(bone, above, basis.with_rotation(basis.rotation @ turn))
        other.add("tip", "b", tree.basis("tip"))
        assert np.linalg.norm(in_root(other, "tip") - goal) > best - 1e-6


@pytest.mark.parametrize(("scale", "tip"), [(2.0, 0.0), (1e-160, 1.0)], ids=["at it", "too near"])
def test_a_tip_that_no_rotation_moves_is_left_where_it_is(scale: float, tip: float) -> None:
    tree = TransformTree("root")
    turned = rotation(np.random.default_rng(3))
    stretch = (scale, 2.0 * scale, 3.0 * scale)
    tree.add("bone", "root", TransformNode(rotation=turned, scale=stretch))
    tree.add("tip", "bone", RigidTransform.from_rpy(0, 0, 0, (tip, 0, 0)))
    tree.add("goal", "root", RigidTransform.from_rpy(0, 0, 0, (5, 0, 0)))
    applied = Reach(("bone", "tip"), "goal").apply(tree)
    assert (applied.verdict, applied.miss) == (Verdict.BUDGET_SPENT, pytest.approx(5.0))


def test_positions_are_those_of_the_centres() -> None:
    tree = legs(np.random.default_rng(8), scaled_bones=True)
    expected = [joint(tree, "thigh.l"), joint(tree, "calf.l"), in_root(tree, "ankle.l")]
    np.testing.assert_allclose(chain_positions(tree, CHAIN, "root"), expected, atol=1e-12)


def test_both_routes_agree_where_centres_are_and_no_scale_is() -> None:
    rng = np.random.default_rng(4)
    tree = TransformTree("root")
    for above, bone in (("root", "a"), ("a", "b"), ("b", "c")):
        tree.add(bone, above, node(rng, 0.0))
    tree.add("tip", "c", rigid(rng))
    chain = ("a", "b", "c", "tip")
    goal = chain_positions(tree, chain, "root")[0] + 0.3
    solved = solve_chain(chain_positions(tree, chain, "root"), goal, tolerance=1e-10).positions
    one = bones_in_object(tree, chain, solved, "root")
    other = bones_in_world(tree, chain, solved, "root")
    for bone in chain[:-1]:
        np.testing.assert_allclose(one[bone].matrix, other[bone].matrix, rtol=0, atol=1e-9)
        tree.move(bone, one[bone])
    np.testing.assert_allclose(chain_positions(tree, chain, "root"), solved, rtol=0, atol=1e-9)


def test_option_1_is_refused_below_scale() -> None:
    tree = legs(np.random.default_rng(5), scaled_bones=False)
    positions = chain_positions(tree, CHAIN, "root")
    with pytest.raises(ScaledFrameError):
        bones_in_world(tree, CHAIN, positions, "root")


def test_the_root_cannot_turn() -> None:
    tree = legs(np.random.default_rng(6), scaled_bones=False)
    tree.add("goal", "root", RigidTransform.identity())
    with pytest.raises(BoneChainError, match="root"):
        Reach(("root", "hip"), "goal").apply(tree)


def test_a_miss_is_measured_in_the_root_frame() -> None:
    tree = TransformTree("root")
    tree.add("twice", "root", TransformNode(scale=(2, 2, 2)))
    tree.add("bone", "twice", RigidTransform.identity())
    tree.add("tip", "bone", RigidTransform.from_rpy(0, 0, 0, (1, 0, 0)))
    tree.add("goal", "root", RigidTransform.from_rpy(0, 0, 0, (0, 5, 0)))
    applied = Reach(("bone", "tip"), "goal").apply(tree)
    assert applied.verdict is Verdict.TOO_FAR
    assert applied.miss == pytest.approx(3.0)
    np.testing.assert_allclose(in_root(tree, "tip"), (0, 2, 0), atol=1e-9)


def test_a_constraint_points_below_scale() -> None:
    tree = legs(np.random.default_rng(9), scaled_bones=True)
    assert Point("calf.l", "ankle.l", "ankle.r").apply(tree).verdict is Verdict.REACHED
    knee = joint(tree, "calf.l")
    assert angle(in_root(tree, "ankle.l") - knee, in_root(tree, "ankle.r") - knee) < 1e-9
