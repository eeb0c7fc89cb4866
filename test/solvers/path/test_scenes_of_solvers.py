# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is related to `solve` keeps clear of a scene, too; MuJoCo judges, from the URDF's text."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from contact_judge import Judge

from basis_ik import (
    RigidTransform,
    RobotModel,
    Scene,
    Shape,
    SolveArgumentError,
    Verdict,
    follow,
    line,
    look_at,
    solve,
    solve_all,
    solve_batch,
    solve_pole,
    solve_posture,
    track,
)
from basis_ik.search.prepare import prepared
from basis_ik.solvers.look.look_alternatives import RayAlternatives
from basis_ik.solvers.look.look_at import with_ray

URDFS = Path(__file__).parents[3] / "urdf"
POST = "post", "box", (0.05, 0.05, 0.6), (0.45, 0.1, 0.6)
Z = (0.0, 0.0, 1.0)


class Cell:
    """An arm beside a post, and a judge that shares no code with the package."""

    def __init__(self, name):
        self.model = RobotModel.example(name)
        self.scene = Scene(self.model, exact=False)
        _, _, half, place = POST
        post = Shape.box(*(2.0 * size for size in half))
        self.scene.add("post", post, RigidTransform.from_rpy(0.0, 0.0, 0.0, place))
        self.chain, text = self.scene.chain, (URDFS / f"{name}.urdf").read_text()
        self.judge = Judge(text, self.chain, [POST], self.scene.pairs)
        rng = np.random.default_rng(0)
        self.seeds = [self.chain.random(rng) for _ in range(120)]
        self.targets = [self.chain.forward(self.chain.random(rng)) for _ in self.seeds]
        self.points = rng.uniform(-1.0, 1.0, (len(self.seeds), 3))

    def is_free(self, q):
        return self.judge.distances(q).min() > -1e-6


CELLS = {name: Cell(name) for name in ("ur5e", "panda")}


@pytest.fixture(params=CELLS)
def cell(request):
    return CELLS[request.param]


def test_a_ray_meets_its_point_by_free_positions(cell):
    others = 0
    for point, seed in zip(cell.points, cell.seeds, strict=True):
        plain, free = (
            look_at(cell.chain, point, seed, axis=Z, origin=(0.0, 0.0, 0.05), scene=scene)
            for scene in (None, cell.scene)
        )
        if cell.scene.is_free(plain.positions):
            assert free == plain  # to the bit
        elif plain:
            others += 1
            assert free, str(free.reason)
            assert cell.is_free(free.positions)
            assert (cell.chain.lower <= free.positions).all()
            assert (free.positions <= cell.chain.upper).all()
            tip = cell.chain.forward(free.positions)
            way = point - tip.apply(np.array([0.0, 0.0, 0.05]))
            assert way @ tip.rotation[:, 2] > 0.0
            assert np.linalg.norm(np.cross(way, tip.rotation[:, 2])) < 1e-5
    assert others > 10


def test_of_further_starts_the_nearest_free_look_is_taken(cell):
    asked = 0
    for point, seed in zip(cell.points[:60], cell.seeds, strict=False):
        plain, free = (
            look_at(cell.chain, point, seed, axis=Z, scene=scene) for scene in (None, cell.scene)
        )
        if not plain or cell.scene.is_free(plain.positions):
            continue
        asked += 1
        moves = [
            np.linalg.norm(each.positions - seed)
            for start in cell.seeds[:40]
            if (each := look_at(cell.chain, point, start, axis=Z))
            and cell.scene.is_free(each.positions)
        ]
        assert np.linalg.norm(free.positions - seed) <= min(moves) + 0.05
    assert asked > 5


def test_the_rows_of_a_ray_are_the_derivative_of_its_miss(cell):
    ready = with_ray(prepared(cell.chain), Z, (0.02, -0.03, 0.05))
    point, seed = cell.points[0], cell.seeds[0]
    met = look_at(cell.chain, point, seed, axis=Z, origin=(0.02, -0.03, 0.05)).positions
    ways = RayAlternatives(cell.chain, ready, point, seed, 1e-6)
    _, _, spare = np.linalg.svd(ways.rows(met))
    for aside in spare[2:]:
        _, _, angle = ways.arrive(met, 0)
        moved = RayAlternatives(cell.chain, ready, point, seed, 1e-3).arrive(met + 1e-4 * aside, 0)
        assert moved[2] < 1e-6, "to first order the ray keeps its point"
        assert np.linalg.norm(moved[0] - met) > 0.5e-4
        assert angle < 1e-6


