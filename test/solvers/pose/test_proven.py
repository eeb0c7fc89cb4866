# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The basis of a verdict: a proof, or the number of starts after which the search gave up."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import pi
from pathlib import Path

import numpy as np
import pytest

from basis_ik.errors import SolveArgumentError
from basis_ik.robot.robot import RobotModel
from basis_ik.search.pose_constraint import PoseConstraint, constrain
from basis_ik.search.prepare import prepared
from basis_ik.solvers.look.look_at import look_at, with_ray
from basis_ik.solvers.look.look_diagnosis import LookDiagnosis
from basis_ik.solvers.pose.diagnosis import DIAGNOSIS, Diagnosis
from basis_ik.solvers.pose.explain import Attempt, explain
from basis_ik.solvers.pose.solve import solve
from basis_ik.solvers.pose.track import track
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import REASON_REACHED, Reason, Verdict

HEAD = Path(__file__).parents[3] / "urdf" / "pan_tilt.urdf"
HOME = np.array([0.3, 0.4, -0.5, -1.5, 0.6, 1.8, 0.7])
FAR = RigidTransform.from_rpy(0.3, 0.2, 0.1, (2.0, 0.5, 0.3))


PLANE = [("revolute", f"{x} 0 0", "0 0 0", "0 0 1", -pi, pi) for x in (0.0, 0.3, 0.2, 0.2)]
SEED = [0.1, 0.1, 0.2, 0.3, 0.1]


def turned(*rpy):
    return RigidTransform.from_rpy(*rpy, (0.0, 0.0, 0.0))


@pytest.fixture
def rolled(arm):
    """Return four joints in a plane on one that tilts it, and a target that is rolled about x."""
    chain = arm([("revolute", "0 0 0", "0 0 0", "0 1 0", -pi, pi), *PLANE], "0.2 0 0")
    return chain, chain.forward([0.3, 0.5, 0.6, 0.7, 0.1]) @ turned(0.5, 0.0, 0.0)


@pytest.mark.parametrize("verdict", set(Verdict) - {Verdict.REACHED})
def test_an_unproven_verdict_states_the_number_of_starts(verdict):
    reason = Reason(verdict, 0.01, 0.2, "elbow", 1.5, starts=21)
    assert str(reason).endswith("; given up after 21 starts")
    if verdict is not Verdict.ORIENTATION_UNREACHABLE:
        assert "unreachable" not in str(reason)
    assert "given up" not in str(replace(reason, starts=0, proven=True))


def test_the_chains_length_is_a_proof(robot):
    chain = robot("panda")
    for reason in (
        solve(chain, FAR).reason,
        solve(chain, FAR, time_limit=9.0).reason,
        track(chain, FAR, HOME, 1e-9, constraint=PoseConstraint(orientation=False)).reason,
    ):
        assert reason.proven or reason.verdict is Verdict.STEP_BOUND
        assert reason.starts == 0
    assert solve(chain, FAR).verdict is Verdict.TOO_FAR
    assert solve(chain, FAR, time_limit=9.0).verdict is Verdict.TOO_FAR


def test_lengths_prove_nothing_within_rounding(arm):
    """Six links are exactly as long as the target is far, but their sum is rounded down."""
    length = 1024 * 0.47  # the sum's rounding is above the smallest tolerance
    rows = [("revolute", f"{x} 0 0", "0 0 0", "0 0 1", -2.0, 2.0) for x in (0.0, *[length] * 5)]
    chain, far = arm(rows, f"{length} 0 0"), float(6 * Fraction(length))
    assert Fraction(far) == 6 * Fraction(length)
    assert sum([length] * 6) < far - 1e-15
    target = RigidTransform.from_rpy(0.0, 0.0, 0.0, (far, 0.0, 0.0))
    reason = solve(
        chain, target, [0.3] * 6, position_only=True, position_tolerance=1e-15, max_restarts=0
    ).reason
    assert not reason.proven
    beyond = RigidTransform.from_rpy(0.0, 0.0, 0.0, (far + 1e-8, 0.0, 0.0))
    assert solve(
        chain, beyond, [0.3] * 6, position_only=True, position_tolerance=1e-15
    ).reason.proven


