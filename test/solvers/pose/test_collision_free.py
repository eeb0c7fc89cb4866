# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Solutions that do not collide, and what is said where there are none."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from basis_ik import RigidTransform, RobotModel, Scene, Shape, SolveArgumentError, Verdict, solve
from basis_ik.closed_form.closed_form import ClosedForm
from basis_ik.collision import exact
from basis_ik.search.arguments import hold_near
from basis_ik.solvers.pose.collision_free import PoseAlternatives, find_free
from basis_ik.solvers.pose.pose_problem import PoseProblem, read_problem
from basis_ik.solvers.pose.solve_all import solve_all

MODELS = {name: RobotModel.example(name) for name in ("ur5e", "panda")}
SCENES = {name: Scene(model, exact=False) for name, model in MODELS.items()}
UP = np.array([0.0, -1.4, 1.2, -1.3, -1.5, 0.3])


@pytest.fixture(params=SCENES)
def scene(request):
    return SCENES[request.param]


def fresh(name="ur5e"):
    return Scene(MODELS[name], exact=False)


def free_targets(scene, count, seed=0):
    """Yield poses that some free positions reach, and a seed."""
    rng = np.random.default_rng(seed)
    while count:
        q = scene.chain.random(rng)
        if scene.is_free(q):
            count -= 1
            yield scene.chain.forward(q), scene.chain.random(rng)


def test_targets_that_free_positions_reach_are_reached_freely(scene):
    others = 0
    for target, seed in free_targets(scene, 400):
        plain, solution = solve(scene.chain, target, seed), solve(
            scene.chain, target, seed, scene=scene
        )  # fmt: skip
        assert solution
        assert scene.is_free(solution.positions)
        assert scene.chain.forward(solution.positions).is_close(target, 1e-5)
        assert (scene.chain.lower <= solution.positions).all()
        assert (solution.positions <= scene.chain.upper).all()
        if scene.is_free(plain.positions):
            assert solution == plain  # to the bit
        else:
            others += 1
            assert not solution.positions.flags.writeable
    assert others > 3


def test_of_all_branches_it_is_the_nearest_that_is_free():
    scene, asked = fresh(), 0
    scene.add("wall", Shape.box(0.05, 2.0, 1.0), RigidTransform.from_rpy(0, 0, 0, (0.5, 0, 0.5)))
    for target, seed in free_targets(scene, 80, seed=1):
        solution = solve(scene.chain, target, seed, scene=scene)
        if scene.is_free(solve(scene.chain, target, seed).positions):
            continue
        asked += 1
        costs = [
            np.linalg.norm(each.positions - seed)
            for each in solve_all(scene.chain, target, seed)
            if scene.is_free(each.positions)
        ]
        assert np.linalg.norm(solution.positions - seed) == pytest.approx(min(costs), abs=1e-4)
    assert asked >= 3


def test_spare_joints_lead_around_an_object():
    """The elbow of a seven-joint arm leaves a ball; the tip stays."""
    scene = fresh("panda")
    q = np.array([0.0, -0.3, 0.2, -2.2, 0.1, 1.9, 0.8])
    target = scene.chain.forward(q)
    elbow = scene.chain.forward(q, link="panda_link4").translation
    place = np.eye(4)
    place[:3, 3] = elbow + np.array([0.0, 0.0, 0.08])
    scene.add("ball", Shape.sphere(0.06), place)
    assert not scene.is_free(solve(scene.chain, target, q).positions)
    solution = solve(scene.chain, target, q, scene=scene)
    assert solution
    assert scene.is_free(solution.positions)
    free = [
        np.linalg.norm(each.positions - q)
        for each in solve_all(scene.chain, target, q, starts=2000)
        if scene.is_free(each.positions)
    ]
    assert np.linalg.norm(solution.positions - q) <= min(free) + 1e-6


def test_a_free_orientation_is_used_to_get_free():
    scene = fresh()
    target = scene.chain.forward(UP)
    place = scene.chain.forward(UP, link="wrist_1_link").matrix
    scene.add("ball", Shape.sphere(0.03), place)
    plain = solve(scene.chain, target, UP, position_only=True)
    assert not scene.is_free(plain.positions)
    solution = solve(scene.chain, target, UP, position_only=True, scene=scene)
    assert solution
    assert scene.is_free(solution.positions)
    tip = scene.chain.forward(solution.positions).translation
    assert tip == pytest.approx(target.translation, abs=1e-5)


