# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Several constraints on one tree, judged by the final tree."""

import math

import numpy as np
import pytest

from basis_ik.bones.bone_limits import Cone, Hinge, SwingTwist
from basis_ik.bones.constraints import MET_TOLERANCE, Applied, Constraint, Point, Reach
from basis_ik.bones.meet import meet
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
from basis_ik.verdict import Verdict

REST = RigidTransform.identity()
LOOK = Point("calf_l", "ankle_l", "ankle_r")
STAND = Reach(("thigh_r", "calf_r", "ankle_r"), "foothold")


def at(*xyz, rpy=(0.0, 0.0, 0.0)):
    return RigidTransform.from_rpy(*rpy, xyz)


@pytest.fixture
def legs() -> TransformTree:
    tree = TransformTree("hip")
    for side, y in (("l", 0.1), ("r", -0.1)):
        tree.add(f"thigh_{side}", "hip", at(0, y, 0, rpy=(0, -0.3, 0)))
        tree.add(f"calf_{side}", f"thigh_{side}", at(0, 0, -0.45, rpy=(0, 0.5, 0)))
        tree.add(f"ankle_{side}", f"calf_{side}", at(0, 0, -0.45))
        tree.add(f"toe_{side}", f"ankle_{side}", at(0.1, 0, -0.05))
    tree.add("foothold", "hip", at(0.2, -0.1, -0.7))
    return tree


def angle(tree: TransformTree, bone: str, tail: str, target: str) -> float:
    joint, a, b = (tree.lookup("hip", f).translation for f in (bone, tail, target))
    u, v = a - joint, b - joint
    return float(np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v))


def apart(tree: TransformTree, a: str, b: str) -> float:
    return float(
        np.linalg.norm(tree.lookup("hip", a).translation - tree.lookup("hip", b).translation)
    )


def left(tree: TransformTree, constraint: Constraint) -> float:
    """Return a constraint's error in a tree, by independent formulae."""
    if isinstance(constraint, Point):
        return angle(tree, constraint.bone, constraint.tail, constraint.target)
    return apart(tree, constraint.chain[-1], constraint.target)


def check(tree: TransformTree, constraints: dict[str, Constraint], found: dict[str, Applied]):
    """Check that the results describe the final tree."""
    assert list(found) == list(constraints)
    for name, each in found.items():
        assert each.miss == pytest.approx(left(tree, constraints[name]), abs=1e-9)
        assert (each.verdict is Verdict.REACHED) == (each.miss <= MET_TOLERANCE)


@pytest.mark.parametrize("order", [("look", "stand"), ("stand", "look")])
def test_whoever_looks_at_what_another_moves_comes_after_it(legs, order):
    both = {"look": LOOK, "stand": STAND}
    constraints = {name: both[name] for name in order}
    found = meet(legs, constraints)
    check(legs, constraints, found)
    assert all(each.verdict is Verdict.REACHED for each in found.values())


def test_indirect_dependencies_are_applied_in_order(legs):
    """One points at a frame below a foot that reaches for another constraint's foot."""
    constraints = {
        "look": Point("thigh_l", "calf_l", "toe_r"),
        "turn": Point("ankle_r", "toe_r", "foothold2"),
        "stand": STAND,
    }
    legs.add("foothold2", "foothold", at(0.3, 0.1, 0.1))
    found = meet(legs, constraints)
    check(legs, constraints, found)
    assert all(each.verdict is Verdict.REACHED for each in found.values())


def test_without_cycles_each_bone_turns_once(legs):
    """The rotation is the smallest one, not by way of the target's previous position."""
    meet(legs, {"look": LOOK, "stand": STAND})
    now = legs.basis("calf_l").rotation
    before = at(0, 0, 0, rpy=(0, 0.5, 0)).rotation
    turn = before.T @ now
    axis = np.array((turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]))
    assert abs(axis[2]) < 1e-12  # no twist about the calf, which lies along z


