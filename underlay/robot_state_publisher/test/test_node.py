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

"""The node as a process of its own, over DDS."""

import itertools
import math
import signal
import time

import pytest
from builtin_interfaces.msg import Time
from rosgraph_msgs.msg import Clock
from rsp_under_test import Publisher, joint, robot
from sensor_msgs.msg import JointState

ARM = robot(
    ["base", "arm", "slide", "finger", "tip", "gripper", "blob"],
    joint("turn", "revolute", "base", "arm", '<origin xyz="0 0 1"/><axis xyz="0 0 1"/>'),
    joint("push", "prismatic", "arm", "slide", '<axis xyz="1 0 0"/>'),
    # The master of a mimic joint may be one itself, and may come later.
    joint("third", "continuous", "finger", "tip", '<mimic joint="second" multiplier="2"/>'),
    joint(
        "second", "continuous", "slide", "finger", '<mimic joint="turn" multiplier="3" offset="1"/>'
    ),
    joint("bolt", "fixed", "tip", "gripper", '<origin xyz="0.5 0 0"/>'),
    joint("loose", "floating", "base", "blob"),
)


def frames(messages):
    return {
        t.child_frame_id: (t.header.frame_id, t.transform) for m in messages for t in m.transforms
    }


def angle(transform):
    """Of a turn about x or z."""
    q = transform.rotation
    return 2 * math.atan2(q.x + q.z, q.w)


def seconds(stamp):
    return stamp.sec + stamp.nanosec * 1e-9


def test_fixed_frames_and_description_are_there_for_who_comes_late(publisher, listener):
    publisher(ARM)
    listener.ready()
    listener.wait(lambda: listener.fixed)
    assert listener.descriptions[0].data == ARM
    found = frames(listener.fixed)
    assert list(found) == ["gripper"]
    assert found["gripper"][0] == "tip"
    assert found["gripper"][1].translation.x == 0.5
    assert not listener.moving


def test_moving_frames_carry_the_stamp_of_the_state_and_mimics_follow(publisher, listener):
    publisher(ARM, frame_prefix="left/")
    listener.ready()
    listener.state(1000.5, turn=0.3, push=0.2, stranger=1.0)
    listener.wait(lambda: listener.moving)
    found = frames(listener.moving)
    assert {k: v[0] for k, v in found.items()} == {
        "left/arm": "left/base",
        "left/slide": "left/arm",
        "left/finger": "left/slide",
        "left/tip": "left/finger",
    }
    assert angle(found["left/arm"][1]) == pytest.approx(0.3)
    assert found["left/arm"][1].translation.z == 1.0
    assert found["left/slide"][1].translation.x == pytest.approx(0.2)
    assert angle(found["left/finger"][1]) == pytest.approx(3 * 0.3 + 1)
    assert angle(found["left/tip"][1]) == pytest.approx(2 * (3 * 0.3 + 1))
    assert {seconds(t.header.stamp) for t in listener.moving[0].transforms} == {1000.5}


def test_a_state_that_reports_a_mimic_joint_is_believed(publisher, listener):
    publisher(ARM)
    listener.ready()
    listener.state(1000.0, turn=0.3, second=-0.4)
    listener.wait(lambda: listener.moving)
    found = frames(listener.moving)
    assert angle(found["finger"][1]) == pytest.approx(-0.4)
    assert angle(found["tip"][1]) == pytest.approx(-0.8)


def test_rate_is_limited_by_the_stamps(publisher, listener):
    publisher(ARM, publish_frequency=20.0)
    listener.ready()
    for i in range(100):
        listener.state(1000 + i * 0.01, turn=0.0)
        time.sleep(0.002)
    listener.wait(lambda: listener.moving)
    listener.spin(0.3)
    stamps = [seconds(m.transforms[0].header.stamp) for m in listener.moving]
    assert stamps[0] == 1000.0
    assert len(stamps) >= 10
    assert all(b - a > 0.0499 for a, b in itertools.pairwise(stamps))


@pytest.mark.parametrize(("ignore", "heard"), [(False, []), (True, [0.0, 0.0])])
def test_states_without_stamp_are_published_only_when_told_so(publisher, listener, ignore, heard):
    publisher(ARM, ignore_timestamp=str(ignore).lower())
    listener.ready()
    for _ in range(2):
        listener.state(0.0, turn=0.1)
    listener.spin(0.5)
    listener.state(2000.0, turn=0.2)
    listener.wait(lambda: listener.moving and seconds_of(listener)[-1] == 2000.0)
    assert seconds_of(listener)[:-1] == heard


