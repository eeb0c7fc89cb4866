# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lines and arcs, and arms that follow them."""

from __future__ import annotations

from itertools import pairwise, product
from math import pi
from pathlib import Path

import numpy as np
import pytest
from closed_arms import chain_of
from feasible_motion import PERIOD, feasible_motion
from hard_arms import ARMS

from basis_ik.errors import SolveArgumentError
from basis_ik.robot.robot import RobotModel
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.search.prepare import prepared
from basis_ik.solvers.path import cartesian_path as path_module
from basis_ik.solvers.path import ladder as path_search
from basis_ik.solvers.path.cartesian_path import arc, follow, line
from basis_ik.solvers.path.lane_kernel import LANE_ASIDE, LANE_CLEAR, LANE_ONWARD, go_along
from basis_ik.solvers.pose.solve import solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.solvers.pose.track import track
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

UR5E = Path(__file__).parents[3] / "urdf" / "ur5e.urdf"
HOME = [0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1]


def test_a_line_is_straight_even_and_ends_where_it_should(robot):
    start = robot("panda").forward(HOME)
    end = RigidTransform.from_rpy(0.2, 0.8, 0.1, (0.05, 0.2, -0.1)) @ start
    poses = line(start, end, step=0.01, turn=0.03)
    assert np.allclose(poses[0].matrix, start.matrix)
    assert np.allclose(poses[-1].matrix, end.matrix)
    direction = end.translation - start.translation
    for a, b in pairwise(poses):
        move = b.translation - a.translation
        assert np.linalg.norm(move) <= 0.01 + 1e-12
        assert np.linalg.norm(np.cross(move, direction)) < 1e-12
        assert np.linalg.norm((a.inverse() @ b).log()[3:]) <= 0.03 + 1e-12


def test_an_arc_keeps_its_distance_from_the_axis(robot):
    start = robot("panda").forward(HOME)
    centre, axis = np.array([0.3, 0.1, 0.4]), np.array([0.0, 0.6, 0.8])
    poses = arc(start, centre, axis, 1.5)
    spoke = np.linalg.norm(np.cross(start.translation - centre, axis))
    for pose in poses:
        assert np.linalg.norm(np.cross(pose.translation - centre, axis)) == pytest.approx(spoke)
    turned = np.linalg.norm((poses[0].inverse() @ poses[-1]).log()[3:])
    assert turned == pytest.approx(1.5)


def test_along_a_way_without_jumps_solve_may_jump_where_follow_and_track_do_not(robot):
    """docs/targets.md says which function is for streams."""
    chain = robot("panda")
    begin = np.array([-0.25, 0.595, 2.337, -0.469, 1.702, 0.181, 2.762])
    end = np.array([-0.067, -0.067, 1.945, -0.276, 1.519, 0.096, 2.8973])
    poses = [chain.forward(q) for q in np.linspace(begin, end, 101)]
    solved, tracked = [begin], [begin]
    for pose in poses:
        solved.append(solve(chain, pose, solved[-1]).positions)
        step = track(chain, pose, tracked[-1], 0.3)
        assert step.success
        tracked.append(step.positions)
    followed = follow(chain, poses, begin)
    assert followed.success
    assert longest_move(solved) > 0.3
    assert max(longest_move(tracked), longest_move(followed.positions)) < 0.2


def longest_move(positions):
    return np.abs(np.diff(positions, axis=0)).max()


def test_a_line_within_reach_is_followed_to_its_end_without_jumps(robot):
    chain = robot("panda")
    start = chain.forward(HOME)
    poses = line(start, RigidTransform.from_rpy(0, 0, 0, (0.05, 0.15, -0.1)) @ start)
    path = follow(chain, poses, HOME, max_move=0.1)
    assert path.success
    assert path.fraction == 1.0
    assert np.abs(np.diff(path.positions, axis=0)).max() <= 0.1
    for q, pose in zip(path.positions, poses, strict=True):
        assert np.linalg.norm((chain.forward(q).inverse() @ pose).log()) < 3e-6


