# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Verdicts at singular positions, where no small motion helps, and at degenerate ones."""

from __future__ import annotations

import numpy as np
import pytest

from basis_ik.descent.proof_kernel import place_exactly
from basis_ik.search.prepare import prepared
from basis_ik.search.prepared_chain import ROTATION_WEIGHT
from basis_ik.solvers.look.look_at import look_at
from basis_ik.solvers.pose.track import track
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

STEP = 0.05


def at(x, y, z=0.0):
    return RigidTransform.from_rpy(0.0, 0.0, 0.0, (x, y, z))


def arrive(chain, q, target, **keywords):
    """Track a resting target until nothing moves."""
    for _ in range(400):
        solution = track(chain, target, q, STEP, **keywords)
        if np.abs(solution.positions - q).max() < 1e-12:
            break
        q = solution.positions
    return solution


@pytest.fixture(scope="module")
def planar(arm):
    """Two links of 0.5 m and 0.3 m in the plane: reach from 0.2 m to 0.8 m."""
    rows = [("revolute", f"{x} 0 0", "0 0 0", "0 0 1", -6.0, 6.0) for x in (0.0, 0.5)]
    return arm(rows, "0.3 0 0")


@pytest.mark.parametrize("angle", [0.3, 1.4, -2.0])
def test_an_arm_folded_towards_an_inner_target_is_singular(planar, angle):
    target = at(0.1 * np.cos(angle), 0.1 * np.sin(angle))
    stuck = arrive(planar, [angle - 0.7, 2.5], target, position_only=True)
    assert stuck.verdict is Verdict.SINGULAR
    assert stuck.reason.missing == pytest.approx(0.1, abs=1e-6)
    # Both links lie on one line: there is no motion along it.
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    assert np.abs(along @ planar.jacobian(stuck.positions)[:3]).max() < 1e-3
    grid = np.linspace(-STEP, STEP, 41)
    for a in grid:
        for b in grid:
            moved = planar.forward(stuck.positions + np.array([a, b])).translation
            assert np.linalg.norm(moved - target.translation) >= stuck.position_error - 1e-9
    # It is the place that is singular, not the arm that is stuck: outside the void it follows.
    out = arrive(planar, stuck.positions, at(*(0.5 * along[:2])), position_only=True)
    assert out.verdict is Verdict.REACHED


def errors(chain, target, rows):
    """Return the weighted errors of positions (k, n), with the tracker's weights."""
    ready, found = prepared(chain), np.empty((3, 4))
    left = []
    for q in rows:
        place_exactly(ready.exact, q, found)
        away = (found[:, 3] - target.translation) / ready.size
        turned = np.linalg.norm(found[:, :3] - target.rotation) / np.sqrt(2.0)  # 2 sin(θ/2)
        left.append(np.hypot(np.linalg.norm(away), ROTATION_WEIGHT * turned))
    return np.array(left)


def test_an_arm_stretched_towards_an_outer_target_is_singular(robot):
    """The target is out of reach, but not by the chain's length, so nothing is proven."""
    chain, seen = robot("ur5"), 0
    rng = np.random.default_rng(2)
    for _ in range(8):
        q = np.array([0.1, -1.0, 1.0, 0.3, 0.9, 0.0]) + rng.uniform(-0.4, 0.4, 6)
        start = chain.forward(q)
        way = np.append(start.translation[:2], 0.0)
        way /= np.linalg.norm(way)
        target = RigidTransform.from_rotation_translation(
            start.rotation, 0.98 * prepared(chain).reach * way + [0, 0, 0.089]
        )
        stuck = arrive(chain, q, target)
        if stuck.verdict is not Verdict.SINGULAR:
            assert stuck.verdict is not Verdict.REACHED
            continue
        seen += 1
        # A square Jacobian of full rank would lead nearer.
        values = np.linalg.svd(chain.jacobian(stuck.positions), compute_uv=False)
        assert values[-1] < 1e-2 * values[0]
        held = errors(chain, target, stuck.positions[None])[0]
        near = stuck.positions + rng.uniform(-STEP, STEP, (3000, 6)) * rng.uniform(0, 1, (3000, 1))
        assert errors(chain, target, near).min() >= held - 1e-6
    assert seen >= 4


def test_a_missing_direction_is_singular_everywhere(planar):
    """No joint of a planar arm turns about x, so the arm rests at its best effort."""
    target = planar.forward([0.4, 0.9]) @ RigidTransform.from_rpy(0.3, 0, 0, (0, 0, 0))
    stuck = arrive(planar, [0.3, 0.8], target)
    assert stuck.verdict is Verdict.SINGULAR
    assert stuck.orientation_error == pytest.approx(0.3, abs=1e-3)
    held = errors(planar, target, stuck.positions[None])[0]
    grid = np.stack(np.meshgrid(*[np.linspace(-STEP, STEP, 41)] * 2), -1).reshape(-1, 2)
    assert errors(planar, target, stuck.positions + grid).min() >= held - 1e-9


def test_a_ray_is_degenerate_only_where_no_position_gives_it_a_direction(arm):
    """The eye of a pan-tilt head is on both axes and cannot look at itself."""
    rows = [
        ("revolute", "0 0 0.2", "0 0 0", "0 0 1", -2.0, 2.0),
        ("revolute", "0 0 0", "0 0 0", "0 1 0", -2.0, 2.0),
    ]
    chain, point = arm(rows), np.array([0.0, 0.0, 0.2])
    assert look_at(chain, point, [0.3, 0.3]).verdict is Verdict.DEGENERATE
    cloud = np.random.default_rng(0).uniform(-2.0, 2.0, (500, 2))
    eyes = np.array([chain.forward(q).translation for q in cloud])
    assert np.abs(eyes - point).max() < 1e-15
    # With the eye a centimetre off the axes the same point has a direction, and a verdict.
    off = arm(rows, "0 0 0.01")
    eyes = np.array([off.forward(q).translation for q in cloud])
    assert np.linalg.norm(eyes - point, axis=1).min() > 0.009
    assert look_at(off, point, [0.3, 0.3]).verdict is not Verdict.DEGENERATE
