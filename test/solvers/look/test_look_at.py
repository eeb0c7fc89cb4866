# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Points-at on chains: rates, nearness, degenerate cases, refusals.

Forward kinematics by composing the joints' transforms, in NumPy.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from math import atan2, cos, pi, sin
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rotations import turned

from basis_ik.errors import SolveArgumentError
from basis_ik.robot.robot import RobotModel
from basis_ik.search.prepare import prepared
from basis_ik.solvers.look.look_at import MOST_RAYS_KEPT, look_at, warm_up
from basis_ik.solvers.look.pan_tilt_kernel import pan_tilt
from basis_ik.verdict import Verdict

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
URDF = Path(__file__).parents[3] / "urdf"


def shipped(name, root=None, tip=None):
    return RobotModel.from_urdf((URDF / f"{name}.urdf").read_text()).chain(root, tip)


SHIPPED = {
    "ur5e": shipped("ur5e"),
    "panda": shipped("panda"),
    "head": shipped("pan_tilt", tip="camera_link"),
    "optical head": shipped("pan_tilt", tip="camera_optical_frame"),
    "leg": shipped("legs", "hip", "ankle_l"),
    "legs": shipped("legs", "calf_l", "ankle_r"),
}
HEAD = SHIPPED["head"]
AXES = {"head": X, "optical head": Z}


def tip_of(chain, q):
    """root_R_tip (..., 3, 3) and the tip's places at q (..., n), as the URDF says it; no mimics."""
    values = dict(zip(chain.joint_names, np.moveaxis(np.asarray(q), -1, 0), strict=True))
    rotation, place = np.eye(3), np.zeros(3)
    link = chain.root
    for joint in chain.joints:
        r, p, value = np.eye(3), np.zeros(3), values.get(joint.name, 0.0)
        if joint.kind in ("revolute", "continuous"):
            r = turned(joint.axis, value)
        elif joint.kind == "prismatic":
            p = np.multiply.outer(value, joint.axis)
        r, p = joint.origin.rotation @ r, p @ joint.origin.rotation.T + joint.origin.translation
        if joint.parent == link:
            link = joint.child
        else:  # a chain may climb towards the URDF's root before it descends
            link = joint.parent
            r = np.swapaxes(r, -1, -2)
            p = -(r @ p[..., None])[..., 0]
        rotation, place = rotation @ r, place + (rotation @ p[..., None])[..., 0]
    assert link == chain.tip
    return rotation, place


def angle_left(chain, q, point, axis=X, origin=(0, 0, 0)):
    rotation, place = tip_of(chain, q)
    ray = rotation @ (np.array(axis) / np.linalg.norm(axis))
    line = point - (place + rotation @ np.array(origin))
    return atan2(np.linalg.norm(np.cross(ray, line)), ray @ line)


def point_ahead(chain, q, distance, axis=X, origin=(0, 0, 0)):
    rotation, place = tip_of(chain, q)
    return place + rotation @ (origin + np.array(axis) / np.linalg.norm(axis) * distance)


def ends(chain):
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    return low, np.where(np.isfinite(chain.upper), chain.upper, pi)


def assert_honest(chain, solution, point, axis=X, origin=(0, 0, 0)):
    q = solution.positions
    assert np.isfinite(q).all()
    assert (q >= chain.lower).all()
    assert (q <= chain.upper).all()
    assert solution.position_error == 0.0
    left = angle_left(chain, q, point, axis, origin)
    assert left == pytest.approx(solution.orientation_error, abs=1e-8)
    assert solution.success == (solution.orientation_error <= 1e-6)
    assert solution.reason.verdict is solution.verdict


@pytest.mark.parametrize("name", SHIPPED)
def test_every_point_that_can_be_met_is_met(name):
    chain, axis = SHIPPED[name], AXES.get(name, (0.2, -0.4, 1.0))
    low, high = ends(chain)
    rng = np.random.default_rng(0)
    for _ in range(300):
        truth, seed = rng.uniform(low, high, (2, len(low)))
        origin = rng.uniform(-0.05, 0.05, 3) * (rng.random() < 0.5)
        point = point_ahead(chain, truth, 10 ** rng.uniform(-1.5, 1.0), axis, origin)
        solution = look_at(chain, point, seed, axis=axis, origin=tuple(origin))
        assert solution.success, (point, seed, solution)
        assert_honest(chain, solution, point, axis, origin)


