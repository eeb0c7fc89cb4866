# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""How long a search goes on, and what its questions answer."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest
import transforms3d

from basis_ik.robot.robot import RobotModel
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose.diagnosis import DIAGNOSIS, Diagnosis
from basis_ik.solvers.pose.newton_kernel import minimise_each
from basis_ik.solvers.pose.solve import MAX_RESTARTS, solve
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict


def plane(bound):
    """Four joints in the plane, which cannot roll about x, and have no closed form."""
    steps = 0.0, 0.3, 0.2, 0.2
    return [("revolute", f"{x} 0 0", "0 0 0", "0 0 1", -bound, bound) for x in steps]


def tilted(arm):
    """The same on a joint that tilts the plane: there are axes in two directions."""
    return arm([("revolute", "0 0 0", "0 0 0", "0 1 0", -pi, pi), *plane(pi)], "0.2 0 0")


def rolled(chain, roll):
    truth = [0.3, 0.5, 0.6, 0.7, 0.1]
    return chain.forward(truth) @ RigidTransform.from_rpy(roll, 0, 0, (0, 0, 0))


def test_a_search_without_prospect_ends_early_and_one_that_nearly_arrives_goes_on(arm):
    chain = tilted(arm)  # limits that leave room for a turn are none
    unreachable = solve(chain, rolled(chain, 0.5), [0.1, 0.1, 0.2, 0.3, 0.1])
    close = solve(chain, rolled(chain, 1e-4), [0.1, 0.1, 0.2, 0.3, 0.1])
    for solution, starts in (
        (unreachable, DIAGNOSIS.lifted_starts),
        (close, DIAGNOSIS.most_lifted_starts),
    ):
        assert solution.verdict is Verdict.ORIENTATION_NOT_FOUND
        assert solution.restarts == starts


def skew(arm, bound):
    """Six joints of which no two axes meet or are parallel, which have no closed form."""
    rng = np.random.default_rng(1)
    words = [[" ".join(map(str, rng.uniform(-0.5, 0.5, 3))) for _ in range(2)] for _ in range(6)]
    rows = [("revolute", *each, "0 0 1", -bound, bound) for each in words]
    return arm(rows, "0.2 0.1 0.1")


def test_where_limits_stand_in_the_way_a_search_goes_on_longer(arm):
    chain, seen = skew(arm, 1.5), 0
    assert prepared(chain).closed is None
    rng = np.random.default_rng(5)
    for _ in range(40):
        solution = solve(chain, chain.forward(rng.uniform(-pi, pi, 6)), [0.0] * 6)
        if solution.verdict is Verdict.LIMIT and solution.position_error < 1e-6:
            seen += 1
            assert solution.restarts >= DIAGNOSIS.most_lifted_starts
            assert solution.restarts <= MAX_RESTARTS + DIAGNOSIS.most_corners
    assert seen > 3


def test_where_even_the_position_is_off_and_no_limit_is_in_the_way_the_search_ends(
    robot, monkeypatch
):
    chain, scouts, scout = robot("panda"), [], Diagnosis.scout
    monkeypatch.setattr(Diagnosis, "scout", lambda self: scouts.append(self) or scout(self))
    rng = np.random.default_rng(2)
    for target, off, made in (
        (RigidTransform.from_rpy(0.3, 1.2, -0.8, (0.66, 0.66, 0.66)), True, 0),  # too far
        (chain.forward([-0.6, 2.7, -1.2, -0.6, 0.1, 2.4, 1.4]), True, 1),  # beyond limits
        (RigidTransform.from_rpy(0.3, 1.2, -0.8, (0.56, 0.56, 0.56)), False, 1),  # turned wrongly
    ):
        scouts.clear()
        solution = solve(chain, target, chain.random(rng))
        assert not solution.success
        assert (solution.position_error > 1e-3) == off
        assert len(scouts) == made


def test_limits_are_lifted_beyond_the_links_lengths_only_if_that_makes_them_longer(
    arm, robot, monkeypatch
):
    lifted, relax = [], Diagnosis.relax
    monkeypatch.setattr(Diagnosis, "relax", lambda self, *a: lifted.append(a) or relax(self, *a))
    far = RigidTransform.from_rpy(0, 0, 0, (3.0, 0, 0))
    hinges = solve(robot("panda"), far)
    assert (hinges.verdict, hinges.reason.proven) == (Verdict.TOO_FAR, True)
    assert not lifted
    slide = arm([("prismatic", "0 0 0", "0 0 0", "1 0 0", 0.0, 0.5)], "0.2 0 0")
    held = solve(slide, far)
    assert (held.verdict, held.reason.bound) == (Verdict.LIMIT, 0.5)
    assert held.positions == pytest.approx([0.5])
    assert lifted