def test_a_look_that_is_blocked_names_the_pair_and_one_that_is_far_says_so():
    cell = CELLS["ur5e"]
    seed = np.array([0.0, -1.4, 1.2, -1.3, -1.5, 0.3])
    scene = cell.scene.copy()
    scene.add("ball", Shape.sphere(0.25), RigidTransform.from_rpy(0, 0, 0, (0.0, 0.0, 0.15)))
    point = (0.3, 0.4, 0.5)
    blocked = look_at(cell.chain, point, seed, axis=Z, scene=scene, max_restarts=5)
    assert blocked.verdict is Verdict.COLLISION
    assert "ball" in blocked.reason.pair
    assert not blocked.reason.proven
    assert "no other posture that is free was found" in str(blocked.reason)
    for start, point in zip(cell.seeds, cell.points, strict=True):
        plain = look_at(cell.chain, point, start, axis=Z)
        if plain and not cell.scene.is_free(plain.positions):
            most = np.abs(plain.positions - start).max() + 1e-9
            free = look_at(cell.chain, point, start, axis=Z, scene=cell.scene)
            if np.abs(free.positions - start).max() > most + 0.5:
                held = look_at(cell.chain, point, start, axis=Z, scene=cell.scene, max_move=most)
                assert np.abs(held.positions - start).max() <= most + 1e-9
                assert held or held.reason.elsewhere
                break
    else:
        pytest.fail("no such look")


def pan_tilt(shape):
    text = "<robot name='head'><link name='base'/><link name='neck'/><link name='eye'><collision>"
    text += f"<origin xyz='0.3 0 0'/><geometry>{shape}</geometry></collision></link>"
    for name, parent, child, axis in (
        ("p", "base", "neck", "0 0 1"),
        ("t", "neck", "eye", "0 1 0"),
    ):
        text += f"<joint name='{name}' type='continuous'><parent link='{parent}'/>"
        text += f"<child link='{child}'/><axis xyz='{axis}'/></joint>"
    return RobotModel.from_urdf(text + "</robot>")


def test_a_head_turns_over_if_its_nearer_branch_collides_and_knows_if_both_do():
    model = pan_tilt("<sphere radius='0.05'/>")
    scene = Scene(model, exact=False)
    scene.add("lamp", Shape.sphere(0.1), RigidTransform.from_rpy(0, 0, 0, (0.3, 0.0, 0.0)))
    blocked = look_at(scene.chain, (2.0, 0.0, 0.0), scene=scene)
    assert blocked.verdict is Verdict.COLLISION
    assert blocked.reason.proven, "both branches put the eye in the same place"
    assert blocked.reason.pair == ("eye", "lamp")
    assert look_at(scene.chain, (0.0, 2.0, 0.0), scene=scene)


def test_all_solutions_of_a_scene_are_the_free_ones(cell):
    left_out = 0
    for target, seed in zip(cell.targets[:40], cell.seeds, strict=False):
        everything, free = (
            solve_all(cell.chain, target, seed, scene=scene) for scene in (None, cell.scene)
        )
        wanted = [each for each in everything if cell.scene.is_free(each.positions)]
        assert [each.positions.tobytes() for each in free] == [
            each.positions.tobytes() for each in wanted
        ]
        assert all(cell.is_free(each.positions) for each in free)
        left_out += len(everything) - len(free)
    assert left_out > 20


def test_a_batch_solves_as_solve_does_and_says_what_collides(cell):
    seeds = np.array(cell.seeds)
    batch = solve_batch(cell.chain, cell.targets, seeds, scene=cell.scene, threads=2)
    for k, (target, seed) in enumerate(zip(cell.targets, seeds, strict=True)):
        alone = solve(cell.chain, target, seed, scene=cell.scene)
        assert batch.positions[k].tobytes() == alone.positions.tobytes()
        assert batch.reached[k] == alone.success
        assert batch.collides[k] == (alone.verdict is Verdict.COLLISION)
        assert not batch.reached[k] or cell.is_free(batch.positions[k])
    assert batch.collides.any()
    assert not solve_batch(cell.chain, cell.targets, seeds).collides.any()


