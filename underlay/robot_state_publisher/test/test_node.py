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
import os
import signal
import subprocess
import sys
import time

import pytest
import rclpy
from builtin_interfaces.msg import Time
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

os.environ.setdefault("ROS_DOMAIN_ID", "43")
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


def joint(name, kind, parent, child, inside):
    link = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{link}{inside}</joint>'


JOINTS = (
    joint("turn", "revolute", "base", "arm", '<origin xyz="0 0 1"/><axis xyz="0 0 1"/>'),
    joint("push", "prismatic", "arm", "slide", '<axis xyz="1 0 0"/>'),
    joint("second", "continuous", "slide", "finger", '<mimic joint="turn" multiplier="3"/>'),
    joint("bolt", "fixed", "finger", "gripper", '<origin xyz="0.5 0 0"/>'),
)
ARM = f'<robot name="r">{"".join(JOINTS)}</robot>'


class Listener:
    """Publishes joint states and keeps every frame and description that it hears."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("listener", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.moving, self.fixed, self.descriptions = [], [], []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        on = self.node.create_subscription
        on(TFMessage, "/tf", self.moving.append, 1000)
        on(TFMessage, "/tf_static", self.fixed.append, latched)
        on(String, "/robot_description", self.descriptions.append, latched)
        self.states = self.node.create_publisher(JointState, "joint_states", 100)

    def wait(self, condition):
        deadline = time.monotonic() + 20.0
        while not condition():
            assert time.monotonic() < deadline, "waited in vain"
            self.executor.spin_once(timeout_sec=0.05)

    def ready(self):
        self.wait(lambda: self.descriptions and self.states.get_subscription_count() > 0)

    def state(self, stamp, **positions):
        message = JointState(name=list(positions), position=list(positions.values()))
        message.header.stamp.sec, rest = divmod(round(stamp * 1e9), 10**9)
        message.header.stamp.nanosec = rest
        self.states.publish(message)

    def stamps(self):
        stamps = [message.transforms[0].header.stamp for message in self.moving]
        return [stamp.sec + stamp.nanosec * 1e-9 for stamp in stamps]

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def listener():
    it = Listener()
    yield it
    it.close()


@pytest.fixture
def publisher(tmp_path):
    """Start it: publisher(**parameters)."""
    started = []

    def start(urdf=ARM, **parameters):
        code = "import sys; from robot_state_publisher.node import main; sys.exit(main())"
        arguments = []
        if urdf is not None:
            file = tmp_path / "robot.urdf"
            file.write_text(urdf)
            arguments.append(str(file))
        arguments.append("--ros-args")
        for name, value in parameters.items():
            arguments += ["-p", f"{name}:={value}"]
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", code, *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        return started[-1]

    yield start
    for it in started:
        it.kill()
        it.communicate()


def frames(messages):
    return {
        t.child_frame_id: (t.header.frame_id, t.transform) for m in messages for t in m.transforms
    }


def angle(transform):
    """Of a turn about x or z."""
    q = transform.rotation
    return 2 * math.atan2(q.x + q.z, q.w)


def test_fixed_frames_and_description_are_there_for_who_comes_late(publisher, listener):
    publisher()
    listener.ready()
    listener.wait(lambda: listener.fixed)
    assert listener.descriptions[0].data == ARM
    ((frame, (parent, transform)),) = frames(listener.fixed).items()
    assert (frame, parent, transform.translation.x) == ("gripper", "finger", 0.5)
    assert not listener.moving


def test_moving_frames_carry_the_stamp_of_the_state_and_mimics_follow(publisher, listener):
    publisher()
    listener.ready()
    listener.state(1000.5, turn=0.3, push=0.2, stranger=1.0)
    listener.wait(lambda: listener.moving)
    found = frames(listener.moving)
    assert {k: v[0] for k, v in found.items()} == {"arm": "base", "slide": "arm", "finger": "slide"}
    assert angle(found["arm"][1]) == pytest.approx(0.3)
    assert found["arm"][1].translation.z == 1.0
    assert found["slide"][1].translation.x == pytest.approx(0.2)
    assert angle(found["finger"][1]) == pytest.approx(3 * 0.3)
    assert listener.stamps() == [1000.5]


def test_a_state_that_reports_a_mimic_joint_is_believed(publisher, listener):
    publisher()
    listener.ready()
    listener.state(1000.0, turn=0.3, second=-0.4)
    listener.wait(lambda: listener.moving)
    assert angle(frames(listener.moving)["finger"][1]) == pytest.approx(-0.4)


def test_rate_is_limited_by_the_stamps(publisher, listener):
    publisher(publish_frequency=20.0)
    listener.ready()
    for i in range(100):
        listener.state(1000 + i * 0.01, turn=0.0)
        time.sleep(0.002)
    listener.state(2000.0, turn=0.0)
    listener.wait(lambda: listener.moving and listener.stamps()[-1] == 2000.0)
    stamps = listener.stamps()
    assert stamps[0] == 1000.0
    assert len(stamps) >= 10
    assert all(b - a > 0.0499 for a, b in itertools.pairwise(stamps))


def test_a_stamp_from_the_future_does_not_silence_what_follows(publisher, listener):
    publisher()
    listener.ready()
    for stamp in (2.1e9, 2.0e9):  # 2036 and 2033
        listener.moving.clear()
        listener.state(stamp, turn=0.1)
        listener.wait(lambda: listener.moving)


def test_when_the_clock_goes_back_states_are_published_at_once(publisher, listener):
    publisher(use_sim_time="true")
    clock = listener.node.create_publisher(Clock, "/clock", 10)
    listener.ready()
    listener.wait(lambda: clock.get_subscription_count() > 0)
    for stamp in (100, 50):
        listener.moving.clear()

        def published(stamp=stamp):  # whichever of the two is heard first
            clock.publish(Clock(clock=Time(sec=stamp)))
            listener.state(stamp, turn=0.1)
            return listener.moving

        listener.wait(published)


def test_a_malformed_state_is_told_and_passed_over(publisher, listener):
    it = publisher()
    listener.ready()
    listener.states.publish(JointState(name=["turn", "push"], position=[1.0]))
    listener.state(1000.0, turn=0.3)
    listener.wait(lambda: listener.moving)
    it.send_signal(signal.SIGINT)
    assert "joint state ignored: 2 names, 1 positions" in it.communicate(timeout=15)[0]


@pytest.mark.parametrize(
    ("urdf", "parameters", "reason"),
    [
        (None, {}, "robot_description is not a valid URDF: no element found"),
        (ARM, {"publish_frequency": "0.0"}, "publish_frequency must be between 0 and 1000"),
        (ARM, {"publish_frequency": "20"}, "publish_frequency"),
    ],
    ids=["empty", "no rate", "no float"],
)
def test_bad_start_is_one_fatal_line(publisher, urdf, parameters, reason):
    it = publisher(urdf, **parameters)
    output, _ = it.communicate(timeout=20)
    assert it.returncode == 1
    (line,) = output.strip().splitlines()
    assert "[FATAL]" in line
    assert reason in line


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_under_load_ends_it_cleanly_even_twice(publisher, listener, number):
    it = publisher(publish_frequency=1000.0)
    listener.ready()
    for i in range(300):
        listener.state(1000 + i * 0.001, turn=0.1)
        time.sleep(0.001)
        if i in (200, 210):
            it.send_signal(number)
    output, _ = it.communicate(timeout=15)
    assert it.returncode == 0
    assert "Traceback" not in output
