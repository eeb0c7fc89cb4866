# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import functools
import os
import pickle
import subprocess
import sys

import mujoco_coal
import numpy as np
import pytest
from bodies import random_pose

from basis_ik import ChainError, ExtraError, RigidTransform, RobotModel, SolveArgumentError
from basis_ik.collision import collision_scene, exact
from basis_ik.collision.collision_scene import Scene
from basis_ik.collision.exact import ExactDistances
from basis_ik.collision.shape import SceneError, Shape
from basis_ik.errors import BasisIkError
from basis_ik.transforms.checks import NotFiniteError, ShapeError

MODELS = {name: RobotModel.example(name) for name in ("ur5e", "panda")}
SHAPES = {
    "box": Shape.box(0.2, 0.3, 0.1),
    "sphere": Shape.sphere(0.15),
    "cylinder": Shape.cylinder(0.1, 0.3),
    "capsule": Shape.capsule(0.08, 0.3),
    "hull": Shape.hull_of(np.random.default_rng(0).normal(scale=0.1, size=(40, 3))),
}


@pytest.fixture
def judge(monkeypatch):
    """Exact distances by MuJoCo, whether coal is installed or not."""
    monkeypatch.setitem(sys.modules, "coal", mujoco_coal)
    monkeypatch.setattr(exact, "check_extra", lambda option, package: None)
    return ExactDistances()


@functools.cache  # to see which links can meet takes longer than most tests
def links_alone(name, options):
    return Scene(MODELS[name], **{"exact": False, **dict(options)})


def fresh(name, **options):
    """Return a scene for one test, without objects."""
    return links_alone(name, tuple(options.items())).copy()


SCENES = {name: fresh(name) for name in MODELS}


@pytest.fixture(params=SCENES)
def arm(request):
    return SCENES[request.param]


def cluttered(name, seed=0, **options):
    scene, rng = fresh(name, **options), np.random.default_rng(seed)
    for kind, shape in SHAPES.items():
        scene.add(kind, shape, random_pose(rng, 0.7))
    return scene


def frames_at(chain, q):
    return chain._evaluate(q)[0]


def members(scene):
    return {(one.name, other.name): (one, other) for one, other in scene._ready().members}


# What it says -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_distances_are_exact_and_those_of_covers_are_not_larger(name, judge):
    scene, rng = cluttered(name), np.random.default_rng(1)
    whose, tables = members(scene), scene._ready()
    memory, checked = tables.take(), 0
    for _ in range(12):
        q = scene.chain.random(rng)
        frames = frames_at(scene.chain, q)
        tables.measure(q, memory, 1e30)
        covers = {
            (one.name, other.name): row[0]
            for (one, other), row in zip(tables.members, memory.rows.copy(), strict=True)
        }
        for gap in scene.gaps(q):
            one, other = whose[gap.names]
            true, _ = judge.between(one, other, frames)
            if true > 1e-6:
                assert gap.exact
                assert gap.distance == pytest.approx(true, abs=1e-6)
                assert covers[gap.names] <= true + 1e-6
                # and no more too small than the covers are too large
                assert covers[gap.names] > true - one.surplus - other.surplus - 1e-6
                checked += 1
            elif true < -1e-6:
                assert gap.certain
                assert gap.distance <= 0.0
    assert checked > 100


@pytest.mark.parametrize("name", MODELS)
def test_the_nearest_is_the_least_of_all(name):
    rng = np.random.default_rng(3)
    for scene in 20 * [cluttered(name), SCENES[name]]:
        q = scene.chain.random(rng)
        first, gap = scene.gaps(q)[0], scene.distance(q)
        assert gap.names == first.names
        assert gap.distance == first.distance
        assert gap.gradient.tolist() == first.gradient.tolist()


@pytest.mark.parametrize("name", MODELS)
def test_with_an_exact_engine_the_verdict_is_its_own(name, coal, judge):
    scene, rng = cluttered(name, exact=None), np.random.default_rng(2)
    whose, hits = members(scene), 0
    for _ in range(60):
        q = scene.chain.random(rng)
        frames = frames_at(scene.chain, q)
        found = {gap.names: gap for gap in scene.collisions(q)}
        true = {names: judge.between(*pair, frames)[0] for names, pair in whose.items()}
        for names, distance in true.items():
            if abs(distance) > 1e-5:
                assert (names in found) == (distance < 0.0)
        assert scene.is_free(q) == (not found)
        assert all(gap.exact for gap in found.values())
        for names, gap in found.items():
            assert gap.distance == pytest.approx(true[names], abs=1e-4)
        hits += len(found)
    assert hits > 10


@pytest.mark.parametrize("name", MODELS)
def test_without_coal_the_shapes_decide_too(name, judge):
    scene, rng = cluttered(name), np.random.default_rng(2)
    whose, hits = members(scene), 0
    for _ in range(60):
        q = scene.chain.random(rng)
        frames = frames_at(scene.chain, q)
        found = {gap.names: gap for gap in scene.collisions(q)}
        for names, pair in whose.items():
            distance, _ = judge.between(*pair, frames)
            if abs(distance) > 1e-5:
                assert (names in found) == (distance < 0.0)
        assert scene.is_free(q) == (not found)
        for gap in found.values():
            assert gap.certain
            assert gap.distance < 0.0
        hits += len(found)
    assert hits > 10
    assert "depths by covers" in repr(scene)


