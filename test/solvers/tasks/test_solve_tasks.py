# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Several tips at once."""

from __future__ import annotations

from functools import cache
from math import pi
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basis_ik.errors import SolveArgumentError
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel
from basis_ik.search.distance_residual_kernel import DistanceTask
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.tasks.solve_tasks import solve_tasks
from basis_ik.solvers.tasks.task_problem import LookTask, PoseTask, Problem
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

URDF = Path(__file__).parents[3] / "urdf"
POSITION = PoseConstraint(orientation=False)


def joint(name, parent, child, xyz, axis, bound, kind="revolute", extra=""):
    limit = f"<limit lower='{-bound}' upper='{bound}' velocity='1' effort='1'/>"
    return (
        f"<link name='{child}'/><joint name='{name}' type='{kind}'><parent link='{parent}'/>"
        f"<child link='{child}'/><origin xyz='{xyz}'/><axis xyz='{axis}'/>{limit}{extra}</joint>"
    )


def fixed(name, parent, child, xyz):
    return (
        f"<link name='{child}'/><joint name='{name}' type='fixed'><parent link='{parent}'/>"
        f"<child link='{child}'/><origin xyz='{xyz}'/></joint>"
    )


@cache
def torso():
    """Two joints of a torso, two arms of seven, a head of two."""
    text = "<robot name='torso'><link name='base'/>"
    text += joint("waist", "base", "hips", "0 0 0.8", "0 0 1", 1.5)
    text += joint("bend", "hips", "chest", "0 0 0.1", "0 1 0", 0.8)
    for side, y in (("left", 0.2), ("right", -0.2)):
        at, rows = "chest", [("0 0 1", f"0 {y} 0.4", 1.6), ("0 1 0", "0 0 0", 1.9)]
        rows += [("1 0 0", "0.1 0 0", 2.8), ("0 1 0", "0.2 0 0", 2.2), ("1 0 0", "0.1 0 0", 2.8)]
        rows += [("0 1 0", "0.2 0 0", 1.9), ("1 0 0", "0 0 0", 2.8)]
        for i, (axis, xyz, bound) in enumerate(rows):
            text += joint(f"{side}_{i}", at, f"{side}_link_{i}", xyz, axis, bound)
            at = f"{side}_link_{i}"
        text += fixed(f"{side}_grip", at, f"{side}_hand", "0.15 0 0")
    text += joint("pan", "chest", "neck", "0 0 0.5", "0 0 1", 2.5)
    text += joint("tilt", "neck", "head", "0 0 0.1", "0 1 0", 1.2)
    return RobotModel.from_urdf(text + fixed("eye", "head", "camera", "0.1 0 0.05") + "</robot>")


def draw(model, tips, rng, root=None):
    """Return positions by name within the limits, and the frames of the tips there."""
    q, frames = {}, []
    for tip in tips:
        chain = model.chain(root or model.root, tip)
        for name, low, high in zip(chain.joint_names, chain.lower, chain.upper, strict=True):
            q.setdefault(name, float(rng.uniform(max(low, -pi), min(high, pi))))
    for tip in tips:
        frames.append(frame(model, q, tip, root))
    return q, frames


def frame(model, q, tip, root=None):
    chain = model.chain(root or model.root, tip)
    return chain.forward([q[name] for name in chain.joint_names])


def holds(model, solution, tips, root=None):
    """Check that positions are finite and inside the limits."""
    for tip in tips:
        chain = model.chain(root or model.root, tip)
        q = np.array([solution.positions[name] for name in chain.joint_names])
        assert (q >= chain.lower).all()
        assert (q <= chain.upper).all()


def off(a, b):
    twist = (a.inverse() @ b).log()
    return float(np.linalg.norm((a.inverse() @ b).translation)), float(np.linalg.norm(twist[3:]))


HANDS = ("left_hand", "right_hand")