def test_every_point_is_met_by_arms_of_all_kinds(chain):
    low, high = ends(chain)
    rng = np.random.default_rng(1)
    for _ in range(60):
        truth, seed = rng.uniform(low, high, (2, len(low)))
        point = point_ahead(chain, truth, 10 ** rng.uniform(-1.5, 1.0), Z)
        solution = look_at(chain, point, seed, axis=Z)
        assert solution.success, (point, seed, solution)
        assert_honest(chain, solution, point, Z)


@given(seed=st.integers(0, 2**32 - 1), joints=st.integers(1, 7), distance=st.floats(0.03, 30.0))
def test_any_chain_meets_what_it_could_have_met(arm, seed, joints, distance):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(joints):
        kind = rng.choice(["revolute", "revolute", "continuous", "prismatic"])
        size = 0.3 if kind == "prismatic" else 3.0
        xyz, rpy = rng.uniform(-0.3, 0.3, 3), rng.uniform(-pi, pi, 3)
        axis = " ".join(map(str, rng.normal(size=3)))
        low, high = np.sort(rng.uniform(-size, size, 2))
        rows.append((kind, " ".join(map(str, xyz)), " ".join(map(str, rpy)), axis, low, high))
    chain = arm(rows, "0.1 -0.05 0.2")
    axis, origin = rng.normal(size=3), rng.uniform(-0.1, 0.1, 3)
    low, high = ends(chain)
    point = point_ahead(chain, rng.uniform(low, high), distance, axis, origin)
    solution = look_at(chain, point, rng.uniform(low, high), axis=tuple(axis), origin=origin)
    assert_honest(chain, solution, point, axis, origin)
    assert solution.success


@pytest.mark.parametrize("tolerance", [1e-2, 1e-9])
def test_the_tolerance_is_kept(tolerance):
    chain = SHIPPED["panda"]
    rng = np.random.default_rng(2)
    for truth in rng.uniform(chain.lower, chain.upper, (50, 7)):
        point = point_ahead(chain, truth, 1.0)
        solution = look_at(chain, point, orientation_tolerance=tolerance)
        assert solution.success
        assert angle_left(chain, solution.positions, point) <= tolerance


def test_the_head_takes_the_nearest_of_all_branches():
    """A fine grid finds no other answer nearer to the seed."""
    rng = np.random.default_rng(3)
    pans, tilts = np.linspace(-2.7, 2.7, 271), np.linspace(-1.0, 1.3, 116)
    grid = np.array([(pan, tilt) for pan in pans for tilt in tilts])
    rotations, eyes = tip_of(HEAD, grid)
    rays = rotations[:, :, 0]
    for _ in range(30):
        seed = rng.uniform(HEAD.lower, HEAD.upper)
        point = point_ahead(HEAD, rng.uniform(HEAD.lower, HEAD.upper), 10 ** rng.uniform(-1, 1))
        solution = look_at(HEAD, point, seed)
        lines = point - eyes
        cosines = (rays * lines).sum(axis=1) / np.linalg.norm(lines, axis=1)
        answers = grid[cosines > cos(0.015)]
        nearest = np.linalg.norm(answers - seed, axis=1).min()
        # a cell off is no more than this off where the eye is not at the point
        assert np.linalg.norm(solution.positions - seed) <= nearest + 0.2


def test_a_ray_that_meets_the_point_already_moves_nothing(chain):
    low, high = ends(chain)
    q = np.random.default_rng(4).uniform(low, high)
    solution = look_at(chain, point_ahead(chain, q, 0.7), q)
    assert np.array_equal(solution.positions, q)
    assert solution.iterations <= 12


def test_what_need_not_move_stays_where_it_was():
    chain = SHIPPED["ur5e"]
    seed = np.array([0.3, -1.2, 1.5, -0.6, 1.0, 0.7])
    point = point_ahead(chain, seed, 1.0, Z) + np.array([0.05, -0.08, 0.1])
    solution = look_at(chain, point, seed, axis=Z)
    move = solution.positions - seed
    assert solution.success
    assert abs(move[5]) < 1e-5  # turns about the ray
    assert np.linalg.norm(move) < 0.2


