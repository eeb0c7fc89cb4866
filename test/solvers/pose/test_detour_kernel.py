# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The way out of a dead end, piece by piece: a Panda whose elbow is stopped by its limit."""

from __future__ import annotations

import numpy as np
import pytest
from from_python import IS_PLAIN, from_python, sample

from basis_ik.descent.pose_search_kernel import relate_to_target, squared_arrival
from basis_ik.descent.tables_kernel import BOUND_LOWER, BOUND_UPPER, PoseGoal
from basis_ik.search.prepare import prepared
from basis_ik.solvers.pose import detour_kernel as kernel
from basis_ik.solvers.pose.null_space_kernel import Pace
from basis_ik.solvers.pose.track import track
from basis_ik.transforms.rigid import RigidTransform

(
    move_target_ahead, bring_tip_nearer, find_detour, intercept, keep_pace, largest_error, relate,
    slide_nearer, steps_to, tip_error,
) = (
    from_python(function)
    for function in (
        kernel.move_target_ahead, kernel.bring_tip_nearer, kernel.find_detour, kernel.intercept,
        kernel.keep_pace, kernel.largest_error, relate_to_target, kernel.slide_nearer,
        kernel.steps_to, kernel.tip_error,
    )
)  # fmt: skip
STOPPED = np.array([0.1, 0.2, 0.3, -0.0698, 0.2, 1.4, 0.1])  # the elbow is at its upper limit
STILL, SLOWLY = np.zeros(6), np.array([1e-9, 0.0, 0.0, 0.0, 0.0, 0.0])
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

    def chase(self, here, bound=0.02, motion=STILL, last=None):
        last = np.zeros(7) if last is None else last
        return kernel.Chase(self.goal, motion, here, last, np.full(7, bound))

    def find(self, here, **how):
        there = np.full(7, np.nan)
        found = find_detour(self.packed, self.chase(here, **how), self.work, self.arrival, there)
        return found, there

    def intercept(self, chase, q, lead=0.0, most=np.inf):
        return intercept(self.packed, chase, lead, q, self.work, self.arrival, most)


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


def test_an_arm_that_comes_to_its_target_by_itself_makes_no_detour(robot):
    case = Case(robot, lambda chain: chain.forward(IN + 0.1))
    assert not case.find(IN, bound=0.05, motion=SLOWLY)[0]
    assert case.find(IN, bound=0.005, motion=SLOWLY)[0]
    assert not case.find(IN, bound=0.005)[0]  # the target waits


def test_an_arm_in_a_dead_end_without_another_posture_makes_no_detour(robot):
    far = RigidTransform.from_rpy(0, 0, 0, (1.5, 0.5, 0.4))
    assert not Case(robot, lambda chain: far).find(STOPPED)[0]


