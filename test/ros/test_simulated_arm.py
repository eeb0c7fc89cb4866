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

"""The simulated arm as others see it: over DDS, in its own process."""

import functools
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import rclpy
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.duration import Duration as Span
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import (
    JointTrajectory,
    JointTrajectoryPoint,
    MultiDOFJointTrajectoryPoint,
)

from basis_ik.motion.trajectory_controller import TrajectoryController
from basis_ik.ros.demo.simulated_arm import SimulatedArm

URDF = """<robot name="rig">
<link name="base"/><link name="upper"/><link name="rail"/><link name="hub"/><link name="jaw"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="upper"/>
  <axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="2" effort="1"/></joint>
<joint name="slide" type="prismatic"><parent link="upper"/><child link="rail"/>
  <axis xyz="1 0 0"/><limit lower="0.1" upper="0.5" velocity="1" effort="1"/></joint>
<joint name="wheel" type="continuous"><parent link="rail"/><child link="hub"/>
  <axis xyz="0 1 0"/><limit velocity="3" effort="1"/></joint>
<joint name="jaw" type="prismatic"><parent link="rail"/><child link="jaw"/><axis xyz="0 1 0"/>
  <limit lower="0" upper="1" velocity="1" effort="1"/>
  <mimic joint="slide" multiplier="-0.5" offset="0.25"/></joint>
</robot>"""
NAMES = ["turn", "slide", "wheel", "jaw"]
LOWER = np.array([-2.0, 0.1, -math.inf, 0.0])
UPPER = np.array([2.0, 0.5, math.inf, 0.2])
SPEED = np.array([2.0, 1.0, 3.0, 0.5])
JOINTS = ["turn", "slide", "wheel"]
CONTROLLER = "/joint_trajectory_controller"
Result = FollowJointTrajectory.Result
PATIENCE = 20.0  # [s], for what must happen at all


class Recorder:
    """Objects to any joint state that a physical arm could not have."""

    def __init__(self):
        self.last = None

    def check(self, message):
        assert message.name == NAMES
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        positions, velocities = np.array(message.position), np.array(message.velocity)
        assert np.all(np.isfinite(positions))
        assert np.all((positions >= LOWER - 1e-12) & (positions <= UPPER + 1e-12))
        assert np.all(np.abs(velocities) <= SPEED + 1e-9)
        np.testing.assert_allclose(positions[3], 0.25 - 0.5 * positions[1], atol=1e-12)
        if self.last is not None:
            assert stamp > self.last[0]
            # Stamps of today, as floats, are exact to half a microsecond.
            assert np.all(np.abs(positions - self.last[1]) <= SPEED * (stamp - self.last[0] + 1e-6))
        self.last = stamp, positions


