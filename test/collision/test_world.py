# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The world around a robot: what is refused, what holds then, and the scene that follows it."""

import math

import numpy as np
import pytest

from basis_ik import RigidTransform, RobotModel
from basis_ik.collision import world as worlds
from basis_ik.collision.collision_scene import Scene, tables_of
from basis_ik.collision.covered_links import Body
from basis_ik.collision.point_cloud import PointCloud
from basis_ik.collision.shape import SceneError, Shape
from basis_ik.collision.world import Sight, World, WorldScene

MODEL = RobotModel.example("panda")
SCENE = Scene(MODEL, exact=False)
LINKS = tuple(MODEL.links)
Q = SCENE.chain.neutral
HERE = RigidTransform.identity()
CUBE = (Body(Shape.box(0.1, 0.1, 0.1), HERE),)
BALL = (Body(Shape.sphere(0.05), HERE),)


def at(x, y=0.0, z=0.0):
    return RigidTransform.from_rpy(0.0, 0.0, 0.0, (x, y, z))


def frames(**known):
    """Return a look-up of some frames."""
    return {"world": HERE, **known}.get


@pytest.fixture
def world():
    world = World(LINKS)
    with world.change() as draft:
        draft.add("table", "world", at(1.0), CUBE)
        draft.add("cup", "belt", at(0.0, 1.0), BALL)
        draft.attach("tool", "panda_hand", at(0.0), ["panda_leftfinger"], BALL)
        draft.allow("table", "cup")
        draft.color("table", (1.0, 0.0, 0.0, 1.0))
    return world


def changed(world, call, knows=None):
    with world.change(knows) as draft:
        call(draft)
    return world.state


# Operations -------------------------------------------------------------------------------------


def test_a_world_holds_what_was_added(world):
    state = world.state
    assert list(state.objects) == ["table", "cup", "tool"]
    assert [each.id for each in state.free] == ["table", "cup"]
    assert [each.id for each in state.attached] == ["tool"]
    assert state.objects["tool"].frame == "panda_hand"
    assert state.objects["tool"].touch == {"panda_leftfinger"}
    assert state.may_touch("cup", "table")
    assert not state.may_touch("cup", "tool")


def test_each_change_has_a_revision_and_a_refused_one_has_none(world):
    first = world.revision
    changed(world, lambda draft: draft.move("table", "world", at(2.0)))
    assert world.revision == first + 1
    with pytest.raises(SceneError):
        changed(world, lambda draft: draft.remove("chair"))
    assert world.revision == first + 1


def test_an_object_that_is_added_again_is_replaced(world):
    before = world.state
    state = changed(world, lambda draft: draft.add("table", "hall", at(3.0), BALL, padding=0.02))
    assert state.objects["table"].frame == "hall"
    assert state.objects["table"].parts == BALL
    assert state.objects["table"].padding == 0.02
    assert state.may_touch("cup", "table"), "as in MoveIt"
    assert before.objects["table"].frame == "world", "states do not change"


def test_shapes_are_appended(world):
    assert changed(world, lambda d: d.append("table", BALL)).objects["table"].parts == CUBE + BALL
    assert changed(world, lambda d: d.append("tool", CUBE)).objects["tool"].parts == BALL + CUBE


def test_an_object_moves_with_its_shapes_or_they_move_too(world):
    state = changed(world, lambda draft: draft.move("table", "hall", at(5.0)))
    assert (state.objects["table"].frame, state.objects["table"].parts) == ("hall", CUBE)
    state = changed(world, lambda draft: draft.move("table", "hall", at(5.0), [at(0.5)]))
    assert state.objects["table"].parts[0].place == at(0.5)
    with pytest.raises(SceneError, match="'table': poses of shapes: 2 are given, and it has 1"):
        changed(world, lambda draft: draft.move("table", "hall", at(5.0), [at(0.5)] * 2))


def test_what_the_matrix_and_the_colors_say_goes_with_an_object(world):
    changed(world, lambda draft: draft.allow_default("table", True))
    state = changed(world, lambda draft: draft.remove("table"))
    assert (dict(state.entries), dict(state.defaults), dict(state.colors)) == ({}, {}, {})
    assert "table" not in state.objects


