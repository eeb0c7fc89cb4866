# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from from_python import from_python, sample

from basis_ik.collision import distance_kernel as kernels
from basis_ik.collision.point_cloud import PointCloud
from basis_ik.robot.chain_kernel import ChainArrays
from basis_ik.transforms.rigid import RigidTransform

shares = from_python(kernels.nearest_shares)
solid_distance = from_python(kernels.solid_distance)
across = from_python(kernels.across)
RNG = np.random.default_rng(5)
LINE = np.linspace(0.0, 1.0, 401)


def segments(kind):
    """Yield pairs of random segments as starts and axes."""
    for _ in range(sample(200)):
        a, u, b, v = RNG.normal(size=(4, 3))
        if kind == "parallel":
            v = RNG.normal() * u
        if kind == "points":
            u, v = u * RNG.integers(0, 2), 0.0 * v
        yield a, u, b, v


@pytest.mark.parametrize("kind", ["any", "parallel", "points"])
def test_no_other_points_of_two_segments_are_nearer(kind):
    for a, u, b, v in segments(kind):
        s, t = shares(tuple(u), tuple(v), tuple(a - b))
        found = np.linalg.norm(a + s * u - b - t * v)
        one, other = a + LINE[::20, None] * u, b + LINE[::20, None] * v
        least = np.linalg.norm(one[:, None] - other[None], axis=2).min()
        assert 0.0 <= s <= 1.0
        assert 0.0 <= t <= 1.0
        assert found <= least + 1e-12
        # Sums of the same numbers may be rounded differently, by where they lie in memory.
        assert found >= least - 0.1 * (np.linalg.norm(u) + np.linalg.norm(v)) - 1e-12


