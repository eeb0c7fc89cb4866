# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every interface of ik_node once, over the middleware that RMW_IMPLEMENTATION names.

`RMW_IMPLEMENTATION=rmw_cyclonedds_cpp pytest test/ros/test_middleware.py` tries another one. With
Zenoh its router must run: `ros2 run rmw_zenoh_cpp rmw_zenohd`.
"""

import os

import numpy as np
import pytest
import rclpy
from control_msgs.msg import JointJog
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, PlanningScene
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene, GetPositionFK, GetPositionIK
from point_head_client import SUCCEEDED, Client
from rcl_interfaces.srv import GetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robot_bench import HOME, down, running
from shape_msgs.msg import SolidPrimitive
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray
from visualization_msgs.srv import GetInteractiveMarkers

from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

TARGET, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
WHOLE = ("-p", "command_interface:=follow_joint_trajectory")
SOLVED = 1  # of moveit_msgs/MoveItErrorCodes


@pytest.fixture(scope="module")
def robot(domain):
    """Yield a robot whose description is older than the node."""
    with running(domain, "-p", f"home:={HOME.tolist()}") as robot:
        yield robot


def hear(robot, kind, topic):
    """Return the next message of a topic.

    The subscription lasts as long as the node: rclpy fails if it goes while another thread waits.
    """
    heard = []
    robot.node.create_subscription(kind, topic, heard.append, 10)
    robot.wait(lambda: heard, f"a message of {topic}")
    return heard[0]


def moves(robot, publish, joint):
    """Publish as a stream of velocities does, until a joint has moved by 0.02 rad."""
    before = robot.positions[joint]

    def moved():
        publish()
        return abs(robot.positions[joint] - before) > 0.02

    robot.wait(moved, "the arm moves")
    robot.wait_status(state="READY")


def test_the_middleware_is_the_one_that_was_asked_for():
    asked = os.environ.get("RMW_IMPLEMENTATION") or "rmw_fastrtps_cpp"
    assert rclpy.get_rmw_implementation_identifier() == asked


def test_a_target_pose_in_a_frame_of_tf_is_reached(robot):
    robot.frames["moving"] = lambda: TARGET
    robot.place("base_link", "table", FAR)
    for frame, place in (("moving", TARGET), ("table", FAR)):
        robot.send(frame, RigidTransform.identity(), stamped=False)
        robot.wait_status(state="ARRIVED", verdict="REACHED", target_frame=frame)
        robot.wait(lambda place=place: robot.at(place, 1e-3), f"the arm is at {frame}")


def test_a_point_is_looked_at(robot):
    robot.reach("base_link", TARGET)
    robot.look("base_link", (0.5, 0.3, 0.2))
    robot.wait(lambda: not robot.at(TARGET, 1e-2), "the arm moves")
    robot.wait_status(state="ARRIVED", verdict="REACHED")


def test_twists_and_joint_velocities_move_the_arm(robot):
    robot.reach("base_link", TARGET)
    moves(robot, lambda: robot.jog("base_link", linear=(0.0, 0.0, -0.1)), joint=1)
    jogs = robot.node.create_publisher(JointJog, "basis_ik/joint_jog", 1)
    jog = JointJog(joint_names=["wrist_3_joint"], velocities=[0.5])

    def publish():
        jog.header.stamp = robot.node.get_clock().now().to_msg()
        jogs.publish(jog)

    moves(robot, publish, joint=5)


def test_stop_enable_and_home_are_obeyed(robot):
    assert robot.call(Trigger, "stop").success
    robot.wait_status(state="STOPPED")
    assert robot.call(SetBool, "enable", data=True).success
    assert robot.call(Trigger, "home").success
    robot.wait(lambda: np.allclose(robot.positions, HOME, atol=1e-3), "home")


def test_kinematics_are_calculated(robot):
    robot.reach("base_link", TARGET)
    request = GetPositionIK.Request()
    request.ik_request.group_name = "tool0"
    request.ik_request.pose_stamped = PoseStamped(pose=pose_message(TARGET))
    request.ik_request.pose_stamped.header.frame_id = "base_link"
    answer = robot.call(GetPositionIK, "compute_ik", ik_request=request.ik_request)
    assert answer.error_code.val == SOLVED
    there = robot.call(
        GetPositionFK, "compute_fk", fk_link_names=["tool0"], robot_state=answer.solution
    )
    assert there.error_code.val == SOLVED
    assert there.pose_stamped[0].pose.position.x == pytest.approx(0.40, abs=1e-4)


def box(operation=CollisionObject.ADD, frame="base_link", **position):
    """Return the message about a box that the tutorials of MoveIt send."""
    message = CollisionObject(id="box1", operation=operation)
    message.header.frame_id = frame
    if operation == CollisionObject.ADD:
        message.primitives = [SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.1, 0.1, 0.2])]
        message.primitive_poses = [PoseStamped().pose]
        for axis, value in position.items():
            setattr(message.primitive_poses[0].position, axis, value)
    elif operation == CollisionObject.MOVE:
        for axis, value in position.items():
            setattr(message.pose.position, axis, value)
    return message


class SceneClient:
    """Publishes objects as a client of MoveIt does, and asks for the scene."""

    def __init__(self, robot):
        self.robot, node = robot, robot.node
        self.objects = node.create_publisher(CollisionObject, "/collision_object", 10)
        self.held = node.create_publisher(AttachedCollisionObject, "/attached_collision_object", 10)
        self.get = node.create_client(GetPlanningScene, "/get_planning_scene")
        self.apply = node.create_client(ApplyPlanningScene, "/apply_planning_scene")
        robot.wait(self.objects.get_subscription_count, "the node hears of objects")
        robot.wait(self.held.get_subscription_count, "the node hears of attached objects")
        for client in (self.get, self.apply):
            robot.wait(client.service_is_ready, "the node serves its scene")

    def ask(self, client, request):
        future = client.call_async(request)
        self.robot.wait(future.done, "an answer")
        return future.result()

    def scene(self):
        return self.ask(self.get, GetPlanningScene.Request()).scene

    def wait(self, holds, what):
        """Wait for the scene to have something; return it."""
        found = []
        self.robot.wait(lambda: holds(found.append(self.scene()) or found[-1]), what)
        return found[-1]


def ids(objects):
    return [each.id for each in objects]


def test_objects_come_move_are_attached_and_go(robot):
    """What MoveIt's tutorials publish, compared with what comes back."""
    robot.reach("base_link", TARGET)
    client = SceneClient(robot)
    client.objects.publish(box(x=0.5, y=0.1, z=0.25))
    scene = client.wait(lambda scene: scene.world.collision_objects, "there is a box")
    (found,) = scene.world.collision_objects
    assert (found.id, found.header.frame_id) == ("box1", "base_link")
    assert found.primitives == box().primitives
    place = found.pose.position
    assert (place.x, place.y, place.z) == (0.5, 0.1, 0.25)
    assert "forearm_link" in scene.allowed_collision_matrix.entry_names

    client.objects.publish(box(CollisionObject.MOVE, x=0.4, y=0.2, z=0.25))
    client.wait(lambda scene: scene.world.collision_objects[0].pose.position.x == 0.4, "it moves")

    request = GetPositionIK.Request()
    request.ik_request.pose_stamped = PoseStamped(pose=pose_message(down(0.4, 0.2, 0.3)))
    request.ik_request.pose_stamped.header.frame_id = "base_link"
    request.ik_request.avoid_collisions = True
    answer = robot.call(GetPositionIK, "compute_ik", ik_request=request.ik_request)
    assert answer.error_code.val != SOLVED
    assert "box1" in answer.error_code.message

    attached = AttachedCollisionObject(
        link_name="tool0", object=box(), touch_links=["wrist_3_link"]
    )
    attached.object.primitives, attached.object.primitive_poses = [], []
    client.held.publish(attached)
    scene = client.wait(lambda scene: not scene.world.collision_objects, "it is attached")
    (found,) = scene.robot_state.attached_collision_objects
    assert (found.link_name, found.touch_links) == ("tool0", ["wrist_3_link"])
    assert found.object.pose.position.z == pytest.approx(0.15, abs=1e-3)  # below the tool, turned

    attached.object.operation = CollisionObject.REMOVE
    client.held.publish(attached)
    scene = client.wait(lambda scene: scene.world.collision_objects, "it is detached")
    place = scene.world.collision_objects[0].pose.position
    assert (place.x, place.y, place.z) == pytest.approx((0.4, 0.2, 0.25), abs=1e-3)

    client.objects.publish(box(CollisionObject.REMOVE))
    client.wait(lambda scene: not scene.world.collision_objects, "it is removed")


