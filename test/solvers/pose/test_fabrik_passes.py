# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK on URDF chains: rates, limits in every pass, proofs, determinism, refusals."""

from __future__ import annotations

from dataclasses import replace
from math import cos, inf, pi, sin

import numpy as np
import pytest

from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.descent.hinge_fit_kernel import ORIENTATION_MOMENT
from basis_ik.descent.tables_kernel import LOWER, UPPER
from basis_ik.errors import SolveArgumentError
from basis_ik.robot.robot import RobotModel
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import OutsideLimitsError
from basis_ik.solvers.pose import fabrik_passes as passes_module
from basis_ik.solvers.pose.fabrik_passes import MAX_PASSES, run_passes, trace_passes
from basis_ik.solvers.pose.pose_problem import PoseProblem, read_problem
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

TOLERANCES = (1e-6, 1e-6)
UNREACHABLE = RigidTransform.from_rpy(1.0, 1.0, 1.0, (0.75, 0.5, 0.2))  # for a Panda
TURNED = RigidTransform.from_rpy(0.3, 1.0, -2.0, (0, 0, 0))


def link(number, kind, xyz, axis, lower, upper, mimic=""):
    """Return a joint of a URDF and the link below it."""
    return (
        f"<link name='l{number}'/><joint name='j{number}' type='{kind}'>"
        f"<parent link='l{number - 1}'/><child link='l{number}'/><origin xyz='{xyz}'/>"
        f"<axis xyz='{axis}'/><limit lower='{lower}' upper='{upper}' velocity='1' effort='1'/>"
        f"{mimic}</joint>"
    )


def robot_of(*links):
    return (
        f"<robot name='r'><link name='l0'/>{''.join(links)}<link name='tip'/>"
        f"<joint name='end' type='fixed'><parent link='l{len(links)}'/><child link='tip'/>"
        "<origin xyz='0.05 0 0.1'/></joint></robot>"
    )


BENT = robot_of(
    link(1, "revolute", "0 0 0", "0 0 1", -2.5, 2.5),
    link(2, "revolute", "0 0 0.3", "0 1 0", -1.2, 1.2),
    link(
        3,
        "revolute",
        "0 0 0.4",
        "0 1 0",
        -3,
        3,
        "<mimic joint='j2' multiplier='1.5' offset='0.2'/>",
    ),
    link(4, "prismatic", "0 0 0.2", "0 0 1", 0, 0.3),
    link(5, "revolute", "0 0 0.1", "1 0 0", -2, 2),
    link(6, "continuous", "0 0 0.1", "0 0 1", 0, 0),
    link(7, "revolute", "0 0 0.1", "0 1 0", -2, 2),
)
TELESCOPE = robot_of(
    link(1, "revolute", "0 0 0.1", "0 0 1", -2.5, 2.5),
    link(2, "revolute", "0 0 0.1", "0 1 0", -1.5, 1.5),
    link(3, "prismatic", "0 0 0.3", "0 0 1", 0, 0.3),
    link(4, "prismatic", "0 0 0.3", "0 0 1", 0, 0.3, "<mimic joint='j3'/>"),
    link(5, "prismatic", "0 0 0.1", "0 0 1", 0, 0.3, "<mimic joint='j3'/>"),
    link(6, "revolute", "0 0 0.1", "0 1 0", -2, 2),
    link(7, "revolute", "0 0 0.1", "1 0 0", -2, 2),
    link(8, "revolute", "0 0 0.1", "0 0 1", -3, 3),
)


def spread(chain, seed, count):
    rng = np.random.default_rng(seed)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    return rng.uniform(low, high, (count, len(low)))


def places(chain, q):
    """Positions of the joints that move and of the tip, and the tip's rotation.

    Joint by joint as the URDF says it: no code of the solver.
    """
    values = dict(zip(chain.joint_names, q, strict=True))
    rotation, place, points = np.eye(3), np.zeros(3), []
    for joint in chain.joints:
        place = place + rotation @ joint.origin.translation
        rotation = rotation @ joint.origin.rotation
        if joint.kind == "fixed":
            continue
        points.append(place)
        value = values.get(joint.name, 0.0)
        if joint.mimic is not None:
            value = joint.mimic.multiplier * values[joint.mimic.joint] + joint.mimic.offset
        if joint.kind == "prismatic":
            place = place + rotation @ (value * np.array(joint.axis))
            continue
        x, y, z = joint.axis
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        rotation = rotation @ (np.eye(3) + sin(value) * cross + (1 - cos(value)) * cross @ cross)
    return np.array([*points, place]), rotation


