"""What RViz is told to draw."""

from pathlib import Path

import numpy as np
import pytest
from visualization_msgs.msg import Marker

from basis_ik.model.robot import RobotModel
from basis_ik.motion.goals import JointGoal, PointGoal, PoseGoal, Ray
from basis_ik.ros.marker_array import BLUE, NAMESPACES, RED, View, marker_array
from basis_ik.transforms.rigid import RigidTransform

URDF = Path(__file__).parents[2] / "urdf"
Q = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])


@pytest.fixture(scope="module")
def chain():
    return RobotModel.from_urdf((URDF / "ur5e.urdf").read_text()).chain()


def drawn(view):
    """The markers that are added, by namespace."""
    message = marker_array(view, 1.5)
    assert [m.ns for m in message.markers] == list(NAMESPACES)  # always, so that names are stable
    assert all(m.id == 0 and m.action in (Marker.ADD, Marker.DELETE) for m in message.markers)
    return {m.ns: m for m in message.markers if m.action == Marker.ADD}


def at(point):
    return np.array([point.x, point.y, point.z])


def color(c):
    return tuple(np.round([c.r, c.g, c.b, c.a], 6))


def test_without_a_target_the_arm_alone_is_drawn(chain):
    assert set(drawn(View(chain, Q))) == {"tip", "chain", "joints", "reach"}


def test_the_frame_is_the_root_and_moves_with_it(chain):
    for marker in marker_array(View(chain, Q), 1.5).markers:
        assert marker.header.frame_id == "base_link"
        assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)
        assert marker.frame_locked
        assert (marker.lifetime.sec, marker.lifetime.nanosec) == (1, 500_000_000)


def test_the_chain_runs_through_the_links_to_the_tip(chain):
    markers = drawn(View(chain, Q))
    tip = chain.forward(Q)
    points = [at(p) for p in markers["chain"].points]
    assert np.allclose(points[0], 0.0)
    assert np.allclose(points[-1], tip.translation)
    assert np.allclose(at(markers["tip"].pose.position), tip.translation)
    assert len(markers["tip"].points) == len(markers["tip"].colors) == 6
    assert len(markers["joints"].points) == len(markers["joints"].colors) == 6


def test_the_reach_is_three_thin_great_circles_around_the_root(chain):
    rings = drawn(View(chain, Q))["reach"]
    assert rings.type == Marker.LINE_LIST
    assert rings.scale.x < 0.01 * chain.reach
    assert np.allclose(at(rings.pose.position), 0.0)
    points = np.array([at(p) for p in rings.points])
    assert np.allclose(np.linalg.norm(points, axis=1), chain.reach)
    planes = np.split(points, 3)
    assert [int(np.argmin(np.ptp(plane, axis=0))) for plane in planes] == [2, 0, 1]
    for plane in planes:  # closed: each point ends one line and begins the next
        assert np.allclose(plane[1::2], np.roll(plane[0::2], -1, axis=0), atol=1e-12)
        assert np.ptp(plane, axis=0).min() < 1e-12


@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_a_joint_at_a_limit_is_red(chain, bound):
    q = Q.copy()
    q[2] = getattr(chain, bound)[2]
    colors = [color(c) for c in drawn(View(chain, q))["joints"].colors]
    red, blue = (tuple(np.round(np.float32(c), 6)) for c in (RED, BLUE))
    assert np.allclose(colors, [blue, blue, red, blue, blue, blue], atol=1e-5)


def test_a_continuous_joint_is_never_red():
    text = (URDF / "ur5e.urdf").read_text().replace('type="revolute"', 'type="continuous"')
    turning = RobotModel.from_urdf(text).chain()
    assert turning.continuous.all()
    assert all(c.r < 0.5 for c in drawn(View(turning, Q))["joints"].colors)


