# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The gripper beside the arm: commands, what becomes of them, and a stop."""

import contextlib
import math
from unittest import mock

import pytest
from action_msgs.msg import GoalStatus
from bench import HOME, URDF, down, running
from sensor_msgs.msg import Joy
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger
from viewer import SHOWN, Viewer
from virtual_client import beside
from virtual_node import alone
from world import SECOND

from basis_ik.client import MotionTimeoutError, NotReachedError, StoppedError, TargetRefusedError

LOCKED = 1.0  # s for which the handle's server ignores feedback after a new marker
SUCCEEDED, ABORTED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED
CANCELED = GoalStatus.STATUS_CANCELED
GIVEN = {
    "gripper.controller": "hand",
    "gripper.joint": "finger",
    "gripper.open": "0.08",
    "gripper.closed": "0.01",
    "gripper.max_effort": "5.0",
    "joy.gripper_buttons": "[0, 3]",
    "home": HOME.tolist(),
}


class Server:
    """The gripper's controller: it keeps what it is asked for, and ends it as a test says."""

    def __init__(self, robot):
        self.robot, self.goals, self.canceled, self.accepts = robot, [], [], True
        robot.boundary.grip, robot.boundary.let_go = self.take, self.canceled.append

    def take(self, goal):
        self.goals.append(goal)
        if self.accepts is not None:
            goal.respond(self.accepts)

    def end(self, status=SUCCEEDED, *, stalled=False, reached_goal=True):
        self.goals[-1].end(status, stalled=stalled, reached_goal=reached_goal)
        self.robot.run(0.1)


def started(interface="gripper_command"):
    given = {"gripper.interface": interface, **GIVEN}
    return running(*(word for name, value in given.items() for word in ("-p", f"{name}:={value}")))


def test_by_the_parallel_grippers_action():
    with started("parallel_gripper_command") as robot:
        robot.wait_status(state="READY")
        server = Server(robot)
        say(robot, 1.0)
        command = server.goals[-1].trajectory
        assert (command.name, list(command.effort)) == (["finger"], [5.0])
        assert list(command.position) == pytest.approx([0.08])
        server.end()
        told(robot, "REACHED", "open")
        assert robot.set_parameter("gripper.max_effort", 0.0).successful
        say(robot, 0.0)
        assert list(server.goals[-1].trajectory.effort) == []


def test_by_positions_and_a_stop_leaves_it():
    with started("position") as robot:
        robot.wait_status(state="READY")
        say(robot, 0.5)
        assert list(robot.heard["/hand/commands"].data) == pytest.approx([0.045])
        told(robot, "SENT", "sent: 50 % open")
        del robot.heard["/hand/commands"]
        assert robot.call(Trigger, "stop").success
        robot.run(0.5)
        say(robot, 1.0)
        assert "/hand/commands" not in robot.heard


def test_an_action_that_control_msgs_lacks_is_named():
    words = ("-p", "gripper.interface:=parallel_gripper_command")
    with (
        mock.patch("control_msgs.action.ParallelGripperCommand", None),
        alone(URDF, *words) as node,
    ):
        lines = "\n".join(node.log.lines())
        assert "needs ParallelGripperCommand, which this control_msgs does not have" in lines
        assert "parameter 'gripper.interface'" in lines


@pytest.fixture(scope="module")
def shared():
    with started() as robot:
        robot.wait_status(state="READY")
        yield robot


@pytest.fixture
def robot(shared):
    shared.boundary.sources["ready"] = True
    assert shared.call(SetBool, "enable", data=True).success
    yield shared
    complaints, shared.arm.complaints = shared.arm.complaints, []
    assert complaints == []


@pytest.fixture
def server(robot):
    return Server(robot)


def say(robot, opening):
    robot.topic("gripper").publish(Float64(data=opening))
    robot.run(0.1)
    return robot.statuses[-1]


def told(robot, state, text):
    robot.run(0.6)
    values = robot.statuses[-1]
    assert (values["gripper"], values["gripper_text"]) == (state, text)
    return values


