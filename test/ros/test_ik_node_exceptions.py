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

"""Unexpected exceptions in a running node: it stops the arm and continues."""

import os

import pytest
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from robot_bench import HOME, URDF, Robot, down, start_node, stop_node
from std_msgs.msg import String
from std_srvs.srv import Trigger

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
DEFECTIVE = """
import sys

from basis_ik.pipeline import Pipeline
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.plug_ins import Operator
from basis_ik.ros.programs import run

take_pose, step, activate = ChainController.take_pose, Pipeline.step, ChainController.activate
Pipeline.defect = 0


def defective_take_pose(self, message, **how):
    height = message.pose.position.z
    if height == 7.0:
        raise ZeroDivisionError("in a callback")
    self.pipeline.defect = {8.0: 1, 9.0: 1000}.get(height, 0)
    take_pose(self, message, **how)


def defective_step(self, measured, when):
    if self.defect > 0:
        self.defect -= 1
        raise ZeroDivisionError("in the loop")
    return step(self, measured, when)


def defective_home(self, request, response):
    raise ZeroDivisionError("in a request")


def whole_activate(self):
    self.pipeline.defect = 0
    activate(self)


Operator._on_home = defective_home
ChainController.take_pose, ChainController.activate = defective_take_pose, whole_activate
Pipeline.step = defective_step
sys.exit(run("ik_node"))
"""


@pytest.fixture(scope="module")
def robot(domain, tmp_path_factory):
    script = tmp_path_factory.mktemp("defective") / "node.py"
    script.write_text(DEFECTIVE)
    robot = Robot(domain)
    robot.process = start_node(domain, program=(str(script),))
    robot.description.publish(String(data=URDF))
    try:
        robot.wait(lambda: any(s["state"] == "READY" for s in robot.statuses), "the node is ready")
        yield robot
    finally:
        code, output = stop_node(robot.process)
        robot.close()
    print(output)
    assert code == 0
    assert robot.complaints == []


def logged(robot, words):
    return os.pread(robot.process.output.fileno(), 1 << 20, 0).decode().count(words)


@pytest.mark.parametrize(
    ("height", "words"),
    [(7.0, "in a callback"), (8.0, "in the loop"), (9.0, "in the loop")],
    ids=["callback", "loop", "loop, and the braking"],
)
def test_an_exception_stops_the_arm_until_it_is_activated_again(robot, height, words):
    before = logged(robot, "Traceback")
    robot.set_off(FAR)
    robot.send("base_link", down(0.3, 0.3, height))
    robot.wait(lambda: robot.state() == "inactive", "it is deactivated")
    robot.wait(robot.no_commands, "silence")
    robot.send("base_link", NEAR)
    assert robot.no_commands()
    assert logged(robot, "Traceback") == before + 1
    assert logged(robot, f"ZeroDivisionError: {words}") >= 1
    assert robot.transit("activate")
    robot.go_home()


def test_an_exception_while_inactive_is_logged_and_changes_nothing(robot):
    assert robot.transit("deactivate")
    robot.wait(robot.no_commands, "silence")
    robot.send("base_link", down(0.3, 0.3, 7.0))
    robot.wait(lambda: logged(robot, "while inactive: Traceback") == 1, "its line in the log")
    assert robot.no_commands()
    assert robot.state() == "inactive"
    assert robot.transit("activate")
    robot.reach(NEAR, "it follows targets again")
    robot.go_home()


@pytest.fixture
def moving(robot):
    """A moving robot that must arrive despite requests."""
    robot.set_off(FAR)
    yield robot
    robot.wait(lambda: robot.at(FAR), "the arm goes on")
    assert robot.state() == "active"
    robot.reach(robot.chain.forward(HOME), "the arm is back")


def test_an_exception_in_a_request_stops_nothing(moving):
    client = moving.node.create_client(Trigger, "basis_ik/home")
    moving.wait(client.service_is_ready, "the service")
    future = client.call_async(Trigger.Request())
    moving.wait(lambda: logged(moving, "a request failed: ") == 1, "its line in the log")
    assert not future.done()


@pytest.mark.parametrize("number", [3, 2, 99, 255])
def test_a_transition_that_the_state_does_not_have_is_refused(moving, number):
    transition = Transition(id=number)
    assert not moving.call(ChangeState, "change_state", transition=transition).success


def test_a_parameter_of_an_unknown_type_is_refused(moving):
    bad = [Parameter(name="position_only_ik", value=ParameterValue(type=77))]
    result = moving.call(SetParametersAtomically, "set_parameters_atomically", parameters=bad)
    assert not result.result.successful
    moving.call(SetParameters, "set_parameters", parameters=bad)  # is answered
