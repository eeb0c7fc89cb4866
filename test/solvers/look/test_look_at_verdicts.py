# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Points-at on chains: the reasons must be true. Constructed cases, and brute force on grids."""

from __future__ import annotations

from math import atan2, hypot, pi, sqrt
from pathlib import Path

import numpy as np
import pytest

from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.look.look_at import look_at
from basis_ik.verdict import Verdict

URDF = Path(__file__).parents[3] / "urdf"
HEAD = RobotModel.from_urdf((URDF / "pan_tilt.urdf").read_text()).chain(None, "camera_link")


def turning(xyz, rpy, lower, upper, axis="0 0 1"):
    return ("revolute", xyz, rpy, axis, lower, upper)


THREE = [
    turning("0 0 0.1", "0 0 0", -1.0, 0.8),
    turning("0.1 0 0.1", "1.2 0 0", -0.6, 0.9),
    turning("0.2 0.03 0", "0 1.1 0.2", -0.7, 0.4),
]
TWO = [
    turning("0 0 0.1", "0 0 0", -1.0, 0.8),
    turning("0.1 0 0.1", "1.2 0 0", -0.6, 0.9),
]


def grid_of_rays(chain, lower, upper, cells):
    """Origins and directions of the ray along the tip's x at every cell of a grid."""
    axes = [np.linspace(a, b, cells) for a, b in zip(lower, upper, strict=True)]
    grid = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    rotation = np.broadcast_to(np.eye(3), (len(grid), 3, 3))
    place = np.zeros((len(grid), 3))
    for joint in chain.joints:
        place = place + rotation @ joint.origin.translation
        rotation = rotation @ joint.origin.rotation
        if joint.name in chain.joint_names:
            value = grid[:, chain.joint_names.index(joint.name), None, None]
            x, y, z = joint.axis
            cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            rotation = rotation @ (
                np.eye(3) + np.sin(value) * cross + (1 - np.cos(value)) * cross @ cross
            )
    return place, rotation[:, :, 0]


def least_angle(rays, point):
    place, ray = rays
    line = point - place
    return np.arccos(np.clip((ray * line).sum(axis=1) / np.linalg.norm(line, axis=1), -1, 1)).min()


@pytest.mark.parametrize(
    ("rows", "cells", "cell"), [(None, 200, 0.04), (TWO, 200, 0.04), (THREE, 41, 0.16)]
)
def test_verdicts_and_angles_are_those_of_brute_force(arm, rows, cells, cell):
    chain = HEAD if rows is None else arm(rows, "0.03 0.02 0.01")
    n = len(chain.lower)
    inside = grid_of_rays(chain, chain.lower, chain.upper, cells)
    around = grid_of_rays(chain, np.full(n, -pi), np.full(n, pi), cells)
    alone = []
    for k in range(n):
        low, high = chain.lower.copy(), chain.upper.copy()
        low[k], high[k] = -pi, pi
        alone.append(grid_of_rays(chain, low, high, cells))
    rng = np.random.default_rng(0)
    seen = dict.fromkeys(Verdict, 0)
    for _ in range(50):
        point = rng.normal(size=3) * rng.choice([0.15, 1.0])
        solution = look_at(chain, point, rng.uniform(chain.lower, chain.upper))
        seen[solution.verdict] += 1
        least = least_angle(inside, point)
        assert solution.orientation_error <= least + 1e-3 + 1e-6, (point, solution)
        eye = chain.forward(solution.positions).translation
        coarse = cell * (1 + 0.3 / np.linalg.norm(point - eye))  # an answer may lie between cells
        if solution.success:
            assert least < coarse
        elif solution.verdict is Verdict.LIMIT:
            assert least_angle(around, point) < coarse
            k = chain.joint_names.index(solution.reason.joint)
            assert solution.reason.bound in (chain.lower[k], chain.upper[k])
            single = [least_angle(rays, point) for rays in alone]
            # Where lifting one limit would do, the named one does.
            assert single[k] < coarse or min(single) > 1e-4
            assert solution.reason.turn == solution.orientation_error
        else:
            assert solution.verdict in (Verdict.TOO_NEAR, Verdict.ORIENTATION_NOT_FOUND)
            assert least_angle(around, point) > 1e-4
    assert seen[Verdict.REACHED] > 5
    assert seen[Verdict.LIMIT] > 5


def test_a_point_beyond_the_pan_limit_names_it_and_the_pan_stands_there():
    solution = look_at(HEAD, [-2.0, 0.0, 0.1], [2.0, 0.0])
    assert solution.verdict is Verdict.LIMIT
    assert solution.reason.joint == "pan_joint"
    assert solution.reason.bound == 2.7
    assert solution.positions[0] == 2.7
    assert "pan_joint is held by its limit 2.7" in str(solution.reason)
    assert "m and" not in str(solution.reason)


def test_a_point_beyond_both_limits_names_one_of_them():
    solution = look_at(HEAD, [-2.0, 0.0, 30.0], [2.0, 0.0])
    assert solution.verdict is Verdict.LIMIT
    k = HEAD.joint_names.index(solution.reason.joint)
    assert solution.positions[k] == solution.reason.bound