class Client:
    """A node in the arm's domain, and its received messages."""

    def __init__(self, domain):
        self.context = rclpy.Context()
        self.context.init(domain_id=domain)
        self.node = rclpy.create_node("client", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.recorder = Recorder()
        self.faults, self.joint_states, self.states, self.feedback = [], [], [], []
        self.node.create_subscription(JointState, "joint_states", self.on_joint_state, 100)
        self.node.create_subscription(
            JointTrajectoryControllerState, f"{CONTROLLER}/controller_state", self.states.append, 10
        )
        self.topic = self.node.create_publisher(
            JointTrajectory, f"{CONTROLLER}/joint_trajectory", 10
        )
        self.action = ActionClient(
            self.node, FollowJointTrajectory, f"{CONTROLLER}/follow_joint_trajectory"
        )

    def on_joint_state(self, message):
        self.joint_states.append(message)
        try:
            self.recorder.check(message)
        except AssertionError as fault:
            self.faults.append(fault)

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            self.executor.spin_once(timeout_sec=0.1)

    def wait(self, count):
        """Let so many joint states pass."""
        goal = len(self.joint_states) + count
        self.until(lambda: len(self.joint_states) >= goal)

    def result(self, future):
        self.until(future.done)
        return future.result()

    def comes_to(self, *positions):
        """Wait until the joints stand there; a result may overtake joint states."""
        self.until(lambda: np.allclose(self.at, positions, rtol=0.0, atol=1e-9))

    def stands_still(self):
        """Wait until the joints rest, and make sure that they do."""
        now = self.node.get_clock().now()  # an answer may overtake the joint states of its time
        self.until(lambda: Time.from_msg(self.joint_states[-1].header.stamp, now.clock_type) > now)
        self.until(lambda: not any(self.joint_states[-1].velocity))
        here = self.at
        self.wait(20)
        np.testing.assert_array_equal(self.at, here)

    @property
    def at(self):
        return np.array(self.joint_states[-1].position[:3])

    def send(self, *targets, **fields):
        """Send a goal; the handle of the client side."""
        goal = FollowJointTrajectory.Goal(trajectory=trajectory(*targets, **fields.pop("way", {})))
        for field, value in fields.items():
            setattr(goal, field, value)
        self.until(self.action.server_is_ready)
        return self.result(self.action.send_goal_async(goal, self.feedback.append))

    def outcome(self, handle):
        response = self.result(handle.get_result_async())
        return response.status, response.result.error_code, response.result.error_string

    def set_parameter(self, name, value):
        service = self.node.create_client(SetParameters, f"{CONTROLLER}/set_parameters")
        self.until(service.service_is_ready)
        wish = Parameter(name, value=value).to_parameter_msg()
        answer = self.result(service.call_async(SetParameters.Request(parameters=[wish])))
        self.node.destroy_client(service)
        return answer.results[0]

    def switch(self, name, value):
        service = self.node.create_client(SetBool, f"{CONTROLLER}/{name}")
        self.until(service.service_is_ready)
        answer = self.result(service.call_async(SetBool.Request(data=value)))
        self.node.destroy_client(service)
        return answer


def duration(seconds):
    return Duration(sec=math.floor(seconds), nanosec=round(seconds % 1 * 1e9))


def trajectory(*targets, names=JOINTS, stamp=None, velocities=()):
    """Targets are (time, positions)."""
    message = JointTrajectory(joint_names=list(names))
    if stamp is not None:
        message.header.stamp = stamp
    for seconds, positions in targets:
        message.points.append(
            JointTrajectoryPoint(
                positions=[float(x) for x in positions],
                velocities=[float(x) for x in velocities],
                time_from_start=duration(seconds),
            )
        )
    return message


def start(domain, log, *parameters):
    """Start the arm; what it prints goes to a file."""
    environment = dict(
        os.environ, ROS_DOMAIN_ID=str(domain), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST"
    )
    given = [word for parameter in parameters for word in ("-p", parameter)]
    with log.open("w") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "basis_ik.ros.programs", "simulated_arm", "--ros-args", *given],
            stdout=output,
            stderr=output,
            env=environment,
        )


def stop(process):
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=PATIENCE)
    finally:
        process.kill()


@pytest.fixture(scope="module")
def process(domain, tmp_path_factory):
    log = tmp_path_factory.mktemp("arm") / "log"
    running = start(domain, log, f"robot_description:={URDF}")
    running.log = log
    yield running
    stop(running)


@pytest.fixture(scope="module")
def session(domain, process):
    client = Client(domain)
    client.until(lambda: client.joint_states and client.states)
    client.until(lambda: client.topic.get_subscription_count() == 1)
    yield client
    client.close()


@pytest.fixture
def arm(session):
    """The running arm at its home; all motions of a test must be physically possible."""
    home = session.send((0.0, (0.0, 0.3, 0.0)))
    assert session.outcome(home)[0] == GoalStatus.STATUS_SUCCEEDED
    session.comes_to(0.0, 0.3, 0.0)
    session.feedback.clear()
    yield session
    assert session.faults == []


def joint_state(positions, velocities=(0.0,) * 4, at=1.0, names=NAMES):
    message = JointState(name=names, position=list(positions), velocity=list(velocities))
    message.header.stamp.sec, message.header.stamp.nanosec = int(at), round(at % 1 * 1e9)
    return message