def test_a_line_out_of_the_workspace_is_followed_as_far_as_it_goes(robot):
    chain = robot("panda")
    start = chain.forward(HOME)
    poses = line(start, RigidTransform.from_rpy(0, 0, 0, (2.0, 0.0, 0.0)) @ start, step=0.02)
    path = follow(chain, poses, HOME)
    assert not path.success
    assert 0.0 < path.fraction < 0.5
    assert len(path.positions) == round(path.fraction * len(poses))
    assert path.reason.verdict is not Verdict.REACHED


def farthest(rungs, max_move):
    """Brute force: on how many rungs of solutions one can climb without moving farther."""
    reached = rungs[0]
    for height, above in enumerate(rungs[1:], 1):
        near = (np.abs(above[:, None] - reached[None]) <= max_move).all(axis=2)
        reached = above[near.any(axis=1)]
        if not len(reached):
            return height
    return len(rungs) if len(rungs[0]) else 0


def with_turns(chain, solutions):
    """Return the solutions (s, n) with all their full turns that lie inside the limits."""
    turns = 2 * pi * np.array(list(product((-1, 0, 1), repeat=len(chain.joint_names))))
    every = (np.reshape(solutions, (-1, 1, len(chain.joint_names))) + turns).reshape(
        -1, len(chain.joint_names)
    )
    return every[((every >= chain.lower) & (every <= chain.upper)).all(axis=1)]


def check(chain, path, poses, max_move):
    """Check all that is promised of the rows of a path."""
    assert (path.positions >= chain.lower).all()
    assert (path.positions <= chain.upper).all()
    assert (np.abs(np.diff(path.positions, axis=0)) <= np.asarray(max_move) + 1e-12).all()
    for q, pose in zip(path.positions, poses, strict=False):
        assert np.linalg.norm((chain.forward(q).inverse() @ pose).log()) < 3e-6
    assert path.success == (len(path.positions) == len(poses))


def planar_solutions(lengths, pose):
    """Return the two ways of a planar arm of three joints to a pose, or none."""
    turn = np.arctan2(pose.rotation[1, 0], pose.rotation[0, 0])
    x, y = pose.translation[:2] - lengths[2] * np.array([np.cos(turn), np.sin(turn)])
    cosine = (x * x + y * y - lengths[0] ** 2 - lengths[1] ** 2) / (2 * lengths[0] * lengths[1])
    if abs(cosine) > 1.0:
        return np.zeros((0, 3))
    found = []
    for elbow in (np.arccos(cosine), -np.arccos(cosine)):
        far, aside = lengths[0] + lengths[1] * np.cos(elbow), lengths[1] * np.sin(elbow)
        shoulder = np.arctan2(y, x) - np.arctan2(aside, far)
        found.append([shoulder, elbow, turn - shoulder - elbow])
    return (np.array(found) + pi) % (2 * pi) - pi


def test_a_planar_arm_gets_as_far_as_brute_force(arm):
    rng = np.random.default_rng(5)
    lengths, ahead = (0.4, 0.35, 0.15), 0
    for _ in range(40):
        low, high = rng.uniform([-4.0, -2.6, -4.5], [-1.0, -0.5, -1.0]), rng.uniform(1.0, 4.0, 3)
        xyz = ["0 0 0", "0.4 0 0", "0.35 0 0"]
        rows = [
            ("revolute", *r) for r in zip(xyz, ["0 0 0"] * 3, ["0 0 1"] * 3, low, high, strict=True)
        ]
        chain = arm(rows, "0.15 0 0")
        start, end = (chain.forward(q) for q in rng.uniform(low, high, (2, 3)))
        poses, seed = line(start, end, step=0.02, turn=0.1), rng.uniform(low, high)
        path = follow(chain, poses, seed, max_move=0.4)
        check(chain, path, poses, 0.4)
        rungs = [with_turns(chain, planar_solutions(lengths, pose)) for pose in poses]
        assert len(path.positions) == farthest(rungs, 0.4)
        nearest = solve(chain, start, seed).positions
        rungs[0] = nearest[None]
        ahead += len(path.positions) > farthest(rungs, 0.4)
    assert ahead >= 5


