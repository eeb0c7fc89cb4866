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

"""Faults of targets, before a node and a simulated arm that are processes of their own."""

import os
import subprocess
import sys
import time
from pathlib import Path

import flood
import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import PoseStamped
from motions import FAR, NEAR, memory
from recorder import LATENESS, SECOND, state_at
from rig import SPEED, own_rig
from robot_bench import PERIOD, down

from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

TIMEOUT = 0.1  # s, incoming_command_timeout
FLOOD = Path(flood.__file__)


def refusals(rig, reason):
    return int(rig.statuses[-1].get(f"refused.{reason}", 0))


def test_row_09_unknown_frame(rig, observed):
    shelf = RigidTransform.from_rpy(0.0, 0.0, 0.3, [0.4, 0.1, 0.2])
    before = refusals(rig, "NO_TRANSFORM")
    rig.send("shelf", down(0.0, 0.0, 0.2), stamp=None)
    rig.wait(lambda: refusals(rig, "NO_TRANSFORM") == before + 1, "its refusal")
    observed(rig.statuses[-1]["last_refusal"].split(" (")[0])
    assert rig.recorder.windows == []
    rig.place("base_link", "shelf", shelf)
    time.sleep(0.2)
    rig.send("shelf", down(0.0, 0.0, 0.2), stamp=None)
    rig.wait(lambda: rig.at(shelf @ down(0.0, 0.0, 0.2), 1e-3), "the arm is there")
    observed("reached once the frame was published")


def tip_speed(rig, window):
    """Return the speed of the tip at the begin of a window [m/s]."""
    here, then = (
        rig.chain.forward(state_at(window, k * PERIOD * SECOND)).translation for k in (0, 1)
    )
    return np.linalg.norm(then - here) / PERIOD


def stream_of_twists(rig, seconds):
    """Jog upwards for a while; return the time of the last twist [ns]."""
    last = None
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        last = rig.node.get_clock().now().nanoseconds
        rig.jog("base_link", linear=(0.0, 0.0, 0.1))
        time.sleep(0.02)
    return last


@pytest.mark.parametrize("clock", ["goes on", "stands still"])
def test_row_15_stream_ceases(request, own_domain, observed, clock):
    if clock == "goes on":
        rig = request.getfixturevalue("rig")
        slows_down(rig, stream_of_twists(rig, 2.0), observed)
        return
    with own_rig(own_domain, simulated_time=True) as rig:
        last = stream_of_twists(rig, 2.0)
        rig.clock.pause()
        time.sleep(0.2)  # what is on its way
        assert rig.no_commands(1.0), "nothing is commanded while it stands"
        observed("no command while /clock stood still")
        rig.clock.run()
        slows_down(rig, last, observed)


def slows_down(rig, last, observed):
    """Hold that the tip slows down in time after the last twist [ns]."""
    rig.settled()
    fast = [w.stamp for w in rig.recorder.windows if tip_speed(rig, w) > 0.099]
    assert len(fast) > 20, "it was at full speed"
    late = (max(fast) - last) / SECOND
    observed(f"the tip slowed down {1e3 * late:.0f} ms after the last twist")
    # A period, in which it is noticed, and two that were settled by then.
    assert late <= TIMEOUT + 3 * PERIOD + LATENESS + rig.recorder.delay(last)


def test_row_16_flood(rig, observed):
    """It takes 60 s; the windows give the number of periods."""
    seconds = 60.0
    flooding = subprocess.Popen(
        [sys.executable, str(FLOOD), "10000", str(seconds)],
        env={**os.environ, "ROS_DOMAIN_ID": str(rig.domain)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        rig.wait(lambda: rig.recorder.windows, "it follows the flood")
        time.sleep(5.0)
        first, before = len(rig.recorder.windows), memory(rig.process)
        time.sleep(seconds - 10.0)
        windows, after = rig.recorder.windows[first:], memory(rig.process)
        logged, _ = flooding.communicate(timeout=60.0)
    finally:
        flooding.kill()
    count, lasted = map(float, logged.split())
    stamps = {window.stamp for window in windows}
    rate = (len(stamps) - 1) / ((max(stamps) - min(stamps)) / SECOND)
    observed(
        f"{count / lasted:.0f} targets a second; {rate:.1f} commands a second; memory "
        f"{after - before:+.1f} MB"
    )
    assert count / lasted >= 5_000, "it was a flood"
    assert rate >= 0.95 / PERIOD
    assert after - before < 4.0, "memory is flat"
    end = RigidTransform.from_quaternion_xyzw(flood.QUATERNION, flood.position(0.0))
    rig.wait(lambda: rig.at(end, 1e-3), "the newest counts")


def test_row_17_two_publishers(rig, observed):
    context = rclpy.Context()
    context.init(domain_id=rig.domain)
    second = rclpy.create_node("second", context=context)
    try:
        publisher = second.create_publisher(PoseStamped, "basis_ik/target_pose", 1)
        words = "2 publishers, the newest target wins: published on /basis_ik/target_pose by"
        rig.wait(lambda: f"{words} /robot, /second" in rig.log, "its line in the log")
        observed("WARN: 2 publishers, /robot and /second")
        for _ in range(4):
            rig.send("base_link", FAR)
            time.sleep(0.2)
            message = PoseStamped(pose=pose_message(NEAR))
            message.header.frame_id = "base_link"
            message.header.stamp = second.get_clock().now().to_msg()
            publisher.publish(message)
            time.sleep(0.2)
        rig.wait(lambda: rig.at(NEAR, 1e-3), "the newest counts")
        observed("the newest of 8 was reached")
    finally:
        second.destroy_node()
        context.shutdown()

    def since():
        return rig.log.partition("/robot, /second")[2]

    rig.wait(lambda: "no second publisher on /basis_ik/target_pose" in since(), "alone again")
    assert "2 publishers" not in since(), "it is told once"


def test_row_18_target_jumps(rig, observed):
    turned = FAR @ RigidTransform.from_rpy(0.0, 0.0, np.pi, [0.0, 0.0, 0.0])
    for target in (NEAR, FAR, turned, NEAR):
        rig.send("base_link", target)
        time.sleep(0.4)  # in mid-motion the next one comes
    rig.wait(lambda: rig.at(NEAR, 1e-3), "the last is reached")
    shares = [np.abs(w.states[1]).max(axis=0) / rig.chain.velocity for w in rig.recorder.windows]
    fastest = np.max(shares) / SPEED
    observed(f"four jumps of 0.9 m and half a turn; at most {fastest:.1%} of the speed allowed")
    assert 0.9 < fastest <= 1.0 + 1e-9
