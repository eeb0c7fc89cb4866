# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest
from bodies import random_pose

from basis_ik import RigidTransform, RobotModel, Scene, Shape, SolveArgumentError, Verdict, solve
from basis_ik.collision.collision_scene import tables_of
from basis_ik.collision.point_cloud import MOST_CLOUD_POINTS, PointCloud, seen
from basis_ik.collision.shape import SceneError

MODELS = {name: RobotModel.example(name) for name in ("ur5e", "panda")}
SCENES = {name: Scene(model, exact=False) for name, model in MODELS.items()}
HOME = np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0])
SIZE = 0.03


@pytest.fixture(params=SCENES)
def scene(request):
    return SCENES[request.param].copy()


def ball_of(count, radius=1.2, seed=0):
    """Return random points, on a sphere and in it."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3))
    points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
    points[::3] *= rng.uniform(0.3, 1.0, (len(points[::3]), 1))
    return points


def wall(x, step=0.01):
    across = np.arange(-0.8, 0.8, step)
    y, z = np.meshgrid(across, across + 0.5)
    return np.column_stack([np.full(y.size, x), y.ravel(), z.ravel()])


def from_shape(shape, points):
    """Return the distances of points (n, 3), in a shape's frame, from it; zero inside."""
    half = 0.5 * np.array(shape.size)
    if shape.kind == "box":
        off = np.abs(points) - half
    else:
        across = np.hypot(points[:, 0], points[:, 1])
        up = np.abs(points[:, 2])
        if shape.kind in ("sphere", "capsule"):
            rise = np.maximum(up - (half[2] if shape.kind == "capsule" else 0.0), 0.0)
            return np.maximum(np.hypot(across, rise) - half[0], 0.0)
        off = np.column_stack([across, up]) - half[[0, 2]]
    return np.linalg.norm(np.maximum(off, 0.0), axis=1)


def true_distances(scene, q, points):
    """Return the distance of each link's shapes from the nearest of points, by brute force."""
    frames, found = scene.chain._evaluate(q)[0], {}
    for link in scene._links:
        pose = np.eye(4)
        if link.joint >= 0:
            pose[:3] = frames[link.joint]
        found[link.name] = min(
            from_shape(
                shape, ((RigidTransform.from_matrix(pose) @ place).inverse()).apply(points)
            ).min()
            for shape, place in link.bodies
        )
    return found


# Spheres ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 4, 5, 300, 4000])
def test_spheres_contain_their_points_and_are_no_larger_than_voxels(count):
    points = ball_of(count, seed=count)
    cloud = PointCloud.of(points, SIZE)
    apart = np.linalg.norm(points[:, None] - cloud.spheres[None, :, :3], axis=2)
    assert (apart <= cloud.spheres[:, 3]).any(axis=1).all()
    assert cloud.count == len(np.unique(np.floor(points / SIZE), axis=0)) == len(cloud.spheres)
    assert cloud.surplus <= 0.5 * math.sqrt(3.0) * SIZE + 1e-8


@pytest.mark.parametrize("count", [0, 1, 4, 5, 8, 9, 1000])
def test_nodes_contain_what_is_below_them(count):
    cloud = PointCloud.of(ball_of(count, seed=count), SIZE)
    for depth in range(cloud.depth + 1):
        for j in range(1 << depth):
            *centre, radius = cloud.tree[(1 << depth) + j]
            low, high = ((cloud.count * k) >> depth for k in (j, j + 1))
            below = cloud.spheres[low:high]
            apart = np.linalg.norm(below[:, :3] - centre, axis=1)
            assert (apart + below[:, 3] <= radius).all()


def test_points_in_one_place_and_on_a_line_have_a_tree():
    assert PointCloud.of(np.zeros((5000, 3))).count == 1
    line = np.zeros((5000, 3))
    line[:, 1] = np.linspace(-5.0, 5.0, 5000)
    assert PointCloud.of(line).count == len(np.unique(np.floor(line[:, 1] / 0.02)))


def test_points_that_a_sensor_does_not_see_are_dropped():
    points = np.array([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [0.0, np.inf, 0.0], [1.0, 0.0, 0.0]])
    assert PointCloud.of(points).count == 2
    for none in ([], np.empty((0, 3)), points[1:3]):
        assert PointCloud.of(none).count == 0


