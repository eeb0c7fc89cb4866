# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The way out of a dead end, piece by piece: a Panda whose elbow is stopped by its limit."""

from __future__ import annotations

import numpy as np
import pytest
from from_python import from_python

from basis_ik.pose import detour_kernel as kernel
from basis_ik.search.pose_search_kernel import relate_to_target, squared_arrival
from basis_ik.search.prepare import prepared
from basis_ik.search.tables_kernel import BOUND_LOWER, BOUND_UPPER, PoseGoal
from basis_ik.transforms.rigid import RigidTransform

bring_tip_nearer, find_detour, price, relate, slide_nearer, tip_error = (
    from_python(function)
    for function in (
        kernel.bring_tip_nearer, kernel.find_detour, kernel.price, relate_to_target,
        kernel.slide_nearer, kernel.tip_error,
    )
)  # fmt: skip
STOPPED = np.array([0.1, 0.2, 0.3, -0.0698, 0.2, 1.4, 0.1])  # the elbow is at its upper limit
IN = np.array([0.1, 0.2, 0.3, -0.9, 0.2, 1.4, 0.1])  # from where the tip comes nearer yet


class Case:
    """A Panda and a target, in the kernels' tables."""

    def __init__(self, robot, target):
        self.chain = robot("panda")
        ready = prepared(self.chain)
        self.packed, self.weights, self.work = ready.packed, ready.weights, ready.new_work()
        self.goal = PoseGoal(ready.weights, target(self.chain).matrix.copy(), 1e-6, 1e-6)
        self.arrival = from_python(squared_arrival)(self.goal)
        relate(ready.ends[0], self.goal.target, self.work, 7 + len(ready.joints))
        self.work[:7, BOUND_LOWER], self.work[:7, BOUND_UPPER] = ready.limits

    def error(self, q):
        return np.linalg.norm(tip_error(self.packed, self.weights, q, self.work))

    def find(self, here):
        there = np.full(7, np.nan)
        found = find_detour(self.packed, self.weights, here, self.work, self.arrival, there)
        return found, there


def drawn_in(chain):
    """Return a pose that is nearer to the shoulder than the tip of the stopped arm by 3 cm."""
    tip = chain.forward(STOPPED)
    inward = np.array([0.0, 0.0, 0.333]) - tip.translation
    place = tip.translation + 0.03 * inward / np.linalg.norm(inward)
    return RigidTransform.from_rotation_translation(tip.rotation, place)


def test_an_arm_at_its_limit_finds_the_posture_that_reaches_the_target(robot):
    case = Case(robot, drawn_in)
    found, there = case.find(STOPPED)
    assert found
    assert (there >= case.chain.lower).all()
    assert (there <= case.chain.upper).all()
    assert case.error(there) < 1e-6
    assert there[3] < -0.5  # beyond the straight elbow


def test_an_arm_that_comes_to_its_target_as_it_is_makes_no_detour(robot):
    case = Case(robot, lambda chain: chain.forward(IN + 0.1))
    assert not case.find(IN)[0]


def test_an_arm_in_a_dead_end_without_another_posture_makes_no_detour(robot):
    far = RigidTransform.from_rpy(0, 0, 0, (1.5, 0.5, 0.4))
    assert not Case(robot, lambda chain: far).find(STOPPED)[0]


def test_a_detour_costs_its_length_and_the_largest_error_on_it(robot):
    case = Case(robot, lambda chain: chain.forward(IN))
    there = IN + np.array([0.2, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    points = [IN + (there - IN) * i / (kernel.POINTS + 1) for i in range(1, kernel.POINTS + 1)]
    worst = max(case.error(q) for q in points)
    cost = price(case.packed, case.weights, IN, there, case.work)
    assert cost == pytest.approx(0.2 + kernel.TIP_COUNTS * worst)


def test_a_detour_on_which_the_tip_would_go_too_far_is_not_made(robot):
    case = Case(robot, lambda chain: chain.forward(IN))
    there = IN + np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert price(case.packed, case.weights, IN, there, case.work) == np.inf


def test_self_motion_brings_a_posture_nearer_and_leaves_the_tip(robot):
    case = Case(robot, lambda chain: chain.forward(IN))
    far, near = np.full(7, np.nan), IN.copy()
    idle = np.linalg.svd(case.chain.jacobian(IN))[2][6]
    far[:] = IN
    slide_nearer(case.packed, case.weights, far, IN + 0.8 * idle, case.work, case.arrival)
    assert np.abs(far - IN).max() > 0.1
    assert case.error(far) < 1e-6
    near[:] = far
    slide_nearer(case.packed, case.weights, near, IN, case.work, case.arrival)
    assert np.abs(near - IN).max() < 0.02
    assert case.error(near) < 1e-6


def test_the_tip_comes_nearer_across_the_way_and_the_way_stays(robot):
    case = Case(robot, lambda chain: chain.forward(IN))
    there = IN + np.array([0.6, -0.4, 0.5, 0.0, -0.3, 0.2, 0.1])
    begin = IN + 0.1 * (there - IN)
    q, way = begin.copy(), there - begin
    bring_tip_nearer(case.packed, case.weights, q, there, case.work)
    assert case.error(q) < 0.5 * case.error(begin)
    assert abs((q - begin) @ way) < 0.1 * np.linalg.norm(q - begin) * np.linalg.norm(way)


def test_no_correction_passes_a_bound(robot):
    case = Case(robot, lambda chain: chain.forward(IN))
    there = IN + np.array([0.6, -0.4, 0.5, 0.0, -0.3, 0.2, 0.1])
    begin = IN + 0.1 * (there - IN)
    case.work[:7, BOUND_LOWER], case.work[:7, BOUND_UPPER] = begin - 1e-3, begin + 1e-3
    q = begin.copy()
    bring_tip_nearer(case.packed, case.weights, q, there, case.work)
    assert np.abs(q - begin).max() == pytest.approx(1e-3)
