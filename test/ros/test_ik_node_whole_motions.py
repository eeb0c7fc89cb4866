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

"""`command_interface: follow_joint_trajectory`, with the simulated arm and a faulty controller."""

import contextlib
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from control_msgs.action import FollowJointTrajectory
from point_head_client import ABORTED, CANCELED, SUCCEEDED, Client, miss
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from robot_bench import HOME, PATIENCE, URDF, Robot, down, start_node, stop_node, wait_for_log
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger

from basis_ik.ros.convert import transform_message
from basis_ik.transforms.rigid import RigidTransform

WHOLE = ("-p", "command_interface:=follow_joint_trajectory")
ACTION = "joint_trajectory_controller/follow_joint_trajectory"
AT_HOME = (*WHOLE, "-p", f"home:={HOME.tolist()}", "-p", "path:=straight")
NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)


class Watcher(Robot):
    """Moves nothing; reports joint states beyond limits."""

    def __init__(self, domain):
        super().__init__(domain)
        self.publishing, self.received = False, None
        self.node.create_subscription(JointState, "joint_states", self._watch, 1000)

    def _watch(self, message):
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        by_name = dict(zip(message.name, message.position, strict=True))
        here = np.array([by_name[name] for name in self.chain.joint_names])
        if self.received is not None:
            step = self.chain.velocity * (stamp - self.received + 1e-4)
            inside = (here >= self.chain.lower) & (here <= self.chain.upper)
            if not ((np.abs(here - self.positions) <= step) & inside).all():
                self.complaints.append((self.positions, here))
        self.positions, self.received = here, stamp

    def rests(self):
        before = self.positions
        time.sleep(0.3)
        return np.abs(self.positions - before).max() < 1e-6


@contextlib.contextmanager
def driven(domain):
    """Yield a recorder of the node and a simulated arm, both in their own processes."""
    robot = Watcher(domain)
    words = ["-r", "__node:=joint_trajectory_controller"]
    for name, position in zip(robot.chain.joint_names, HOME, strict=True):
        words += ["-p", f"initial_positions.{name}:={float(position)}"]
    arm = subprocess.Popen(
        [sys.executable, "-m", "basis_ik.ros.programs", "simulated_arm", "--ros-args", *words],
        env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
    )
    robot.process = node = start_node(domain, *AT_HOME)
    robot.description.publish(String(data=URDF))
    try:
        robot.wait(lambda: any(s["state"] == "READY" for s in robot.statuses), "the node is ready")
        yield robot
    finally:
        arm.terminate()
        arm.wait(PATIENCE)
        robot.status, robot.output = stop_node(node)
        robot.close()
        print(robot.output)
    assert robot.status == 0
    assert "Traceback" not in robot.output
    assert robot.complaints == []


@pytest.fixture(scope="module")
def bench(domain):
    with driven(domain) as robot:
        yield robot


@pytest.fixture
def robot(bench):
    bench.call(SetBool, "enable", data=True)
    bench.reach(NEAR, "the arm is ready", 1e-3)
    bench.wait(bench.rests, "rest")
    return bench


def test_a_pose_is_reached(robot):
    robot.reach(FAR, "the arm is there")
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    robot.wait(robot.rests, "rest")
    assert robot.at(FAR)
    wait_for_log(robot.process, "path is ignored: straight needs six joints")


def test_a_newer_target_replaces_the_present_one(robot):
    robot.set_off(FAR)
    robot.reach(down(0.45, -0.10, 0.30), "the arm is at the second")


def test_home_is_reached(robot):
    assert robot.call(Trigger, "home").success
    robot.wait(lambda: np.allclose(robot.positions, HOME, atol=1e-6), "the arm is at home")


def test_stop_ends_the_motion_within_the_limits(robot):
    robot.set_off(FAR)
    assert robot.call(Trigger, "stop").success
    robot.wait_status(state="STOPPED")
    robot.wait(robot.rests, "rest")
    assert not robot.at(FAR, 1e-2)