def test_constraints_in_a_cycle_alternate_until_both_are_met(legs):
    constraints = {"left": LOOK, "right": Point("calf_r", "ankle_r", "ankle_l")}
    found = meet(legs, constraints)
    check(legs, constraints, found)
    assert all(each.verdict is Verdict.REACHED for each in found.values())


def test_a_chain_with_spare_bones_also_points_its_last_bone():
    """Both turn the same bones: four are enough, because they share the motion."""
    tree = TransformTree("hip")
    above = "hip"
    for bone in "abcde":
        tree.add(bone, above, at(0, 0, -0.3, rpy=(0.3, 0.2, 0)))
        above = bone
    tree.add("goal", "hip", at(0.4, 0.3, -0.8))
    tree.add("sight", "hip", at(2.0, 0.1, 0.5))
    constraints = {"tip": Reach(tuple("abcde"), "goal"), "last": Point("d", "e", "sight")}
    found = meet(tree, constraints)
    check(tree, constraints, found)
    assert all(each.verdict is Verdict.REACHED for each in found.values())


def reach_and_point(seed: int, bones: int) -> tuple[TransformTree, dict[str, Constraint]]:
    """Return a random chain with solvable targets for its tip and its last bone."""
    rng = np.random.default_rng(seed)

    def turn() -> np.ndarray:
        q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        return q * np.linalg.det(q)

    def pose(*frames: str) -> None:
        for frame in frames:
            place = tree.basis(frame).translation
            tree.move(frame, RigidTransform.from_rotation_translation(turn(), place))

    tree, above = TransformTree("hip"), "hip"
    frames = [f"b{i}" for i in range(bones + 1)]
    for frame in frames:
        place = 0.4 * rng.normal(size=3)
        tree.add(frame, above, RigidTransform.from_rotation_translation(turn(), place))
        above = frame
    pose(*frames[:-1])
    last, tip = frames[-2:]
    tree.add("goal", "hip", tree.lookup("hip", tip))
    beyond = tree.lookup("hip", last).apply(3.0 * tree.lookup(last, tip).translation)
    tree.add("sight", "hip", at(*beyond))
    pose(*frames[:-1])
    return tree, {"reach": Reach(tuple(frames), "goal"), "point": Point(last, tip, "sight")}


@pytest.mark.parametrize(("bones", "least"), [(3, 33), (4, 48), (5, 51), (6, 53)])
def test_most_solvable_combinations_are_met(bones, least):
    """docs/mathematics.md has the numbers: 36, 51, 54 and 56 of 60; some depend on rounding."""
    met = 0
    for seed in range(60):
        tree, constraints = reach_and_point(seed, bones)
        found = meet(tree, constraints)
        check(tree, constraints, found)
        met += all(each.verdict is Verdict.REACHED for each in found.values())
    assert met >= least, met


def test_a_conflict_is_named_by_both_sides_with_what_is_missing(legs):
    constraints = {"look": Point("calf_r", "ankle_r", "ankle_l"), "stand": STAND}
    found = meet(legs, constraints)
    check(legs, constraints, found)
    missed = [name for name, each in found.items() if each.verdict is Verdict.OTHER_TASKS]
    assert missed
    for name in missed:
        (other,) = set(constraints) - {name}
        assert found[name].conflicts == (other,)
        assert found[name].miss > 0.01
    for name in set(constraints) - set(missed):
        assert found[name].conflicts == ()


def random_chain(seed: int, scale: float) -> tuple[TransformTree, dict[str, Constraint]]:
    """Return bones of about half a metre times a scale, with three constraints: too many."""
    rng = np.random.default_rng(seed)
    tree = TransformTree("hip")
    above = "hip"
    for frame in ("a", "b", "c", "d"):
        tree.add(frame, above, at(*0.5 * scale * rng.normal(size=3), rpy=rng.uniform(-3, 3, 3)))
        above = frame
    for goal in ("g", "h"):
        tree.add(goal, "hip", at(*0.7 * scale * rng.normal(size=3)))
    reach = Reach(tuple("abcd"), "h", "shared")
    return tree, {"look": Point("b", "c", "g"), "reach": reach, "turn": Point("c", "d", "g")}