def test_an_empty_id_removes_all_that_stand_free(world):
    assert list(changed(world, lambda draft: draft.remove("")).objects) == ["tool"]
    assert list(changed(world, lambda draft: draft.clear(attached=True)).objects) == []


def test_an_object_is_attached_with_its_shapes_and_detached(world):
    state = changed(world, lambda draft: draft.attach("cup", "panda_hand", at(0.1)))
    cup = state.objects["cup"]
    assert (cup.attached, cup.frame, cup.parts, cup.pose) == (True, "panda_hand", BALL, at(0.1))
    state = changed(world, lambda draft: draft.detach("cup", "world", at(0.7), "panda_hand"))
    cup = state.objects["cup"]
    assert (cup.attached, cup.frame, cup.touch, cup.pose) == (False, "world", set(), at(0.7))


def test_a_scene_is_replaced_as_a_whole(world):
    def replace(draft):
        draft.clear(attached=False)
        draft.clear(attached=True)
        draft.clear_settings()
        draft.add("door", "world", HERE, CUBE)

    state = changed(world, replace)
    assert list(state.objects) == ["door"]
    assert (dict(state.entries), dict(state.colors)) == ({}, {})


def test_defaults_hold_where_there_is_no_entry(world):
    def settings(draft):
        draft.allow_default("dust", True)
        draft.allow_default("glass", False)
        draft.allow("dust", "lens", False)

    state = changed(world, settings)
    assert state.may_touch("dust", "anything")
    assert not state.may_touch("dust", "glass")  # both must
    assert not state.may_touch("dust", "lens")
    assert not state.may_touch("glass", "anything")
    assert not state.may_touch("one", "other")


# Refusals ---------------------------------------------------------------------------------------

NAN = math.nan
REFUSED = {
    "no id": (lambda d: d.add("", "world", HERE, CUBE), "'': id: it is text"),
    "long id": (lambda d: d.add("x" * 201, "world", HERE, CUBE), "id: it is text of 1 to 200"),
    "unprintable id": (lambda d: d.add("a\n", "world", HERE, CUBE), "id: it is text"),
    "id of a link": (lambda d: d.add("panda_hand", "world", HERE, CUBE), "id: a link has this"),
    "link's id in the hand": (
        lambda d: d.attach("panda_hand", "panda_hand", HERE, (), CUBE), "id: a link has this"
    ),
    "id in use": (lambda d: d.add("tool", "world", HERE, CUBE), "'tool': id: .* detach it first"),
    "no frame": (lambda d: d.add("a", "", HERE, CUBE), "'a': header.frame_id: it is text"),
    "unknown frame": (
        lambda d: d.add("a", "mars", HERE, CUBE), "'a': header.frame_id: there is no .*'mars'"
    ),
    "moved to an unknown frame": (lambda d: d.move("table", "mars", HERE), "no transform of"),
    "put down in an unknown frame": (lambda d: d.detach("tool", "mars", HERE), "no transform of"),
    "no shape": (lambda d: d.add("a", "world", HERE, ()), "'a': shapes: .* and this one 0"),
    "many shapes": (lambda d: d.add("a", "world", HERE, CUBE * 101), "and this one 101"),
    "many appended": (lambda d: d.append("table", CUBE * 100), "and this one 101"),
    "appended to nothing": (lambda d: d.append("a", CUBE), "'a': id: there is no such object to"),
    "nothing appended": (lambda d: d.append("table", ()), "and this one 0"),
    "padding": (lambda d: d.add("a", "world", HERE, CUBE, padding=NAN), "'a': padding: .* got nan"),
    "negative padding": (lambda d: d.pad("table", -0.1), "'table': padding: it is from 0 to 1 m"),
    "padding of nothing": (lambda d: d.pad("chair", 0.1), "'chair': link_padding: the robot has"),
    "moved nothing": (lambda d: d.move("chair", "world", HERE), "no such object to move"),
    "moved in the hand": (lambda d: d.move("tool", "world", HERE), "'tool': id: .* with its link"),
    "removed nothing": (lambda d: d.remove("chair"), "'chair': id: there is no such object to"),
    "removed from the hand": (lambda d: d.remove("tool"), "'tool': id: .* detach it first"),
    "attached nothing": (lambda d: d.attach("chair", "panda_hand", HERE), "object to attach"),
    "attached to no link": (lambda d: d.attach("cup", "claw", HERE), "link_name: .* link 'claw'"),
    "touches no link": (
        lambda d: d.attach("cup", "panda_hand", HERE, ["claw"]), "touch_links: .* link 'claw'"
    ),
    "detached nothing": (lambda d: d.detach("chair", "world", HERE), "no such object to detach"),
    "detached what is free": (lambda d: d.detach("cup", "world", HERE), "it is not attached"),
    "detached from another link": (
        lambda d: d.detach("tool", "world", HERE, "panda_link3"), "link_name: it is at 'panda_hand'"
    ),
    "color": (lambda d: d.color("cup", (NAN, 0.0, 0.0, 1.0)), "'cup': object_colors: .* 0 to 1"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "text"), REFUSED.values(), ids=REFUSED)
