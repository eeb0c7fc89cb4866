# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Hours of work in minutes: the node and an arm, and whatever a user does, drawn from one seed.

Runs in the ROS environment: ik_node and simulated_arm as real processes over DDS. Poses, streams,
the handle, twists, joint velocities, stops, speed overrides, malformed inputs, and an arm whose
driver is killed and comes back. Every command and the measured arm are judged as in test/faults;
what is wrong ends it: the last two seconds of what went in and came out are written down, and the
node's own recording of all that it heard is kept, to be played back by `ros2 run basis_ik replay`.
"""

import argparse
import array
import collections
import contextlib
import json
import math
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import rclpy
from control_msgs.msg import JointJog, JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PointStamped, PoseStamped, TwistStamped
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger
from tf2_ros import TransformBroadcaster
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message, transform_message
from basis_ik.transforms.rigid import RigidTransform

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "test" / "faults"))
from recorder import SECOND, Recorder  # noqa: E402  its folder is not on the path before

URDF = (HERE.parent / "urdf" / "ur5e.urdf").read_text()
CHAIN = RobotModel.from_urdf(URDF).chain()
START = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
CONTROLLER = "joint_trajectory_controller"
PERIOD = 0.01  # s, the node's default
SPEED = 0.5  # of the limits: an arm that leaps is then faster than it may be commanded
RATE = 50.0  # Hz, of all streams
KEPT = 2.0  # s of both sides, written down with a fault
PATIENCE = 180.0  # s; kernels may have to be compiled first
RECOVERY = 20.0  # s within which the node must take targets again, whatever has happened
REST = 5.0  # s for which a probe waits until the arm rests
CHECK_PERIOD = 0.5  # s between two judgements
QUIET = 0.05  # s without a command: the arm is at rest
TICKS = os.sysconf("SC_CLK_TCK")

# How often each kind of deed is drawn, in parts.
KINDS = {
    "probe": 6,
    "pose": 5,
    "out_of_reach": 1,
    "stream": 3,
    "follow": 2,
    "drag": 3,
    "twist": 3,
    "joint_jog": 3,
    "point": 1,
    "home": 1,
    "stop": 2,
    "override": 2,
    "malformed": 1,
    "driver": 1,
}


class Deed(NamedTuple):
    """Something that the user does, all of it drawn beforehand.

    Attributes:
        kind: One of `KINDS`.
        seconds: How long it takes.
        numbers: What is made of them depends on the kind (8,), each in [-1, 1].
    """

    kind: str
    seconds: float
    numbers: np.ndarray


def deeds(seed):
    """Yield deeds without end, the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    kinds, parts = list(KINDS), np.array(list(KINDS.values()), dtype=float)
    while True:
        kind = kinds[rng.choice(len(kinds), p=parts / parts.sum())]
        yield Deed(kind, float(rng.uniform(0.3, 2.5)), rng.uniform(-1.0, 1.0, 8))


class BothSides:
    """The last seconds of what went into the node and came out of it."""

    def __init__(self):
        self._kept = collections.deque()

    def add(self, now, side, topic, message):
        """Keep a message.

        Args:
            now: The clock [ns].
            side: "in" or "out", as the node sees it.
            topic: Its name.
            message: It is written as its `repr`.
        """
        self._kept.append((now, side, topic, message))
        while self._kept[0][0] < now - KEPT * SECOND:
            self._kept.popleft()

    def write(self, path, head):
        """Write it down, a line for each message, below some lines."""
        lines = [f"{now / SECOND:.6f} {side:3} {topic} {m!r}" for now, side, topic, m in self._kept]
        path.write_text("\n".join([*head, "", *lines]) + "\n")


class Process:
    """A program of the package; its output goes to a file, which never blocks it."""

    def __init__(self, name, *words):
        self.output = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed in `end`
        command = [sys.executable, "-m", "basis_ik.programs", name, "--ros-args", *words]
        self.process = subprocess.Popen(command, stdout=self.output, stderr=subprocess.STDOUT)

    def kill(self):
        """End it as if its power had gone."""
        self.process.kill()
        self.process.wait()
        self.output.close()

    def end(self):
        """End it in order; return its exit status and what it has said."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(30)
        with self.output as output:
            output.seek(0)
            return status, output.read()

    def said(self):
        """Return the last that it has said."""
        size = os.fstat(self.output.fileno()).st_size
        return os.pread(self.output.fileno(), 4096, max(size - 4096, 0)).decode(errors="replace")

    def memory(self):
        """Return its resident memory [MB]."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def processor_time(self):
        """Return what it has used so far [s]."""
        text = Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = text.rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def waited(self):
        """Return how long its control loop, in its first thread, has waited for a processor [s]."""
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[1]) / SECOND