@pytest.mark.parametrize("scale", [1.0, 1000.0])
@pytest.mark.parametrize("seed", range(20))
def test_the_best_round_is_kept_and_three_without_progress_end_the_search(seed, scale):
    tree, constraints = random_chain(seed, scale)
    p = np.array([tree.lookup("hip", frame).translation for frame in "abcd"])
    reach = np.linalg.norm(np.diff(p, axis=0), axis=1).sum()

    def score():
        looks = left(tree, constraints["look"]) + left(tree, constraints["turn"])
        return looks + left(tree, constraints["reach"]) / reach

    scores = []
    for _ in range(4):
        for constraint in constraints.values():
            constraint.apply(tree)
        scores.append(score())
    tree, constraints = random_chain(seed, scale)
    check(tree, constraints, meet(tree, constraints))
    assert score() <= min(scores) + 1e-9


def test_a_chain_too_short_says_so_beside_the_conflict(legs):
    legs.move("foothold", at(2.0, -0.1, 0.0))
    constraints = {"look": Point("calf_r", "ankle_r", "ankle_l"), "stand": STAND}
    found = meet(legs, constraints)
    check(legs, constraints, found)
    assert (found["stand"].verdict, found["stand"].conflicts) == (Verdict.TOO_FAR, ("look",))


def test_a_bone_that_turns_about_a_target_does_not_disturb_it(legs):
    """A knee does not move when its calf turns: no cycle, and no conflict."""
    constraints = {
        "left": Point("calf_l", "ankle_l", "calf_r", Cone(REST, 0.01)),
        "right": Point("calf_r", "ankle_r", "calf_l"),
    }
    found = meet(legs, constraints)
    check(legs, constraints, found)
    assert (found["left"].verdict, found["left"].conflicts) == (Verdict.LIMIT, ())
    assert found["right"].verdict is Verdict.REACHED


def test_indirect_needs_are_found(legs):
    """The first depends on the last only through the one in between."""
    legs.add("arm", "hip", at(0, 0, 0.3))
    legs.add("hand", "arm", at(0.3, -0.1, -0.9))
    legs.add("goal", "hip", at(0.2, -0.3, -0.5))
    constraints = {
        "look": LOOK,
        "stand": Reach(STAND.chain, "hand"),
        "point": Point("arm", "hand", "goal"),
    }
    found = meet(legs, constraints)
    check(legs, constraints, found)
    assert all(each.verdict is Verdict.REACHED for each in found.values())
    turn = at(0, 0, 0, rpy=(0, 0.5, 0)).rotation.T @ legs.basis("calf_l").rotation
    assert abs(turn[1, 0] - turn[0, 1]) < 1e-12  # the calf has turned once


def test_chains_that_reach_for_each_other_take_turns(legs):
    constraints = {
        side: Reach((f"thigh_{side}", f"calf_{side}", f"ankle_{side}"), f"toe_{other}")
        for side, other in (("l", "r"), ("r", "l"))
    }
    found = meet(legs, constraints)
    check(legs, constraints, found)


def test_a_chain_without_any_length_is_as_it_is():
    tree = TransformTree("hip")
    for above, frame in (("hip", "a"), ("a", "b"), ("b", "c")):
        tree.add(frame, above, at(0, 0, 0))
    tree.add("goal", "hip", at(1, 0, 0))
    constraints = {"reach": Reach(("a", "b"), "goal"), "look": Point("a", "c", "goal")}
    found = meet(tree, constraints)
    assert found["reach"].verdict is not Verdict.REACHED
    assert found["look"].verdict is Verdict.DEGENERATE


