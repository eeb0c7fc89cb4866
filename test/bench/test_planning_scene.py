# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The objects around the robot, by MoveIt's messages: what comes back, and what it changes."""

import math

import pytest
from bench import HOME, running
from geometry_msgs.msg import Point, Point32, Polygon, Pose, TransformStamped
from moveit_client import MoveItClient, pose_stamped, state
from moveit_msgs.msg import (
    AllowedCollisionEntry,
    AllowedCollisionMatrix,
    AttachedCollisionObject,
    CollisionObject,
    LinkPadding,
    LinkScale,
    MoveItErrorCodes,
    ObjectColor,
    PlanningScene,
    PlanningSceneWorld,
)
from moveit_msgs.srv import GetCartesianPath
from scene_client import BALL, BITS, BOX, HERE, MESH, Client, at, held, last_words, primitive, thing
from shape_msgs.msg import Mesh, Plane, SolidPrimitive

from basis_ik.ros.convert import pose_message, pose_value
from basis_ik.ros.world import world_messages, world_server
from basis_ik.transforms.rigid import RigidTransform

CODE = MoveItErrorCodes
ADD, REMOVE = CollisionObject.ADD, CollisionObject.REMOVE
APPEND, MOVE = CollisionObject.APPEND, CollisionObject.MOVE
TABLE = RigidTransform.from_rpy(0.1, -0.2, 2.0, [0.45, 0.10, 0.10])


@pytest.fixture(scope="module")
def robot():
    with running() as robot:
        robot.place("base_link", "table", TABLE)
        robot.run(0.2)
        yield robot
        assert robot.commands == []


@pytest.fixture
def client(robot):
    client = Client(robot)
    yield client
    client.hold(held("", "", REMOVE))
    client.put(thing("", operation=REMOVE, primitives=()))
    assert client.apply(PlanningScene(world=PlanningSceneWorld()))


def pose_of(message):
    return pose_value(message)


# What comes back --------------------------------------------------------------------------------


def test_a_box_comes_back_as_it_was_sent(client):
    sent = thing("box", "table", at(0.3))
    sent.type.key, sent.type.db = "crate", "shop"
    client.put(sent)
    found = client.objects()["box"]
    assert found.header.frame_id == "table"
    assert pose_of(found.pose).is_close(at(0.3))
    assert [pose_of(each) for each in found.primitive_poses] == [HERE]
    assert (found.primitives, found.type) == ([BOX], sent.type)
    assert (found.operation, found.meshes) == (ADD, [])


def test_the_pose_of_a_single_shape_is_that_of_its_object(client):
    """As in MoveIt; its tutorials send boxes so."""
    client.put(thing("box", primitive_poses=[pose_message(at(0.4, 0.1))]))
    found = client.objects()["box"]
    assert pose_of(found.pose).is_close(at(0.4, 0.1))
    assert pose_of(found.primitive_poses[0]).is_close(HERE)
    client.put(thing("box", pose=at(0.1), primitive_poses=[pose_message(at(0.4))]))
    found = client.objects()["box"]
    assert pose_of(found.pose).is_close(at(0.1))
    assert pose_of(found.primitive_poses[0]).is_close(at(0.4))


def test_several_shapes_of_all_kinds_come_back(client):
    kinds = (
        BOX, BALL, primitive(SolidPrimitive.CYLINDER, 0.4, 0.1),
        primitive(SolidPrimitive.CONE, 0.4, 0.1),
    )  # fmt: skip
    poses = [pose_message(at(0.1 * k)) for k in range(4)]
    client.put(thing("set", pose=at(1.0), primitives=kinds, primitive_poses=poses,
                     meshes=[MESH], mesh_poses=[pose_message(at(0.7))]))  # fmt: skip
    found = client.objects()["set"]
    assert found.primitives == list(kinds[:3])
    assert [pose_of(each).translation[0] for each in found.primitive_poses] == pytest.approx(
        [0.0, 0.1, 0.2]
    )
    cone, hull = found.meshes  # convex hulls, which is what counts
    assert max(each.z for each in cone.vertices) == pytest.approx(0.2)
    assert min(each.z for each in cone.vertices) == pytest.approx(-0.2)
    out = [math.hypot(each.x, each.y) for each in cone.vertices if each.z < 0.0]
    assert out == pytest.approx([0.1 / math.cos(math.pi / 24)] * 24)  # around the cone
    assert len(hull.vertices) == 4
    assert [pose_of(each).translation[0] for each in found.mesh_poses] == pytest.approx([0.3, 0.7])