def test_before_the_first_command_nothing_is_told():
    with started() as robot:
        robot.wait_status(state="READY")
        assert robot.statuses[-1]["gripper"] == robot.statuses[-1]["gripper_text"] == ""
        assert robot.statuses[-1]["gripper_opening"] == "nan"


@pytest.mark.parametrize(
    ("opening", "position", "aim"),
    [(1.0, 0.08, "open"), (0.0, 0.01, "closed"), (0.25, 0.0275, "25 % open")],
)
def test_it_is_sent_there_and_told_to_be_there(robot, server, opening, position, aim):
    say(robot, opening)
    command = server.goals[-1].trajectory
    assert command.position == pytest.approx(position)
    assert command.max_effort == 5.0
    told(robot, "MOVING", f"on its way: {aim}")
    server.end()
    assert robot.statuses[-1]["gripper"] == "REACHED", "at once"
    told(robot, "REACHED", aim)


@pytest.mark.parametrize("status", [SUCCEEDED, ABORTED])
def test_what_it_grips_is_told_and_a_stop_leaves_it(robot, server, status):
    say(robot, 0.0)
    server.end(status, stalled=True, reached_goal=False)
    told(robot, "STALLED", "something holds it before it is closed")
    assert robot.call(Trigger, "stop").success
    robot.run(0.5)
    assert server.canceled == []
    assert len(server.goals) == 1


def test_a_stop_cancels_its_way_and_refuses_more_until_enabled(robot, server):
    say(robot, 0.0)
    assert robot.call(Trigger, "stop").success
    robot.run(0.05)
    assert server.canceled == server.goals
    told(robot, "STOPPED", "stopped before it was closed")
    server.end(CANCELED, reached_goal=False)
    told(robot, "STOPPED", "stopped before it was closed")
    assert say(robot, 1.0)["last_refusal.gripper"].startswith("NOT_READY")
    assert len(server.goals) == 1
    assert robot.call(SetBool, "enable", data=True).success
    say(robot, 1.0)
    assert len(server.goals) == 2


def test_a_stop_before_the_answer_cancels_after_it(robot, server):
    server.accepts = None
    say(robot, 0.0)
    assert robot.call(Trigger, "stop").success
    robot.run(0.3)
    assert server.canceled == []
    server.goals[-1].respond(True)
    robot.run(0.1)
    assert server.canceled == server.goals


def test_deactivation_stops_it_and_commands_meanwhile_are_ignored(robot, server):
    say(robot, 0.0)
    assert robot.transit("deactivate")
    robot.run(0.1)
    assert server.canceled == server.goals
    robot.topic("gripper").publish(Float64(data=1.0))
    robot.run(0.1)
    assert robot.transit("activate")
    robot.run(0.5)
    assert len(server.goals) == 1


def test_the_newest_command_wins(robot, server):
    say(robot, 0.0)
    say(robot, 1.0)
    server.goals[0].end(ABORTED, stalled=False, reached_goal=False)
    told(robot, "MOVING", "on its way: open")
    server.end()
    told(robot, "REACHED", "open")


def test_another_opening_is_told_within_a_twentieth_of_a_second(robot, server):
    for opening in (0.2, 0.3):  # MOVING, both
        robot.topic("gripper").publish(Float64(data=opening))
        robot.run(0.06)
        assert robot.statuses[-1]["gripper_opening"] == f"{opening}"


def test_a_late_answer_to_an_older_command_does_not_count(robot, server):
    server.accepts = None
    say(robot, 0.0)
    say(robot, 1.0)
    server.goals[0].respond(False)
    told(robot, "MOVING", "on its way: open")


@pytest.mark.parametrize(
    ("opening", "reason"),
    [(math.nan, "NON_FINITE"), (1.01, "OUT_OF_RANGE"), (-0.01, "OUT_OF_RANGE")],
)
def test_bad_openings_are_refused_and_the_one_before_stays(robot, server, opening, reason):
    say(robot, 0.0)
    assert say(robot, opening)["last_refusal.gripper"].startswith(reason)
    assert len(server.goals) == 1
    server.end()
    told(robot, "REACHED", "closed")