def nearest(chain, poses, seed, max_move):
    """On how many poses one can go by the nearest solution of each."""
    q = solve(chain, poses[0], seed).positions
    for height, pose in enumerate(poses[1:], 1):
        solution = solve(chain, pose, q, max_move=max_move)
        if not solution.success:
            return height
        q = solution.positions
    return len(poses)


@pytest.mark.parametrize("number", [1, 6, 8, 13, 16, 22])
def test_an_arm_of_six_joints_gets_as_far_as_brute_force(number):
    """In all but the first of these the nearest solution leads to an early end."""
    chain = RobotModel.from_urdf(UR5E.read_text()).chain()
    rng = np.random.default_rng(number)
    q = rng.uniform(-pi, pi, 6)
    end = chain.forward(q + rng.uniform(-1.2, 1.2, 6))
    poses, seed = line(chain.forward(q), end, step=0.03, turn=0.12), rng.uniform(-pi, pi, 6)
    path = follow(chain, poses, seed, max_move=0.25)
    check(chain, path, poses, 0.25)
    found = [solve_all(chain, pose, seed, starts=600) for pose in poses]
    rungs = [with_turns(chain, [s.positions for s in solutions]) for solutions in found]
    assert len(path.positions) == farthest(rungs, 0.25)
    assert (len(path.positions) > nearest(chain, poses, seed, 0.25)) == (number != 1)


@pytest.mark.parametrize("number", [2, 3, 7, 28])
def test_joints_to_spare_are_searched_too(robot, number):
    chain = robot("panda")
    rng = np.random.default_rng(number)
    start, end, seed = rng.uniform(chain.lower, chain.upper, (3, 7))
    poses = line(chain.forward(start), chain.forward(end), step=0.02, turn=0.06)
    path = follow(chain, poses, seed, max_move=0.15)
    check(chain, path, poses, 0.15)
    assert path.success
    assert nearest(chain, poses, seed, 0.15) < len(poses)
    assert np.array_equal(follow(chain, poses, seed, max_move=0.15).positions, path.positions)


def test_lanes_branch_where_solutions_meet(arm):
    """Shoulder limits leave one way: the elbow bent up, straight, and bent down."""
    rows = [
        ("revolute", "0 0 0", "0 0 0", "0 0 1", 0.2, 0.4),
        ("revolute", "0.4 0 0", "0 0 0", "0 0 1", -1.0, 1.0),
        ("revolute", "0.35 0 0", "0 0 0", "0 0 1", -3.0, 3.0),
    ]
    chain = arm(rows, "0.15 0 0")
    poses = [chain.forward([0.3, elbow, 0.5]) for elbow in np.linspace(0.82, -0.82, 42)]
    path = follow(chain, poses, [0.3, 0.8, 0.5], max_move=0.2)
    check(chain, path, poses, 0.2)
    assert path.success
    assert nearest(chain, poses, [0.3, 0.8, 0.5], 0.2) < len(poses)


def test_a_joint_begins_on_the_turn_that_leaves_room_for_the_whole_path(robot):
    chain = robot("ur5")
    seed = np.array([0.3, -1.2, 0.9, 0.4, 0.9, 1.0])
    spin = np.eye(6)[5]
    poses = [chain.forward(seed + turn * spin) for turn in np.linspace(0.0, 9.0, 80)]
    path = follow(chain, poses, seed, max_move=0.2)
    check(chain, path, poses, 0.2)
    assert path.success
    assert path.positions[0] == pytest.approx(seed - 2 * pi * spin, abs=1e-5)
    assert nearest(chain, poses, seed, 0.2) < len(poses)