def test_shapes_without_a_pose_are_at_the_origin(client):
    client.put(thing("pair", pose=at(1.0), primitives=(BOX, BALL), primitive_poses=[Pose()]))
    found = client.objects()["pair"]
    assert [pose_of(each) for each in found.primitive_poses] == [HERE, HERE]


def test_objects_are_replaced_appended_moved_and_removed(client):
    client.put(thing("box"), thing("cup", primitives=(BALL,)))
    client.put(thing("box", pose=at(0.5), primitives=(BALL,)))
    assert client.objects()["box"].primitives == [BALL]
    client.put(thing("box", operation=APPEND, primitive_poses=[pose_message(at(0.0, 0.2))]))
    found = client.objects()["box"]
    assert found.primitives == [BALL, BOX]
    assert pose_of(found.pose).is_close(at(0.5))
    assert pose_of(found.primitive_poses[1]).is_close(at(0.0, 0.2))
    client.put(thing("box", "table", at(0.1), MOVE, ()))
    found = client.objects()["box"]
    assert (found.header.frame_id, found.primitives) == ("table", [BALL, BOX])
    shifts = [pose_message(at(0.0, 0.0, 0.1)), pose_message(at(0.0, 0.0, 0.2))]
    client.put(thing("box", "table", at(0.1), MOVE, (), primitive_poses=shifts))
    assert pose_of(client.objects()["box"].primitive_poses[1]).is_close(at(0.0, 0.0, 0.2))
    client.put(thing("box", "", operation=REMOVE, primitives=()))
    assert list(client.objects()) == ["cup"]
    client.put(thing("new", operation=APPEND))
    assert list(client.objects()) == ["cup", "new"]
    client.put(thing("", "", operation=REMOVE, primitives=()))
    assert client.objects() == {}


def test_an_object_in_a_links_frame_stays_where_the_link_was(client, robot):
    client.put(thing("box", "tool0", at(0.0, 0.0, 0.3)), thing("foot", "base_link_inertia"))
    found = client.objects()
    assert found["box"].header.frame_id == robot.model.root
    there = robot.chain.forward(robot.positions) @ at(0.0, 0.0, 0.3)
    assert pose_of(found["box"].pose).is_close(there, 1e-6)
    assert found["foot"].header.frame_id == "base_link_inertia"  # no joint moves it


def test_a_frame_that_hangs_on_the_arm_is_where_it_was_too(client, robot):
    robot.place("tool0", "camera", at(0.0, 0.1))
    robot.run(0.1)
    client.put(thing("box", "camera"))
    found = client.objects()["box"]
    assert found.header.frame_id == robot.model.root
    there = robot.chain.forward(robot.positions) @ at(0.0, 0.1)
    assert pose_of(found.pose).is_close(there, 1e-6)


def test_what_is_attached_is_at_its_link_and_what_is_detached_where_that_was(client, robot):
    """In the order of MoveIt's tutorials: add, attach, detach, remove."""
    tip = robot.chain.forward(robot.positions)
    client.put(thing("box", pose=tip @ at(0.0, 0.0, 0.2)))
    client.hold(held("box", touch=["wrist_3_link"]))
    assert client.objects() == {}
    found = client.attached()["box"]
    assert (found.link_name, found.touch_links) == ("tool0", ["wrist_3_link"])
    assert found.object.header.frame_id == "tool0"
    assert pose_of(found.object.pose).is_close(at(0.0, 0.0, 0.2), 1e-6)
    assert found.object.primitives == [BOX]
    client.hold(held("box", "", REMOVE))
    assert client.attached() == {}
    found = client.objects()["box"]
    assert found.header.frame_id == robot.model.root
    assert pose_of(found.pose).is_close(tip @ at(0.0, 0.0, 0.2), 1e-6)
    client.put(thing("box", operation=REMOVE, primitives=()))
    assert client.objects() == {}


