# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Maps of arms with a known reach, by closed form or brute force; equal for all workers."""

import math
import os
import signal
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from basis_ik import RigidTransform, RobotModel, Scene, Shape, solve_batch
from basis_ik.extras.reach_map import blocks
from basis_ik.extras.reach_map.blocks import (
    Job,
    Work,
    WorkerError,
    cluster,
    fill,
    local_pool,
    manipulability,
    solve_blocks,
)
from basis_ik.extras.reach_map.map_files import (
    MapSpec,
    digest,
    digest_of_scene,
    empty_map,
    load_map,
    save_map,
)
from basis_ik.extras.reach_map.voxels import ball_of, grid_around, orientations

UPPER, FORE = 0.531, 0.377  # lengths of the planar arm's links [m]
PI = math.pi


def make(chain, voxel, count, position_only=False):
    """Return a map's work, and the empty map."""
    grid = grid_around(chain, voxel)
    job = Job.of(chain, count, position_only)
    work = Work(job, grid, grid.within(*ball_of(chain)))
    spec = MapSpec(chain.root, chain.tip, digest(chain), voxel, count, position_only)
    return work, empty_map(spec, grid, work.blocks)


def solved(chain, voxel, count=1, position_only=False):
    """Return a complete map, and its voxels' centres (nx, ny, nz, 3)."""
    work, map_ = make(chain, voxel, count, position_only)
    with ThreadPoolExecutor(1) as pool:
        fill(work, map_, pool, lambda: 1, lambda: None, lambda _: None)
    assert map_.complete
    centres = work.grid.centres(np.arange(map_.reached.size)).reshape(*map_.reached.shape, 3)
    return map_, centres


def planar(arm, first=(-PI, PI), second=(-PI, PI)):
    rows = [("revolute", "0 0 0", "0 0 0", "0 0 1", *first)]
    rows += [("revolute", f"{UPPER} 0 0", "0 0 0", "0 0 1", *second)]
    return arm(rows, f"{FORE} 0 0")


def test_a_planar_arm_reaches_its_ring_and_nothing_else(arm):
    map_, centres = solved(planar(arm), 0.05, position_only=True)
    away = np.hypot(centres[..., 0], centres[..., 1])
    ring = (away >= UPPER - FORE) & (away <= UPPER + FORE) & (centres[..., 2] == 0.0)
    np.testing.assert_array_equal(map_.reached == 1, ring)
    assert 900 < ring.sum() < ring.size / 10
    # By the law of cosines; both elbows have the same.
    cosine = (away**2 - UPPER**2 - FORE**2) / (2 * UPPER * FORE)
    expected = np.where(ring, UPPER * FORE * np.sqrt(np.clip(1 - cosine**2, 0, 1)), 0.0)
    np.testing.assert_allclose(map_.manipulability, expected, atol=1e-6)


def test_with_limits_it_reaches_what_brute_force_reaches(arm):
    first, second = (-1.15, 0.7), (0.5, 2.4)
    map_, centres = solved(planar(arm, first, second), 0.1, position_only=True)
    a, b = np.meshgrid(np.linspace(*first, 500), np.linspace(*second, 500))
    x = UPPER * np.cos(a) + FORE * np.cos(a + b)
    y = UPPER * np.sin(a) + FORE * np.sin(a + b)
    tried = np.stack([x.ravel(), y.ravel()], axis=1)
    apart = 0.003  # no place of the arm is farther from a place that was tried
    flat = centres[..., 2] == 0.0
    nearest = np.array([np.hypot(*(tried - c).T).min() for c in centres[flat][:, :2]])
    assert not ((nearest > 0.002) & (nearest < 0.01)).any(), "no voxel is a matter of luck"
    np.testing.assert_array_equal(map_.reached[flat] == 1, nearest < apart)
    assert map_.reached[~flat].sum() == 0
    assert 30 < map_.reached.sum() < 0.5 * flat.sum()


def gantry(arm, tilt):
    """Three slides and a wrist with axes through the tip and a limited tilt."""
    rows = [
        ("prismatic", "0 0 0", "0 0 0", axis, -0.35, 0.35) for axis in ("1 0 0", "0 1 0", "0 0 1")
    ]
    rows += [("revolute", "0 0 0", "0 0 0", "0 0 1", -PI, PI)]
    rows += [("revolute", "0 0 0", "0 0 0", "0 1 0", -tilt, tilt)]
    rows += [("revolute", "0 0 0", "0 0 0", "0 0 1", -PI, PI)]
    return arm(rows)


