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

"""Motions of an arm that does not follow its commands, checked on the measured arm."""

import contextlib
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from robot_bench import HOME, PATIENCE, URDF, Robot, down, running, start_node, stop_node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
CONTROLLER = "joint_trajectory_controller"
JOINTS = [
    "shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint",
    "wrist_1_joint", "wrist_2_joint", "wrist_3_joint",
]  # fmt: skip
# The arm brakes from its top speed of pi in 0.25 s and the jerk's 0.05 s: over 0.47 rad.
BRAKING, TOP_SPEED, LAG = 0.5 * np.pi * 0.3, np.pi, 0.03


class Watcher(Robot):
    """Moves nothing, and records the measured arm."""

    def __init__(self, domain):
        self.starts = []
        super().__init__(domain)
        self.publishing, self.track = False, []
        self.node.create_subscription(JointState, "joint_states", self._watch, 1000)

    def _watch(self, message):
        by_name = dict(zip(message.name, message.position, strict=True))
        self.positions = np.array([by_name[name] for name in self.chain.joint_names])
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        self.track.append((stamp, self.positions))

    def _on_trajectory(self, message):
        """Record the window's start after its stamp [s]; the simulated arm follows it."""
        start = message.points[0].time_from_start
        self.starts.append(start.sec + 1e-9 * start.nanosec)

    def speeds(self, since=0):
        """Return the measured speeds (k, n), by differences of joint states."""
        times, positions = zip(*self.track[since:], strict=True)
        return np.abs(np.diff(positions, axis=0)) / np.maximum(np.diff(times), 1e-3)[:, np.newaxis]

    def rests(self):
        before = self.positions
        time.sleep(0.3)
        return np.abs(self.positions - before).max() < 1e-4

    def set_arm(self, name, value):
        """Set a parameter of the simulated arm."""
        client = self.node.create_client(SetParameters, f"{CONTROLLER}/set_parameters")
        assert client.wait_for_service(PATIENCE)
        future = client.call_async(
            SetParameters.Request(parameters=[Parameter(name=name, value=value)])
        )
        self.wait(future.done, f"an answer about {name}")
        assert future.result().results[0].successful, future.result()

    def switch_arm(self, name, on):
        """Call a service of the simulated arm."""
        client = self.node.create_client(SetBool, f"{CONTROLLER}/{name}")
        assert client.wait_for_service(PATIENCE)
        future = client.call_async(SetBool.Request(data=on))
        self.wait(future.done, f"an answer of {name}")
        assert future.result().success


def number(value):
    return ParameterValue(type=3, double_value=value)


def text(value):
    return ParameterValue(type=4, string_value=value)


def start_arm(domain, *more):
    words = ["-r", f"__node:={CONTROLLER}", "-p", f"drive_time_constant:={LAG}", *more]
    for name, position in zip(JOINTS, HOME, strict=True):
        words += ["-p", f"initial_positions.{name}:={float(position)}"]
    return subprocess.Popen(
        [sys.executable, "-m", "basis_ik.ros.programs", "simulated_arm", "--ros-args", *words],
        env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
    )


@contextlib.contextmanager
def driven(domain, *arguments, arm=()):
    """Yield a recorder of the node and a lagging simulated arm, both in their own processes."""
    robot = Watcher(domain)
    robot.arm = start_arm(domain, *arm)
    node = start_node(domain, *arguments)
    robot.description.publish(String(data=URDF))
    try:
        robot.wait(lambda: any(s["state"] == "READY" for s in robot.statuses), "the node is ready")
        yield robot
    finally:
        robot.arm.terminate()
        robot.arm.wait(PATIENCE)
        code, output = stop_node(node)
        robot.close()
        print(output)
    assert code == 0
    assert "Traceback" not in output


WHOLE = ("-p", "command_interface:=follow_joint_trajectory")


@pytest.fixture(params=[(), WHOLE], ids=["stream", "whole"])
def robot(request, own_domain):
    with driven(own_domain, "-p", "tracking_lag:=0.5", *request.param) as robot:
        robot.whole = bool(request.param)
        yield robot