def errors(chain, q, target):
    points, rotation = places(chain, q)
    angle = 2 * np.arcsin(min(1.0, np.linalg.norm(rotation - target.rotation) / np.sqrt(8)))
    return np.linalg.norm(points[-1] - target.translation), angle


def inside(chain, q):
    return (q >= chain.lower).all() and (q <= chain.upper).all()


def passes_alone(chain, target, seed, *, trace=False, most=MAX_PASSES, restarts=60, ready=None):
    ready = prepared(chain) if ready is None else ready
    problem = PoseProblem(chain, *read_problem(chain, target, seed, *TOLERANCES))
    problem = problem._replace(ready=ready)
    return run_passes(problem, most, restarts, trace=trace)


def test_passes_come_close_and_a_descent_completes_them(chain):
    near = 0
    for truth, seed in zip(spread(chain, 1, 300), spread(chain, 2, 300), strict=True):
        target = chain.forward(truth)
        solution = solve(chain, target, seed, solver="fabrik")
        assert solution.success, solution
        assert inside(chain, solution.positions)
        away, turned = errors(chain, solution.positions, target)
        assert away <= 1.001e-6
        assert turned <= 1.001e-6
        passes = solution.passes
        assert inside(chain, passes.positions)
        away, turned = errors(chain, passes.positions, target)
        assert away == pytest.approx(passes.position_error, abs=1e-9)
        assert turned == pytest.approx(passes.orientation_error, abs=1e-6)
        assert passes.polished == (max(away, turned) > 1e-6)
        assert (solution.iterations > 0) == passes.polished
        near += away < 1e-3 and turned < 1e-2
    assert near >= 0.99 * 300


def test_positions_and_free_axes_are_reached(chain):
    axis = (0.6, 0.0, 0.8)
    for truth, seed in zip(spread(chain, 3, 100), spread(chain, 4, 100), strict=True):
        there = chain.forward(truth)
        solution = solve(chain, there @ TURNED, seed, position_only=True, solver="fabrik")
        assert solution.success
        assert errors(chain, solution.positions, there)[0] <= 1.001e-6
        about = RigidTransform.from_axis_angle(axis, 2.0)
        solution = solve(
            chain, there @ about, seed, constraint=PoseConstraint(free_axis=axis), solver="fabrik"
        )
        assert solution.success
        assert errors(chain, solution.positions, there)[0] <= 1.001e-6
        _, rotation = places(chain, solution.positions)
        off = np.cross(rotation @ axis, there.rotation @ axis)
        assert np.linalg.norm(off) <= 1.001e-6


def test_a_joint_without_effect_does_not_move(robot):
    """The tip is on the last axis, and no angle is best if its orientation is free."""
    chain = robot("panda")
    for truth, seed in zip(spread(chain, 5, 100), spread(chain, 6, 100), strict=True):
        target = chain.forward(truth)
        solution = solve(chain, target, seed, position_only=True, solver="fabrik")
        assert not solution.passes.polished
        assert solution.passes.count < 100


@pytest.mark.parametrize("text", [BENT, TELESCOPE], ids=["hinges", "slides"])
def test_mimic_joints_move_with_their_variable(text):
    chain = RobotModel.from_urdf(text).chain("l0", "tip")
    assert len(chain.joint_names) == 6
    reached = 0
    for truth, seed in zip(spread(chain, 7, 200), spread(chain, 8, 200), strict=True):
        points, rotation = places(chain, truth)
        target = RigidTransform.from_rotation_translation(rotation, points[-1])
        solution = solve(chain, target, seed, solver="fabrik")
        assert solution.success
        assert inside(chain, solution.positions)
        assert max(errors(chain, solution.positions, target)) <= 1.001e-6
        reached += not solution.passes.polished
    assert reached >= 190