@pytest.mark.parametrize(
    "bad",
    [
        joint_state((2.001, 0.3, 0.0, 0.1), at=9.0),
        joint_state((math.nan, 0.3, 0.0, 0.1), at=9.0),
        joint_state((0.0, 0.3, 0.0, 0.11), at=9.0),
        joint_state((0.03, 0.3, 0.0, 0.1), at=1.01),
        joint_state((0.0, 0.3, 0.0, 0.1), (2.1, 0.0, 0.0, 0.0), at=9.0),
        joint_state((0.0, 0.3, 0.0, 0.1), at=0.99),
        joint_state((0.0, 0.3, 0.0, 0.1), at=9.0, names=NAMES[::-1]),
    ],
)
def test_the_recorder_detects_bad_states(bad):
    recorder = Recorder()
    recorder.check(joint_state((0.0, 0.3, 0.0, 0.1)))
    with pytest.raises(AssertionError):
        recorder.check(bad)


def test_joint_states_have_all_joints_at_more_than_100_hz(arm):
    def fast_enough():
        arm.wait(50)
        stamps = [
            m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in arm.joint_states[-50:]
        ]
        return np.median(np.diff(stamps)) <= 0.01

    arm.until(fast_enough)
    assert arm.joint_states[-1].name == NAMES


def test_a_trajectory_on_the_topic_is_followed(arm):
    arm.topic.publish(trajectory((0.2, (0.2, 0.4, 0.1)), (0.4, (-0.1, 0.2, 0.3))))
    arm.until(lambda: arm.at[1] > 0.39)
    arm.comes_to(-0.1, 0.2, 0.3)


def test_a_goal_is_accepted_followed_and_reached_with_feedback(arm):
    handle = arm.send((0.6, (0.5, 0.4, -0.5)), way={"velocities": (0, 0, 0)})
    assert handle.accepted
    assert arm.outcome(handle) == (GoalStatus.STATUS_SUCCEEDED, 0, "Goal successfully reached!")
    arm.comes_to(0.5, 0.4, -0.5)
    assert len(arm.feedback) >= 3
    reported = arm.feedback[1].feedback
    assert reported.joint_names == JOINTS
    np.testing.assert_allclose(reported.desired.positions, reported.actual.positions, atol=1e-9)
    np.testing.assert_allclose(reported.error.positions, np.zeros(3), atol=1e-9)
    assert 0.0 < reported.actual.positions[0] < 0.5


def test_the_controller_state_has_reference_feedback_error_and_output(arm):
    arm.send((0.0, (1.0, 0.3, 0.0)))
    arm.until(lambda: np.any(np.array(arm.states[-1].error.positions) > 0.1))
    state = arm.states[-1]
    assert state.joint_names == JOINTS
    error = np.subtract(state.reference.positions, state.feedback.positions)
    np.testing.assert_allclose(state.error.positions, error)
    assert state.output.positions == state.reference.positions  # the end is commanded for good
    assert state.speed_scaling_factor == 1.0


def test_the_output_is_a_cycle_ahead_of_the_reference(arm):
    before = len(arm.states)
    handle = arm.send((1.0, (0.5, 0.3, 0.0)))
    arm.outcome(handle)
    moving = [state for state in arm.states[before:] if 0.1 < state.reference.positions[0] < 0.4]
    ahead = [state.output.positions[0] - state.reference.positions[0] for state in moving]
    np.testing.assert_allclose(ahead, moving[0].reference.velocities[0] / 125.0)


def test_the_speed_limit_holds_and_the_goal_waits_for_the_arm(arm):
    tolerance = JointTolerance(name="turn", position=0.001)
    begun = time.monotonic()
    handle = arm.send((0.05, (1.0, 0.5, 1.5)), goal_tolerance=[tolerance])
    assert arm.outcome(handle)[0] == GoalStatus.STATUS_SUCCEEDED
    # 1 rad at 2 rad/s; an arm that was late makes up for 0.1 s at most.
    assert time.monotonic() - begun > 0.5 - 0.11
    arm.comes_to(1.0, 0.5, 1.5)


