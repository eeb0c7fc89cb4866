# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""How the node starts, or why it does not."""

import contextlib

import pytest
from bench import Robot, down
from diagnostic_msgs.msg import DiagnosticStatus
from std_msgs.msg import String

NO_FIT = "parameter 'home' does not fit: 6 positions are needed"


class Undescribed(Robot):
    """Its description comes when the test says so."""

    def topic(self, name):
        topic = super().topic(name)
        topic.link.loss = float(name == "/robot_description")
        return topic

    def describe(self, urdf):
        self.description.link.loss = 0.0
        self.description.publish(String(data=urdf))


@pytest.fixture
def begin():
    """Start a robot, with a node of its own."""
    with contextlib.ExitStack() as stack:

        def start(*words, **how):
            robot = Undescribed(*words, **how)
            stack.callback(robot.end)
            return robot

        yield start


def test_parameters_that_do_not_fit_the_robot_on_the_topic_are_reported(begin):
    """No message can fix it: it is logged once as an error, and the node stays unconfigured."""
    robot = begin("-p", "home:=[0.0]")
    robot.run(1.0)
    (status,) = robot.heard["/diagnostics"].status
    assert status.level == DiagnosticStatus.WARN
    assert "no robot description" in status.message
    for urdf in (robot.urdf, robot.urdf + " "):
        robot.describe(urdf)
        robot.run(1.0)
        (status,) = robot.heard["/diagnostics"].status
        assert (status.name, status.level) == ("basis_ik: start", DiagnosticStatus.ERROR)
        assert NO_FIT in status.message
        last = robot.statuses[-1]
        assert (last["state"], last["level"]) == ("UNCONFIGURED", DiagnosticStatus.ERROR)
        assert last["message"] == status.message
    assert not robot.transit("configure")
    assert robot.state() == "unconfigured"
    errors = [text for level, text in robot.log if level == "error"]
    assert errors == [
        f"{status.message}; unconfigured: fix it and start again, or publish another description",
        f"cannot configure: {status.message}",
    ]


def two_joints(parent):
    """Return a robot of two joints, the second below a link of the first's."""
    joints = (
        f'<link name="{child}"/><joint name="{name}" type="revolute"><axis xyz="0 0 1"/>'
        f'<parent link="{above}"/><child link="{child}"/><origin xyz="0.2 0 0"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
        for name, above, child in (("j", "base", "tip_a"), ("k", parent, "tip_b"))
    )
    return f'<robot name="two"><link name="base"/>{"".join(joints)}</robot>'


def test_a_robot_with_shared_joints_does_not_replace_a_valid_one(begin):
    ends = ("-p", "a.tip_link:=tip_a", "-p", "b.tip_link:=tip_b",
            "-p", "a.check_collisions:=false", "-p", "b.check_collisions:=false")  # fmt: skip
    shared = two_joints("tip_a")
    robot = begin("-p", "chains:=[a,b]", *ends, urdf=shared, home=[0.0, 0.0])
    robot.boundary.partial = True  # each chain has one of its controller's joints
    for urdf in (two_joints("base"), shared):
        robot.describe(urdf)
        robot.run(1.0)
    assert robot.state() == "active"
    assert sum("ready: two" in line for line in robot.log.lines()) == 2, "one for each chain"
    (refusal,) = [text for level, text in robot.log if level != "info"]
    assert "'chains' has 'a' and 'b', which both move 'j'" in refusal
    assert refusal.endswith("the old one is kept")


def test_a_node_that_was_shut_down_does_not_start(begin):
    robot = begin()
    assert robot.transit("shutdown")
    robot.describe(robot.urdf)
    robot.run(2.0)
    assert robot.state() == "finalized"
    assert robot.statuses == robot.commands == []
    assert all(level == "info" for level, _ in robot.log)


def test_without_autostart_the_node_waits_to_be_activated(begin):
    robot = begin("-p", "autostart:=false")
    robot.describe(robot.urdf)
    robot.send("base_link", down(0.4, 0.2, 0.4))
    robot.run(2.0)
    assert robot.state() == "unconfigured"
    assert robot.statuses == robot.commands == []