def test_a_refused_change_names_its_object_and_leaves_the_last_state(world, call, text):
    before = world.state

    def several(draft):
        draft.add("first", "world", HERE, CUBE)
        call(draft)

    with pytest.raises(SceneError, match=text):
        changed(world, several, {"world", "belt", "hall"}.__contains__)
    assert world.state is before


@pytest.mark.parametrize(
    ("name", "count", "fill"),
    [
        ("MOST_OBJECTS", 3, lambda draft: draft.add("x", "world", HERE, CUBE)),
        ("MOST_SHAPES_IN_ALL", 3, lambda draft: draft.append("table", CUBE)),
        ("MOST_ENTRIES", 1, lambda draft: draft.allow("a", "b")),
        ("MOST_ENTRIES", 1, lambda draft: draft.allow_default("a", True)),
        ("MOST_OBJECTS", 0.5, lambda draft: (draft.remove(""), draft.clear(attached=True),
                                             draft.color("a", (0, 0, 0, 0)),
                                             draft.color("b", (0, 0, 0, 0)))),
    ],
)  # fmt: skip
def test_a_world_has_bounds(world, monkeypatch, name, count, fill):
    monkeypatch.setattr(worlds, name, count)
    before = world.state
    with pytest.raises(SceneError, match=r"are more than \d\S*; remove some first"):
        changed(world, fill)
    assert world.state is before
    monkeypatch.setattr(worlds, name, count + 1)
    changed(world, fill)


def test_as_much_as_the_bounds_say_is_taken():
    world = World(LINKS)

    def fill(draft):
        for k in range(worlds.MOST_OBJECTS):
            draft.add(f"{k}", "world", at(float(k)), CUBE * 5)

    assert len(changed(world, fill).objects) == worlds.MOST_OBJECTS


def test_another_robot_keeps_what_fits(world):
    before = world.revision
    changed(world, lambda draft: (draft.pad("panda_hand", 0.01), draft.pad("panda_link1", 0.01)))
    assert world.fit(LINKS) == ()
    assert world.revision == before + 1
    assert world.fit(("base", "cup", "panda_link1")) == ("cup", "tool")
    assert list(world.state.objects) == ["table"]
    assert dict(world.state.padding) == {"panda_link1": 0.01}
    assert world.revision == before + 2
    with pytest.raises(SceneError, match="a link has this name"):
        changed(world, lambda draft: draft.add("base", "world", HERE, CUBE))


# Placing ----------------------------------------------------------------------------------------


def test_objects_are_where_their_frames_are(world):
    placed = world.state.placed(frames(belt=at(0.0, 0.0, 3.0)))
    assert placed.missing == {}
    assert placed.poses["table"] == at(1.0)
    assert placed.poses["cup"] == at(0.0, 1.0, 3.0)
    assert "tool" not in placed.poses


def test_an_object_in_a_frame_that_is_not_known_is_told_of(world):
    placed = world.state.placed(frames())
    assert placed.missing == {"cup": "belt"}
    assert list(placed.poses) == ["table"]