def test_a_reached_target_has_no_miss(chain):
    target = chain.forward(Q)
    markers = drawn(View(chain, Q, PoseGoal(target), "reached", reached=True))
    assert "miss" not in markers
    assert markers["verdict"].text == "reached"
    assert markers["verdict"].color.g > markers["verdict"].color.r
    assert np.allclose(at(markers["target"].pose.position), target.translation)


def test_a_missed_target_shows_by_how_much(chain):
    target = RigidTransform.from_rpy(0.1, 0.2, 0.3, [2.0, 0.0, 0.5])
    markers = drawn(View(chain, Q, PoseGoal(target), "too far by 1 m"))
    start, end = (at(p) for p in markers["miss"].points)
    assert np.allclose(start, chain.forward(Q).translation)
    assert np.allclose(end, target.translation)
    assert markers["verdict"].color.r > markers["verdict"].color.g
    o = markers["target"].pose.orientation
    assert np.allclose([o.x, o.y, o.z, o.w], target.as_quaternion_xyzw())


def test_a_pointing_ray_ends_as_far_as_the_point(chain):
    tip = chain.forward(Q)
    point = tip.translation + tip.rotation @ [0.1, 0.6, 0.0]
    goal = PointGoal(tuple(point), Ray(axis=(2.0, 0.0, 0.0), origin=(0.1, 0.0, 0.0)))
    markers = drawn(View(chain, Q, goal))
    start, end = (at(p) for p in markers["ray"].points)
    assert np.allclose(start, tip.translation + tip.rotation @ [0.1, 0.0, 0.0])
    assert np.allclose(end, tip.translation + tip.rotation @ [0.7, 0.0, 0.0])
    assert np.allclose([at(p) for p in markers["miss"].points], [end, point])
    assert markers["target"].type == Marker.SPHERE
    assert np.allclose(at(markers["target"].pose.position), point)


def test_of_joint_positions_no_target_is_drawn(chain):
    assert set(drawn(View(chain, Q, JointGoal(tuple(Q))))) == set(drawn(View(chain, Q)))


def test_what_is_gone_is_deleted(chain):
    before = drawn(View(chain, Q, PoseGoal(chain.forward(Q)), "x"))
    gone = set(before) - set(drawn(View(chain, Q)))
    assert gone == {"target", "miss", "verdict"}
    actions = {m.ns: m.action for m in marker_array(View(chain, Q), 1.0).markers}
    assert all(actions[ns] == Marker.DELETE for ns in gone)


def goals(chain):
    point = tuple(chain.forward(Q).apply([0.0, 0.0, 1.0]))
    yield PoseGoal(chain.forward(Q))
    yield PoseGoal(RigidTransform.from_rpy(0.1, 0.2, 0.3, [0.3, 0.1, -0.4]))
    yield PoseGoal(RigidTransform.from_rpy(0.1, 0.2, 0.3, [0.3, 0.1, 2.0]))
    yield PointGoal(point, Ray((1.0, 0.0, 0.0)))


def test_every_text_can_be_read(chain):
    """RViz makes its spaces as wide as scale.x says, and as for letters of 1 m if it is zero."""
    for goal in goals(chain):
        texts = [m for m in drawn(View(chain, Q, goal, "too far")).values() if m.text]
        assert [m.ns for m in texts] == ["verdict"]
        for text in texts:
            assert text.type == Marker.TEXT_VIEW_FACING
            assert text.scale.z > 0.0
            assert text.scale.x == pytest.approx(0.5 * text.scale.z)


def test_the_verdict_is_above_the_target_and_above_every_link(chain):
    highest = max(pose.translation[2] for pose in chain.link_poses(Q).values())
    for goal in goals(chain):
        verdict = drawn(View(chain, Q, goal, "too far"))["verdict"]
        place, half = at(verdict.pose.position), 0.5 * verdict.scale.z
        is_pose = isinstance(goal, PoseGoal)
        wanted = goal.root_T_target.translation if is_pose else goal.root_point
        assert np.allclose(place[:2], wanted[:2])
        assert place[2] - half > max(highest, wanted[2])
