"""What is shown of an arm."""

from pathlib import Path

import numpy as np
import pytest

from basis_ik.model.robot import RobotModel
from basis_ik.motion.goals import JointGoal, PointGoal, PoseGoal, Ray
from basis_ik.solvers.passes import Stage
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.arm import ArmView, arm_scene, extent
from basis_ik.view.shapes import BLUE, GREEN, GREY, LETTER, RED, Ball, Lines

URDF = Path(__file__).parents[2] / "urdf"
Q = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])


@pytest.fixture(scope="module")
def chain():
    return RobotModel.from_urdf((URDF / "ur5e.urdf").read_text()).chain()


def shown(view):
    """The shapes, by name."""
    return {shape.name: shape for shape in arm_scene(view)}


def test_each_name_and_number_is_there_once_and_in_the_root_s_frame(chain):
    q = np.where(np.arange(6) < 2, chain.upper, Q)
    far = RigidTransform.from_rpy(0.1, 0.2, 0.3, [2.0, 0.0, 0.5])
    scene = arm_scene(ArmView(chain, q, PoseGoal(far), "too far by 1 m"))
    assert len({(shape.name, shape.number) for shape in scene}) == len(scene)
    assert {shape.frame for shape in scene} == {"base_link"}


def test_without_a_target_the_arm_alone_is_shown(chain):
    assert set(shown(ArmView(chain, Q))) == {"tip", "chain", "reach"}


def test_the_chain_runs_through_the_links_to_the_tip(chain):
    shapes = shown(ArmView(chain, Q))
    tip = chain.forward(Q)
    assert np.allclose(shapes["chain"].ends[0], 0.0)
    assert np.allclose(shapes["chain"].ends[-1], tip.translation)
    assert np.allclose(shapes["tip"].pose.matrix, tip.matrix)


def test_the_reach_is_thin_lines_around_the_root(chain):
    rings = shown(ArmView(chain, Q))["reach"]
    assert rings.width < 0.01 * chain.reach
    assert np.allclose(np.linalg.norm(rings.ends, axis=1), chain.reach)


@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_a_joint_at_a_limit_is_marked(chain, bound):
    q = Q.copy()
    q[2] = getattr(chain, bound)[2]
    (mark,) = (shape for shape in arm_scene(ArmView(chain, q)) if shape.name == "limits")
    assert isinstance(mark, Ball)
    assert np.allclose(mark.pose.translation, chain.link_poses(q)["forearm_link"].translation)


def test_a_continuous_joint_is_never_marked():
    text = (URDF / "ur5e.urdf").read_text().replace('type="revolute"', 'type="continuous"')
    turning = RobotModel.from_urdf(text).chain()
    assert turning.continuous.all()
    assert "limits" not in shown(ArmView(turning, Q))


def test_a_reached_target_has_no_miss(chain):
    target = chain.forward(Q)
    shapes = shown(ArmView(chain, Q, PoseGoal(target), "reached", reached=True))
    assert "miss" not in shapes
    assert (shapes["verdict"].text, shapes["verdict"].color) == ("reached", GREEN)
    assert shapes["target"].pose is target


def test_a_missed_target_shows_by_how_much(chain):
    target = RigidTransform.from_rpy(0.1, 0.2, 0.3, [2.0, 0.0, 0.5])
    shapes = shown(ArmView(chain, Q, PoseGoal(target), "too far by 1 m"))
    miss = shapes["miss"].ends
    assert np.allclose(miss[0], chain.forward(Q).translation)
    assert np.allclose(miss[-1], target.translation)
    assert shapes["miss"].color not in (RED, GREEN, BLUE)  # it is none of the target's axes
    assert shapes["verdict"].color == RED


def test_a_pointing_ray_ends_as_far_as_the_point(chain):
    tip = chain.forward(Q)
    point = tip.translation + tip.rotation @ [0.1, 0.6, 0.0]
    goal = PointGoal(tuple(point), Ray(axis=(2.0, 0.0, 0.0), origin=(0.1, 0.0, 0.0)))
    shapes = shown(ArmView(chain, Q, goal))
    start, end = shapes["ray"].ends
    assert np.allclose(start, tip.translation + tip.rotation @ [0.1, 0.0, 0.0])
    assert np.allclose(end, tip.translation + tip.rotation @ [0.7, 0.0, 0.0])
    assert np.allclose(shapes["miss"].ends[[0, -1]], [end, point])
    assert isinstance(shapes["target"], Ball)
    assert np.allclose(shapes["target"].pose.translation, point)


def test_of_joint_positions_no_target_is_shown(chain):
    assert set(shown(ArmView(chain, Q, JointGoal(tuple(Q))))) == set(shown(ArmView(chain, Q)))


def test_passes_grow_clearer_and_are_painted_by_their_kind(chain):
    points = np.arange(9.0).reshape(3, 3)
    stages = tuple(Stage(name, 0, points, Q) for name in ("start", "backward", "forward"))
    passes = shown(ArmView(chain, Q, PoseGoal(chain.forward(Q)), stages=stages))["passes"]
    assert isinstance(passes, Lines)
    assert len(passes.ends) == 2 * len(passes.colors) == 12
    assert passes.colors[0][:3] == GREY[:3]
    assert len({color[:3] for color in passes.colors}) == 3
    assert [color[3] for color in passes.colors[::2]] == pytest.approx([7 / 15, 11 / 15, 1.0])


def goals(chain):
    point = tuple(chain.forward(Q).apply([0.0, 0.0, 1.0]))
    yield PoseGoal(chain.forward(Q))
    yield PoseGoal(RigidTransform.from_rpy(0.1, 0.2, 0.3, [0.3, 0.1, -0.4]))
    yield PoseGoal(RigidTransform.from_rpy(0.1, 0.2, 0.3, [0.3, 0.1, 2.0]))
    yield PointGoal(point, Ray((1.0, 0.0, 0.0)))


def test_the_line_of_text_is_above_the_root_and_above_every_link(chain):
    for q in (Q, np.zeros(6), np.array([0.5, -0.3, 0.2, 0.0, 0.0, 0.0])):
        highest = max(pose.translation[2] for pose in chain.link_poses(q).values())
        for goal in goals(chain):
            text = shown(ArmView(chain, q, goal, "too far"))["verdict"]
            assert np.allclose(text.pose.translation[:2], 0.0)
            assert text.pose.translation[2] - 0.5 * text.height > highest


def test_a_longer_text_is_no_wider_than_half_again_the_reach(chain):
    short, long = (
        shown(ArmView(chain, Q, PoseGoal(chain.forward(Q)), words))["verdict"]
        for words in ("reached", "a" * 200)
    )
    assert short.height == pytest.approx(0.07 * chain.reach)
    assert LETTER * len(long.text) * long.height == pytest.approx(1.5 * chain.reach)


def test_sizes_go_by_the_reach_or_by_how_far_off_the_point_is():
    text = (URDF / "pan_tilt.urdf").read_text()
    head = RobotModel.from_urdf(text).chain("base_link", "camera_optical_frame")
    ray = Ray((0.0, 0.0, 1.0))
    assert extent(head, None) == extent(head, PointGoal((0.1, 0.0, 0.0), ray)) == head.reach
    assert extent(head, PointGoal((3.0, 0.0, 4.0), ray)) == 2.5
    far, near = (
        shown(ArmView(head, np.zeros(2), PointGoal(point, ray)))["target"].diameter
        for point in ((3.0, 0.0, 4.0), (0.1, 0.0, 0.0))
    )
    assert far == pytest.approx(0.1)
    assert near == pytest.approx(0.04 * head.reach)
