# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node over DDS, beside a bare rclpy node that receives the pose and publishes a trajectory.

Runs in the ROS environment: real processes, the two nodes in turn in one run. Latency is from the
publication of a target, the arm at rest, to the first command that it causes: to its bytes, for
the time that Python takes to unpack them goes by the points of a trajectory.
"""

import argparse
import json
import math
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

HERE = Path(__file__).parent
URDF = (HERE.parent / "urdf" / "ur5e.urdf").read_text()
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
JOINT_STATE_RATE = 125.0
START_PATIENCE = 180.0  # s; kernels may have to be compiled first
QUIET = 0.05  # s without a command: the arm is at rest
TICKS = os.sysconf("SC_CLK_TCK")


class Client:
    """Plays the robot and the user: joint states out as commanded, targets out, commands in."""

    def __init__(self):
        self.node = rclpy.create_node("bench_latency")
        self.chain = RobotModel.from_urdf(URDF).chain()
        self.home = self.chain.forward(HOME)
        self.positions = HOME.copy()
        self.heard = {"echo": [], "basis_ik": []}  # monotonic times [ns]
        self.diagnostics = {}
        self.targets = {
            name: self.node.create_publisher(PoseStamped, f"{name}/target_pose", 1)
            for name in self.heard
        }
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.description = self.node.create_publisher(String, "robot_description", latched)
        self.description.publish(String(data=URDF))
        self.states = self.node.create_publisher(JointState, "joint_states", 10)
        self.state = JointState(name=list(self.chain.joint_names))
        for name, topic in (("echo", "echo"), ("basis_ik", "joint_trajectory_controller")):
            self.node.create_subscription(
                JointTrajectory,
                f"{topic}/joint_trajectory",
                lambda data, name=name: self._on_command(name, data),
                100,
                raw=True,
            )
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.next_state = 0.0

    def _on_command(self, name, data):
        self.heard[name].append(time.monotonic_ns())
        if name == "basis_ik":
            message = deserialize_message(data, JointTrajectory)
            self.positions = np.array(message.points[1].positions)  # of what is settled

    def _on_diagnostics(self, message):
        for status in message.status:
            for pair in status.values:
                self.diagnostics[pair.key] = pair.value

    def spin(self, seconds):
        """Handle messages and publish joint states for a while, once at least."""
        now = time.monotonic()
        end = now + seconds
        while True:
            if now >= self.next_state:
                self.next_state = max(self.next_state + 1.0 / JOINT_STATE_RATE, now)
                self.state.header.stamp = self.node.get_clock().now().to_msg()
                self.state.position = self.positions.tolist()
                self.states.publish(self.state)
            wait = min(end, self.next_state) - time.monotonic()
            self.executor.spin_once(timeout_sec=max(wait, 0.0))
            now = time.monotonic()
            if now >= end:
                return

    def until(self, condition, patience=START_PATIENCE):
        """Spin until something is the case; end the benchmark if it never is."""
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                raise SystemExit("the node under test does not answer")
            self.spin(0.02)

    def meet(self, name):
        """Wait until a node takes targets; ours may have kernels to compile first."""
        self.diagnostics.clear()
        self.until(lambda: self.targets[name].get_subscription_count() > 0)
        if name == "basis_ik":
            self.until(lambda: "missed_periods" in self.diagnostics)
        self.spin(1.0)

    def missed_periods(self):
        """Return how many periods the node under test says it has missed, as of now."""
        self.diagnostics.clear()
        self.until(lambda: "missed_periods" in self.diagnostics, 10.0)
        return int(self.diagnostics["missed_periods"])

    def pose(self, phase):
        """Return a target message on a circle of 2 cm about the home pose."""
        angle = 2.0 * math.pi * phase
        offset = [0.0, 0.02 * math.sin(angle), 0.02 * (math.cos(angle) - 1.0)]
        target = RigidTransform.from_rotation_translation(
            self.home.rotation, self.home.translation + offset
        )
        message = PoseStamped(pose=pose_message(target))
        message.header.frame_id = self.chain.root
        return message

    def first_answer(self, name, message):
        """Send a target to a resting node; return the time to its first command [ms]."""
        heard = self.heard[name]
        self.until(lambda: not heard or time.monotonic_ns() - heard[-1] > QUIET * 1e9, 10.0)
        before = len(heard)
        message.header.stamp = self.node.get_clock().now().to_msg()
        start = time.monotonic_ns()
        self.targets[name].publish(message)
        self.until(lambda: len(heard) > before)
        return 1e-6 * (heard[before] - start)

    def stream(self, name, rate, seconds):
        """Send targets at a rate for a while; return how many."""
        start, sent = time.monotonic(), 0
        while (now := time.monotonic()) - start < seconds:
            due = int((now - start) * rate) + 1
            if sent < due:
                message = self.pose(0.1 * (now - start))
                message.header.stamp = self.node.get_clock().now().to_msg()
                self.targets[name].publish(message)
                sent += 1
            self.spin(min(max(start + sent / rate - time.monotonic(), 0.0), 0.01))
        return sent


@contextmanager
def running(*command):
    """Run a Python program, on one core alone."""
    core = max(os.sched_getaffinity(0))
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


def ik_node(rate=100.0, record=None):
    return running(
        *("-m", "basis_ik.programs", "ik_node", "--ros-args"),
        *("-p", f"update_rate:={rate}"),
        *(["-p", f"record:={record}"] if record else []),
    )


def cpu_time(process):
    """Return what a process has used so far [s]."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(process):
    """Return the resident memory of a process [MB]."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure_latency(client, rounds):
    """Both nodes in turn, one target each."""
    times = {name: [] for name in client.heard}
    with running(str(HERE / "echo_node.py")), ik_node():
        for name in times:
            client.meet(name)
        for name in times:
            for number in range(20):
                client.first_answer(name, client.pose(0.05 * number))
        for number in range(rounds):
            for name, taken in times.items():
                taken.append(client.first_answer(name, client.pose(0.01 * number)))
            if number % 50 == 49:
                print(f"  {number + 1} of {rounds} rounds", flush=True)
    figures = {}
    for name, taken in times.items():
        median, p99 = np.quantile(taken, (0.5, 0.99))
        figures[name] = {"median_ms": median, "p99_ms": p99}
    ours, bare = figures["basis_ik"], figures["echo"]
    for name, row in figures.items():
        print(f"  {name:10} median {row['median_ms']:.3f} ms   p99 {row['p99_ms']:.3f} ms")
    ratios = {key: ours[key] / bare[key] for key in ours}
    print(f"  ratio      median {ratios['median_ms']:.2f}      p99 {ratios['p99_ms']:.2f}")
    return {"rounds": rounds, **figures, "ratio": ratios}


def measure_load(client, rate, seconds):
    """CPU share of each node at a rate of targets; ours also runs its control loop at it."""
    row = {"rate": rate}
    for name, node in (("echo", running(str(HERE / "echo_node.py"))), ("basis_ik", ik_node(rate))):
        with node as process:
            client.meet(name)
            client.stream(name, rate, 2.0)
            client.heard[name].clear()
            missed = client.missed_periods() if name == "basis_ik" else 0
            before, start = cpu_time(process), time.monotonic()
            client.stream(name, rate, seconds)
            elapsed = time.monotonic() - start
            row[f"{name}_cpu"] = (cpu_time(process) - before) / elapsed
            row[f"{name}_answers_per_s"] = len(client.heard[name]) / elapsed
            if name == "basis_ik":
                missed = client.missed_periods() - missed
                row["missed_periods"] = missed / ((time.monotonic() - start) * rate)
    print(
        f"  {rate:5.0f} Hz  CPU of basis_ik {100 * row['basis_ik_cpu']:5.1f} %, of echo "
        f"{100 * row['echo_cpu']:5.1f} %; commands {row['basis_ik_answers_per_s']:.0f}/s; "
        f"missed periods {100 * row['missed_periods']:.2f} %",
        flush=True,
    )
    return row


def measure_recording(client, turns, rounds, seconds):
    """The node without and with a recording of all that it hears and sends, in turn."""
    figures = {name: {"latency": [], "cpu": [], "missed": 0} for name in ("without", "with")}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(turns):
            for name, figure in figures.items():
                with ik_node(record=folder if name == "with" else None) as process:
                    client.meet("basis_ik")
                    for number in range(20 + rounds):
                        taken = client.first_answer("basis_ik", client.pose(0.05 * number))
                        if number >= 20:
                            figure["latency"].append(taken)
                    client.stream("basis_ik", 100.0, 2.0)
                    missed = client.missed_periods()
                    before, start = cpu_time(process), time.monotonic()
                    client.stream("basis_ik", 100.0, seconds)
                    figure["cpu"].append((cpu_time(process) - before) / (time.monotonic() - start))
                    figure["missed"] += client.missed_periods() - missed
        sizes = [file.stat().st_size for file in Path(folder).iterdir()]
    rows = {}
    for name, figure in figures.items():
        median, p99 = np.quantile(figure["latency"], (0.5, 0.99))
        rows[name] = {
            "median_ms": median,
            "p99_ms": p99,
            "cpu": float(np.median(figure["cpu"])),
            "missed_periods": figure["missed"] / (turns * seconds * 100.0),
        }
        print(
            f"  {name:7}  median {median:.3f} ms   p99 {p99:.3f} ms; targets at 100 Hz: CPU "
            f"{100 * rows[name]['cpu']:.1f} %, missed periods "
            f"{100 * rows[name]['missed_periods']:.2f} %",
            flush=True,
        )
    rows["megabytes"] = 1e-6 * float(np.mean(sizes))
    print(f"  a recording of such a run has {rows['megabytes']:.2f} MB")
    return {"turns": turns, "rounds": rounds, "seconds": seconds, **rows}


def measure_rate(client, rates, seconds):
    """Targets as fast as the bench can send them: what arrives at each node."""
    rows = []
    for rate in rates:
        row = {"rate": rate}
        with running(str(HERE / "echo_node.py")):
            client.meet("echo")
            client.heard["echo"].clear()
            sent = client.stream("echo", rate, seconds)
            client.spin(0.5)
            row["sent_per_s"] = sent / seconds
            row["echo_answered"] = len(client.heard["echo"]) / sent
        with ik_node() as process:
            client.meet("basis_ik")
            client.stream("basis_ik", rate, 2.0)
            client.diagnostics.clear()
            before = cpu_time(process)
            client.stream("basis_ik", rate, seconds)
            row["basis_ik_cpu"] = (cpu_time(process) - before) / seconds
            heard = float(client.diagnostics.get("target_rate", "nan"))
            row["basis_ik_heard"] = heard * seconds / sent
        rows.append(row)
        print(
            f"  {row['sent_per_s']:6.0f} targets/s sent: "
            f"echo answered {100 * row['echo_answered']:.1f} %, "
            f"basis_ik heard {100 * row['basis_ik_heard']:.1f} % "
            f"at {100 * row['basis_ik_cpu']:.0f} % of one core",
            flush=True,
        )
    return rows


def measure_memory(client, messages, rate):
    """Resident memory before and after as many targets, sent faster than in real life."""
    with ik_node() as process:
        client.meet("basis_ik")
        client.stream("basis_ik", rate, 10.0)
        before, sent = resident(process), 0
        while sent < messages:
            sent += client.stream("basis_ik", rate, 10.0)
            print(f"  {sent} of {messages} targets: {resident(process):.1f} MB", flush=True)
        after = resident(process)
    print(f"  {before:.1f} MB before, {after:.1f} MB after {sent} targets")
    return {"targets": sent, "before_mb": before, "after_mb": after}


MEMORY_STAGES = {
    "Python, rclpy, a node, messages": "import rclpy, numpy, tf2_ros, control_msgs.msg,"
    " moveit_msgs.srv, visualization_msgs.msg; rclpy.init(); node = rclpy.create_node('stages')",
    "the compiler: numba, and LLVM's library": "import numba;"
    " numba.njit('f8(f8)')(lambda x: x + 1.0)",
    "the package": "import basis_ik.ros.ik_node",
    "its kernels": "import basis_ik.warm_up as w; [step.run() for step in w.node_steps()]",
}


def measure_memory_stages():
    """Resident memory that a process comes to when it loads what the node loads, one by one."""
    report = "print(open('/proc/self/statm').read().split()[1], flush=True)"
    code = "\n".join(f"{stage}\n{report}" for stage in MEMORY_STAGES.values())
    lines = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    sizes = [int(line) * os.sysconf("SC_PAGE_SIZE") / 1e6 for line in lines]
    for name, size in zip(MEMORY_STAGES, sizes, strict=True):
        print(f"  {size:6.1f} MB with {name}", flush=True)
    return dict(zip(MEMORY_STAGES, sizes, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = str(100 + os.getpid() % 100)
    rclpy.init()
    client = Client()
    rounds, seconds = (50, 3.0) if options.quick else (500, 10.0)
    print("latency, target to first command, the arm at rest", flush=True)
    figures = {"machine": f"{platform.machine()}, {os.cpu_count()} cores"}
    figures["latency"] = measure_latency(client, rounds)
    print("load, targets and control loop at the same rate", flush=True)
    figures["load"] = [measure_load(client, rate, seconds) for rate in (100.0, 250.0, 500.0)]
    print("recording", flush=True)
    turns = 2 if options.quick else 5
    figures["recording"] = measure_recording(client, turns, rounds // 5, seconds)
    print("rate of targets", flush=True)
    figures["rate"] = measure_rate(client, (500.0, 1000.0, 2000.0), seconds)
    print("memory, an hour of targets at 100 Hz", flush=True)
    figures["memory"] = measure_memory(client, 2000 if options.quick else 360_000, 2000.0)
    print("memory, what it goes into", flush=True)
    figures["memory_stages_mb"] = measure_memory_stages()
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