def test_at_a_speed_override_of_zero_the_arm_rests_and_later_continues(robot):
    overrides = robot.node.create_publisher(Float64, "basis_ik/speed_override", 1)
    robot.wait(overrides.get_subscription_count, "the node listens")
    robot.set_off(FAR)
    for value in (0.3, 0.0):
        overrides.publish(Float64(data=value))
        robot.wait_status(speed_override=f"{value:g}")
    robot.wait(robot.rests, "rest")
    assert not robot.at(FAR, 1e-2)
    assert robot.statuses[-1]["state"] == "MOVING"
    overrides.publish(Float64(data=1.0))
    robot.wait(lambda: robot.at(FAR, 1e-3), "the arm goes on")
    robot.wait_status(state="ARRIVED")
    overrides.publish(Float64(data=0.0))
    robot.wait_status(speed_override="0")
    robot.send("base_link", NEAR)
    robot.wait_status(state="MOVING")
    assert robot.rests()
    assert robot.statuses[-1]["state"] == "MOVING", "it has not arrived"
    overrides.publish(Float64(data=1.0))
    robot.wait(lambda: robot.at(NEAR, 1e-3), "the arm goes to what came meanwhile")


def test_deactivation_brakes(robot):
    robot.set_off(FAR)
    assert robot.transit("deactivate")
    robot.wait(robot.rests, "rest")
    assert not robot.at(FAR, 1e-2)
    assert robot.transit("activate")


def test_a_twist_is_refused(robot):
    robot.jog("base_link", linear=(0.1, 0.0, 0.0))
    robot.wait(lambda: "NOT_STREAMED" in robot.statuses[-1].get("last_refusal", ""), "its refusal")
    assert robot.rests()


def test_the_head_action_sends_whole_motions_with_their_duration(robot):
    client, point = Client(robot), (0.9, -0.5, 0.7)
    begin = time.monotonic()
    assert client.run(point, min_duration=2.0) == SUCCEEDED
    assert time.monotonic() - begin > 2.0
    assert client.feedback[0] > 0.1
    assert miss(robot, point) <= 0.01
    robot.wait(robot.rests, "rest")


def test_a_head_goal_is_canceled_in_motion(robot):
    client = Client(robot)
    handle = client.send((0.9, -0.5, 0.7), min_duration=10.0)
    robot.wait(lambda: client.feedback and not robot.at(NEAR, 1e-2), "the arm is on its way")
    client.cancel(handle)
    assert client.end(handle) == CANCELED
    robot.wait(robot.rests, "rest")
    assert miss(robot, (0.9, -0.5, 0.7)) > 0.05


def test_a_moving_frame_is_looked_up_once(robot):
    start = time.monotonic()

    def drifting():
        y = 0.05 * (time.monotonic() - start)
        return RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.4, y, 0.2])

    def publish():
        stamp = robot.node.get_clock().now().to_msg()
        robot.tf.sendTransform(transform_message("base_link", "drift", drifting(), stamp))

    timer = robot.node.create_timer(0.02, publish)
    time.sleep(0.3)
    seen = drifting()
    robot.send("drift", down(0.0, 0.0, 0.2), stamp=None)
    robot.wait_there(seen @ down(0.0, 0.0, 0.2), "the arm is there", 0.02)
    robot.wait(robot.rests, "rest, although the frame goes on")
    assert robot.at(seen @ down(0.0, 0.0, 0.2), 0.02)
    robot.node.destroy_timer(timer)


class Moody:
    """A controller that rejects, aborts or delays goals, as set."""

    def __init__(self, robot, mood):
        self.robot, self.mood, self.goals, self.canceled = robot, mood, [], threading.Event()
        self.server = ActionServer(
            robot.node,
            FollowJointTrajectory,
            ACTION,
            execute_callback=self._execute,
            goal_callback=self._accept_goal,
            cancel_callback=self._cancel,
            callback_group=ReentrantCallbackGroup(),
        )

    def _accept_goal(self, goal):
        self.goals.append(goal.trajectory)
        return GoalResponse.REJECT if self.mood == "reject" else GoalResponse.ACCEPT

    def _cancel(self, _):
        self.canceled.set()
        return CancelResponse.ACCEPT

    def _follow(self, trajectory, done):
        """Move the arm along a trajectory, without feedback."""
        times = [
            p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in trajectory.points
        ]
        positions, begin = np.array([p.positions for p in trajectory.points]), time.monotonic()
        while (now := time.monotonic() - begin) < times[-1]:
            self.robot.positions = np.array([np.interp(now, times, q) for q in positions.T])
            time.sleep(0.005)
        self.robot.positions = positions[-1]
        done.set_result(None)

    async def _execute(self, handle):
        result = FollowJointTrajectory.Result()
        if self.mood == "abort":
            handle.abort()
            result.error_code = result.PATH_TOLERANCE_VIOLATED
            result.error_string = "the arm is stuck"
        elif self.mood == "succeed":
            done = Future()
            threading.Thread(target=self._follow, args=(handle.request.trajectory, done)).start()
            await done
            handle.succeed()
        return result


