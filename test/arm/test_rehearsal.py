# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion that is rehearsed: as long as the real one, to the same place, and asked for in time."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from shipped_arms import HOMES, chain_of
from test_arm import BASE, HOME, NEAR, SETTINGS, World, positions

from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.chain_state import State
from basis_ik.arm.goals import JointGoal, PoseGoal
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.arm.preview import Preview, rehearse
from basis_ik.arm.target_input import FrameStamp
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.transforms.rigid import RigidTransform

# The numbers themselves: with those of the module no change of them would be seen.
STEP, LONGEST, AGAIN, LASTS, MOVED = 0.05, 60.0, 0.25, 60.0, 0.01
CHAIN, START = chain_of("ur5e"), HOMES["ur5e"]
GOALS = {
    "pose": PoseGoal(NEAR),
    "line": PoseGoal(NEAR, straight=True),
    "joints": JointGoal(tuple(START + 0.3)),
    "out of reach": PoseGoal(RigidTransform.from_rpy(np.pi, 0.0, 0.0, [1.5, 0.0, 0.4])),
}


def pipeline(period=0.01, scaling=1.0):
    pipe = Pipeline(CHAIN, period=period, caps=SpeedCaps(CHAIN))
    pipe.velocity_scaling = pipe.acceleration_scaling = scaling
    return pipe


def rehearsed(pipe, goal, scaling=1.0):
    caps = SpeedCaps(CHAIN).twin()
    twin = pipe.twin(STEP, caps)
    twin.velocity_scaling = twin.acceleration_scaling = scaling
    return rehearse(twin, caps, None, goal, START)


@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
def test_a_rehearsal_is_as_the_motion(goal):
    pipe, count = pipeline(), 0
    shown = rehearsed(pipe, goal)
    assert pipe.phase is Phase.IDLE, "it is not the one that is rehearsed"
    pipe.set_goal(goal, START)
    while pipe.phase is Phase.MOVING:
        last, count = pipe.step(START), count + 1
    assert shown.duration == pytest.approx(0.01 * count, abs=2 * STEP)
    assert shown.reached == (goal is not GOALS["out of reach"])
    assert str(shown) == f"{shown.duration:.1f} s, " + (
        "reached" if shown.reached else str(pipe.solution.reason)
    )
    np.testing.assert_allclose(shown.way[-1], last, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(shown.way[0], START)
    np.testing.assert_allclose(shown.seed, last, rtol=0.0, atol=1e-5)


def test_a_long_motion_is_not_rehearsed_to_its_end():
    shown = rehearsed(pipeline(), GOALS["joints"], scaling=1e-3)
    assert shown.duration == math.inf
    assert len(shown.way) == LONGEST / STEP + 1
    assert str(shown) == "long, reached"


def test_a_tool_is_rehearsed():
    pipe = pipeline()
    tool = CHAIN.with_tool("tcp", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, 0.1]))
    pipe.change_tool(tool)
    shown = rehearsed(pipe, GOALS["pose"])
    np.testing.assert_allclose(tool.forward(shown.way[-1]).matrix, NEAR.matrix, atol=1e-6)


def another(branch):
    """Return the nearest positions of another branch at the same pose."""
    found = (each.positions for each in solve_all(CHAIN, NEAR, branch))
    return next(each for each in found if np.abs(each - branch).max() > 0.5)


def test_a_seed_leads_to_its_own_branch():
    pipe = pipeline()
    pipe.set_goal(GOALS["pose"], START)
    plain = pipe.solution.positions
    other = another(plain)
    pipe.rest()
    pipe.set_goal(GOALS["pose"], START, seed=other)
    np.testing.assert_allclose(pipe.solution.positions, other, rtol=0.0, atol=1e-9)


# When it is rehearsed again ---------------------------------------------------------------------


class Asked:
    """What a preview has asked for, and when it is done."""

    def __init__(self):
        self.goals, self.done = [], True
        self.preview = Preview(self.submit)
        self.target = SimpleNamespace(goal="a")

    def submit(self, work):
        return SimpleNamespace(done=lambda: self.done, result=work)

    def update(self, now, *, around="", start=START):
        def work(goal, start):
            self.goals.append(goal)
            return lambda: SimpleNamespace(goal=goal, way=[start])

        self.preview.update(self.target, start, around, now, work)

    def why_not(self, now, start=START):
        return self.preview.why_not(self.target, start, now)


@pytest.fixture
def asked():
    return Asked()


def test_what_does_not_change_is_rehearsed_once(asked):
    for k in range(100):
        asked.update(0.01 * k)
    assert asked.goals == ["a"]
    assert asked.preview.rehearsal.goal == "a"