@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_no_other_answer_nearby_is_nearer_to_the_seed(name):
    """Off the limits, the way is across everything that would leave the ray on the point."""
    chain = SHIPPED[name]
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(60):
        seed = rng.uniform(
            0.8 * chain.lower + 0.2 * chain.upper, 0.2 * chain.lower + 0.8 * chain.upper
        )
        point = point_ahead(chain, seed + rng.uniform(-0.5, 0.5, len(seed)), 1.0)
        q = look_at(chain, point, seed).positions
        if (q <= chain.lower).any() or (q >= chain.upper).any():
            continue
        seen += 1
        way = np.linalg.norm(q - seed)
        for nudge in rng.normal(size=(40, len(q))):
            other = look_at(chain, point, q + 0.03 * nudge / np.linalg.norm(nudge)).positions
            assert np.linalg.norm(other - seed) > way * 0.97 - 1e-6
    assert seen > 30


def test_a_moving_point_is_followed_without_jumps():
    chain = SHIPPED["panda"]
    q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    q = look_at(chain, [1.0, 0.5, 0.5], q).positions
    for t in np.linspace(0.0, 2 * pi, 700):
        point = [1.0, 0.5 * cos(t), 0.5 + 0.4 * sin(2 * t)]
        solution = look_at(chain, point, q)
        assert solution.success
        assert np.abs(solution.positions - q).max() < 0.02
        q = solution.positions


def test_joints_without_limits_take_the_shortest_turn(arm):
    rows = [
        ("continuous", "0 0 0", "0 0 0", "0 0 1", 0, 0),
        ("continuous", "0 0 0.1", "0 0 0", "0 1 0", 0, 0),
    ]
    chain = arm(rows, "0 0 0.05")
    for turns in (-50, 0, 3):
        seed = np.array([3.0 + 2 * pi * turns, 0.1])
        solution = look_at(chain, [-2.0, -0.3, 0.3], seed)
        assert solution.success
        assert np.abs(solution.positions - seed).max() < 0.5
    third = [*rows, ("continuous", "0 0 0", "0 0 0", "0 1 0", 0, 0)]
    chain = arm(third, "0 0 0.05")
    seed = np.array([3.0 + 20 * pi, 0.1 - 40 * pi, 0.0])
    solution = look_at(chain, [-2.0, -0.3, 0.3], seed)
    assert solution.success
    assert np.abs(solution.positions - seed).max() < 0.5


def test_a_wide_limit_is_not_crossed_for_a_shorter_turn(arm):
    rows = [
        ("revolute", "0 0 0", "0 0 0", "0 0 1", -3.3, 3.3),
        ("revolute", "0 0 0.1", "0 0 0", "0 1 0", -1.0, 1.0),
    ]
    chain = arm(rows)
    near = look_at(chain, [2 * cos(3.2), 2 * sin(3.2), 0.1], [3.0, 0.0])
    assert near.positions[0] == pytest.approx(3.2)
    far = look_at(chain, [2 * cos(3.5), 2 * sin(3.5), 0.1], [3.0, 0.0])
    assert far.positions[0] == pytest.approx(3.5 - 2 * pi)


def test_a_point_on_the_pan_axis_holds_the_pan(arm):
    rows = [
        ("revolute", "0 0 0", "0 0 0", "0 0 1", -2.0, 2.0),
        ("revolute", "0.02 0 0.1", "0 0 0", "0 1 0", -2.0, 2.0),
    ]
    chain = arm(rows, "0.03 0 0.04")
    for seed in ([1.234, 0.3], [-0.7, -0.2]):
        solution = look_at(chain, [0.0, 0.0, 1.5], seed)
        assert_honest(chain, solution, np.array([0.0, 0.0, 1.5]))
        assert solution.success
        assert solution.positions[0] == seed[0]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_point_exactly_behind_is_met_all_the_same(name):
    chain = SHIPPED[name]
    low, high = ends(chain)
    q = low + 0.6 * (high - low)
    point = point_ahead(chain, q, -2.0)
    solution = look_at(chain, point, q)
    assert_honest(chain, solution, point)
    assert solution.success or name in ("head", "optical head", "leg")
    again = look_at(chain, point, q)
    assert np.array_equal(again.positions, solution.positions)