def test_a_stamp_from_the_future_does_not_silence_what_follows(publisher, listener):
    publisher(ARM)
    listener.ready()
    for stamp in (2.1e9, 2.0e9):  # 2036 and 2033
        listener.moving.clear()
        listener.state(stamp, turn=0.1)
        listener.wait(lambda: listener.moving)


def test_when_the_clock_goes_back_states_are_published_at_once(publisher, listener):
    it = publisher(ARM, use_sim_time="true")
    clock = listener.node.create_publisher(Clock, "/clock", 10)
    listener.ready()
    listener.wait(lambda: clock.get_subscription_count() > 0)
    for stamp in (100, 50):
        listener.moving.clear()
        clock.publish(Clock(clock=Time(sec=stamp)))
        listener.spin(0.5)
        listener.state(stamp, turn=0.1)
        listener.wait(lambda: listener.moving)
    assert "Moved backwards in time" in it.stop()[1]


def seconds_of(listener):
    return [seconds(m.transforms[0].header.stamp) for m in listener.moving]


def test_bad_states_are_reported_and_passed_over(publisher, listener):
    it = publisher(ARM)
    listener.ready()
    listener.state(1000.0, turn=math.nan, push=0.1)
    listener.wait(lambda: listener.moving)
    assert list(frames(listener.moving)) == ["slide"]
    listener.states.publish(JointState(name=["turn", "push"], position=[0.0]))
    listener.state(1001.0, turn=0.1)
    listener.wait(lambda: "arm" in frames(listener.moving))
    code, output = it.stop()
    assert code == 0
    assert "joint 'turn' is reported at nan" in output
    assert "joint state ignored: 2 names, 1 positions" in output
    assert "joint 'loose' is floating" in output
    assert "Traceback" not in output


def test_a_new_description_replaces_the_old_and_a_malformed_one_does_not(publisher, listener):
    publisher(ARM)
    listener.ready()
    (result,) = listener.set(robot_description="<robot name='r'><link/></robot>")
    assert not result.successful
    assert "name" in result.reason
    (result,) = listener.set(publish_frequency=math.nan)
    assert not result.successful
    listener.state(1000.0, turn=0.3)
    listener.wait(lambda: listener.moving)
    assert "arm" in frames(listener.moving)

    new = robot("ab", joint("turn", "prismatic", "a", "b"))
    listener.descriptions.clear()
    (result,) = listener.set(robot_description=new)
    assert result.successful
    listener.wait(lambda: listener.descriptions)
    assert [d.data for d in listener.descriptions] == [new]
    listener.moving.clear()
    listener.state(1000.001, turn=0.3)
    listener.wait(lambda: listener.moving)
    assert list(frames(listener.moving)) == ["b"]


@pytest.mark.parametrize(
    ("urdf", "parameters", "reason"),
    [
        (None, {}, "robot_description parameter must not be empty"),
        ("<robot", {}, "not a valid URDF"),
        (ARM, {"publish_frequency": 0.0}, "publish_frequency must be between 0 and 1000"),
        (ARM, {"publish_frequency": 20}, "publish_frequency"),
    ],
    ids=["empty", "malformed", "no rate", "no float"],
)
def test_bad_start_is_one_fatal_line(publisher, urdf, parameters, reason):
    it = publisher(urdf, **parameters)
    output, _ = it.process.communicate(timeout=20)
    assert it.process.returncode == 1
    (line,) = output.strip().splitlines()
    assert "[FATAL]" in line
    assert reason in line


def test_a_file_as_argument_still_works(tmp_path, listener):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    process = Publisher.start(str(file))
    try:
        listener.ready()
        assert listener.descriptions[0].data == ARM
        process.send_signal(signal.SIGINT)
        assert "deprecated" in process.communicate(timeout=15)[0]
    finally:
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_under_load_ends_it_cleanly_even_twice(publisher, listener, number):
    it = publisher(ARM, publish_frequency=1000.0)
    listener.ready()
    for i in range(300):
        listener.state(1000 + i * 0.001, turn=0.1)
        time.sleep(0.001)
        if i in (200, 210):
            it.process.send_signal(number)
    output, _ = it.process.communicate(timeout=15)
    assert it.process.returncode == 0
    assert "Traceback" not in output