def test_every_pass_keeps_links_limits_and_one_end(chain):
    at_limit = 0
    for truth, seed in zip(spread(chain, 9, 20), spread(chain, 10, 20), strict=True):
        target = chain.forward(truth)
        _, passes = passes_alone(chain, target, seed, trace=True, most=30)
        starts = [stage.start for stage in passes.stages]
        assert starts == sorted(starts)
        assert starts[-1] == passes.restarts
        names = [stage.name for stage in passes.stages if stage.name != "start"]
        assert names == (["backward", "forward"] * passes.count)[: len(names)]
        root = places(chain, seed)[0][0]
        bounded = np.isfinite(chain.lower) & (chain.upper - chain.lower < 2 * pi)
        for stage in passes.stages:
            q = stage.positions
            assert (q >= chain.lower)[bounded].all()
            assert (q <= chain.upper)[bounded].all()
            at_limit += ((q == chain.lower) | (q == chain.upper))[bounded].any()
            points = places(chain, q)[0]
            between = np.linalg.norm(points[:, None] - points[None], axis=2)
            told = np.linalg.norm(stage.points[:, None] - stage.points[None], axis=2)
            np.testing.assert_allclose(told, between, atol=1e-9)
            if stage.name == "backward":
                np.testing.assert_allclose(stage.points[-1], target.translation, atol=1e-9)
            else:
                np.testing.assert_allclose(stage.points[0], root, atol=1e-9)
    assert at_limit > 0 or not bounded.any()


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("upper", [3.0, 0.2])
def test_a_joint_takes_the_best_value_within_its_limits(arm, kind, upper):
    """Compared with ten thousand values, by the tip's distance and orientation."""
    chain = arm([(kind, "0.1 0 0.2", "0.3 0.2 0.1", "0 0.6 0.8", -0.5, upper)], "0.3 0.1 0.2")
    there = (0.25, 0.15, 0.35) if kind == "revolute" else (0.25, 0.3, 0.65)
    target = RigidTransform.from_rpy(0.5, -0.4, 0.8, there)
    _, passes = passes_alone(chain, target, np.zeros(1), trace=True, most=1)
    values = np.linspace(-0.5, upper, 10_001)
    moment = ORIENTATION_MOMENT * prepared(chain).size ** 2
    costs = []
    for value in values:
        points, rotation = places(chain, [value])
        off = ((rotation - target.rotation) ** 2).sum()
        costs.append(((points[-1] - target.translation) ** 2).sum() + moment * off)
    best = values[np.argmin(costs)]
    assert passes.stages[-1].positions[0] == pytest.approx(best, abs=1e-3)
    assert (best == upper) == (upper == 0.2)


def test_passes_in_slices_equal_one_call(chain):
    for truth, seed in zip(spread(chain, 11, 20), spread(chain, 12, 20), strict=True):
        target = chain.forward(truth)
        plain = solve(chain, target, seed, solver="fabrik")
        traced = solve(chain, target, seed, solver="fabrik", trace=True)
        assert plain.positions.tobytes() == traced.positions.tobytes()
        assert plain.passes.count == traced.passes.count
        assert plain.passes.restarts == traced.passes.restarts
        assert plain.passes.stages == ()
        assert sum(s.name == "backward" for s in traced.passes.stages) == plain.passes.count


def test_a_seed_at_the_target_is_left_alone(chain):
    for q in spread(chain, 13, 20):
        solution = solve(chain, chain.forward(q), q, solver="fabrik")
        assert solution.passes.count == 0
        assert np.abs(solution.positions - q).max() < 1e-9


def test_no_joint_makes_a_full_turn_near_the_seed(robot):
    chain = robot("ur5")
    rng = np.random.default_rng(14)
    anew = polished = 0
    for q in spread(chain, 15, 200):
        q[5] = chain.upper[5] - 0.02
        seed = np.clip(q + rng.uniform(-0.1, 0.1, 6), chain.lower, chain.upper)
        solution = solve(chain, chain.forward(q), seed, solver="fabrik")
        assert solution.success
        if solution.restarts > 0:
            anew += 1
            continue
        polished += solution.passes.polished
        assert np.abs(solution.positions - seed).max() < 1.0
    assert polished > 0  # where the passes crawl a descent goes on, and no other start is made
    assert anew <= 5


@pytest.mark.parametrize("name", ["ur5", "puma560", "lift_arm"])
def test_a_moving_target_is_followed_without_jumps(robot, name):
    chain = robot(name)
    middle = np.clip(prepared(chain).middle + 0.4, chain.lower, chain.upper)
    here, q = chain.forward(middle), middle
    for angle in np.linspace(0.0, 2 * pi, 500):
        shift = (0.05 * sin(angle), 0.05 * cos(angle) - 0.05, 0.02 * sin(2 * angle))
        moved = RigidTransform.from_rpy(0.1 * sin(angle), 0.1 * sin(2 * angle), 0.0, shift)
        solution = solve(chain, here @ moved, q, solver="fabrik")
        assert solution.success
        assert np.abs(solution.positions - q).max() < 0.05
        q = solution.positions


def test_the_proof_uses_independent_forward_kinematics(robot):
    chain = robot("panda")
    ready = prepared(chain)
    exact = ready.exact.copy()
    exact[-1, 11] += 1e-3  # the tip is elsewhere than the passes believe
    target = chain.forward(spread(chain, 16, 1)[0])
    status, passes = passes_alone(
        chain, target, ready.middle, restarts=2, ready=replace(ready, exact=exact)
    )
    assert status != DESCENT_REACHED
    assert passes.polished
    assert passes.position_error == pytest.approx(1e-3, rel=0.1)


