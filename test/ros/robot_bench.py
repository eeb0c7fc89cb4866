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

"""A robot for the node's tests: it executes commands at once, and reports unsafe ones."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PointStamped, PoseStamped, TwistStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from tf2_ros import StaticTransformBroadcaster, TransformBroadcaster
from trajectory_msgs.msg import JointTrajectory

from basis_ik.motion.limiter import LEAD
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message, transform_message
from basis_ik.transforms.rigid import RigidTransform

URDF = (Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text()
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
PERIOD = 0.01  # the node's default
# Tests would take ten times as long with the defaults; and where many processes share a processor,
# a robot of this kind moves late.
FAST = [
    word
    for given in (
        "max_velocity_scaling_factor:=1.0",
        "max_acceleration_scaling_factor:=1.0",
        "tracking_lag:=2.0",
    )
    for word in ("-p", given)
]
LATE = 5 * PERIOD
MOVES = 1e-6  # rad/s: at rest there may be rounding
PATIENCE = 180.0  # for what must happen at all; the first time, kernels are compiled


def start_node(domain, *arguments, program=("-m", "basis_ik.ros.programs", "ik_node")):
    """Start ik_node in its own process; its output goes to a file, which never blocks it."""
    given = []
    if program[-1].endswith(("ik_node", "node.py")):
        given = [*FAST, *rule_for(arguments)]
    command = [sys.executable, *program, "--ros-args", *given, *arguments]
    output = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed in `output_of`
    process = subprocess.Popen(
        command,
        env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
        stdout=output,
        stderr=subprocess.STDOUT,
    )
    process.output = output
    return process


def rule_for(arguments):
    """Yield the arguments that state the robot's rule of replacement for each chain.

    It counts a trajectory's stamp alone, and answers no questions.
    """
    files = [Path(word).read_text() for word in arguments if word.endswith(".yaml")]
    given = re.search(r"^ *chains(?::=|: )\[(.+)\]$", "\n".join([*arguments, *files]), re.MULTILINE)
    for name in given[1].split(",") if given else [""]:
        prefix = name.strip(" '\"")
        yield from ("-p", f"{prefix}{'.' * bool(prefix)}trajectory_replacement:=not_allowed")


def wait_for_log(process, words):
    """Wait for words in a running node's output, and return the output so far."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        logged = os.pread(process.output.fileno(), 1 << 20, 0).decode()
        if words in logged:
            return logged
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"it never said {words!r}: {output_of(process)[1]}")


def output_of(process):
    """Wait for a node's end and return its exit status and output."""
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
    with process.output as output:
        output.seek(0)
        return process.returncode, output.read()


def stop_node(process, with_signal=signal.SIGINT):
    """End a node and return its exit status and output."""
    process.send_signal(with_signal)
    return output_of(process)


PROBLEM = re.compile(r"\[(?:WARN|ERROR)\] \[(\d+\.\d+)\] \[basis_ik\]: (.*)")
REASON = re.compile(r"(target refused|joint state): [A-Z_]+|[^0-9'\"(]*")


def logged_too_often(output):
    """Return the reasons that a node's log gives twice within a second."""
    last, found = {}, []
    for line in output.splitlines():
        problem = PROBLEM.fullmatch(line)
        if problem is None:
            continue
        then, reason = float(problem[1]), REASON.match(problem[2])[0]
        if then - last.get(reason, -1.0) < 0.99:  # the node's own clock is another
            found.append(reason)
        last[reason] = then
    return found


@contextlib.contextmanager
def running(domain, *arguments, urdf=URDF, home=HOME):
    """Yield a robot with a node that is ready; afterwards no command may have been unsafe."""
    robot = Robot(domain, urdf, home)
    robot.process = process = start_node(domain, *arguments)
    robot.description.publish(String(data=urdf))
    try:
        robot.wait(lambda: any(s["state"] == "READY" for s in robot.statuses), "the node is ready")
    except AssertionError as error:
        robot.close()
        raise AssertionError(f"{error}; its output: {stop_node(process)}") from None
    try:
        yield robot
    finally:
        code, robot.output = stop_node(process)
        robot.close()
        print(robot.output)  # shown with a failure
    assert code == 0, robot.output
    assert "Traceback" not in robot.output
    assert logged_too_often(robot.output) == []
    assert robot.complaints == [], robot.complaints


