# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Each interface that streams positions drives the arm, at its limits."""

import numpy as np
import pytest
from bench import PERIOD, Robot, down, running
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from basis_ik.ros.convert import time_message
from basis_ik.ros.outputs.trajectory_messages import to_point


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


# A controller with other joints, which are held -----------------------------------------------

GRIP = {"finger_joint": 0.02, "thumb_joint": -0.3}
ELSEWHERE = down(0.45, -0.10, 0.35)
SOMEBODY = 0.5  # s that somebody's trajectory takes
JOLT = 4.0  # a goal in mid-motion begins where the feedback lets the arm be: within 0.2 mrad


def holder(interface, **how):
    return Robot(
        "-p", "hold_other_joints:=true", "-p", f"command_interface:={interface}", others=GRIP, **how
    )  # fmt: skip


@pytest.fixture(
    params=[("joint_trajectory", False), ("joint_trajectory", True), (INTERFACES[1], False)],
    ids=["stamp", "blends", "goals"],
)
def holding(request):
    """Return an arm whose controller has the joints of a gripper, too, and wants to be told all."""
    interface, blends = request.param
    robot = holder(interface, replaces=blends)
    robot.arm.bound = JOLT if interface == INTERFACES[1] else robot.arm.bound
    try:
        robot.wait_status(state="READY")
        robot.run(0.5)  # the answer about the rule counts from then on
        yield robot
        assert robot.arm.refused == []
    finally:
        robot.end()


def paths(robot):
    """Return what the controller has commanded the other joints, shape (cycles, 2)."""
    return np.array([output for _, output in robot.arm.outputs])[:, 6:]


def move_others(robot, *places):
    """Let somebody else send a trajectory: the arm stays, the other joints move."""
    message = JointTrajectory(joint_names=robot.arm.joint_names)
    point = to_point(np.array([*robot.positions, *places]), np.zeros(8))
    point.time_from_start.nanosec = round(1e9 * SOMEBODY)
    message.points.append(point)
    robot.arm.take(message)


def test_other_joints_stay_where_they_are(holding):
    holding.reach(THERE, 1e-9)
    holding.reach(ELSEWHERE, 1e-9)
    assert (paths(holding) == list(GRIP.values())).all()


def test_other_joints_stay_when_the_arm_turns_round_stops_and_goes_on(holding):
    holding.set_off(THERE)
    holding.send("base_link", ELSEWHERE)
    holding.run(0.3)
    assert holding.call(Trigger, "stop").success
    holding.wait(holding.rests, "silence")
    assert not holding.at(ELSEWHERE, 1e-2)
    assert holding.call(SetBool, "enable", data=True).success
    holding.reach(THERE, 1e-9)
    assert (paths(holding) == list(GRIP.values())).all()


def test_a_motion_begins_when_others_have_moved_and_holds_them_there(holding):
    move_others(holding, 0.05, -0.25)
    holding.run(0.2)
    start = holding.positions
    holding.send("base_link", THERE)
    holding.run(0.2)
    assert np.array_equal(holding.positions, start)
    told = holding.statuses[-1]
    assert told["state"] == "MOVING"
    assert told["message"].startswith("somebody else moves finger_joint, thumb_joint: the arm")
    holding.wait_status(state="ARRIVED", verdict="REACHED")
    holding.wait(lambda: holding.at(THERE, 1e-9), "the drives are there", 1.0)
    way = paths(holding)
    assert (np.diff(way, axis=0) >= 0.0).all()
    assert way[-1] == pytest.approx([0.05, -0.25], abs=1e-12)


def test_others_that_move_at_rest_are_no_warning(holding):
    move_others(holding, 0.05, -0.25)
    holding.run(0.3)
    assert (holding.statuses[-1]["state"], holding.statuses[-1]["level"]) == ("READY", b"\0")