def test_an_object_comes_with_its_attachment_and_grows_there(client):
    client.hold(held("rod", primitives=(BOX,), frame="tool0", pose=at(0.0, 0.0, 0.1)))
    client.hold(held("rod", operation=APPEND, primitives=(BALL,)))
    client.hold(held("pen", operation=APPEND, primitives=(BALL,), frame="wrist_3_link"))
    found = client.attached()
    assert found["rod"].object.primitives == [BOX, BALL]
    assert pose_of(found["rod"].object.pose).is_close(at(0.0, 0.0, 0.1))
    assert found["pen"].link_name == "tool0"
    client.hold(held("pen", "forearm_link"))  # handed over
    assert client.attached()["pen"].link_name == "forearm_link"
    client.hold(held("", "forearm_link", REMOVE))
    assert list(client.attached()) == ["rod"]
    client.hold(held("", "", REMOVE))
    assert client.attached() == {}
    assert list(client.objects()) == ["rod", "pen"]


def test_a_difference_attaches_and_removes_in_one_message(client):
    """The tutorial of MoveIt's planning scenes sends both at once."""
    client.put(thing("box", "tool0"))
    scene = PlanningScene(is_diff=True)
    scene.robot_state.is_diff = True
    scene.robot_state.attached_collision_objects = [held("box", primitives=(BOX,), frame="tool0")]
    scene.world.collision_objects = [thing("box", operation=REMOVE, primitives=())]
    assert client.apply(scene)
    assert (list(client.objects()), list(client.attached())) == ([], ["box"])
    scene.robot_state.attached_collision_objects = [held("box", operation=REMOVE)]
    scene.world.collision_objects = [thing("box", pose=at(2.0))]
    assert client.apply(scene)
    assert client.attached() == {}
    assert pose_of(client.objects()["box"].pose).is_close(at(2.0))


def test_a_scene_that_is_no_difference_replaces_everything(client):
    client.put(thing("box"))
    client.hold(held("rod", primitives=(BALL,), frame="tool0"))
    scene = PlanningScene(name="shop", link_padding=[LinkPadding(link_name="tool0", padding=0.02)])
    scene.world.collision_objects = [thing("door", pose=at(2.0))]
    scene.object_colors = [ObjectColor(id="door")]
    scene.object_colors[0].color.g = scene.object_colors[0].color.a = 1.0
    assert client.apply(scene)
    found = client.scene()
    assert [each.id for each in found.world.collision_objects] == ["door"]
    assert found.robot_state.attached_collision_objects == []
    assert found.name == "shop"
    assert found.object_colors == scene.object_colors
    assert LinkPadding(link_name="tool0", padding=0.02) in found.link_padding
    assert client.apply(PlanningScene())
    found = client.scene()
    assert (found.world.collision_objects, found.object_colors, found.name) == ([], [], "")
    assert {each.padding for each in found.link_padding} == {0.0}


def test_a_difference_leaves_the_rest(client):
    client.put(thing("box"))
    client.hold(held("rod", primitives=(BALL,), frame="tool0"))
    scene = PlanningScene(is_diff=True)
    scene.world.collision_objects = [thing("door", pose=at(2.0))]
    assert client.apply(scene)
    assert (list(client.objects()), list(client.attached())) == (["box", "door"], ["rod"])
    client.publish("/planning_scene", PlanningScene(is_diff=True, name="kept"))
    assert client.scene().name == "kept"
    client.publish("/planning_scene_world", PlanningSceneWorld(
        collision_objects=[thing("wall", pose=at(3.0))]
    ))  # fmt: skip
    assert (list(client.objects()), list(client.attached())) == (["wall"], ["rod"])


def test_what_was_read_can_be_applied_again(client):
    """pymoveit2 reads the scene, changes it and sends all of it back."""
    client.put(thing("box", "table", at(0.3)), thing("set", primitives=(BOX, BALL), meshes=[MESH]))
    client.hold(
        held("rod", primitives=(BALL,), frame="tool0", pose=at(0.1), touch=["wrist_3_link"])
    )
    before = client.scene()
    matrix = before.allowed_collision_matrix
    matrix.entry_names.append("box")
    for row in matrix.entry_values:
        row.enabled.append(True)
    matrix.entry_values.append(AllowedCollisionEntry(enabled=[True] * len(matrix.entry_names)))
    assert client.apply(before)
    after = client.scene()
    assert after.world == before.world
    assert after.robot_state.attached_collision_objects == (
        before.robot_state.attached_collision_objects
    )
    found = after.allowed_collision_matrix
    row = found.entry_values[found.entry_names.index("box")].enabled
    assert all(on for name, on in zip(found.entry_names, row, strict=True) if name != "box")
    client.put(thing("box", operation=REMOVE, primitives=()))
    assert "box" not in client.scene().allowed_collision_matrix.entry_names