def test_from_the_seed_a_joint_stays_on_its_turn(robot):
    chain = robot("ur5")
    seed = np.array([0.3, -1.2, 0.9, 0.4, 0.9, 1.0])
    turns = np.linspace(0.0, 9.0, 80)[1:]
    poses = [chain.forward(seed + turn * np.eye(6)[5]) for turn in turns]
    path = follow(chain, poses, seed, max_move=0.2, from_seed=True)
    check(chain, path, poses, 0.2)
    assert np.abs(path.positions[0] - seed).max() <= 0.2
    room = np.count_nonzero(seed[5] + turns <= chain.upper[5])
    assert len(path.positions) == room < len(poses)
    assert path.fraction == room / len(poses)


@pytest.mark.parametrize("number", [1, 6, 8, 13, 16])
def test_from_the_seed_an_arm_gets_as_far_as_brute_force(number):
    chain = RobotModel.from_urdf(UR5E.read_text()).chain()
    rng = np.random.default_rng(number)
    seed = rng.uniform(-pi, pi, 6)
    end = chain.forward(seed + rng.uniform(-1.2, 1.2, 6))
    poses = line(chain.forward(seed), end, step=0.03, turn=0.12)[1:]
    path = follow(chain, poses, seed, max_move=0.25, from_seed=True)
    check(chain, path, poses, 0.25)
    found = [solve_all(chain, pose, seed, starts=600) for pose in poses]
    rungs = [with_turns(chain, [s.positions for s in solutions]) for solutions in found]
    assert len(path.positions) == farthest([seed[np.newaxis], *rungs], 0.25) - 1
    moves = np.diff(path.positions, axis=0, prepend=seed[np.newaxis])
    assert np.abs(moves).max() <= 0.25 + 1e-12


@pytest.mark.parametrize("number", [3, 21, 37, 39])
def test_from_the_seed_joints_to_spare_do_not_begin_elsewhere(robot, number):
    chain = robot("panda")
    rng = np.random.default_rng(number)
    start, end = rng.uniform(chain.lower, chain.upper, (2, 7))
    poses = line(chain.forward(start), chain.forward(end), step=0.02, turn=0.06)[1:]
    path = follow(chain, poses, start, max_move=0.15, from_seed=True)
    check(chain, path, poses, 0.15)
    assert np.abs(path.positions[0] - start).max() <= 0.15 + 1e-12


def test_from_the_seed_the_first_pose_may_be_too_far(robot):
    chain = robot("panda")
    path = follow(chain, [chain.forward(np.array(HOME) + 0.5)], HOME, from_seed=True)
    assert path.positions.shape == (0, 7)
    assert path.fraction == 0.0
    assert not path


def test_from_the_seed_needs_a_seed(robot):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError, match="from_seed"):
        follow(chain, [chain.forward(HOME)], from_seed=True)


def test_nothing_is_searched_where_it_cannot_help(robot, monkeypatch):
    chain = robot("panda")
    start, solved = chain.forward(HOME), []
    monkeypatch.setattr(path_module, "Ladder", None)
    monkeypatch.setattr(path_module, "solve", lambda *a, **k: solved.append(0) or solve(*a, **k))
    poses = line(start, RigidTransform.from_rpy(0, 0, 0, (0.05, 0.15, -0.1)) @ start)
    assert follow(chain, poses, HOME).success
    assert len(solved) == len(poses)
    out = RigidTransform.from_rpy(0, 0, 0, (2.0, 0.0, 0.0)) @ start
    assert not follow(chain, [start, out], HOME).success


def test_a_search_keeps_to_its_budget(robot, monkeypatch):
    chain = robot("panda")
    rng = np.random.default_rng(3)
    start, end, seed = rng.uniform(chain.lower, chain.upper, (3, 7))
    poses = line(chain.forward(start), chain.forward(end), step=0.02, turn=0.06)
    tried = []
    monkeypatch.setattr(path_search, "LADDER", path_search.LADDER._replace(most_descents=1000))

    def counted(*arguments):
        tried.append(len(arguments[5]))
        return go_along(*arguments)

    monkeypatch.setattr(path_search, "go_along", counted)
    check(chain, follow(chain, poses, seed, max_move=0.15), poses, 0.15)
    assert 0 < sum(tried) <= 3 * 1000  # three searches, the last from other beginnings