def test_padding_counts_where_shapes_decide():
    scene, padded = (Scene(three(0.4, BOX), exact=False, padding=each) for each in (0.0, 0.02))
    q = np.array([0.0, 0.5])
    for each, wide in ((scene, 0.0), (padded, 0.02)):
        for gap, free in ((0.001, True), (-0.001, False)):
            place = RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.4, 0.0, 0.2 + wide + gap))
            each.add("lid", Shape.box(0.2, 0.2, 0.2), place)
            assert each.is_free(q) == free
            each.remove("lid")


def test_the_gradient_says_how_to_get_away(arm):
    rng = np.random.default_rng(4)
    gains = []
    for _ in range(10):
        q = arm.chain.random(rng)
        for gap in arm.gaps(q):
            after = {each.names: each for each in arm.gaps(q + 1e-4 * gap.gradient)}[gap.names]
            if gap.exact and after.exact:
                gains.append((after.distance - gap.distance, gap.gradient @ gap.gradient))
    found, slopes = np.transpose(gains)
    right = abs(found - 1e-4 * slopes) < 2e-7 + 2e-6 * slopes
    assert right.mean() > 0.9  # elsewhere the nearest corners change
    assert (slopes > 0.01).sum() > 50


def test_a_table_below_the_arm_is_seen_by_the_links_that_move():
    scene = fresh("ur5e")
    floor = RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.0, 0.0, -0.05))
    scene.add("table", Shape.box(2.0, 2.0, 0.1), floor)
    assert ("base_link_inertia", "table") not in scene.pairs  # it stands on it
    up = np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0])
    assert scene.is_free(up)
    down = np.array([0.0, 0.2, 0.0, -np.pi / 2, 0.0, 0.0])
    names = {gap.names for gap in scene.collisions(down)}
    assert ("wrist_1_link", "table") in names
    assert scene.gaps(up, 0.5)[0].exact
    (deep,) = (gap for gap in scene.gaps(down, 0.0) if gap.names == ("wrist_1_link", "table"))
    assert deep.certain
    assert not deep.exact  # its depth is that of the cover
    scene.remove("table")
    assert not [gap for gap in scene.gaps(down) if "table" in gap.names]
    assert scene.objects == ()


def test_what_is_nearest_by_covers_need_not_be_nearest():
    """A cover sticks out at the sides of a box, and not at its edges."""
    scene, ball = Scene(three(0.4, BOX), exact=False), Shape.sphere(0.01)
    scene.add("side", ball, RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.8, 0.11, 0.0)))
    out = 0.05 + 0.05 / 2.0**0.5
    scene.add("edge", ball, RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.8 + out, -out, 0.0)))
    covers = scene._ready()
    memory = covers.take()
    covers.measure(np.zeros(2), memory, 1e30)
    first = covers.members[memory.rows[:, 0].argmin()]
    assert first[1].name == "side"
    gap = scene.distance(np.zeros(2))
    assert gap.names == ("c", "edge")
    assert gap.distance == pytest.approx(0.04, abs=1e-6)


def test_what_is_allowed_is_not_compared():
    scene = fresh("panda")
    tip = scene.chain.forward(scene.chain.neutral)
    scene.add("tool", Shape.sphere(0.05), tip)
    assert {"panda_hand", "tool"} & set(np.ravel([g.names for g in scene.collisions(
        scene.chain.neutral)]))  # fmt: skip
    for link in ("panda_hand", "panda_leftfinger", "panda_rightfinger", "panda_link7"):
        scene.allow("tool", link)
    assert not any("tool" in gap.names for gap in scene.collisions(scene.chain.neutral))
    assert ("panda_link6", "tool") in scene.pairs


def test_padding_is_kept_once(arm):
    name = next(each for each, scene in SCENES.items() if scene is arm)
    padded, q = fresh(name, padding=0.01), arm.chain.neutral
    one = {gap.names: gap.distance for gap in arm.gaps(q)}
    for gap in padded.gaps(q):
        if gap.exact:
            assert gap.distance == pytest.approx(one[gap.names] - gap.padding, abs=1e-6)
            # These are 18.2 and 7.0 mm apart at most.
            half = {"base_link_inertia": 0.00909, "panda_link5": 0.0035}
            near = gap.names in (
                ("base_link_inertia", "upper_arm_link"),
                ("panda_link5", "panda_link7"),
            )
            expected = half[gap.names[0]] if near else 0.01
            assert gap.padding == pytest.approx(expected, abs=1e-5)
        else:
            assert gap.distance < 0.0
            assert one[gap.names] < 0.01
    assert padded.pairs == arm.pairs


