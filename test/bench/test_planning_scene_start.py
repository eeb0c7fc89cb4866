# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The planning scene beside a move_group, without one, and with another robot."""

from bench import running
from moveit_msgs.msg import PlanningScene
from rclpy.serialization import serialize_message
from scene_client import BALL, Client, held, last_words, thing
from std_msgs.msg import String

from basis_ik.ros.world.world_server import WorldServer


def names_of(node):
    topics = {each.topic_name for each in node.subscriptions}
    topics |= {each.topic for each in node.publishers}
    return topics | {each.srv_name for each in node.services}


SERVED = {"/monitored_planning_scene", "/get_planning_scene", "/apply_planning_scene"}


def test_beside_a_move_group_the_node_only_listens():
    words = ("-p", "planning_scene:=listen", "-r", "planning_scene:=monitored_planning_scene")
    with running(*words) as robot:
        plug_ins = robot.node._robot._plug_ins
        (server,) = (each for each in plug_ins if isinstance(each, WorldServer))
        assert not SERVED & (names_of(server.node) - {"/monitored_planning_scene"})
        callbacks = {each.topic_name: each.callback for each in server.node.subscriptions}
        assert set(callbacks) == {
            "/collision_object", "/attached_collision_object", "/planning_scene_world",
            "/monitored_planning_scene",
        }  # fmt: skip
        scene = PlanningScene()
        scene.world.collision_objects = [thing("box")]
        callbacks["/monitored_planning_scene"](serialize_message(scene))
        assert list(robot.node.world.state.objects) == ["box"]


def test_the_planning_scene_can_be_ignored():
    with running("-p", "planning_scene:=ignore") as robot:
        assert not any(isinstance(each, WorldServer) for each in robot.node._robot._plug_ins)


def test_objects_outlive_the_robot_where_they_fit():
    with running() as robot:
        client = Client(robot)
        client.put(thing("box"))
        client.hold(held("rod", primitives=(BALL,), frame="tool0"))
        since = len(robot.log)
        robot.description.publish(String(data=robot.urdf.replace("tool0", "tool1")))
        robot.wait(lambda: robot.node._robot.text != robot.urdf, "the other robot is there")
        assert list(robot.node.world.state.objects) == ["box"]
        text = "these objects do not fit the new robot and are gone: 'rod'"
        assert text in last_words(robot, since)