def test_both_hands_reach_whatever_both_can_reach():
    model, rng = torso(), np.random.default_rng(1)
    restarts = []
    for _ in range(60):
        _, frames = draw(model, HANDS, rng)
        seed, _ = draw(model, HANDS, rng)
        tasks = [PoseTask(tip, f) for tip, f in zip(HANDS, frames, strict=True)]
        solution = solve_tasks(model, tasks, seed)
        assert solution.success
        holds(model, solution, HANDS)
        for tip, target in zip(HANDS, frames, strict=True):
            away, turned = off(frame(model, solution.positions, tip), target)
            assert away <= 1.001e-6
            assert turned <= 1.1e-6
        restarts.append(solution.restarts)
    assert np.mean(restarts) < 20


def test_hands_and_gaze():
    model, rng = torso(), np.random.default_rng(2)
    for _ in range(30):
        _, (left, right, camera) = draw(model, (*HANDS, "camera"), rng)
        point = camera.apply(np.array([rng.uniform(0.3, 2.0), 0.0, 0.0]))
        tasks = [
            PoseTask("left_hand", left),
            PoseTask("right_hand", right, POSITION, priority=1),
            LookTask("camera", tuple(point), priority=2),
        ]
        solution = solve_tasks(model, tasks)
        assert solution.success
        eye = frame(model, solution.positions, "camera")
        way = eye.inverse().apply(point)
        assert np.arctan2(np.hypot(way[1], way[2]), way[0]) <= 1.1e-6


def test_a_point_that_a_hand_looks_at_lies_on_the_ray_from_its_origin():
    model, rng = torso(), np.random.default_rng(3)
    _, (left, right) = draw(model, HANDS, rng)
    axis, origin = (0.0, 1.0, 1.0), (0.1, 0.0, -0.05)
    point = right.apply(np.array(origin) + 0.7 * np.array(axis))
    solution = solve_tasks(
        model, [PoseTask("left_hand", left), LookTask("right_hand", tuple(point), axis, origin)]
    )
    assert solution.success
    way = frame(model, solution.positions, "right_hand").inverse().apply(point) - origin
    assert np.linalg.norm(np.cross(way, axis)) <= 1e-5


def test_feet_of_the_shipped_legs_are_reached_from_the_hip_and_from_one_another():
    model = RobotModel.from_urdf((URDF / "legs.urdf").read_text())
    tips = [
        link for link in model.links if not any(j.parent == link for j in model.joints.values())
    ]
    rng = np.random.default_rng(4)
    for _ in range(40):
        _, frames = draw(model, tips, rng)
        solution = solve_tasks(model, [PoseTask(*pair) for pair in zip(tips, frames, strict=True)])
        assert solution.success
        holds(model, solution, tips)
    root, tip = tips[:2]
    _, frames = draw(model, [tip, "hip"], rng, root)
    both = [PoseTask(tip, frames[0]), PoseTask("hip", frames[1])]
    assert solve_tasks(model, both, root=root).success


def planar(shared, arm, fork=0.2):
    """Return a tree in the plane: shared links of length 1, then two branches."""
    text, at = "<robot name='tree'><link name='base'/>", "base"
    for i in range(shared):
        text += joint(f"s{i}", at, f"t{i}", "0 0 0" if i == 0 else "1 0 0", "0 0 1", 2.0)
        at = f"t{i}"
    for side, y in (("a", fork), ("b", -fork)):
        last = at
        for i in range(arm):
            text += joint(
                f"{side}{i}", last, f"{side}l{i}", f"1 {y} 0" if i == 0 else "1 0 0", "0 0 1", 1.5
            )
            last = f"{side}l{i}"
        text += fixed(f"{side}tip", last, f"{side}_tip", "1 0 0")
    return RobotModel.from_urdf(text + "</robot>")


def best_of_the_rest(goal, other, bounds):
    """Return the least distance of tip b to `other` while tip a is at `goal`, by brute force.

    Two shared links and a branch make three for a: every angle of the first leaves two ways. Then
    b can be anywhere on an arc about the fork. About the best of a coarse grid a fine one is tried.
    """
    first = np.linspace(-bounds[0], bounds[0], 8001)
    for _ in range(2):
        gaps = [gaps_to(first, sign, goal, other, bounds) for sign in (1.0, -1.0)]
        best, step = first[np.argmin(np.min(gaps, axis=0))], first[1] - first[0]
        first = np.clip(np.linspace(best - step, best + step, 8001), -bounds[0], bounds[0])
    return float(np.min(gaps))