def test_the_share_is_that_of_the_orientations_within_the_wrists_tilt(arm):
    tilt, count = 1.2, 40
    map_, centres = solved(gantry(arm, tilt), 0.25, count)
    inside = (np.abs(centres) <= 0.35).all(axis=3)
    upright = orientations(count)[:, 2, 2]  # cosine of the angle from the root's z
    expected = int((upright >= math.cos(tilt)).sum())
    assert 0 < expected < count
    np.testing.assert_array_equal(map_.reached, np.where(inside, expected, 0))
    assert inside.sum() == 27
    np.testing.assert_allclose(map_.share[inside], expected / count, rtol=1e-6)
    # The slides' Jacobian is the identity; that of the wrist's angles has the sine of the tilt.
    best = np.sqrt(1 - upright[upright >= math.cos(tilt)] ** 2).max()
    np.testing.assert_allclose(map_.manipulability[inside], best, rtol=1e-6)
    assert (map_.manipulability[~inside] == 0).all()


@pytest.mark.parametrize("shape", [(6, 7), (6, 6), (6, 4), (3, 2)])
def test_manipulability_is_the_product_of_singular_values(shape):
    jacobian = np.random.default_rng(3).normal(size=shape)
    expected = np.prod(np.linalg.svd(jacobian, compute_uv=False))
    np.testing.assert_allclose(manipulability(jacobian), expected, rtol=1e-9)


def test_a_singular_jacobian_has_zero_manipulability():
    jacobian = np.array([[1.0, 1.0 / 3.0], [3.0, 1.0]])
    assert 0.0 <= manipulability(jacobian) < 1e-6


# By anybody, in any order ------------------------------------------------------------------------


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_SOLVES", 120)


def stored(file, map_):
    save_map(file, map_)
    return file.read_bytes()


@pytest.fixture
def panda(robot, tmp_path, small_blocks):
    """Return the Panda, and the file of a small map of it."""
    chain = robot("panda")
    map_, _ = solved(chain, 0.33, 8)
    assert len(map_.done) > 5
    return chain, stored(tmp_path / "expected.npz", map_)


def test_several_processes_make_the_same_map(panda, tmp_path):
    chain, expected = panda
    work, map_ = make(chain, 0.33, 8)
    with local_pool(2) as (pool, width):
        heard = pool.submit(signal.getsignal, signal.SIGINT).result()
        assert heard == signal.SIG_IGN, "Ctrl-C is for the command alone"
        fill(work, map_, pool, width, lambda: None, lambda _: None)
    assert stored(tmp_path / "found.npz", map_) == expected


def test_a_continued_map_is_the_same(panda, tmp_path):
    chain, expected = panda
    work, map_ = make(chain, 0.33, 8)
    file, shown = tmp_path / "found.npz", []

    def show(block):
        shown.append(block)
        if len(shown) == 3:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as pool, pytest.raises(KeyboardInterrupt):
        fill(work, map_, pool, lambda: 2, lambda: save_map(file, map_), show)
    again = load_map(file)
    assert again.done.sum() == 3
    with ThreadPoolExecutor(2) as pool:
        fill(work, again, pool, lambda: 2, lambda: save_map(file, again), shown.append)
    assert sorted(shown) == list(range(work.blocks)), "nothing is solved twice"
    assert file.read_bytes() == expected


def test_a_killed_worker_of_a_cluster_changes_nothing(panda, tmp_path):
    from distributed import LocalCluster

    chain, expected = panda
    work, map_ = make(chain, 0.33, 8)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
                      local_directory=str(tmp_path)) as machines:  # fmt: skip
        pids = [nanny.pid for nanny in machines.workers.values()]
        shown = []

        def show(block):
            shown.append(block)
            if len(shown) == 2:
                os.kill(pids[0], signal.SIGKILL)

        with cluster(machines.scheduler_address) as (pool, width):
            assert width() == 4
            fill(work, map_, pool, width, lambda: None, show)
    assert not Path(f"/proc/{pids[0]}").exists()
    assert sorted(shown) == list(range(work.blocks))
    assert stored(tmp_path / "found.npz", map_) == expected


def test_an_absent_scheduler_is_named(monkeypatch):
    monkeypatch.setattr(blocks, "SCHEDULER_TIMEOUT", 0.2)
    for address in ("tcp://127.0.0.1:9", "nowhere://x"):
        said = f"no scheduler responds at '{address}'.*`dask scheduler`"
        with pytest.raises(WorkerError, match=said), cluster(address):
            pass


def test_a_scheduler_without_workers_is_named(monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(blocks, "SCHEDULER_TIMEOUT", 0.5)
    said = "has no workers: start one by `dask worker inproc"
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as machines,
        pytest.raises(WorkerError, match=said),
        cluster(machines.scheduler_address),
    ):
        pass