def test_padding_counts_in_exact_distances_too(coal):
    scene = fresh("ur5e", padding=0.01, exact=True)
    plain = fresh("ur5e", exact=True)
    tip = scene.chain.forward(scene.chain.neutral)
    beside = tip.matrix.copy()
    for each in (scene, plain):
        each.add("box", SHAPES["box"], beside)
    deep = {gap.names: gap.distance for gap in plain.collisions(scene.chain.neutral)}
    padded = {gap.names: gap.distance for gap in scene.collisions(scene.chain.neutral)}
    assert deep.keys() <= padded.keys()
    for names, distance in deep.items():
        assert padded[names] == pytest.approx(distance - 0.01)


def test_two_sides_of_a_symmetric_arm_are_alike(arm):
    """A turn of the whole arm about its first axis changes no distance of its own links."""
    q = arm.chain.random(np.random.default_rng(7))
    q[0] = 0.0
    turned = q.copy()
    turned[0] = 1.0
    base = arm._links[0].name
    for one in arm.gaps(q):
        if base not in one.names:
            (other,) = (gap for gap in arm.gaps(turned) if gap.names == one.names)
            assert other.distance == pytest.approx(one.distance, abs=1e-6)
            assert one.gradient[0] == 0.0


def test_gaps_are_those_within_a_distance_the_least_first(arm):
    gaps = arm.gaps(arm.chain.neutral)
    assert len(gaps) == len(arm.pairs)
    assert [gap.distance for gap in gaps] == sorted(gap.distance for gap in gaps)
    assert gaps[0].names == arm.distance(arm.chain.neutral).names
    near = arm.gaps(arm.chain.neutral, 0.2)
    assert [gap.names for gap in near] == [gap.names for gap in gaps if gap.distance < 0.2]
    for text in (str(gap) for gap in gaps):
        assert "are apart by" in text
        assert text.endswith(" mm")


def test_a_print_fits_a_screen():
    scene = fresh("panda")
    for k in range(40):
        scene.add(f"object {k} " + 60 * "x", SHAPES["sphere"], np.eye(4))
    lines = str(scene).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "  and 29 more lines"
    assert "'panda_hand': " in str(SCENES["panda"])


def test_the_same_question_has_the_same_bits_in_every_process():
    code = (
        "from basis_ik import RobotModel\n"
        "from basis_ik.collision.collision_scene import Scene\n"
        "scene = Scene(RobotModel.example('ur5e'), exact=False)\n"
        "gap = scene.distance(scene.chain.neutral)\n"
        "print(gap.distance.hex(), gap.gradient.tobytes().hex(), scene.left_out)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True, timeout=120,
        ).stdout.splitlines()[-1]
        for seed in ("0", "1")
    ]  # fmt: skip
    assert runs[0] == runs[1]


def test_threads_may_ask_at_once(arm):
    from concurrent.futures import ThreadPoolExecutor

    rng = np.random.default_rng(8)
    questions = [arm.chain.random(rng) for _ in range(300)]
    alone = [arm.distance(q).distance for q in questions]
    with ThreadPoolExecutor(4) as pool:
        assert [gap.distance for gap in pool.map(arm.distance, questions)] == alone


# Which pairs ------------------------------------------------------------------------------------

THREE = """<robot name='r'><link name='a'>{a}</link><link name='b'>{a}</link><link name='c'>{a}
</link><link name='d'/><joint name='j' type='revolute'><parent link='a'/><child link='b'/>
<origin xyz='{x} 0 0'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' velocity='1' effort='1'/>
</joint><joint name='k' type='revolute'><parent link='b'/><child link='c'/><origin xyz='{x} 0 0'/>
<axis xyz='0 0 1'/><limit lower='-1' upper='1' velocity='1' effort='1'/></joint>
<joint name='f' type='fixed'><parent link='c'/><child link='d'/></joint></robot>"""
BOX = "<collision><geometry><box size='0.1 0.1 0.2'/></geometry></collision>"
BALL = "<collision><geometry><sphere radius='0.1'/></geometry></collision>"


def three(x, shape=BALL):
    return RobotModel.from_urdf(THREE.format(a=shape, x=x))


@pytest.mark.parametrize(
    ("x", "reason"),
    [(0.05, "touch in 100 % of 2000 samples"), (0.4, "at least 0.50 m apart in 2000 samples")],
)
def test_pairs_that_always_or_never_touch_are_left_out_with_the_reason(x, reason):
    scene = Scene(three(x))
    assert scene.pairs == ()
    assert bool(scene.notes) == ("touch" in reason)
    assert scene.left_out == {("a", "b"): "adjacent", ("b", "c"): "adjacent", ("a", "c"): reason}
    gap = scene.distance(np.zeros(2))
    assert (gap.distance, gap.names) == (np.inf, ("", ""))
    assert scene.is_free(np.zeros(2))


def test_what_touches_in_most_postures_does_so_by_design():
    """The balls of a and c touch where the joint between is bent by more than 0.4 or 0.62 rad."""
    scene = Scene(three(0.102))
    assert scene.left_out["a", "c"].startswith("touch in 6")
    assert "overlap in most postures, so are not compared: 'a and c'" in scene.notes[0]
    assert Scene(three(0.105)).pairs == (("a", "c"),)