def gaps_to(first, sign, goal, other, bounds):
    """Return b's distances for angles of the first joint and a side of a's elbow, inf for none."""
    shared, own = bounds
    x, y = goal[0] - np.cos(first), goal[1] - np.sin(first)
    cosine = (x * x + y * y - 2.0) / 2.0
    third = sign * np.arccos(np.where(np.abs(cosine) <= 1.0, cosine, np.nan))
    heading = np.arctan2(y, x) - np.arctan2(np.sin(third), 1.0 + np.cos(third))
    second = (heading - first + pi) % (2.0 * pi) - pi
    sound = (np.abs(second) <= shared) & (np.abs(third) <= own)
    fork = np.stack([np.cos(first) + np.cos(heading), np.sin(first) + np.sin(heading)])
    away = np.array(other)[:, None] - fork
    turn = (np.arctan2(away[1], away[0]) - heading + pi) % (2.0 * pi) - pi
    turn = np.clip(turn, -own, own) + heading
    gaps = np.hypot(away[0] - np.cos(turn), away[1] - np.sin(turn))
    return np.where(sound, gaps, np.inf)


@pytest.mark.parametrize("count", [30, pytest.param(60, marks=pytest.mark.long)])
def test_the_order_is_strict_and_the_lower_gets_the_best_of_what_is_left(count):
    model = planar(2, 1, fork=0.0)
    rng, compared = np.random.default_rng(5), 0
    for _ in range(count):
        goals = rng.uniform(-2.5, 2.5, (2, 2))
        targets = [RigidTransform.from_rpy(0, 0, 0, (*goal, 0.0)) for goal in goals]
        tasks = [PoseTask(f"{'ab'[i]}_tip", targets[i], POSITION, i) for i in (0, 1)]
        solution = solve_tasks(model, tasks)
        holds(model, solution, ("a_tip", "b_tip"))
        expected = best_of_the_rest(*goals, (2.0, 1.5))
        if np.isfinite(expected):
            compared += 1
            assert solution.outcomes[0].verdict is Verdict.REACHED
            assert solution.outcomes[1].position_error == pytest.approx(expected, abs=1e-3)
        else:
            assert solution.outcomes[0].verdict is not Verdict.REACHED
            alone = solve_tasks(model, tasks[:1]).outcomes[0]
            assert solution.outcomes[0].position_error <= alone.position_error + 1e-6
    assert compared > count // 3


@pytest.mark.parametrize("count", [8, pytest.param(15, marks=pytest.mark.long)])
def test_what_is_more_important_is_not_touched_by_what_is_less(count):
    model, rng = torso(), np.random.default_rng(6)
    for _ in range(count):
        _, (left, _) = draw(model, HANDS, rng)
        far = RigidTransform.from_rpy(0, 0, 0, (*rng.uniform(-1, 1, 2), 3.5))
        tasks = [PoseTask("right_hand", far, POSITION, 1), PoseTask("left_hand", left, None, 0)]
        solution = solve_tasks(model, tasks)
        holds(model, solution, HANDS)
        right, left_outcome = solution.outcomes
        assert left_outcome.verdict is Verdict.REACHED
        assert right.verdict is Verdict.TOO_FAR
        assert off(frame(model, solution.positions, "left_hand"), left)[0] <= 1.001e-6
        swapped = [PoseTask("right_hand", far, POSITION, 0), PoseTask("left_hand", left, None, 1)]
        other = solve_tasks(model, swapped)
        assert other.outcomes[0].position_error <= right.position_error + 1e-3


def test_the_reason_is_the_others_only_if_the_task_alone_can_be_met():
    model = planar(1, 1)
    a, b = (
        frame(model, {"s0": s, "a0": 0.3, "b0": -0.4}, tip)
        for s, tip in ((0.6, "a_tip"), (-0.9, "b_tip"))
    )
    tasks = [PoseTask("a_tip", a), PoseTask("b_tip", b, priority=1)]
    solution = solve_tasks(model, tasks)
    assert solution.outcomes[0].verdict is Verdict.REACHED
    assert solution.outcomes[1].verdict is Verdict.OTHER_TASKS
    assert "other tasks" in str(solution.outcomes[1].reason)
    assert solve_tasks(model, tasks[1:]).success
    beyond = RigidTransform.from_rpy(0, 0, 0, (9.0, 0.0, 0.0))
    solution = solve_tasks(model, [tasks[0], PoseTask("b_tip", beyond, POSITION, 1)])
    assert solution.outcomes[1].verdict is Verdict.TOO_FAR
    assert solution.outcomes[1].reason.missing == pytest.approx(
        9.0 - np.hypot(1, 0.2) - 1, abs=0.05
    )