def test_scouts_find_what_is_downhill_and_prove_it(robot):
    chain = robot("panda")
    truth = np.array([0.3, 0.4, -0.5, -1.5, 0.6, 1.8, 0.7])
    seed = truth + 0.3
    for target, found in (
        (chain.forward(truth), True),
        (RigidTransform.from_rpy(0, 0, 0, (3.0, 0, 0)), False),
    ):
        diagnosis = Diagnosis(
            prepared(chain), target.matrix.copy(), seed, seed, (1e-6, 1e-6), 9999, 20
        )
        attempt = diagnosis.scout()
        assert (attempt is not None) == found
        if attempt is not None:
            off = target.inverse() @ chain.forward(attempt.q)
            assert np.linalg.norm(off.log()) <= 3e-6
            assert (attempt.q >= chain.lower).all()
            assert (attempt.q <= chain.upper).all()


def test_an_orientation_alone_is_missed_by_an_angle_and_no_distance(arm):
    chain = arm(plane(3.0), "0.2 0 0")
    target = RigidTransform.from_rpy(0.4, 0.0, 0.7, (30.0, 0.0, 0.0))
    solution = solve(chain, target, [0.1, 0.2, 0.3, 0.1], constraint=PoseConstraint(position=False))
    assert solution.verdict is Verdict.ORIENTATION_UNREACHABLE
    assert solution.reason.missing == 0.0
    tip = chain.forward(solution.positions).translation
    assert solution.position_error == pytest.approx(np.linalg.norm(tip - target.translation))
    assert solution.orientation_error == pytest.approx(0.4, abs=1e-6)


def test_a_free_axis_is_missed_by_the_angle_between_the_axes(arm):
    chain = arm(plane(3.0), "0.2 0 0")
    target = RigidTransform.from_rpy(0.4, 0.0, 0.7, (0.5, 0.3, 0.0))
    solution = solve(
        chain, target, [0.1, 0.2, 0.3, 0.1], constraint=PoseConstraint(free_axis=(0, 0, 1))
    )
    assert solution.verdict is Verdict.ORIENTATION_UNREACHABLE
    assert solution.orientation_error == pytest.approx(0.4, abs=1e-6)  # z is up, whatever the yaw
    assert solution.reason.turn == solution.orientation_error


def test_an_arm_that_is_dragged_beyond_its_reach_does_not_swing_to_its_other_shoulder():
    """There it would be turned less wrongly: by 0.13 rad, for a way of 3.1 rad."""
    urdf = Path(__file__).parents[3] / "urdf" / "ur5e.urdf"
    chain = RobotModel.from_urdf(urdf.read_text()).chain()
    turn = transforms3d.quaternions.quat2mat((0.35052, -0.61411, 0.61439, -0.35003))
    within, beyond = (0.94167, 0.18517, 0.20772), (0.96006, 0.17585, 0.19505)
    near, far = (RigidTransform.from_rotation_translation(turn, xyz) for xyz in (within, beyond))
    before = solve(chain, near, [0.11, 0.29, -0.79, -2.1, -1.66, 0.06])
    after = solve(chain, far, before.positions)
    assert (before.verdict, after.verdict) == (Verdict.REACHED, Verdict.TOO_FAR)
    assert np.abs(after.positions - before.positions).max() < 0.5


def test_whatever_is_asked_newtons_method_is_compiled_for_one_layout_of_weights(robot):
    """An explanation would wait for the compiler, once in a while."""
    chain = robot("panda")
    ready, seed = prepared(chain), np.array([0.3, 0.4, -0.5, -1.5, 0.6, 1.8, 0.7])
    target = chain.forward(seed).matrix.copy()
    diagnosis = Diagnosis(ready, target, seed, seed, (1e-6, 1e-6), 9999, 20)
    (relaxation,) = diagnosis.relaxations()
    diagnosis.better_without(3, relaxation, diagnosis.best_effort()._replace(distance=0.0))
    signatures = getattr(minimise_each, "signatures", [()])  # none as plain Python
    assert len(signatures) == 1
