# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Objects of the planning scene as triangles on the page."""

import numpy as np
import pytest
from geometry_msgs.msg import Point, Pose
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, ObjectColor, PlanningScene
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from basis_ik.extras.web_view.scene_objects import (
    IN_HAND,
    MOST_SHOWN_TRIANGLES,
    SceneObjects,
    scene_faces,
)
from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.shapes import AROUND

PLACE = RigidTransform.from_rpy(0.3, -0.2, 1.0, (1.0, 2.0, 3.0))
SHAPE = RigidTransform.from_rpy(0.0, 0.5, 0.0, (0.1, 0.0, 0.2))
BOX = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.2, 0.4, 0.6])


def thing(name, *primitives, frame="table", pose=PLACE):
    found = CollisionObject(id=name, pose=pose_message(pose), primitives=list(primitives))
    found.primitive_poses = [pose_message(SHAPE) for _ in primitives]
    found.header.frame_id = frame
    return found


def scene(*things):
    found = PlanningScene()
    found.world.collision_objects = list(things)
    return found


@pytest.mark.parametrize(
    ("kind", "sizes", "half", "volume"),
    [
        (SolidPrimitive.BOX, (0.2, 0.4, 0.6), (0.1, 0.2, 0.3), 0.048),
        (SolidPrimitive.SPHERE, (0.3,), (0.3, 0.3, 0.3), 4.0 / 3.0 * np.pi * 0.3**3),
        (SolidPrimitive.CYLINDER, (0.8, 0.1), (0.1, 0.1, 0.4), np.pi * 0.1**2 * 0.8),
        (SolidPrimitive.CONE, (0.8, 0.1), (0.1, 0.1, 0.4), np.pi * 0.1**2 * 0.8 / 3.0),
    ],
)
def test_a_primitive_has_its_size_about_its_centre(kind, sizes, half, volume):
    primitive = SolidPrimitive(type=kind, dimensions=list(sizes))
    (faces,) = scene_faces(scene(thing("it", primitive)))
    assert (faces.frame, faces.color) == ("table", AROUND)
    assert np.allclose(faces.pose.matrix, (PLACE @ SHAPE).matrix)
    assert np.allclose(faces.corners.max(axis=0), half, rtol=0.02)
    assert np.allclose(faces.corners.min(axis=0), -np.array(half), rtol=0.02)
    a, b, c = faces.corners.reshape(-1, 3, 3).transpose(1, 0, 2)
    assert np.sum(np.cross(a, b) * c) / 6.0 == pytest.approx(volume, rel=0.06)


def test_the_apex_of_a_cone_is_up():
    cone = SolidPrimitive(type=SolidPrimitive.CONE, dimensions=[0.8, 0.1])
    (faces,) = scene_faces(scene(thing("it", cone)))
    top = faces.corners[faces.corners[:, 2] > 0.3999]
    assert len(top) > 0
    assert np.allclose(top[:, :2], 0.0)


def test_a_mesh_has_its_triangles():
    found = CollisionObject(id="mesh", pose=pose_message(PLACE), mesh_poses=[Pose()])
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    found.meshes = [
        Mesh(
            vertices=[Point(x=x, y=y, z=z) for x, y, z in corners],
            triangles=[MeshTriangle(vertex_indices=each) for each in ([0, 2, 1], [0, 1, 3])],
        )
    ]
    (faces,) = scene_faces(scene(found))
    assert faces.corners.tolist() == [list(corners[k]) for k in (0, 2, 1, 0, 1, 3)]


def test_what_a_link_holds_and_what_is_painted_differs():
    message = scene(thing("one", BOX, BOX), thing("two", BOX))
    held = AttachedCollisionObject(link_name="hand", object=thing("held", BOX, frame="hand"))
    message.robot_state.attached_collision_objects = [held]
    message.object_colors = [ObjectColor(id="two", color=ColorRGBA(r=1.0, g=0.5, b=0.0, a=0.25))]
    shown = [(each.name, each.number, each.frame, each.color) for each in scene_faces(message)]
    assert shown == [
        ("object one", 0, "table", AROUND),
        ("object one", 1, "table", AROUND),
        ("object two", 0, "table", (1.0, 0.5, 0.0, 0.25)),
        ("object held", 0, "hand", IN_HAND),
    ]


def test_what_has_no_pose_is_left_out():
    broken = thing("broken", BOX)
    broken.pose.orientation.w = float("nan")
    assert scene_faces(scene(broken, thing("good", BOX)))[0].name == "object good"


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        (SolidPrimitive.BOX, (1.0, 1.0)),
        (SolidPrimitive.SPHERE, ()),
        (SolidPrimitive.CYLINDER, (1.0, NAN)),
        (SolidPrimitive.CONE, (INF, 1.0)),
        (SolidPrimitive.BOX, (1.0, 0.0, 1.0)),
        (SolidPrimitive.SPHERE, (-1.0,)),
        (77, (1.0,)),
    ],
)
def test_a_primitive_with_faults_is_left_out(kind, sizes):
    broken = thing("broken", SolidPrimitive(type=kind, dimensions=list(sizes)))
    assert [len(each.corners) for each in scene_faces(scene(broken, thing("box", BOX)))] == [0, 36]


def meshed(corners, triangles):
    found = CollisionObject(id="mesh", pose=pose_message(PLACE), mesh_poses=[Pose()])
    points = [Point(x=x, y=y, z=z) for x, y, z in corners]
    indices = [MeshTriangle(vertex_indices=each) for each in triangles]
    found.meshes = [Mesh(vertices=points, triangles=indices)]
    return found


@pytest.mark.parametrize(
    ("corners", "triangles"),
    [
        ([], [[0, 1, 2]]),
        ([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], [[0, 1, 2]]),
        ([(0.0, 0.0, 0.0), (1.0, 0.0, NAN), (0.0, 1.0, 0.0)], [[0, 1, 2]]),
    ],
)
def test_a_mesh_with_faults_is_left_out(corners, triangles):
    (faces,) = scene_faces(scene(meshed(corners, triangles)))
    assert len(faces.corners) == 0


def test_a_mesh_of_very_many_triangles_is_shown_as_its_box():
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 3.0)]
    (faces,) = scene_faces(scene(meshed(corners, (MOST_SHOWN_TRIANGLES + 1) * [[0, 1, 2]])))
    assert len(faces.corners) == 36
    assert faces.corners.min(axis=0).tolist() == [0.0, 0.0, 0.0]
    assert faces.corners.max(axis=0).tolist() == [1.0, 2.0, 3.0]


def test_a_whole_scene_replaces_the_one_before_and_a_difference_does_not():
    objects = SceneObjects()

    def shown(message):
        added = [each for each in objects.markers(message).markers if each.action == Marker.ADD]
        return [each.ns for each in added]

    assert shown(scene(thing("one", BOX))) == ["object one"]
    assert shown(PlanningScene(is_diff=True)) == ["object one"]
    assert shown(scene(thing("two", BOX))) == ["object two"]