def test_each_frame_is_looked_up_once(world):
    changed(world, lambda draft: draft.add("more", "world", HERE, CUBE))
    asked = []
    world.state.placed(lambda frame: asked.append(frame) or HERE)
    assert sorted(asked) == ["belt", "world"]


@pytest.mark.parametrize(
    "shape",
    [
        Shape.box(2.0, 2.0, 2.0), Shape.sphere(1.0), Shape.cylinder(1.0, 2.0),
        Shape.capsule(1.0, 0.1),
        Shape.hull_of([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]),
    ],
    ids=lambda shape: shape.kind,
)  # fmt: skip
def test_what_swallows_a_point_is_told(shape):
    world = World(LINKS)
    parts = (Body(shape, at(0.0, 0.0, 9.0)), Body(shape, at(0.5)))
    changed(world, lambda draft: draft.add("fog", "world", at(0.2), parts))
    assert world.state.around(HERE, frames()) == ["fog"]
    assert world.state.around(at(1.9), frames()) == []
    assert world.state.around(at(1.6), frames()) == ["fog"]
    assert world.state.around(at(0.0, 0.0, 1.2), frames()) == []
    assert world.state.around(at(0.7, 0.0, 0.9), frames()) == ["fog"]


# The scene --------------------------------------------------------------------------------------


@pytest.fixture
def followed(world):
    return WorldScene(SCENE.copy())


LOOKUP = frames(belt=at(0.0, 0.0, 3.0))


def pairs_of(scene, name):
    return {tuple(sorted(pair)) for pair in scene.pairs if name in pair}


def test_a_scene_holds_what_the_world_holds(world, followed):
    assert followed.update(world.state, LOOKUP) == {}
    scene = followed.scene
    assert scene.objects == ("table", "cup", "tool")
    assert ("panda_leftfinger", "tool") not in pairs_of(scene, "tool")
    assert ("panda_link5", "tool") in pairs_of(scene, "tool")
    assert scene._objects["cup"].bodies[0].place == at(0.0, 1.0, 3.0)
    changed(world, lambda draft: (draft.remove("table"), draft.detach("tool", "world", at(1.0))))
    followed.update(world.state, LOOKUP)
    assert scene.objects == ("cup", "tool")
    assert ("panda_leftfinger", "tool") in pairs_of(scene, "tool")
    changed(world, lambda draft: draft.attach("cup", "panda_hand", at(0.0)))
    followed.update(world.state, LOOKUP)
    assert ("panda_hand", "cup") not in scene.pairs
    assert ("cup", "tool") in pairs_of(scene, "tool")


def test_a_frame_that_moves_takes_its_objects_along_and_nothing_is_made_anew(world, followed):
    followed.update(world.state, LOOKUP)
    followed.scene.is_free(Q)
    tables = followed.scene._ready()
    q_T_tip = followed.scene.chain.forward(Q)
    onto = {"world": HERE, "belt": q_T_tip @ at(0.0, -1.0)}.get
    assert followed.update(world.state, onto) == {}
    assert followed.scene._ready() is tables
    assert any("cup" in gap.names for gap in followed.scene.collisions(Q))
    changed(world, lambda draft: draft.move("cup", "world", at(5.0)))
    followed.update(world.state, onto)
    assert followed.scene.is_free(Q)
    assert followed.scene._ready() is tables


def test_an_object_without_its_frame_is_out_of_the_scene_and_told_of(world, followed):
    followed.update(world.state, LOOKUP)
    assert followed.update(world.state, frames()) == {"cup": "belt"}
    assert followed.scene.objects == ("table", "tool")
    assert followed.update(world.state, LOOKUP) == {}
    assert set(followed.scene.objects) == {"table", "tool", "cup"}


def test_a_burst_is_one_change_of_the_scene(world, followed, monkeypatch):
    followed.update(world.state, LOOKUP)
    made = []
    pack = followed.scene._ready.__func__.__globals__["_tables"]
    monkeypatch.setattr(
        "basis_ik.collision.collision_scene._tables", lambda *all_: made.append(1) or pack(*all_)
    )
    for k in range(200):
        changed(world, lambda draft, k=k: draft.add(f"{k % 20}", "world", at(2.0 + k), CUBE))
    followed.update(world.state, LOOKUP)
    followed.scene.is_free(Q)
    assert len(made) == 1
    assert followed.scene._objects["0"].bodies[0].place == at(182.0)


