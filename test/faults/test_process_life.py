"""Faults of the managed life."""

import time

import numpy as np
import pytest
from control_msgs.action import FollowJointTrajectory
from motions import FAR, NEAR, TOP_SPEED, has_braked, memory, set_off, stands
from rclpy.action import ActionClient
from robot_bench import URDF
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectoryPoint
from world import CONTROLLER, own_world


def test_row_66_a_target_while_inactive(world, observed):
    assert world.transit("deactivate")
    world.send("base_link", FAR)
    world.look("base_link", (0.9, -0.5, 0.7))
    world.jog("base_link", linear=(0.1, 0.0, 0.0))
    assert not world.call(Trigger, "home").success
    assert stands(world)
    assert world.transit("activate")
    assert stands(world, 1.0), "it is not replayed"
    observed("ignored; nothing moves after activate")


def move_by_controller(world, positions):
    """Let the arm's controller go to positions by itself, in a second."""
    topic = f"{CONTROLLER}/follow_joint_trajectory"
    client = ActionClient(world.node, FollowJointTrajectory, topic)
    try:
        assert client.wait_for_server(30.0)
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(world.chain.joint_names)
        point = JointTrajectoryPoint(positions=list(positions))
        point.time_from_start.sec = 1
        goal.trajectory.points = [point]
        client.send_goal_async(goal)
        world.wait(lambda: world.at_joints(positions), "its controller has moved the arm")
    finally:
        client.destroy()


def test_row_67_deactivated_in_mid_motion(world, observed):
    set_off(world)
    assert world.transit("deactivate")
    way = has_braked(world)
    elsewhere = world.positions + np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.2])
    move_by_controller(world, elsewhere)
    assert world.transit("activate")
    assert stands(world)
    world.send("base_link", NEAR)
    world.wait(lambda: world.at(NEAR, 1e-3), "the arm is there")  # from where it was measured
    observed(f"braked after {way:.2f} rad; began anew where the arm had been moved to")


def entities(world):
    """Return what the node has in the graph."""
    node = world.node
    asks = (
        node.get_publisher_names_and_types_by_node,
        node.get_subscriber_names_and_types_by_node,
        node.get_service_names_and_types_by_node,
        node.get_client_names_and_types_by_node,
    )
    return [sorted(name for name, _ in ask("basis_ik", "/")) for ask in asks]


def test_row_68_a_hundred_lives(world, observed):
    def live():
        for transition in ("deactivate", "cleanup", "configure", "activate"):
            assert world.transit(transition)

    for _ in range(10):
        live()
    before, size = entities(world), memory(world.process)
    for _ in range(90):
        live()
    world.wait(lambda: entities(world) == before, "the same entities as before")
    grown = memory(world.process) - size
    assert grown < 20.0
    world.ready()
    observed(f"the same entities; {grown:+.1f} MB in 90 of 100 lives")


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.2, 0.3])
def test_row_81_activated_while_it_brakes(world, observed, pause):
    set_off(world)
    assert world.transit("deactivate")
    time.sleep(pause)
    assert world.transit("activate")
    way = has_braked(world)
    world.ready()
    assert stands(world), "nothing is replayed"
    observed(f"{pause:.1f} s later: braked in {way:.2f} rad at {TOP_SPEED:.2f} rad/s, then active")


OTHER = URDF.replace('name="ur5e"', 'name="other"', 1)
END, BEGIN = ("deactivate", "cleanup"), ("configure", "activate")


@pytest.mark.parametrize(
    "order",
    [
        ("description", END, BEGIN),
        (END, "description", BEGIN),
        (END, BEGIN, "description"),
        ("description", ("deactivate",), ("activate",)),
    ],
    ids=["before", "between", "after", "inactive"],
)
def test_row_88_stopped_is_stopped(own_domain, observed, order):
    with own_world(own_domain) as world:
        set_off(world)
        assert world.call(Trigger, "stop").success
        has_braked(world)
        for deed in order:
            if deed == "description":
                world.description.publish(String(data=OTHER))
                time.sleep(1.0)
            else:
                for transition in deed:
                    assert world.transit(transition)
        world.wait(lambda: world.statuses[-1]["state"] == "STOPPED", "it is stopped still")
        world.send("base_link", NEAR)
        assert stands(world, 1.0)
        assert world.statuses[-1]["state"] == "STOPPED"
        assert "ready: other" in world.log
        world.enable()
        assert stands(world), "and then it waits for a target"
    names = ", ".join(each if isinstance(each, str) else "+".join(each) for each in order)
    observed(f"{names}: STOPPED until ~/enable")