def go_near(robot):
    """Send the arm to NEAR; again where joint states that came too late have dropped the target."""

    def there():
        if robot.statuses[-1]["state"] == "READY":
            robot.send("base_link", NEAR)
            time.sleep(0.5)
        return robot.at(NEAR, 1e-3)

    robot.wait(there, "the arm goes where it is told anew")


@pytest.mark.parametrize("allowed", ["false", "true"])
def test_windows_have_the_form_of_the_controllers_rule(own_domain, allowed):
    arm = ("-p", f"allow_trajectory_replacement:={allowed}")
    with driven(own_domain, "-p", "trajectory_replacement:=ask", arm=arm) as robot:
        go_near(robot)  # the answer comes meanwhile, and counts from the next start from rest on

        def is_silent():
            count = len(robot.starts)
            time.sleep(0.3)
            return robot.statuses[-1]["state"] == "ARRIVED" and len(robot.starts) == count

        robot.wait(is_silent, "the arm rests")
        robot.set_off(FAR)
        if allowed == "false":
            assert robot.starts[-1] == 0.0
        else:
            assert max(robot.starts) < 0.0, "their stamps are ahead"


def test_arrival_is_reported_for_the_measured_arm(robot):
    robot.send("base_link", FAR)
    heard = robot.wait_status(state="ARRIVED", verdict="REACHED")["heard"]
    robot.wait(lambda: robot.track[-1][0] >= heard, "joint states of that time")
    tip = robot.chain.forward([q for stamp, q in robot.track if stamp <= heard][-1])
    assert np.allclose(tip.matrix, FAR.matrix, atol=0.02), "the status was true when it was heard"
    robot.wait(lambda: robot.at(FAR, 1e-3), "the arm is there")
    assert (robot.speeds().max(axis=0) <= 1.05 * TOP_SPEED).all()


def test_stop_and_new_targets_work_with_a_slow_controller(robot):
    robot.set_arm("speed_scaling", number(0.3))
    if not robot.whole:
        robot.wait_status(state="WAITING")
        assert "scales its speed to 0.3" in robot.statuses[-1]["message"]
        robot.send("base_link", FAR)
        assert robot.no_commands(0.5)
        return
    robot.set_off(FAR, 0.3)
    robot.send("base_link", down(0.45, -0.10, 0.30))
    time.sleep(0.5)
    assert (robot.speeds().max(axis=0) <= 1.05 * TOP_SPEED).all(), "it does not leap"
    robot.send("base_link", FAR)
    time.sleep(2.5)  # as planned the motion would be over
    before = robot.positions
    assert robot.call(Trigger, "stop").success
    robot.wait_status(state="STOPPED")
    at_stop = robot.positions
    robot.wait(robot.rests, "rest")
    assert np.abs(robot.positions - at_stop).max() < 0.02, "STOPPED was said of a resting arm"
    assert np.abs(robot.positions - before).max() <= 1.2 * BRAKING + TOP_SPEED * (LAG + 0.1)
    assert (robot.speeds().max(axis=0) <= 1.05 * TOP_SPEED).all()


def test_a_blocked_joint_stops_the_arm_without_a_jump_afterwards(robot):
    robot.set_off(FAR, 0.1)
    robot.set_arm("blocked_joint", text("shoulder_pan_joint"))
    robot.wait_status(state="TRACKING_LOST", level=DiagnosticStatus.ERROR)
    assert "shoulder_pan_joint is" in robot.statuses[-1]["message"]
    robot.wait(robot.rests, "rest")
    held, since = robot.positions, len(robot.track)
    robot.set_arm("blocked_joint", text(""))
    time.sleep(1.0)
    assert np.abs(robot.positions - held).max() < 0.02
    assert robot.speeds(since).max() < 0.2 * TOP_SPEED
    robot.send("base_link", NEAR)
    assert np.abs(robot.positions - held).max() < 0.02, "latched"
    robot.call(SetBool, "enable", data=True)
    go_near(robot)