def test_chains_that_share_bones_are_met_at_once():
    tree = TransformTree("hip")
    tree.add("spine", "hip", at(0, 0, 0))
    for side, y in (("l", 0.2), ("r", -0.2)):
        tree.add(f"upper_{side}", "spine", at(0, y, 0.5))
        tree.add(f"fore_{side}", f"upper_{side}", at(0, y, -0.1, rpy=(0.2, 0.1, 0)))
        tree.add(f"hand_{side}", f"fore_{side}", at(0, 0, -0.3))
        tree.add(f"goal_{side}", "hip", at(0.5, y, 0.4))
    tree.add("eye", "hip", at(0, 0, 0.6))
    tree.add("sight", "eye", at(0.1, 0, 0))
    constraints = {
        side: Reach(("spine", f"upper_{side}", f"fore_{side}", f"hand_{side}"), f"goal_{side}")
        for side in "lr"
    } | {"look": Point("eye", "sight", "hand_l")}
    found = meet(tree, {name: constraints[name] for name in ("look", "l", "r")})
    check(tree, {name: constraints[name] for name in ("look", "l", "r")}, found)
    assert all(each.verdict is Verdict.REACHED for each in found.values())


def test_the_error_left_by_a_limit_is_not_a_conflict(legs):
    limits = {"thigh_r": SwingTwist(REST, 1.2, -0.5, 0.5), "calf_r": Hinge(REST, (0, 1, 0), 0, 2.4)}
    constraints = {
        "look": Point("calf_l", "ankle_l", "ankle_r", Cone(REST, 0.2)),
        "stand": Reach(STAND.chain, "foothold", limits=limits),
    }
    found = meet(legs, constraints)
    check(legs, constraints, found)
    assert found["stand"].verdict is Verdict.REACHED
    assert found["look"].verdict is Verdict.LIMIT
    assert found["look"].conflicts == ()
    down = np.array((0, 0, -1.0))
    lean = math.acos(down @ legs.basis("calf_l").rotation @ down)
    assert lean == pytest.approx(0.2, abs=1e-9)
    knee = legs.basis("calf_r").as_rpy()
    np.testing.assert_allclose((knee[0], knee[2]), 0.0, atol=1e-9)
    assert 0.0 <= knee[1] <= 2.4


def test_an_unreachable_target_is_not_a_conflict(legs):
    legs.move("foothold", at(2.0, -0.1, 0.0))
    found = meet(legs, {"look": LOOK, "stand": STAND})
    assert found["stand"].verdict is Verdict.TOO_FAR
    assert found["stand"].conflicts == ()
    assert found["look"].verdict is Verdict.REACHED


def test_without_a_direction_nothing_is_met_and_the_rest_is(legs):
    legs.add("knee", "thigh_l", at(0, 0, -0.45))  # exactly where the calf turns
    found = meet(legs, {"look": Point("calf_l", "ankle_l", "knee"), "stand": STAND})
    assert found["look"].verdict is Verdict.DEGENERATE
    assert math.isnan(found["look"].miss)
    assert found["stand"].verdict is Verdict.REACHED


@pytest.mark.parametrize("method", ["fabrik", "shared"])
def test_a_chain_hung_far_away_is_solved_in_its_own_root_frame(method):
    tree = TransformTree("map")
    tree.add("hip", "map", at(1e5, -2e5, 0, rpy=(0.3, 0.2, 1.0)))
    tree.add("a", "hip", at(0, 0, 0))
    tree.add("b", "a", at(0, 0, -0.4, rpy=(0.3, 0, 0)))
    tree.add("tip", "b", at(0, 0, -0.4))
    tree.add("goal", "hip", at(0.2, 0.1, -0.5))
    Reach(("a", "b", "tip"), "goal", method).apply(tree)
    np.testing.assert_allclose(
        tree.lookup("hip", "tip").translation, (0.2, 0.1, -0.5), rtol=0, atol=2e-9
    )