def test_a_search_is_no_proof(rolled, robot):
    chain, target = rolled
    reason = solve(chain, target, SEED).reason
    assert (reason.verdict, reason.proven) == (Verdict.ORIENTATION_NOT_FOUND, False)
    assert reason.starts == DIAGNOSIS.lifted_starts + 1
    behind = RigidTransform.from_rpy(0, 0, 0, (0.0, 0, 0.3))
    reason = solve(robot("panda"), behind).reason
    assert (reason.verdict, reason.proven) == (Verdict.LIMIT, False)
    assert reason.starts > 20


@pytest.mark.parametrize("starts", [20, 300, 2000])
def test_all_requested_starts_are_made(rolled, arm, starts):
    chain, target = rolled
    solution = solve(chain, target, SEED, max_restarts=starts)
    assert solution.restarts == starts
    assert solution.reason.starts == starts + 1
    beyond = solve(chain, RigidTransform.from_rpy(0, 0, 0, (0.1, 0.1, 0.1)), max_restarts=starts)
    assert beyond.restarts == starts
    beyond_plane = RigidTransform.from_rpy(0, 0, 0, (0.1, 0.2, 0.3))
    flat = arm(PLANE, "0.2 0 0")
    assert solve(flat, beyond_plane, position_only=True, max_restarts=starts).restarts == starts


def slide(axis):
    return ("prismatic", "0.1 0 0", "0.3 0.2 0.1", axis, -1.0, 1.0)


SLIDES = [slide("1 0 0"), slide("0 1 0"), slide("0 0 1")]
TURN, TURN_BACK = (("revolute", "0.1 0 0", "0 0 0", f"0 0 {z}", -2.0, 2.0) for z in (1, -1))


@pytest.fixture(params=["slides", "slides and a turn", "turns about one direction"])
def proof(arm, request):
    """Return a chain, positions, and rotations of the tip there that none of its joints makes."""
    if request.param == "slides":
        return arm(SLIDES, "0.2 0 0"), [0.3] * 3, (turned(0.5, 0.0, 0.0), turned(0.0, 0.0, 0.5))
    tilts = turned(0.5, 0.0, 0.0), turned(0.3, -0.4, 0.2)
    if request.param == "slides and a turn":
        return arm([*SLIDES[:2], TURN, TURN_BACK], "0.2 0 0"), [0.3] * 4, tilts
    return arm([TURN, TURN_BACK, TURN, TURN], "0.2 0 0"), [0.3, -0.4, 0.6, 0.2], tilts


def test_what_no_joint_can_turn_is_proven_without_a_search(proof, monkeypatch):
    (chain, there, rotations), lifted = proof, []
    monkeypatch.setattr(Diagnosis, "relax", lambda *_: lifted.append(_))
    for rotation in rotations:
        reached, target = chain.forward(there), chain.forward(there) @ rotation
        for constraint in (None, PoseConstraint(position=False)):
            reason = solve(chain, target, constraint=constraint, max_restarts=0).reason
            assert (reason.verdict, reason.proven) == (Verdict.ORIENTATION_UNREACHABLE, True)
            assert reason.starts == 0
        assert solve(chain, target, position_only=True).success
        assert solve(chain, reached, [0.0] * len(there)).success
        far = RigidTransform.from_rotation_translation(target.rotation, (9.0, 0.0, 0.0))
        reason = solve(chain, far).reason
        assert (reason.verdict, reason.proven) == (Verdict.TOO_FAR, True)
    assert not lifted, "no limit stands in the way"