def test_the_matrix_holds_in_the_scene(world, followed):
    changed(world, lambda draft: draft.allow("panda_link5", "tool"))
    changed(world, lambda draft: draft.allow("panda_link5", "of no object"))
    followed.update(world.state, LOOKUP)
    assert ("panda_link5", "tool") not in pairs_of(followed.scene, "tool")
    changed(world, lambda draft: draft.allow_default("table", True))
    followed.update(world.state, LOOKUP)
    assert pairs_of(followed.scene, "table") == set()
    changed(world, lambda draft: draft.clear_matrix())
    followed.update(world.state, LOOKUP)
    assert ("panda_link5", "tool") in pairs_of(followed.scene, "tool")
    assert ("panda_link5", "table") in pairs_of(followed.scene, "table")


def test_padding_holds_in_the_scene(world, followed):
    changed(world, lambda draft: (draft.pad("panda_link5", 0.01), draft.pad("table", 0.02)))
    changed(world, lambda draft: draft.pad("panda_hand_tcp", 0.5))  # without a shape
    followed.update(world.state, LOOKUP)
    assert followed.scene._pads == {"panda_link5": 0.01, "table": 0.02}
    changed(world, lambda draft: (draft.pad("panda_link5", 0.0), draft.remove("table")))
    followed.update(world.state, LOOKUP)
    assert followed.scene._pads == {"panda_link5": 0.0}
    changed(world, lambda draft: draft.add("table", "world", at(1.0), CUBE, padding=0.03))
    followed.update(world.state, LOOKUP)
    assert followed.scene._pads["table"] == 0.03


def test_an_object_that_cannot_be_attached_is_tried_again(world, followed, monkeypatch):
    def refuse(*_all):
        raise SceneError("tool", "not now")

    with monkeypatch.context() as patch:
        patch.setattr(followed.scene, "attach", refuse)
        with pytest.raises(SceneError, match="not now"):
            followed.update(world.state, LOOKUP)
    assert "tool" not in followed.scene.objects
    followed.update(world.state, LOOKUP)
    assert ("panda_hand", "tool") not in followed.scene.pairs
    assert ("panda_link5", "tool") in pairs_of(followed.scene, "tool")


def test_what_a_scene_says_is_that_of_a_scene_made_by_hand(world, followed):
    rng = np.random.default_rng(0)
    near = {"world": at(-0.5, 0.0, 0.4), "belt": at(0.4, -1.0, 0.3)}.get
    followed.update(world.state, near)
    own = SCENE.copy()
    own.add("table", CUBE[0].shape, at(0.5, 0.0, 0.4))
    own.add("cup", BALL[0].shape, at(0.4, 0.0, 0.3))
    own.add("tool", BALL[0].shape, HERE)
    own.attach("tool", "panda_hand", HERE, ["panda_leftfinger"])
    for q in (own.chain.random(rng) for _ in range(20)):
        found = [(gap.names, gap.distance) for gap in followed.scene.gaps(q)]
        assert found == [(gap.names, gap.distance) for gap in own.gaps(q)]


# What sensors see -------------------------------------------------------------------------------


def sight(points, frame="base", padding=0.0):
    return Sight(PointCloud.of(points), frame, 7, "camera", padding)


def test_what_is_seen_is_in_the_scene_and_is_no_change_of_the_world():
    world, scene = World(LINKS), WorldScene(SCENE.copy())
    world.see("points", sight([[0.5, 0.0, 0.3]]))
    assert world.revision == 0
    assert scene.update(world.state, frames(base=HERE)) == {}
    assert ("panda_hand", "points") in scene.scene.pairs
    tables = tables_of(scene.scene)
    world.see("points", sight([[0.5, 0.0, 0.3], [0.9, 0.0, 0.3]]))
    scene.update(world.state, frames(base=HERE))
    assert tables_of(scene.scene).slots is tables.slots, "new points are quick"
    assert "points in 2 voxels" in str(scene.scene)


