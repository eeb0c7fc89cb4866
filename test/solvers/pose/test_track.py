# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Following moving targets by bounded steps."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import pi

import numpy as np
import pytest
from feasible_motion import PERIOD, feasible_motion

from basis_ik.errors import SolveArgumentError
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose.track import track, warm_up
from basis_ik.solvers.pose.track_kernel import step_towards
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict


def test_a_smooth_motion_is_followed_on_its_branch(robot):
    chain = robot("panda")
    q = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1])
    for i in range(300):
        constraint = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1]) + 0.3 * np.sin(i / 60)
        solution = track(chain, chain.forward(constraint), q, 0.02)
        assert solution.success
        assert np.abs(solution.positions - q).max() <= 0.02 * (1 + 1e-12)
        q = solution.positions


@pytest.mark.parametrize("name", ["panda", "ur5", "gantry", "jaco"])
def test_no_step_is_longer_than_allowed_and_far_targets_are_reached_in_the_end(robot, name):
    chain = robot(name)
    rng = np.random.default_rng(1)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    bound = np.linspace(0.01, 0.05, len(low))
    reached = 0
    for _ in range(10):
        q = rng.uniform(low, high)
        target = chain.forward(np.clip(q + rng.uniform(-0.5, 0.5, len(q)), low, high))
        for _ in range(400):
            solution = track(chain, target, q, bound)
            step = np.abs(solution.positions - q)
            assert (step <= bound * (1 + 1e-12)).all()
            assert (solution.positions >= chain.lower).all()
            assert (solution.positions <= chain.upper).all()
            q = solution.positions
            if solution.verdict is not Verdict.STEP_BOUND:
                break
        reached += solution.success
    assert reached >= 8


def test_targets_out_of_reach_pull_the_arm_straight_and_hold_it_still(robot):
    chain = robot("panda")
    target = RigidTransform.from_rpy(0, 0, 0, (3.0, 0.5, 0.4))
    q = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1])
    tips = []
    for _ in range(400):
        solution = track(chain, target, q, 0.02, position_only=True)
        q = solution.positions
        tips.append(chain.forward(q).translation)
    assert solution.verdict is Verdict.TOO_FAR
    assert np.linalg.norm(np.diff(tips[-50:], axis=0), axis=1).max() < 1e-4


def test_a_limit_that_holds_the_arm_is_named(robot):
    chain = robot("scara")
    q = np.array([2.0, 0.5, -0.1, 0.0])
    target = chain.forward([2.0, 0.5, -0.1, 0.0]) @ RigidTransform.from_rpy(0, 0, 0, (0, 0, 0.3))
    for _ in range(100):
        solution = track(chain, target, q, 0.05)
        q = solution.positions
    assert solution.verdict is Verdict.LIMIT
    assert solution.reason.joint == "j3"
    assert solution.reason.bound == 0.0


def test_positions_outside_the_limits_are_led_inwards(robot):
    chain = robot("panda")
    q = np.array([0.1, 0.2, 0.3, 0.2, 0.2, 1.4, 0.1])  # the elbow is 0.27 rad beyond its limit
    target = chain.forward([0.1, 0.2, 0.3, -0.8, 0.2, 1.4, 0.1])
    outside = [0.2]
    for _ in range(60):
        q = track(chain, target, q, 0.05).positions
        outside.append(q[3])
    assert outside[-1] <= chain.upper[3]
    assert all(b <= a for a, b in pairwise(outside[:6]))


def off(chain, q, target):
    """Squared error as the solver weighs it."""
    left = chain.forward(q).inverse() @ target
    angle = 2 * np.arcsin(min(1.0, np.linalg.norm(left.rotation - np.eye(3)) / np.sqrt(8)))
    return (np.linalg.norm(left.translation) / prepared(chain).size) ** 2 + (0.3 * angle) ** 2


