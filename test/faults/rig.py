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

"""A node and a simulated arm, both processes of their own, and a recorder of both sides."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.time import Time
from recorder import SECOND, Recorder
from robot_bench import HOME, PERIOD, URDF, Robot, logged_too_often, start_node, stop_node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from basis_ik.ros.convert import transform_message

CONTROLLER = "joint_trajectory_controller"
# The drives are twice as fast as the commands may be, so that a jump is visible.
SPEED = 0.5
PATIENCE = 60.0  # s, for what must happen at all
RECOVERY = 0.5  # s until a good target is followed again
ATTEMPTS, STARVED = 5, 0.2  # s that processes wait where a machine has too little time for them
ASIDE = np.array([0.1, 0.05, -0.05, 0.0, 0.0, 0.1])  # rad, to a good target
REST = 1e-6  # rad between two looks
NODE = (
    "-p", f"max_velocity_scaling_factor:={SPEED}",
    "-p", "tracking_lag:=0.5",
    "-p", f"home:=[{', '.join(map(str, HOME))}]",
)  # fmt: skip


class Rig(Robot):
    """Publishes description, targets and tf, and records commands and states; moves no arm.

    Args:
        domain: Of ROS.
        node: More arguments of ik_node.
        arm: More arguments of the simulated arm.
        simulated_time: Whether the processes take their time from `clock`.
    """

    def __init__(self, domain, *, node=(), arm=(), simulated_time=False):
        self.domain = domain
        self.clock = SimulatedClock() if simulated_time else None
        self.track, self.process, self.arm, self._log_start = [], None, None, 0
        super().__init__(domain)
        self.publishing = False
        if simulated_time:
            self.node.get_clock = lambda: self.clock
            publisher = self.node.create_publisher(Clock, "/clock", 10)
            self.clock.start(publisher)
        words = ("-p", f"use_sim_time:={str(simulated_time).lower()}")
        self._node, self._arm = (*NODE, *words, *node), (*words, *arm)
        chain = self.chain
        self.recorder = Recorder(
            chain.joint_names,
            chain.lower,
            chain.upper,
            SPEED * chain.velocity,
            chain.velocity,
            PERIOD,
        )
        self.node.create_subscription(JointState, "joint_states", self._on_joint_state, 1000)
        self.node.create_subscription(
            JointTrajectoryControllerState,
            f"{CONTROLLER}/controller_state",
            self.recorder.on_controller_state,
            1000,
        )

    # Processes ---------------------------------------------------------------------------------

    def start(self):
        """Start both processes, and wait until the node takes targets."""
        if self.clock is not None:
            self.clock.run()
        self.start_arm()
        self.start_node()
        self.description.publish(String(data=URDF))
        self.ready()

    def start_node(self, *arguments):
        """Start ik_node with further arguments."""
        self.process, self._log_start = start_node(self.domain, *self._node, *arguments), 0

    def start_arm(self, *arguments, at=HOME):
        """Start the simulated arm, at joint positions."""
        words = ["-r", f"__node:={CONTROLLER}"]
        for name, position in zip(self.chain.joint_names, at, strict=True):
            words += ["-p", f"initial_positions.{name}:={float(position)}"]
        command = [sys.executable, "-m", "basis_ik.ros.programs", "simulated_arm", "--ros-args"]
        self.arm = subprocess.Popen(
            [*command, *words, *self._arm, *arguments],
            env={**os.environ, "ROS_DOMAIN_ID": str(self.domain)},
        )

    def kill_arm(self):
        """Kill the simulated arm."""
        self.arm.kill()
        self.arm.wait(PATIENCE)

    def ready(self):
        """Wait until the node takes targets."""
        self.wait(lambda: self.statuses and self.statuses[-1]["state"] == "READY", "it is ready")

    def close(self):
        """End all processes; return the node's exit status and output."""
        if self.arm is not None:
            self.arm.kill()
            self.arm.wait(PATIENCE)
        ended = None, ""
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            ended = stop_node(self.process)
        if self.clock is not None:
            self.clock.stop()
        super().close()
        return ended

    # Messages ----------------------------------------------------------------------------------

    def _publish_states(self):
        """Publish the moving frames; the simulated arm publishes its joints."""
        stamp = self.node.get_clock().now().to_msg()
        frames = list(self.frames.items())  # at once: the test's thread adds to them
        self.tf.sendTransform([transform_message("base_link", n, f(), stamp) for n, f in frames])

    def _on_trajectory(self, message):
        received = None if self.clock else self.node.get_clock().now().nanoseconds
        self.recorder.on_window(message, received)
        self.commands.append(message)

    def _lose(self, lost):
        self.recorder.miss(lost.total_count_change)

    def _on_joint_state(self, message):
        self.recorder.on_joint_state(message, self.node.get_clock().now().nanoseconds)
        by_name = dict(zip(message.name, message.position, strict=True))
        self.positions = np.array([by_name[name] for name in self.chain.joint_names])
        self.track.append(self.positions)

    @property
    def log(self):
        """The node's output so far."""
        return os.pread(self.process.output.fileno(), 1 << 24, 0).decode(errors="replace")

    # Doing -------------------------------------------------------------------------------------

    def wait(self, condition, what, patience=PATIENCE):
        """Wait until a condition holds; fail after a timeout, or if the node has ended."""

        def holds():
            assert self.process is None or self.process.poll() is None, f"it ended: {self.log}"
            return condition()

        super().wait(holds, what, patience)

    def moved(self, positions, way=0.1):
        """Wait until a joint is away from positions (n,)."""
        self.wait(lambda: np.abs(self.positions - positions).max() > way, "the arm moves")

    def rests(self):
        """Return whether the measured arm rests and no command is sent."""
        count, states, before = len(self.commands), len(self.track), self.positions
        self.wait(lambda: len(self.track) > states + 10, "joint states")
        return len(self.commands) == count and np.abs(self.positions - before).max() < REST

    def settled(self):
        """Wait until the arm rests and no command is sent."""
        self.wait(self.rests, "rest")

    def enable(self):
        """Enable targets again after a stop."""
        assert self.call(SetBool, "enable", data=True).success
        self.wait(lambda: self.statuses[-1]["state"] in ("READY", "HOLDING", "ARRIVED"), "enabled")

    def at_joints(self, positions, tolerance=1e-3):
        """Return whether the arm is measured at joint positions (n,)."""
        return np.abs(self.positions - positions).max() < tolerance

    def set_arm(self, name, value):
        """Set a parameter of the simulated arm, a number or a text."""
        wish = [Parameter(name, value=value).to_parameter_msg()]
        answer = self._ask_arm(SetParameters, "set_parameters", parameters=wish)
        assert answer.results[0].successful, answer

    def switch_arm(self, name, on):
        """Call `activate` or `emergency_stop` of the simulated arm."""
        assert self._ask_arm(SetBool, name, data=on).success

    def _ask_arm(self, kind, name, **fields):
        client = self.node.create_client(kind, f"{CONTROLLER}/{name}")
        try:
            assert client.wait_for_service(PATIENCE), f"the arm has no service {name}"
            time.sleep(0.2)  # or its first answer may come before it can be received
            future = client.call_async(kind.Request(**fields))
            self.wait(future.done, f"an answer about {name}")
            return future.result()
        finally:
            self.node.destroy_client(client)

    # Between rows ------------------------------------------------------------------------------

    def reset(self):
        """Bring the arm to rest at its home, enabled, and check the messages so far."""
        self.frames.clear()
        self.enable()
        assert self.call(Trigger, "home").success
        self.wait(lambda: self.at_joints(HOME), "the arm is at home")
        self.settled()
        faults = self.recorder.check()
        assert faults == [], faults[:5]
        self._log_start = len(self.log)

    def follows_again(self):
        """Send a good target: commands move within half a second, and the arm arrives.

        A late attempt is repeated if processes had to wait for the processor.
        """
        for _ in range(ATTEMPTS):
            self.settled()
            with waiting(self.process.pid, self.arm.pid) as waited:
                try:
                    self._follow()
                except AssertionError:
                    if waited() < STARVED:
                        raise
                else:
                    return
        raise AssertionError(f"it did not follow in any of {ATTEMPTS} attempts")

    def _follow(self):
        since, count = self.node.get_clock().now().nanoseconds, len(self.recorder.windows)
        target = self.chain.forward(self.positions + ASIDE)
        self.send(self.chain.root, target)
        self.wait(lambda: self.at(target, 1e-3), "a good target is reached", 10.0)
        windows = self.recorder.windows[count:]
        first = next(each for each in windows if np.ptp(each.states[0], axis=0).any())
        assert first.stamp - since <= RECOVERY * SECOND, "it took too long to follow"

    def check(self):
        """Check after every row that the arm follows again, and that all commands were safe."""
        self.follows_again()
        self.settled()
        assert self.recorder.windows, "commands were received"
        logged = self.log[self._log_start :]
        faults = self.recorder.check()
        assert faults == [], faults[:5]
        assert logged_too_often(logged) == []
        assert "Traceback" not in logged