def test_a_continuous_joint_takes_the_shorter_way(arm):
    arm.outcome(arm.send((0.1, (0.0, 0.3, 3.0 - math.tau))))
    arm.comes_to(0.0, 0.3, 3.0)
    arm.outcome(arm.send((0.1, (0.0, 0.3, 3.2 - math.tau))))
    arm.comes_to(0.0, 0.3, 3.2)
    arm.outcome(arm.send((0.1, (0.0, 0.3, 1.0))))
    arm.comes_to(0.0, 0.3, 1.0)


@pytest.mark.parametrize(
    "unfit",
    [
        trajectory(),
        trajectory((0.5, (1, 1, 1)), names=["turn", "slide", "elbow"]),
        trajectory((0.5, (1, 1)), names=["turn", "slide"]),
        trajectory((0.5, (1, 1, 1)), names=["turn", "turn", "slide"]),
        trajectory((0.5, (1, 1))),
        trajectory((0.5, (1, 1, math.nan))),
        trajectory((0.5, (1, 1, 1)), velocities=(0, 0)),
        trajectory((0.5, (1, 1, 1)), velocities=(0, 0, 1)),
        trajectory((0.5, (1, 1, 1)), (0.5, (1, 1, 1))),
        trajectory((0.5, (1, 1, 1)), stamp=rclpy.time.Time(seconds=1000).to_msg()),
    ],
    ids=[
        "empty",
        "unknown",
        "missing",
        "duplicate",
        "size",
        "nan",
        "velocities",
        "moving",
        "time",
        "past",
    ],
)
def test_what_a_controller_refuses_is_refused_by_action_and_topic(arm, unfit):
    goal = FollowJointTrajectory.Goal(trajectory=unfit)
    assert not arm.result(arm.action.send_goal_async(goal)).accepted
    arm.topic.publish(unfit)
    arm.wait(20)
    np.testing.assert_allclose(arm.at, (0.0, 0.3, 0.0), atol=1e-12)


def test_the_reason_of_a_refusal_is_in_the_log(arm, process):
    time.sleep(1.1)  # at most one line per second
    before = len(process.log.read_text())

    def lines():
        return process.log.read_text()[before:].splitlines()

    arm.send((0.5, (1, 1, 1)), way={"names": ["turn", "slide", "elbow"]})
    arm.topic.publish(trajectory((0.5, (1, math.inf, 1))))
    arm.until(lambda: len(lines()) == 2)
    by_action, by_topic = lines()
    assert "[ERROR]" in by_action
    assert by_action.endswith(
        "goal refused, INVALID_JOINTS: unknown joint 'elbow'; "
        "the joints are 'turn', 'slide', 'wheel'"
    )
    assert by_topic.endswith(
        "trajectory refused, INVALID_GOAL: point 0: positions of joint 'slide' are not finite (inf)"
    )


def test_a_new_goal_aborts_the_active_one(arm):
    first = arm.send((30.0, (1.0, 0.3, 0.0)))
    arm.wait(10)
    second = arm.send((0.2, (0.1, 0.3, 0.0)))
    text = "Current goal preempted by new incoming action."
    assert arm.outcome(first) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL, text)
    assert arm.outcome(second)[0] == GoalStatus.STATUS_SUCCEEDED
    arm.comes_to(0.1, 0.3, 0.0)


def test_a_trajectory_on_the_topic_replaces_that_of_a_goal(arm):
    handle = arm.send((30.0, (1.0, 0.3, 0.0)))
    arm.wait(10)
    arm.topic.publish(trajectory((0.3, (-0.2, 0.3, 0.0))))
    assert arm.outcome(handle)[0] == GoalStatus.STATUS_SUCCEEDED
    arm.comes_to(-0.2, 0.3, 0.0)


def test_a_canceled_goal_stops_the_arm(arm):
    handle = arm.send((2.0, (2.0, 0.3, 0.0)))
    arm.until(lambda: arm.at[0] > 0.2)
    assert arm.result(handle.cancel_goal_async()).goals_canceling
    assert arm.outcome(handle) == (GoalStatus.STATUS_CANCELED, Result.SUCCESSFUL, "")
    arm.stands_still()
    assert 0.2 < arm.at[0] < 2.0


