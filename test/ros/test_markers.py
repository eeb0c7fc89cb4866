"""Markers: only for who looks, and true to what the arm does."""

from types import SimpleNamespace

import numpy as np
import pytest
from robot_bench import down, running
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.motion.goals import JointGoal
from basis_ik.ros.markers import Markers, view_of


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain, "-p", "markers_rate:=30.0") as robot:
        yield robot


@pytest.fixture(scope="module")
def seen(robot):
    """The markers that are shown now, by namespace; grows newer by itself."""
    shown = {}

    def hear(message):
        shown.clear()
        shown.update({m.ns: m for m in message.markers if m.action == Marker.ADD})

    robot.node.create_subscription(MarkerArray, "basis_ik/markers", hear, 1)
    return shown


def xyz(point):
    return np.array([point.x, point.y, point.z])


def test_before_any_target_the_arm_is_shown_where_it_is(robot, seen):
    robot.wait(lambda: "tip" in seen, "markers come")
    assert "target" not in seen
    tip = robot.tip().translation
    robot.wait(lambda: np.allclose(xyz(seen["tip"].pose.position), tip), "the tip is shown")
    assert seen["tip"].header.frame_id == "base_link"


def test_a_target_is_shown_and_that_it_is_reached(robot, seen):
    target = down(0.40, 0.20, 0.40)
    robot.send("base_link", target)

    def shown():
        now = dict(seen)
        return "verdict" in now and now["verdict"].text == "reached" and now["target"]

    robot.wait(shown, "the verdict is shown")
    assert np.allclose(xyz(seen["target"].pose.position), target.translation)
    assert "miss" not in seen


def test_a_miss_is_shown(robot, seen):
    robot.send("base_link", down(2.0, 0.0, 0.4))
    robot.wait(lambda: "miss" in seen, "a miss is shown")
    assert seen["verdict"].text.startswith("too far by")
    ends = [xyz(p) for p in seen["miss"].points]
    assert np.allclose(ends[1], [2.0, 0.0, 0.4])


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


def arm_at(chain, positions, goal=None):
    return SimpleNamespace(
        chain=chain,
        resolve=lambda name: f"~/{name}",
        measured=SimpleNamespace(positions=lambda: np.array(positions)),
        pipeline=SimpleNamespace(goal=goal, solution=None),
    )


@pytest.mark.parametrize(("viewers", "messages"), [(0, 0), (1, 1)])
def test_nothing_is_made_for_nobody(robot, viewers, messages):
    node = Stub(viewers)
    Markers(node, arm_at(robot.chain, robot.positions), 10.0)
    node.tick()
    assert len(node.published) == messages


def test_an_arm_not_yet_heard_of_is_not_shown(robot):
    assert view_of(arm_at(robot.chain, np.full(6, np.nan))) is None


def test_on_the_way_to_joint_positions_these_are_shown(robot):
    goal = JointGoal((0.1,) * 6)
    view = view_of(arm_at(robot.chain, np.full(6, np.nan), goal))
    assert view.positions.tolist() == [0.1] * 6
