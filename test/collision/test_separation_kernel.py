# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import mujoco_coal
import numpy as np
import pytest
from bodies import random_pose
from from_python import from_python, sample

from basis_ik.collision.collision_scene import _bodies
from basis_ik.collision.covered_links import Body, CoveredLink
from basis_ik.collision.distance_kernel import GAP_COLUMNS, GAP_DISTANCE, NORMAL, POINT_A, POINT_B
from basis_ik.collision.exact import ExactDistances
from basis_ik.collision.separation_kernel import separate_links, weigh_corners
from basis_ik.collision.shape import Shape
from basis_ik.robot.chain_kernel import ChainArrays
from basis_ik.transforms.rigid import RigidTransform

RNG = np.random.default_rng(0)
SHAPES = {
    "box": Shape.box(0.2, 0.3, 0.1),
    "sphere": Shape.sphere(0.15),
    "cylinder": Shape.cylinder(0.1, 0.3),
    "capsule": Shape.capsule(0.08, 0.3),
    "hull": Shape.hull_of(RNG.normal(scale=0.1, size=(30, 3))),
}
CHAIN = ChainArrays(
    origins=np.array([np.eye(3, 4)] * 2),
    prismatic=np.array([0, 1]),
    variables=np.array([0, 1]),
    multipliers=np.ones(2),
    offsets=np.zeros(2),
    tip=np.eye(3, 4),
    lower=-np.ones(2),
    upper=np.ones(2),
    continuous=np.zeros(2, np.int64),
)
NO_FRAMES = np.eye(3, 4)[None]


@pytest.fixture
def judge(monkeypatch):
    """Exact distances by MuJoCo."""
    monkeypatch.setattr("basis_ik.collision.exact.check_extra", lambda option, package: None)
    monkeypatch.setitem(__import__("sys").modules, "coal", mujoco_coal)
    return ExactDistances()


def link(*bodies, joint=-1):
    return CoveredLink("", joint, tuple(Body(*each) for each in bodies), np.empty((0, 7)), 0.0).put(
        RigidTransform.identity()
    )


def separated(one, other, frames=NO_FRAMES, padding=0.0, covers=0.0):
    first = len(one.bodies)
    ranges = np.array([0, first, first, first + len(other.bodies)])
    row, gradient = np.zeros(GAP_COLUMNS), np.zeros(2)
    row[GAP_DISTANCE] = covers
    shapes = _bodies([one, other], [0.0, 0.0])
    found = separate_links(CHAIN[:], shapes, ranges, frames, row, gradient, padding)
    return *found, row, gradient


def bounds(*links, **options):
    return separated(*links, **options)[:2]


