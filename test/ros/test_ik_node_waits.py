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

"""The node's waiting and its end, each with a separate node over DDS."""

import signal
import time

import numpy as np
import pytest
import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from robot_bench import HOME, PATIENCE, URDF, Robot, down, start_node, stop_node, wait_for_log
from std_msgs.msg import String

FAR = down(-0.40, -0.30, 0.40)
NEAR = down(0.40, 0.20, 0.40)


@pytest.fixture
def begin(domain):
    """Start a robot, and a node of its own that does not outlive the test."""
    begun = []

    def start(*arguments, publishing=True, kind=Robot):
        robot = kind(domain)
        robot.publishing = publishing
        process = start_node(domain, *arguments)
        begun.append((robot, process))
        return robot, process

    yield start
    for robot, process in begun:
        process.kill()
        process.wait()
        if robot.context.ok():
            robot.close()


def test_shutdown_is_final_and_the_process_ends_cleanly(begin):
    robot, process = begin()
    robot.description.publish(String(data=URDF))
    robot.wait(lambda: any(s["state"] == "READY" for s in robot.statuses), "the node is ready")
    robot.set_off(FAR, 0.05)
    assert robot.transit("shutdown")
    assert robot.state() == "finalized"
    assert robot.no_commands()
    code, output = stop_node(process, signal.SIGTERM)
    robot.close()
    assert code == 0, output
    assert "Traceback" not in output
    assert robot.complaints == []


def test_a_node_activates_by_itself_once_the_other_of_its_name_is_gone(begin):
    robot, process = begin()
    other = rclpy.create_node("basis_ik", context=robot.context)
    robot.description.publish(String(data=URDF))
    wait_for_log(process, "end one of them; then this one activates by itself")
    assert robot.no_commands(1.0)
    other.destroy_node()
    robot.wait(lambda: any(s["state"] == "READY" for s in robot.statuses), "the node is ready")
    robot.reach(NEAR, "the arm is there")
    _, output = stop_node(process)
    assert output.count("cannot activate") == 1


def test_missing_joint_states_are_logged_once(begin):
    robot, process = begin(publishing=False)
    wait_for_log(process, "waiting for a robot description")
    robot.description.publish(String(data=URDF))
    robot.wait_status(state="WAITING")
    robot.send("base_link", NEAR)
    assert robot.no_commands(1.5)
    robot.publishing = True
    robot.settle()
    assert robot.no_commands(0.5), "a target of before is not replayed"
    robot.go(NEAR)
    code, output = stop_node(process)
    robot.close()
    assert code == 0
    assert output.count("waiting: no joint state of shoulder_pan_joint") == 1
    assert output.count("waiting for a robot description") == 1
    assert output.count("WARN") == output.count("target refused: NOT_READY") == 1
    assert "ERROR" not in output


def test_configuring_without_a_description_fails_with_a_reason(begin):
    robot, process = begin("-p", "autostart:=false")
    wait_for_log(process, "waiting for a robot description")  # the kernels are fetched
    assert not robot.transit("configure")
    robot.description.publish(String(data=URDF))
    end = time.monotonic() + PATIENCE
    while not robot.transit("configure") and time.monotonic() < end:
        time.sleep(0.1)
    assert robot.state() == "inactive"
    assert robot.transit("activate")
    robot.wait_status(state="READY")
    code, output = stop_node(process)
    robot.close()
    assert code == 0
    assert "cannot configure: no robot description received yet" in output
    assert "base_link to tool0; commands go to /joint_trajectory_controller" in output
    assert "joint elbow_joint: -3.142 to 3.142 rad, at most 3.142 rad/s" in output


class Starved(Robot):
    """Its controller refuses windows for a while, as if they were late."""

    starved, patient, refused = False, False, 0

    def _on_trajectory(self, message):
        begins_here = np.allclose(message.points[0].positions, self.positions, atol=1e-6)
        if self.starved and not (self.patient and begins_here):
            self.refused += 1
        else:
            self.starved = False
            super()._on_trajectory(message)


@pytest.fixture
def short(begin):
    """Yield a robot that brakes on its way because it receives no more commands."""
    robot, process = begin(kind=Starved)
    robot.description.publish(String(data=URDF))
    robot.wait_status(state="READY")
    robot.send("base_link", FAR)
    robot.wait(lambda: np.abs(robot.positions - HOME).max() > 0.5, "the arm is on its way")
    robot.starved = True
    yield robot
    assert robot.complaints == []
    stop_node(process)
    robot.close()


def test_the_motion_of_an_arm_short_of_its_target_is_repeated(short):
    short.wait_status(state="HOLDING")
    assert not short.at(FAR, 1e-2)
    short.patient = True
    short.wait_status(state="ARRIVED")
    short.wait(lambda: short.at(FAR), "the arm is there")
    short.wait(short.no_commands, "silence")
    short.positions[5] += (
        0.03  # less than the distance for which a repeated target restarts the motion
    )
    assert short.no_commands(1.5), "whoever moves an arm that has been there means it"


class Telling(Starved):
    """A robot with a controller that publishes its reference, and stops on the last millimetres."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        topic = "joint_trajectory_controller/controller_state"
        states = self.node.create_publisher(JointTrajectoryControllerState, topic, 10)

        def publish():
            message = JointTrajectoryControllerState(joint_names=list(self.chain.joint_names))
            message.reference.positions = self.positions.tolist()
            states.publish(message)

        self.node.create_timer(0.02, publish)

    def _on_trajectory(self, message):
        missing = np.linalg.norm(self.tip().translation - FAR.translation)
        if missing < 4e-3 and not self.refused:
            self.starved, self.window = True, None
        super()._on_trajectory(message)


def test_the_motion_is_repeated_if_the_controller_missed_the_end(begin):
    robot, process = begin("-p", "max_velocity_scaling_factor:=0.3", kind=Telling)
    robot.description.publish(String(data=URDF))
    robot.wait_status(state="READY")
    robot.send("base_link", FAR)
    robot.wait(lambda: robot.starved, "the arm is near")
    robot.wait_status(state="HOLDING")
    assert not robot.at(FAR, 2e-4), "it stands short"
    robot.patient = True
    robot.wait_status(state="ARRIVED")
    assert robot.at(FAR), "it arrives where it was sent"
    robot.wait(robot.no_commands, "silence")
    assert robot.complaints == []
    stop_node(process)
    robot.close()


def test_the_motion_is_repeated_a_few_times_only(short):
    def silent():
        before = short.refused
        time.sleep(1.5)
        return short.refused == before

    short.wait(silent, "it gives up", patience=30.0)
    assert short.statuses[-1]["state"] == "HOLDING"
    stood = short.positions.copy()
    short.starved = False
    assert short.no_commands(1.0)
    assert (short.positions == stood).all()
