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

"""Faults of frames and of the clock, before a node and a simulated arm as processes."""

import contextlib
import threading
import time
from itertools import pairwise

import pytest
import rclpy
from motions import FAR, NEAR, leap, set_off, unstarted
from recorder import SECOND
from robot_bench import PERIOD, URDF, down
from std_msgs.msg import String
from tf2_ros import TransformBroadcaster
from world import own_world

from basis_ik.ros.convert import transform_message
from basis_ik.ros.sim_clock import CLOCK_MISSING
from basis_ik.transforms.rigid import RigidTransform

HERE = RigidTransform.identity()
BESIDE = down(0.40, -0.20, 0.40)
# From full speed: 0.25 s at the largest acceleration, and 0.05 s until that is reached.
BRAKING = 0.3
REPEATS = 25  # of the last command


@contextlib.contextmanager
def another_authority(world, name, root_T_frame):
    """Let a second node publish a frame that the world publishes elsewhere."""
    context = rclpy.Context()
    context.init(domain_id=world.domain)
    node = rclpy.create_node("another_authority", context=context)
    tf, ended = TransformBroadcaster(node), threading.Event()

    def tell():
        while not ended.wait(0.011):
            stamp = node.get_clock().now().to_msg()
            tf.sendTransform(transform_message("base_link", name, root_T_frame, stamp))

    thread = threading.Thread(target=tell)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        node.destroy_node()
        context.shutdown()


def test_row_23_contradictory_frames(world, observed):
    world.frames["belt"] = lambda: NEAR
    world.place("belt", "on_belt", HERE)
    time.sleep(0.2)
    world.send("on_belt", HERE, stamp=None)
    world.wait(lambda: world.at(NEAR, 1e-3), "the frame is followed")
    with another_authority(world, "belt", BESIDE):
        count = len(world.recorder.windows)
        time.sleep(2.0)
        assert len(world.recorder.windows) > count + 100, "the arm follows both"
    world.wait(lambda: world.at(NEAR, 1e-3), "the one that is left is followed")
    observed("two authorities 0.4 m apart for 2 s: never beyond the limits")
    world.place("base_link", "on_belt", BESIDE)
    world.wait(lambda: world.at(BESIDE, 1e-3), "it is followed to where it hangs now")
    observed("another parent: led there within the limits")


def hold_once(world, observed, before):
    """Hold that the arm brakes once, and moves no more; say how many commands that took."""
    world.settled()
    assert not world.at(FAR, 1e-2)
    windows = world.recorder.windows[before:]
    assert len(windows) <= (BRAKING / PERIOD) + REPEATS + 10, "no burst"
    stamps = [window.stamp for window in windows]
    steps = {b - a for a, b in pairwise(stamps)}
    assert min(steps) >= PERIOD * SECOND, "one in a period"
    assert world.quiet(0.5), "it does not go on by itself"
    assert "target_frame" not in world.statuses[-1], "the target is forgotten"
    observed(f"HOLD with {len(windows)} commands")


@pytest.mark.parametrize("seconds", [-0.5, -5.0])
def test_row_24_clock_goes_back(own_domain, observed, seconds):
    with own_world(own_domain, simulated_time=True) as world:
        world.frames["table"] = lambda: NEAR
        set_off(world)
        newest = world.clock.seconds  # of what tf knows of the table
        seen = len(world.statuses)
        before = leap(world, seconds)
        hold_once(world, observed, before)
        assert "BRAKING" in [status["state"] for status in world.statuses[seen:]]
        world.clock.run(0.3)  # so that the arm is there before that time comes again
        world.frames["table"] = lambda: BESIDE
        time.sleep(0.2)
        world.send("table", HERE, stamp=None)
        world.wait(lambda: world.at(BESIDE, 1e-3), "tf of before is forgotten")
        if seconds == -5.0:
            assert world.clock.seconds < newest
        world.clock.run()
        assert "refused.OUT_OF_ORDER" not in world.statuses[-1]
        observed("then a new target is reached, by tf of afterwards")


def test_row_25_clock_leaps_ahead(own_domain, observed):
    # The controller is heard rarely: it is not silent because the clock leaps ahead meanwhile.
    rarely = "-p", "state_publish_rate:=5.0"
    with own_world(own_domain, simulated_time=True, arm=rarely) as world:
        seen = len(world.statuses)
        set_off(world)
        before = leap(world, 3600.0)
        hold_once(world, observed, before)
        states = [status["state"] for status in world.statuses[seen:]]
        begins = [b for a, b in pairwise(states) if a != b == "BRAKING"]
        assert len(begins) == 1, "once"


def test_row_26_no_clock(own_domain, observed):
    with unstarted(own_domain, simulated_time=True) as world:
        world.start_arm()
        world.start_node()
        world.description.publish(String(data=URDF))
        world.wait_status(state="WAITING", message=CLOCK_MISSING)
        observed(f"WAITING: {CLOCK_MISSING.partition(':')[0]}")
        world.send("base_link", FAR, stamp=None)
        assert world.quiet(2.0)
        assert world.commands == []
        observed("no command")
        world.clock.run()
        world.ready()
        assert world.quiet(0.5), "what was asked before is not replayed"
