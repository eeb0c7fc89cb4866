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

"""A slow, coarse, paused, reset or missing simulation, with use_sim_time."""

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
    """A robot in a simulation with an adjustable clock."""

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
        """Run at a multiple of real time, with a period of /clock [s]."""
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

    def _record_command(self, *command):
        self.times.append(self.seconds)
        super()._record_command(*command)


@pytest.fixture
def rig(domain):
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


def ready(rig):
    rig.wait(lambda: any(s["state"] == "READY" for s in rig.statuses), "the node is ready")


def moving(rig):
    start = rig.positions
    rig.wait(lambda: np.abs(rig.positions - start).max() > 0.3, "the arm moves")


def test_stamped_targets_are_accepted_after_a_reset(rig):
    rig.seconds = 100.0
    rig.run()
    ready(rig)
    rig.go(NEAR)
    rig.seconds = 2.0
    time.sleep(0.5)  # or the target overtakes the clock
    rig.send("base_link", FAR)
    rig.wait(lambda: rig.at(FAR), "the arm is there")
    assert "refused.OUT_OF_ORDER" not in rig.statuses[-1]


def test_the_arm_pauses_and_continues_with_the_simulation(rig):
    rig.run()
    ready(rig)
    rig.send("base_link", FAR)
    moving(rig)
    rig.pause()
    rig.wait(rig.no_commands, "silence")
    here = rig.commands[-1]
    rig.wait(lambda: "stands still" in rig.statuses[-1]["message"], "the status says why")
    assert rig.statuses[-1]["state"] == "WAITING"
    assert rig.no_commands(1.0), "it takes longer than joint states may be old"
    assert not rig.at(FAR, 1e-2)
    rig.send("base_link", NEAR, stamp=None)
    assert rig.no_commands(0.5)
    assert rig.commands[-1] is here
    rig.run()
    rig.wait(lambda: rig.at(NEAR), "the arm is there")


def fastest(rig, first):
    """Return the largest share of a joint's limit that the set-point used in simulated time."""
    commands = np.array(rig.commands[first:])  # while others may come
    times = np.array(rig.times[first:][: len(commands)])
    shares = [0.0]
    for k in range(len(times) - 1):
        ways = np.abs(commands[k + 1 :] - commands[k]).max(axis=1) / rig.chain.velocity.max()
        # A command may arrive late in simulated time, but never too early.
        shares += (ways / (times[k + 1 :] - times[k] + 5 * PERIOD)).tolist()
    return max(shares)


def test_a_slow_simulation_keeps_the_limits_in_its_own_time(rig):
    rig.run(0.2)
    ready(rig)
    first = len(rig.commands)
    rig.send("base_link", FAR)
    rig.wait(lambda: rig.at(FAR), "the arm is there")
    assert fastest(rig, first) <= 1.0


def test_a_coarse_clock_makes_the_loop_run_several_periods(rig):
    rig.run(1.0, 0.05)
    ready(rig)
    first = len(rig.commands)
    rig.send("base_link", FAR)
    rig.wait(lambda: rig.at(FAR), "the arm is there")
    assert len(rig.times) - first > len(set(rig.times[first:])), "commands for each time"
    assert fastest(rig, first) <= 1.0


def test_joint_states_of_another_clock_are_refused(rig):
    rig.run()
    ready(rig)
    real = rig.states
    rig.states = SimpleNamespace(publish=lambda state: real.publish(with_system_time(state)))
    rig.wait_status(state="WAITING")
    assert rig.statuses[-1]["last_refusal"].startswith("FUTURE: ")
    rig.wait(lambda: "use_sim_time" in rig.statuses[-1]["message"], "the cause is named")
    rig.send("base_link", FAR, stamp=None)
    assert rig.no_commands(0.5)
    assert np.array_equal(rig.positions, HOME)


def with_system_time(state):
    state.header.stamp = Time(nanoseconds=time.time_ns()).to_msg()
    return state
