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

"""The head action over DDS, on a pan-tilt head and on an arm."""

import math
import time
from pathlib import Path

import numpy as np
import pytest
from point_head_client import ABORTED, CANCELED, SUCCEEDED, Client, miss
from robot_bench import running
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger

from basis_ik.motion.pointing import STALL
from basis_ik.transforms.rigid import RigidTransform

PAN_TILT = (Path(__file__).parents[2] / "urdf" / "pan_tilt.urdf").read_text()
REST = np.zeros(2)
AHEAD = (2.0, 0.3, 0.4)
LEFT = (0.5, 2.0, 0.8)
BEHIND = (-3.0, 0.0, 0.3)  # the pan joint ends at 2.7 rad on either side
THRESHOLD = 0.01


@pytest.fixture(scope="module")
def head(domain):
    with running(domain, "-p", "home:=[0.0, 0.0]", urdf=PAN_TILT, home=REST) as robot:
        robot.client, robot.floods = Client(robot), []
        yield robot
    for words in ("head goal rejected: max_velocity is -", "head goal rejected: pointing_frame: "):
        seconds = sum(robot.floods)  # of the flood; other tests add no more than four each
        assert robot.output.count(words) <= seconds + 5
    for logged in (
        "head goal succeeded",
        "head goal canceled",
        "head goal aborted: the best effort is 0.",
        "head goal aborted: target refused: NO_TRANSFORM",
        "head goal aborted: no nearer for 5 s, 0.",
        "head goal rejected: no joint state of pan_joint, tilt_joint",
        "head goal aborted: replaced by another target",
        "head goal aborted: stopped; call ~/enable to continue",
        "head goal aborted: replaced by a newer goal",
        "head goal rejected: target: NON_FINITE",
        "head goal rejected: stopped; call ~/enable to continue",
    ):
        assert logged in robot.output


@pytest.fixture(autouse=True)
def _ready(request):
    if "head" not in request.fixturenames:
        return
    head = request.getfixturevalue("head")
    head.call(SetBool, "enable", data=True)
    head.call(Trigger, "home")
    head.wait(lambda: np.allclose(head.positions, REST, atol=1e-9), "the head is at rest")
    head.wait(head.no_commands, "silence")


def test_a_point_is_pointed_at_with_feedback(head):
    assert head.client.run(AHEAD) == SUCCEEDED
    assert miss(head, AHEAD) <= THRESHOLD
    assert head.client.feedback[-1] <= THRESHOLD
    assert head.client.feedback == sorted(head.client.feedback, reverse=True)
    head.wait(lambda: miss(head, AHEAD) < 1e-4, "the motion is finished nevertheless")


def test_the_default_axis_is_z_of_optical_frames_and_x_of_others(head):
    assert head.chain.tip == "camera_optical_frame"
    assert head.client.run(LEFT, pointing_frame="camera_link") == SUCCEEDED
    assert miss(head, LEFT, "camera_link", (1.0, 0.0, 0.0)) <= THRESHOLD
    assert head.client.run(AHEAD, pointing_frame="camera_optical_frame") == SUCCEEDED
    assert miss(head, AHEAD) <= THRESHOLD


def test_another_axis_may_be_given(head):
    axis = (0.3, 0.1, 1.0)
    assert head.client.run(AHEAD, pointing_axis=axis) == SUCCEEDED
    assert miss(head, AHEAD, axis=np.array(axis) / np.linalg.norm(axis)) <= THRESHOLD


def test_a_tf_frame_fixed_to_the_tip_is_accepted(head):
    camera_T_laser = RigidTransform.from_rpy(0.0, 0.1, 0.2, [0.05, -0.1, 0.02])
    head.place("camera_optical_frame", "laser", camera_T_laser)
    time.sleep(0.3)
    status = head.client.run(AHEAD, pointing_frame="laser", pointing_axis=(0.0, 0.0, 1.0))
    assert status == SUCCEEDED
    laser = head.tip() @ camera_T_laser
    line = np.array(AHEAD) - laser.translation
    off = math.acos(min(1.0, laser.rotation[:, 2] @ line / np.linalg.norm(line)))
    assert off <= THRESHOLD


def swinging(head, seconds):
    """Let a ball swing for a while; return where it is."""
    start = time.monotonic()

    def ball():
        angle = 0.6 * math.sin(min(time.monotonic() - start, seconds))
        return RigidTransform.from_rpy(0.0, 0.0, angle, [0.0, 0.0, 0.3])

    head.frames["ball"] = ball
    time.sleep(0.1)
    return lambda: ball().apply((2.0, 0.0, 0.0))


@pytest.mark.parametrize("stamped", [False, True])
def test_a_moving_point_is_followed_while_the_goal_is_active_and_not_after(head, stamped):
    ball = swinging(head, 1.5)
    stamp = head.node.get_clock().now().to_msg() if stamped else None
    time.sleep(0.2)
    assert (
        head.client.run((2.0, 0.0, 0.0), frame="ball", stamp=stamp, min_duration=2.5) == SUCCEEDED
    )
    assert miss(head, ball()) <= THRESHOLD
    head.wait(head.no_commands, "silence")
    held = head.positions
    head.frames["ball"] = lambda: RigidTransform.from_rpy(0.0, 0.0, -1.0)
    time.sleep(0.5)
    assert np.array_equal(head.positions, held)
    head.frames.clear()


def test_a_point_in_the_heads_own_frame_is_not_followed(head):
    seen = head.tip().apply((0.3, -0.2, 2.0))
    assert head.client.run((0.3, -0.2, 2.0), frame="camera_optical_frame") == SUCCEEDED
    assert miss(head, seen) <= THRESHOLD