@pytest.mark.parametrize(
    ("points", "resolution", "words"),
    [
        ([[0.0, 0.0]], 0.02, "shape \\(n, 3\\)"),
        ("points", 0.02, "shape \\(n, 3\\)"),
        ([[0.0, 0.0, 2e4]], 0.02, "beyond 10000 m"),
        (np.zeros((MOST_CLOUD_POINTS + 1, 3)), 0.02, "500001 points are more than 500000"),
        ([[0.0, 0.0, 0.0]], 0.001, "from 0.002 to 0.5 m"),
        ([[0.0, 0.0, 0.0]], np.nan, "from 0.002 to 0.5 m"),
    ],
)
def test_what_is_no_cloud_is_refused(points, resolution, words):
    with pytest.raises(SceneError, match=words):
        PointCloud.of(points, resolution)


def test_points_of_the_robot_and_far_ones_are_left_out():
    rng = np.random.default_rng(2)
    points = np.append(rng.normal(size=(4000, 3)), [[np.nan, 0.0, 0.0], [0.0, np.inf, 0.0]], axis=0)
    capsules = np.append(rng.normal(size=(6, 6)), np.full((6, 1), 0.2), axis=1)
    capsules[0, 3:6] = capsules[0, :3]  # a sphere
    reaches = np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.5]])
    pose = random_pose(rng)
    kept = seen(points, pose.matrix[:3].copy(), reaches, capsules)
    placed = pose.apply(points[:-2])
    near = [np.linalg.norm(placed - r[:3], axis=1) <= r[3] for r in reaches]
    share = np.linspace(0.0, 1.0, 2001)[:, None]
    apart = [
        np.linalg.norm(placed[:, None] - (c[:3] + share * (c[3:6] - c[:3])), axis=2).min(axis=1)
        for c in capsules
    ]
    wanted = placed[np.any(near, axis=0) & (np.min(apart, axis=0) > 0.2)]
    assert 100 < len(wanted) < 4000
    assert kept == pytest.approx(wanted)


# In a scene -------------------------------------------------------------------------------------


def test_a_distance_is_at_most_the_true_one_and_by_what_covers_add(scene):
    points, rng = ball_of(3000), np.random.default_rng(1)
    scene.add_points("points", points, resolution=SIZE)
    moved = {one for one, other in scene.pairs if other == "points"}
    assert moved == {link.name for link in scene._links if link.joint >= 0}
    checked = 0
    for _ in range(15):
        q = scene.chain.random(rng)
        true = true_distances(scene, q, points)
        gaps = {gap.names[0]: gap for gap in scene.gaps(q) if gap.names[1] == "points"}
        for name in moved:
            gap = gaps[name]
            assert gap.distance <= true[name] + 1e-9
            # A sphere has points on opposite sides of it.
            assert gap.distance >= true[name] - scene.surplus[name] - math.sqrt(3.0) * SIZE
            assert not gap.exact
            checked += 1
    assert checked > 50


def test_the_gradient_leads_away_from_points(scene):
    scene.add_points("points", ball_of(500), resolution=SIZE)
    rng, right = np.random.default_rng(4), []
    for _ in range(10):
        q = scene.chain.random(rng)
        for gap in scene.gaps(q):
            if "points" in gap.names:
                after = {each.names: each for each in scene.gaps(q + 1e-5 * gap.gradient)}
                gained = after[gap.names].distance - gap.distance
                right.append(abs(gained - 1e-5 * gap.gradient @ gap.gradient) < 1e-8)
    assert len(right) > 50
    assert np.mean(right) > 0.9  # elsewhere the nearest sphere changes


def test_an_arm_in_points_collides_and_says_with_what():
    scene = SCENES["ur5e"].copy()
    scene.add_points("points", wall(0.55))
    gaps = scene.collisions(HOME)
    assert ("wrist_2_link", "points") in {gap.names for gap in gaps}
    assert all(gap.distance < 0.0 for gap in gaps)
    assert not any(gap.certain for gap in gaps), "only the covers are known to overlap"
    assert not scene.is_free(HOME)
    scene.add_points("points", wall(1.5))
    assert scene.is_free(HOME)


def test_where_coal_measures_depths_those_of_points_are_by_covers(coal):
    model = MODELS["ur5e"]
    scene = Scene(model, exact=True)
    scene.add_points("points", wall(0.55))
    found = {gap.names: gap for gap in scene.collisions(HOME)}
    assert not found["wrist_2_link", "points"].exact


