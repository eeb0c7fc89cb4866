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

"""A simulation that is slow, coarse, paused, reset, or not there, with use_sim_time."""

import contextlib
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.time import Time
from robot_bench import HOME, PERIOD, URDF, Robot, down, start_node, stop_node
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)


class Simulation(Robot):
    """A robot in a simulated world whose clock runs as it is told."""

    def __init__(self, domain):
        self.seconds, self.step, self.interval = 0.0, 0.0, 0.01
        self.times = []
        super().__init__(domain)
        simulated = SimpleNamespace(now=lambda: Time(nanoseconds=round(1e9 * self.seconds)))
        self.node.get_clock = lambda: simulated
        self._clock = self.node.create_publisher(Clock, "/clock", 10)
        self._running = True
        self._ticker = threading.Thread(target=self._tick)
        self._ticker.start()

    def run(self, factor=1.0, interval=0.01):
        """Let time go on at a multiple of real time, told every so many seconds."""
        self.interval, self.step = interval, factor * interval

    def pause(self):
        self.step = 0.0

    def _tick(self):
        while self._running:
            if self.step:
                self.seconds += self.step
                self._clock.publish(Clock(clock=self.node.get_clock().now().to_msg()))
            time.sleep(self.interval)

    def close(self):
        self._running = False
        self._ticker.join()
        super().close()

    def _obey(self, *command):
        self.times.append(self.seconds)
        super()._obey(*command)


@pytest.fixture
def world(domain):
    simulation = Simulation(domain)
    process = start_node(domain, "-p", "use_sim_time:=true")
    simulation.process = process
    simulation.description.publish(String(data=URDF))
    with contextlib.ExitStack() as end:
        end.callback(simulation.close)
        end.callback(lambda: print(stop_node(process)))  # shown with a failure
        yield simulation
    assert process.returncode == 0
    assert simulation.complaints == []


def ready(world):
    world.wait(lambda: any(s["state"] == "READY" for s in world.statuses), "the node is ready")


def moving(world):
    start = world.positions
    world.wait(lambda: np.abs(world.positions - start).max() > 0.3, "the arm moves")


def test_stamped_targets_are_accepted_after_a_reset(world):
    world.seconds = 100.0
    world.run()
    ready(world)
    world.go(NEAR)
    world.seconds = 2.0
    time.sleep(0.5)  # or the target overtakes the clock
    world.send("base_link", FAR)
    world.wait(lambda: world.at(FAR), "the arm is there")
    assert "refused.OUT_OF_ORDER" not in world.statuses[-1]


def test_the_arm_pauses_and_continues_with_the_simulation(world):
    world.run()
    ready(world)
    world.send("base_link", FAR)
    moving(world)
    world.pause()
    world.wait(world.quiet, "silence")
    here = world.commands[-1]
    world.wait(lambda: "stands still" in world.statuses[-1]["message"], "the status says why")
    assert world.statuses[-1]["state"] == "WAITING"
    assert world.quiet(1.0), "it takes longer than joint states may be old"
    assert not world.at(FAR, 1e-2)
    world.send("base_link", NEAR, stamp=None)
    assert world.quiet(0.5)
    assert world.commands[-1] is here
    world.run()
    world.wait(lambda: world.at(NEAR), "the arm is there")


def fastest(world, first):
    """Return the largest share of a joint's limit that the set-point used in simulated time."""
    commands = np.array(world.commands[first:])  # while others may come
    times = np.array(world.times[first:][: len(commands)])
    shares = [0.0]
    for k in range(len(times) - 1):
        ways = np.abs(commands[k + 1 :] - commands[k]).max(axis=1) / world.chain.velocity.max()
        # A command may be heard late, when simulated time has gone on; never too early.
        shares += (ways / (times[k + 1 :] - times[k] + 5 * PERIOD)).tolist()
    return max(shares)


def test_a_slow_simulation_keeps_the_limits_in_its_own_time(world):
    world.run(0.2)
    ready(world)
    first = len(world.commands)
    world.send("base_link", FAR)
    world.wait(lambda: world.at(FAR), "the arm is there")
    assert fastest(world, first) <= 1.0


def test_a_coarse_clock_makes_the_loop_run_several_periods(world):
    world.run(1.0, 0.05)
    ready(world)
    first = len(world.commands)
    world.send("base_link", FAR)
    world.wait(lambda: world.at(FAR), "the arm is there")
    assert len(world.times) - first > len(set(world.times[first:])), "commands for each time"
    assert fastest(world, first) <= 1.0


def test_joint_states_of_another_clock_are_refused(world):
    world.run()
    ready(world)
    real = world.states
    world.states = SimpleNamespace(publish=lambda state: real.publish(with_system_time(state)))
    world.wait_status(state="WAITING")
    assert world.statuses[-1]["last_refusal"].startswith("FUTURE: ")
    world.wait(lambda: "use_sim_time" in world.statuses[-1]["message"], "the cause is named")
    world.send("base_link", FAR, stamp=None)
    assert world.quiet(0.5)
    assert np.array_equal(world.positions, HOME)


def with_system_time(state):
    state.header.stamp = Time(nanoseconds=time.time_ns()).to_msg()
    return state