def test_what_is_near_by_design_keeps_half_of_its_least_distance():
    """The balls of a and c are 0.234 cos(j/2) - 0.2 m apart, less than 1 cm in 8 % of postures."""
    scene = Scene(three(0.117), padding=0.01)
    assert scene.is_free([0.99, 0.99])
    gap = scene.distance([0.99, 0.99])
    assert gap.distance == pytest.approx(0.234 * np.cos(0.495) - 0.2 - 0.0026, abs=2e-4)
    assert scene.left_out.keys() == {("a", "b"), ("b", "c")}
    rarely = Scene(three(0.1195), padding=0.01)
    assert not rarely.is_free([0.999, 0.999])


def test_pairs_that_are_always_equally_far_apart_are_left_out():
    """The ball of c is on its axis, and that of a far along it."""
    text = THREE.format(a=BALL, x=0).replace("xyz='0 0 0'", "xyz='0 0 0.11'", 2)
    scene = Scene(RobotModel.from_urdf(text))
    assert scene.left_out["a", "c"] == "always 0.020 m apart"


def test_pairs_that_sometimes_touch_are_compared():
    scene = Scene(three(0.11))
    assert scene.pairs == (("a", "c"),)
    assert scene.distance(np.zeros(2)).distance == pytest.approx(0.02)
    assert scene.distance(np.zeros(2)).exact  # spheres are their own cover


def test_links_without_shapes_are_no_neighbours():
    """c is next to a, as b between them has no shape."""
    text = THREE.format(a=BALL, x=0.11).replace(f"<link name='b'>{BALL}", "<link name='b'>")
    assert Scene(RobotModel.from_urdf(text)).left_out == {("a", "c"): "adjacent"}


SRDF = """<robot name='r'>
<disable_collisions link1='c' link2='b' reason='Adjacent'/>
<disable_collisions link1='a' link2='nowhere'/></robot>"""


def test_an_srdf_says_which_pairs_are_left_out(tmp_path):
    (tmp_path / "r.srdf").write_text(SRDF)
    for srdf in (SRDF, tmp_path / "r.srdf", str(tmp_path / "r.srdf")):
        scene = Scene(three(0.4), srdf=srdf)
        assert scene.pairs == (("a", "b"), ("a", "c"))
        assert scene.left_out == {("b", "c"): "SRDF: Adjacent"}
        assert scene.notes == ("the SRDF names links that the robot has not: 'nowhere'",)
    assert Scene(three(0.4), srdf="<robot name='r'/>").notes == ()


def test_an_srdf_has_names_without_the_frame_prefix():
    model = RobotModel.from_urdf(THREE.format(a=BALL, x=0.4), frame_prefix="left/")
    assert Scene(model, srdf=SRDF).left_out == {("left/b", "left/c"): "SRDF: Adjacent"}


def test_links_that_one_joint_moves_cannot_collide():
    scene = Scene(MODELS["panda"], MODELS["panda"].chain(tip="panda_link7"))
    assert scene.left_out["panda_link7", "panda_hand"] == "fixed to each other"
    again = Scene(MODELS["panda"], MODELS["panda"].chain(tip="panda_link7"), srdf="<robot/>")
    assert again.left_out["panda_link7", "panda_hand"] == "fixed to each other"


# Where links are --------------------------------------------------------------------------------


def test_links_off_the_chain_are_where_their_joints_are_held(judge):
    model = MODELS["panda"]
    wide = Scene(model, positions={"panda_finger_joint1": 0.04}, exact=False)
    narrow = Scene(model, exact=False)
    q = wide.chain.neutral
    places = [
        {link.name: link.bodies[0].place.translation for link in scene._links}
        for scene in (wide, narrow)
    ]
    moved = places[0]["panda_leftfinger"] - places[1]["panda_leftfinger"]
    assert np.linalg.norm(moved) == pytest.approx(0.04)
    assert places[0]["panda_hand"].tolist() == places[1]["panda_hand"].tolist()
    assert wide.distance(q).distance == pytest.approx(narrow.distance(q).distance, abs=0.1)


def test_every_link_is_where_forward_kinematics_says():
    model = MODELS["panda"]
    chain = model.chain(root="panda_link7", tip="panda_link2")  # up the tree
    scene, rng = Scene(model, chain, exact=False), np.random.default_rng(0)
    q = chain.random(rng)
    frames = frames_at(chain, q)
    tree = collision_tree(model, chain, q)
    for link in scene._links:
        (first, *_) = (each for each in model.collisions if each.link == link.name)
        expected = tree.lookup("panda_link7", link.name) @ first.link_T_body
        place = link.bodies[0].place.matrix
        if link.joint >= 0:
            place = np.vstack([frames[link.joint], [0.0, 0.0, 0.0, 1.0]]) @ place
        assert place == pytest.approx(expected.matrix, abs=1e-9)


def collision_tree(model, chain, q):
    from basis_ik.robot.scene import scene

    return scene(model, dict(zip(chain.joint_names, q.tolist(), strict=True)))