@contextlib.contextmanager
def waiting(*processes):
    """Yield a function that returns how long processes have waited for the processor since [s].

    It is the sum over all threads: one that holds Python's lock and waits keeps the others waiting
    for it. They are read every few milliseconds, because threads that have ended cannot be read.

    Args:
        processes: Their numbers.
    """
    begin, newest, ended = waits(processes), {}, threading.Event()

    def look():
        while not ended.wait(0.005):
            newest.update(waits(processes))

    def waited():
        newest.update(waits(processes))
        return sum(newest[task] - begin.get(task, 0.0) for task in list(newest))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield waited
    finally:
        ended.set()
        thread.join()


def waits(processes):
    """Return how long each thread of processes has waited for the processor so far [s]."""
    found = {}
    for process in processes:
        for task in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(OSError):  # it has just ended
                found[task.name] = int((task / "schedstat").read_text().split()[1]) / SECOND
    return found


class SimulatedClock:
    """Time of a simulation, published at any rate.

    Attributes:
        seconds: The time; may be set.
        step: Increment with each message [s].
    """

    def __init__(self):
        self.seconds, self.step, self.interval = 100.0, 0.0, 0.005
        self._running = True

    def now(self):
        """Return the time, as a node's clock does."""
        return Time(nanoseconds=round(1e9 * self.seconds))

    def run(self, factor=1.0):
        """Run at a multiple of real time."""
        self.step = factor * self.interval

    def pause(self):
        """Pause; it is not published."""
        self.step = 0.0

    def start(self, publisher):
        """Publish it from now on."""
        self._publisher = publisher
        self._thread = threading.Thread(target=self._tick)
        self._thread.start()

    def stop(self):
        """End."""
        self._running = False
        self._thread.join()

    def _tick(self):
        while self._running:
            if self.step:
                self.seconds += self.step
                self._publisher.publish(Clock(clock=self.now().to_msg()))
            time.sleep(self.interval)


class SharedRig:
    """Keeps one rig for many rows, and replaces it after a failure.

    Args:
        domain: Of ROS.
    """

    def __init__(self, domain):
        self._domain, self._rig = domain, None

    @contextlib.contextmanager
    def use(self):
        """Yield a rig at rest at home; afterwards check that all commands were safe."""
        if self._rig is None:
            self._rig = Rig(self._domain)
            self._rig.start()
        rig, self._sound = self._rig, False
        try:
            rig.reset()
            try:
                yield rig
            finally:
                rig.check()
                self._sound = True
        finally:
            if not self._sound:
                self.close()

    def close(self):
        """End the rig."""
        if self._rig is not None:
            rig, self._rig = self._rig, None
            print(rig.close()[1])  # shown with a failure


@contextlib.contextmanager
def own_rig(domain, **arguments):
    """Yield a rig with its own arguments; afterwards check that all commands were safe."""
    rig = Rig(domain, **arguments)
    try:
        rig.start()
        rig.reset()
        yield rig
        rig.check()
    finally:
        status, logged = rig.close()
        print(logged)  # shown with a failure
    assert status == 0
