# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot in a simulation, whose time runs at any rate, pauses, and jumps."""

import contextlib

from bench import FRAMES, HOME, STATES, Arm, Robot
from builtin_interfaces.msg import Time
from rosgraph_msgs.msg import Clock
from world import MILLISECOND, SECOND, World


class Simulation(Robot):
    """A robot whose controller, drives and publishers live in a world of their own.

    That world passes in steps while the node's steady clock does, and after each step its time is
    published on /clock. The times of `arm.outputs` are its own, without `jumps`.

    Attributes:
        factor: Its rate: simulated by real time; 0: it is paused.
        step: Of simulated time [ns].
        jumps: By how much its clock has jumped [ns], and where it began.
    """

    def __init__(self, *words, lag=0.0, **how):
        self.simulated, self.factor, self.step = World(), 0.0, 2 * MILLISECOND
        self.jumps, self._left = 100 * SECOND, 0.0
        super().__init__("-p", "use_sim_time:=true", *words, lag=lag, **how)
        self.arm.on_state = None  # that one lives in real time
        self.clock = self.topic("/clock")
        self.arm = Arm(self.simulated, self.chain, how.get("home", HOME), self.now, lag=lag)
        self.arm.on_state = self._publish_controller_state
        self.simulated.every(STATES, super()._publish_states)
        self.simulated.every(FRAMES, super()._publish_frames)
        self.world.every(MILLISECOND, self._tick)

    def now(self):
        """Return the simulation's time [ns]."""
        return self.simulated.now + self.jumps

    def stamp(self):
        seconds, nanoseconds = divmod(self.now(), SECOND)
        return Time(sec=seconds, nanosec=nanoseconds)

    def _publish_states(self):
        """In real time: nothing."""

    _publish_frames = _publish_states

    def _tick(self):
        self._left += self.factor * MILLISECOND
        if self._left >= self.step:
            self._left -= self.step
            self.simulated.advance(self.simulated.now + self.step)
            self.clock.publish(Clock(clock=self.stamp()))


@contextlib.contextmanager
def simulating(*words, **how):
    """Yield a robot in a simulation that runs, whose node is ready; see `bench.running`."""
    robot = Simulation(*words, **how)
    try:
        robot.factor = 1.0
        robot.wait_status(state="READY")
        yield robot
    finally:
        robot.end()
