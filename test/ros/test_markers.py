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

"""Markers: only with a subscriber, and in step with the arm."""

from types import SimpleNamespace

import numpy as np
import pytest
from robot_bench import down, running
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.motion.chain_state import ChainState, Event
from basis_ik.motion.goals import JointGoal, PoseGoal
from basis_ik.pose.solve import solve
from basis_ik.ros.rviz.markers import SHOWN_PASSES, Markers, stages_of
from basis_ik.transforms.rigid import RigidTransform


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain, "-p", "markers_rate:=30.0") as robot:
        yield robot


@pytest.fixture(scope="module")
def seen(robot):
    """The markers that are shown now, by namespace; grows newer by itself."""
    shown = {}

    def receive(message):
        now = {m.ns: m for m in message.markers if m.action == Marker.ADD}
        shown.update(now)
        for gone in set(shown) - set(now):
            del shown[gone]

    robot.node.create_subscription(MarkerArray, "basis_ik/markers", receive, 1)
    return shown


def xyz(point):
    return np.array([point.x, point.y, point.z])


def test_without_a_target_the_text_says_so(robot, seen):
    robot.wait(lambda: "state" in seen and seen["state"].text == "no target", "markers come")
    assert "target" not in seen
    assert seen["state"].header.frame_id == "base_link"


def test_a_target_and_its_arrival_are_shown(robot, seen):
    target = down(0.40, 0.20, 0.40)
    robot.send("base_link", target)
    robot.wait(lambda: {"ghost", "target"} <= set(seen), "the ghost is shown")
    assert seen["state"].text == "on the way"
    robot.wait(lambda: seen["state"].text == "reached", "the arm is there")
    assert np.allclose(robot.tip().translation, target.translation, atol=0.02)
    assert np.allclose(xyz(seen["target"].pose.position), target.translation)
    assert not {"miss", "ghost"} & set(seen)


def test_a_miss_is_shown(robot, seen):
    robot.send("base_link", down(2.0, 0.0, 0.4))
    robot.wait(lambda: "miss" in seen, "a miss is shown")
    assert np.allclose(xyz(seen["miss"].points[-1]), [2.0, 0.0, 0.4])
    as_near = "as near as it gets: too far by"
    robot.wait(lambda: seen["state"].text.startswith(as_near), "the arm is as near as it gets")


def test_a_point_to_look_at_is_shown_with_the_ray(robot, seen):
    robot.look("base_link", (0.9, -0.5, 0.7))
    robot.wait(lambda: "ray" in seen, "a ray is shown")
    assert np.allclose([xyz(p) for p in seen["ray"].points][1], [0.9, -0.5, 0.7], atol=1e-4)


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


def arm_at(chain, positions, goal=None, name=""):
    return SimpleNamespace(
        name=name,
        chain=chain,
        tool=SimpleNamespace(chain=chain),
        resolve=lambda name: f"~/{name}",
        measured=SimpleNamespace(positions=lambda: np.array(positions)),
        model=SimpleNamespace(visuals_of=lambda chain: ()),
        pipeline=SimpleNamespace(goal=goal, solution=None),
        targets=SimpleNamespace(last_refusal=None),
        state=ChainState(),
        problem="",
    )


@pytest.mark.parametrize(("viewers", "messages"), [(0, 0), (1, 1)])
def test_without_a_subscriber_nothing_is_computed(robot, viewers, messages):
    node = Stub(viewers)
    Markers(node, arm_at(robot.chain, robot.positions), 10.0)
    node.tick()
    assert len(node.published) == messages


def logged(node):
    return {m.ns: m for m in node.published[-1].markers}["state"].text


def test_the_text_has_following_and_the_name_of_the_arm(robot):
    node, arm = Stub(1), arm_at(robot.chain, robot.positions, name="left")
    for event in (Event.CONFIGURE, Event.ACTIVATE, Event.MOVE):
        arm.state.handle(event)
    Markers(node, arm, 10.0)
    for text in ("on the way", "on the way", "following", "following"):
        arm.pipeline.solution = solve(robot.chain, down(0.40, 0.20, 0.40), SEED)
        node.tick()
        assert logged(node) == f"left: {text}"
    node.tick()
    assert logged(node) == "left: on the way"


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
def test_each_pass_is_traced_from_the_seed_of_the_solution(robot, position_only):
    target = down(0.40, 0.20, 0.40)
    arm = arm_solved(robot.chain, target, position_only=position_only)
    stages = stages_of(arm)
    count = arm.pipeline.solution.passes.count
    assert count > 0
    assert len(stages) == 1 + 2 * min(count, SHOWN_PASSES)
    assert [stage.name for stage in stages[:3]] == ["start", "backward", "forward"]
    poses = robot.chain.link_poses(np.array(SEED))
    assert np.allclose(stages[0].points[-1], poses[robot.chain.tip].translation)
    for stage in stages:  # the bones keep their lengths, whichever end is pulled
        assert np.allclose(lengths(stage.points), lengths(stages[0].points))
    for stage in stages[1::2]:
        assert np.allclose(stage.points[-1], target.translation, atol=1e-9)
    for stage in stages[2::2]:
        assert np.allclose(stage.points[0], stages[0].points[0], atol=1e-9)


def test_passes_without_success_end(robot):
    stages = stages_of(arm_solved(robot.chain, down(2.0, 0.0, 0.4)))
    assert len(stages) <= 1 + 2 * SHOWN_PASSES


def test_other_solutions_have_no_passes(robot):
    assert stages_of(arm_solved(robot.chain, down(0.40, 0.20, 0.40), solver="descent")) == ()
    assert stages_of(arm_at(robot.chain, SEED, JointGoal((0.1,) * 6))) == ()
    assert stages_of(arm_at(robot.chain, SEED, PoseGoal(RigidTransform.identity()))) == ()


def test_passes_are_computed_once_for_each_solution(robot):
    node = Stub(1)
    arm = arm_solved(robot.chain, down(0.40, 0.20, 0.40))
    Markers(node, arm, 10.0)
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