def start_node(recording):
    """Start the node under test; it records all that it hears to a file."""
    home = ", ".join(map(str, START))
    parameters = (
        f"max_velocity_scaling_factor:={SPEED}",
        "max_acceleration_scaling_factor:=1.0",
        "tracking_lag:=0.5",  # processes that share a processor are late
        f"home:=[{home}]",
        f"record:={recording}",
    )
    return Process("ik_node", *(word for each in parameters for word in ("-p", each)))


def start_driver(at):
    """Start the arm at joint positions (n,)."""
    words = ["-r", f"__node:={CONTROLLER}", "-p", "drive_time_constant:=0.03"]
    for name, position in zip(CHAIN.joint_names, at, strict=True):
        words += ["-p", f"initial_positions.{name}:={float(position)}"]
    return Process("simulated_arm", *words)


class Stop(Exception):  # noqa: N818  no error of the program
    """The soak ends; its text says why."""


class Watch:
    """Hears both sides, judges them, and keeps figures; no ROS but messages.

    Args:
        path: Where the last seconds are written when something is wrong.
        head: Lines that say what this is.
    """

    def __init__(self, path, head):
        self._path, self._head = path, head
        self.sides = BothSides()
        drives, limits = CHAIN.velocity, (CHAIN.lower, CHAIN.upper)
        self.recorder = Recorder(CHAIN.joint_names, *limits, SPEED * drives, drives, PERIOD)
        self.fault = None
        self.heard = array.array("q")  # when each command came [ns]
        self.ages = array.array("d")  # and how old it was, by its stamp [ms]
        self.positions = START.copy()
        self.status, self.lost, self.last_state = {}, 0, 0
        self.missed = 0  # commands that this process had no time to hear

    @property
    def last_command(self):
        """When the last command came [ns]."""
        return self.heard[-1] if self.heard else 0

    def command(self, message, now):
        """A window of commands came at a time [ns]."""
        self.sides.add(now, "out", f"{CONTROLLER}/joint_trajectory", message)
        self.recorder.on_window(message, now)
        self.heard.append(now)
        stamp = message.header.stamp
        self.ages.append(1e-6 * (now - stamp.sec * SECOND - stamp.nanosec))

    def miss(self, lost):
        """Commands were sent that this process had no time to hear."""
        self.missed += lost.total_count_change
        self.recorder.miss(lost.total_count_change)

    def joint_state(self, message, now):
        """A joint state came."""
        self.sides.add(now, "in", "joint_states", message)
        self.recorder.on_joint_state(message, now)
        self.last_state = now
        by_name = dict(zip(message.name, message.position, strict=True))
        self.positions = np.array([by_name[name] for name in CHAIN.joint_names])

    def controller_state(self, message, now):
        """The controller told where it leads the arm."""
        self.sides.add(now, "in", f"{CONTROLLER}/controller_state", message)
        self.recorder.on_controller_state(message)

    def told(self, message, now):
        """The node told its status."""
        self.sides.add(now, "out", "basis_ik/status", message)
        before, self.status = self.status.get("state"), {p.key: p.value for p in message.values}
        self.status["message"] = message.message
        state = self.status.get("state")
        self.lost += state == "TRACKING_LOST" != before
        if state == "UNSAFE":
            self._end([f"the last check failed: {message.message}"])

    def check(self):
        """Judge all that was heard since; the first fault is written down, with both sides."""
        faults = self.recorder.check()
        if faults:
            self._end(faults)

    def _end(self, faults):
        if self.fault is None:
            self.fault = f"{faults[0]}; {self._path} has the last {KEPT:g} s of both sides"
            self.sides.write(self._path, [*self._head, *faults])


