# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A node and a simulated arm, both processes of their own, and a recorder of both sides."""

import contextlib
import os
import signal
import time

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from recorder import Recorder
from robot_bench import (
    CONTROLLER,
    HOME,
    PATIENCE,
    PERIOD,
    URDF,
    Robot,
    logged_too_often,
    start_arm,
    start_node,
    stop_node,
)
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

# The drives are twice as fast as the commands may be, so that a jump is visible.
SPEED = 0.5
ASIDE = np.array([0.1, 0.05, -0.05, 0.0, 0.0, 0.1])  # rad, to a good target
REST = 1e-6  # rad between two looks
NODE = (
    "-p", f"max_velocity_scaling_factor:={SPEED}",
    "-p", "max_acceleration_scaling_factor:=1.0",
    "-p", "tracking_lag:=0.5",
    "-p", f"home:=[{', '.join(map(str, HOME))}]",
)  # fmt: skip


class Rig(Robot):
    """Publishes description and targets, and records commands and states; moves no arm.

    Args:
        domain: Of ROS.
        node: More arguments of ik_node.
    """

    def __init__(self, domain, *, node=()):
        self.domain = domain
        self.track, self.process, self.arm, self._log_start = [], None, None, 0
        super().__init__(domain)
        self._node = (*NODE, *node)
        chain = self.chain
        self.recorder = Recorder(
            chain.joint_names,
            chain.lower,
            chain.upper,
            SPEED * chain.velocity,
            chain.velocity,
            PERIOD,
        )
        self.node.create_subscription(
            JointTrajectoryControllerState,
            f"{CONTROLLER}/controller_state",
            self.recorder.on_controller_state,
            1000,
        )

    # Processes ---------------------------------------------------------------------------------

    def start(self):
        """Start both processes, and wait until the node takes targets."""
        self.start_arm()
        self.start_node()
        self.description.publish(String(data=URDF))
        self.ready()

    def start_node(self, *arguments):
        """Start ik_node with further arguments."""
        self.process, self._log_start = start_node(self.domain, *self._node, *arguments), 0

    def start_arm(self, at=HOME):
        """Start the simulated arm, at joint positions."""
        self.arm = start_arm(self.domain, self.chain, at)

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
        super().close()
        return ended

    # Messages ----------------------------------------------------------------------------------

    def _on_trajectory(self, message):
        self.recorder.on_window(message, self.node.get_clock().now().nanoseconds)
        super()._on_trajectory(message)

    def _lose(self, lost):
        self.recorder.miss(lost.total_count_change)

    def _on_joint_state(self, message):
        self.recorder.on_joint_state(message, self.node.get_clock().now().nanoseconds)
        super()._on_joint_state(message)
        self.track.append(self.positions)

    @property
    def log(self):
        """The node's output so far."""
        return os.pread(self.process.output.fileno(), 1 << 24, 0).decode(errors="replace")

    # Doing -------------------------------------------------------------------------------------

    def wait(self, condition, what):
        """Wait until a condition holds; fail if the node has ended."""

        def holds():
            assert self.process is None or self.process.poll() is None, f"it ended: {self.log}"
            return condition()

        super().wait(holds, what)

    def is_silent(self, seconds):
        """Return whether no command arrives for a while."""
        count = len(self.commands)
        time.sleep(seconds)
        return len(self.commands) == count

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

    # Between rows ------------------------------------------------------------------------------

    def reset(self):
        """Bring the arm to rest at its home, enabled, and check the messages so far."""
        self.enable()
        assert self.call(Trigger, "home").success
        self.wait(lambda: self.at_joints(HOME), "the arm is at home")
        self.settled()
        faults = self.recorder.check()
        assert faults == [], faults[:5]
        self._log_start = len(self.log)

    def follows_again(self):
        """Send a good target, and wait until the arm arrives."""
        self.settled()
        target = self.chain.forward(self.positions + ASIDE)
        self.send(self.chain.root, target)
        self.wait(lambda: self.at(target, 1e-3), "a good target is reached")

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