FIELDS = {
    BITS.SCENE_SETTINGS: lambda scene: scene.robot_model_name,
    BITS.ROBOT_STATE: lambda scene: scene.robot_state.joint_state.name,
    BITS.ROBOT_STATE_ATTACHED_OBJECTS: lambda scene: scene.robot_state.attached_collision_objects,
    BITS.WORLD_OBJECT_NAMES: lambda scene: scene.world.collision_objects,
    BITS.WORLD_OBJECT_GEOMETRY: lambda scene: any(
        each.primitives for each in scene.world.collision_objects
    ),
    BITS.TRANSFORMS: lambda scene: scene.fixed_frame_transforms,
    BITS.ALLOWED_COLLISION_MATRIX: lambda scene: scene.allowed_collision_matrix.entry_names,
    BITS.LINK_PADDING_AND_SCALING: lambda scene: scene.link_padding and scene.link_scale,
    BITS.OBJECT_COLORS: lambda scene: scene.object_colors,
}
ALSO = {
    BITS.ROBOT_STATE_ATTACHED_OBJECTS: BITS.ROBOT_STATE,
    BITS.WORLD_OBJECT_GEOMETRY: BITS.WORLD_OBJECT_NAMES,
}


@pytest.mark.parametrize("bit", FIELDS)
def test_each_component_is_there_if_it_is_asked_for(client, bit):
    client.put(thing("box", "table"))
    client.hold(held("rod", primitives=(BALL,), frame="tool0"))
    scene = PlanningScene(is_diff=True, object_colors=[ObjectColor(id="box")])
    assert client.apply(scene)
    whole, part = client.scene(), client.scene(bit)
    assert all(has(whole) for has in FIELDS.values())
    got = {other for other, has in FIELDS.items() if has(part)}
    assert got == {bit, ALSO.get(bit, bit)}


def test_the_frames_of_objects_are_in_the_scene(client, robot):
    client.put(thing("box", "table"))
    (frame,) = client.scene(BITS.TRANSFORMS).fixed_frame_transforms
    assert isinstance(frame, TransformStamped)
    assert (frame.header.frame_id, frame.child_frame_id) == (robot.model.root, "table")
    assert frame.transform.translation.x == pytest.approx(0.45)


def test_the_matrix_has_the_pairs_that_are_not_compared(client):
    matrix = client.scene(BITS.ALLOWED_COLLISION_MATRIX).allowed_collision_matrix
    number = {name: k for k, name in enumerate(matrix.entry_names)}

    def may_touch(one, other):
        row, column = number[one], number[other]
        found = matrix.entry_values[row].enabled[column]
        assert found == matrix.entry_values[column].enabled[row]
        return found

    assert may_touch("forearm_link", "upper_arm_link")  # adjacent
    assert not may_touch("upper_arm_link", "wrist_2_link")


# Refusals ---------------------------------------------------------------------------------------

NAN = math.nan
BENT = Pose()
BENT.orientation.w = 0.0
FAR = Pose()
FAR.position.x = NAN


def matrix(names, rows, **defaults):
    return AllowedCollisionMatrix(
        entry_names=names, entry_values=[AllowedCollisionEntry(enabled=row) for row in rows],
        **defaults,
    )  # fmt: skip