def test_tasks_of_one_priority_share_by_their_weights():
    model = planar(1, 1)
    goals = [RigidTransform.from_rpy(0, 0, 0, (0.5, y, 0.0)) for y in (1.9, -1.9)]
    left = []
    for weight in (1.0, 30.0):
        constraint = PoseConstraint(orientation=False, weights=(weight,) * 3 + (1.0,) * 3)
        tasks = [PoseTask("a_tip", goals[0], constraint), PoseTask("b_tip", goals[1], constraint)]
        left.append(solve_tasks(model, tasks).outcomes)
    assert [o.position_error for o in left[0]] == pytest.approx(
        [o.position_error for o in left[1]], abs=1e-5
    )
    assert left[0][0].position_error > 0.1


def test_the_posture_counts_where_the_tasks_leave_freedom():
    model, rng = torso(), np.random.default_rng(7)
    for _ in range(15):
        q, frames = draw(model, HANDS, rng)
        posture, _ = draw(model, HANDS, rng)
        tasks = [PoseTask(tip, f) for tip, f in zip(HANDS, frames, strict=True)]
        free = solve_tasks(model, tasks, q)
        drawn = solve_tasks(model, tasks, q, posture=posture)
        assert free.success
        assert drawn.success
        holds(model, drawn, HANDS)

        def gap(solution, posture=posture):
            return sum((solution.positions[k] - v) ** 2 for k, v in posture.items())

        assert gap(drawn) < gap(free)
        only = solve_tasks(model, tasks, q, posture={"bend": 0.1})
        assert only.success
        assert abs(only.positions["bend"] - 0.1) <= abs(free.positions["bend"] - 0.1) + 1e-9


def test_mimic_joints_move_both_tips():
    text = "<robot name='m'><link name='base'/>"
    text += joint("lead", "base", "l0", "0 0.1 0", "0 0 1", 2.0)
    text += joint("l1", "l0", "l1", "0.5 0 0", "0 0 1", 2.0) + fixed("lt", "l1", "l_tip", "0.4 0 0")
    mimic = "<mimic joint='lead' multiplier='-1' offset='0.2'/>"
    text += joint("follow", "base", "r0", "0 -0.1 0", "0 0 1", 2.5, extra=mimic)
    text += joint("r1", "r0", "r1", "0.5 0 0", "0 0 1", 2.0) + fixed("rt", "r1", "r_tip", "0.4 0 0")
    model = RobotModel.from_urdf(text + "</robot>")
    q = {"lead": 0.7, "l1": -0.5, "r1": 0.9}
    tasks = [PoseTask(tip, frame(model, q, tip)) for tip in ("l_tip", "r_tip")]
    solution = solve_tasks(model, tasks)
    assert solution.success
    assert solution.positions == pytest.approx(q, abs=1e-5)


def test_a_hand_is_posed_while_the_other_keeps_its_distance():
    model, rng = torso(), np.random.default_rng(10)
    origin = np.array([0.1, -0.05, 0.02])
    for _ in range(20):
        _, (left, right) = draw(model, HANDS, rng)
        point = rng.uniform(-1.0, 2.0, 3)
        distance = float(np.linalg.norm(right.apply(origin) - point))
        tasks = [
            PoseTask("left_hand", left),
            DistanceTask("right_hand", tuple(point), distance, tuple(origin), priority=1),
        ]
        solution = solve_tasks(model, tasks)
        assert solution.success
        holds(model, solution, HANDS)
        there = frame(model, solution.positions, "right_hand").apply(origin)
        assert abs(np.linalg.norm(there - point) - distance) <= 1.001e-6
        assert off(frame(model, solution.positions, "left_hand"), left)[0] <= 1.001e-6