@pytest.mark.parametrize("name", ["panda", "ur5", "gantry", "lift_arm"])
def test_within_the_bound_no_step_comes_nearer(robot, name):
    chain = robot(name)
    rng = np.random.default_rng(2)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    bound = np.linspace(0.01, 0.05, len(low))
    for _ in range(10):
        q = rng.uniform(low, high)
        target = chain.forward(np.clip(q + rng.uniform(-0.3, 0.3, len(q)), low, high))
        solution = track(chain, target, q, bound)
        assert solution.verdict is Verdict.STEP_BOUND
        left = chain.forward(solution.positions).translation - target.translation
        assert solution.position_error == pytest.approx(np.linalg.norm(left), abs=1e-9)
        at_bound = np.abs(np.abs(solution.positions - q) - bound) < 1e-12
        assert at_bound[chain.joint_names.index(solution.reason.joint)]
        corners = q + bound * rng.choice([-1.0, 0.0, 1.0], (300, len(q)))
        inside = solution.positions + bound * rng.normal(scale=0.1, size=(300, len(q)))
        for other in np.clip(np.vstack([corners, inside]), q - bound, q + bound):
            other = np.clip(other, chain.lower, chain.upper)
            assert off(chain, other, target) > 0.999 * off(chain, solution.positions, target)


def test_a_straight_arm_is_pulled_in(robot):
    chain = robot("iiwa")
    q = np.zeros(7)
    target = chain.forward(q) @ RigidTransform.from_rpy(0, 0, 0, (0.0, 0.0, -0.1))
    for _ in range(200):
        solution = track(chain, target, q, 0.01)
        assert np.abs(solution.positions - q).max() <= 0.01 * (1 + 1e-12)
        q = solution.positions
        if solution.success:
            break
    assert solution.success


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("iiwa", [0.0] * 7),
        ("panda", [0, 0, 0, -0.0698, 0, 0.6, 0]),
        ("ur5", [0.0] * 6),
        ("puma560", [0, -0.7, 0.8, 0, 0, 0]),
    ],
)
def test_a_motion_from_a_singular_start_is_followed(robot, name, start):
    chain = robot(name)
    n = len(start)
    swing = 0.25 * np.linspace(0.5, 1.0, n) * np.where(np.arange(n) % 2, -1, 1)
    q = np.array(start, float)
    for i in range(500):
        constraint = start + swing * (1 - np.cos(i / 160.0))
        solution = track(chain, chain.forward(constraint), q, 0.01)
        assert solution.success, (i, solution)
        assert np.abs(solution.positions - q).max() <= 0.01 * (1 + 1e-12)
        q = solution.positions


def led_inwards(chain, told, steps):
    """Draw a Panda in whose elbow is so straight that its limit stops it; return what happens."""
    q = before = np.array([0.1, 0.2, 0.3, -0.12, 0.2, 1.4, 0.1])
    home, bound = chain.forward(q), chain.velocity * 0.01
    inward = np.array([0.0, 0.0, 0.333]) - home.translation
    inward /= np.linalg.norm(inward)
    for i in range(steps):
        place = home.translation + min(i / 200, 1.0) * 0.06 * inward
        target = RigidTransform.from_rotation_translation(home.rotation, place)
        solution = track(chain, target, q, bound, previous=before if told else None)
        assert (np.abs(solution.positions - q) <= bound * (1 + 1e-12)).all()
        assert (solution.positions <= chain.upper).all()
        q, before = solution.positions, q
        yield solution, np.abs(q - before).max()


@pytest.mark.parametrize("told", [True, False])
def test_an_arm_with_a_joint_to_spare_is_led_out_of_a_dead_end(robot, told):
    """The limit of the elbow keeps it off for good, by 5 cm, if it goes where it is nearest."""
    seen = list(led_inwards(robot("panda"), told, 300))
    worst = max(solution.position_error for solution, _ in seen)
    turned = max(solution.orientation_error for solution, _ in seen)
    assert 1e-3 < worst < 0.03
    assert turned < 0.1
    assert all(solution.success for solution, _ in seen[100:])
    assert seen[-1][1] == 0.0  # at rest


def test_on_a_detour_an_arm_is_on_its_way(robot):
    off = [
        solution for solution, _ in led_inwards(robot("panda"), True, 80) if not solution.success
    ]
    assert {solution.verdict for solution in off} == {Verdict.STEP_BOUND}
    assert all(solution.reason.joint is not None for solution in off)


