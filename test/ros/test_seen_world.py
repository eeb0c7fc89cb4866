# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the control loop sees of the world, and how recordings have it."""

import json
from itertools import chain

import numpy as np

from basis_ik.collision.covered_links import Body
from basis_ik.collision.point_cloud import PointCloud
from basis_ik.collision.shape import Shape
from basis_ik.collision.world import Sight, World
from basis_ik.ros.action_forms import array_text
from basis_ik.ros.boundary import Boundary
from basis_ik.ros.world.seen_world import EMPTY_WORLD, SeenWorld, pack, unpack
from basis_ik.transforms.rigid import RigidTransform

RNG = np.random.default_rng(0)
HERE = RigidTransform.identity()


def text(value):
    return json.dumps(value, default=array_text)


def pose():
    return RigidTransform.from_axis_angle(RNG.normal(size=3), 1.0) @ RigidTransform.from_rpy(
        0.0, 0.0, 0.0, RNG.normal(size=3)
    )


def full_world():
    """Return a world with some of everything."""
    world = World({"base", "hand"})
    shapes = (
        Shape.box(0.1, 0.2, 0.3), Shape.sphere(0.1), Shape.cylinder(0.1, 0.3),
        Shape.capsule(0.1, 0.2), Shape.hull_of(RNG.normal(size=(40, 3))),
    )  # fmt: skip
    with world.change() as draft:
        draft.add("set", "belt", pose(), [Body(each, pose()) for each in shapes], padding=0.01,
                  kind=("key", "db"))  # fmt: skip
        draft.add("box", "base", pose(), [Body(shapes[0], HERE)])
        draft.attach("tool", "hand", pose(), ["hand"], [Body(shapes[4], pose())])
        draft.pad("hand", 0.02)
        draft.color("box", (0.1, 0.2, 0.3, 1.0))
        draft.entries[frozenset(("box", "hand"))] = True
        draft.defaults["set"] = False
        draft.name = "cell"
    world.see("points", Sight(PointCloud.of(RNG.normal(size=(200, 3))), "base", 17, "eye", 0.01))
    return world


def assert_equal(one, other):
    """Compare two states to the bit."""
    for name in ("revision", "entries", "defaults", "padding", "colors", "name"):
        assert getattr(one, name) == getattr(other, name)
    assert list(one.objects) == list(other.objects)
    for mine, theirs in zip(one.objects.values(), other.objects.values(), strict=True):
        for name in ("id", "frame", "pose", "padding", "attached", "touch", "kind"):
            assert getattr(mine, name) == getattr(theirs, name)
        for (shape, place), (shape_, place_) in zip(mine.parts, theirs.parts, strict=True):
            assert (shape, place, shape.hull_ratio) == (shape_, place_, shape_.hull_ratio)
            if shape.kind == "mesh":
                for array, array_ in zip(shape.hull, shape_.hull, strict=True):
                    assert np.array_equal(array, array_)
                    assert np.asarray(array).flags.c_contiguous, "a product depends on the layout"
    for mine, theirs in zip(one.sights.values(), other.sights.values(), strict=True):
        assert mine.cloud.is_equal(theirs.cloud)
        assert (mine.cloud.depth, *mine[1:]) == (theirs.cloud.depth, *theirs[1:])


def changes(world):
    """Change a world step by step."""
    with world.change() as draft:
        draft.move("box", "belt", pose())
    yield
    world.see("points", world.state.sights["points"]._replace(time=18))
    yield
    with world.change() as draft:
        draft.remove("set")
        draft.detach("tool", "base", pose())
    yield
    world.see("points", Sight(PointCloud.of(RNG.normal(size=(20, 3))), "base", 19))
    yield
    world.fit({"base"})
    yield


def test_a_state_is_the_same_after_json_has_had_it():
    world, before, there = full_world(), EMPTY_WORLD, EMPTY_WORLD
    for _ in chain([None], changes(world)):
        there = unpack(json.loads(text(pack(world.state, before))), there)
        before = world.state
        assert_equal(world.state, there)


def test_what_is_as_before_is_not_written_again():
    world = full_world()
    whole, before = len(text(pack(world.state, EMPTY_WORLD))), world.state
    sizes = []
    for _ in changes(world):
        sizes.append(len(text(pack(world.state, before))))
        before = world.state
    assert max(sizes[:2]) < 0.1 * whole


class Recorded(Boundary):
    """Keeps what it records, or gives it back."""

    def __init__(self, values=None):
        self.replays, self.values = values is not None, values or []

    def take(self, name, live, form):
        assert name == "world"
        if self.replays:
            return form.unpack(self.values.pop(0) if self.values else None)
        value = live()
        self.values.append(json.loads(text(form.pack(value))))
        return value


def test_a_world_changes_for_the_loop_only_when_it_looks_and_alike_in_a_replay():
    world, boundary = full_world(), Recorded()
    seen, states = SeenWorld(world, boundary), []
    for _ in chain([None], changes(world)):
        assert seen.state is not world.state or not states
        for _ in range(2):
            seen.look()
            assert seen.state is world.state
            states.append(seen.state)
    assert [each is None for each in boundary.values] == [False, True] * 6
    replayed = World({"base", "hand"})
    again = SeenWorld(replayed, Recorded(boundary.values))
    for state in states:
        again.look()
        assert_equal(again.state, state)
        assert replayed.state is again.state, "for whoever else asks"
    again.look()
    assert_equal(again.state, states[-1])