@pytest.mark.parametrize(("name", "number"), [("iiwa", 2), ("gen3", 3)])
def test_feasible_motion_of_joints_to_spare_is_followed(robot, name, number):
    chain = chain_of(*ARMS[name]) if name in ARMS else robot(name)
    motion = feasible_motion(chain, np.random.default_rng(number), 2)
    poses, bound = [chain.forward(q) for q in motion], chain.velocity * PERIOD
    path = follow(chain, poses, motion[0], max_move=bound)
    check(chain, path, poses, bound)
    assert path.success
    assert nearest(chain, poses, motion[0], bound) < len(poses)


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.long)])
def test_lanes_closer_together_pass_a_place_that_few_pass(robot, count):
    """Two singularities, 17 poses apart: of some 40 lanes 0.25 of a move apart one passes or none.

    By that distance alone the search ended at pose 1218 of 2100.
    """
    chain = robot("iiwa")
    motion = feasible_motion(chain, np.random.default_rng(9), 3)
    poses, bound = [chain.forward(q) for q in motion], chain.velocity * PERIOD
    path = follow(chain, poses, motion[0], max_move=bound)
    check(chain, path, poses, bound)
    assert path.success
    ladder = path_search.Ladder(chain, poses, motion[0], bound, None, (1e-6, 1e-6))
    alone = ladder._only(motion[:1])
    for number in range(count):  # not by luck
        ladder._random = np.random.default_rng(number)
        assert len(ladder._climb(alone, 95, path_search.LADDER.closer)) == len(poses)


@pytest.mark.parametrize(
    ("name", "number", "without"), [("iiwa", 2, LANE_ASIDE), ("gen3", 2, LANE_CLEAR)]
)
def test_lanes_go_aside_and_to_where_the_arm_is_free(robot, monkeypatch, name, number, without):
    chain = chain_of(*ARMS[name]) if name in ARMS else robot(name)
    motion = feasible_motion(chain, np.random.default_rng(number), 2)
    poses, bound = [chain.forward(q) for q in motion], chain.velocity * PERIOD
    monkeypatch.setattr(path_search, "CLIMBS", ((32, path_search.LADDER.apart, False),))
    monkeypatch.setattr(path_search.Ladder, "_descend", lambda *_: None)
    monkeypatch.setattr(
        path_search.Ladder, "_begin", lambda ladder, first, width: ladder._only(first[np.newaxis])
    )

    def climb():
        ladder = path_search.Ladder(chain, poses, motion[0], bound, None, (1e-6, 1e-6))
        return len(ladder.climb(motion[0]))

    def go(chain, waypoints, lane, manner, *rest):
        return go_along(chain, waypoints, lane, LANE_ONWARD if manner == without else manner, *rest)

    assert climb() == len(poses)
    monkeypatch.setattr(path_search, "go_along", go)
    assert climb() < 0.5 * len(poses)


@pytest.mark.parametrize("count", [2, 7, 15, 22, 39])
def test_a_path_may_be_shorter_than_a_stride(robot, count):
    chain = robot("panda")
    motion = feasible_motion(chain, np.random.default_rng(1), 1)[100:][: 5 * count : 5]
    poses = [chain.forward(q) for q in motion]
    path = follow(chain, poses, motion[0], max_move=0.01)
    check(chain, path, poses, 0.01)
    assert path.reason.verdict is Verdict.MOVE_BOUND


def test_no_poses_are_followed_at_once(robot):
    path = follow(robot("panda"), [], HOME)
    assert path.success
    assert path.positions.shape == (0, 7)


@pytest.mark.parametrize("keywords", [{"step": 0.0}, {"turn": -1.0}, {"step": np.nan}])
def test_bad_spacing_is_refused(keywords):
    here = RigidTransform.identity()
    with pytest.raises(SolveArgumentError):
        line(here, here, **keywords)
    with pytest.raises(SolveArgumentError):
        arc(here, (0, 0, 0), (0, 0, 1), 1.0, **keywords)