def test_what_is_assumed_is_noted():
    text = THREE.format(a=BALL, x=0.11).replace(
        "</robot>",
        "<link name='e'/><joint name='m' type='revolute'><parent link='a'/><child link='e'/>"
        "<limit lower='-1' upper='1' velocity='1' effort='1'/><mimic joint='k'/></joint>"
        "<link name='f'>" + BALL + "</link><joint name='p' type='fixed'><parent link='e'/>"
        "<child link='f'/></joint>"
        "<link name='g'>" + BALL + "</link><joint name='n' type='wheel'><parent link='a'/>"
        "<child link='g'/></joint></robot>",
    )
    model = RobotModel.from_urdf(text)
    scene = Scene(model, model.chain("a", "d"))
    assert scene.notes == (
        "left out, below joints that cannot be used: 'g'",
        "left out, below joints that mimic the chain's: 'f'",
    )
    assert "f" not in scene.surplus


# Bad input --------------------------------------------------------------------------------------


def test_names_are_used_once():
    scene = fresh("ur5e")
    scene.add("table", SHAPES["box"], np.eye(4))
    with pytest.raises(SceneError, match="'table': there is an object of this name"):
        scene.add("table", SHAPES["sphere"], np.eye(4))
    with pytest.raises(SceneError, match="'forearm_link': there is a link of this name"):
        scene.add("forearm_link", SHAPES["sphere"], np.eye(4))
    for name in ("", 3):
        with pytest.raises(SceneError, match="not empty"):
            scene.add(name, SHAPES["sphere"], np.eye(4))
    with pytest.raises(SceneError, match=r"'chair': there is no such object to remove; .* table"):
        scene.remove("chair")
    with pytest.raises(SceneError, match="'chair': there is no such link"):
        scene.allow("table", "chair")
    assert scene.objects == ("table",)


@pytest.mark.parametrize(
    "pose", [None, "a", np.eye(3), np.nan * np.eye(4), 2.0 * np.eye(4), [[1.0], [2.0, 3.0]]]
)
def test_a_pose_of_an_object_is_a_transform(pose):
    scene = fresh("ur5e")
    with pytest.raises(SolveArgumentError, match="pose must be a RigidTransform"):
        scene.add("table", SHAPES["box"], pose)
    assert scene.objects == ()


def test_a_shape_of_an_object_is_a_shape():
    with pytest.raises(SolveArgumentError, match="shape must be a Shape"):
        fresh("ur5e").add("table", (1.0, 1.0, 1.0), np.eye(4))


@pytest.mark.parametrize("ask", ["distance", "gaps", "collisions", "is_free"])
def test_positions_are_finite_and_as_many_as_the_joints(arm, ask):
    with pytest.raises(ShapeError, match="q"):
        getattr(arm, ask)(np.zeros(3))
    with pytest.raises(NotFiniteError, match="q"):
        getattr(arm, ask)(np.full(len(arm.chain.joint_names), np.nan))


@pytest.mark.parametrize("padding", [-0.1, 1.5, np.nan, "a", None])
def test_padding_is_a_length(padding):
    with pytest.raises(SolveArgumentError, match="padding must be from 0 to 1 m"):
        Scene(MODELS["ur5e"], padding=padding)


def test_a_scene_takes_a_robot_and_one_of_its_chains():
    with pytest.raises(SolveArgumentError, match="model must be a RobotModel"):
        Scene("ur5e")
    with pytest.raises(SolveArgumentError, match="chain must be a Chain"):
        Scene(MODELS["ur5e"], "tool0")
    with pytest.raises(ChainError, match="the chain is of another robot: 'panda_joint1'"):
        Scene(MODELS["ur5e"], MODELS["panda"].chain())
    for positions in ({"elbow_joint": 1.0}, {"elbow": 1.0}, {"panda_joint1": 0.0}):
        with pytest.raises(SceneError, match="no joint to hold; off the chain there are none"):
            Scene(MODELS["ur5e"], positions=positions)
    with pytest.raises(SceneError, match="its position must be finite, got nan"):
        Scene(MODELS["panda"], positions={"panda_finger_joint1": np.nan})
    with pytest.raises(SceneError, match=r"'r': no link has a <collision> that can be used"):
        Scene(three(0.1, shape=""))
    with pytest.raises(SceneError, match="an SRDF has <robot>"):
        Scene(three(0.1), srdf="<urdf/>")
    with pytest.raises(BasisIkError, match="cannot read"):
        Scene(three(0.1), srdf="/no/such.srdf")


def test_without_coal_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr("basis_ik.dependencies.is_installed", lambda package: False)
    with pytest.raises(ExtraError, match="pip install coal"):
        Scene(MODELS["ur5e"], exact=True)


def test_gaps_can_be_kept():
    gap = SCENES["ur5e"].distance(SCENES["ur5e"].chain.neutral)
    assert pickle.loads(pickle.dumps(gap)).names == gap.names
    assert not gap.points.flags.writeable
    assert not gap.gradient.flags.writeable
    assert collision_scene.PRINTED_SCENE_LINES == 24