def test_a_solution_outside_the_limits_is_discarded(robot, monkeypatch):
    chain = robot("panda")
    ready = prepared(chain)
    variables = ready.variables.copy()
    variables[:, LOWER], variables[:, UPPER] = -inf, inf
    monkeypatch.setitem(ready.narrowed, PoseConstraint(), replace(ready, variables=variables))
    far = np.full(7, 20.0)
    with pytest.raises(OutsideLimitsError):
        solve(chain, chain.forward(far), far, constraint=PoseConstraint(), solver="fabrik")


def test_an_unreachable_target_is_explained(robot):
    chain = robot("ur5")
    far = RigidTransform.from_rpy(0.1, 0.2, 0.3, (3.0, 0.0, 0.0))
    solution = solve(chain, far, solver="fabrik")
    assert solution.verdict is Verdict.TOO_FAR
    assert solution.reason == solve(chain, far).reason
    assert (solution.passes.count, solution.passes.polished) == (0, True)
    chain = robot("panda")
    solution, plain = solve(chain, UNREACHABLE, solver="fabrik"), solve(chain, UNREACHABLE)
    assert solution.verdict is plain.verdict is Verdict.TOO_FAR
    assert solution.reason.missing == pytest.approx(plain.reason.missing)
    assert solution.passes.polished
    assert solution.passes.count == MAX_PASSES
    assert inside(chain, solution.positions)


def test_passes_stay_within_their_budget(robot):
    chain = robot("panda")
    solution = solve(chain, UNREACHABLE, solver="fabrik", max_iterations=7)
    assert (solution.passes.count, solution.iterations) == (7, 0)
    assert solution.verdict is Verdict.BUDGET_SPENT
    assert solve(chain, UNREACHABLE, solver="fabrik", max_restarts=2).passes.restarts == 2
    seed = prepared(chain).middle
    reachable = chain.forward(seed + 0.3)
    solution = solve(chain, reachable, seed, solver="fabrik", max_move=0.1)
    assert solution.verdict is Verdict.MOVE_BOUND
    assert np.abs(solution.passes.positions - seed).max() <= 0.1 + 1e-12


def test_work_arrays_are_reused(robot):
    chain = robot("iiwa")
    target = chain.forward(spread(chain, 18, 1)[0])
    solve(chain, target, solver="fabrik")
    spare = len(prepared(chain).spare)
    for _ in range(5):
        solve(chain, target, solver="fabrik")
    assert len(prepared(chain).spare) == spare


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("solver", {"solver": "newton"}),
        ("trace", {"trace": True}),
        ("time_limit", {"solver": "fabrik", "time_limit": 1.0}),
        ("solver", {"solver": "fabrik", "constraint": PoseConstraint(box=(0.0, 0.1, 0.0))}),
        (
            "solver",
            {"solver": "fabrik", "constraint": PoseConstraint(rotation_box=(0.0, 0.1, 0.0))},
        ),
        ("solver", {"solver": "fabrik", "constraint": PoseConstraint(position=False)}),
        ("solver", {"solver": "fabrik", "constraint": PoseConstraint(weights=(1.0,) * 6)}),
        ("seed", {"solver": "fabrik", "seed": [np.nan] * 7}),
        ("seed", {"solver": "fabrik", "seed": [1e9] * 7}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_unsupported_requests_are_refused_by_name(robot, argument, options):
    chain = robot("panda")
    with pytest.raises(SolveArgumentError) as caught:
        solve(chain, chain.forward(np.zeros(7)), **options)
    assert caught.value.argument == argument


def test_a_huge_target_is_refused(robot):
    target = RigidTransform.from_rpy(0.0, 0.0, 0.0, (1e9, 0.0, 0.0))
    with pytest.raises(SolveArgumentError, match="target must be within"):
        solve(robot("panda"), target, solver="fabrik")


def test_a_trace_compiles_no_kernel_again(robot, monkeypatch):
    chain, target = robot("ur5"), robot("ur5").forward(np.full(6, 0.4))
    seed = solve(chain, target, np.zeros(6), solver="fabrik").passes.seed
    kernel, writable = passes_module.solve_by_passes, []

    def watch(*arguments):
        each = [x for y in arguments for x in (y if isinstance(y, tuple) else (y,))]
        writable.extend(x.flags.writeable for x in each if isinstance(x, np.ndarray))
        return kernel(*arguments)

    monkeypatch.setattr(passes_module, "solve_by_passes", watch)
    stages = trace_passes(chain, target, seed, position_only=False, tolerances=TOLERANCES, most=3)
    assert len(stages) > 2
    assert all(writable)