@pytest.fixture(scope="module")
def offset_head(arm):
    """Pan about z, tilt about y at x = 0.02, the eye 0.05 aside and 0.04 above, looking along x."""
    rows = [
        turning("0 0 0.1", "0 0 0", -3.0, 3.0),
        turning("0.02 0 0", "0 0 0", -3.0, 3.0, "0 1 0"),
    ]
    return arm(rows, "0.03 0.05 0.04")


def test_too_near_the_pan_axis_by_exactly_the_distance_missing(offset_head):
    for angle in np.linspace(-3, 3, 5):
        for radius in (0.01, 0.03, 0.0499):
            point = [radius * np.cos(angle), radius * np.sin(angle), 1.0]
            solution = look_at(offset_head, point, [0.1, 0.1])
            assert solution.verdict is Verdict.TOO_NEAR
            assert solution.reason.missing == pytest.approx(0.05 - radius, abs=1e-9)
    assert look_at(offset_head, [0.0501, 0.0, 1.0], [0.1, -0.1]).success


def test_too_near_the_tilt_axis_by_exactly_the_distance_missing(arm):
    """The ray starts 0.03 before the axis: what is nearer than hypot(0.03, 0.04) lies behind it."""
    rows = [
        turning("0 0 0.1", "0 0 0", -3.0, 3.0),
        turning("0 0 0", "0 0 0", -3.0, 3.0, "0 1 0"),
    ]
    before, behind = arm(rows, "0.03 0.05 0.04"), arm(rows, "-0.03 0.05 0.04")
    for chain, least in ((before, 0.05), (behind, 0.04)):  # behind the axis the ray passes it
        for away in (0.001, 0.02, least - 1e-5):
            solution = look_at(chain, [hypot(away, 0.05), 0.0, 0.1], [0.1, 0.1])
            assert solution.verdict is Verdict.TOO_NEAR
            assert solution.reason.missing == pytest.approx(least - away, abs=1e-9)
        assert look_at(chain, [hypot(least + 1e-5, 0.05), 0.0, 0.1], [0.1, 0.1]).success


def test_one_joint_meets_what_it_passes_and_nothing_else(arm):
    chain = arm([turning("0 0 0", "0 0 0", -3.0, 3.0)])
    assert look_at(chain, [1.0, 2.0, 0.0]).success
    solution = look_at(chain, [1.0, 2.0, 1.0])
    assert solution.verdict is Verdict.ORIENTATION_NOT_FOUND
    assert solution.orientation_error == pytest.approx(atan2(1.0, sqrt(5.0)), abs=1e-6)
    assert solution.reason.turn == solution.orientation_error
    assert "position" not in str(solution.reason)


def test_a_bound_on_the_move_is_kept_and_named():
    point = [0.0, 2.0, 0.1]
    solution = look_at(HEAD, point, [0.0, 0.0], max_move=0.5)
    assert solution.verdict is Verdict.MOVE_BOUND
    assert solution.reason.joint == "pan_joint"
    assert solution.reason.bound == solution.positions[0] == 0.5
    assert look_at(HEAD, point, [0.0, 0.0], max_move=[2.0, 0.1]).success
    limit = look_at(HEAD, [-2.0, 0.0, 0.1], [2.6, 0.0], max_move=[0.5, 0.5])
    assert limit.verdict is Verdict.LIMIT
    assert limit.reason.bound == 2.7


def test_a_bound_on_the_move_is_named_even_where_the_joint_stands_at_its_own_limit():
    """The least angle is at the pan's own limit, 2.7; but a longer move reaches, the other way."""
    solution = look_at(HEAD, [-0.8, -1.8, 0.1], [2.6, 0.0], max_move=0.3)
    assert solution.positions[0] == 2.7
    assert solution.verdict is Verdict.MOVE_BOUND
    assert solution.reason.joint == "pan_joint"
    assert solution.reason.bound == pytest.approx(2.3)


def test_a_short_search_claims_nothing(arm):
    chain = arm(THREE, "0.03 0.02 0.01")
    point = [-1.0, 0.0, 0.0]
    assert look_at(chain, point, [0.0] * 3).verdict is Verdict.LIMIT
    assert look_at(chain, point, [0.0] * 3, max_restarts=3).verdict is Verdict.BUDGET_SPENT
    spent = look_at(chain, point, [0.0] * 3, max_iterations=5)
    assert spent.verdict is Verdict.BUDGET_SPENT
    assert spent.iterations <= 5
    assert np.isfinite(spent.positions).all()
    for most in (1, 50, 200, 500, 800):
        assert look_at(chain, point, [0.0] * 3, max_iterations=most).iterations <= most
    # The closed form knows without a search.
    head = look_at(HEAD, [-2.0, 0.0, 0.1], [2.0, 0.0], max_restarts=0)
    assert head.verdict is Verdict.LIMIT


def test_the_answer_to_a_point_out_of_limits_moves_without_jumps():
    q = np.array([0.0, 0.0])
    for t in np.linspace(0.0, 1.0, 200):
        solution = look_at(HEAD, [2.0 * np.cos(t), 2.0 * np.sin(t), 8.0], q)
        assert solution.verdict is Verdict.LIMIT
        assert np.abs(solution.positions - q).max() < (0.05 if t > 0 else 2.0)
        q = solution.positions
