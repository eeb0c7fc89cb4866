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
from rig import own_rig
from robot_bench import PERIOD, URDF, down
from std_msgs.msg import String
from tf2_ros import TransformBroadcaster

from basis_ik.ros.convert import transform_message
from basis_ik.ros.sim_clock import CLOCK_MISSING
from basis_ik.transforms.rigid import RigidTransform

HERE = RigidTransform.identity()
BESIDE = down(0.40, -0.20, 0.40)
# From full speed: 0.25 s at the largest acceleration, and 0.05 s until that is reached.
BRAKING = 0.3
REPEATS = 25  # of the last command


@contextlib.contextmanager
def another_authority(rig, name, root_T_frame):
    """Let a second node publish a frame that the rig publishes elsewhere."""
    context = rclpy.Context()
    context.init(domain_id=rig.domain)
    node = rclpy.create_node("another_authority", context=context)
    tf, ended = TransformBroadcaster(node), threading.Event()

    def publish():
        while not ended.wait(0.011):
            stamp = node.get_clock().now().to_msg()
            tf.sendTransform(transform_message("base_link", name, root_T_frame, stamp))

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        node.destroy_node()
        context.shutdown()


def test_row_23_contradictory_frames(rig, observed):
    rig.frames["belt"] = lambda: NEAR
    rig.place("belt", "on_belt", HERE)
    time.sleep(0.2)
    rig.send("on_belt", HERE, stamp=None)
    rig.wait(lambda: rig.at(NEAR, 1e-3), "the frame is followed")
    with another_authority(rig, "belt", BESIDE):
        count = len(rig.recorder.windows)
        time.sleep(2.0)
        assert len(rig.recorder.windows) > count + 100, "the arm follows both"
    rig.wait(lambda: rig.at(NEAR, 1e-3), "the one that is left is followed")
    observed("two authorities 0.4 m apart for 2 s: never beyond the limits")
    rig.place("base_link", "on_belt", BESIDE)
    rig.wait(lambda: rig.at(BESIDE, 1e-3), "it is followed to where it hangs now")
    observed("another parent: led there within the limits")


def hold_once(rig, observed, before):
    """Check that the arm brakes once and rests; return the number of commands."""
    rig.settled()
    assert not rig.at(FAR, 1e-2)
    windows = rig.recorder.windows[before:]
    assert len(windows) <= (BRAKING / PERIOD) + REPEATS + 10, "no burst"
    stamps = [window.stamp for window in windows]
    steps = {b - a for a, b in pairwise(stamps)}
    assert min(steps) >= PERIOD * SECOND, "one in a period"
    assert rig.no_commands(0.5), "it does not go on by itself"
    assert "target_frame" not in rig.statuses[-1], "the target is forgotten"
    observed(f"HOLD with {len(windows)} commands")


@pytest.mark.parametrize("seconds", [-0.5, -5.0])
def test_row_24_clock_goes_back(own_domain, observed, seconds):
    with own_rig(own_domain, simulated_time=True) as rig:
        rig.frames["table"] = lambda: NEAR
        set_off(rig)
        newest = rig.clock.seconds  # transform of the table in tf
        seen = len(rig.statuses)
        before = leap(rig, seconds)
        hold_once(rig, observed, before)
        assert "BRAKING" in [status["state"] for status in rig.statuses[seen:]]
        rig.clock.run(0.3)  # so that the arm is there before that time comes again
        rig.frames["table"] = lambda: BESIDE
        time.sleep(0.2)
        rig.send("table", HERE, stamp=None)
        rig.wait(lambda: rig.at(BESIDE, 1e-3), "tf of before is forgotten")
        if seconds == -5.0:
            assert rig.clock.seconds < newest
        rig.clock.run()
        assert "refused.OUT_OF_ORDER" not in rig.statuses[-1]
        observed("then a new target is reached, by tf of afterwards")


def test_row_25_clock_leaps_ahead(own_domain, observed):
    # The controller publishes rarely; a jump of the clock is no silence of it.
    rarely = "-p", "state_publish_rate:=5.0"
    with own_rig(own_domain, simulated_time=True, arm=rarely) as rig:
        seen = len(rig.statuses)
        set_off(rig)
        before = leap(rig, 3600.0)
        hold_once(rig, observed, before)
        states = [status["state"] for status in rig.statuses[seen:]]
        begins = [b for a, b in pairwise(states) if a != b == "BRAKING"]
        assert len(begins) == 1, "once"


def test_row_26_no_clock(own_domain, observed):
    with unstarted(own_domain, simulated_time=True) as rig:
        rig.start_arm()
        rig.start_node()
        rig.description.publish(String(data=URDF))
        rig.wait_status(state="WAITING", message=CLOCK_MISSING)
        observed(f"WAITING: {CLOCK_MISSING.partition(':')[0]}")
        rig.send("base_link", FAR, stamp=None)
        assert rig.no_commands(2.0)
        assert rig.commands == []
        observed("no command")
        rig.clock.run()
        rig.ready()
        assert rig.no_commands(0.5), "what was asked before is not replayed"
