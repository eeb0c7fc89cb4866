# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A URDF's joints against matrices; the node without DDS, and as a process that ends."""

import itertools
import math
import os
import signal
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from rclpy.publisher import Publisher
from rclpy.time import Time
from robot_state_publisher import RobotStatePublisher, read_joints
from sensor_msgs.msg import JointState

os.environ.setdefault("ROS_DOMAIN_ID", "43")
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


def joint(name, kind, parent, child, inside=""):
    link = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{link}{inside}</joint>'


def urdf(kind, inside=""):
    return f'<robot name="r"><link name="a"/>{joint("j", kind, "a", "b", inside)}</robot>'


def turn(axis, angle):
    """Rodrigues' formula."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def matrix(transform):
    """The transform as the matrix that tf would make of it."""
    (tx, ty, tz), (x, y, z, w) = transform
    assert math.isclose(x * x + y * y + z * z + w * w, 1.0, rel_tol=1e-12)
    result = np.eye(4)
    result[:3, 3] = tx, ty, tz
    result[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return result


ORIGIN = '<origin xyz="1 -2 3" rpy="0.3 -1.1 2.4"/><axis xyz="0.5 -1 2"/>'
AXIS = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("value", [0.0, 0.7, -2.9, 7.0])
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_where_a_joint_stands(kind, value):
    (it,) = read_joints(urdf(kind, ORIGIN))
    expected = np.eye(4)
    expected[:3, 3] = 1, -2, 3
    expected[:3, :3] = turn([0, 0, 1], 2.4) @ turn([0, 1, 0], -1.1) @ turn([1, 0, 0], 0.3)
    if kind == "prismatic":
        expected[:3, 3] += value * expected[:3, :3] @ (AXIS / np.linalg.norm(AXIS))
    else:
        expected[:3, :3] = expected[:3, :3] @ turn(AXIS, value)
    np.testing.assert_allclose(matrix(it.pose(value)), expected, atol=1e-12)


def versioned(version, origin):
    return urdf("fixed", origin).replace("<robot", f'<robot version="{version}"')


def test_a_quaternion_turns_a_joint_from_version_1_1_on():
    origin = '<origin xyz="1 -2 3" quat_xyzw="0 0 1.2 1.6"/>'
    for version in ("1.1", "1.2"):
        (it,) = read_joints(versioned(version, origin))
        expected = np.eye(4)
        expected[:3, 3] = 1, -2, 3
        expected[:3, :3] = turn([0, 0, 1], 2.0 * math.atan2(0.6, 0.8))
        assert np.allclose(matrix(it.pose()), expected, rtol=0, atol=1e-12)
    (it,) = read_joints(versioned("1.0", origin))
    assert np.array_equal(matrix(it.pose())[:3, :3], np.eye(3))


@pytest.mark.parametrize(
    ("version", "origin"),
    [
        ("1.1", '<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'),
        ("1.1", '<origin quat_xyzw="0 0 0 0"/>'),
        ("1.1", '<origin quat_xyzw="0 0 1"/>'),
        ("1.3", ""),
        ("1", ""),
    ],
)
def test_an_orientation_or_version_that_upstream_refuses(version, origin):
    with pytest.raises(ValueError, match="not a valid URDF"):
        read_joints(versioned(version, origin))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no element found"),
        ("<robot", "unclosed token: line 1"),
        ("<robot><joint type='fixed'/></robot>", "'name'"),
        ("<robot><joint name='j' type='fixed'/></robot>", "has no attribute 'attrib'"),
        (urdf("fixed", '<origin xyz="0 one 0"/>'), "'one'"),
        (urdf("fixed", '<origin xyz="0 0"/>'), "expected 3"),
        (urdf("continuous", '<axis xyz="0 0 0"/>'), "division by zero"),
    ],
    ids=lambda value: value[-40:],
)
def test_what_is_no_urdf_is_refused_in_one_line(text, reason):
    with pytest.raises(ValueError, match=f"^robot_description is not a valid URDF: .*{reason}"):
        read_joints(text)


def test_a_fixed_joint_may_have_an_axis_without_direction():
    (it,) = read_joints(urdf("fixed", '<axis xyz="0 0 0"/>'))
    assert it.child == "b"


JOINTS = (
    joint("turn", "revolute", "base", "arm", '<origin xyz="0 0 1"/><axis xyz="0 0 1"/>'),
    joint("push", "prismatic", "arm", "slide"),
    joint("second", "continuous", "slide", "finger", '<mimic joint="turn" multiplier="3"/>'),
    joint("bolt", "fixed", "finger", "gripper", '<origin xyz="0.5 0 0"/>'),
)
ARM = f'<robot name="r">{"".join(JOINTS)}</robot>'


class Arm:
    """The node, which hears what `state` is told, and what it sends."""

    def __init__(self, *words):
        rclpy.init(args=["--ros-args", *words])
        self.at_start = {}
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Publisher, "publish", lambda _, it: self.hear(it))
            self.node = RobotStatePublisher(ARM)
        self.sent = []
        self.node._tf = SimpleNamespace(publish=lambda it: self.sent.append(deepcopy(it)))
        self.now = Time(seconds=10_000)
        self.node.get_clock = lambda: SimpleNamespace(now=lambda: self.now)

    def hear(self, message):
        self.at_start[type(message).__name__] = message

    def state(self, stamp, **positions):
        message = JointState(name=list(positions), position=list(positions.values()))
        message.header.stamp = Time(nanoseconds=round(stamp * 1e9)).to_msg()
        self.node._on_joint_state(message)

    def stamps(self):
        stamps = [message.transforms[0].header.stamp for message in self.sent]
        return [stamp.sec + stamp.nanosec * 1e-9 for stamp in stamps]

    def frames(self):
        return {t.child_frame_id: (t.header.frame_id, t.transform) for t in self.sent[0].transforms}


@pytest.fixture
def arm(request):
    it = Arm(*getattr(request, "param", ()))
    yield it
    it.node.destroy_node()
    rclpy.shutdown()


def angle(transform):
    """Of a turn about x or z."""
    q = transform.rotation
    return 2 * math.atan2(q.x + q.z, q.w)


def test_moving_frames_carry_the_stamp_of_the_state_and_mimics_follow(arm):
    arm.state(1000.5, turn=0.3, push=0.2, stranger=1.0)
    found = arm.frames()
    assert {k: v[0] for k, v in found.items()} == {"arm": "base", "slide": "arm", "finger": "slide"}
    assert angle(found["arm"][1]) == pytest.approx(0.3)
    assert found["arm"][1].translation.z == 1.0
    assert found["slide"][1].translation.x == pytest.approx(0.2)
    assert angle(found["finger"][1]) == pytest.approx(3 * 0.3)
    assert arm.stamps() == [1000.5]


@pytest.mark.parametrize("arm", [("-p", "frame_prefix:=arm1/")], indirect=True)
def test_frames_but_not_joints_have_the_frame_prefix(arm):
    arm.state(1000.5, turn=0.3, second=0.1)
    moving = {child: parent for child, (parent, _) in arm.frames().items()}
    assert moving == {"arm1/arm": "arm1/base", "arm1/finger": "arm1/slide"}
    fixed, description = (arm.at_start[kind] for kind in ("TFMessage", "String"))
    (bolt,) = fixed.transforms
    assert (bolt.header.frame_id, bolt.child_frame_id) == ("arm1/finger", "arm1/gripper")
    assert description.data == ARM


def test_a_state_that_reports_a_mimic_joint_is_believed(arm):
    arm.state(1000.0, turn=0.3, second=-0.4)
    assert angle(arm.frames()["finger"][1]) == pytest.approx(-0.4)


def test_rate_is_limited_by_the_stamps(arm):
    for i in range(100):
        arm.state(1000 + i * 0.01, turn=0.0)
    assert arm.stamps()[0] == 1000.0
    assert len(arm.stamps()) == 20
    assert all(b - a > 0.0499 for a, b in itertools.pairwise(arm.stamps()))


def test_a_stamp_from_the_future_does_not_silence_what_follows(arm):
    for stamp in (20_000.0, 10_000.0):
        arm.state(stamp, turn=0.1)
    assert arm.stamps() == [20_000.0]
    arm.state(10_000.06, turn=0.1)
    assert len(arm.stamps()) == 2


def test_when_the_clock_goes_back_states_are_published_at_once(arm):
    arm.state(10_000.0, turn=0.1)
    arm.now = Time(seconds=50)
    arm.state(50.0, turn=0.1)
    assert arm.stamps() == [10_000.0, 50.0]


@pytest.mark.parametrize("names", [["turn", "push"], []])
def test_a_state_that_is_malformed_or_empty_is_passed_over(arm, names):
    state = JointState(name=names, position=[1.0] * len(names[:1]))
    state.header.stamp.sec = 1000
    arm.node._on_joint_state(state)
    assert not arm.sent


PROGRAM = Path(__file__).parents[1] / "lib/robot_state_publisher/robot_state_publisher"


@pytest.fixture
def start(tmp_path):
    """Start it as a process: start(*arguments), the description from a file."""
    started = []

    def run(*arguments, text=ARM):
        file = tmp_path / "robot.urdf"
        file.write_text(text)
        command = [sys.executable, PROGRAM, str(file), "--ros-args", *arguments]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True))
        return started[-1]

    yield run
    for it in started:
        it.kill()
        it.communicate()


@pytest.mark.parametrize(
    ("text", "frequency", "reason"),
    [
        ("", "20.0", "robot_description is not a valid URDF: no element found"),
        (ARM, "0.0", "publish_frequency must be between 0 and 1000"),
        (ARM, "20", "publish_frequency"),
    ],
    ids=["empty", "no rate", "no float"],
)
def test_bad_start_is_one_fatal_line(start, text, frequency, reason):
    it = start("-p", f"publish_frequency:={frequency}", text=text)
    output, _ = it.communicate(timeout=20)
    assert it.returncode == 1
    (line,) = output.strip().splitlines()
    assert "[FATAL]" in line
    assert reason in line


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_even_twice(start, number):
    it = start()
    assert "Robot initialized" in it.stdout.readline()
    it.send_signal(number)
    it.send_signal(number)
    output, _ = it.communicate(timeout=20)
    assert (it.returncode, output) == (0, "")