def test_a_scene_is_applied_or_refused_and_late_subscribers_get_it(robot):
    client = SceneClient(robot)
    scene = PlanningScene(is_diff=True)
    scene.robot_state.is_diff = True
    scene.world.collision_objects = [box(x=2.0)]
    assert client.ask(client.apply, ApplyPlanningScene.Request(scene=scene)).success
    scene.world.collision_objects = [box(frame="nowhere")]
    assert not client.ask(client.apply, ApplyPlanningScene.Request(scene=scene)).success
    assert ids(client.scene().world.collision_objects) == ["box1"]
    # As the display of RViz subscribes: reliable and volatile.
    heard, services = [], QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
    robot.node.create_subscription(
        PlanningScene, "/monitored_planning_scene", heard.append, services
    )
    scene.world.collision_objects = [box(x=3.0)]

    def hears():
        assert client.ask(client.apply, ApplyPlanningScene.Request(scene=scene)).success
        return any(each.world.collision_objects[0].pose.position.x == 3.0 for each in heard)

    robot.wait(hears, "a subscriber hears of the box")
    assert not heard[-1].is_diff
    late, latched = [], QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    robot.node.create_subscription(PlanningScene, "/monitored_planning_scene", late.append, latched)
    robot.wait(lambda: late, "a late subscriber hears of it")
    assert ids(late[-1].world.collision_objects) == ["box1"]
    client.objects.publish(box(CollisionObject.REMOVE))
    client.wait(lambda scene: not scene.world.collision_objects, "it is removed")


def test_the_head_action_succeeds(robot):
    assert Client(robot).run((0.5, 0.3, 0.2)) == SUCCEEDED


def test_parameters_and_lifecycle_answer(robot):
    answer = robot.call(GetParameters, "get_parameters", names=["update_rate"])
    assert answer.values[0].double_value == 100.0
    assert robot.set_parameter("speed_override", 0.5).successful
    assert robot.set_parameter("speed_override", 1.0).successful
    assert robot.state() == "active"
    assert robot.transit("deactivate")
    assert robot.transit("activate")


def test_status_diagnostics_markers_and_handle_are_published(robot):
    assert hear(robot, DiagnosticArray, "/diagnostics").status
    assert hear(robot, MarkerArray, "basis_ik/markers").markers
    handle = robot.call(GetInteractiveMarkers, "target/get_interactive_markers")
    assert [each.header.frame_id for each in handle.markers] == ["base_link"]


def test_a_whole_motion_is_executed_by_a_controllers_action(own_domain):
    with running(own_domain, *WHOLE) as robot:
        robot.reach("base_link", FAR)
        robot.wait(lambda: robot.at(FAR, 1e-3), "the arm is there")