def test_a_detour_costs_its_steps_and_the_largest_error_on_it(robot):
    case = Case(robot, lambda chain: chain.forward(IN))
    q = IN + 0.05
    here = IN + np.array([0.2, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    chase = case.chase(here, bound=0.02)
    cost = case.intercept(chase, q)
    points = [
        here + (q - here) * i / (kernel.LINE_POINTS + 1) for i in range(1, kernel.LINE_POINTS + 1)
    ]
    worst = max(case.error(point) for point in points)
    assert largest_error(case.packed, case.weights, here, q, case.work) == pytest.approx(worst)
    steps = np.abs(q - here).max() / 0.02
    assert steps_to(chase, q) == pytest.approx(steps)
    assert cost == pytest.approx(steps + kernel.TIP_ERROR_COST * worst)
    assert case.intercept(chase, q, most=0.9 * steps) == np.inf


def test_a_detour_on_which_the_tip_would_go_too_far_is_not_made(robot):
    stretched = np.array([1.3, 1.5, 0.0, -0.1, 0.0, 1.6, 0.1])
    case = Case(robot, lambda chain: chain.forward(stretched))
    here = stretched - np.array([2.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    error = largest_error(case.packed, case.weights, here, stretched, case.work)
    assert error > kernel.LARGEST_LINE_ERROR
    narrow = kernel.Chase(case.goal, STILL, here, np.zeros(7), np.array([0.02] + [1e-4] * 6))
    assert case.intercept(narrow, stretched.copy()) == np.inf


@pytest.mark.parametrize("lead", [0.0, 30.0])
def test_a_target_is_expected_where_its_fading_motion_leads(robot, lead):
    case = Case(robot, lambda chain: chain.forward(IN))
    twist = np.array([1e-3, -2e-3, 5e-4, 2e-3, 1e-3, -3e-3])
    move_target_ahead(case.packed, case.chase(IN, motion=twist), lead, case.work)
    row = 7 + len(case.packed.joints)
    seen = case.work[row].copy()
    way = kernel.FADING_STEPS * (1.0 - np.exp(-lead / kernel.FADING_STEPS))
    ahead = RigidTransform.exp(way * twist).matrix @ case.goal.target
    relate(case.packed.ends[0], ahead, case.work, row)
    assert seen == pytest.approx(case.work[row], abs=1e-12)


def test_the_motion_of_a_target_fades(robot):
    case = Case(robot, lambda chain: chain.forward(IN))
    chase = case.chase(IN, motion=np.array([1e-3, 0.0, 0.0, 0.0, 0.0, 0.0]))
    row, seen = 7 + len(case.packed.joints), []
    for lead in (1000.0, 2000.0):
        move_target_ahead(case.packed, chase, lead, case.work)
        seen.append(case.work[row].copy())
    assert seen[0] == pytest.approx(seen[1], abs=1e-4)


def expected(case, twist, steps):
    way = kernel.FADING_STEPS * (1.0 - np.exp(-steps / kernel.FADING_STEPS))
    return RigidTransform.exp(way * twist).matrix @ case.goal.target


def test_a_detour_leads_to_where_the_target_will_be(robot):
    case = Case(robot, drawn_in)
    twist = np.array([0.0, 1e-3, 0.0, 0.0, 0.0, 0.0])
    found, there = case.find(STOPPED, motion=twist)
    assert found
    steps = np.abs(there - STOPPED).max() / 0.02
    assert steps > 20.0
    place = case.chain.forward(there).translation
    left = np.linalg.norm(place - expected(case, twist, steps)[:3, 3])
    assert left <= 1e-3 * kernel.SAME_PLACE_STEPS
    assert left < 0.5 * np.linalg.norm(place - case.goal.target[:3, 3])


def test_a_target_that_is_not_in_reach_yet_is_awaited(robot):
    twist = np.array([-1e-2, 0.0, 0.0, 0.0, 0.0, 0.0])
    way = kernel.FADING_STEPS * (1.0 - np.exp(-kernel.LEAD_STEPS / kernel.FADING_STEPS))
    back = RigidTransform.exp(-way * twist).matrix
    later = back @ drawn_in(robot("panda")).matrix
    case = Case(robot, lambda chain: RigidTransform.from_matrix(later))
    assert not case.find(STOPPED)[0]
    assert case.find(STOPPED, motion=twist)[0]


def test_a_target_that_seems_to_leave_is_gone_to_where_it_is(robot):
    case = Case(robot, drawn_in)
    found, there = case.find(STOPPED, motion=np.array([0.1, 0.0, 0.1, 0.0, 0.0, 0.0]))
    assert found
    assert case.chain.forward(there).matrix == pytest.approx(case.goal.target, abs=1e-5)


def test_two_postures_that_cost_alike_are_not_exchanged_on_the_way(robot):
    """The one to which the last step led is kept, although another is cheaper by up to a fifth."""
    rng, chain, kept = np.random.default_rng(4), robot("panda"), 0
    for _ in range(sample(4)):
        here, way = rng.uniform(chain.lower, chain.upper, (2, 7))
        goal = here + 0.35 * (way - here)
        case = Case(robot, lambda chain, goal=goal: chain.forward(goal))
        found, cheapest = case.find(here, motion=SLOWLY)
        if not found:
            continue
        least = case.intercept(case.chase(here), cheapest.copy())
        for _ in range(20):
            other = rng.uniform(chain.lower, chain.upper)
            cost = case.intercept(case.chase(here), other)
            alike = least * 1.02 < cost < least * 0.98 / kernel.FAVOURED_COST
            if alike and np.abs(other - cheapest).max() > 0.2:
                last = (other - here) / kernel.ONWARD_STEPS
                assert case.find(here, motion=SLOWLY, last=last)[1] == pytest.approx(
                    other, abs=0.05
                )
                kept += 1
    assert kept > 0


def test_a_detour_ends(robot):
    """It takes 158 steps, and no end where keeping the tip near may delay it."""
    rng, chain = np.random.default_rng(0), robot("panda")
    q = before = rng.uniform(chain.lower, chain.upper)
    target = chain.forward(q + 0.35 * (rng.uniform(chain.lower, chain.upper) - q))
    for _ in range(sample(200)):
        step = track(chain, target, q, 0.02, previous=before)
        q, before = step.positions, q
        if step.success:
            return
    assert IS_PLAIN, step


def test_a_step_does_not_delay_the_arrival(robot):
    case = Case(robot, drawn_in)
    there, bound = STOPPED + np.array([0.5, -0.3, 0.1, -0.6, 0.0, 0.0, 0.6]), np.full(7, 0.02)
    pace = Pace(STOPPED, STOPPED, bound, 60)
    case.work[:7, BOUND_LOWER], case.work[:7, BOUND_UPPER] = STOPPED - 0.02, STOPPED + 0.02
    keep_pace(pace, there, 30.0, case.work)
    low, high = case.work[:7, BOUND_LOWER] - STOPPED, case.work[:7, BOUND_UPPER] - STOPPED
    assert low == pytest.approx([-0.02, -0.02, -0.02, -0.02, -0.02, -0.02, 0.02])
    assert high == pytest.approx([0.02, 0.02, 0.02, -0.02, 0.02, 0.02, 0.02])


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