def test_a_proof_knows_tolerances_boxes_and_free_axes(proof):
    chain, there, _ = proof
    roll = turned(0.3, 0.0, 0.0)
    for left, reaches in ((0.29, False), (0.31, True)):
        target = chain.forward(there) @ roll
        cases = [{"orientation_tolerance": left}]
        cases += [{"constraint": PoseConstraint(rotation_box=(left, 0.0, 0.0))}]
        cases += [
            {"constraint": PoseConstraint(free_axis=(0, 0, 1)), "orientation_tolerance": left}
        ]
        for options in cases:
            solution = solve(chain, target, there, **options)
            assert (solution.success, solution.reason.proven) == (reaches, not reaches)
    about = PoseConstraint(free_axis=(1, 0, 0))
    assert solve(chain, chain.forward(there) @ roll, there, constraint=about).success


def test_a_position_out_of_reach_is_not_proven_by_an_orientation_within(arm):
    chain, far = arm(SLIDES, "0.2 0 0"), RigidTransform.from_rpy(0.5, 0.0, 0.0, (2.0, 0.0, 0.0))
    alone = solve(chain, far, position_only=True)
    there = chain.forward([0.0] * 3).rotation
    straight = solve(chain, RigidTransform.from_rotation_translation(there, far.translation))
    for solution in (alone, straight):
        assert (solution.verdict, solution.reason.proven) == (Verdict.LIMIT, False)


def test_joints_that_turn_about_other_directions_only_prove_nothing_there(arm):
    """One slide and one joint reach few orientations at a place, but a search alone says which."""
    chain = arm([SLIDES[0], TURN], "0.2 0 0")
    reason = solve(chain, chain.forward([0.3, 0.3]) @ turned(0.0, 0.0, 0.5)).reason
    assert (reason.verdict, reason.proven) == (Verdict.ORIENTATION_NOT_FOUND, False)


def test_two_axes_turn_the_tip_about_others_by_twice_the_angle_between_them(arm):
    """By all of it at half a turn, and by no more."""
    off = 0.1
    tilted = ("revolute", "0.1 0 0", f"{off} 0 0", "0 0 1", -pi, pi)
    chain = arm([("revolute", "0 0 0", "0 0 0", "0 0 1", -pi, pi), tilted], "0.2 0 0")
    for more, proven in ((0.0, False), (0.01, True)):
        goal = (chain.forward([0.0, pi]) @ turned(-more, 0.0, 0.0)).matrix
        assert prepared(chain).cannot_turn_to(goal, pi, 1e-6) is proven


@pytest.mark.parametrize(
    "constraint",
    [
        PoseConstraint(rotation_box=(0.1, 0.0, 0.0)),
        PoseConstraint(free_axis=(0, 0, 1), rotation_box=(0.1, 0.0, 0.0)),
    ],
)
def test_a_proof_leaves_the_whole_box(arm, constraint):
    chain = arm([TURN, TURN_BACK, TURN, TURN], "0.2 0 0")
    for roll, proven in ((0.099, False), (0.101, True)):
        target = (chain.forward([0.3] * 4) @ turned(roll, 0.0, 0.0)).matrix
        ready, _, goal = constrain(prepared(chain), constraint, target)
        assert ready.cannot_turn_to(goal, pi, 1e-6) is proven


