# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The shapes for an arm."""

from pathlib import Path

import numpy as np
import pytest
from arm_views import scene_of, view_of

from basis_ik.arm.chain_state import State
from basis_ik.arm.goals import JointGoal, PointGoal, PoseGoal, Ray
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.visuals import Visual
from basis_ik.solvers.pose.fabrik_passes import Stage
from basis_ik.solvers.pose.solve import Solution
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Reason, Verdict
from basis_ik.view.arm_scene import ARM_STYLE, ArmScene, extent
from basis_ik.view.ghost import Ghost
from basis_ik.view.shapes import BLUE, GREEN, GREY, LETTER_WIDTH, ORANGE, RED, Ball, Lines
from basis_ik.view.words import Words

URDF = Path(__file__).parents[2] / "urdf"
Q = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
NEAR = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.4, 0.2, 0.4])
FAR = RigidTransform.from_rpy(0.1, 0.2, 0.3, [2.0, 0.0, 0.5])
STANDING = [state for state in State if state not in (State.MOVING, State.HOLDING)]


@pytest.fixture(scope="module")
def model():
    return RobotModel.from_urdf((URDF / "ur5e.urdf").read_text())


@pytest.fixture(scope="module")
def chain(model):
    return model.chain()


def shown(*args, **more):
    """The shapes, by name."""
    return {shape.name: shape for shape in scene_of(*args, **more)}


def test_names_and_numbers_are_unique_and_in_the_root_frame(chain, model):
    q = np.where(np.arange(6) < 2, chain.upper, Q)
    scene = scene_of(chain, q, PoseGoal(FAR), visuals=model.visuals_of(chain))
    assert len({(shape.name, shape.number) for shape in scene}) == len(scene) > 10
    assert {shape.frame for shape in scene} == {"base_link"}


def test_without_a_target_the_text_is_the_state(chain):
    assert set(shown(chain, Q)) == {"reach", "state"}


def test_an_arm_without_joint_states_has_a_text(chain):
    shapes = shown(chain, np.full(6, np.nan), state=State.WAITING, text="waiting: no joint state")
    assert set(shapes) == {"reach", "state"}
    assert shapes["state"].text == "waiting: no joint state"


def test_the_reach_is_thin_lines_around_the_root(chain):
    rings = shown(chain, Q)["reach"]
    assert rings.width < 0.01 * chain.reach
    assert np.allclose(np.linalg.norm(rings.ends, axis=1), chain.reach)


def test_the_reach_is_faint_unless_a_target_is_near_it(chain):
    at_rest, inside, outside = (
        shown(chain, Q, goal)["reach"].color[3] for goal in (None, PoseGoal(NEAR), PoseGoal(FAR))
    )
    assert at_rest == inside < 0.5 * outside


def test_the_text_hides_no_body(chain):
    """As a gripper, which is higher than the tip."""
    tool = Visual("tool0", chain.forward(Q).inverse(), "box", (0.1, 0.1, 3.0))
    text = shown(chain, Q, visuals=[tool])["state"]
    assert text.pose.translation[2] - 0.5 * text.height > 1.5


# Where it is going ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "color"),
    [(PoseGoal(NEAR), GREEN), (PoseGoal(FAR), ORANGE), (JointGoal((0.1,) * 6), GREEN)],
    ids=["reached", "best effort", "joint positions"],
)
def test_the_ghost_is_at_the_destination_of_a_moving_arm(chain, model, goal, color):
    view = view_of(chain, Q, goal, visuals=model.visuals_of(chain))
    poses = chain.link_poses(view.destination)
    scene = ArmScene().shapes(view)
    ghost = [shape for shape in scene if shape.name == "ghost"]
    assert len(ghost) >= 6  # each link that moves
    for shape in ghost:
        assert shape.color == color
        assert any(np.allclose(shape.pose.matrix, pose.matrix) for pose in poses.values())
    (line,) = (shape for shape in scene if shape.name == "chain")
    assert np.allclose(line.ends[0], 0.0)
    assert np.allclose(line.ends[-1], poses["tool0"].translation)