def test_new_points_replace_those_before_without_new_tables(scene):
    q, rng = scene.chain.random(np.random.default_rng(5)), np.random.default_rng(6)
    scene.add_points("points", ball_of(400), resolution=SIZE)
    scene.add_points("more", ball_of(300, 0.9, seed=9), resolution=SIZE)
    scene.add("box", Shape.box(0.1, 0.1, 0.1), random_pose(rng))
    slots, changes = tables_of(scene).slots, scene.changes
    for name, count in (("points", 900), ("more", 7), ("points", 0), ("more", 2000)):
        pose = random_pose(rng)
        scene.add_points(name, ball_of(count, seed=count), pose, resolution=SIZE)
        twin = scene.copy()  # packs all of it anew
        assert [gap.distance for gap in scene.gaps(q)] == [gap.distance for gap in twin.gaps(q)]
    assert tables_of(scene).slots is slots
    assert scene.changes == changes + 4


def test_points_are_moved_padded_allowed_and_removed():
    scene, q = SCENES["ur5e"].copy(), HOME
    scene.add_points("points", wall(0.0), RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.9, 0.0, 0.0)))

    def distance():
        return min(gap.distance for gap in scene.gaps(q) if "points" in gap.names)

    far = distance()
    scene.move("points", RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.8, 0.0, 0.0)))
    assert distance() == pytest.approx(far - 0.1, abs=5e-3)
    near = distance()
    scene.pad("points", 0.03)
    assert distance() == pytest.approx(near - 0.03)
    scene.allow("wrist_3_link", "points")
    assert ("wrist_3_link", "points") not in scene.pairs
    assert "voxels" in str(scene)
    scene.remove("points")
    assert scene.objects == ()


def test_names_and_attachments_of_points_are_refused():
    scene = SCENES["ur5e"].copy()
    scene.add("box", Shape.box(0.1, 0.1, 0.1), RigidTransform.identity())
    for name in ("box", "wrist_3_link", ""):
        with pytest.raises(SceneError):
            scene.add_points(name, wall(1.0))
    scene.add_points("points", wall(1.0))
    with pytest.raises(SceneError, match="points cannot be attached"):
        scene.attach("points", "tool0", RigidTransform.identity())
    with pytest.raises(SceneError, match="an object of this name"):
        scene.add("points", Shape.box(0.1, 0.1, 0.1), RigidTransform.identity())
    with pytest.raises(SolveArgumentError):
        scene.add_points("points", wall(1.0), resolution="fine")


def test_a_solve_avoids_points_or_says_what_is_struck():
    scene = SCENES["ur5e"].copy()
    target = scene.chain.forward(HOME)
    scene.add_points("points", wall(0.3))
    found = solve(scene.chain, target, HOME, scene=scene)
    assert found.verdict is Verdict.COLLISION
    assert "points" in str(found.reason)
    assert not found.reason.proven
    scene.add_points("points", [])
    assert solve(scene.chain, target, HOME, scene=scene).verdict is Verdict.REACHED


def test_an_attached_object_keeps_away_from_points_too():
    scene = SCENES["ur5e"].copy()
    scene.add("tool", Shape.box(0.02, 0.02, 0.3), RigidTransform.identity())
    scene.attach("tool", "tool0", RigidTransform.identity(), touch=["wrist_3_link"])
    scene.add_points("points", wall(0.6))
    assert ("tool", "points") in scene.pairs


def test_the_robot_and_its_reach_contain_all_its_shapes(scene):
    rng = np.random.default_rng(3)
    link = scene.chain.tip
    scene.add("tool", Shape.box(0.02, 0.02, 0.3), RigidTransform.identity())
    scene.attach("tool", link, RigidTransform.identity())
    *centre, radius = scene.reach()
    for _ in range(20):
        q = scene.chain.random(rng)
        capsules, frames = scene.robot_at(q), scene.chain._evaluate(q)[0]
        for thing in (*scene._links, *scene._objects.values()):
            pose = np.eye(4)
            if thing.joint >= 0:
                pose[:3] = frames[thing.joint]
            for shape, place in thing.bodies:
                if not shape.is_round:
                    corners = (RigidTransform.from_matrix(pose) @ place).apply(shape.hull.vertices)
                    if thing.joint >= 0:
                        assert (np.linalg.norm(corners - centre, axis=1) <= radius).all()
                    # The prism around a cylinder has its corners outside of it, and in the cover.
                    assert not len(
                        seen(corners, np.eye(3, 4), np.array([[0, 0, 0, 9.0]]), capsules)
                    )