def test_leaving_the_path_aborts_the_goal(arm, process):
    tolerance = JointTolerance(name="turn", position=0.1)
    handle = arm.send((0.1, (1.5, 0.3, 0.0)), path_tolerance=[tolerance])
    text = "Aborted due to path tolerance violation"
    code = Result.PATH_TOLERANCE_VIOLATED
    assert arm.outcome(handle) == (GoalStatus.STATUS_ABORTED, code, text)
    reported = (
        "tolerance violated, the position is held: on the path, joint 'turn' misses its position"
    )
    arm.until(lambda: reported in process.log.read_text())
    arm.stands_still()
    assert 0.0 < arm.at[0] < 1.5


def test_a_goal_beyond_a_limit_is_aborted_after_its_time(arm):
    handle = arm.send(
        (0.2, (0.0, 0.7, 0.0)),
        goal_tolerance=[JointTolerance(name="slide", position=0.01)],
        goal_time_tolerance=duration(0.2),
    )
    status, code, text = arm.outcome(handle)
    assert (status, code) == (GoalStatus.STATUS_ABORTED, Result.GOAL_TOLERANCE_VIOLATED)
    assert text.startswith("Aborted due to goal_time_tolerance exceeding by 0.2")
    arm.comes_to(0.0, 0.5, 0.0)


def test_invalid_tolerances_are_ignored(arm):
    tolerance = JointTolerance(name="elbow", position=0.1)
    handle = arm.send((0.05, (0.5, 0.3, 0.0)), path_tolerance=[tolerance])
    assert arm.outcome(handle)[0] == GoalStatus.STATUS_SUCCEEDED


def later(arm, seconds):
    now = arm.node.get_clock().now()
    return (now + rclpy.duration.Duration(seconds=seconds)).to_msg()


def test_a_first_point_ahead_is_approached_at_once(arm):
    stamp = later(arm, 1.0)
    handle = arm.send((0.2, (0.6, 0.3, 0.0)), way={"stamp": stamp})
    arm.until(lambda: arm.at[0] > 0.0)
    left = arm.joint_states[-1].header.stamp
    assert (left.sec, left.nanosec) < (stamp.sec, stamp.nanosec)
    assert arm.outcome(handle)[0] == GoalStatus.STATUS_SUCCEEDED
    arm.comes_to(0.6, 0.3, 0.0)
    reached = next(m for m in arm.joint_states if m.position[0] == 0.6).header.stamp
    assert (reached.sec, reached.nanosec) > (stamp.sec, stamp.nanosec)


def test_an_inactive_controller_accepts_nothing_and_later_holds(arm, process):
    handle = arm.send((2.0, (2.0, 0.3, 0.0)))
    arm.until(lambda: arm.at[0] > 0.2)
    assert arm.switch("activate", False).success
    text = "Current goal cancelled during deactivate transition."
    assert arm.outcome(handle) == (GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL, text)
    arm.stands_still()
    here, reported = arm.at, len(arm.states)
    before = len(process.log.read_text())
    arm.topic.publish(trajectory((0.1, (0.0, 0.3, 0.0))))
    arm.wait(20)
    assert "ERROR" not in process.log.read_text()[before:]
    assert not arm.send((0.1, (0.0, 0.3, 0.0))).accepted
    arm.until(
        lambda: "goal refused: the controller is inactive" in process.log.read_text()[before:]
    )
    assert arm.switch("activate", True).success
    arm.until(lambda: len(arm.states) > reported)
    arm.wait(20)
    np.testing.assert_array_equal(arm.at, here)
    assert arm.outcome(arm.send((0.1, (0.0, 0.3, 0.0))))[0] == GoalStatus.STATUS_SUCCEEDED


def test_an_emergency_stop_holds_the_drives(arm):
    handle = arm.send((1.0, (1.0, 0.3, 0.0)))
    arm.until(lambda: arm.at[0] > 0.2)
    assert arm.switch("emergency_stop", True).success
    try:
        arm.stands_still()
        assert 0.2 < arm.at[0] < 1.0
        arm.until(lambda: arm.states[-1].output.positions[0] == 1.0)
        assert arm.states[-1].error.positions[0] > 0.0
    finally:
        assert arm.switch("emergency_stop", False).success
    assert arm.outcome(handle)[0] == GoalStatus.STATUS_SUCCEEDED
    arm.comes_to(1.0, 0.3, 0.0)


