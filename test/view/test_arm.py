"""What is shown of an arm."""

from pathlib import Path

import numpy as np
import pytest

from basis_ik.model.robot import RobotModel
from basis_ik.motion.goals import JointGoal, PointGoal, PoseGoal, Ray
from basis_ik.solvers.passes import Stage
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.arm import ArmView, arm_scene
from basis_ik.view.shapes import GREEN, GREY, RED, Ball, Lines, Text

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
    start, end = shapes["miss"].ends
    assert np.allclose(start, chain.forward(Q).translation)
    assert np.allclose(end, target.translation)
    assert shapes["verdict"].color == RED


def test_a_pointing_ray_ends_as_far_as_the_point(chain):
    tip = chain.forward(Q)
    point = tip.translation + tip.rotation @ [0.1, 0.6, 0.0]
    goal = PointGoal(tuple(point), Ray(axis=(2.0, 0.0, 0.0), origin=(0.1, 0.0, 0.0)))
    shapes = shown(ArmView(chain, Q, goal))
    start, end = shapes["ray"].ends
    assert np.allclose(start, tip.translation + tip.rotation @ [0.1, 0.0, 0.0])
    assert np.allclose(end, tip.translation + tip.rotation @ [0.7, 0.0, 0.0])
    assert np.allclose(shapes["miss"].ends, [end, point])
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


def test_the_verdict_is_above_the_target_and_above_every_link(chain):
    highest = max(pose.translation[2] for pose in chain.link_poses(Q).values())
    for goal in goals(chain):
        verdict = shown(ArmView(chain, Q, goal, "too far"))["verdict"]
        assert isinstance(verdict, Text)
        is_pose = isinstance(goal, PoseGoal)
        wanted = goal.root_T_target.translation if is_pose else goal.root_point
        assert np.allclose(verdict.pose.translation[:2], wanted[:2])
        lowest = verdict.pose.translation[2] - 0.5 * verdict.height
        assert lowest > max(highest, wanted[2])