@pytest.mark.parametrize("number", [33, 47, 48])
def test_joints_to_spare_keep_the_arm_off_its_limits(robot, number):
    """With each joint pulled to its middle alike, limits stop all of these on their way."""
    chain = robot("panda")
    rng = np.random.default_rng(number)
    pace, phase = rng.uniform(0.1, 0.5, 7), rng.uniform(0.0, 6.28, 7)
    middle = 0.5 * (chain.lower + chain.upper)
    swing = np.minimum(0.25 * (chain.upper - chain.lower), 1.5)
    q = middle + swing * np.sin(phase)
    for i in range(1500):
        goal = chain.forward(middle + swing * np.sin(i / 30 * pace + phase))
        solution = track(chain, goal, q, 0.05)
        assert solution.success, (i, solution)
        assert np.abs(solution.positions - q).max() <= 0.05 * (1 + 1e-12)
        q = solution.positions


def through_the_straight_elbow(i):
    return np.array([0.3, -1.2, 0.5033, 0.4, 0.9, 0.2]) - i / 200 * np.array([0, 0, 1, 0, 0, 0.3])


@pytest.mark.parametrize("told", [True, False])
def test_an_arm_passes_a_singularity_if_it_is_told_where_it_comes_from(robot, told):
    chain = robot("ur5")
    q = before = through_the_straight_elbow(0)
    for i in range(200):
        goal = chain.forward(through_the_straight_elbow(i))
        solution = track(chain, goal, q, 0.02, previous=before if told else None)
        assert np.abs(solution.positions - q).max() <= 0.02 * (1 + 1e-12)
        q, before = solution.positions, q
        if told:
            assert solution.success, (i, solution)
            assert np.abs(q - through_the_straight_elbow(i)).max() < 1e-3
    assert q[2] < -0.4 if told else q[2] > 0.0


def test_at_the_target_the_arm_stands_still_however_it_came(chain):
    rng = np.random.default_rng(6)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    for q, before in rng.uniform(low, high, (20, 2, len(low))):
        solution = track(chain, chain.forward(q), q, 0.1, previous=before)
        assert np.array_equal(solution.positions, q)


def test_a_target_out_of_reach_holds_an_arm_still_that_comes_with_a_velocity(robot):
    chain = robot("ur5")
    q = before = np.array([0.3, -1.2, 0.5, 0.4, 0.9, 0.2])
    target = RigidTransform.from_rpy(0.3, 0.5, 0.0, (2.0, 0.5, 0.4))
    for _ in range(400):
        solution = track(chain, target, q, 0.02, previous=before)
        q, before = solution.positions, q
    assert solution.verdict is Verdict.TOO_FAR
    assert np.abs(q - before).max() < 1e-6


def test_no_velocity_makes_a_step_longer_than_allowed(robot):
    chain = robot("ur5")
    rng = np.random.default_rng(7)
    for q, before in rng.uniform(-2.0, 2.0, (50, 2, 6)):
        ahead = q + rng.uniform(-0.1, 0.1, 6)
        for came in (before, q - (ahead - q)):  # the second one's velocity leads to the target
            told = track(chain, chain.forward(ahead), q, 0.03, previous=came)
            assert np.abs(told.positions - q).max() <= 0.03 * (1 + 1e-12)
            plain = track(chain, chain.forward(ahead), q, 0.03)
            assert told.success or np.array_equal(told.positions, plain.positions)


def test_self_motion_does_not_go_on_by_itself(robot):
    chain = robot("panda")
    q = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1])
    idle = np.linalg.svd(chain.jacobian(q))[2][6]
    target = chain.forward(q + 0.01)
    told = track(chain, target, q, 0.05, previous=q - 0.03 * idle)
    assert told.positions == pytest.approx(track(chain, target, q, 0.05).positions, abs=1e-9)


