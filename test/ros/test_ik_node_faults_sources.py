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

"""Publishers with wrong, contradicting or missing messages, or an incompatible QoS."""

import contextlib
import time

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from robot_bench import HOME, down, running

from basis_ik.transforms.rigid import RigidTransform

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
HERE = RigidTransform.identity()


@pytest.fixture(scope="module")
def bench(domain):
    with running(domain, "-p", "target_max_age:=1.0") as robot:
        yield robot


@pytest.fixture
def robot(bench):
    """The robot at rest at its home; each test's commands must have been safe."""
    publisher = bench.states
    bench.go_home()
    yield bench
    bench.states = publisher
    bench.frames.clear()
    complaints, bench.complaints = bench.complaints, []
    assert complaints == []


@contextlib.contextmanager
def another(robot, name):
    """Yield another node for arbitrary messages."""
    node = rclpy.create_node(name, context=robot.context)
    try:
        yield node
    finally:
        node.destroy_node()


class Altered:
    """Publishes joint states with another stamp."""

    def __init__(self, publisher, stamp):
        self._publisher, self._stamp = publisher, stamp

    def publish(self, state):
        stamp = state.header.stamp
        state.header.stamp = Time(sec=self._stamp(stamp.sec), nanosec=stamp.nanosec)
        self._publisher.publish(state)


@pytest.mark.parametrize(
    ("stamp", "reason", "words"),
    [
        (lambda _: 1, "STALE", "s old"),
        (lambda sec: sec - 3, "STALE", "3.0"),
        (lambda sec: sec + 3, "FUTURE", "steadily: the publisher's clock is off"),
    ],
    ids=["1970", "behind", "ahead"],
)
def test_joint_states_of_another_time_move_nothing(robot, stamp, reason, words):
    good = robot.states
    robot.states = Altered(good, stamp)
    robot.wait_status(state="WAITING")
    robot.wait(lambda: words in robot.statuses[-1]["message"], "the status says why")
    assert robot.statuses[-1]["last_refusal"].startswith(f"{reason}: ")
    robot.send("base_link", NEAR, stamp=None)
    assert robot.no_commands(0.5)
    robot.states = good
    robot.settle()
    robot.go(NEAR)


def test_a_new_reference_of_an_encoder_is_accepted_after_a_while(robot):
    before = int(robot.statuses[-1].get("refused.JUMP", 0))
    robot.positions = HOME + 1.0
    robot.wait(lambda: int(robot.statuses[-1].get("refused.JUMP", 0)) > before, "it is refused")
    robot.settle()
    robot.go(NEAR)


# Frames --------------------------------------------------------------------------------------


def test_a_frame_that_is_no_longer_published_is_refused(robot):
    robot.frames["belt"] = lambda: NEAR
    robot.place("belt", "on the belt", HERE)
    robot.send("on the belt", HERE, stamp=None)
    robot.wait(lambda: robot.at(NEAR), "the arm is there")
    robot.frames.clear()
    robot.wait(lambda: "refused.TF_STALE" in robot.statuses[-1], "the target is dropped")
    assert "target_frame" not in robot.statuses[-1]
    count = robot.statuses[-1]["refused.TF_STALE"]
    robot.reach(FAR, "the arm is there")
    assert robot.statuses[-1]["refused.TF_STALE"] == count, "told once"
    robot.wait(robot.no_commands, "silence")
    robot.send("on the belt", HERE, stamp=None)
    robot.wait(lambda: robot.statuses[-1]["refused.TF_STALE"] != count, "its refusal")
    assert robot.no_commands()
    robot.frames["belt"] = lambda: NEAR
    time.sleep(0.2)
    robot.send("on the belt", HERE, stamp=None)
    robot.wait(lambda: robot.at(NEAR), "the arm is there")


def test_a_static_frame_does_not_expire(robot):
    robot.place("base_link", "table", NEAR)
    time.sleep(1.5)  # longer than target_max_age
    robot.send("table", HERE, stamp=None)
    robot.wait(lambda: robot.at(NEAR), "the arm is there")
    time.sleep(1.5)
    assert robot.statuses[-1]["target_frame"] == "table"


def test_a_grasped_object_is_no_longer_followed(robot):
    """The frame is 2 cm off where it was: from then on it would run ahead of the tool."""
    place = [lambda: NEAR]
    robot.frames["box"] = lambda: place[0]()
    robot.send("box", HERE, stamp=None)
    robot.wait(lambda: robot.at(NEAR), "the arm is there")
    del robot.frames["box"]
    time.sleep(0.1)
    robot.place("tool0", "box", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.02, 0.0, 0.0]))
    time.sleep(1.0)
    assert np.linalg.norm(robot.tip().translation - NEAR.translation) < 1e-3
    robot.wait(robot.no_commands, "silence")