def blocked(scene, radius=0.04):
    """Put a ball where the last link has to be."""
    target = scene.chain.forward(UP)
    scene.add("ball", Shape.sphere(radius), target)
    return target


def test_where_all_branches_collide_it_is_proven(monkeypatch):
    scene = fresh()
    target = blocked(scene)
    solution = solve(scene.chain, target, UP, scene=scene)
    assert solution.verdict is Verdict.COLLISION
    assert not solution
    assert solution.reason.proven
    assert solution.reason.pair == ("wrist_3_link", "ball")
    assert solution.reason.depth == pytest.approx(-scene.collisions(UP)[0].distance)
    assert solution.reason.depth > 0.03
    assert solution.positions == pytest.approx(UP, abs=1e-5)
    assert solution.position_error < 1e-6
    assert str(solution.reason).startswith("wrist_3_link and ball overlap by ")
    assert str(solution.reason).endswith("; all other postures collide, too")
    with monkeypatch.context() as patch:
        patch.setattr("basis_ik.solvers.pose.collision_free._is_certain", lambda gap: False)
        assert not solve(scene.chain, target, UP, scene=scene).reason.proven
    with monkeypatch.context() as patch:  # as near a singularity, where there may be more
        patch.setattr(ClosedForm, "proof_margin", lambda *tolerances: np.inf)
        assert not solve(scene.chain, target, UP, scene=scene).reason.proven


def test_an_exact_depth_is_less_than_that_of_covers(coal):
    scene = Scene(MODELS["ur5e"], exact=True)
    solution = solve(scene.chain, blocked(scene), UP, scene=scene)
    assert solution.verdict is Verdict.COLLISION
    assert solution.reason.proven
    covers = fresh()
    assert 0.0 < solution.reason.depth < solve(
        covers.chain, blocked(covers), UP, scene=covers
    ).reason.depth  # fmt: skip


@pytest.fixture
def coal(monkeypatch):
    """Exact distances, by MuJoCo where coal is not installed."""
    if not exact.is_available():
        import mujoco_coal

        monkeypatch.setitem(sys.modules, "coal", mujoco_coal)
        monkeypatch.setattr(exact, "check_extra", lambda option, package: None)


def test_shapes_that_are_their_own_cover_make_it_certain():
    text = "<robot name='r'><link name='a'/><link name='b'/><link name='c'><collision>"
    text += "<geometry><sphere radius='0.1'/></geometry></collision></link>"
    for name, parent, child, x in (("j", "a", "b", 0.0), ("k", "b", "c", 1.0)):
        text += f"<joint name='{name}' type='continuous'><parent link='{parent}'/>"
        text += f"<child link='{child}'/><origin xyz='{x} 0 0'/><axis xyz='0 0 1'/></joint>"
    model = RobotModel.from_urdf(text + "</robot>")
    scene = Scene(model, exact=False)
    scene.add("wall", Shape.box(0.4, 0.4, 0.4), RigidTransform.from_rpy(0, 0, 0, (1.0, 0, 0)))
    assert scene.distance([0.0, 0.0]).exact
    solution = solve(scene.chain, scene.chain.forward([0.0, 0.0]), scene=scene)
    assert solution.verdict is Verdict.COLLISION
    assert scene.is_free([np.pi, 0.0])


def test_without_a_closed_form_it_is_not_proven():
    scene = fresh("panda")
    home = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
    target = scene.chain.forward(home)
    scene.add("ball", Shape.sphere(0.03), target)
    solution = solve(scene.chain, target, home, scene=scene, max_restarts=30)
    assert solution.verdict is Verdict.COLLISION
    assert solution.reason.starts == 30
    assert not solution.reason.proven
    words = "no other posture that is free was found; given up after 30 starts"
    assert str(solution.reason).endswith(words)


