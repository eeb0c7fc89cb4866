# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Descents through levels of tasks."""

from __future__ import annotations

import numpy as np
import pytest
from from_python import sample

from basis_ik.robot.robot import RobotModel
from basis_ik.search.pose_residual_kernel import POSE_RESIDUAL
from basis_ik.search.prepare import _pack_exact, _pack_variables
from basis_ik.search.ranked_tasks import Ranked, RankedTask


@pytest.fixture(scope="module")
def chain():
    """Four unit links in the plane."""
    text = "<robot name='r'><link name='l0'/>"
    for i in range(4):
        text += f"<link name='l{i + 1}'/><joint name='j{i}' type='revolute'><parent link='l{i}'/>"
        text += f"<child link='l{i + 1}'/><origin xyz='{int(i > 0)} 0 0'/><axis xyz='0 0 1'/>"
        text += "<limit lower='-1.2' upper='1.2' velocity='1' effort='1'/></joint>"
    text += "<link name='tip'/><joint name='end' type='fixed'><parent link='l4'/>"
    text += "<child link='tip'/><origin xyz='1 0 0'/></joint></robot>"
    return RobotModel.from_urdf(text).chain("l0", "tip")


def reach(chain, goal, level, link=None):
    """Return the task that the tip, or a link, is at a point."""
    limb = _pack_exact(chain.arrays)
    if link is not None:
        joint, fixture = chain.joint_T_link(link)
        limb = limb[: joint + 2].copy()
        limb[-1] = 0.0
        limb[-1, :12] = fixture.reshape(12)
    target = np.eye(4)
    target[:2, 3] = goal
    weights = np.array([0.25] * 3 + [0.0] * 9)
    return RankedTask(POSE_RESIDUAL, limb, weights, target, level, (1e-6, 1e-6))


def ranked_for(chain, tasks, posture=None):
    wish = None if posture is None else np.array(posture)
    pull = None if posture is None else np.ones(4)
    return Ranked(tasks, _pack_variables(chain.arrays, 4.0), wish, pull)


@pytest.mark.parametrize("goal", [(1.5, 1.0), (2.0, -1.5), (6.0, 1.0), (0.2, 0.1)])
@pytest.mark.parametrize("wish", [(0.0, 0.9), (3.0, 3.0)])
def test_a_lower_level_takes_nothing_from_a_higher_one(chain, goal, wish):
    rng = np.random.default_rng(1)
    first = ranked_for(chain, [reach(chain, goal, 0)])
    both = ranked_for(chain, [reach(chain, goal, 0), reach(chain, wish, 1, "l2")], np.zeros(4))
    for _ in range(4):
        start = rng.uniform(-1.2, 1.2, 4)
        alone, together = first.in_order(start), both.in_order(start)
        assert together.costs[0] <= alone.costs[0] + 1e-6
        assert (np.abs(together.q) <= 1.2).all()
        assert np.isfinite(together.q).all()
        assert together.steps >= alone.steps


def test_the_lowest_level_ends_where_no_small_move_betters_it(chain):
    rng = np.random.default_rng(2)
    task = reach(chain, (2.0, 1.0), 0)
    posture = [0.9, -0.3, 0.5, -1.0]
    ended = ranked_for(chain, [task], posture).in_order(np.array([0.2, 0.3, 0.1, 0.4]))
    assert task.is_met(ended.q)
    here = np.linalg.norm(ended.q - posture)
    again = ranked_for(chain, [task])
    for _ in range(sample(100)):
        near = np.clip(ended.q + 1e-2 * rng.normal(size=4), -1.2, 1.2)
        back = again.in_order(near).q
        assert task.is_met(back)
        assert np.linalg.norm(back - posture) >= here - 1e-6


def test_no_more_steps_than_allowed(chain):
    tasks = [reach(chain, (1.5, 1.0), 0), reach(chain, (0.0, 0.9), 1, "l2")]
    ranked = ranked_for(chain, tasks, np.zeros(4))
    start = np.array([0.2, 0.3, 0.1, 0.4])
    for most in (0, 1, 3):
        assert ranked.in_order(start, most).steps <= 3 * most
    assert np.array_equal(ranked.in_order(start, 0).q, start)


@pytest.mark.parametrize(
    ("goal", "wish", "start"),
    [
        ((3.99, 0.3), (-2.495907938505691, 1.995864885920387), (0.689, -0.626, 0.904, -1.059)),
        ((4.2, 0.0), (2.8695942830408745, 0.5392201699257031), (-0.433, -0.75, 0.414, -0.732)),
    ],
)
def test_a_step_counts_only_if_the_levels_before_still_hold(chain, goal, wish, start):
    tasks = [reach(chain, goal, 0), reach(chain, wish, 1, "l2")]
    alone = ranked_for(chain, tasks[:1]).in_order(np.array(start))
    together = ranked_for(chain, tasks, [1.2, -1.2, 1.2, -1.2]).in_order(np.array(start))
    slack = 0.1 * 1e-6 * 0.25  # a tenth of the tolerance, weighted
    assert together.costs[0] <= alone.costs[0] + 1.05 * slack