# Objects of several shapes, that move, and in the hand ------------------------------------------


def frame_at(chain, link, q):
    """Return root_T_link (4, 4)."""
    joint, constant = chain.joint_T_link(link)
    place = np.vstack([constant, [0.0, 0.0, 0.0, 1.0]])
    return np.vstack([frames_at(chain, q)[joint], [0.0, 0.0, 0.0, 1.0]]) @ place


MIXTURES = {
    "solids": ("box", "cylinder", "box"),
    "round": ("sphere", "capsule"),
    "mixed": ("box", "hull", "sphere"),
}


@pytest.mark.parametrize("kinds", MIXTURES.values(), ids=MIXTURES)
def test_an_object_of_several_shapes_is_as_near_as_the_nearest_of_them(kinds):
    rng = np.random.default_rng(5)
    whole, parts = fresh("ur5e"), fresh("ur5e")
    pose = random_pose(rng, 0.3)
    places = [random_pose(rng, 0.5) for _ in kinds]
    whole.add("rack", [SHAPES[kind] for kind in kinds], pose, places)
    for k, (kind, place) in enumerate(zip(kinds, places, strict=True)):
        parts.add(f"{k}", SHAPES[kind], pose @ place)
    names = [str(k) for k in range(len(kinds))]
    both = [0, 0]
    for _ in range(40):
        q = whole.chain.random(rng)
        apart = {gap.names: gap for gap in parts.gaps(q)}
        assert whole.is_free(q) == parts.is_free(q)
        for gap in whole.gaps(q):
            if gap.names[1] == "rack":
                least = min(apart[gap.names[0], name].distance for name in names)
                both[least > 0.0] += 1
                if least > 0.0:
                    assert gap.distance == pytest.approx(least, abs=1e-6)
                else:
                    assert gap.distance <= 0.0
    assert min(both) > 5


def test_a_moved_object_is_as_one_that_was_added_there():
    rng = np.random.default_rng(6)
    scene = cluttered("ur5e")
    scene.add("rack", [SHAPES["box"], SHAPES["cylinder"]], np.eye(4), [np.eye(4), np.eye(4)])
    q = scene.chain.random(rng)
    scene.gaps(q)
    tables = scene._ready()
    poses = {name: random_pose(rng, 0.6) for name in scene.objects}
    for name, pose in poses.items():
        scene.move(name, random_pose(rng, 0.6))
        scene.move(name, pose)
    assert scene._ready() is tables, "nothing is made anew"
    other = fresh("ur5e")
    for name, pose in poses.items():
        shapes = [SHAPES["box"], SHAPES["cylinder"]] if name == "rack" else SHAPES[name]
        other.add(name, shapes, pose)
    for q in (scene.chain.random(rng) for _ in range(10)):
        for gap, twin in zip(scene.gaps(q), other.gaps(q), strict=True):
            assert gap.names == twin.names
            assert gap.distance == pytest.approx(twin.distance, abs=1e-9)
            assert gap.points == pytest.approx(twin.points, abs=1e-9)


def test_an_object_in_the_hand_moves_with_it():
    rng = np.random.default_rng(7)
    scene, world = fresh("panda"), fresh("panda")
    link_T_rod = RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.0, 0.0, 0.2))
    scene.add("rod", SHAPES["hull"], np.eye(4))
    scene.add("shelf", SHAPES["box"], RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.5, 0.0, 0.4)))
    hand = "panda_hand"
    scene.attach("rod", hand, link_T_rod, touch=["panda_leftfinger"])
    assert ("panda_link6", "rod") in scene.pairs
    scene.attach("rod", hand, link_T_rod, touch=["panda_leftfinger", "panda_link6"])
    pairs = set(scene.pairs)
    assert ("panda_link6", "rod") not in pairs
    assert ("rod", "shelf") in pairs
    assert ("panda_link5", "rod") in pairs
    for link in (hand, "panda_leftfinger", "panda_rightfinger", "panda_link8"):
        assert (link, "rod") not in pairs  # it touches them, or they move with it
    world.add("shelf", SHAPES["box"], RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.5, 0.0, 0.4)))
    world.add("rod", SHAPES["hull"], np.eye(4))
    seen = [0, 0]
    for _ in range(60):
        q = scene.chain.random(rng)
        world.move("rod", frame_at(world.chain, hand, q) @ link_T_rod.matrix)
        still = {gap.names: gap.distance for gap in world.gaps(q)}
        for gap in scene.gaps(q):
            if gap.names in still and gap.names[1] == "rod":
                seen[gap.exact] += 1
                if gap.exact:
                    assert gap.distance == pytest.approx(still[gap.names], abs=1e-6)
                else:
                    assert still[gap.names] <= 0.0
        ahead = {gap.names: gap for gap in scene.gaps(q + 1e-6)}
        (gap,) = (gap for gap in scene.gaps(q) if gap.names == ("rod", "shelf"))
        if gap.exact:
            change = ahead["rod", "shelf"].distance - gap.distance
            assert change == pytest.approx(gap.gradient.sum() * 1e-6, abs=2e-9)
    assert min(seen) > 20