def test_a_free_posture_beyond_the_largest_move_is_told_of():
    scene, found = SCENES["ur5e"], 0
    for target, _ in free_targets(scene, 200, seed=3):
        near = [
            each for each in solve_all(scene.chain, target) if not scene.is_free(each.positions)
        ]
        if not near:
            continue
        seed = near[0].positions
        held = solve(scene.chain, target, seed, max_move=1e-3, scene=scene)
        assert held.verdict is Verdict.COLLISION
        assert held.reason.elsewhere
        assert "another posture is free, but farther than allowed" in str(held.reason)
        wide = solve(scene.chain, target, seed, scene=scene)
        assert np.abs(wide.positions - seed).max() > 1e-3
        most = np.abs(wide.positions - seed).max() + 1e-6
        assert solve(scene.chain, target, seed, max_move=most, scene=scene)
        found += 1
        if found == 5:
            break
    assert found == 5


def test_the_best_effort_for_another_verdict_says_what_it_collides_with():
    scene = fresh()
    scene.add("far ball", Shape.sphere(0.3), RigidTransform.from_rpy(0, 0, 0, (0.9, 0.1, 0.3)))
    target = RigidTransform.from_rpy(0.0, 0.0, 0.0, (3.0, 0.3, 1.0))
    plain, solution = (solve(scene.chain, target, UP, scene=each) for each in (None, scene))
    assert solution.verdict is plain.verdict is Verdict.TOO_FAR
    assert solution.positions.tobytes() == plain.positions.tobytes()
    assert solution.reason.pair[1] == "far ball"
    assert str(solution.reason).startswith(f"{plain.reason}; there ")


def test_the_starts_end_with_the_time():
    scene = fresh("panda")
    home = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
    target = scene.chain.forward(home)
    scene.add("ball", Shape.sphere(0.03), target)
    problem = PoseAlternatives(
        PoseProblem(scene.chain, *read_problem(scene.chain, target, home, 1e-6, 1e-6))
    )
    assert find_free(problem, scene, home, 50, -np.inf).starts == 0
    assert find_free(problem, scene, home, 5, np.inf).starts == 5
    solution = solve(scene.chain, target, home, scene=scene, time_limit=0.01)
    assert solution.verdict is Verdict.COLLISION


def test_the_result_obeys_the_bound_on_the_move():
    scene = SCENES["panda"]
    for target, seed in free_targets(scene, 60, seed=5):
        solution = solve(scene.chain, target, seed, max_move=0.8, scene=scene)
        assert np.abs(solution.positions - seed).max() <= 0.8 + 1e-9
        ready, _, goal, start = read_problem(scene.chain, target, seed, 1e-6, 1e-6)
        held = PoseProblem(scene.chain, hold_near(ready, start, 0.8), target, goal, start)
        found = find_free(PoseAlternatives(held), scene, seed, 5, np.inf).found
        assert found is None or np.abs(found[0] - seed).max() <= 0.8 + 1e-9


def test_fabrik_and_parts_of_a_chain_take_a_scene():
    scene = SCENES["ur5e"]
    target = scene.chain.forward(UP)
    assert solve(scene.chain, target, UP, scene=scene, solver="fabrik")
    assert scene.chain.solve(target, UP, scene=scene)
    tool = scene.chain.with_tool("tool", RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.0, 0.0, 0.1)))
    assert solve(tool, tool.forward(UP), UP, scene=scene)
    assert solve(scene.chain.within(-2.0, 2.0), target, UP, scene=scene)


def test_a_solve_without_a_scene_loads_nothing_about_collisions():
    code = (
        "import sys; from basis_ik import RobotModel, solve\n"
        "chain = RobotModel.example('ur5e').chain()\n"
        "assert solve(chain, chain.forward(chain.neutral))\n"
        "assert not [each for each in sys.modules if 'basis_ik.collision' in each]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_a_scene_is_of_the_same_joints():
    chain = SCENES["panda"].chain
    for wrong in (SCENES["ur5e"], "table", True):
        with pytest.raises(SolveArgumentError, match="scene must be"):
            solve(chain, chain.forward(chain.neutral), scene=wrong)


def test_a_scene_of_a_longer_arm_of_the_same_names_is_refused():
    text = (Path(__file__).parents[3] / "urdf" / "ur5e.urdf").read_text()
    longer = RobotModel.from_urdf(text.replace("-0.425 0 0", "-0.525 0 0")).chain()
    assert longer.joint_names == SCENES["ur5e"].chain.joint_names
    with pytest.raises(SolveArgumentError, match="scene must be of the same joints"):
        solve(longer, longer.forward(longer.neutral), scene=SCENES["ur5e"])