def test_a_controller_that_is_switched_off_and_on_does_not_move(robot):
    robot.set_off(FAR, 0.3)
    seen = len(robot.statuses)
    robot.switch_arm("activate", False)
    noticed = "TRACKING_LOST", "WAITING", "READY"
    robot.wait(lambda: any(s["state"] in noticed for s in robot.statuses[seen:]), "it is noticed")
    robot.wait(robot.rests, "rest")
    held = robot.positions
    assert not robot.at(FAR, 1e-2)
    assert robot.statuses[-1]["state"] != "ARRIVED"
    robot.switch_arm("activate", True)
    time.sleep(1.5)
    assert np.abs(robot.positions - held).max() < 0.02
    robot.call(SetBool, "enable", data=True)
    robot.wait(lambda: robot.statuses[-1]["state"] == "READY", "it takes targets again")
    go_near(robot)


def test_a_briefly_deactivated_controller_does_not_continue(robot):
    robot.set_off(FAR, 0.3)
    robot.switch_arm("activate", False)
    time.sleep(0.25)
    held = robot.positions
    robot.switch_arm("activate", True)
    since = len(robot.track)
    time.sleep(1.0)
    assert not robot.at(FAR, 1e-2)
    assert np.abs(robot.positions - held).max() < 0.1, "the lag of its drives"
    assert (robot.speeds(since).max(axis=0) <= 1.05 * TOP_SPEED).all()
    robot.call(SetBool, "enable", data=True)  # where it was a little more: tracking was lost
    robot.wait(lambda: robot.statuses[-1]["state"] == "READY", "it takes targets again")
    go_near(robot)


def test_a_restarted_driver_causes_no_motion(robot, own_domain):
    robot.set_off(FAR, 0.3)
    robot.arm.kill()
    robot.arm.wait(PATIENCE)
    robot.wait_status(state="WAITING")
    robot.arm = start_arm(own_domain)
    robot.wait(lambda: np.allclose(robot.positions, HOME, atol=1e-6), "the driver is back")
    robot.wait(lambda: robot.statuses[-1]["state"] in ("READY", "TRACKING_LOST"), "so is the node")
    time.sleep(1.0)
    assert np.allclose(robot.positions, HOME, atol=1e-6)


def test_the_arm_brakes_if_the_node_is_killed(own_domain):
    robot = Watcher(own_domain)
    robot.arm, node = start_arm(own_domain), start_node(own_domain)
    robot.description.publish(String(data=URDF))
    try:
        robot.wait(lambda: any(s["state"] == "READY" for s in robot.statuses), "the node is ready")
        robot.set_off(FAR, 0.3)
        node.kill()
        before = robot.positions
        robot.wait(robot.rests, "rest")
        assert np.abs(robot.positions - before).max() <= 1.2 * BRAKING + TOP_SPEED * (LAG + 0.15)
        assert (robot.speeds().max(axis=0) <= 1.05 * TOP_SPEED).all()
    finally:
        robot.arm.terminate()
        robot.arm.wait(PATIENCE)
        node.wait(PATIENCE)
        robot.close()


# Without an arm of its own ---------------------------------------------------------------------


def test_a_stop_survives_a_new_robot_and_a_cleanup(own_domain):
    with running(own_domain) as robot:
        assert robot.call(Trigger, "stop").success
        robot.wait_status(state="STOPPED")
        robot.description.publish(String(data=URDF.replace('name="ur5e"', 'name="other"', 1)))
        time.sleep(1.5)
        for transition in ("deactivate", "cleanup", "configure", "activate"):
            assert robot.transit(transition)
        robot.settle()
        robot.send("base_link", NEAR)
        assert robot.no_commands(0.5)
        assert robot.statuses[-1]["state"] == "STOPPED"
        robot.call(SetBool, "enable", data=True)
        robot.wait_status(state="READY")
        robot.reach(NEAR, "the arm goes")