def test_a_point_exactly_behind_turns_the_joint_that_can(arm):
    """A roll about the ray comes first, a pan second: only the pan helps, where it has room."""
    rows = [
        ("revolute", "0 0 0", "0 0 0", "1 0 0", -3.0, 3.0),
        ("revolute", "0 0 0", "0 0 0", "0 0 1", -0.5, 3.2),
        ("revolute", "0 0 0", "0 0 0", "1 0 0", -3.0, 3.0),
    ]
    solution = look_at(arm(rows), [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0], max_restarts=0)
    assert solution.success
    assert np.allclose(solution.positions, [0.0, pi, 0.0], atol=1e-6)


def test_the_rays_own_origin_has_no_direction(arm):
    rows = [
        ("revolute", "0 0 0.2", "0 0 0", "0 0 1", -2.0, 2.0),
        ("revolute", "0 0 0", "0 0 0", "0 1 0", -2.0, 2.0),
    ]
    for more in ([], [("revolute", "0 0 0", "0 0 0", "1 0 0", -2.0, 2.0)]):
        chain = arm([*rows, *more])
        seed = np.full(len(rows) + len(more), 0.3)
        solution = look_at(chain, [0.0, 0.0, 0.2], seed)
        assert solution.verdict is Verdict.DEGENERATE
        assert np.array_equal(solution.positions, seed)
        assert solution.orientation_error == pi
        assert look_at(chain, [0.0, 1e-8, 0.2], seed).success


def test_an_eye_that_can_move_away_from_the_point_does(arm):
    chain = SHIPPED["panda"]
    q = np.array([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.8])
    point = tip_of(chain, q)[1]
    solution = look_at(chain, point, q)
    assert_honest(chain, solution, point)
    assert solution.success


def test_slides_alone_carry_the_ray(arm):
    rows = [
        ("prismatic", "0 0 0", "0 0 0", "0 1 0", -0.5, 0.5),
        ("prismatic", "0 0 0", "0 0 0", "0 0 1", -0.5, 0.5),
    ]
    solution = look_at(arm(rows), [1.0, 0.2, -0.3], [0.0, 0.0])
    assert solution.success
    assert np.allclose(solution.positions, [0.2, -0.3], atol=1e-5)
    behind = look_at(arm(rows), [-1.0, 0.2, -0.3], [0.0, 0.0])
    assert behind.verdict is Verdict.ORIENTATION_NOT_FOUND


def test_more_joints_than_a_work_row_holds(arm):
    rows = [("revolute", "0.05 0 0", f"{pi / 2} 0 0", "0 0 1", -0.5, 0.5)] * 20
    chain = arm(rows)
    rng = np.random.default_rng(6)
    for truth in rng.uniform(-0.5, 0.5, (20, 20)):
        point = point_ahead(chain, truth, 1.0)
        solution = look_at(chain, point, rng.uniform(-0.5, 0.5, 20))
        assert solution.success
        assert_honest(chain, solution, point)


def test_mimic_joints_are_followed():
    text = (URDF / "pan_tilt.urdf").read_text()
    joint = (
        "<link name='eye'/><joint name='eye_joint' type='revolute'><parent link='camera_link'/>"
        "<child link='eye'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1'"
        " velocity='1'/><mimic joint='pan_joint' multiplier='0.3' offset='0.1'/></joint></robot>"
    )
    chain = RobotModel.from_urdf(text.replace("</robot>", joint)).chain(None, "eye")
    rng = np.random.default_rng(7)
    for truth in rng.uniform(chain.lower, chain.upper, (50, 2)):
        pose = chain.forward(truth)
        point = pose.apply(np.array([1.0, 0.0, 0.0]))
        solution = look_at(chain, point, [0.0, 0.0])
        assert solution.success
        line = chain.forward(solution.positions).inverse().apply(point)
        assert np.hypot(line[1], line[2]) < 1e-6 * line[0]