@pytest.fixture
def moody(own_domain):
    """A robot at rest, whose controller is yet to be made, with a node of its own."""
    robot = Robot(own_domain)
    node = robot.process = start_node(own_domain, *WHOLE)
    robot.description.publish(String(data=URDF))
    robot.wait(lambda: robot.statuses, "the node is there")
    yield robot
    status, output = stop_node(node)
    robot.close()
    print(output)
    assert status == 0
    assert "Traceback" not in output


def says(robot, words):
    robot.wait(lambda: words in robot.statuses[-1]["message"], words)


def ready(robot):
    robot.wait(lambda: robot.statuses[-1]["state"] == "READY", "the controller is there")


def test_a_missing_controller_is_reported(moody):
    says(moody, f"waiting for the action /{ACTION}")
    assert moody.statuses[-1]["state"] == "WAITING"
    moody.send("base_link", NEAR)
    moody.wait(lambda: "refused.NOT_READY" in moody.statuses[-1], "the target's refusal")
    controller = Moody(moody, "succeed")
    ready(moody)
    assert controller.goals == []
    moody.send("base_link", NEAR)
    moody.wait_status(state="ARRIVED", verdict="REACHED")


def test_a_motion_is_one_goal_from_the_measured_state_to_rest_at_the_solution(moody):
    controller = Moody(moody, "succeed")
    ready(moody)
    moody.send("base_link", NEAR)
    moody.wait_status(state="ARRIVED", verdict="REACHED")
    (trajectory,) = controller.goals
    chain = moody.chain
    assert trajectory.joint_names == list(chain.joint_names)
    times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in trajectory.points]
    positions = np.array([p.positions for p in trajectory.points])
    assert times[0] == 0.0
    assert np.array_equal(positions[0], HOME)
    speeds = np.diff(positions, axis=0) / np.diff(times)[:, np.newaxis]
    assert (np.diff(times) > 0.0).all()
    assert (np.abs(speeds) <= chain.velocity + 1e-6).all()
    assert np.allclose(chain.forward(positions[-1]).matrix, NEAR.matrix, atol=1e-4)
    assert not any(trajectory.points[-1].velocities)
    assert not any(trajectory.points[-1].accelerations)


def test_a_displaced_arm_returns_only_for_a_repeated_target(moody):
    controller = Moody(moody, "succeed")
    ready(moody)
    moody.send("base_link", NEAR)
    moody.wait_status(state="ARRIVED", verdict="REACHED")
    time.sleep(0.5)
    moody.send("base_link", NEAR)  # where it is
    time.sleep(0.5)
    moody.positions = moody.positions + 0.2
    moody.settle()
    assert len(controller.goals) == 1
    moody.send("base_link", NEAR)
    moody.wait_for(lambda: len(controller.goals) == 2, "the way back")


@pytest.mark.parametrize(
    ("mood", "words"), [("reject", "rejected the motion"), ("abort", "the arm is stuck")]
)
def test_a_motion_aborted_by_the_controller_is_reported_and_dropped(moody, mood, words):
    controller = Moody(moody, mood)
    ready(moody)
    moody.send("base_link", NEAR)
    says(moody, words)
    ready(moody)
    assert len(controller.goals) == 1
    controller.mood = "succeed"
    moody.send("base_link", FAR)
    moody.wait_status(state="ARRIVED", verdict="REACHED")
    assert len(controller.goals) == 2


def test_a_head_goal_aborted_by_the_controller_ends_with_the_reason(moody):
    Moody(moody, "reject")
    ready(moody)
    assert Client(moody).run((0.9, -0.5, 0.7)) == ABORTED
    wait_for_log(moody.process, "head goal aborted: the controller rejected the motion")