def test_a_blocked_joint_does_not_move_until_it_is_free_again(arm):
    assert arm.set_parameter("blocked_joint", "turn").successful
    try:
        arm.send((0.1, (0.2, 0.4, 0.0)))
        arm.comes_to(0.0, 0.4, 0.0)
    finally:
        assert arm.set_parameter("blocked_joint", "").successful
    arm.comes_to(0.2, 0.4, 0.0)


def test_speed_scaling_slows_goals_and_is_published(arm):
    assert arm.set_parameter("speed_scaling", 0.0).successful
    try:
        handle = arm.send((0.2, (0.2, 0.3, 0.0)))
        arm.until(lambda: arm.states[-1].speed_scaling_factor == 0.0)
        arm.wait(50)
        assert arm.at[0] < 0.01
    finally:
        assert arm.set_parameter("speed_scaling", 1.0).successful
    assert arm.outcome(handle)[0] == GoalStatus.STATUS_SUCCEEDED


def test_a_goal_keeps_its_tolerances_when_its_trajectory_is_replaced(arm):
    tolerance = JointTolerance(name="turn", position=0.1)
    handle = arm.send((30.0, (1.0, 0.3, 0.0)), path_tolerance=[tolerance])
    arm.wait(2)
    arm.topic.publish(trajectory((0.1, (1.5, 0.3, 0.0))))
    assert arm.outcome(handle)[1] == Result.PATH_TOLERANCE_VIOLATED


def test_a_goal_for_floating_joints_is_refused(arm):
    goal = FollowJointTrajectory.Goal(trajectory=trajectory((0.1, (0.1, 0.3, 0.0))))
    goal.multi_dof_trajectory.points.append(MultiDOFJointTrajectoryPoint())
    assert not arm.result(arm.action.send_goal_async(goal)).accepted


def test_parameters_may_change_as_upstream(arm):
    partial = functools.partial(arm.send, (0.1, (0.2,)), way={"names": ["turn"]})
    assert not partial().accepted
    assert arm.set_parameter("allow_partial_joints_goal", True).successful
    try:
        assert arm.outcome(partial())[0] == GoalStatus.STATUS_SUCCEEDED
        arm.comes_to(0.2, 0.3, 0.0)
    finally:
        arm.set_parameter("allow_partial_joints_goal", False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("publish_rate", 500.0),
        ("use_sim_time", True),
        ("constraints.goal_time", math.nan),
        ("constraints.goal_time", -1.0),
        ("constraints.turn.goal", math.inf),
        ("constraints.turn.goal", "wide"),
        ("initial_positions.turn", 1.0),
        ("speed_scaling", 1.1),
        ("blocked_joint", "elbow"),
        ("drive_time_constant", 0.1),
        ("feedback_delay", 0.1),
        ("interpolate_from_desired_state", True),
        ("allow_trajectory_replacement", True),
    ],
)
def test_invalid_parameters_at_run_time_are_refused(arm, name, value):
    answer = arm.set_parameter(name, value)
    assert not answer.successful
    assert answer.reason