def test_what_is_in_the_hand_and_below_it_is_compared():
    """The rod in the hand reaches a ball that the hand does not reach."""
    scene = fresh("panda")
    q = scene.chain.neutral
    at = frame_at(scene.chain, "panda_hand", q)
    below = at @ RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.0, 0.0, 0.4)).matrix
    scene.add("ball", Shape.sphere(0.05), below)
    assert scene.is_free(q)
    scene.add("rod", Shape.box(0.02, 0.02, 0.3), RigidTransform.from_rpy(0, 0, 0, (9, 9, 9)))
    scene.attach("rod", "panda_hand", RigidTransform.from_rpy(0, 0, 0, (0.0, 0.0, 0.25)))
    assert [gap.names for gap in scene.collisions(q)] == [("ball", "rod")]
    scene.move("rod", RigidTransform.from_rpy(0, 0, 0, (0.0, 0.0, 0.15)))  # in the hand's frame
    assert scene.is_free(q)
    scene.move("rod", RigidTransform.from_rpy(0, 0, 0, (0.0, 0.0, 0.25)))
    assert not scene.is_free(q)
    scene.detach("rod", RigidTransform.from_rpy(0, 0, 0, (9, 9, 9)))
    assert scene.is_free(q)
    assert ("ball", "rod") not in scene.pairs
    with pytest.raises(SceneError, match="'rod': it is not attached"):
        scene.detach("rod", np.eye(4))


def test_an_object_rides_on_links_without_a_shape_and_off_the_chain():
    model = MODELS["panda"]
    chain = model.chain(tip="panda_link8")  # the fingers are off it
    scene = Scene(model, chain, exact=False)
    q = chain.neutral
    for link in ("panda_link8", "panda_leftfinger"):
        scene.add(link + "'s", Shape.sphere(0.01), np.eye(4))
        scene.attach(link + "'s", link, np.eye(4))

    def height():
        (thing,) = (each for each in scene._objects.values() if "finger" in each.name)
        return thing.bodies[0].place.translation

    narrow = height()
    scene.hold({"panda_finger_joint1": 0.04})
    assert np.linalg.norm(height() - narrow) == pytest.approx(0.04)
    scene.add("seat", Shape.sphere(0.05), np.eye(4))
    scene.attach("seat", scene.chain.root, np.eye(4))
    assert ("panda_link0", "seat") not in scene.pairs
    assert ("panda_link5", "seat") in scene.pairs
    assert "at panda_leftfinger" in str(scene)
    assert scene.distance(q).distance < np.inf


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda scene: scene.attach("rod", "tool", np.eye(4)), "'tool': the robot has no such"),
        (lambda scene: scene.attach("rod", "forearm_link", np.eye(4), ["x"]), "'x': the robot has"),
        (lambda scene: scene.attach("cup", "forearm_link", np.eye(4)), "no such object to attach"),
        (lambda scene: scene.detach("cup", np.eye(4)), "'cup': there is no such object to detach"),
        (lambda scene: scene.move("cup", np.eye(4)), "'cup': there is no such object to move"),
        (lambda scene: scene.pad("cup", 0.1), "'cup': there is no such link with a shape"),
        (lambda scene: scene.forbid("cup", "rod"), "'cup': there is no such link with a shape"),
        (lambda scene: scene.add("two", [], np.eye(4)), "'two': it has 0 shapes and 0 places"),
        (lambda scene: scene.add("two", [SHAPES["box"]], np.eye(4), []), "1 shapes and 0 places"),
        (lambda scene: scene.hold({"elbow": 1.0}), "no joint to hold"),
    ],
)  # fmt: skip
def test_what_is_no_object_or_link_is_refused_and_changes_nothing(call, text):
    scene = fresh("ur5e")
    scene.add("rod", SHAPES["box"], np.eye(4))
    pairs = scene.pairs
    with pytest.raises(SceneError, match=text):
        call(scene)
    assert scene.pairs == pairs
    assert scene.objects == ("rod",)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda scene: scene.move("rod", np.eye(3)), "pose"),
        (lambda scene: scene.attach("rod", "forearm_link", None), "pose"),
        (lambda scene: scene.add("two", [SHAPES["box"]], np.eye(4), [3]), "places"),
        (lambda scene: scene.add("two", ["box"], np.eye(4)), "shape"),
        (lambda scene: scene.pad("rod", np.nan), "padding"),
        (lambda scene: scene.pad("rod", -0.1), "padding"),
    ],
)
def test_arguments_of_objects_are_checked(call, argument):
    scene = fresh("ur5e")
    scene.add("rod", SHAPES["box"], np.eye(4))
    with pytest.raises(SolveArgumentError, match=argument):
        call(scene)
    assert scene.objects == ("rod",)