def test_a_new_target_is_rehearsed_at_once(asked):
    asked.update(0.0)
    asked.target = SimpleNamespace(goal="b")
    asked.update(0.01)
    assert asked.goals == ["a", "b"]
    assert asked.preview.rehearsal.goal == "a", "it is shown until the next is ready"
    assert asked.why_not(0.01).startswith("the preview is not ready yet")
    asked.update(0.02)
    assert asked.why_not(0.02) == ""


@pytest.mark.parametrize("change", ["goal", "around", "start"])
def test_what_changes_all_the_time_is_rehearsed_now_and_then(asked, change):
    for k in range(101):
        asked.target.goal = k if change == "goal" else "a"
        around, start = k if change == "around" else "", START + (k * (change == "start"))
        asked.update(0.01 * k, around=around, start=start)
    assert len(asked.goals) == pytest.approx(1.0 / AGAIN, abs=1)


def test_a_rehearsal_that_takes_long_is_not_asked_for_twice(asked):
    asked.done = False
    for k in range(100):
        asked.update(0.1 * k, around=k)
    assert asked.goals == ["a"]
    asked.preview.clear()
    asked.done = True
    asked.update(20.0)
    assert asked.preview.rehearsal is None, "one of a target that is dropped is not used"


def test_a_preview_goes_while_it_is_new_and_the_arm_stays(asked):
    assert asked.why_not(0.0).startswith("the preview is not ready yet")
    asked.update(0.0)
    asked.update(0.1)
    assert asked.why_not(LASTS, START + 0.9 * MOVED) == ""
    assert asked.why_not(LASTS + 0.1) == "the preview is older than 60 s: send the target again"
    assert asked.why_not(1.0, START + 1.1 * MOVED).startswith("the arm has moved since")


# An arm -----------------------------------------------------------------------------------------


@pytest.fixture
def world():
    world = World(positions)
    world.until(State.READY)
    world.arm.settings = SETTINGS._replace(follow_drag="confirm")
    return world


def steps(world, count=10):
    return [each for _ in range(count) for each in world.step()]


def test_the_same_inputs_lead_to_the_same_commands_by_a_go():
    runs = []
    for _ in range(2):
        world = World(positions)
        world.until(State.READY)
        world.arm.settings = SETTINGS._replace(follow_drag="confirm")
        world.arm.take_pose(BASE, NEAR, world.now)
        assert steps(world) == []
        assert world.arm.go(world.now) is None
        world.until(State.ARRIVED)
        runs.append([(when, each.values.tobytes()) for when, each in world.sent])
    assert runs[0] == runs[1]
    assert len(runs[0]) > 50


def test_what_was_shown_is_done_whatever_the_arm_would_choose_now(world):
    """The branch that the ghost had is kept, even if a search from here ended in another."""
    world.arm.take_pose(BASE, NEAR, world.now)
    steps(world)
    found = world.arm.preview.rehearsal
    other = another(found.seed)
    world.arm.preview.rehearsal = found._replace(seed=other)
    assert world.arm.go(world.now) is None
    world.until(State.ARRIVED)
    np.testing.assert_allclose(world.place, other, rtol=0.0, atol=1e-6)
    world.arm.settings = SETTINGS
    world.arm.go_to(HOME)
    world.until(State.ARRIVED)
    world.arm.take_pose(BASE, NEAR, world.now)
    world.until(State.ARRIVED)
    np.testing.assert_allclose(world.place, found.seed, rtol=0.0, atol=1e-6)


def test_a_frame_that_is_gone_is_noticed_when_it_goes(world):
    world.arm.take_pose(FrameStamp("table", 0, 0), NEAR, world.now)
    steps(world)
    del world.frames["table"]
    assert world.arm.go(world.now).startswith("NO_TRANSFORM: ")
    assert steps(world) == []


def test_what_is_no_single_target_does_not_wait(world):
    world.arm.take_pose(BASE, NEAR, world.now)
    steps(world)
    world.arm.take_twist(BASE, (0.1, 0.0, 0.0), (0.0, 0.0, 0.0), world.now)
    assert steps(world) != []
    assert world.arm.go(world.now) == "there is no preview: nothing waits to go"


def test_a_deactivated_arm_shows_nothing(world):
    world.arm.take_pose(BASE, NEAR, world.now)
    steps(world)
    assert world.arm.preview_text.startswith("preview: ")
    world.arm.deactivate()
    assert world.arm.preview_text == ""
    assert world.arm.rehearsal is None
    assert world.arm.shown == (None, None)
    assert world.arm.go(world.now) == "not active"