def least_off_distance(point, distance):
    """Return the least error of a distance that tip b of `planar(1, 1)` comes to, by brute force.

    About the best of a coarse grid of both angles a fine one is tried.
    """
    low, high = np.array([-2.0, -1.5]), np.array([2.0, 1.5])
    first, second = (np.linspace(a, b, 601) for a, b in zip(low, high, strict=True))
    for _ in range(2):
        s, b = np.meshgrid(first, second, indexing="ij")
        x = np.cos(s) + 0.2 * np.sin(s) + np.cos(s + b)
        y = np.sin(s) - 0.2 * np.cos(s) + np.sin(s + b)
        error = np.abs(np.hypot(x - point[0], y - point[1]) - distance)
        best = np.unravel_index(np.argmin(error), error.shape)
        centre, step = (first[best[0]], second[best[1]]), (first[1] - first[0])
        first, second = (
            np.clip(np.linspace(c - step, c + step, 601), *ends)
            for c, ends in zip(centre, zip(low, high, strict=True), strict=True)
        )
    return float(error.min())


def test_a_distance_that_cannot_be_kept_is_missed_by_the_least():
    model, rng, missed = planar(1, 1), np.random.default_rng(11), 0
    for _ in range(40):
        point, distance = rng.uniform(-3.0, 3.0, 2), float(rng.uniform(0.05, 2.0))
        solution = solve_tasks(model, [DistanceTask("b_tip", (*point, 0.0), distance)])
        expected = least_off_distance(point, distance)
        outcome = solution.outcomes[0]
        assert outcome.position_error == pytest.approx(expected, abs=1e-4)
        assert outcome.orientation_error == 0.0
        if expected > 1e-3:
            missed += 1
            if outcome.reason.proven:  # by the lengths of the links alone
                assert outcome.verdict is Verdict.TOO_FAR
                assert 0.0 < outcome.reason.missing <= expected + 1e-4
            else:
                assert outcome.verdict is Verdict.BUDGET_SPENT
                assert outcome.reason.missing == pytest.approx(expected, abs=1e-4)
        else:
            assert solution.success
    assert 5 < missed < 35


def test_a_long_tool_keeps_a_distance_from_where_its_link_never_gets():
    model = planar(1, 1)
    task = DistanceTask("b_tip", (4.0, 0.0, 0.0), 0.5, (1.6, 0.0, 0.0))
    assert not Problem(model, (task,), "base", (1e-6, 1e-6)).is_out_of_reach()
    assert solve_tasks(model, [task]).success
    short = DistanceTask("b_tip", (4.0, 0.0, 0.0), 0.5)
    reason = solve_tasks(model, [short]).outcomes[0].reason
    assert reason.verdict is Verdict.TOO_FAR
    assert reason.proven


def test_a_distance_stands_back_behind_other_tasks():
    model = planar(1, 1)
    a = frame(model, {"s0": 0.6, "a0": 0.3, "b0": 0.0}, "a_tip")
    b = frame(model, {"s0": -0.9, "a0": 0.0, "b0": -0.4}, "b_tip").translation
    tasks = [PoseTask("a_tip", a), DistanceTask("b_tip", tuple(b), 0.1, priority=1)]
    solution = solve_tasks(model, tasks)
    assert solution.outcomes[0].verdict is Verdict.REACHED
    assert solution.outcomes[1].verdict is Verdict.OTHER_TASKS
    assert solve_tasks(model, tasks[1:]).success


def random_tree(rng):
    text, links = "<robot name='random'><link name='base'/>", ["base"]
    for i in range(9):
        parent = links[int(rng.integers(max(0, len(links) - 3), len(links)))]
        axis = " ".join(f"{x:.4f}" for x in rng.normal(size=3))
        xyz = " ".join(f"{x:.4f}" for x in rng.uniform(-0.4, 0.4, 3))
        kind = "prismatic" if rng.random() < 0.2 else "revolute"
        text += joint(
            f"j{i}", parent, f"k{i}", xyz, axis, 0.4 if kind == "prismatic" else 2.0, kind
        )
        links.append(f"k{i}")
    return RobotModel.from_urdf(text + "</robot>")