@pytest.mark.parametrize("off", [0.0, 1e-6, 0.01, 0.2])
def test_what_positions_reach_is_never_proven_out_of_reach(arm, off):
    """Axes that are parallel but for some angle turn the tip by twice that about others."""
    rng = np.random.default_rng(3)
    constraints = [PoseConstraint(), PoseConstraint(free_axis=rng.normal(size=3))]
    constraints += [PoseConstraint(rotation_box=(0.1, 0.2, 0.05))]
    constraints += [PoseConstraint(free_axis=(0, 1, 0), rotation_box=(0.1, 0.0, 0.2))]
    for _ in range(20):
        rows = [SLIDES[0], *[("revolute", "0.1 0 0", "0 0 0", "0 0 1", -pi, pi)] * 2, SLIDES[1]]
        rows.insert(2, ("revolute", "0.1 0 0", f"{off} 0 0", "0 0 -1", -pi, pi))
        chain, tolerance = arm(rows, "0.2 0 0"), 10.0 ** rng.uniform(-6.0, -1.0)
        low, high = chain.lower, chain.upper
        positions = [np.array([0.0, 0.0, pi, 0.0, 0.0]), *rng.uniform(low, high, (20, 5))]
        for q in positions:
            way = rng.normal(size=3)
            slack = turned(*(0.9 * tolerance * way / np.linalg.norm(way)))
            for constraint in constraints:
                target = (chain.forward(q) @ slack).matrix
                ready, _, goal = constrain(prepared(chain), constraint, target)
                assert not ready.cannot_turn_to(goal, tolerance, tolerance)


def test_no_positions_reach_what_is_proven_out_of_reach(arm):
    """The proof is as sharp as brute force over the one angle that matters."""
    rng = np.random.default_rng(4)
    chain = arm([*SLIDES[:2], TURN, TURN_BACK], "0.2 0 0")
    angles = np.linspace(-pi, pi, 721)
    tips = [chain.forward([0.0, 0.0, a, 0.0]).rotation for a in angles]
    for constraint in (PoseConstraint(), PoseConstraint(free_axis=(0.3, 0.4, 1.0))):
        for _ in range(40):
            target = chain.forward(chain.random(rng)) @ turned(*rng.uniform(-1.0, 1.0, 3))
            ready, _, goal = constrain(prepared(chain), constraint, target.matrix)
            if constraint.free_axis is None:
                traces = [np.trace(tip.T @ target.rotation) for tip in tips]
                cosines = (np.array(traces) - 1.0) / 2.0
            else:
                axis = np.array(constraint.free_axis) / np.linalg.norm(constraint.free_axis)
                cosines = np.array([(tip @ axis) @ (target.rotation @ axis) for tip in tips])
            least = np.arccos(np.clip(cosines, -1.0, 1.0)).min()
            assert ready.cannot_turn_to(goal, pi, least - 0.01)
            assert not ready.cannot_turn_to(goal, pi, least + 0.01)


def test_iterations_bound_the_requested_starts(rolled):
    chain, target = rolled
    solution = solve(chain, target, SEED, max_restarts=10**5, max_iterations=5000)
    assert solution.verdict is Verdict.BUDGET_SPENT
    assert solution.iterations <= 5000


def test_weights_with_a_time_limit_are_refused(robot):
    constraint = PoseConstraint(weights=(1.0,) * 6)
    with pytest.raises(SolveArgumentError) as caught:
        solve(robot("panda"), FAR, constraint=constraint, time_limit=1.0)
    assert caught.value.argument == "time_limit"


class Asked(Diagnosis):
    """A failed search whose explanation comes to certain positions."""

    answer = HOME

    def best_effort(self):
        return self._minimise(self.answer[None], np.empty((0, 12)))[0]


def question(robot, answer):
    chain = robot("panda")
    seed = HOME + 1e-2
    diagnosis = Asked(
        prepared(chain), chain.forward(HOME).matrix.copy(), seed, seed, (1e-6, 1e-6), 9999, 20
    )
    diagnosis.answer = answer
    return chain, diagnosis


def test_a_best_effort_within_the_tolerances_is_reached(robot):
    chain, diagnosis = question(robot, HOME)
    answer, reason = explain(diagnosis, chain.joint_names)
    assert reason is REASON_REACHED
    assert np.array_equal(answer.q, HOME)


def test_a_solution_found_without_limits_but_within_them_is_reached(robot):
    chain, diagnosis = question(robot, HOME + 0.1)
    answer, reason = explain(diagnosis, chain.joint_names)
    assert reason is REASON_REACHED
    off = chain.forward(HOME).inverse() @ chain.forward(answer.q)
    assert np.linalg.norm(off.log()) <= 3e-6
    assert (answer.q >= chain.lower).all()
    assert (answer.q <= chain.upper).all()


