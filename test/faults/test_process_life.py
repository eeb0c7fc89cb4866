# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Faults of the managed life."""

import time

import numpy as np
import pytest
from control_msgs.action import FollowJointTrajectory
from motions import FAR, NEAR, TOP_SPEED, has_braked, memory, set_off, stands
from rclpy.action import ActionClient
from rig import CONTROLLER, own_rig
from robot_bench import URDF
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectoryPoint


def test_row_66_a_target_while_inactive(rig, observed):
    assert rig.transit("deactivate")
    rig.send("base_link", FAR)
    rig.look("base_link", (0.9, -0.5, 0.7))
    rig.jog("base_link", linear=(0.1, 0.0, 0.0))
    assert not rig.call(Trigger, "home").success
    assert stands(rig)
    assert rig.transit("activate")
    assert stands(rig, 1.0), "it is not replayed"
    observed("ignored; nothing moves after activate")


def move_by_controller(rig, positions):
    """Let the arm's controller go to positions by itself, in a second."""
    topic = f"{CONTROLLER}/follow_joint_trajectory"
    client = ActionClient(rig.node, FollowJointTrajectory, topic)
    try:
        assert client.wait_for_server(30.0)
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(rig.chain.joint_names)
        point = JointTrajectoryPoint(positions=list(positions))
        point.time_from_start.sec = 1
        goal.trajectory.points = [point]
        client.send_goal_async(goal)
        rig.wait(lambda: rig.at_joints(positions), "its controller has moved the arm")
    finally:
        client.destroy()


def test_row_67_deactivated_in_mid_motion(rig, observed):
    set_off(rig)
    assert rig.transit("deactivate")
    way = has_braked(rig)
    elsewhere = rig.positions + np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.2])
    move_by_controller(rig, elsewhere)
    assert rig.transit("activate")
    assert stands(rig)
    rig.send("base_link", NEAR)
    rig.wait(lambda: rig.at(NEAR, 1e-3), "the arm is there")  # from where it was measured
    observed(f"braked after {way:.2f} rad; began anew where the arm had been moved to")


def entities(rig):
    """Return what the node has in the graph."""
    node = rig.node
    asks = (
        node.get_publisher_names_and_types_by_node,
        node.get_subscriber_names_and_types_by_node,
        node.get_service_names_and_types_by_node,
        node.get_client_names_and_types_by_node,
    )
    return [sorted(name for name, _ in ask("basis_ik", "/")) for ask in asks]


def test_row_68_a_hundred_lives(rig, observed):
    def live():
        for transition in ("deactivate", "cleanup", "configure", "activate"):
            assert rig.transit(transition)

    for _ in range(10):
        live()
    before, size = entities(rig), memory(rig.process)
    for _ in range(90):
        live()
    rig.wait(lambda: entities(rig) == before, "the same entities as before")
    grown = memory(rig.process) - size
    assert grown < 20.0
    rig.ready()
    observed(f"the same entities; {grown:+.1f} MB in 90 of 100 lives")


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.2, 0.3])
def test_row_81_activated_while_it_brakes(rig, observed, pause):
    set_off(rig)
    assert rig.transit("deactivate")
    time.sleep(pause)
    assert rig.transit("activate")
    way = has_braked(rig)
    rig.ready()
    assert stands(rig), "nothing is replayed"
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
    with own_rig(own_domain) as rig:
        set_off(rig)
        assert rig.call(Trigger, "stop").success
        has_braked(rig)
        for action in order:
            if action == "description":
                rig.description.publish(String(data=OTHER))
                time.sleep(1.0)
            else:
                for transition in action:
                    assert rig.transit(transition)
        rig.wait(lambda: rig.statuses[-1]["state"] == "STOPPED", "it is stopped still")
        rig.send("base_link", NEAR)
        assert stands(rig, 1.0)
        assert rig.statuses[-1]["state"] == "STOPPED"
        assert "ready: other" in rig.log
        rig.enable()
        assert stands(rig), "and then it waits for a target"
    names = ", ".join(each if isinstance(each, str) else "+".join(each) for each in order)
    observed(f"{names}: STOPPED until ~/enable")