def test_self_motion_does_not_go_to_and_fro(robot):
    """It ends where its pull vanishes: no joint turns round from one step to the next."""
    chain = robot("panda")
    bound = chain.velocity * PERIOD
    motion = feasible_motion(chain, np.random.default_rng(11), 2)
    q = before = motion[0]
    steps = []
    for goal in motion:
        solution = track(chain, chain.forward(goal), q, bound, previous=before)
        assert solution.success
        q, before = solution.positions, q
        steps.append((q - before) / bound)
    turns = np.multiply(steps[1:], steps[:-1]) < 0.0
    clearly = np.minimum(np.abs(steps[1:]), np.abs(steps[:-1])) > 0.02
    assert (turns & clearly).any(axis=1).sum() <= 1


def test_a_closed_path_becomes_a_closed_motion(robot):
    """Without self-motion the elbow drifts on, turn after turn, until a limit stops it."""
    chain = robot("panda")
    q = np.array([0.5, -0.5, 1.5, -2.0, 1.0, 1.4, 1.1])
    home = chain.forward(q)
    ends = []
    for i in range(25 * 100):
        s, c = np.sin(2 * pi * i / 100), np.cos(2 * pi * i / 100)
        goal = RigidTransform.from_rpy(0, 0, 0, (0.1 * s, 0.05 * (1 - c), 0.1 * s * c)) @ home
        solution = track(chain, goal, q, 0.05)
        assert solution.success or i < 1000
        q = solution.positions
        if i % 100 == 0:
            ends.append(q)
    assert np.abs(ends[-1] - ends[-2]).max() < 1e-3


def test_at_the_target_the_arm_stands_still(chain):
    rng = np.random.default_rng(3)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    for q in rng.uniform(low, high, (20, len(low))):
        assert np.array_equal(track(chain, chain.forward(q), q, 0.1).positions, q)


def test_the_joint_that_is_blamed_is_the_one_that_holds_the_arm(arm):
    """Lift the limit that is named, and the arm comes nearer; lift another, and it does not."""
    lower, upper = [-0.5, -2.0, -0.4], [0.7, 2.0, 0.4]

    @cache  # to make a chain ready takes longer than to track it
    def make(lifted=None):
        ends = list(zip(lower, upper, strict=True))
        if lifted is not None:
            ends[lifted] = (-3.0, 3.0)
        xyz = ["0 0 0", "0.4 0 0", "0.3 0 0"]
        rows = [("revolute", x, "0 0 0", "0 0 1", *b) for x, b in zip(xyz, ends, strict=True)]
        return arm(rows, "0.2 0 0")

    def settle(chain, q, target):
        for _ in range(400):
            solution = track(chain, target, q, 0.05, position_only=True)
            q = solution.positions
        return solution

    chain = make()
    rng = np.random.default_rng(4)
    blamed = 0
    for _ in range(40):
        x, y = rng.uniform(-0.9, 0.9, 2)
        target = RigidTransform.from_rpy(0, 0, 0, (x, y, 0))
        solution = settle(chain, np.zeros(3) + 0.1, target)
        if solution.verdict is Verdict.LIMIT:
            blamed += 1
            k = chain.joint_names.index(solution.reason.joint)
            assert solution.reason.bound in (lower[k], upper[k])
            assert solution.positions[k] == solution.reason.bound
            held = solution.position_error
            lifted = track(make(k), target, solution.positions, 0.05, position_only=True)
            assert lifted.position_error < held - 1e-6
            for other in {0, 1, 2} - {k}:
                if chain.lower[other] < solution.positions[other] < chain.upper[other]:
                    kept = track(make(other), target, solution.positions, 0.05, position_only=True)
                    assert kept.position_error > held - 1e-6
        else:
            assert solution.verdict in (Verdict.REACHED, Verdict.TOO_FAR, Verdict.SINGULAR)
    assert blamed > 10


def test_an_arm_beyond_its_limit_is_not_turned_round(robot):
    chain = robot("ur5")
    q = np.array([2 * pi + 0.3, -1.0, 1.0, 0.2, 0.5, 0.0])
    target = chain.forward([2 * pi - 0.2, -1.0, 1.0, 0.2, 0.5, 0.0])
    for _ in range(20):
        q = track(chain, target, q, 0.05).positions
    assert q[0] == pytest.approx(2 * pi - 0.2, abs=1e-5)