def test_the_nearest_position_may_already_be_a_solution(robot):
    _, diagnosis = question(robot, HOME)
    diagnosis.scout()
    found = diagnosis.persist(10**6)
    assert found is diagnosis.inside
    assert found is not None


def test_a_reached_position_counts_beside_a_similar_one(robot):
    chain = robot("panda")
    near = HOME + 1e-6  # some micrometres off
    diagnosis = Diagnosis(
        prepared(chain), chain.forward(HOME).matrix.copy(), near, HOME, (1e-7, 1e-7), 9999, 20
    )
    own, best = (Attempt(q, 2e-6 * (q is near), 0.1, q is HOME) for q in (near, HOME))
    diagnosis._found = own, best
    assert diagnosis.best_effort() is best


def test_a_point_met_during_the_explanation_is_reached(arm):
    rows = [
        ("revolute", "0 0 0.1", "0 0 0", "0 0 1", -1.0, 0.8),
        ("revolute", "0.1 0 0.1", "1.2 0 0", "0 0 1", -0.6, 0.9),
        ("revolute", "0.2 0.03 0", "0 1.1 0.2", "0 0 1", -0.7, 0.4),
    ]
    chain = arm(rows, "0.03 0.02 0.01")
    met = look_at(chain, chain.forward([0.1, 0.2, 0.1]).apply([1.0, 0.0, 0.0]))
    assert met.success
    point = np.array([-1.0, 0.0, 0.0])
    failed = look_at(chain, point, [0.0] * 3)
    assert (failed.verdict, failed.reason.proven) == (Verdict.LIMIT, False)
    assert failed.reason.starts == failed.restarts + 1

    class Lame(LookDiagnosis):
        def best_effort(self):
            return self._inside(self.seed)

    ready = with_ray(prepared(chain), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    point = chain.forward([0.1, 0.2, 0.1]).apply(np.array([1.0, 0.0, 0.0]))
    seed = np.zeros(3)
    diagnosis = Lame(ready, ready, point, seed, seed, 1e-6, 9999, 21)
    answer, reason = explain(diagnosis, chain.joint_names)
    assert reason is REASON_REACHED
    assert answer.angle <= 1e-6


def test_the_closed_form_of_a_head_is_a_proof():
    head = RobotModel.from_urdf(HEAD.read_text()).chain(None, "camera_link")
    reason = look_at(head, [-2.0, 0.0, 0.1], [2.0, 0.0], max_restarts=0).reason
    assert (reason.verdict, reason.proven, reason.starts) == (Verdict.LIMIT, True, 0)


def test_a_closed_form_proves_nothing_where_the_best_effort_is_as_near_as_it_excludes(arm):
    """Its first two axes coincide, and the target is a few tenths of a micrometre off the arm."""
    rows = [
        ("revolute", "-0.2 0 -0.03", f"0 {pi / 2} 0", "0 0 1", 1.5, 2.6),
        ("revolute", "0 0 0", f"{pi} 0 {-pi / 2}", "0 0 1", -2 * pi, 2 * pi),
        ("revolute", "-0.2 0.38 0", f"{pi} {-pi / 2} {pi / 2}", "0 0 1", -1.5, 2.5),
        ("revolute", "0.35 -0.05 0", f"{pi} {pi} {pi / 2}", "0 0 1", -1.6, 1.8),
    ]
    chain = arm(rows, "0.003 -0.038 0.082")
    low, high, rng = chain.lower, chain.upper, np.random.default_rng(1)
    for _ in range(20):
        truth, seed = rng.uniform(low, high, (2, 4))
        way, turn = (2e-7 * each / np.linalg.norm(each) for each in rng.normal(size=(2, 3)))
        target = chain.forward(truth) @ RigidTransform.from_rpy(*turn, way)
        assert solve(chain, target, seed).success
