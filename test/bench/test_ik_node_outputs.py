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

"""Each interface that streams positions drives the arm, at its limits."""

import numpy as np
import pytest
from bench import PERIOD, Robot, down, running

from basis_ik.ros.convert import time_message


@pytest.mark.parametrize(
    ("interface", "topic", "field"),
    [
        ("position", "/joint_trajectory_controller/commands", "data"),
        ("joint_state", "/joint_commands", "position"),
    ],
)
def test_each_interface_drives_the_arm(interface, topic, field):
    with running("-p", f"command_interface:={interface}") as robot:
        start, limits = robot.positions, robot.arm.limits
        robot.reach(down(0.40, 0.20, 0.40), 1e-9)
        robot.wait(robot.rests, "silence")
        assert {each.topic for each in robot.commands} == {topic}
        assert set(np.diff([each.time for each in robot.commands])) == {round(1e9 * PERIOD)}
        way = np.array([start, *(getattr(each.message, field) for each in robot.commands)])
        speeds = np.diff(way, axis=0) / PERIOD
        rates = np.diff(speeds, axis=0, prepend=0.0) / PERIOD
        assert (np.abs(speeds) / limits.velocity).max() == pytest.approx(1.0, abs=1e-9)
        assert (np.abs(rates) / limits.acceleration).max() == pytest.approx(1.0, abs=1e-9)
        assert (way == way[-1]).all(axis=1).sum() == 25, "the last command is repeated"
        if interface == "joint_state":
            time, _, message = robot.commands[0]
            assert tuple(message.name) == robot.chain.joint_names
            assert message.header.stamp == time_message(time + robot.boundary.offset)


@pytest.mark.parametrize("interface", ["follow_joint_trajectory", "position"])
@pytest.mark.parametrize("driver", [False, True], ids=["joint states", "driver"])
def test_an_arm_goes_on_after_a_gap_in_the_joint_states(interface, driver):
    with running("-p", f"command_interface:={interface}") as robot:
        assert robot.set_parameter("speed_override", 0.2).successful
        robot.set_off(THERE, 0.1)
        robot.publishing, robot.controller_states.link.loss = False, float(driver)
        robot.run(0.9)
        robot.publishing, robot.controller_states.link.loss = True, 0.0
        assert not robot.at(THERE, 1e-2)
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        robot.wait(lambda: robot.at(THERE, 1e-6), "the drives are there", 1.0)


INTERFACES = ["joint_trajectory", "follow_joint_trajectory"]
THERE = down(0.40, 0.20, 0.40)


def split(interface, joints):
    """Return an arm whose controller has some joints, of which its first state tells."""
    robot = Robot("-p", f"command_interface:={interface}")
    robot.controlled = joints(robot.controlled)
    robot.boundary.sources |= {"listeners": 0, "ready": False}
    robot.run(0.1)  # until the node has found it
    robot.boundary.sources |= {"listeners": 1, "ready": True}
    return robot


@pytest.fixture(params=INTERFACES)
def sharing(request):
    """Return an arm whose controller has the joints of a gripper, too, and says so."""
    robot = split(request.param, lambda arm: ["finger_joint", *arm, "thumb_joint"])
    yield robot
    robot.end()


def test_an_arm_whose_controller_has_other_joints_does_not_begin_to_move(sharing):
    sharing.wait(lambda: "refuses" in str(sharing.statuses[-1:]), "the reason")
    message = sharing.statuses[-1]["message"]
    assert "has finger_joint, thumb_joint, too, and refuses trajectories without" in message
    assert "set its parameter allow_partial_joints_goal" in message
    sharing.send("base_link", THERE)
    assert sharing.rests()
    sharing.boundary.partial = True
    sharing.wait_status(state="READY")
    sharing.reach(THERE, 1e-9)


def test_a_controller_that_takes_trajectories_without_other_joints_moves_the_arm(sharing):
    sharing.boundary.partial = True
    sharing.wait_status(state="READY")
    sharing.reach(THERE, 1e-9)


def test_a_motion_that_began_before_the_first_state_goes_on():
    """It may be right: the controller is asked meanwhile."""
    robot = Robot("-p", "command_interface:=follow_joint_trajectory")
    try:
        robot.controlled, robot.boundary.partial = [*robot.controlled, "finger_joint"], True
        robot.wait_status(state="READY")
        assert robot.time < 0.02, "a controller publishes its state at 50 Hz"
        robot.reach(THERE, 1e-9)
    finally:
        robot.end()


def test_an_answer_is_waited_for_and_then_done_without(sharing):
    sharing.boundary.partial = None
    sharing.wait(lambda: "too: waiting for" in str(sharing.statuses[-1:]), "the reason")
    since = sharing.time
    sharing.wait_status(state="READY")
    assert sharing.time - since == pytest.approx(2.0, abs=0.5)
    sharing.reach(THERE, 1e-9)
    told = "does not tell whether the controller takes trajectories without finger_joint"
    assert str(sharing.log.lines()).count(told) == 1


def test_no_motion_begins_before_the_controller_has_said_which_joints_it_has(sharing):
    sharing.wait(lambda: "refuses" in str(sharing.statuses[-1:]), "the reason")
    assert {each["state"] for each in sharing.statuses} == {"WAITING"}


def test_a_controller_that_comes_back_is_asked_again(sharing):
    sharing.boundary.partial = True
    sharing.wait_status(state="READY")
    sharing.controller_states.link.loss = 1.0
    sharing.wait_status(state="WAITING")
    sharing.controller_states.link.loss, sharing.boundary.partial = 0.0, False
    sharing.wait(lambda: "refuses" in sharing.statuses[-1]["message"], "the reason")


@pytest.mark.parametrize("interface", INTERFACES)
def test_an_arm_over_two_controllers_does_not_begin_to_move(interface):
    robot = split(interface, lambda arm: arm[:4])
    robot.boundary.partial = True
    try:
        robot.wait(lambda: "does not have" in str(robot.statuses[-1:]), "the reason")
        message = robot.statuses[-1]["message"]
        assert "does not have wrist_2_joint, wrist_3_joint: set controller to one" in message
        assert robot.statuses[-1]["state"] == "WAITING"
        robot.send("base_link", THERE)
        assert robot.rests()
        robot.controlled = list(robot.chain.joint_names)
        robot.wait_status(state="READY")
    finally:
        robot.end()