REFUSED = {
    "size zero": (thing("a", primitives=[primitive(1, 0.1, 0.0, 0.1)]), "primitives[0]: "),
    "size negative": (thing("a", primitives=[primitive(2, -0.1)]), "sizes are from 1e-06"),
    "size NaN": (thing("a", primitives=[primitive(3, NAN, 0.1)]), "sizes are from 1e-06"),
    "too few sizes": (thing("a", primitives=[primitive(1, 0.1)]), "dimensions': this type has 3"),
    "prism": (thing("a", primitives=[primitive(5, 0.1)]), "'type': 5 is not supported"),
    "unknown type": (thing("a", primitives=[primitive(9)]), "'type': 9 is not supported"),
    "polygon": (
        thing("a", primitives=[
            SolidPrimitive(type=1, dimensions=[0.1] * 3, polygon=Polygon(points=[Point32()]))
        ]),
        "'polygon': it belongs to a prism",
    ),
    "no shape": (thing("a", primitives=()), "'a': shapes: an object has 1 to 100"),
    "no quaternion": (
        thing("a", primitives=(BOX, BOX), primitive_poses=[BENT]), "primitive_poses[0]: "
    ),
    "no place": (thing("a", meshes=[MESH], mesh_poses=[FAR]), "mesh_poses[0]: "),
    "more poses": (thing("a", primitive_poses=[Pose()] * 2), "primitive_poses: there are 2, and 1"),
    "no frame": (thing("a", ""), "'a': header.frame_id: it is text of"),
    "unknown frame": (thing("a", "mars"), "there is no transform of 'mars'"),
    "id of a link": (thing("tool0"), "'tool0': id: a link has this name"),
    "no id": (thing(""), "'': id: it is text of"),
    "octomap's id": (thing("<octomap>"), "octomap: octomaps are not supported"),
    "plane": (thing("a", planes=[Plane()]), "planes: planes are not supported; use a box"),
    "subframe": (thing("a", subframe_names=["b"], subframe_poses=[Pose()]), "subframe_names: sub"),
    "empty mesh": (thing("a", meshes=[Mesh()]), "meshes[0]: 'triangles': 0 triangles"),
    "mesh beyond its corners": (
        thing("a", meshes=[Mesh(triangles=MESH.triangles, vertices=MESH.vertices[:3])]),
        "4 triangles of 3 vertices are no mesh",
    ),
    "flat mesh": (
        thing("a", meshes=[Mesh(triangles=MESH.triangles[:1], vertices=MESH.vertices)]),
        "it has no volume",
    ),
    "mesh of NaN": (
        thing("a", meshes=[Mesh(triangles=MESH.triangles,
                                vertices=[Point(x=NAN), *MESH.vertices[1:]])]),
        "a coordinate is not finite",
    ),
    "operation": (thing("a", operation=bytes([7])), "operation: "),
    "move of nothing": (thing("a", operation=MOVE, primitives=()), "no such object to move"),
    "move with shapes": (thing("box", operation=MOVE), "primitives: MOVE takes no shapes"),
    "append elsewhere": (thing("box", pose=at(1.0), operation=APPEND), "pose: APPEND places"),
    "remove nothing": (thing("a", operation=REMOVE), "no such object to remove"),
    "weight": (held("box", primitives=()), ""),
    "attach nothing": (held("a"), "'a': shapes: an object has"),
    "attach to no link": (held("box", "claw"), "link_name: the robot has no link 'claw'"),
    "touch no link": (held("box", touch=["claw"]), "touch_links: the robot has no link 'claw'"),
    "attach in no frame": (
        held("a", frame="mars", primitives=(BOX,)), "no transform of 'mars' to 'tool0'"
    ),
    "detach nothing": (held("a", operation=REMOVE), "no such object to detach"),
    "detach what is free": (held("box", operation=REMOVE), "'box': it is not attached"),
    "move in the hand": (held("box", operation=MOVE), "operation: .* none of ADD, APPEND, REMOVE"),
    "append what is free": (held("box", operation=APPEND), "operation: APPEND, and it is not"),
    "link scale": (
        PlanningScene(is_diff=True, link_scale=[LinkScale(link_name="tool0", scale=1.1)]),
        "'tool0': link_scale: 1.1 is not supported",
    ),
    "link padding": (
        PlanningScene(is_diff=True, link_padding=[LinkPadding(link_name="tool0", padding=NAN)]),
        "'tool0': padding: it is from 0 to 1 m, got nan",
    ),
    "rows": (
        PlanningScene(is_diff=True, allowed_collision_matrix=matrix(["a", "b"], [[False] * 2])),
        "entry_values: it is not 2 rows of 2",
    ),
    "columns": (
        PlanningScene(is_diff=True, allowed_collision_matrix=matrix(["a"], [[True] * 2])),
        "entry_values: it is not 1 rows of 1",
    ),
    "names": (
        PlanningScene(is_diff=True, allowed_collision_matrix=matrix(["a"] * 2, [[True] * 2] * 2)),
        "entry_names: a name is there twice",
    ),
    "defaults": (
        PlanningScene(is_diff=True, allowed_collision_matrix=matrix([], [],
                                                                    default_entry_names=["a"])),
        "default_entry_values: there is not one",
    ),
}  # fmt: skip
del REFUSED["weight"]
for field, value in (("weight", 1.0), ("weight", NAN)):
    message = held("box")
    setattr(message, field, value)
    REFUSED[f"{field} {value}"] = message, "weight: it is not supported; leave it 0"
