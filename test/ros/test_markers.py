# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Markers: only with a subscriber, and in step with the arm."""

from types import SimpleNamespace

import numpy as np
import pytest
from robot_bench import HOME, URDF, down
from visualization_msgs.msg import Marker

from basis_ik.arm.chain_state import ChainState, Event
from basis_ik.arm.goals import JointGoal, PoseGoal
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.rviz.markers import SHOWN_PASSES, Markers, stages_of
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform

CHAIN = RobotModel.from_urdf(URDF).chain()


class Stub:
    """A node and a publisher in one: records what is published, for a number of viewers."""

    def __init__(self, viewers):
        self.viewers, self.published, self.destroyed = viewers, [], 0

    def create_publisher(self, *_):
        return self

    def create_timer(self, _, callback, clock):
        self.tick = callback

    def get_subscription_count(self):
        return self.viewers

    def publish(self, message):
        self.published.append(message)


def controller(arm):
    return SimpleNamespace(arm=arm, resolve=lambda name: f"~/{name}")


class Arm(SimpleNamespace):
    """A stand-in for an arm without a preview."""

    preview_text, rehearsal = "", None

    @property
    def shown(self):
        return self.pipeline.goal, self.pipeline.solution


def arm_at(chain, positions, goal=None, name=""):
    return Arm(
        name=name,
        chain=chain,
        tool=SimpleNamespace(chain=chain),
        measured=SimpleNamespace(positions=lambda: np.array(positions)),
        model=SimpleNamespace(visuals_of=lambda chain, beside: ()),
        other_joints=(),
        others=SimpleNamespace(positions=lambda: np.zeros(0)),
        pipeline=SimpleNamespace(goal=goal, solution=None),
        targets=SimpleNamespace(refusal=None),
        state=ChainState(),
        problem="",
        hindrance="",
        held_by=None,
        near=lambda within: (),
    )


@pytest.mark.parametrize(("viewers", "messages"), [(0, 0), (1, 1)])
def test_without_a_subscriber_nothing_is_computed(viewers, messages):
    node = Stub(viewers)
    Markers(node, controller(arm_at(CHAIN, HOME)), 10.0)
    node.tick()
    assert len(node.published) == messages


def logged(node):
    return {m.ns: m for m in node.published[-1].markers}["state"].text


def test_the_text_has_following_and_the_name_of_the_arm():
    node, arm = Stub(1), arm_at(CHAIN, HOME, name="left")
    for event in (Event.CONFIGURE, Event.ACTIVATE, Event.MOVE):
        arm.state.handle(event)
    Markers(node, controller(arm), 10.0)
    for text in ("on the way", "on the way", "following", "following"):
        arm.pipeline.solution = solve(CHAIN, down(0.40, 0.20, 0.40), SEED)
        node.tick()
        assert logged(node) == f"left: {text}"
    node.tick()
    assert logged(node) == "left: on the way"


def test_the_ghost_holds_its_fingers_as_the_arm_does():
    """It is made anew when they have moved, and only then."""
    node, arm, made = Stub(1), arm_at(CHAIN, HOME), []
    opening = [np.nan]
    arm.other_joints, arm.others = ("finger",), SimpleNamespace(positions=lambda: np.array(opening))
    arm.model.visuals_of = lambda chain, beside: made.append(beside) or ()
    Markers(node, controller(arm), 10.0)
    for opening[0] in (np.nan, 0.0, 0.02, 0.02):
        node.tick()
    assert made == [{"finger": 0.0}, {"finger": 0.02}]


# The passes of FABRIK ---------------------------------------------------------------------------

SEED = (0.3, -1.2, 1.4, -1.0, -1.2, 0.5)


def arm_solved(chain, target, *, solver="fabrik", position_only=False):
    """An arm whose pipeline has solved for a target."""
    arm = arm_at(chain, SEED, PoseGoal(target, position_only=position_only))
    arm.pipeline.position_tolerance = arm.pipeline.orientation_tolerance = 1e-5
    arm.pipeline.solution = solve(
        chain,
        target,
        SEED,
        solver=solver,
        position_only=position_only,
        position_tolerance=1e-5,
        orientation_tolerance=1e-5,
    )
    return arm


def lengths(points):
    return np.linalg.norm(np.diff(points, axis=0), axis=1)


@pytest.mark.parametrize("position_only", [False, True])
def test_each_pass_is_traced_from_the_seed_of_the_solution(position_only):
    target = down(0.40, 0.20, 0.40)
    arm = arm_solved(CHAIN, target, position_only=position_only)
    stages = stages_of(arm)
    count = arm.pipeline.solution.passes.count
    assert count > 0
    assert len(stages) == 1 + 2 * min(count, SHOWN_PASSES)
    assert [stage.name for stage in stages[:3]] == ["start", "backward", "forward"]
    poses = CHAIN.link_poses(np.array(SEED))
    assert np.allclose(stages[0].points[-1], poses[CHAIN.tip].translation)
    for stage in stages:  # the bones keep their lengths, whichever end is pulled
        assert np.allclose(lengths(stage.points), lengths(stages[0].points))
    for stage in stages[1::2]:
        assert np.allclose(stage.points[-1], target.translation, atol=1e-9)
    for stage in stages[2::2]:
        assert np.allclose(stage.points[0], stages[0].points[0], atol=1e-9)


def test_passes_without_success_end():
    stages = stages_of(arm_solved(CHAIN, down(2.0, 0.0, 0.4)))
    assert len(stages) <= 1 + 2 * SHOWN_PASSES


def test_other_solutions_have_no_passes():
    assert stages_of(arm_solved(CHAIN, down(0.40, 0.20, 0.40), solver="descent")) == ()
    assert stages_of(arm_at(CHAIN, SEED, JointGoal((0.1,) * 6))) == ()
    assert stages_of(arm_at(CHAIN, SEED, PoseGoal(RigidTransform.identity()))) == ()


def test_passes_are_computed_once_for_each_solution():
    node = Stub(1)
    arm = arm_solved(CHAIN, down(0.40, 0.20, 0.40))
    Markers(node, controller(arm), 10.0)
    node.tick()
    first = node.published[-1]
    arm.pipeline.solution = arm.pipeline.solution._replace()  # equal, and another
    node.tick()
    arm.pipeline.solution = None
    node.tick()
    now = [{m.ns: m for m in each.markers}["passes"] for each in (first, *node.published[1:])]
    assert now[0].points == now[1].points
    assert len(now[0].points) == len(now[0].colors) > 0
    assert (now[0].action, now[2].action) == (Marker.ADD, Marker.DELETE)