@pytest.mark.parametrize("state", STANDING)
def test_the_ghost_vanishes_when_the_arm_arrives_or_rests(chain, model, state):
    names = set(shown(chain, Q, PoseGoal(NEAR), state=state, visuals=model.visuals_of(chain)))
    assert not names & {"ghost", "chain"}


@pytest.mark.parametrize(("left", "stands"), [(0.9, False), (1.1, True)])
def test_the_ghost_vanishes_close_to_the_arm(chain, model, left, stands):
    there = Q + np.array([0.0, 0.0, 0.0, 0.0, 0.0, left * ARM_STYLE.ghost_distance])
    names = set(shown(chain, Q, JointGoal(tuple(there)), visuals=model.visuals_of(chain)))
    assert ({"ghost", "chain"} <= names) is stands


@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_a_joint_at_a_limit_is_marked_and_named(chain, bound):
    q = Q.copy()
    q[2] = getattr(chain, bound)[2]
    shapes = shown(chain, q)
    assert isinstance(shapes["limits"], Ball)
    elbow = chain.link_poses(q)["forearm_link"].translation
    assert np.allclose(shapes["limits"].pose.translation, elbow)
    assert shapes["limit_names"].text == f"elbow_joint at its {bound} limit"
    assert shapes["limit_names"].pose.translation[2] > elbow[2]


def test_limits_are_marked_for_the_solution_not_the_moving_arm(chain):
    q = Q.copy()
    q[2] = chain.upper[2]
    assert "limits" not in shown(chain, q, JointGoal(tuple(Q)))
    assert "limits" in shown(chain, Q, JointGoal(tuple(q)))


def test_a_continuous_joint_is_never_marked():
    text = (URDF / "ur5e.urdf").read_text().replace('type="revolute"', 'type="continuous"')
    turning = RobotModel.from_urdf(text).chain()
    assert turning.continuous.all()
    assert "limits" not in shown(turning, Q)


# The target -------------------------------------------------------------------------------------


def test_a_reached_target_has_no_miss(chain):
    shapes = shown(chain, Q, PoseGoal(NEAR))
    assert "miss" not in shapes
    assert shapes["target"].pose is NEAR


def test_a_missed_target_has_a_line_for_the_distance(chain):
    view = view_of(chain, Q, PoseGoal(FAR))
    miss = {shape.name: shape for shape in ArmScene().shapes(view)}["miss"]
    assert np.allclose(miss.ends[0], chain.forward(view.destination).translation)
    assert np.allclose(miss.ends[-1], FAR.translation)
    assert miss.color not in (RED, GREEN, BLUE)  # it is none of the target's axes


def test_without_a_solution_there_is_no_miss(chain):
    shapes = shown(chain, Q, PoseGoal(FAR), solution=None)
    assert "target" in shapes
    assert not set(shapes) & {"miss", "ghost"}