message = held("box")
message.detach_posture.joint_names = ["a"]
REFUSED["posture"] = message, "detach_posture: it is not supported"
octomap = PlanningScene(is_diff=True)
octomap.world.octomap.octomap.data = [1]
REFUSED["octomap"] = octomap, "octomap: octomaps are not supported"
CELLS = PlanningSceneWorld(octomap=octomap.world.octomap)
REFUSED["world's octomap"] = CELLS, "octomap: octomaps are not supported"
TOPICS = {
    CollisionObject: "/collision_object",
    AttachedCollisionObject: "/attached_collision_object",
    PlanningScene: "/planning_scene",
    PlanningSceneWorld: "/planning_scene_world",
}


@pytest.fixture
def words(client, monkeypatch):
    """What the server logs of refusals, without a limit of time."""
    said = []
    monkeypatch.setattr(client.server, "_refuse", lambda topic, reason: said.append(reason))
    return said


@pytest.mark.parametrize(("message", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_named_and_changes_nothing(client, words, message, text):
    client.put(thing("box"))
    before, revision = client.scene(), client.robot.node.world.revision
    client.publish(TOPICS[type(message)], message)
    (reason,) = words
    if ".*" in text:
        first, second = text.split(" .* ")
        assert first in reason
        assert second in reason
    else:
        assert text in reason
    assert client.robot.node.world.revision == revision
    after = client.scene()
    assert (after.world, after.link_padding) == (before.world, before.link_padding)


def test_a_mesh_has_a_bound(client, words, monkeypatch):
    monkeypatch.setattr(world_messages, "MOST_TRIANGLES", 3)
    client.put(thing("a", meshes=[MESH]))
    (reason,) = words
    assert "meshes[0]: 'triangles': 4 are more than 3; use a coarser mesh" in reason


def test_where_a_link_is_must_be_known(client, words, monkeypatch):
    monkeypatch.setattr(client.server._frames, "lookup", lambda root: lambda frame: None)
    client.put(thing("a", "tool0"))
    (reason,) = words
    assert reason.startswith("'a': header.frame_id: it is not known where 'tool0' is; wait until")


def test_a_scene_holds_as_a_whole_or_not_at_all(client, robot):
    client.put(thing("box"))
    scene = PlanningScene(is_diff=True)
    scene.world.collision_objects = [thing("good", pose=at(1.0)), thing("bad", "mars")]
    since = len(robot.log)
    assert not client.apply(scene)
    assert list(client.objects()) == ["box"]
    assert "apply_planning_scene: refused: 'bad': header.frame_id" in last_words(robot, since)


def test_a_message_that_is_too_long_is_not_even_read(client, words, monkeypatch):
    monkeypatch.setattr(world_server, "MOST_SCENE_BYTES", 300)
    monkeypatch.setattr(world_server, "deserialize_message", None)
    client.put(thing("box", meshes=[MESH]))
    (reason,) = words
    assert "bytes are more than 300; use a coarser mesh" in reason
    assert client.objects() == {}


def test_others_get_the_processor_after_each_message(client, monkeypatch):
    rests = []
    with monkeypatch.context() as patch:
        patch.setattr(world_server.time, "sleep", rests.append)
        client.put(*(thing(f"{k}", pose=at(2.0 + k)) for k in range(5)))
    assert rests.count(world_server.READING_PAUSE) == 5


def test_an_unexpected_exception_ends_nothing(client, words, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(client.server._reader, "_form", None)
        client.put(thing("box"))
    assert words == ["internal error"]
    assert client.objects() == {}
    with monkeypatch.context() as patch:
        patch.setattr(client.server, "_scene", None)
        assert client.scene() == PlanningScene()
    client.put(thing("box"))
    assert list(client.objects()) == ["box"]


def test_what_the_node_knows_better_is_noted(client, robot):
    scene = PlanningScene(is_diff=True, robot_model_name="other")
    scene.robot_state.joint_state = state({"elbow_joint": 1.0})
    scene.robot_state.is_diff = True
    scene.fixed_frame_transforms = [TransformStamped()]
    reader = client.server._reader
    assert client.apply(scene)
    assert [note.split(":")[0] for note in reader.notes] == [
        "robot_model_name", "robot_state", "fixed_frame_transforms"
    ]  # fmt: skip
    assert client.apply(PlanningScene(is_diff=True))
    assert reader.notes == []


def test_an_object_around_the_base_is_warned_of(client, monkeypatch):
    server, found = client.server, []
    remarks = server._remarks
    monkeypatch.setattr(server, "_remarks", lambda *a: found.extend(remarks(*a)) or [])
    client.put(thing("fog", primitives=[primitive(SolidPrimitive.SPHERE, 3.0)]))
    assert found == ["'fog': the origin of 'base_link' is inside of it; is its place right?"]
    assert list(client.objects()) == ["fog"]
    client.put(thing("box", pose=at(2.0)))
    assert len(found) == 1


# What it changes --------------------------------------------------------------------------------


def ik(client, pose, seed=HOME):
    chain = client.robot.chain
    q = pose_message(pose).orientation
    request = MoveItClient.ik_request(
        None, pose_stamped("base_link", pose.translation, (q.x, q.y, q.z, q.w)),
        joints=dict(zip(chain.joint_names, map(float, seed), strict=True)),
    )  # fmt: skip
    request.ik_request.avoid_collisions = True
    return client.ask(client.ik, request).error_code


def test_a_solution_strikes_no_object(client, robot):
    tip = robot.chain.forward(HOME)
    assert ik(client, tip).val == CODE.SUCCESS
    client.put(thing("ball", pose=tip, primitives=(BALL,)))
    code = ik(client, tip)
    assert code.val == CODE.NO_IK_SOLUTION
    assert "ball" in code.message
    client.put(thing("ball", pose=at(3.0), operation=MOVE, primitives=()))
    code = ik(client, tip)
    assert (code.val, code.message) == (CODE.SUCCESS, "")
    client.put(thing("ball", pose=tip, operation=MOVE, primitives=()))
    assert ik(client, tip).val == CODE.NO_IK_SOLUTION
    names = ["ball", "wrist_2_link", "wrist_3_link", "wrist_1_link", "tool0"]
    everything = matrix(names, [[True] * 5] * 5)
    assert client.apply(PlanningScene(is_diff=True, allowed_collision_matrix=everything))
    assert ik(client, tip).val == CODE.SUCCESS


def test_a_matrix_replaces_the_one_before(client):
    for names in (["one", "two"], ["three", "four"]):
        scene = PlanningScene(is_diff=True)
        scene.allowed_collision_matrix = matrix(names, [[True] * 2] * 2)
        assert client.apply(scene)
    assert list(client.robot.node.world.state.entries) == [frozenset(("three", "four"))]


def test_what_is_in_the_hand_strikes_too(client, robot):
    tip = robot.chain.forward(HOME)
    client.put(thing("post", pose=tip @ at(0.0, 0.0, 0.3), primitives=(BALL,)))
    assert ik(client, tip).val == CODE.SUCCESS
    rod = primitive(SolidPrimitive.CYLINDER, 0.4, 0.01)
    client.hold(held("rod", primitives=(rod,), frame="tool0", pose=at(0.0, 0.0, 0.21),
                     touch=["wrist_3_link", "wrist_2_link"]))  # fmt: skip
    code = ik(client, tip)
    assert code.val == CODE.NO_IK_SOLUTION
    assert "rod" in code.message
    client.hold(held("rod", operation=REMOVE))
    client.put(thing("rod", operation=REMOVE, primitives=()))
    assert ik(client, tip).val == CODE.SUCCESS


def test_padding_of_a_link_is_kept(client, robot):
    tip = robot.chain.forward(HOME)
    client.put(thing("post", pose=tip @ at(0.0, 0.0, 0.12), primitives=(BALL,)))
    assert ik(client, tip).val == CODE.SUCCESS
    padded = [LinkPadding(link_name="wrist_3_link", padding=0.1)]
    assert client.apply(PlanningScene(is_diff=True, link_padding=padded))
    assert "post" in ik(client, tip).message


def test_an_object_whose_frame_is_lost_is_told_of(client, robot):
    tip = robot.chain.forward(HOME)
    robot.frames["base_link", "belt"] = lambda: at(1.0, 1.0)
    robot.run(0.1)
    client.put(thing("parcel", "belt"))
    assert ik(client, tip).val == CODE.SUCCESS
    del robot.frames["base_link", "belt"]
    robot.run(1.5)
    assert ik(client, tip).val == CODE.SUCCESS
    robot.run(0.8)
    code = ik(client, tip)
    assert code.val == CODE.COLLISION_CHECKING_UNAVAILABLE
    assert "'parcel' stands in 'belt'" in code.message
    client.put(thing("parcel", operation=REMOVE, primitives=()))
    assert ik(client, tip).val == CODE.SUCCESS


def test_an_object_moves_with_its_frame(client, robot):
    tip = robot.chain.forward(HOME)
    where = {"belt": at(2.0)}
    robot.frames["base_link", "carrier"] = lambda: where["belt"]
    robot.run(0.1)
    client.put(thing("parcel", "carrier", primitives=(BALL,)))
    assert ik(client, tip).val == CODE.SUCCESS
    where["belt"] = tip
    robot.run(0.1)
    assert "parcel" in ik(client, tip).message
    del robot.frames["base_link", "carrier"]


def test_a_path_ends_before_an_object(client, robot):
    tip = robot.chain.forward(HOME)
    client.put(thing("wall", pose=tip @ at(0.0, 0.0, 0.2), primitives=(BALL,)))
    request = GetCartesianPath.Request(max_step=0.01, avoid_collisions=True)
    request.header.frame_id = "base_link"
    request.waypoints = [pose_message(tip @ at(0.0, 0.0, 0.2))]
    request.start_state.joint_state = state(
        dict(zip(robot.chain.joint_names, HOME.tolist(), strict=True))
    )
    answer = client.ask(client.path, request)
    assert answer.error_code.val == CODE.SUCCESS
    assert 0.1 < answer.fraction < 0.9
    assert "wall overlap by" in answer.error_code.message


# What is published ------------------------------------------------------------------------------


@pytest.fixture
def published(client, monkeypatch):
    """What the server publishes when it is told to."""
    sent = []
    monkeypatch.setattr(client.server, "publish_if_new", client.server.publish_if_new)
    count = {"subscribers": 0}

    class Publisher:
        def publish(self, message):
            sent.append(message)

        def get_subscription_count(self):
            return count["subscribers"]

    client.server.publish_if_new()
    monkeypatch.setattr(client.server, "_publisher", Publisher())
    sent.clear()
    return client.server, sent, count


def test_a_burst_is_published_once_and_as_a_whole(client, published):
    server, sent, _ = published
    for k in range(50):
        client.put(thing(f"{k}", pose=at(2.0 + k)))
    server.publish_if_new()
    server.publish_if_new()
    (scene,) = sent
    assert not scene.is_diff
    assert len(scene.world.collision_objects) == 50
    assert scene.allowed_collision_matrix.entry_names


def test_subscribers_hear_that_frames_have_moved(client, published, robot):
    server, sent, count = published
    where = {"cart": at(2.0)}
    robot.frames["base_link", "cart"] = lambda: where["cart"]
    robot.run(0.1)
    client.put(thing("parcel", "cart"))
    server.publish_if_new()
    where["cart"] = at(3.0)
    robot.run(0.1)
    server.publish_if_new()
    assert len(sent) == 1, "nobody listens"
    count["subscribers"] = 1
    server.publish_if_new()
    server.publish_if_new()
    assert len(sent) == 2
    assert sent[-1].fixed_frame_transforms[0].transform.translation.x == pytest.approx(3.0)
    count["subscribers"] = 0
    server.publish_if_new()
    assert len(sent) == 2
    del robot.frames["base_link", "cart"]


def test_an_object_that_did_not_change_is_written_once(client):
    client.put(thing("box"), thing("cup", primitives=(BALL,)))
    first = client.objects()
    client.put(thing("box", pose=at(1.0)))
    second = client.objects()
    assert second["cup"] is first["cup"]
    assert second["box"] is not first["box"]
    client.put(thing("cup", operation=REMOVE, primitives=()))
    client.scene()
    assert list(client.server._writer._written) == ["box"]
