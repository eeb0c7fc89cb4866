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

"""Helpers of the rows with processes: motions and checks."""

import contextlib
import time
from pathlib import Path

import numpy as np
from recorder import SECOND
from rig import ATTEMPTS, SPEED, Rig
from robot_bench import PERIOD, down
from sensor_msgs.msg import JointState

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
TOP_SPEED = SPEED * np.pi  # rad/s, of the commands
# What it brakes in: the largest speed in 0.25 s, and the jerk's 0.05 s; half as much again, for
# cycles of the arm that were late.
BRAKING_TIME = 1.5 * (0.25 * SPEED + 0.05)  # s
BRAKING_WAY = 0.75 * TOP_SPEED * (0.25 * SPEED + 0.05)  # rad
CYCLE = 0.008  # s between two joint states of the arm, by their stamps


@contextlib.contextmanager
def unstarted(domain, rig=Rig, **arguments):
    """Yield a rig whose processes the test starts; afterwards check that all commands were safe."""
    rig = rig(domain, **arguments)
    try:
        yield rig
        rig.check()
    finally:
        status, logged = rig.close()
        print(logged)  # shown with a failure
    assert status == 0


def set_off(rig, way=0.4, height=0.4):
    """Send the arm towards `FAR`, and wait until it moves."""
    start, rig.set_off = rig.positions, len(rig.track)
    rig.send("base_link", down(-0.40, -0.30, height))
    rig.moved(start, way)


def has_braked(rig):
    """Wait until the arm rests; return its braking distance [rad].

    It is measured from the last of its own joint states with nine tenths of the largest speed. The
    arm must not have reached its target.
    """
    rig.settled()
    assert not rig.at(FAR, 1e-2), "it went on to the end"
    track = np.array(rig.track[rig.set_off :])
    speeds = np.abs(np.diff(track, axis=0)).max(axis=1) / CYCLE
    (fast,), (moving,) = np.nonzero(speeds >= 0.9 * TOP_SPEED), np.nonzero(speeds > 1e-3)
    assert len(fast), "it was at full speed"
    way = np.abs(track[-1] - track[fast[-1]]).max()
    assert way <= BRAKING_WAY
    assert (moving[-1] - fast[-1]) * CYCLE <= BRAKING_TIME
    return way


def stands(rig, seconds=0.5):
    """Return whether no command is sent and nothing moves for a while."""
    before = rig.positions
    return rig.no_commands(seconds) and np.abs(rig.positions - before).max() < 1e-3


def in_every_period(rig, attempt):
    """Check that a window begins in each period from the first to the last.

    An attempt is repeated if the node had to wait for the processor as long as periods are missed.

    Args:
        rig: The rig.
        attempt: Acts while the arm is in motion; returns the windows, and how long the node has
            waited for the processor [s].

    Returns:
        The number of windows.
    """
    for _ in range(ATTEMPTS):
        windows, wait = attempt()
        gaps = np.diff([window.stamp for window in windows]) / SECOND / PERIOD
        missed = (np.rint(gaps) - 1.0).clip(0.0).sum()
        if missed == 0.0:
            break
        assert PERIOD * (missed - 0.5) < wait, f"{missed:.0f} periods missed, waited {wait:.3f} s"
        rig.settled()
    return len(windows)


class StateRelay:
    """Forwards joint states to the node, changed or not.

    Attributes:
        change: Returns the message to forward for a joint state.
    """

    def __init__(self, rig):
        self.change = lambda state: state
        self._publisher = rig.node.create_publisher(JointState, "relayed/joint_states", 10)
        rig.node.create_subscription(JointState, "joint_states", self._publish_states, 100)

    def _publish_states(self, state):
        self._publisher.publish(self.change(state))


@contextlib.contextmanager
def with_state_relay(domain):
    """Yield a rig, and the relay that forwards the joint states to its node."""
    with unstarted(domain, node=("-r", "joint_states:=relayed/joint_states")) as rig:
        state_relay = StateRelay(rig)
        rig.start()
        rig.reset()
        yield rig, state_relay


def leap(rig, seconds):
    """Let the simulation's clock jump, between two messages of it; return the windows before."""
    rig.clock.pause()
    time.sleep(0.2)  # so that no older state arrives after the jump
    rig.recorder.clock_leaps(ahead=seconds > 0.0)
    before = len(rig.recorder.windows)
    rig.clock.seconds += seconds
    rig.clock.run()
    return before


def memory(process):
    """Return the resident memory [MB]."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1e3
    raise AssertionError("no VmRSS")