def watch(head, **fields):
    """Run a goal from rest; return when half of the way was done, when all was [s], and the way."""
    begin, path = time.monotonic(), []
    future = head.client.send(LEFT, **fields).get_result_async()
    while not (future.done() and head.no_commands(0.05)):
        path.append((time.monotonic() - begin, np.abs(head.positions - REST).max()))
        time.sleep(0.005)
    assert future.result().status == SUCCEEDED
    way = path[-1][1]
    assert way > 1.0
    return *(next(t for t, gone in path if gone >= part * way) for part in (0.5, 0.99)), way


def test_max_velocity_is_kept(head):
    half, whole, way = watch(head, max_velocity=0.7)
    assert half > 0.45 * way / 0.7
    assert whole > 0.95 * way / 0.7


def test_min_duration_is_kept(head):
    half, whole, way = watch(head, min_duration=3.0)
    assert way / 3.0 < 0.9 * 3.0  # rad/s: it could be much faster
    assert half > 1.2
    assert whole > 2.8


def test_a_newer_goal_replaces_the_active_one(head):
    first = head.client.send(LEFT, min_duration=20.0)
    assert first.accepted
    assert head.client.run(AHEAD) == SUCCEEDED
    assert head.client.end(first) == ABORTED
    assert miss(head, AHEAD) <= THRESHOLD


@pytest.mark.parametrize("taker", ["point", "pose", "home", "stop"])
def test_another_target_ends_the_goal(head, taker):
    handle = head.client.send(LEFT, min_duration=20.0)
    head.wait(lambda: head.client.feedback, "the head is on its way")
    if taker == "point":
        head.look("base_link", AHEAD)
    elif taker == "pose":
        head.send("base_link", head.tip())
    else:
        assert head.call(Trigger, taker).success
    assert head.client.end(handle) == ABORTED
    if taker == "point":
        head.wait(lambda: miss(head, AHEAD) < 1e-3, "the new point is looked at")


def test_a_goal_is_canceled_and_the_head_stops(head):
    handle = head.client.send(LEFT, min_duration=20.0)
    head.wait(lambda: head.client.feedback, "the head is on its way")
    head.client.cancel(handle)
    assert head.client.end(handle) == CANCELED
    head.wait(head.no_commands, "silence")
    assert miss(head, LEFT) > 0.5


def test_a_point_that_cannot_be_pointed_at_is_approached_and_the_goal_aborted(head):
    assert head.client.run(BEHIND) == ABORTED
    assert abs(head.positions[0]) == pytest.approx(2.7, abs=0.02)
    head.wait_status(verdict="LIMIT", joint="pan_joint")


def test_a_moving_point_that_cannot_be_pointed_at_ends_the_goal(head):
    start = time.monotonic()

    def behind():
        return RigidTransform.from_rpy(0.0, 0.0, 0.1 * math.sin(3.0 * (time.monotonic() - start)))

    head.frames["prowler"] = behind
    time.sleep(0.2)
    assert head.client.run(BEHIND, frame="prowler") == ABORTED
    head.wait(head.no_commands, "it follows no longer")
    assert head.client.feedback[-1] > 0.2
    head.frames.clear()


def test_a_goal_without_joint_states_is_rejected(head):
    head.publishing = False
    head.wait_status(state="WAITING")
    assert not head.client.send(AHEAD).accepted
    head.publishing = True
    head.settle()


def test_many_bad_goals_log_few_lines(head):
    begin = time.monotonic()
    for k in range(60):
        assert not head.client.send(AHEAD, max_velocity=-1.0 - k).accepted
        assert not head.client.send(AHEAD, pointing_frame=f"nose {k}").accepted
    head.floods.append(time.monotonic() - begin)


def test_an_unknown_frame_ends_the_goal(head):
    assert head.client.run(AHEAD, frame="nowhere") == ABORTED


REJECTED = {
    "nan": {"point": (math.nan, 0.0, 0.0)},
    "infinite": {"point": (math.inf, 0.0, 0.0)},
    "huge": {"point": (1e200, 0.0, 0.0)},
    "no frame": {"frame": ""},
    "bad frame": {"frame": "/base_link"},
    "nan axis": {"pointing_axis": (math.nan, 0.0, 1.0)},
    "negative duration": {"min_duration": -1.0},
    "nan velocity": {"max_velocity": math.nan},
    "negative velocity": {"max_velocity": -1.0},
    "unknown pointing frame": {"pointing_frame": "nose"},
    "pointing frame that the head does not move": {"pointing_frame": "base_link"},
    "pointing frame that is not rigid": {"pointing_frame": "wobbly"},
}


@pytest.mark.parametrize("name", REJECTED)
def test_malformed_goals_are_rejected(head, name):
    head.frames["wobbly"] = RigidTransform.identity
    time.sleep(0.1)
    fields = {"point": AHEAD, **REJECTED[name]}
    assert not head.client.send(**fields).accepted
    head.frames.clear()


def test_goals_are_rejected_while_stopped(head):
    head.call(Trigger, "stop")
    assert not head.client.send(AHEAD).accepted


def test_a_goal_waits_while_the_speed_override_is_zero(head):
    overrides = head.node.create_publisher(Float64, "basis_ik/speed_override", 1)
    head.wait(overrides.get_subscription_count, "the node listens")
    overrides.publish(Float64(data=0.0))
    head.wait_status(speed_override="0")
    handle = head.client.send(AHEAD)
    before = head.positions
    time.sleep(STALL + 0.5)
    assert np.array_equal(head.positions, before)
    overrides.publish(Float64(data=1.0))
    assert head.client.end(handle) == SUCCEEDED
