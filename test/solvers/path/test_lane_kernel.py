# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ways over some poses, straight on and aside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from closed_arms import chain_of
from feasible_motion import PERIOD, feasible_motion
from hard_arms import ARMS

from basis_ik.search.prepare import prepared
from basis_ik.solvers.path.lane_kernel import LANE_ASIDE, LANE_CLEAR, LANE_ONWARD, go_along

TOLERANCE = 1e-6


class Way:
    """Poses of a feasible motion, the arm at the first of them."""

    def __init__(self, chain, number, count):
        self.chain, self.ready = chain, prepared(chain)
        motion = feasible_motion(chain, np.random.default_rng(number), 1)
        begin = len(motion) // 2
        self.motion = motion[begin : begin + count]
        self.goals = np.array([chain.forward(q).matrix for q in self.motion])
        self.bound, self.n = chain.velocity * PERIOD, len(chain.joint_names)

    def go(self, manner, aside=None, variables=None, previous=None):
        """Return the rows (k, n) that were reached."""
        ready, first = self.ready, self.motion[0].copy()
        chain = ready.fields if variables is None else replace(ready, variables=variables).fields
        rows, side = np.empty((len(self.goals) - 1, self.n)), np.zeros(self.n)
        reached = go_along(
            chain, (ready.weights, self.goals[1:], TOLERANCE, TOLERANCE),
            (first if previous is None else previous, first, self.bound),
            manner, side if aside is None else aside.copy(), rows, ready.new_work(),
        )  # fmt: skip
        assert self.keeps(rows[:reached])
        return rows[:reached]

    def keeps(self, rows):
        moves = np.abs(np.diff(rows, axis=0, prepend=self.motion[:1]))
        goals = [self.chain.forward(q).matrix for q in rows]
        return (moves <= self.bound + 1e-12).all() and np.allclose(
            np.reshape(goals, (-1, 4, 4)), self.goals[1 : len(rows) + 1], atol=3e-6
        )


@pytest.mark.parametrize("name", ["panda", "gen3", "tiago", "lift_arm"])
def test_poses_are_reached_straight_on_and_aside(robot, name):
    way = Way(chain_of(*ARMS[name]) if name in ARMS else robot(name), 2, 12)
    straight, direction = way.go(LANE_ONWARD), np.random.default_rng(3).normal(size=way.n)
    to, fro = way.go(LANE_ASIDE, direction), way.go(LANE_ASIDE, -direction)
    assert len(straight) == len(to) == len(fro) == 11
    for rows, side in ((to, 1.0), (fro, -1.0)):
        away = rows[-1] - straight[-1]
        assert (np.abs(away) / way.bound).max() > 5.0  # nearly as far as eleven steps may lead
        assert side * (away @ direction) > 0.0


def test_a_way_ends_at_the_pose_that_is_out_of_reach(robot):
    way = Way(robot("panda"), 2, 12)
    way.goals[7, 0, 3] += 5.0
    assert len(way.go(LANE_ONWARD)) == 6


def test_a_joint_at_its_limit_ends_going_aside_and_not_the_way(robot):
    way = Way(robot("panda"), 2, 12)
    direction = np.random.default_rng(3).normal(size=7)
    free, variables = way.go(LANE_ASIDE, direction), way.ready.variables.copy()
    k = int(np.argmax(np.abs(free[-1] - way.motion[-1])))
    low, high = np.sort([free[4, k], way.motion[0, k]])
    variables[k, :2] = min(low, way.motion[:, k].min()), max(high, way.motion[:, k].max())
    held = way.go(LANE_ASIDE, direction, variables)
    assert len(held) == 11
    assert (held[:, k] >= variables[k, 0]).all()
    assert (held[:, k] <= variables[k, 1]).all()


def test_an_arm_goes_to_where_its_joints_have_room(robot):
    way = Way(robot("panda"), 2, 60)

    def room(q):
        return np.min([q - way.chain.lower, way.chain.upper - q])

    clear, onward = way.go(LANE_CLEAR), way.go(LANE_ONWARD)
    assert len(clear) == len(onward) == 59
    assert room(clear[-1]) > room(onward[-1]) + 0.3


def test_an_arm_goes_to_where_its_joints_are_slow():
    way = Way(chain_of(*ARMS["gen3"]), 4, 60)
    assert len(way.go(LANE_CLEAR)) == 59
    assert len(way.go(LANE_ONWARD)) < 20


def test_an_arm_passes_a_singularity_as_it_came(arm):
    """Elbow bent up, straight, and bent down: standing, the nearest is to turn back."""
    joints = [("revolute", f"{x} 0 0", "0 0 0", "0 0 1", -3.0, 3.0) for x in (0, 0.4, 0.35)]
    way = Way(arm(joints, "0.15 0 0"), 2, 2)
    way.motion = np.array([[0.3, elbow, 0.5] for elbow in np.linspace(0.1, -0.1, 11)])
    way.goals = np.array([way.chain.forward(q).matrix for q in way.motion])
    way.bound = np.full(3, 0.05)
    passed = way.go(LANE_ONWARD, previous=way.motion[0] + [0.0, 0.02, 0.0])
    assert len(passed) == 10
    assert passed[-1] == pytest.approx(way.motion[-1], abs=1e-4)