class User:
    """Does what is drawn, while `Watch` hears what comes of it."""

    def __init__(self, watch):
        self.watch, self.node = watch, rclpy.create_node("soak")
        self.driver = self.ik = None
        self.diagnostics, self.first_commands, self._carousel = {}, [], 0.0
        node = self.node
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = node.create_publisher(String, "robot_description", latched)
        self._description.publish(String(data=URDF))
        self._tf = TransformBroadcaster(node)
        self._publishers = {
            topic: node.create_publisher(kind, f"basis_ik/{topic}", 1)
            for kind, topic in (
                (PoseStamped, "target_pose"),
                (PointStamped, "target_point"),
                (TwistStamped, "twist"),
                (JointJog, "joint_jog"),
                (Float64, "speed_override"),
                (Feedback, "target/feedback"),
            )
        }
        self._services = {
            name: node.create_client(kind, f"basis_ik/{name}")
            for kind, name in ((Trigger, "stop"), (Trigger, "home"), (SetBool, "enable"))
        }
        deep = 1000
        window, state = JointTrajectory, JointTrajectoryControllerState
        for kind, topic, hear in (
            (window, f"{CONTROLLER}/joint_trajectory", watch.command),
            (state, f"{CONTROLLER}/controller_state", watch.controller_state),
            (JointState, "joint_states", watch.joint_state),
            (DiagnosticStatus, "basis_ik/status", watch.told),
        ):
            # Of the other topics a loss does not matter.
            lost = SubscriptionEventCallbacks(message_lost=watch.miss) if kind is window else None
            node.create_subscription(
                kind,
                topic,
                lambda m, hear=hear: hear(m, self.now()),
                deep,
                event_callbacks=lost,
            )
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        node.create_timer(0.02, self._turn_carousel)
        node.create_timer(CHECK_PERIOD, watch.check)  # in the thread that hears
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self):
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin()

    def close(self):
        """End all that runs; it may be called twice."""
        self._executor.shutdown()
        self._thread.join()
        if self.ik is not None and self.ik.process.poll() is None:
            self.ik.end()  # in order, for its recording
        if self.driver is not None and self.driver.process.poll() is None:
            self.driver.kill()

    def now(self):
        """Return the clock [ns]."""
        return self.node.get_clock().now().nanoseconds

    def _on_diagnostics(self, message):
        for status in message.status:
            self.diagnostics.update({pair.key: pair.value for pair in status.values})

    def _turn_carousel(self):
        self._carousel += 0.02 * 0.5
        turned = RigidTransform.from_rpy(0.0, 0.0, self._carousel, [0.0, 0.0, 0.0])
        stamp = self.node.get_clock().now().to_msg()
        self._tf.sendTransform(transform_message("base_link", "carousel", turned, stamp))

    # Waiting -----------------------------------------------------------------------------------

    def check(self):
        """Go on, or end."""
        if self.watch.fault is not None:
            raise Stop(self.watch.fault)
        if self.ik is not None and self.ik.process.poll() is not None:
            raise Stop(f"the node has ended: {self.ik.said()}")

    def pause(self, seconds):
        """Let time pass; end as soon as something is wrong."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.check()
            time.sleep(min(left, 0.05))
        self.check()

    def wait(self, condition, what, patience):
        """Wait until something is the case, which it must be."""
        end = time.monotonic() + patience
        while not condition():
            self.check()
            if time.monotonic() > end:
                raise Stop(f"never within {patience:g} s: {what}; status: {self.watch.status}")
            time.sleep(0.005)

    def ready(self, patience=RECOVERY):
        """Wait until the node takes targets; enable it where an arm was lost."""

        def takes_targets():
            state = self.watch.status.get("state")
            if state == "TRACKING_LOST":
                self.call("enable", data=True)
            return state in ("READY", "MOVING", "HOLDING", "ARRIVED", "BRAKING")

        self.wait(takes_targets, "the node takes targets", patience)

    def rests(self):
        """Wait until no command comes; tell whether that was soon."""
        end = time.monotonic() + REST
        while time.monotonic() < end:
            self.check()
            if self.now() - self.watch.last_command > QUIET * SECOND:
                return True
            time.sleep(0.005)
        return False

    # Saying ------------------------------------------------------------------------------------

    def call(self, name, **fields):
        """Call a service of the node."""
        client = self._services[name]
        self.wait(client.service_is_ready, f"a service {name}", RECOVERY)
        future = client.call_async(client.srv_type.Request(**fields))
        self.wait(future.done, f"an answer of {name}", RECOVERY)

    def say(self, topic, message):
        """Publish for the node; return when [ns]."""
        now = self.now()
        self.watch.sides.add(now, "in", f"basis_ik/{topic}", message)
        self._publishers[topic].publish(message)
        return now

    def pose(self, pose, frame="base_link", stamped=True):
        """Publish a target pose."""
        return self.say(
            "target_pose", self._stamp(PoseStamped(pose=pose_message(pose)), frame, stamped)
        )

    def _stamp(self, message, frame, stamped=True):
        message.header.frame_id = frame
        if stamped:
            message.header.stamp = self.node.get_clock().now().to_msg()
        return message

    def stream(self, seconds, tell):
        """Call something with the time since now, at the rate of streams."""
        start = time.monotonic()
        for number in range(round(seconds * RATE)):
            self.pause(max(start + number / RATE - time.monotonic(), 0.0))
            tell(number / RATE)

    def speed(self, fraction):
        """Set the speed override."""
        self.say("speed_override", Float64(data=fraction))

    def tip(self):
        """Return where the tip is measured."""
        return CHAIN.forward(self.watch.positions)

    # Deeds: each takes its seconds and numbers ----------------------------------------------------

    def do(self, deed):
        """Do what was drawn; before that, the node must take targets."""
        self.ready()
        getattr(self, f"do_{deed.kind}")(deed.seconds, deed.numbers)

    def do_probe(self, _, numbers):
        """A small step from rest, timed to the first command."""
        self.pose(self.tip())  # nothing is followed any more
        if not self.rests():
            return
        heard = self.watch.heard
        before, asked = len(heard), [self.pose(moved(self.tip(), 0.02 * numbers[:3]))]

        def answered():
            """Ask again where joint states that were late have kept it from being taken."""
            if len(heard) == before and self.now() > asked[-1] + SECOND:
                asked.append(self.pose(moved(self.tip(), 0.02 * numbers[:3])))
            return len(heard) > before

        self.wait(answered, "a command after a pose", RECOVERY)
        if len(asked) == 1:
            self.first_commands.append(1e-6 * (heard[before] - asked[0]))
        self.pause(0.2)

    def do_pose(self, seconds, numbers):
        """A pose anywhere about, left for the next before the arm is there, or not."""
        self.pose(somewhere(numbers))
        self.pause(seconds)

    def do_out_of_reach(self, seconds, numbers):
        """A pose that is too far away, at the rate of streams."""
        far = moved(CHAIN.forward(START), 2.0 * numbers[:3] / np.linalg.norm(numbers[:3]))
        self.stream(seconds, lambda _: self.pose(far))

    def do_stream(self, seconds, numbers):
        """Poses on a circle about somewhere."""
        centre, radius, pace = somewhere(0.5 * numbers), 0.03 + 0.05 * abs(numbers[6]), 2.0
        self.stream(
            seconds,
            lambda t: self.pose(
                moved(centre, radius * np.array([math.cos(pace * t), math.sin(pace * t), 0.0]))
            ),
        )

    def do_follow(self, seconds, numbers):
        """A pose in a frame that turns, told once."""
        target = RigidTransform.from_rpy(math.pi, 0.0, numbers[0], [0.4, 0.1 * numbers[1], 0.3])
        self.pose(target, "carousel", stamped=False)
        self.pause(seconds)

    def do_drag(self, seconds, numbers):
        """The handle, taken where the tip is and led along a line."""
        start = self.tip()

        def feed(event, t):
            place = moved(start, 0.15 * numbers[:3] * t)
            feedback = Feedback(
                client_id="soak", marker_name="target", control_name="move_x", event_type=event
            )
            feedback.pose = pose_message(place)
            self.say("target/feedback", self._stamp(feedback, "base_link"))

        feed(Feedback.MOUSE_DOWN, 0.0)
        self.stream(seconds, lambda t: feed(Feedback.POSE_UPDATE, t))
        feed(Feedback.MOUSE_UP, seconds)

    def do_twist(self, seconds, numbers):
        """A twist, about the base's axes or the tool's."""
        message = TwistStamped()
        v, w = message.twist.linear, message.twist.angular
        v.x, v.y, v.z = (float(0.25 * x) for x in numbers[:3])
        w.x, w.y, w.z = (float(0.6 * x) for x in numbers[3:6])
        frame = "base_link" if numbers[6] > 0.0 else CHAIN.tip
        self.stream(seconds, lambda _: self.say("twist", self._stamp(message, frame)))

    def do_joint_jog(self, seconds, numbers):
        """Velocities of some joints."""
        names = list(CHAIN.joint_names)
        some = [j for j in range(len(names)) if numbers[j] > -0.3]
        message = JointJog(
            joint_names=[names[j] for j in some], velocities=[float(numbers[j]) for j in some]
        )
        self.stream(seconds, lambda _: self.say("joint_jog", self._stamp(message, "")))

    def do_point(self, seconds, numbers):
        """A point to look at."""
        message = self._stamp(PointStamped(), "base_link")
        p = message.point
        p.x, p.y, p.z = (float(x) for x in [0.8, 0.0, 0.3] + 0.4 * numbers[:3])
        self.say("target_point", message)
        self.pause(seconds)

    def do_home(self, seconds, _):
        """Home."""
        self.call("home")
        self.pause(seconds)

    def do_stop(self, seconds, numbers):
        """A stop in mid-motion, a target that must not count, and enabled again."""
        self.pose(somewhere(numbers))
        self.pause(0.2 * seconds)
        self.call("stop")
        self.pose(somewhere(-numbers))
        self.pause(0.3 * seconds)
        self.call("enable", data=True)

    def do_override(self, seconds, numbers):
        """Slower in mid-motion, down to nothing, and back."""
        self.pose(somewhere(numbers))
        for fraction in (abs(numbers[6]), 0.0 if numbers[7] > 0.0 else 0.05, 1.0):
            self.pause(0.3 * seconds)
            self.speed(float(fraction))

    def do_malformed(self, seconds, numbers):
        """What is to be refused, in mid-motion."""
        self.pose(somewhere(numbers))
        bad = [PoseStamped(pose=pose_message(somewhere(numbers))) for _ in range(4)]
        bad[0].pose.position.x = math.nan
        bad[1].pose.orientation.w = 1e200
        for message, frame in zip(bad, ("base_link", "base_link", "nowhere", ""), strict=True):
            self.pause(0.1)
            self.say("target_pose", self._stamp(message, frame))
        self.pause(seconds)

    def do_driver(self, seconds, numbers):
        """The driver is killed in mid-motion; it comes back, here or where it began."""
        self.pose(somewhere(numbers))
        self.pause(0.3 * seconds)
        self.driver.kill()
        self.pause(seconds + (2.0 if numbers[6] > 0.0 else 0.0))
        # Another arm, as far as the states go: its first is no leap of the old one.
        leap = self._executor.create_task(self.watch.recorder.clock_leaps)
        self.wait(leap.done, "the recorder's answer", RECOVERY)
        at = START if numbers[7] > 0.3 else self.watch.positions
        self.driver = start_driver(np.clip(at, CHAIN.lower, CHAIN.upper))
        then = self.now()
        self.wait(lambda: self.watch.last_state > then, "a state of the new driver", PATIENCE)
        self.pause(1.0)  # it may be READY still, from before the driver had gone


def moved(pose, way):
    """Return a pose moved by a way (3,) [m] in the root frame."""
    return RigidTransform.from_rotation_translation(pose.rotation, pose.translation + way)


def somewhere(numbers):
    """Return the pose of a posture about the start, of numbers (>= 6,) in [-1, 1]."""
    return CHAIN.forward(START + numbers[:6] * [1.5, 0.6, 0.6, 1.0, 1.0, 2.0])


class Figures:
    """What is measured once a second."""

    def __init__(self, user):
        self._user, self.rows = user, []
        self.began, self.first = user.now(), len(user.watch.ages)
        self._then, self._used = self.began, user.ik.processor_time()
        self._waited = user.ik.waited()
        self._heard, self._missed = self.first, int(user.diagnostics["missed_periods"])

    @property
    def seconds(self):
        """How long it has been going [s]."""
        return (self._user.now() - self.began) / SECOND

    def take(self):
        """Take a row."""
        user, now, used = self._user, self._user.now(), self._user.ik.processor_time()
        ages, waited = user.watch.ages[self._heard :], user.ik.waited()
        self._heard += len(ages)
        self.rows.append(
            {
                "s": round((now - self.began) / SECOND, 3),
                "memory_mb": round(user.ik.memory(), 3),
                "processor": round((used - self._used) * SECOND / (now - self._then), 3),
                "waited_s": round(waited - self._waited, 4),
                "missed_periods": int(user.diagnostics["missed_periods"]) - self._missed,
                "turn_p99_ms": float(user.diagnostics["turn_ms_p99"]),
                "commands": len(ages),
                "command_age_p99_ms": round(float(np.quantile(ages, 0.99)), 3) if ages else None,
                "arm_late_ms": round(1e3 * user.watch.recorder.delay(now - SECOND), 3),
                "load": os.getloadavg()[0],
            }
        )
        self._then, self._used, self._waited = now, used, waited

    def line(self, minutes, kind):
        """Return a line that says how far it is, and how it goes."""
        row, done = self.rows[-1], int(self.seconds)
        return (
            f"  {done // 60}:{done % 60:02} of {minutes:g} min  {kind:12}  "
            f"{row['memory_mb']:.1f} MB  {100 * row['processor']:3.0f} % of a core  "
            f"{row['missed_periods']} periods missed  {self._heard - self.first} commands"
        )


def summary(rows, heard, ages, first_commands):
    """Return what the figures come to.

    Args:
        rows: Of `Figures`.
        heard: When each command came, since the beginning (k,) [s].
        ages: How old it was (k,) [ms].
        first_commands: How late the first command after each probe came [ms].
    """
    times = np.array([row["s"] for row in rows])
    memory = np.array([row["memory_mb"] for row in rows])
    end = times[-1]
    minute = min(60.0, 0.5 * end)
    slope, _ = np.polyfit(times[times > minute], memory[times > minute], 1)
    parts = {"first_minute": heard < minute, "last_minute": heard > end - minute}
    return {
        "memory_slope_mb_per_h": 3600.0 * float(slope),
        "memory_after_first_minute_mb": float(memory[times > minute][0]),
        "memory_at_end_mb": float(memory[-1]),
        "processor": float(np.mean([row["processor"] for row in rows])),
        "periods": round(end / PERIOD),
        "missed_periods": rows[-1]["missed_periods"],
        "commands": len(heard),
        "command_age_ms": {
            name: {
                "median": float(np.median(ages[part])),
                "p99": float(np.quantile(ages[part], 0.99)),
                "max": float(ages[part].max()),
            }
            for name, part in parts.items()
        },
        "first_command_after_ms": {
            "probes": len(first_commands),
            "median": float(np.median(first_commands)),
            "max": float(np.max(first_commands)),
        },
    }


def run(user, recording, options):
    """Start both programs, do what is drawn until the time is over, and tell.

    Args:
        user: Does it.
        recording: File that the node records to.
        options: Of the command line.

    Raises:
        Stop: Something is wrong.
    """
    watch = user.watch
    user.driver, user.ik = start_driver(START), start_node(recording)
    user.wait(lambda: watch.status, "a status", PATIENCE)
    user.ready(PATIENCE)
    user.wait(lambda: "missed_periods" in user.diagnostics, "a diagnosis", RECOVERY)
    figures, done, shown = Figures(user), collections.Counter(), 0.0
    user.node.create_timer(1.0, figures.take)
    for deed in deeds(options.seed):
        if figures.seconds > 60.0 * options.minutes:
            break
        user.do(deed)
        done[deed.kind] += 1
        if figures.seconds - shown > 5.0:
            shown = figures.seconds
            print(figures.line(options.minutes, deed.kind), flush=True)
    user.pause(1.0)  # the last is judged, too
    since = np.array(watch.heard[figures.first :])
    rows, answers = list(figures.rows), user.first_commands
    ages = np.array(watch.ages[figures.first : figures.first + len(since)])
    told = summary(rows, (since - figures.began) / SECOND, ages, answers)
    status, said = user.ik.end()
    if status != 0 or "Traceback" in said:
        raise Stop(f"the node ended with status {status}: {said[-4000:]}")
    print(json.dumps(told, indent=1))
    if options.json:
        refused = {k: int(v) for k, v in watch.status.items() if k.startswith("refused.")}
        head = {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "seed": options.seed,
            "minutes": options.minutes,
            "deeds": dict(sorted(done.items())),
            "tracking_lost": watch.lost,
            "commands_not_heard": watch.missed,
            **refused,
        }
        text = json.dumps({**head, **told, "rows": []}, indent=1).removesuffix("[]\n}")
        lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
        options.json.write_text(f"{text}[\n{lines}\n ]\n}}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1, help="what is done, and in which order")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument(
        "--fault",
        type=Path,
        default=Path("soak_fault.txt"),
        help="where to write both sides of a fault",
    )
    options = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = str(100 + os.getpid() % 100)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what it has started ends with it
    user = User(Watch(options.fault, [f"soak --seed {options.seed}"]))
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        recording = Path(folder) / "recording.mcap"
        try:
            run(user, recording, options)
        except Stop as reason:
            print(f"soak: {reason}", file=sys.stderr)
            user.close()
            kept = options.fault.with_suffix(recording.suffix)
            shutil.copy(recording, kept)
            print(f"soak: `ros2 run basis_ik replay {kept}` plays it back", file=sys.stderr)
            return 1
        finally:
            user.close()
            rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