def test_an_orientation_that_is_off_is_an_arc_from_the_reached_axis_to_the_wanted_one(chain):
    tip = chain.forward(Q)
    half = RigidTransform.from_rotation_translation(np.diag([1.0, -1.0, -1.0]), np.zeros(3))
    for turn in (0.3, 2.0, np.pi):
        wanted = tip @ (half if turn == np.pi else RigidTransform.from_rpy(turn, 0.0, 0.0))
        reason = Reason(Verdict.ORIENTATION_UNREACHABLE, turn=turn)
        missed = Solution(Q, reason.verdict, 0.0, turn, 0, 0, reason)
        ends = shown(chain, Q, PoseGoal(wanted), solution=missed)["turn"].ends
        start, end = (each - tip.translation for each in (ends[1], ends[-1]))
        radii = np.linalg.norm(ends[1:] - tip.translation, axis=1)
        assert np.allclose(radii, radii[0])
        assert np.allclose(ends[0], tip.translation)
        assert np.linalg.norm(start) == pytest.approx(np.linalg.norm(end))
        cosine = start @ end / np.linalg.norm(start) ** 2
        assert np.arccos(max(cosine, -1.0)) == pytest.approx(turn, abs=1e-6)
    reason = Reason(Verdict.TOO_FAR, missing=0.1)
    far = Solution(Q, reason.verdict, 0.1, 0.0, 0, 0, reason)
    assert "turn" not in shown(chain, Q, PoseGoal(tip), solution=far)


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_the_range_of_a_joint_at_its_limit_is_an_arc_with_a_mark_where_it_is(chain, end):
    q = Q.copy()
    q[2] = getattr(chain, end)[2]  # the elbow: half a turn to each side
    shapes = shown(chain, q)
    *arc, centre, mark = shapes["limit_ranges"].ends
    elbow = chain.link_poses(q)["forearm_link"].translation
    assert np.allclose(centre, elbow)
    assert np.allclose(shapes["limits"].pose.translation, elbow)
    radii = np.linalg.norm(np.array(arc) - elbow, axis=1)
    assert np.allclose(radii, radii[0])
    limit = arc[0] if end == "lower" else arc[-1]
    assert np.allclose(mark - elbow, 1.3 * (limit - elbow), atol=1e-6)
    beyond = chain.link_poses(Q)["forearm_link"].translation
    assert np.allclose(elbow, beyond), "it turns in its place"


def test_a_pointing_ray_ends_as_far_as_the_point(chain):
    tip = chain.forward(Q)
    point = tip.translation + tip.rotation @ [0.1, 0.6, 0.0]
    goal = PointGoal(tuple(point), Ray(axis=(2.0, 0.0, 0.0), origin=(0.1, 0.0, 0.0)))
    shapes = shown(chain, Q, goal, solution=None)
    start, end = shapes["ray"].ends
    assert np.allclose(start, tip.translation + tip.rotation @ [0.1, 0.0, 0.0])
    assert np.allclose(end, tip.translation + tip.rotation @ [0.7, 0.0, 0.0])
    assert isinstance(shapes["target"], Ball)
    assert np.allclose(shapes["target"].pose.translation, point)


def test_a_joint_goal_has_no_target_shape(chain):
    assert "target" not in shown(chain, Q, JointGoal(tuple(Q)))


def test_passes_become_opaque_and_are_coloured_by_kind(chain):
    points = np.arange(9.0).reshape(3, 3)
    stages = tuple(Stage(name, 0, points, Q) for name in ("start", "backward", "forward"))
    passes = shown(chain, Q, PoseGoal(NEAR), stages=stages)["passes"]
    assert isinstance(passes, Lines)
    assert len(passes.ends) == 2 * len(passes.colors) == 12
    assert passes.colors[0][:3] == GREY[:3]
    assert len({color[:3] for color in passes.colors}) == 3
    assert [color[3] for color in passes.colors[::2]] == pytest.approx([7 / 15, 11 / 15, 1.0])


# The line of text -------------------------------------------------------------------------------


def test_the_text_is_above_the_root_and_all_links(chain):
    for q in (Q, np.zeros(6), np.array([0.5, -0.3, 0.2, 0.0, 0.0, 0.0])):
        for there in (Q, np.zeros(6)):
            text = shown(chain, q, JointGoal(tuple(there)))["state"]
            links = [*chain.link_poses(q).values(), *chain.link_poses(there).values()]
            highest = max(link.translation[2] for link in links)
            assert np.allclose(text.pose.translation[:2], 0.0)
            assert text.pose.translation[2] - 0.5 * text.height > highest


def test_a_value_stays_beside_its_unit(chain):
    for before in range(ARM_STYLE.line_length):
        text = shown(chain, Q, text=f"{'n' * before} 12.3 mm, -4 mm/s and so on")["state"].text
        assert "12.3 mm" in text
        assert "-4 mm/s" in text