def test_axis_and_origin_may_be_given_in_any_form_and_are_kept_within_bounds():
    point, seed = [1.0, 0.4, 0.3], [0.1, 0.1]
    forms = [(0.0, 0.0, 2.0), (0, 0, 2), [0, 0, 1], np.array([0.0, 0.0, 1e-5])]
    answers = [look_at(HEAD, point, seed, axis=axis).positions for axis in forms]
    assert all(np.allclose(answer, answers[0], atol=1e-9) for answer in answers)
    for i in range(300):
        look_at(HEAD, point, seed, origin=(0.0, 0.0, 1e-6 * i))
    assert len(prepared(HEAD).narrowed) <= MOST_RAYS_KEPT


def test_no_start_but_the_seed_is_a_seed_in_the_middle():
    assert look_at(HEAD, [1.0, 0.1, 0.1]).success
    outside = look_at(HEAD, [1.0, 0.1, 0.1], [9.0, -9.0])
    assert outside.success
    assert_honest(HEAD, outside, np.array([1.0, 0.1, 0.1]))


SAME = """
import numpy as np
from pathlib import Path
from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.look.look_at import look_at
rng = np.random.default_rng(8)
for name in ("panda", "pan_tilt"):
    chain = RobotModel.from_urdf(Path("urdf", name + ".urdf").read_text()).chain()
    for point in rng.normal(size=(60, 3)):
        q = look_at(chain, point, np.clip(rng.normal(size=len(chain.lower)), -1, 1)).positions
        print(*(v.hex() for v in q.tolist()))
"""


def test_the_same_bits_in_every_process_and_thread():
    runs = [
        subprocess.run(
            [sys.executable, "-c", SAME], capture_output=True, check=True, cwd=URDF.parent
        ).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    chain = SHIPPED["panda"]
    points = np.random.default_rng(9).normal(size=(400, 3))
    seeds = np.random.default_rng(10).uniform(chain.lower, chain.upper, (400, 7))

    def run(i):
        return look_at(chain, points[i], seeds[i]).positions.tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(400))) == [run(i) for i in range(400)]


def test_warming_up_needs_nothing_but_the_chain():
    for chain in SHIPPED.values():
        warm_up(chain)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("point", [0.0, np.nan, 1.0]),
        ("point", [np.inf, 0.0, 1.0]),
        ("point", [1e7, 0.0, 1.0]),
        ("point", [0.0, 1.0]),
        ("point", "here"),
        ("seed", [0.0, np.nan]),
        ("seed", [0.0]),
        ("seed", [0.0, 1e9]),
        ("axis", (0.0, 0.0, 0.0)),
        ("axis", (np.nan, 0.0, 1.0)),
        ("axis", (1.0, 0.0)),
        ("axis", ("a", 0.0, 1.0)),
        ("axis", 3.0),
        ("axis", {}),
        ("axis", ([1.0], 0.0, 0.0)),
        ("origin", (np.inf, 0.0, 0.0)),
        ("origin", None),
        ("orientation_tolerance", 0.0),
        ("orientation_tolerance", np.nan),
        ("orientation_tolerance", "x"),
        ("max_iterations", 0),
        ("max_iterations", 1.5),
        ("max_restarts", -1),
        ("max_move", 0.0),
        ("max_move", np.nan),
        ("max_move", [1.0, 1.0, 1.0]),
    ],
)
def test_bad_arguments_are_refused_by_name(argument, value):
    arguments = {"point": [1.0, 0.0, 0.0], argument: value}
    with pytest.raises(SolveArgumentError, match=argument) as caught:
        look_at(HEAD, **arguments)
    assert caught.value.argument == argument


def test_the_closed_form_answers_with_rays_that_point_to_and_not_away():
    chain, found, met = SHIPPED["optical head"], np.empty((4, 2)), 0
    exact = prepared(chain).exact
    for point in np.random.default_rng(0).uniform(-2.0, 2.0, (100, 3)):
        count, _ = pan_tilt(exact, point, np.zeros(2), found)
        met += count
        rotations, places = tip_of(chain, found[:count])
        lines = point - places
        along = (rotations[:, :, 2] * lines).sum(axis=1)
        np.testing.assert_allclose(along, np.linalg.norm(lines, axis=1), rtol=1e-12)
    assert met >= 100