def test_simulated_time_needs_a_clock(tmp_path, own_domain):
    log = tmp_path / "log"
    parameters = ("use_sim_time:=true", "joints:=[turn]", "initial_positions.slide:=0.2")
    process = start(own_domain, log, f"robot_description:={URDF}", *parameters)
    client = Client(own_domain)
    try:
        clock = client.node.create_publisher(Clock, "/clock", 10)
        client.until(lambda: clock.get_subscription_count() == 1)
        client.until(lambda: client.topic.get_subscription_count() == 1)
        client.until(lambda: "waiting for the time on /clock" in log.read_text())
        assert client.joint_states == []
        client.topic.publish(trajectory((2.0, (1.0,)), names=["turn"]))
        now = 100.0

        def tick(dt=0.01):
            nonlocal now
            now += dt
            clock.publish(Clock(clock=rclpy.time.Time(nanoseconds=round(now * 1e9)).to_msg()))
            client.executor.spin_once(timeout_sec=0.02)

        def tick_until(condition, most=3000):
            for _ in range(most):
                if condition():
                    return
                tick()
            pytest.fail("it did not happen")

        tick_until(lambda: client.joint_states and client.at[0] > 0.5)
        tick(3600.0)  # a leap is no reason to leap
        tick_until(lambda: client.at[0] == 1.0)
        assert max(np.diff([m.position[0] for m in client.joint_states])) <= 0.2 + 1e-9
        client.topic.publish(trajectory((2.0, (-1.0,)), names=["turn"]))
        tick_until(lambda: client.at[0] < 0.0)
        assert client.faults == []
        tick(-3600.0)
        tick_until(lambda: client.joint_states[-1].header.stamp.sec < 200)
        client.faults.clear()  # rightly, the recorder objects to that
        client.recorder.last = None
        tick_until(lambda: client.at[0] == -1.0)
        assert max(np.diff([m.position[0] for m in client.joint_states[-50:]])) <= 0.0
        np.testing.assert_allclose(client.at, (-1.0, 0.2, 0.0))
        assert client.faults == []
    finally:
        client.close()
        stop(process)
    assert process.returncode == 0


def test_two_controllers_can_share_a_robot(own_domain, tmp_path):
    """Each publishes only its own joints and their mimic joints."""
    arms = [
        start(
            own_domain,
            tmp_path / name,
            f"robot_description:={URDF}",
            f"joints:=[{name}]",
            "publish_uncontrolled_joints:=false",
        )
        for name in ("turn", "slide")
    ]
    client = Client(own_domain)
    try:
        client.until(lambda: len({tuple(m.name) for m in client.joint_states}) == 2)
        client.wait(50)
        assert {tuple(m.name) for m in client.joint_states} == {("turn",), ("slide", "jaw")}
    finally:
        client.close()
        for process in arms:
            stop(process)


def test_a_late_arm_takes_the_newest_trajectory_only(own_domain, monkeypatch):
    """As upstream: with a queue, each trajectory that a late arm takes would be an old one."""
    taken = []
    monkeypatch.setattr(TrajectoryController, "follow", lambda _, command: taken.append(command))
    words = ["--ros-args", "-p", f"robot_description:={URDF}"]
    rclpy.init(args=words, domain_id=own_domain)
    late = SimulatedArm()
    executor = SingleThreadedExecutor()
    executor.add_node(late)
    client = Client(own_domain)
    try:
        client.until(lambda: client.topic.get_subscription_count() == 1)
        for turn in (0.1, 0.2, 0.3, 0.4):
            client.topic.publish(trajectory((1.0, (turn, 0.3, 0.0))))
        assert client.topic.wait_for_all_acked(Span(seconds=PATIENCE))
        end = time.monotonic() + PATIENCE
        while not taken and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        for _ in range(50):
            executor.spin_once(timeout_sec=0.01)
    finally:
        client.close()
        executor.shutdown()
        late.destroy_node()
        rclpy.try_shutdown()
    assert [command.waypoints[-1].positions[0] for command in taken] == [0.4]


def test_cycles_are_periodic_and_drives_lag(own_domain, tmp_path):
    process = start(
        own_domain,
        tmp_path / "log",
        f"robot_description:={URDF}",
        "publish_rate:=500.0",
        "drive_time_constant:=0.03",
        "feedback_delay:=0.02",
        "interpolate_from_desired_state:=true",
        "initial_positions.turn:=0.5",
    )
    client = Client(own_domain)
    try:
        client.until(lambda: client.joint_states and client.states)
        assert client.at[0] == 0.5
        client.until(lambda: client.topic.get_subscription_count() == 1)
        client.topic.publish(trajectory((1.0, (1.0, 0.3, 0.0))))
        client.until(lambda: client.at[0] > 0.8)
        stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in client.joint_states]
        # After a pause of the process there is a longer step, and the network may lose some.
        assert min(np.diff(stamps)) == 2_000_000
        moving = [m for m in client.states if 0.7 < m.feedback.positions[0] < 0.8]
        lags = [m.error.positions[0] / m.reference.velocities[0] for m in moving]
        np.testing.assert_allclose(lags, 0.051, atol=0.002)
        # From the last command: the speed of the line is what is left over a second and a cycle.
        np.testing.assert_allclose(moving[0].reference.velocities[0], 0.5 / 1.002, rtol=1e-6)
    finally:
        client.close()
        stop(process)


