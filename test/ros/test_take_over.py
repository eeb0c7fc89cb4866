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

"""What becomes of an arm that somebody else commands: at activation, and with a new description."""

from types import SimpleNamespace

import pytest

from basis_ik.ros.chain_controller import RivalError
from basis_ik.ros.ik_node import IkNode
from basis_ik.ros.robot import Robot


@pytest.fixture
def robot():
    """A robot whose only arm has a rival, and what was asked of it."""

    def find():
        raise RivalError("somebody else commands it")

    asked = []
    robot = object.__new__(Robot)
    robot.arms = [SimpleNamespace(check_alone=find, activate=lambda: asked.append("activate"))]
    robot.asked = asked
    return robot


def test_activation_is_refused(robot):
    node = SimpleNamespace(_robot=robot, _active=False)
    with pytest.raises(RivalError):
        IkNode._activate(node)
    assert not node._active
    assert robot.asked == []


def test_another_description_is_taken_over_and_its_arm_waits(robot):
    old = SimpleNamespace(destroy=lambda: None)
    node = SimpleNamespace(_robot=old, _successor=robot, _active=True, _adopt=lambda _: None)
    IkNode._replace_robot(node)
    assert robot.asked == ["activate"]
