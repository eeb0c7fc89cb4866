# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A client of a robot's planning scene on the bench, and the messages that it sends."""

from array import array

import numpy as np
from geometry_msgs.msg import Point
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, PlanningSceneComponents
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene
from rclpy.serialization import serialize_message
from sensor_msgs.msg import PointCloud2, PointField
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive

from basis_ik.ros.convert import pose_message
from basis_ik.ros.kinematics.services import KinematicsServices
from basis_ik.ros.world.world_server import WorldServer
from basis_ik.transforms.rigid import RigidTransform

ADD, BITS = CollisionObject.ADD, PlanningSceneComponents
HERE = RigidTransform.identity()


def at(x, y=0.0, z=0.0):
    return RigidTransform.from_rpy(0.0, 0.0, 0.0, (x, y, z))


def primitive(kind, *sizes):
    return SolidPrimitive(type=kind, dimensions=list(map(float, sizes)))


BOX = primitive(SolidPrimitive.BOX, 0.1, 0.2, 0.3)
BALL = primitive(SolidPrimitive.SPHERE, 0.05)
MESH = Mesh(
    triangles=[MeshTriangle(vertex_indices=each) for each in
               ([0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3])],
    vertices=[Point(x=x, y=y, z=z) for x, y, z in
              ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))],
)  # fmt: skip


def thing(name, frame="base_link", pose=HERE, operation=ADD, primitives=(BOX,), **fields):
    message = CollisionObject(id=name, operation=operation, pose=pose_message(pose), **fields)
    message.header.frame_id, message.primitives = frame, list(primitives)
    return message


def held(name, link="tool0", operation=ADD, touch=(), **fields):
    fields.setdefault("primitives", ())
    return AttachedCollisionObject(
        link_name=link, object=thing(name, operation=operation, **fields), touch_links=list(touch)
    )


def cloud(points, frame="base_link", stamp=None, kind="<f4", offsets=(0, 4, 8), step=16, rows=1):
    """Return points (n, 3) as a message."""
    columns, names = np.asarray(points, float).reshape(-1, 3).T, ("x", "y", "z")
    record = np.dtype({"names": names, "formats": [kind] * 3, "offsets": offsets, "itemsize": step})
    data = np.zeros(columns.shape[1], record)
    for name, column in zip(names, columns, strict=True):
        data[name] = column
    datatype = PointField.FLOAT32 if kind.endswith("4") else PointField.FLOAT64
    message = PointCloud2(height=rows, width=len(data) // rows, point_step=step)
    message.row_step, message.is_bigendian = step * message.width, kind.startswith(">")
    message.fields = [
        PointField(name=name, offset=offset, datatype=datatype, count=1)
        for name, offset in zip(names, offsets, strict=True)
    ]
    message.data = array("B", data.tobytes())
    message.header.frame_id = frame
    if stamp is not None:
        message.header.stamp = stamp
    return message


class Camera:
    """Publishes clouds of points on /points ten times a second, some time after it saw them.

    Args:
        client: The robot's client.
        see: Returns the points (n, 3) that are seen now.
        late: That time [s].

    Attributes:
        see: As given.
        runs: Whether it publishes.
    """

    def __init__(self, client, see, late=0.0):
        self.see, self.runs = see, True
        world = client.robot.world

        def publish():
            if self.runs:
                message = cloud(self.see(), stamp=client.robot.stamp())
                world.at(world.now + round(1e9 * late), lambda: client.publish("/points", message))

        world.every(100_000_000, publish)


class Client:
    """Publishes to a robot's planning scene, and asks for it."""

    def __init__(self, robot):
        plug_ins = robot.node._robot._plug_ins
        (self.server,) = (each for each in plug_ins if isinstance(each, WorldServer))
        (kinematics,) = (each for each in plug_ins if isinstance(each, KinematicsServices))
        found = {each.srv_name: each.callback for each in self.server.node.services}
        self._apply = found["/apply_planning_scene"]
        self._get = found["/get_planning_scene"]
        self._topics = {each.topic_name: each.callback for each in self.server.node.subscriptions}
        served = {each.srv_name: each for each in kinematics._side.node.services}
        self.ik, self.path = (
            served["/basis_ik/compute_ik"],
            served["/basis_ik/compute_cartesian_path"],
        )
        self.robot = robot
        self.server._frames.now = robot.boundary.system
        for timer in self.server.node.timers:
            timer.cancel()  # tests say when the scene is published

    def publish(self, topic, message):
        self._topics[topic](serialize_message(message))

    def put(self, *objects):
        for each in objects:
            self.publish("/collision_object", each)

    def hold(self, *objects):
        for each in objects:
            self.publish("/attached_collision_object", each)

    def apply(self, scene):
        return self._apply(
            ApplyPlanningScene.Request(scene=scene), ApplyPlanningScene.Response()
        ).success

    def scene(self, components=0):
        request = GetPlanningScene.Request()
        request.components.components = components
        return self._get(request, GetPlanningScene.Response()).scene

    def objects(self):
        return {
            each.id: each for each in self.scene(BITS.WORLD_OBJECT_GEOMETRY).world.collision_objects
        }

    def attached(self):
        state = self.scene(BITS.ROBOT_STATE_ATTACHED_OBJECTS).robot_state
        return {each.object.id: each for each in state.attached_collision_objects}

    def ask(self, service, request):
        return service.callback(request, service.srv_type.Response())


def last_words(robot, since):
    """Return what the node has logged since a number of lines."""
    return " ".join(str(line) for line in robot.log[since:])