def test_a_server_that_is_not_there_is_named(robot, server):
    robot.boundary.sources["ready"] = False
    refusal = say(robot, 1.0)["last_refusal.gripper"]
    assert refusal.startswith("NOT_READY")
    assert "waiting for the action /hand/gripper_cmd" in refusal
    assert server.goals == []


def test_a_server_that_refuses_gives_up_is_silent_or_goes_is_told_of(robot, server):
    server.accepts = False
    say(robot, 0.0)
    values = told(robot, "FAILED", "its controller has refused: closed")
    assert "the gripper: its controller has refused: closed" in values["message"]
    server.accepts = True
    say(robot, 0.0)
    server.end(ABORTED, reached_goal=False)
    told(robot, "FAILED", "its controller has given up: closed")
    server.accepts = None
    say(robot, 0.0)
    robot.run(1.8)
    assert robot.statuses[-1]["gripper"] == "MOVING"
    robot.run(0.2)
    told(robot, "FAILED", "the action /hand/gripper_cmd does not answer")
    server.goals[-1].respond(True)
    told(robot, "MOVING", "on its way: closed")
    robot.boundary.sources["ready"] = False
    told(robot, "FAILED", "the action /hand/gripper_cmd has gone")


def test_it_moves_without_joint_states_of_the_arm_and_beside_its_motion(robot, server):
    robot.set_off(down(0.4, 0.2, 0.4))
    say(robot, 1.0)
    assert robot.statuses[-1]["state"] == "MOVING"
    robot.publishing = False
    robot.wait_status(state="WAITING")
    say(robot, 0.0)
    assert len(server.goals) == 2
    robot.publishing = True
    robot.wait_status(state="READY")


def test_buttons_open_and_close_it_once_when_they_are_pressed(robot, server):
    def press(*buttons):
        robot.topic("joy").publish(Joy(buttons=buttons))
        robot.run(0.05)

    press(1, 0, 0, 1)  # pressed when it begins
    assert server.goals == []
    press()
    press(1)
    press(1, 0, 0, 0)
    press(0, 1, 1, 1)
    press(0, 0, 0, 1)
    positions = [goal.trajectory.position for goal in server.goals]
    assert positions == pytest.approx([0.08, 0.01])


def test_the_handles_menu_opens_and_closes_it_while_commands_are_taken(robot, server):
    viewer, entries = Viewer(robot), {"open the gripper", "close the gripper"}
    robot.run(LOCKED + SHOWN)  # the menu may have changed just now
    viewer.choose("open the gripper")
    assert robot.statuses[-1]["gripper_opening"] == "1"
    viewer.choose("close the gripper")
    positions = [goal.trajectory.position for goal in server.goals]
    assert positions == pytest.approx([0.08, 0.01])
    told(robot, "MOVING", "on its way: closed")
    assert robot.call(Trigger, "stop").success
    robot.run(SHOWN)
    assert not entries & viewer.entries().keys()
    assert robot.call(SetBool, "enable", data=True).success
    robot.run(SHOWN)
    assert entries <= viewer.entries().keys()


@pytest.mark.parametrize("state", ["REACHED", "STALLED", "FAILED", "STOPPED", "MOVING"])
def test_the_client_waits_for_what_becomes_of_it(robot, server, state):
    def end():
        stalled, status = state == "STALLED", ABORTED if state == "FAILED" else SUCCEEDED
        if state == "STOPPED":
            robot.call(Trigger, "stop")
        elif state != "MOVING":
            server.goals[-1].end(status, stalled=stalled, reached_goal=False)

    errors = {"FAILED": NotReachedError, "STOPPED": StoppedError, "MOVING": MotionTimeoutError}
    expected = errors.get(state)
    with beside(robot) as (arm, _):
        robot.world.at(robot.world.now + 3 * SECOND, end)
        begin = robot.time
        with pytest.raises(expected) if expected else contextlib.nullcontext():
            assert arm.grip(0.0, timeout=5.0) == state
        assert 2.5 < robot.time - begin < 5.5


def test_the_client_is_told_of_a_refusal(robot, server):
    robot.boundary.sources["ready"] = False
    with beside(robot) as (arm, _), pytest.raises(TargetRefusedError, match="waiting for the act"):
        arm.grip(1.0)
    assert server.goals == []