def test_preferences_count_among_free_solutions(cell):
    elbow, pole = cell.chain.links[4], (0.0, 0.0, 1.0)
    moved = 0
    for target in cell.targets[:60]:
        for how in (
            partial(solve_posture, cell.chain, target, cell.chain.neutral),
            partial(solve_posture, cell.chain, target, cell.chain.neutral, starts=1),
            partial(solve_pole, cell.chain, target, elbow, pole),
        ):
            solution, plain = how(scene=cell.scene), how(scene=None)
            assert solution.success == solve(cell.chain, target, scene=cell.scene).success
            assert not solution or cell.is_free(solution.positions)
            moved += solution.success and not cell.is_free(plain.positions)
    assert moved > 5


def test_a_tracked_target_is_followed_up_to_a_collision(cell):
    held = 0
    for target, seed in zip(cell.targets[:40], cell.seeds, strict=False):
        if not cell.scene.is_free(seed):
            continue
        q = seed
        for _ in range(150):
            step = track(cell.chain, target, q, 0.03, scene=cell.scene)
            assert cell.is_free(step.positions)
            assert np.abs(step.positions - q).max() <= 0.03 + 1e-9
            if step.verdict is Verdict.COLLISION:
                beyond = track(cell.chain, target, q, 0.03)
                assert not cell.scene.is_free(beyond.positions)
                names = [gap.names for gap in cell.scene.collisions(beyond.positions)]
                assert step.reason.depth == 0.0
                assert str(step.reason).startswith(f"held by {' and '.join(step.reason.pair)}; ")
                held += step.reason.pair in names
            q = step.positions
            if step or step.verdict is Verdict.COLLISION:
                break
    assert held > 5


def test_a_step_leaves_a_collision_and_deepens_none():
    cell = CELLS["ur5e"]
    scene = cell.scene.copy()
    q = np.array([0.0, -1.4, 1.2, -1.3, -1.5, 0.3])
    scene.remove("post")
    tip = cell.chain.forward(q)
    scene.add("ball", Shape.sphere(0.1), tip @ RigidTransform.from_rpy(0, 0, 0, (0, 0, 0.07)))
    depth = -scene.collisions(q)[0].distance

    def back(distance):
        return tip @ RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.0, 0.0, -distance))

    for target, most in ((back(0.05), depth - 1e-4), (tip, depth + 1e-9)):
        step = track(cell.chain, target, q, 0.002, scene=scene)
        assert step.verdict is Verdict.COLLISION
        assert 0.0 < step.reason.depth <= most
        assert "ball overlap by" in str(step.reason)
    step = track(cell.chain, back(-0.05), q, 0.02, scene=scene)
    assert scene.collisions(step.positions)[0].distance >= -depth - 1e-9, "not deeper"
    here = q
    for _ in range(100):
        step = track(cell.chain, back(0.1), here, 0.02, scene=scene)
        here = step.positions
    assert step
    assert scene.is_free(here)


def test_a_path_goes_around_what_is_in_its_way_or_ends_before_it(cell):
    farther, ended = 0, 0
    for seed, end in zip(cell.seeds[:24], cell.targets, strict=False):
        if not cell.scene.is_free(seed):
            continue
        way = line(cell.chain.forward(seed), end, step=0.02, turn=0.1)
        plain, free = (follow(cell.chain, way, seed, scene=scene) for scene in (None, cell.scene))
        assert all(map(cell.is_free, free.positions))
        moves = np.abs(np.diff(free.positions, axis=0))
        assert moves.max(initial=0.0) <= 0.2 + 1e-9
        struck = [k for k, q in enumerate(plain.positions) if not cell.scene.is_free(q)]
        if struck:
            assert len(free.positions) >= struck[0]
            farther += len(free.positions) > struck[0]
            ended += free.reason.verdict is Verdict.COLLISION
    assert farther >= 2
    assert ended >= 1


def test_a_scene_of_other_joints_is_refused_by_all(cell):
    other = next(each for each in CELLS.values() if each is not cell).scene
    chain, target, seed = cell.chain, cell.targets[0], cell.seeds[0]
    for call in (
        lambda: look_at(chain, (1.0, 0.0, 0.5), scene=other),
        lambda: solve_all(chain, target, scene=other),
        lambda: solve_batch(chain, [target], scene=other),
        lambda: solve_posture(chain, target, seed, scene=other),
        lambda: solve_pole(chain, target, chain.links[4], Z, scene=other),
        lambda: track(chain, target, seed, 0.1, scene=other),
        lambda: follow(chain, [target], scene=other),
    ):
        with pytest.raises(SolveArgumentError, match="scene must be of the same joints"):
            call()