def test_a_search_without_limits_leaves_nothing_behind_that_a_solve_could_take(robot, monkeypatch):
    chain, constraint = robot("ur5"), PoseConstraint(free_axis=(0.6, 0.0, 0.8))
    climb, climbs = path_search.Ladder._climb, []
    ready, q = prepared(chain), np.array([0.3, -1.2, 1.1, -0.5, 0.4, 0.2])

    def forget_and_climb(ladder, *lanes):
        climbs.append(len(ready.narrowed))
        ready.narrowed.clear()  # as many other goals of another thread do
        return climb(ladder, *lanes)

    monkeypatch.setattr(path_search.Ladder, "_climb", forget_and_climb)
    poses = [chain.forward(q), chain.forward(q + 0.05)]
    path_search.Ladder(chain, poses, q, 0.2, constraint, (1e-6, 1e-6)).climb(q)
    assert min(climbs) > 0
    for truth in np.random.default_rng(0).uniform(chain.lower, chain.upper, (20, 6)):
        target = chain.forward(truth)
        found = solve(chain, target, np.full(6, 20.0), constraint=constraint)
        assert (chain.lower <= found.positions).all()
        assert (found.positions <= chain.upper).all()
        off = (chain.forward(found.positions).rotation - target.rotation) @ [0.6, 0.0, 0.8]
        assert not found.success or np.linalg.norm(off) < 1e-5


@pytest.mark.parametrize("keywords", [{"step": 1e-12}, {"turn": 1e-12}])
def test_so_fine_a_spacing_that_it_fills_the_memory_is_refused(keywords):
    start = RigidTransform.identity()
    end = RigidTransform.from_rpy(0, 0, 1, (1, 0, 0))
    with pytest.raises(SolveArgumentError, match="too many poses") as caught:
        line(start, end, **keywords)
    assert caught.value.argument == next(iter(keywords))
    with pytest.raises(SolveArgumentError, match="too many poses"):
        arc(start, (0, 1, 0), (0, 0, 1), 1.0, **keywords)


def test_full_turns_of_joints_without_limits_are_one_lane(robot):
    for chain, lanes in ((chain_of(*ARMS["gen3"]), 1), (robot("ur5"), 2)):
        q = np.full(len(chain.joint_names), 0.3)
        ladder = path_search.Ladder(chain, [chain.forward(q)] * 2, q, 0.1, None, (1e-6, 1e-6))
        turned = np.array([q, q + 2 * pi * np.eye(len(q))[0]])
        straight = np.array([True, False])
        assert len(ladder._spread(turned, straight, 8, path_search.LADDER.apart)) == lanes


def test_more_lanes_and_other_beginnings_are_tried_where_few_lanes_end(robot, monkeypatch):
    chain, climbs = robot("panda"), []
    climb = path_search.Ladder._climb

    def climb_and_count(ladder, begin, width, apart):
        climbs.append((len(begin.q), width, apart))
        return climb(ladder, begin, width, apart)

    monkeypatch.setattr(path_search.Ladder, "_climb", climb_and_count)
    start = chain.forward(HOME)
    far = RigidTransform.from_rpy(0, 0, 0, (2.0, 0.0, 0.0)) @ start
    for poses, wanted in (([start, start], 1), ([start, far], 6)):
        climbs.clear()
        path_search.Ladder(chain, poses, HOME, 0.1, None, (1e-6, 1e-6)).climb(np.array(HOME))
        assert [width for _, width, _ in climbs] == [32, 128, 128, 128, 128, 128][:wanted]
        assert [apart for _, _, apart in climbs] == [0.25, 0.25, 0.25, 0.25, 0.1, 0.1][:wanted]
        alone = [begins == 1 for begins, _, _ in climbs]
        assert alone == [True, True, True, False, True, False][:wanted]