def test_random_trees_reach_what_they_can_reach():
    rng = np.random.default_rng(8)
    for _ in range(8):
        model = random_tree(rng)
        parents = {j.parent for j in model.joints.values()}
        tips = [link for link in model.links if link not in parents]
        for _ in range(5):
            _, frames = draw(model, tips, rng)
            tasks = [
                PoseTask(tip, f, POSITION if i % 2 else None, i)
                for i, (tip, f) in enumerate(zip(tips, frames, strict=True))
            ]
            solution = solve_tasks(model, tasks)
            assert solution.success
            holds(model, solution, tips)


def test_the_same_question_has_the_same_answer():
    model, rng = torso(), np.random.default_rng(9)
    _, (left, _) = draw(model, HANDS, rng)
    far = RigidTransform.from_rpy(0, 0, 0, (0.0, -2.0, 1.0))
    tasks = [PoseTask("left_hand", left), PoseTask("right_hand", far, priority=1)]
    assert solve_tasks(model, tasks) == solve_tasks(model, tasks)


@settings(max_examples=25)
@given(
    st.lists(st.floats(-3, 3), min_size=6, max_size=6),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
)
def test_answers_are_finite_and_within_limits_whatever_is_wanted(numbers, priorities):
    model = planar(1, 2)
    x, y, u, v, w, z = numbers
    tasks = [
        PoseTask("a_tip", RigidTransform.from_rpy(0, 0, u, (x, y, 0)), None, priorities[0]),
        PoseTask("b_tip", RigidTransform.from_rpy(0, v, 0, (w, z, 0)), POSITION, priorities[1]),
        LookTask("b_tip", (x, z, 0.0), priority=priorities[2]),
    ]
    solution = solve_tasks(model, tasks, max_restarts=5)
    holds(model, solution, ("a_tip", "b_tip"))
    for outcome in solution.outcomes:
        assert np.isfinite(outcome[1:3]).all()
        assert (outcome.verdict is Verdict.REACHED) == (outcome.reason.verdict is Verdict.REACHED)


def test_bad_arguments_are_refused_by_name():
    model = torso()
    good = PoseTask("left_hand", RigidTransform.identity())
    cases = [
        ("tasks", [], {}),
        ("tasks[1]", [good, "x"], {}),
        ("tasks[0].target", [PoseTask("left_hand", np.eye(3))], {}),
        (
            "tasks[0].target",
            [PoseTask("left_hand", RigidTransform.from_rpy(0, 0, 0, (1e9, 0, 0)))],
            {},
        ),
        ("tasks[0].point", [LookTask("camera", (0, np.nan, 0))], {}),
        ("axis", [LookTask("camera", (0, 0, 0), axis=(0, 0, 0))], {}),
        ("tasks[0].point", [DistanceTask("camera", (0, np.nan, 0), 0.1)], {}),
        ("tasks[0].distance", [DistanceTask("camera", (0, 0, 0), 0.0)], {}),
        ("tasks[0].distance", [DistanceTask("camera", (0, 0, 0), np.nan)], {}),
        ("tasks[0].origin", [DistanceTask("camera", (0, 0, 0), 0.1, (0, 0))], {}),
        ("tasks[0].priority", [PoseTask("left_hand", RigidTransform.identity(), None, -1)], {}),
        ("seed", [good], {"seed": {"nothing": 0.0}}),
        ("seed['waist']", [good], {"seed": {"waist": np.nan}}),
        ("posture['waist']", [good], {"posture": {"waist": "x"}}),
        ("position_tolerance", [good], {"position_tolerance": 0.0}),
        ("orientation_tolerance", [good], {"orientation_tolerance": np.nan}),
        ("max_restarts", [good], {"max_restarts": -1}),
    ]
    for argument, tasks, keywords in cases:
        with pytest.raises(SolveArgumentError) as caught:
            solve_tasks(model, tasks, **keywords)
        assert caught.value.argument == argument
    with pytest.raises(ChainError, match="foot"):
        solve_tasks(model, [PoseTask("foot", RigidTransform.identity())])