def latched(node):
    profile = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    return node.create_publisher(String, "robot_description", profile)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_arm_waits_for_its_description_and_ends_on_a_signal(tmp_path, own_domain, number):
    log = tmp_path / "log"
    process = start(own_domain, log)
    client = Client(own_domain)
    try:
        wait = "waiting for a robot description on /robot_description"
        client.until(lambda: wait in log.read_text())
        latched(client.node).publish(String(data=URDF))
        client.until(lambda: client.joint_states)
        assert client.send((30.0, (1.0, 0.3, 0.0))).accepted
        process.send_signal(number)
        assert process.wait(timeout=PATIENCE) == 0, log.read_text()
    finally:
        client.close()
        process.kill()
    assert client.faults == []
    assert "Traceback" not in log.read_text()


def test_a_malformed_description_ends_the_node_with_one_line(complaint, own_domain):
    client = Client(own_domain)
    try:
        latched(client.node).publish(String(data="<robot name='x'><link></robot>"))
        line = complaint("simulated_arm")
    finally:
        client.close()
    assert line.startswith("simulated_arm: robot_description: line 1: ")


def test_a_misspelt_parameter_is_reported_before_the_description(complaint):
    line = complaint("simulated_arm", "publish_ratee:=100.0")
    assert "did you mean 'publish_rate'?" in line


@pytest.mark.parametrize(
    ("parameters", "reported"),
    [
        (["robot_description:='<robot'"], "robot_description: line 1"),
        (["joints:=[turn, elbow]"], "joint 'elbow' is not one that can be controlled"),
        (["joints:=[turn, turn]"], "parameter 'joints' does not fit: joint 'turn'"),
        (["joints:=[]"], "leave out parameters that are []"),
        (["use_sim_time:=1"], "parameter 'use_sim_time' must be true or false, not 1"),
        (["joints:=[jaw]"], "there are turn, slide, wheel"),
        (
            ["publish_ratee:=100.0"],
            "parameter 'publish_ratee' does not exist; did you mean 'publish_rate'?",
        ),
        (["publish_rate:=5.0"], "parameter 'publish_rate' must lie in [10, 1000]"),
        (["publish_rate:=.nan"], "parameter 'publish_rate' must lie in [10, 1000]"),
        (["publish_rate:=fast"], "parameter 'publish_rate' must be a number"),
        (["initial_positions.elbow:=1.0"], "parameter 'initial_positions.elbow' does not exist"),
        (["initial_positions.jaw:=0.1"], "parameter 'initial_positions.jaw' does not exist"),
        (["initial_positions.turn:=2.5"], "parameter 'initial_positions.turn' must lie in"),
        (["constraints.elbow.goal:=1.0"], "parameter 'constraints.elbow.goal' does not exist"),
        (["constraints.turn.goal:=-1.0"], "parameter 'constraints.turn.goal' must lie in"),
        (
            ["blocked_joint:=elbow"],
            "'blocked_joint' must be empty or one of turn, slide, wheel, not",
        ),
        (["drive_time_constant:=-0.1"], "parameter 'drive_time_constant' must lie in [0, 1]"),
        (["feedback_delay:=2.0"], "parameter 'feedback_delay' must lie in [0, 1]"),
        (["joints"], "Couldn't parse parameter override rule"),
    ],
    ids=lambda value: value[0].partition(":=")[0] if isinstance(value, list) else "",
)
def test_a_bad_start_is_one_line_and_status_1(complaint, parameters, reported):
    assert reported in complaint("simulated_arm", f"robot_description:={URDF}", *parameters)
