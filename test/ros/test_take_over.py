# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm with another commander: at activation, and with a new description."""

from types import SimpleNamespace

import pytest

from basis_ik.errors import BasisIkError
from basis_ik.ros.chain_controller import OtherCommanderError
from basis_ik.ros.ik_node import IkNode
from basis_ik.ros.loaded_robot import Robot


@pytest.fixture
def robot():
    """A robot with another commander of its only arm, and the calls to it."""

    def find():
        raise OtherCommanderError("somebody else commands it")

    asked = []
    robot = object.__new__(Robot)
    arm = SimpleNamespace(activate=lambda: asked.append("activate"))
    robot.controllers = [SimpleNamespace(check_alone=find, arm=arm)]
    robot.asked = asked
    return robot


def test_activation_is_refused_while_another_node_commands(robot):
    node = SimpleNamespace(_robot=robot, _active=False)
    with pytest.raises(OtherCommanderError):
        IkNode._activate(node)
    assert not node._active
    assert robot.asked == []


def take_over(old, make):
    """Let a node with an arm at rest take another description over; return the node."""
    node = SimpleNamespace(
        _robot=old, _description="before", _active=True, _make=make, refused=[],
        _successor=SimpleNamespace(text="another"),
    )  # fmt: skip
    node._adopt = lambda new: setattr(node, "_robot", new)
    node._refuse = node.refused.append
    IkNode._replace_robot(node)
    assert node._successor is None
    return node


def test_a_new_description_is_used_and_its_arm_waits(robot):
    node = take_over(SimpleNamespace(destroy=lambda: None), lambda _: robot)
    assert robot.asked == ["activate"]
    assert node._description == "another"
    assert node.refused == []


def test_an_unusable_description_leaves_the_old_one_active():
    asked = []

    def refuse(_):
        raise BasisIkError("no such frame")

    old = SimpleNamespace(activate=lambda: asked.append("activate"))
    node = take_over(old, refuse)
    assert asked == ["activate"]
    assert node._robot is old
    assert node._description == "before"
    assert [str(each) for each in node.refused] == ["no such frame"]


def test_a_waiting_description_survives_a_cleanup():
    node = SimpleNamespace(
        come_to_rest=lambda _: None, _states={}, _description="before",
        _successor=SimpleNamespace(text="another"), _robot=None, _prepared=None,
    )  # fmt: skip
    IkNode._unload(node)
    assert node._description == "another"
    assert node._successor is None


@pytest.mark.parametrize(("text", "is_read"), [("another", False), ("before", True)])
def test_a_description_is_compared_with_the_waiting_one(text, is_read):
    read = []

    def submit(_, text, *__):
        read.append(text)

    node = SimpleNamespace(
        _unread=text, _reading=None, _description="before", _names=[], _robot=object(),
        _successor=SimpleNamespace(text="another"), parameters={"robot_description": ""},
        _reader=SimpleNamespace(submit=submit),
    )  # fmt: skip
    IkNode._read(node)
    assert read == [text] * is_read