@pytest.mark.parametrize("one", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_bounds_are_on_both_sides_of_the_distance(one, other, judge):
    apart = 0
    for k in range(sample(60)):
        far = 0.1 + 0.01 * k
        links = [link((SHAPES[each], random_pose(RNG, 0.5 * far))) for each in (one, other)]
        lower, upper = bounds(*links)
        distance, _ = judge.between(*links, NO_FRAMES)
        if distance > 1e-6:
            assert lower == pytest.approx(distance, abs=1e-6)
            assert upper == pytest.approx(distance, abs=1e-6)
            apart += 1
        elif distance < -1e-6:
            assert lower < 0.0
            assert upper <= 0.0
    assert apart >= sample(60) // 10


def test_the_least_distance_of_all_bodies_counts_and_the_padding_too(judge):
    for _ in range(sample(30)):
        links = [
            link(*((SHAPES[each], random_pose(RNG, 0.8)) for each in kinds))
            for kinds in (("box", "hull"), ("cylinder", "capsule", "sphere"))
        ]
        distance, _ = judge.between(*links, NO_FRAMES)
        for share in (0.9, 1.1):
            if distance > 1e-4:
                lower, _ = bounds(*links, padding=share * distance)
                assert (lower > 0.0) == (share < 1.0)


def test_of_bodies_that_are_nearer_than_the_padding_the_distance_is_exact(judge):
    found = 0
    for _ in range(sample(30)):
        one, other = (link((SHAPES[each], random_pose(RNG, 0.6))) for each in ("box", "cylinder"))
        distance, _ = judge.between(one, other, NO_FRAMES)
        *_, row, _ = separated(one, other, padding=abs(distance) + 0.01, covers=-1.0)
        if distance > 1e-6:
            assert row[GAP_DISTANCE] == pytest.approx(-0.01, abs=1e-6)
            found += 1
        elif distance < -1e-6:
            assert row[GAP_DISTANCE] == -1.0, "no direction keeps them apart: the covers tell"
    assert found >= sample(30) // 4


def test_a_distance_by_the_covers_that_is_larger_stays():
    one, other = (
        link((SHAPES["box"], RigidTransform.identity())),
        link((SHAPES["sphere"], RigidTransform.from_rpy(0.0, 0.0, 0.0, (3.0, 0.0, 0.0)))),
    )
    *_, row, gradient = separated(one, other, padding=9.0, covers=-1.0)
    assert row[GAP_DISTANCE] == -1.0
    assert not gradient.any()


def test_bodies_move_with_their_joints(judge):
    for _ in range(sample(30)):
        frames = np.array([random_pose(RNG).matrix[:3] for _ in range(2)])
        links = [
            link((SHAPES["box"], random_pose(RNG, 0.2)), joint=0),
            link((SHAPES["cylinder"], random_pose(RNG, 0.2)), joint=1),
        ]
        lower, upper = bounds(*links, frames=frames)
        distance, _ = judge.between(*links, frames)
        if abs(distance) > 1e-6:
            assert (lower > 0.0) == (distance > 0.0)
            assert (upper <= 0.0) == (distance < 0.0)


@pytest.mark.parametrize("one", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_a_row_has_the_nearest_points_and_the_gradient(one, other):
    """The first joint turns the one about z, the second lifts the other."""
    for _ in range(sample(20)):
        places = random_pose(RNG, 0.2), random_pose(RNG, 0.2)
        links = [
            link((SHAPES[each], place), joint=joint)
            for joint, (each, place) in enumerate(zip((one, other), places, strict=True))
        ]

        def at(q, links=links):
            first = RigidTransform.from_rpy(0.0, 0.0, q[0]).matrix
            second = first @ RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.0, 0.0, q[1])).matrix
            return separated(*links, frames=np.array([first[:3], second[:3]]), padding=0.01)

        q = np.array([0.3, 1.0])
        lower, _, row, gradient = at(q)
        assert row[GAP_DISTANCE] == lower > 0.0
        apart = row[POINT_A : POINT_A + 3] - row[POINT_B : POINT_B + 3]
        assert apart == pytest.approx((lower + 0.01) * row[NORMAL : NORMAL + 3], abs=1e-6)
        steps = 1e-5 * np.eye(2)
        slope = [(at(q + step)[0] - at(q - step)[0]) / 2e-5 for step in steps]
        assert gradient == pytest.approx(slope, abs=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("gap", [1e-3, 1e-6])
def test_bodies_that_nearly_touch_are_told_apart(shape, gap):
    """Face to face, where most directions are far from the one that counts."""
    body = SHAPES[shape]
    if shape == "hull":  # whose top has to be above its bottom
        points = body.hull.vertices
        body = Shape.hull_of(np.concatenate([points, points * [1.0, 1.0, -1.0]]))
    high = float(body.support(np.array([[0.0, 0.0, 1.0]]))[0])
    low = float(body.support(np.array([[0.0, 0.0, -1.0]]))[0])
    for shift, is_apart in ((gap, True), (-gap, False)):
        above = RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.0, 0.0, high + low + shift))
        lower, upper = bounds(link((body, RigidTransform.identity())), link((body, above)))
        assert (lower > 0.0) == is_apart
        assert (upper <= 0.0) != is_apart


@pytest.mark.parametrize("shape", SHAPES)
def test_one_body_in_the_same_place_as_another_overlaps(shape):
    same = link((SHAPES[shape], RigidTransform.identity()))
    lower, upper = bounds(same, same)
    assert lower < 0.0
    assert upper <= 0.0


def test_corners_that_depend_on_each_other_have_no_weights():
    weigh, gram, weights = from_python(weigh_corners), np.empty((4, 4)), np.empty(4)
    corners = np.zeros((4, 6))
    corners[:3, :3] = [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0]]
    assert weigh(corners, 2, 1.0, gram, weights)
    assert weights[:2] == pytest.approx([0.5, 0.5])
    assert not weigh(corners, 3, 1.0, gram, weights)