def test_points_that_are_the_same_do_not_change_a_scene():
    world, scene = World(LINKS), WorldScene(SCENE.copy())
    for padding in (0.01, 0.02):
        world.see("points", sight([[0.5, 0.0, 0.3]], padding=padding))
        scene.update(world.state, frames(base=HERE))
    tables_of(scene.scene)
    changes = scene.scene.changes
    for _ in range(3):
        world.see("points", sight([[0.5, 0.0, 0.3]], padding=0.02))
        scene.update(world.state, frames(base=HERE))
        tables_of(scene.scene)
    assert scene.scene.changes == changes


def test_points_are_placed_padded_and_may_be_touched():
    world, scene = World(LINKS), WorldScene(SCENE.copy())
    scene.update(world.state, frames(base=HERE))  # they come later
    world.see("points", sight([[0.5, 0.0, 0.3]], "belt", padding=0.02))
    assert scene.update(world.state, lambda frame: None) == {"points": "belt"}
    assert scene.scene.objects == ()
    far, near = (at(x) for x in (1.0, 0.8))
    assert scene.update(world.state, {"belt": far}.get) == {}
    distances = [least(scene)]
    scene.update(world.state, {"belt": near}.get)
    distances.append(least(scene))
    assert distances[0] > distances[1] + 0.1
    (gap,) = [g for g in scene.scene.gaps(Q) if g.names == ("panda_hand", "points")]
    assert gap.padding == 0.02
    with world.change() as draft:
        draft.allow("panda_hand", "points")
    scene.update(world.state, {"belt": near}.get)
    assert ("panda_hand", "points") not in scene.scene.pairs


def least(scene):
    return min(gap.distance for gap in scene.scene.gaps(Q) if "points" in gap.names)


def test_what_stands_still_does_not_ride_on_the_hand_in_which_a_chain_begins():
    """From the hand up to the base: joints of the chain move its root."""
    chain = MODEL.chain("panda_hand", "panda_link0")
    scene = WorldScene(Scene(MODEL, chain, exact=False))
    assert scene.reference == "panda_link0"
    world = World(LINKS)
    with world.change() as draft:
        draft.add("table", "world", at(0.5, 0.0, 0.4), CUBE)
    scene.update(world.state, {"world": HERE}.get)
    other = WorldScene(SCENE.copy())
    other.update(world.state, {"world": HERE}.get)
    for q in np.random.default_rng(1).uniform(chain.lower, chain.upper, (20, 7)):
        own = {g.names: g.distance for g in other.scene.gaps(q[::-1]) if "table" in g.names}
        found = {g.names: g.distance for g in scene.scene.gaps(q) if "table" in g.names}
        common = own.keys() & found.keys()
        assert len(common) > 5
        apart = [k for k in common if max(found[k], own[k]) > 0.0]  # others are covers' depths
        assert [found[k] for k in apart] == pytest.approx([own[k] for k in apart], abs=1e-6)
    world.see("points", sight([[0.5, 0.0, 0.3]], frame="world"))
    with pytest.raises(SceneError, match="unset point_cloud_topic"):
        scene.update(world.state, {"world": HERE}.get)


def test_names_of_points_are_their_own():
    world = World(LINKS)
    with world.change() as draft:
        draft.add("box", "base", HERE, CUBE)
    for name in ("box", "panda_hand"):
        with pytest.raises(SceneError, match="has this name"):
            world.see(name, sight([]))
    world.see("points", sight([]))
    with (
        pytest.raises(SceneError, match="a cloud of points has this name"),
        world.change() as draft,
    ):
        draft.add("points", "base", HERE, CUBE)
    with world.change() as draft:
        draft.remove("")
    assert "points" in world.state.sights, "other changes leave them"


def test_what_another_robot_saw_is_forgotten():
    world, scene = World(LINKS), WorldScene(SCENE.copy())
    world.see("points", sight([[0.5, 0.0, 0.3]], padding=0.1))
    scene.update(world.state, frames(base=HERE))
    world.fit(LINKS)
    scene.update(world.state, frames(base=HERE))
    assert scene.scene.objects == ()
    world.see("points", sight([[0.5, 0.0, 0.3]]))
    assert scene.update(world.state, frames(base=HERE)) == {}