def test_no_bound_at_all_is_allowed(robot):
    chain = robot("panda")
    q = [0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1]
    far = [0.3, 0.1, 0.5, -1.2, 0.4, 1.2, 0.3]
    assert track(chain, chain.forward(far), q, np.inf).success


def test_nothing_compiles_after_the_warm_up(robot):
    chain = robot("panda")
    warm_up(chain)
    before = len(step_towards.signatures)
    q = [0, 0, 0, -1, 0, 1, 0]
    for current in (q, tuple(q), np.array(q), np.array(q, np.float32), np.array([q, q]).T[:, 0]):
        for bound in (1, 0.1, np.float32(0.1), [1] * 7, np.ones((7, 2))[:, 0]):
            track(chain, chain.forward(q), current, bound)
    track(chain, chain.forward(q), q, 0.1, max_iterations=np.int32(5), position_tolerance=1)
    track(
        chain,
        chain.forward(q),
        q,
        0.1,
        constraint=PoseConstraint(free_axis=(0, 0, 1), box=(0, 0, 1)),
    )
    track(chain, chain.forward(q), q, 0.1, previous=[0, 0, 0, -1, 0, 1, 1])
    track(chain, chain.forward(q), q, 0.1, previous_target=chain.forward(chain.neutral))
    assert len(step_towards.signatures) == before


@pytest.mark.parametrize(
    "setting",
    [
        {"position_tolerance": 0.0},
        {"orientation_tolerance": np.nan},
        {"max_iterations": 0},
        {"max_iterations": 1.5},
    ],
)
def test_bad_settings_are_refused_by_name(robot, setting):
    chain = robot("panda")
    q = [0, 0, 0, -1, 0, 1, 0]
    with pytest.raises(SolveArgumentError) as caught:
        track(chain, chain.forward(q), q, 0.1, **setting)
    assert caught.value.argument == next(iter(setting))


@pytest.mark.parametrize("bound", [0.0, -1.0, np.nan, [0.1] * 6 + [0.0], [0.1] * 6, "x", None])
def test_bad_bounds_are_refused(robot, bound):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError) as caught:
        track(chain, chain.forward([0, 0, 0, -1, 0, 1, 0]), [0, 0, 0, -1, 0, 1, 0], bound)
    assert caught.value.argument == "max_step"


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("previous", bad) for bad in ([np.nan] * 7, [0.0] * 3, "x")),
        *(("previous_target", bad) for bad in (np.zeros((4, 4)), np.full((4, 4), np.nan), "x")),
    ],
)
def test_bad_positions_and_targets_of_before_are_refused(robot, argument, value):
    chain = robot("panda")
    q = [0, 0, 0, -1, 0, 1, 0]
    with pytest.raises(SolveArgumentError) as caught:
        track(chain, chain.forward(q), q, 0.1, **{argument: value})
    assert caught.value.argument == argument


@pytest.mark.parametrize("current", [[np.nan] * 7, [0.0] * 3])
def test_bad_positions_are_refused(robot, current):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError) as caught:
        track(chain, chain.forward([0, 0, 0, -1, 0, 1, 0]), current, 0.1)
    assert caught.value.argument == "current"


def test_too_far_is_not_claimed_of_what_a_tolerance_reaches(arm):
    """The arm is stretched out, and the target farther than its length by half the tolerance."""
    chain = arm(
        [("revolute", f"{x} 0 0", "0 0 0", "0 0 1", -2, 2) for x in (0, 0.4, 0.3)], "0.2 0 0"
    )
    target = RigidTransform.from_rpy(0, 0, 0, (0.9 + 5e-4, 0, 0))
    for turned, seen in ((0.0, Verdict.REACHED), (0.1, Verdict.SINGULAR)):
        aim = target @ RigidTransform.from_rpy(turned, 0, 0, (0, 0, 0))
        solution = track(chain, aim, [0.0] * 3, 0.1, position_tolerance=1e-3)
        assert solution.verdict is seen
        assert not solution.reason.proven