@pytest.mark.parametrize("kind", SHAPES)
def test_the_padding_of_a_name_is_subtracted_from_its_distances(kind):
    rng, plain, padded = np.random.default_rng(9), fresh("ur5e"), fresh("ur5e", padding=0.005)
    pose = RigidTransform.from_rpy(0.3, 0.2, 0.1, (0.9, 0.3, 0.5))
    for scene in (plain, padded):
        scene.add("thing", SHAPES[kind], pose)
    padded.pad("thing", 0.02)
    padded.pad("forearm_link", 0.01)
    seen = 0
    for q in (plain.chain.random(rng) for _ in range(20)):
        before = {gap.names: gap for gap in plain.gaps(q)}
        for gap in padded.gaps(q):
            own = 0.02 * ("thing" in gap.names) + 0.01 * ("forearm_link" in gap.names) + 0.005
            if gap.exact and gap.distance > 0.0:
                seen += "thing" in gap.names
                first = before[gap.names]
                assert gap.distance == pytest.approx(first.distance - own, abs=1e-6)
                apart = np.linalg.norm(gap.points[1] - gap.points[0])  # of the shapes themselves
                assert apart == pytest.approx(gap.distance + own, abs=1e-6)
                assert gap.gradient == pytest.approx(first.gradient, abs=1e-4)
        assert padded.is_free(q) == all(
            gap.distance > 0.0 or not gap.certain for gap in padded.gaps(q)
        )
    assert seen > 40
    padded.remove("thing")
    padded.add("thing", SHAPES[kind], pose)
    assert "thing" not in padded._pads


def test_padding_of_a_name_counts_in_exact_depths(coal):
    plain, padded = fresh("ur5e", exact=True), fresh("ur5e", exact=True)
    tip = plain.chain.forward(plain.chain.neutral)
    for scene in (plain, padded):
        scene.add("box", SHAPES["box"], tip)
    padded.pad("box", 0.03)
    deep = {gap.names: gap.distance for gap in padded.collisions(plain.chain.neutral)}
    for gap in plain.collisions(plain.chain.neutral):
        if "box" in gap.names:
            assert deep[gap.names] == pytest.approx(gap.distance - 0.03)


def test_what_was_allowed_can_be_forbidden_again_and_goes_with_the_object():
    scene = fresh("ur5e")
    scene.add("rod", SHAPES["box"], np.eye(4))
    pair = ("forearm_link", "rod")
    scene.allow(*pair)
    assert pair not in scene.pairs
    scene.forbid(*pair)
    assert pair in scene.pairs
    scene.allow(*pair)
    scene.remove("rod")
    scene.add("rod", SHAPES["box"], np.eye(4))
    assert pair in scene.pairs


def test_a_copy_is_a_scene_of_its_own():
    scene = cluttered("ur5e")
    q = scene.chain.neutral
    before = [(gap.names, gap.distance) for gap in scene.gaps(q)]
    twin = scene.copy()
    assert [(gap.names, gap.distance) for gap in twin.gaps(q)] == before
    twin.move("box", RigidTransform.from_rpy(0, 0, 0, (5, 5, 5)))
    twin.attach("sphere", "forearm_link", np.eye(4))
    twin.pad("hull", 0.1)
    twin.allow("capsule", "forearm_link")
    twin.remove("cylinder")
    assert [(gap.names, gap.distance) for gap in scene.gaps(q)] == before


def test_a_copy_has_links_of_its_own():
    model = MODELS["panda"]
    scene = Scene(model, model.chain(tip="panda_link8"), exact=False)
    before = {link.name: link.bodies[0].place for link in scene._links}
    scene.copy().hold({"panda_finger_joint1": 0.04})
    assert {link.name: link.bodies[0].place for link in scene._links} == before


def test_pairs_hold_wherever_joints_off_the_chain_are():
    """Two arms on one base: what one can reach of the other depends on where that one is."""
    arm = (
        "<link name='{n}1'/><link name='{n}2'>" + BALL + "</link>"
        "<joint name='{n}a' type='revolute'><parent link='a'/><child link='{n}1'/>"
        "<origin xyz='{x} 0 0'/><axis xyz='0 0 1'/>"
        "<limit lower='-3' upper='3' velocity='1' effort='1'/></joint>"
        "<joint name='{n}b' type='revolute'><parent link='{n}1'/><child link='{n}2'/>"
        "<origin xyz='0.5 0 0'/><axis xyz='0 0 1'/>"
        "<limit lower='-1' upper='1' velocity='1' effort='1'/></joint>"
    )
    text = (
        f"<robot name='r'><link name='a'/>{arm.format(n='l', x=0)}{arm.format(n='r', x=1)}</robot>"
    )
    model = RobotModel.from_urdf(text)
    chain = model.chain("a", "l2")
    away = Scene(model, chain, positions={"ra": 0.0})  # to the right
    assert away.pairs == (("l2", "r2"),)
    assert away.is_free(np.zeros(2))
    away.hold({"ra": 3.0})
    assert not away.is_free(np.zeros(2))
    anew = Scene(model, chain, positions={"ra": 3.0})
    assert anew.pairs == away.pairs
    assert anew.distance([0.5, 0.0]).distance == away.distance([0.5, 0.0]).distance