def test_others_that_somebody_moves_in_mid_motion_are_not_drawn_back(holding):
    holding.arm.bound = np.inf  # somebody's trajectory takes the arm's joints, too
    holding.set_off(THERE, 0.1)
    move_others(holding, 0.05, -0.25)
    # A controller ends a goal with somebody's trajectory, as its own.
    ended = "the motion has ended", "the command is at the target"
    holding.wait(lambda: holding.statuses[-1]["since"] in ended, "the end")
    if holding.statuses[-1]["since"] == ended[0]:
        told = holding.statuses[-1]["message"]
        assert told.endswith("left the trajectory: somebody else moves finger_joint, thumb_joint")
    holding.run(1.0)
    assert (np.diff(paths(holding), axis=0) >= 0.0).all()
    assert paths(holding)[-1] == pytest.approx([0.05, -0.25], abs=1e-12)
    holding.arm.complaints.clear()
    holding.reach(THERE, 1e-9)
    assert paths(holding)[-1] == pytest.approx([0.05, -0.25], abs=1e-12)


def test_an_object_stays_gripped(holding):
    """The controller's reference is held, not where the fingers are measured."""
    holding.arm.joints.blocked[6:] = True
    move_others(holding, 0.05, -0.25)
    holding.run(2 * SOMEBODY)
    assert holding.arm.others.tolist() == list(GRIP.values())
    holding.reach(THERE, 1e-9)
    assert paths(holding)[-1] == pytest.approx([0.05, -0.25], abs=1e-12)


def test_a_controller_that_was_started_again_holds_others_where_they_are_then(holding):
    holding.reach(THERE, 1e-9)
    holding.controller_states.link.loss = 1.0
    holding.wait_status(state="WAITING")
    holding.arm.place([*holding.positions, 0.04, -0.2])
    holding.controller_states.link.loss = 0.0
    holding.wait_status(state="READY")
    holding.reach(ELSEWHERE, 1e-9)
    assert paths(holding)[-1].tolist() == [0.04, -0.2]


class Vague:
    """The topic of a controller's state that lacks the reference of one joint."""

    def __init__(self, topic):
        self._topic, self.link, self.lacks = topic, topic.link, True

    def publish(self, state):
        if self.lacks:
            state.reference.positions[state.joint_names.index("thumb_joint")] = np.nan
        self._topic.publish(state)


@pytest.mark.parametrize("interface", INTERFACES)
def test_nothing_is_sent_while_the_place_of_a_joint_is_not_known(interface):
    robot = holder(interface)
    robot.controller_states = Vague(robot.controller_states)
    try:
        robot.wait(lambda: "does not tell" in str(robot.statuses[-1:]), "the reason")
        told = robot.statuses[-1]
        assert told["state"] == "WAITING"
        assert told["message"].startswith(
            "joint_trajectory_controller does not tell where it holds thumb_joint: hold_other_joi"
        )
        robot.send("base_link", THERE)
        assert robot.rests()
        assert robot.commands == []
        robot.controller_states.lacks = False
        robot.wait_status(state="READY")
        robot.reach(THERE, 1e-9)
        assert (paths(robot) == list(GRIP.values())).all()
    finally:
        robot.end()


def test_an_arm_brakes_with_the_last_place_that_was_known(holding):
    holding.set_off(THERE, 0.1)
    told = holding.controller_states = Vague(holding.controller_states)
    holding.wait_status(state="WAITING")
    holding.wait(holding.rests, "silence")
    assert not holding.at(THERE, 1e-2)
    told.lacks = False
    holding.wait_status(state="READY")
    holding.reach(THERE, 1e-9)
    assert (paths(holding) == list(GRIP.values())).all()


@pytest.mark.parametrize("interface", INTERFACES)
def test_no_motion_begins_before_the_controller_has_told_its_joints(interface):
    robot = holder(interface)
    robot.controller_states.link.loss, robot.boundary.sources["publishers"] = 1.0, 0
    try:
        robot.run(2.0)
        told = robot.statuses[-1]
        assert told["state"] == "WAITING"
        assert told["message"].startswith("waiting for /joint_trajectory_controller/controller_st")
        robot.send("base_link", THERE)
        assert robot.rests()
        robot.controller_states.link.loss, robot.boundary.sources["publishers"] = 0.0, 1
        robot.wait_status(state="READY")
        robot.reach(THERE, 1e-9)
        assert robot.arm.refused == []
    finally:
        robot.end()


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_controller_with_the_chains_joints_alone_needs_no_others(interface):
    with running("-p", "hold_other_joints:=true", "-p", f"command_interface:={interface}") as robot:
        robot.reach(THERE, 1e-9)