def test_a_worker_without_the_package_is_named(monkeypatch):
    from distributed import LocalCluster

    # What the worker is asked; it is in this process, and so has all that this has.
    monkeypatch.setattr(blocks, "find_spec", lambda name: None)
    said = r"the worker inproc.* lacks basis_ik: install the same version"
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as machines,
        pytest.raises(WorkerError, match=said),
        cluster(machines.scheduler_address),
    ):
        pass


def test_the_loss_of_all_workers_is_an_error(robot, monkeypatch):
    monkeypatch.setattr(blocks, "SCHEDULER_TIMEOUT", 0.01)

    class Silent:
        def submit(self, function, *arguments):
            return Future()

    work, map_ = make(robot("panda"), 0.4, 1)
    with pytest.raises(WorkerError, match="no workers are left"):
        fill(work, map_, Silent(), lambda: 0, lambda: None, lambda _: None)


class Held:
    """A pool that starts work only when its result is needed, and counts its blocks."""

    def __init__(self):
        self.open, self.most = [], 0

    def submit(self, function, *arguments):
        future = Future()
        self.open.append((future, arguments))
        self.most = max(self.most, len(self.open))
        if len(self.open) == 3:
            future, (_, centres) = self.open.pop()
            future.set_result(len(centres))
        return future


def test_the_pool_holds_a_bounded_number_of_blocks(robot, small_blocks):
    """Memory is bounded, because centres are created lazily."""
    work, _ = make(robot("panda"), 0.2, 8)
    pool, taken = Held(), 0

    def given():
        nonlocal taken
        for block in range(work.blocks):
            taken += 1
            yield block, work.centres(block)

    results = solve_blocks(work.job, given(), pool, lambda: 3)
    for _ in range(10):
        next(results)
        assert taken <= 13
    assert pool.most == 3


def test_a_pool_that_breaks_is_named(robot):
    class Broken:
        def submit(self, function, *arguments):
            future = Future()
            future.set_exception(BrokenExecutor("a process was ended"))
            return future

    work, map_ = make(robot("panda"), 0.4, 1)
    saved = []
    with pytest.raises(WorkerError, match=r"worker processes have ended \(a process was ended\)"):
        fill(work, map_, Broken(), lambda: 1, lambda: saved.append(1), lambda _: None)
    assert saved == [1]


def test_a_map_is_saved_at_intervals(robot, monkeypatch, small_blocks):
    monkeypatch.setattr(blocks, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(blocks, "SAVE_SHARE", math.inf)
    work, map_ = make(robot("panda"), 0.4, 8)
    saved = []
    with ThreadPoolExecutor(1) as pool:
        fill(work, map_, pool, lambda: 1, lambda: saved.append(map_.done.sum()), lambda _: None)
    assert saved == [*range(1, work.blocks + 1), work.blocks]


def test_only_free_postures_count_and_the_others_are_counted_apart():
    model = RobotModel.example("ur5e")
    scene = Scene(model, exact=False)
    scene.add("wall", Shape.box(0.1, 4.0, 4.0), RigidTransform.from_rpy(0, 0, 0, (0.3, 0.0, 0.0)))
    chain, centres = scene.chain, np.array([[0.45, 0.2, 0.4], [-0.4, 0.2, 0.4], [3.0, 0.0, 0.0]])
    plain, free = (
        blocks.solve_block(Job.of(chain, 16, False, each), centres) for each in (None, scene)
    )
    assert (plain[2] == 0).all()
    assert (free[0] + free[2] == plain[0]).all(), "each is reached, or collides"
    assert free[0][0] == 0 < free[2][0], "the wall is between the arm and this voxel"
    assert free[1][0] == 0.0 < free[1][1]
    assert free[0][1] > 0
    assert free[0][2] == free[2][2] == 0
    found = solve_batch(
        chain, [RigidTransform.from_rotation_translation(turn, centres[1])
                for turn in orientations(16)],
        max_restarts=blocks.MAP_RESTARTS, scene=scene,
    )  # fmt: skip
    assert free[0][1] == found.reached.sum()


def test_a_scene_has_a_digest_of_its_own():
    model = RobotModel.example("ur5e")
    plain, other, moved = (Scene(model, exact=False) for _ in range(3))
    assert digest_of_scene(plain) == digest_of_scene(other)
    digests = {digest_of_scene(plain)}
    for x in (0.5, 0.6):
        moved.add("box", Shape.box(0.1, 0.1, 0.1), RigidTransform.from_rpy(0, 0, 0, (x, 0, 0)))
        digests.add(digest_of_scene(moved))
        moved.remove("box")
    other.allow(*other.pairs[0])
    digests |= {digest_of_scene(other), digest_of_scene(Scene(model, exact=False, padding=0.01))}
    assert len(digests) == 5
