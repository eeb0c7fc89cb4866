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

"""What the rows with processes have in common: motions, and what is looked at meanwhile."""

import contextlib
import time
from pathlib import Path

import numpy as np
from recorder import SECOND
from robot_bench import PERIOD, down
from sensor_msgs.msg import JointState
from world import ATTEMPTS, SPEED, World

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
TOP_SPEED = SPEED * np.pi  # rad/s, of the commands
# What it brakes in: the largest speed in 0.25 s, and the jerk's 0.05 s; half as much again, for
# cycles of the arm that were late.
BRAKING_TIME = 1.5 * (0.25 * SPEED + 0.05)  # s
BRAKING_WAY = 0.75 * TOP_SPEED * (0.25 * SPEED + 0.05)  # rad
CYCLE = 0.008  # s between two joint states of the arm, by their stamps


@contextlib.contextmanager
def unstarted(domain, world=World, **arguments):
    """Give a world whose processes the test starts; afterwards all of it must have been safe."""
    world = world(domain, **arguments)
    try:
        yield world
        world.judged()
    finally:
        status, said = world.close()
        print(said)  # shown with a failure
    assert status == 0


def set_off(world, way=0.4, height=0.4):
    """Send the arm to `FAR`, or where the node takes it for that, and wait until it is well off."""
    start, world.set_off = world.positions, len(world.track)
    world.send("base_link", down(-0.40, -0.30, height))
    world.moved(start, way)


def has_braked(world):
    """Wait until the arm rests; return in how many radians it braked since it set off, at most.

    By its own joint states, which are a cycle apart whenever they are heard: from where it was
    last at nine tenths of the largest speed. It did not get to where it had been sent.
    """
    world.settled()
    assert not world.at(FAR, 1e-2), "it went on to the end"
    track = np.array(world.track[world.set_off :])
    speeds = np.abs(np.diff(track, axis=0)).max(axis=1) / CYCLE
    (fast,), (moving,) = np.nonzero(speeds >= 0.9 * TOP_SPEED), np.nonzero(speeds > 1e-3)
    assert len(fast), "it was at full speed"
    way = np.abs(track[-1] - track[fast[-1]]).max()
    assert way <= BRAKING_WAY
    assert (moving[-1] - fast[-1]) * CYCLE <= BRAKING_TIME
    return way


def stands(world, seconds=0.5):
    """Tell whether nothing is commanded and nothing moves for a while."""
    before = world.positions
    return world.quiet(seconds) and np.abs(world.positions - before).max() < 1e-3


def in_every_period(world, attempt):
    """Hold that a window begins in each period from the first that is heard to the last.

    Where the node has had to wait for the processor for as long, periods that were missed
    tell nothing of the node: then once more, some times.

    Args:
        world: Its windows are looked at.
        attempt: Does what is tried while the arm is in motion; returns the windows meant, and how
            long the node has waited for the processor meanwhile [s].

    Returns:
        How many windows there were.
    """
    for _ in range(ATTEMPTS):
        windows, wait = attempt()
        gaps = np.diff([window.stamp for window in windows]) / SECOND / PERIOD
        missed = (np.rint(gaps) - 1.0).clip(0.0).sum()
        if missed == 0.0:
            break
        assert PERIOD * (missed - 0.5) < wait, f"{missed:.0f} periods missed, waited {wait:.3f} s"
        world.settled()
    return len(windows)


class Teller:
    """Tells the node where the arm is, or something else.

    Attributes:
        bend: Returns what is told in place of a joint state.
    """

    def __init__(self, world):
        self.bend = lambda state: state
        self._publisher = world.node.create_publisher(JointState, "told/joint_states", 10)
        world.node.create_subscription(JointState, "joint_states", self._tell, 100)

    def _tell(self, state):
        self._publisher.publish(self.bend(state))


@contextlib.contextmanager
def told_by(domain):
    """Give a world, and the `Teller` from which its node has the joint states."""
    with unstarted(domain, node=("-r", "joint_states:=told/joint_states")) as world:
        teller = Teller(world)
        world.start()
        world.reset()
        yield world, teller


def leap(world, seconds):
    """Let the simulation's clock jump, between two messages of it; return the windows before."""
    world.clock.pause()
    time.sleep(0.2)  # or states of before would be taken for states of afterwards
    world.recorder.clock_leaps(ahead=seconds > 0.0)
    before = len(world.recorder.windows)
    world.clock.seconds += seconds
    world.clock.run()
    return before


def memory(process):
    """Return the resident memory [MB]."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1e3
    raise AssertionError("no VmRSS")