def test_segments_that_are_exactly_parallel_have_nearest_points():
    s, t = shares((1.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    assert s == 2.0 * t
    assert 0.0 <= s <= 1.0


@pytest.mark.parametrize("parallel", [False, True])
def test_a_direction_across_two_is_a_unit_vector(parallel):
    for _ in range(sample(100)):
        u, v = RNG.normal(size=(2, 3))
        v = 2.0 * u if parallel else v
        n = np.array(across(tuple(u), tuple(v)))
        assert np.linalg.norm(n) == pytest.approx(1.0)
        assert abs(n @ u) < 1e-12
        assert parallel or abs(n @ v) < 1e-12
    assert across((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)) == (1.0, 0.0, 0.0)


def solid_row(is_cylinder, place=None, half=(0.3, 0.3, 0.5)):
    into = np.linalg.inv(np.eye(4) if place is None else place)[:3].ravel()
    centre = np.zeros(3) if place is None else place[:3, 3]
    return np.array([*into, *half, float(is_cylinder), *centre, 0.7, 0.0, 0.0])


@pytest.mark.parametrize("is_cylinder", [False, True])
def test_the_gradient_of_a_solids_distance_is_its_slope(is_cylinder):
    solid = solid_row(is_cylinder)
    for _ in range(sample(300)):
        p = RNG.uniform(-1.0, 1.0, 3)
        d, gradient = solid_distance(solid, tuple(p))
        steps = 1e-7 * np.eye(3)
        slope = [
            (solid_distance(solid, tuple(p + h))[0] - solid_distance(solid, tuple(p - h))[0]) / 2e-7
            for h in steps
        ]
        assert np.linalg.norm(gradient) == pytest.approx(1.0)
        assert gradient == pytest.approx(slope, abs=1e-5)
        nearest = p - d * np.array(gradient)
        assert solid_distance(solid, tuple(nearest))[0] == pytest.approx(0.0, abs=1e-12)


def test_on_the_axis_of_a_cylinder_there_is_a_gradient():
    assert solid_distance(solid_row(True), (0.0, 0.0, 0.0)) == (-0.3, (1.0, 0.0, 0.0))


# Rows of pairs --------------------------------------------------------------------------------

# Two turning joints, a slide, and a joint that mimics the first.
CHAIN = ChainArrays(
    origins=np.array(
        [np.hstack([np.linalg.qr(RNG.normal(size=(3, 3)))[0], RNG.normal(size=(3, 1))])
         for _ in range(4)]
    ),
    prismatic=np.array([0, 0, 1, 0]),
    variables=np.array([0, 1, 2, 0]),
    multipliers=np.array([1.0, -1.0, 1.0, 0.5]),
    offsets=np.array([0.1, 0.0, 0.2, 0.3]),
    tip=np.eye(3, 4),
    lower=-np.ones(3),
    upper=np.ones(3),
    continuous=np.zeros(3, np.int64),
)  # fmt: skip
BALLS = np.array([[*RNG.normal(size=6), 0.05 + 0.02 * k, k // 2 - 1.0] for k in range(10)])
BALLS[3, 3:6] = BALLS[3, :3]  # a sphere
LINKS = np.array([[0, 2], [2, 4], [4, 6], [6, 8], [8, 10]])
PAIRS = np.array([(i, j) for i in range(5) for j in range(5) if i != j])
PLACE = np.eye(4)
PLACE[:3, 3] = 0.2, -0.1, 0.3
SOLIDS = np.array([solid_row(False, PLACE), solid_row(True, PLACE)])
TARGETS = np.array([(i, k) for i in range(5) for k in range(2)])
# Two clouds, of many points and of one, 0.01 m thicker.
TURNED = RigidTransform.from_rpy(0.3, -0.2, 1.0, (-0.4, 0.5, 0.2))
SEEN = [PointCloud.of(RNG.normal(size=(count, 3)), 0.2) for count in (500, 1)]
CLOUDS = np.array(
    [
        [*TURNED.inverse().matrix[:3].ravel(), 0.01, k * len(SEEN[0].tree), each.count, each.depth]
        for k, each in enumerate(SEEN)
    ]
)
BESIDE = np.array([(i, k) for i in range(5) for k in range(2)])
TREE = np.concatenate([each.tree for each in SEEN])
CLOUDLESS = CLOUDS[:0], BESIDE[:0], TREE[:0]
COUNT = len(PAIRS) + len(TARGETS) + len(BESIDE)
COVER = BALLS, LINKS, PAIRS, SOLIDS, TARGETS, CLOUDS, BESIDE, TREE, np.full(COUNT, 0.03)


def measured(q, within=kernels.FAR_AWAY, cover=COVER):
    work = np.empty((4, 3, 4)), np.empty((3, 4)), np.empty((len(BALLS), 10))
    count = len(cover[-1])
    rows, gradients = np.zeros((count, kernels.GAP_COLUMNS)), np.full((count, 3), np.nan)
    kernels.measure_pairs(CHAIN[:], cover, q, work, rows, gradients, within)
    return rows, gradients, work


def axis_points(world, number):
    return world[number, :3] + LINE[:, None] * world[number, 3:6]


def from_axis(world, number, points):
    """Return how far points are from the nearest one of a link's axis, shape (n,)."""
    off, axis = points - world[number, :3], world[number, 3:6]
    share = np.clip(off @ axis / max(axis @ axis, 1e-300), 0.0, 1.0)
    return np.linalg.norm(off - share[:, None] * axis, axis=1)


def brute_force(k, world):
    """Return the least distance of the points of a link's axes from what is beside them."""
    found = []
    if k < len(PAIRS):
        one, other = (range(*LINKS[each]) for each in PAIRS[k])
        for i in one:
            for j in other:
                apart = from_axis(world, j, axis_points(world, i))
                found.append(apart.min() - BALLS[i, 6] - BALLS[j, 6])
    elif k >= len(PAIRS) + len(TARGETS):
        link, number = BESIDE[k - len(PAIRS) - len(TARGETS)]
        centres = TURNED.apply(SEEN[number].spheres[:, :3])
        for i in range(*LINKS[link]):
            apart = from_axis(world, i, centres) - SEEN[number].spheres[:, 3]
            found.append(apart.min() - BALLS[i, 6] - 0.01)
    else:
        link, number = TARGETS[k - len(PAIRS)]
        for i in range(*LINKS[link]):
            points = axis_points(world, i) - PLACE[:3, 3]
            off = np.abs(points) - 0.3
            off[:, 2] = np.abs(points[:, 2]) - 0.5
            if number:
                off[:, 0] = np.hypot(points[:, 0], points[:, 1]) - 0.3
                off = off[:, [0, 2]]
            outside = np.linalg.norm(np.maximum(off, 0.0), axis=1)
            found.append((outside + np.minimum(off.max(axis=1), 0.0)).min() - BALLS[i, 6])
    return min(found) - 0.03


def test_distances_are_those_of_brute_force():
    for _ in range(sample(30)):
        rows, _, work = measured(RNG.uniform(-2.0, 2.0, 3))
        for k in range(COUNT):
            least = brute_force(k, work[2])
            assert rows[k, kernels.GAP_DISTANCE] <= least + 1e-12
            assert rows[k, kernels.GAP_DISTANCE] >= least - 0.02


def test_points_are_on_the_bodies_and_the_normal_leads_from_one_to_the_other():
    for _ in range(sample(30)):
        rows, _, _ = measured(RNG.uniform(-2.0, 2.0, 3))
        apart = rows[:, kernels.POINT_A : kernels.POINT_A + 3] - rows[:, kernels.POINT_B :][:, :3]
        along = (apart * rows[:, kernels.NORMAL : kernels.NORMAL + 3]).sum(axis=1)
        assert along == pytest.approx(rows[:, kernels.GAP_DISTANCE] + 0.03, abs=1e-9)


def test_gradients_are_those_of_finite_differences():
    checked = 0
    for _ in range(sample(60)):
        q = RNG.uniform(-2.0, 2.0, 3)
        _, gradients, _ = measured(q)
        ends = [
            (
                measured(q + h)[0][:, kernels.GAP_DISTANCE],
                measured(q - h)[0][:, kernels.GAP_DISTANCE],
            )
            for h in 1e-6 * np.eye(3)
        ]
        slopes = np.array([(high - low) / 2e-6 for high, low in ends]).T
        same = np.abs(slopes - gradients) < 1e-4
        checked += same.all(axis=1).sum()
        assert same.all(axis=1).mean() > 0.9  # elsewhere the nearest points jump
    assert checked > 0


def test_only_what_is_within_a_distance_is_measured():
    for _ in range(sample(60)):
        q = RNG.uniform(-2.0, 2.0, 3)
        everything, gradients, _ = measured(q)
        rows, some, _ = measured(q, within=0.2)
        near = everything[:, kernels.GAP_DISTANCE] < 0.2
        assert (rows[near] == everything[near]).all()
        assert (some[near] == gradients[near]).all()
        assert (rows[~near, kernels.GAP_DISTANCE] == 0.2).all()


def test_there_may_be_no_pair_at_all():
    none = (*COVER[:2], PAIRS[:0], SOLIDS[:0], TARGETS[:0], *CLOUDLESS, np.empty(0))
    rows, _, _ = measured(np.zeros(3), cover=none)
    assert len(rows) == 0


def test_axes_that_cross_have_a_direction():
    crossing = np.array([[-1.0, 0, 0, 1, 0, 0, 0.1, -1], [0, -1.0, 0, 0, 1, 0, 0.2, -1]])
    cover = (
        crossing,
        np.array([[0, 1], [1, 2]]),
        np.array([[0, 1]]),
        SOLIDS[:0],
        TARGETS[:0],
        *CLOUDLESS,
        np.zeros(1),
    )
    rows, gradients, _ = measured(np.zeros(3), cover=cover)
    assert rows[0, kernels.GAP_DISTANCE] == pytest.approx(-0.3)
    assert rows[0, kernels.NORMAL : kernels.NORMAL + 3] == pytest.approx([0.0, 0.0, 1.0])
    assert gradients[0].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("other", ["ball", "solid", "cloud"])
def test_the_padding_counts_in_what_is_within(other):
    balls = np.array([[0.0, 0, 0, 0, 0, 0, 0.1, -1], [1.0, 0, 0, 1, 0, 0, 0.1, -1]])
    box = solid_row(False, PLACE * 0.0 + np.eye(4), (0.1, 0.1, 0.1))
    box[3], box[16:19], box[19] = -1.0, [1.0, 0.0, 0.0], 0.1 * 3.0**0.5
    pairs, targets = np.array([[0, 1]]), np.array([[0, 0]])
    point = PointCloud.of([[0.9, 0.0, 0.0]])
    cloud = np.array([[*np.eye(3, 4).ravel(), 0.0, 0.0, 1.0, 0.0]]), targets, point.tree
    which = {
        "ball": (pairs, SOLIDS[:0], TARGETS[:0], *CLOUDLESS),
        "solid": (pairs[:0], box[None], targets, *CLOUDLESS),
        "cloud": (pairs[:0], SOLIDS[:0], TARGETS[:0], *cloud),
    }[other]
    cover = balls, np.array([[0, 1], [1, 2]]), *which, np.array([0.3])
    (row,), _, _ = measured(np.zeros(3), within=0.51, cover=cover)
    assert row[kernels.GAP_DISTANCE] == pytest.approx(0.5)