def test_a_long_text_is_wrapped(chain):
    reached, long = "reached", " ".join(["word"] * 30)
    short, broken, wide = (
        shown(chain, Q, text=text)["state"] for text in (reached, long, "a" * ARM_STYLE.line_length)
    )
    assert short.height == broken.height == wide.height
    assert broken.text.replace("\n", " ") == long
    lines = broken.text.split("\n")
    assert len(lines) > 2
    assert max(map(len, lines)) <= ARM_STYLE.line_length
    below = broken.pose.translation[2] - 0.5 * len(lines) * broken.height
    assert below == pytest.approx(short.pose.translation[2] - 0.5 * broken.height)
    assert LETTER_WIDTH * ARM_STYLE.line_length * wide.height == pytest.approx(1.5 * chain.reach)


def test_sizes_scale_with_the_reach_or_the_distance_of_the_point():
    """Shapes for a head of 17 cm are those of an arm of half a metre, so that text is legible."""
    text = (URDF / "pan_tilt.urdf").read_text()
    head = RobotModel.from_urdf(text).chain("base_link", "camera_optical_frame")
    ray = Ray((0.0, 0.0, 1.0))
    assert extent(head, None) == extent(head, PointGoal((0.1, 0.0, 0.0), ray)) == 0.6
    assert extent(head, PointGoal((3.0, 0.0, 4.0), ray)) == 2.5
    far, near = (
        shown(head, np.zeros(2), PointGoal(point, ray))["target"].diameter
        for point in ((3.0, 0.0, 4.0), (0.1, 0.0, 0.0))
    )
    assert far == pytest.approx(0.1)
    assert near == pytest.approx(0.024)


def poses_of(scene):
    return [shape.pose.matrix for shape in scene]


# From view to view ------------------------------------------------------------------------------


def test_shapes_of_goal_and_solution_are_reused(chain, model):
    scene, view = ArmScene(), view_of(chain, Q, PoseGoal(NEAR), visuals=model.visuals_of(chain))
    before = scene.shapes(view)
    after = scene.shapes(view._replace(measured=Q + 0.1))  # the arm goes on
    assert all(a is b for a, b in zip(before, after, strict=True))
    other = scene.shapes(view._replace(words=Words("other", GREEN)))
    assert [a is b for a, b in zip(before, other, strict=True)] == [True] * (len(before) - 1) + [
        False  # the text
    ]


def test_another_ghost_is_drawn_at_once(chain, model):
    scene, view = ArmScene(), view_of(chain, Q, PoseGoal(NEAR), visuals=model.visuals_of(chain))
    before = scene.shapes(view)
    bare = scene.shapes(view._replace(ghost=Ghost(chain, ())))
    assert {shape.name for shape in before} - {shape.name for shape in bare} == {"ghost"}


@pytest.mark.parametrize(
    "change",
    [
        {"goal": PoseGoal(FAR)},
        {"state": State.ARRIVED},
        {"solution": None},
        {"stages": (Stage("start", 0, np.eye(3), Q),)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_change_of_goal_or_solution_renews_the_shapes(chain, model, change):
    scene, view = ArmScene(), view_of(chain, Q, PoseGoal(NEAR), visuals=model.visuals_of(chain))
    scene.shapes(view)
    changed = view._replace(**change)
    now, fresh = scene.shapes(changed), ArmScene().shapes(changed)
    assert [(s.name, s.number) for s in now] == [(s.name, s.number) for s in fresh]
    assert all(
        np.array_equal(a.pose.matrix, b.pose.matrix) for a, b in zip(now, fresh, strict=True)
    )


def test_without_a_solution_shapes_move_with_the_arm(chain):
    goal = PointGoal((1.0, 0.0, 0.5), Ray((1.0, 0.0, 0.0)))
    scene, view = ArmScene(), view_of(chain, Q, goal, solution=None)
    rays = [
        next(s for s in scene.shapes(view._replace(measured=q)) if s.name == "ray").ends
        for q in (Q, Q + 0.1)
    ]
    assert not np.allclose(*rays)