class Robot:
    """Publishes description, joint states and tf; records commands and verdicts."""

    def __init__(self, domain, urdf=URDF, home=HOME):
        self.model = RobotModel.from_urdf(urdf)
        self.chain = self.model.chain()
        self.positions = home.copy()
        self.publishing, self.window, self.recorded = True, None, 0.0
        # Of the node or of this process, in motion: the arm then begins its window's way to rest.
        self.stalls = 0
        self._defect = None  # what ended its thread
        self.commands = []
        self.complaints = []
        self.statuses = []
        self._sent = ()  # before the last target: numbers of statuses and refusals; and the target
        self.context = rclpy.Context()
        self.context.init(domain_id=domain)
        self.node = rclpy.create_node("robot", context=self.context)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.description = self.node.create_publisher(String, "robot_description", latched)
        self.states = self.node.create_publisher(JointState, "joint_states", 10)
        self.targets = self.node.create_publisher(PoseStamped, "basis_ik/target_pose", 1)
        self.points = self.node.create_publisher(PointStamped, "basis_ik/target_point", 1)
        self.twists = self.node.create_publisher(TwistStamped, "basis_ik/twist", 1)
        self.tf, self.static_tf = (
            TransformBroadcaster(self.node),
            StaticTransformBroadcaster(self.node),
        )
        topic = "joint_trajectory_controller/joint_trajectory"
        # Deep: a command lost while the test has no processor looks like a leap of the node's.
        deep = 1000
        lost = SubscriptionEventCallbacks(message_lost=self._lose)
        self.node.create_subscription(
            JointTrajectory, topic, self._on_trajectory, deep, event_callbacks=lost
        )
        topic = "joint_trajectory_controller/commands"
        self.node.create_subscription(
            Float64MultiArray, topic, lambda m: self._record_command("commands", None, m.data), deep
        )
        self.node.create_subscription(
            JointState,
            "joint_commands",
            lambda m: self._record_command("joint_commands", m.name, m.position),
            deep,
        )
        self.node.create_subscription(DiagnosticStatus, "basis_ik/status", self._on_status, 10)
        self.node.create_timer(PERIOD, self._publish_states)
        self.frames = {}
        self._clients = {}
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def close(self):
        self._executor.shutdown()
        self._thread.join(PATIENCE)
        self.node.destroy_node()  # or its latched description would live on
        self.context.shutdown()

    def _spin(self):
        try:
            self._executor.spin()
        except ExternalShutdownException:
            pass
        except Exception as error:
            self._defect = error
            raise

    def _publish_states(self):
        now = self.node.get_clock().now()
        self._follow_window(1e-9 * now.nanoseconds)
        if not self.publishing:
            return
        stamp = now.to_msg()
        state = JointState(name=list(self.chain.joint_names), position=self.positions.tolist())
        state.header.stamp = stamp
        self.states.publish(state)
        root, tip = self.chain.root, self.chain.tip
        tool = transform_message(root, tip, self.chain.forward(self.positions), stamp)
        frames = list(self.frames.items())  # at once: the test's thread adds to them
        moving = [transform_message("base_link", n, f(), stamp) for n, f in frames]
        self.tf.sendTransform([tool, *moving])

    def _on_trajectory(self, message):
        """Follow a window from its present time; the previous one must agree there."""
        now = 1e-9 * self.node.get_clock().now().nanoseconds
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points]
        positions = np.array([p.positions for p in message.points])
        whole = positions[0].shape == self.positions.shape and np.isfinite(positions).all()
        valid = whole and times[0] == 0.0 and not any(message.points[-1].velocities)
        valid = valid and message.joint_names == list(self.chain.joint_names)
        if not (valid and np.all(np.diff(times) > 0)):
            self.complaints.append(("window", message))
        if whole:
            set_back = self.window is not None and now < self.window[0]
            if self.window is None:  # the arm rests; the node does not know that its window ended
                self.stalls += not all(abs(v) <= MOVES for v in message.points[0].velocities)
            else:
                self.stalls += stamp - self.window[0] > LEAD * PERIOD
            self._follow_window(now)
            before, self.window = self.positions, (stamp, times, positions)
            self._record_window(stamp, times, positions)
            self._follow_window(now)
            # Where this process is late itself, the two may be ways to rest from different times:
            # what is settled, and so common to both, ends here.
            late = now - stamp > LEAD * PERIOD or set_back
            self.stalls += late
            if not late and (self._way(before) > self.chain.velocity * PERIOD).any():
                self.complaints.append((before, self.positions))
        else:
            self._record_command(
                "joint_trajectory", message.joint_names, message.points[1].positions
            )

    def _lose(self, _):
        """Ignore lost messages: positions are checked by time."""

    def _record_window(self, stamp, times, positions):
        """Check and store each final command once: two after a window's first."""
        here = self.positions
        for k in range(1, 1 + LEAD):
            if stamp + times[k] > self.recorded + 0.5 * PERIOD or stamp < self.recorded - LATE:
                self.recorded, self.positions = stamp + times[k], positions[k - 1]
                self._record_command("joint_trajectory", None, positions[k])
        self.positions = here

    def _follow_window(self, now):
        """Move along the last window to a time."""
        if self.window is not None:
            stamp, times, positions = self.window
            self.positions = np.array([np.interp(now - stamp, times, q) for q in positions.T])
            # Later motions begin where it ends; it may last at rest.
            if (positions[np.searchsorted(times, now - stamp) :] == self.positions).all():
                self.window = None

    def _record_command(self, interface, names, positions):
        """Record a command and its faults, and move there."""
        command = np.array(positions)
        self.interface = interface
        whole = command.shape == self.positions.shape and bool(np.isfinite(command).all())
        safe = (
            whole
            and names in (None, list(self.chain.joint_names))
            and (command >= self.chain.lower - 1e-9).all()
            and (command <= self.chain.upper + 1e-9).all()
            and (self._way(command) <= self.chain.velocity * PERIOD + 1e-9).all()
        )
        if not safe:
            self.complaints.append((self.positions, command))
        self.commands.append(command)
        if whole:
            self.positions = command

    def _way(self, command):
        """Return each joint's remaining distance; a continuous one takes the shorter way."""
        way = np.abs(command - self.positions)
        turn = np.abs(np.remainder(way + np.pi, 2.0 * np.pi) - np.pi)
        return np.where(self.chain.continuous, turn, way)

    def _on_status(self, message):
        values = {pair.key: pair.value for pair in message.values}
        values |= {"message": message.message, "level": message.level}
        values["heard"] = 1e-9 * self.node.get_clock().now().nanoseconds
        self.statuses.append(values)

    def unstalled(self, attempt):
        """Return the result of an attempt during which node and arm had the processor all the time.

        An arm whose node stalls begins the way to rest at its window's end; what it is commanded
        then lies more than a period from what it was commanded before.
        """
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.stalls = 0
            result = attempt()
            if not self.stalls:
                return result
        raise AssertionError("node or arm stall in every attempt")

    def settle(self):
        """Wait until the node accepts the positions of a displaced arm."""

        def believed():
            seen = len(self.statuses)
            time.sleep(0.3)
            self.wait(lambda: len(self.statuses) > seen, "a status")
            new = self.statuses[max(seen - 1, 0) :]
            jumps = {status.get("refused.JUMP") for status in new}
            return len(jumps) == 1 and new[-1]["state"] != "WAITING"

        self.wait(believed, "joint states are believed")

    def place(self, parent, child, parent_T_child):
        """Publish a static frame."""
        stamp = self.node.get_clock().now().to_msg()
        self.static_tf.sendTransform(transform_message(parent, child, parent_T_child, stamp))

    def send(self, frame, frame_T_target, stamp="now"):
        """Publish a target pose."""
        message = PoseStamped(pose=pose_message(frame_T_target))
        message.header.frame_id = frame
        if stamp == "now":
            message.header.stamp = self.node.get_clock().now().to_msg()
        elif stamp is not None:
            message.header.stamp = stamp
        self._sent = len(self.statuses), self._stale(), frame, frame_T_target, stamp
        self.targets.publish(message)
        return message

    def look(self, frame, point):
        """Publish a point to look at, here and now."""
        message = PointStamped()
        message.header.frame_id = frame
        message.point.x, message.point.y, message.point.z = point
        self.points.publish(message)

    def jog(self, frame, linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
        """Publish a twist, here and now."""
        message = TwistStamped()
        message.header.frame_id = frame
        v, w = message.twist.linear, message.twist.angular
        v.x, v.y, v.z = linear
        w.x, w.y, w.z = angular
        self.twists.publish(message)

    def set_parameter(self, name, value):
        """Ask the node to set a parameter; return its answer."""
        given = Parameter(name, value=value).to_parameter_msg()
        return self.call(SetParameters, "set_parameters", parameters=[given]).results[0]

    def call(self, kind, name, **fields):
        """Call a service of the node and return its response."""
        # Clients are kept: a new one may miss its first response before discovery has finished.
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = self.node.create_client(kind, f"basis_ik/{name}")
            assert client.wait_for_service(PATIENCE), f"no service {name}"
            time.sleep(0.2)
        future = client.call_async(kind.Request(**fields))
        self.wait(future.done, f"an answer of {name}")
        return future.result()

    def transit(self, name):
        """Request a lifecycle transition; return whether it succeeded."""
        transition = Transition(id=0, label=name)
        return self.call(ChangeState, "change_state", transition=transition).success

    def state(self):
        """Return the lifecycle state's label."""
        return self.call(GetState, "get_state").current_state.label

    def tip(self):
        return self.chain.forward(self.positions)

    def at(self, root_T_target, tolerance=1e-4):
        return np.allclose(self.tip().matrix, root_T_target.matrix, atol=tolerance)

    def wait(self, condition, what, patience=PATIENCE):
        """Wait until a condition holds; fail with its name if it never does."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if self._defect is not None:
                raise AssertionError("the robot of the tests has failed") from self._defect
            if condition():
                return
            time.sleep(0.01)
        last = self.statuses[-1] if self.statuses else None
        raise AssertionError(f"never: {what}; last status: {last}")

    def wait_status(self, **wanted):
        """Wait for a new status that holds these values, and return it."""
        seen = len(self.statuses)

        def found():
            new = self.statuses[seen:]
            return [s for s in new if all(s.get(k) == v for k, v in wanted.items())]

        self.wait(found, f"status with {wanted}")
        return found()[0]

    def go(self, root_T_target):
        """Send a target pose, and wait until the arm rests there.

        It is sent again after each second without commands: the node may have refused it.
        """
        self.send("base_link", root_T_target)
        since, count = time.monotonic(), len(self.commands)

        def there():
            nonlocal since, count
            if len(self.commands) > count:
                since, count = time.monotonic(), len(self.commands)
            elif time.monotonic() - since > 1.0 and not self.at(root_T_target):
                self.send("base_link", root_T_target)
                since = time.monotonic()
            return self.at(root_T_target)

        self.wait(there, "the arm is there")

        # A node without a processor is silent, too.
        def rests():
            if self.statuses[-1]["state"] == "READY":  # late joint states have dropped the target
                self.send("base_link", root_T_target)
                time.sleep(0.5)
            return self.statuses[-1]["state"] == "ARRIVED" and self.no_commands()

        self.wait(rests, "rest")

    def wait_for(self, condition, what):
        """Wait for what the pose that was sent last leads to.

        It is sent again where the node has reported since that joint states were late, and that it
        has no target any more. Where nothing may end a motion, use `wait`.
        """

        def held():
            late = self.joint_states_ceased() or self._stale() != self._sent[1]
            if late and self.statuses[-1]["state"] == "READY":
                self.send(*self._sent[2:])
            return condition()

        self.wait(held, what)

    def joint_states_ceased(self):
        """Return whether the node has reported so since a pose was sent last: it may be dropped."""
        new = self.statuses[self._sent[0] :]
        return any("no joint state of" in status["message"] for status in new)

    def _stale(self):
        """Return the last numbers of messages that were refused because they were late.

        An arm that stalls in mid-window leaps to where it should be; its states are a JUMP.
        """
        last = self.statuses[-1] if self.statuses else {}
        return last.get("refused.STALE"), last.get("refused.JUMP") if self.stalls else None

    def wait_there(self, root_T_target, what, tolerance=1e-4):
        """Wait until the pose that was sent last has led the arm there."""
        self.wait_for(lambda: self.at(root_T_target, tolerance), what)

    def reach(self, root_T_target, what, tolerance=1e-4):
        """Send a target pose, and wait until the arm is there."""
        self.send("base_link", root_T_target)
        self.wait_there(root_T_target, what, tolerance)

    def set_off(self, root_T_target, way=0.2):
        """Send a target pose, and wait until a joint has moved by `way` [rad]."""
        start = self.positions
        self.send("base_link", root_T_target)
        self.wait_for(lambda: np.abs(self.positions - start).max() > way, "the arm moves")

    def go_home(self):
        self.go(self.chain.forward(HOME))

    def no_commands(self, seconds=0.3):
        """Return whether no command arrives for a while."""
        count = len(self.commands)
        time.sleep(seconds)
        return len(self.commands) == count


def down(x, y, z):
    """Return a pose with the tool pointing down."""
    return RigidTransform.from_rpy(np.pi, 0.0, 0.0, [x, y, z])
