# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Demonstrations: recorded of an arm that moves, and played back within its limits."""

import functools
from threading import Event
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from bench import HOME, running
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import CompressedImage, Image, JointState, Joy
from std_msgs.msg import Float64, Header, String
from std_srvs.srv import SetBool, Trigger
from virtual_client import beside
from world import MILLISECOND

from basis_ik.client import MotionError, StoppedError
from basis_ik.extras.recording import play_dataset, record_dataset
from basis_ik.extras.recording.dataset import DatasetError, Recorded
from basis_ik.extras.recording.record_dataset import RecordDataset
from basis_ik.ros.parameters.parameters import ConfigError
from basis_ik.transforms.rigid import RigidTransform

FPS = 20
TASK = "wave"
STATE, ACTION = "observation.state", "action"
FRONT, WRIST = "observation.images.front", "observation.images.wrist"
GIVEN = {
    "root": "data", "task": TASK, "fps": FPS, "poses": ["basis_ik/target_pose"],
    "cameras": ["front=/front/image_raw", "wrist=/wrist/image_raw/compressed"],
}  # fmt: skip
FINGER = "finger_joint"
LATE = 40 * MILLISECOND  # of images


class Writer:
    """Stands in for the process that writes: it keeps what it is sent."""

    def __init__(self, python, root):
        self.started, self.steps, self.answers = (python, root), [], [{"ready": True}]

    def send(self, *step):
        self.steps.append(step)

    def answer(self):
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, DatasetError):
            raise answer
        return answer

    def close(self, timeout):
        return True


class Recorder:
    """A `record_dataset` beside a robot on the bench, and cameras of 5 frames a second.

    Attributes:
        node: The node.
        seen: Whether the cameras see anything.
        shots: When they have seen something [s].
    """

    def __init__(self, robot, **given):
        self.robot, self.seen, self.shots = robot, True, []
        parameters = [Parameter(name, value=each) for name, each in {**GIVEN, **given}.items()]
        own = functools.partialmethod(
            Node.__init__, use_global_arguments=False, parameter_overrides=parameters
        )
        with (
            mock.patch.object(Node, "__init__", own),
            mock.patch.object(record_dataset, "DatasetWriter", Writer),
        ):
            self.node = RecordDataset()
        self.node._now = robot.boundary.system
        self.writer, self.told = self.node._writer, []

        def tell(text, **_):
            self.told.append(text)

        log = dict.fromkeys(("info", "warning", "error"), tell)
        self.node.get_logger = lambda: SimpleNamespace(**log)
        for topic in (robot.states, robot.controller_states, robot.targets, robot.description):
            self.hear(topic)
        self._ends = [robot.world.every(50 * MILLISECOND, self.look)]
        robot.world.every(200 * MILLISECOND, self.see)
        self.receive("/robot_description", String(data=robot.urdf))

    def hear(self, topic):
        """Let the messages of a topic of the robot come here, too."""
        publish = topic.publish

        def both(message):
            publish(message)
            self.receive(topic.name, message)

        topic.publish = both

    def receive(self, topic, message):
        for each in self.node.subscriptions if self.node is not None else ():
            if each.topic_name == topic:
                each.callback(message)

    def look(self):
        if self.node is not None:
            self.node.look()

    def see(self):
        if not self.seen or self.node is None:
            return
        header, count = Header(stamp=self.robot.stamp()), len(self.shots)
        self.shots.append(self.robot.time)
        image = Image(header=header, height=1, width=2, step=6, encoding="rgb8", data=6 * [count])
        file = CompressedImage(header=header, format="jpeg", data=[count])

        def come():
            self.receive("/front/image_raw", image)
            self.receive("/wrist/image_raw/compressed", file)

        self.robot.world.at(self.robot.world.now + LATE, come)

    def call(self, kind, name, **fields):
        full = self.node.resolve_service_name
        (found,) = [each for each in self.node.services if full(each.srv_name) == f"/{name}"]
        return found.callback(kind.Request(**fields), kind.Response())

    def record(self, on):
        return self.call(SetBool, "record_dataset/record", data=on)

    def frames(self):
        """Return the frames since the last episode began: what it is about, and their parts."""
        begins = [k for k, step in enumerate(self.writer.steps) if step[0] == "begin"]
        steps = self.writer.steps[begins[-1] :]
        return steps[0][1], [step[1:] for step in steps if step[0] == "frame"]

    def end(self):
        node, self.node = self.node, None
        node.close()


@pytest.fixture(scope="module")
def robot():
    with running("-p", f"home:={HOME.tolist()}") as robot:
        yield robot


@pytest.fixture(autouse=True)
def _at_home_with_nothing_unsafe_behind(robot):
    assert robot.call(SetBool, "enable", data=True).success
    assert robot.call(Trigger, "home").success
    robot.wait_status(state="ARRIVED", input="joint_positions")
    robot.wait(robot.rests, "silence")
    yield
    complaints, robot.arm.complaints = robot.arm.complaints, []
    assert complaints == []


@pytest.fixture
def recorder(robot):
    """Make a recorder that is ready; it ends with the test."""
    made = []

    def make(**given):
        made.append(Recorder(robot, **given))
        robot.send("base_link", robot.tip())
        robot.wait(robot.rests, "silence")
        return made[-1]

    yield make
    for each in made:
        each.end()


def place(k):
    """Return a pose of the tip near home."""
    return RigidTransform.from_rpy(np.pi, 0.0, 0.3 * k, [0.5, 0.1 * k, 0.35])


def record(robot, recorder, seconds=3.0):
    """Record a motion to one pose and on to another; return its begin [s]."""
    assert recorder.record(True).message == f"records: {TASK}"
    begin = robot.time
    for k in (1, -1):
        robot.send("base_link", place(k))
        robot.run(0.5 * seconds)
    assert recorder.record(False).success
    robot.run(0.5)
    return begin


def outputs_at(robot, times):
    """Return what the controller has commanded at times [s], and the fastest joint's speed."""
    when, places = zip(*robot.arm.outputs, strict=True)
    when, places = 1e-9 * np.array(when), np.array(places)
    speed = np.abs(np.diff(places, axis=0) / np.diff(when)[:, np.newaxis]).max()
    return np.array([np.interp(times, when, column) for column in places.T]).T, speed


def test_an_episode_has_what_was_measured_commanded_asked_for_and_seen(robot, recorder):
    recorder = recorder()
    begin = record(robot, recorder)
    begun, frames = recorder.frames()
    assert recorder.writer.steps[-1] == ("save",)
    names = begun.pop("names")
    assert begun == {"task": TASK, "fps": FPS, "robot": "ur5e"}
    assert names[STATE] == names[ACTION] == list(robot.chain.joint_names)
    expected = [f"base_link {each}" for each in ("x", "y", "z", "qx", "qy", "qz", "qw")]
    assert names["input.target_pose"] == expected
    assert len(frames) == 3 * FPS + 1
    times = begin + np.arange(len(frames)) / FPS
    outputs, speed = outputs_at(robot, times)
    assert speed > 1.0
    for feature in (STATE, ACTION):  # the controller's cycle is 2 ms, and its state tells the last
        rows = np.array([numbers[feature] for numbers, _ in frames])
        assert np.abs(rows - outputs).max() <= 0.005 * speed
    asked = np.array([numbers["input.target_pose"][1] for numbers, _ in frames])
    assert np.array_equal(asked[1:-1], np.where(times[1:-1] < begin + 1.5, 0.1, -0.1))
    counts = np.searchsorted(recorder.shots, times + 1e-6) - 1
    fronts, wrists = zip(*((each[FRONT], each[WRIST]) for _, each in frames), strict=True)
    assert [each[4][0] for each in fronts] == counts.tolist(), "each camera 5 times a second"
    assert {each[:4] for each in fronts} == {("rgb8", 1, 2, 6)}
    kinds = {each.topic_name: each.msg_type for each in recorder.node.subscriptions}
    assert kinds["/front/image_raw"] is Image
    assert kinds["/wrist/image_raw/compressed"] is CompressedImage
    assert wrists == tuple(("", 0, 0, 0, bytes([count])) for count in counts)


def test_joints_are_in_the_given_order_and_the_gripper_is_the_last(robot, recorder):
    names = list(robot.chain.joint_names[::-1])
    recorder = recorder(joints=names, gripper_joint=FINGER)
    assert (
        recorder.record(True).message
        == "there is no value of the measured position of finger_joint yet"
    )
    recorder.receive("/joint_states", JointState(name=[FINGER], position=[0.03]))  # now
    assert "no value of the gripper's command" in recorder.record(True).message
    recorder.receive("/basis_ik/gripper", Float64(data=0.75))
    assert recorder.record(True).success
    robot.run(0.3)
    begun, ((numbers, _), *_) = recorder.frames()
    assert begun["names"][STATE] == [*names, FINGER]
    assert begun["names"][ACTION] == [*names, "gripper"]
    assert numbers[STATE] == [*robot.positions[::-1], 0.03]
    assert np.allclose(numbers[ACTION], [*robot.positions[::-1], 0.75], rtol=0.0, atol=1e-6)


def test_commands_of_an_interface_without_a_controller_state_count(robot, recorder):
    recorder = recorder(controller="another_controller")
    assert "nothing on /another_controller/controller_state or /joint_commands" in (
        recorder.record(True).message
    )
    names, there = list(robot.chain.joint_names), robot.positions + 0.1
    recorder.receive("/joint_commands", JointState(name=names, position=there.tolist()))
    robot.run(0.1)
    assert recorder.record(True).success
    robot.run(0.3)
    _, ((numbers, _), *_) = recorder.frames()
    assert numbers[ACTION] == there.tolist()


@pytest.mark.parametrize("what", ["the measured position of shoulder_pan_joint", "camera front"])
def test_what_is_not_heard_any_more_discards_the_episode(robot, recorder, what):
    recorder = recorder()
    assert recorder.record(True).success
    robot.run(0.5)
    recorder.seen, robot.publishing = what != "camera front", what == "camera front"
    robot.run(1.5)
    assert recorder.writer.steps[-1] == ("discard",)
    assert recorder.told[-1].startswith(f"the episode is discarded: the newest value of {what} is")
    assert not recorder.record(False).success
    recorder.seen = robot.publishing = True
    robot.run(1.5)
    assert recorder.record(True).success


def test_a_clock_that_is_set_back_discards_the_episode(robot, recorder):
    recorder = recorder()
    assert recorder.record(True).success
    robot.run(0.3)
    now = recorder.node._now
    recorder.node._now = lambda: now() - 10**9
    robot.run(0.1)
    assert recorder.writer.steps[-1] == ("discard",)
    assert "the clock was set back" in recorder.told[-1]


def test_why_an_episode_cannot_begin_or_end_is_said(robot, recorder):
    early = Recorder(robot, task="")
    early.node._ready = False
    assert early.record(True).message == "LeRobot is not loaded yet"
    robot.run(0.5)
    assert "the parameter task must say" in early.record(True).message
    early.end()
    unnamed = recorder()
    unnamed.node._robot = ""
    assert "the robot has no name: nothing on /robot_description" in unnamed.record(True).message
    unnamed.node._robot = "ur5e"
    for act in (
        lambda: unnamed.record(False),
        lambda: unnamed.call(Trigger, "record_dataset/discard"),
    ):
        assert act().message == "no episode has begun"
    assert unnamed.record(True).success
    assert unnamed.record(True).message == "the last episode has not ended"


def test_keys_and_a_button_begin_end_and_discard(robot, recorder):
    recorder = recorder(button=1)
    node, steps = recorder.node, recorder.writer.steps

    def push():
        for buttons in ([0, 1], [0, 1], [0, 0], [1]):
            recorder.receive("/joy", Joy(buttons=buttons))
            robot.run(0.3)

    for act, last in ((lambda: node.press(" "), "save"), (push, "save"), (push, "discard")):
        steps.clear()
        act()
        robot.run(0.5)
        assert steps[0][0] == "begin"
        act() if last == "save" else node.press("d")
        robot.run(0.5)
        assert {step[0] for step in steps[1:-1]} == {"frame"}
        assert steps[-1] == (last,)
    assert recorder.told[-1] == "the episode is discarded"


def test_poses_in_another_frame_are_left_out(robot, recorder):
    recorder = recorder()
    robot.place("base_link", "table", RigidTransform.identity())
    robot.send("table", place(1))
    robot.run(1.0)
    assert "poses in table after some in base_link: they are left out" in recorder.told[-1]


def test_what_lerobot_says_is_told(robot, recorder):
    recorder = recorder()
    answers, node = recorder.writer.answers, recorder.node
    answers.append({"saved": 3, "frames": 50})
    robot.run(0.1)
    assert recorder.told[-1] == "episode 3 is saved: 2.5 s"
    assert recorder.record(True).success
    answers.append(DatasetError("the disk is full"))
    robot.run(0.1)
    assert recorder.told[-1] == "the episode is lost: the disk is full"
    assert recorder.writer.steps[-1] == ("discard",)
    assert not recorder.record(False).success
    answers.append({"ended": 1})
    with pytest.raises(DatasetError, match="LeRobot has ended with status 1"):
        node.look()
    node._ready = False
    answers.append(DatasetError("no LeRobot"))
    with pytest.raises(DatasetError, match="no LeRobot"):
        node.look()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"root": ""}, "'root' is the folder of the dataset"),
        ({"cameras": ["/front"]}, "'cameras' has '/front', which is not NAME=TOPIC"),
        ({"cameras": ["front=a b"]}, "'cameras' has 'front=a b', which is not NAME=TOPIC"),
        ({"poses": ["a b"]}, "'poses' is 'a b', which is not a topic name"),
        ({"fps": 0}, "'fps'"),
        ({"rat": 1}, "'rat' does not exist"),
    ],
)
def test_bad_parameters_are_refused(robot, given, said):
    with pytest.raises(ConfigError, match=said):
        Recorder(robot, **given)


# Playing ----------------------------------------------------------------------------------------


@pytest.fixture
def client(robot, monkeypatch):
    monkeypatch.setattr(play_dataset, "time", SimpleNamespace(monotonic=lambda: robot.time))
    with beside(robot) as (arm, _):
        yield arm


def recorded_of(recorder):
    begun, frames = recorder.frames()
    rows = [numbers[ACTION] for numbers, _ in frames]
    return Recorded(begun["robot"], begun["fps"], begun["names"][ACTION], rows)


def wave(robot, seconds=4.0, size=0.2, fps=30):
    """Return a recording of a motion that begins beside home."""
    times = np.arange(round(seconds * fps)) / fps
    rows = HOME + 0.3 + size * np.sin(2.0 * times)[:, np.newaxis] * [1.0, 0.5, 0.3, 1.0, 1.0, 1.0]
    return Recorded("ur5e", fps, list(robot.chain.joint_names), rows.tolist())


def played(robot, client, recorded, *, speed=1.0, stop=None):
    """Play a recording; return the times since its first action [s] and the measured positions."""
    way = np.abs(np.array(recorded.rows[0][:6]) - robot.positions).max()
    begin, first = robot.time, len(robot.arm.outputs)
    play_dataset.play(client, recorded, stop or Event(), speed, 0.2)
    times, places = zip(*robot.arm.outputs[first:], strict=True)
    times = 1e-9 * np.array(times) - begin - 0.5 - 1.5 * way / 0.2
    return times, np.array(places)


def off(recorded, times, places, *, speed=1.0):
    """Return the distance of places from those that were recorded [rad]."""
    rows = np.array(recorded.rows)[:, :6]
    when = np.arange(len(rows)) / recorded.fps / speed
    wanted = np.array([np.interp(times, when, column) for column in rows.T]).T
    return np.abs(places - wanted).max(axis=1)


def test_what_was_recorded_is_played(robot, recorder, client):
    recorder = recorder()
    factor = "max_acceleration_scaling_factor"  # of which sampling takes a part
    assert robot.set_parameter(factor, 0.3).successful
    record(robot, recorder)
    assert robot.set_parameter(factor, 1.0).successful
    recorded = recorded_of(recorder)
    assert robot.call(Trigger, "home").success
    robot.wait_status(state="ARRIVED", input="joint_positions")
    times, places = played(robot, client, recorded)
    assert off(recorded, times, places)[times > 0.2].max() < 0.02
    assert np.allclose(robot.positions, recorded.rows[-1], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("speed", [1.0, 0.5])
def test_a_recording_is_followed_from_a_slow_approach_on(robot, client, speed):
    recorded = wave(robot)
    times, places = played(robot, client, recorded, speed=speed)
    speeds = np.abs(np.diff(places, axis=0) / np.diff(times)[:, np.newaxis]).max(axis=1)
    assert 0.19 < speeds[times[1:] < 0.0].max() < 0.2005
    assert speeds[(times[1:] > -0.4) & (times[1:] < 0.0)].max() == 0.0
    assert off(recorded, times, places, speed=speed)[times > 0.3].max() < 1e-3


def test_a_recording_that_is_faster_than_the_joints_is_played_within_their_limits(robot, client):
    recorded = wave(robot, seconds=2.0, size=0.8)
    times, places = played(robot, client, recorded, speed=5.0)
    assert off(recorded, times, places, speed=5.0).max() > 0.1, "which is what it is about"
    assert np.allclose(robot.positions, recorded.rows[-1], rtol=0.0, atol=1e-9)


def test_a_recording_of_another_arm_is_refused(robot, client):
    recorded, count = wave(robot), len(robot.commands)
    for change, said in (
        ({"robot": "so101"}, "recorded of 'so101', and this is 'ur5e'"),
        ({"names": ["a", *recorded.names[1:5], "b"]}, "'ur5e' has no joints a, b"),
    ):
        with pytest.raises(DatasetError, match=said):
            play_dataset.play(client, recorded._replace(**change), Event(), 1.0, 0.2)
    robot.run(0.5)
    assert len(robot.commands) == count


def test_the_gripper_is_played_with_the_arm(robot, client):
    recorded = wave(robot)
    openings = np.where(np.arange(len(recorded.rows)) < 60, 1.0, 0.25)
    rows = [[*row, opening] for row, opening in zip(recorded.rows, openings, strict=True)]
    sent = []
    client.grip = lambda opening, wait: sent.append((robot.time, opening))
    begin = robot.time
    times, places = played(robot, client, Recorded("ur5e", 30, [*recorded.names, "gripper"], rows))
    assert off(recorded, times, places)[times > 0.2].max() < 1e-3
    assert [opening for _, opening in sent] == [1.0, 0.25]
    assert np.allclose([when - begin for when, _ in sent], [2.75, 4.75], rtol=0.0, atol=0.1)


class Stop:
    """An event that acts when it is looked at some time after its begin.

    Args:
        robot: The robot.
        seconds: The time [s].
        act: What it does then, once.
        ends: Whether it is set then.
    """

    def __init__(self, robot, seconds, act=lambda: None, *, ends=False):
        self._robot, self._due, self._act, self._ends = robot, robot.time + seconds, act, ends

    def is_set(self):
        if self._robot.time < self._due:
            return False
        act, self._act = self._act, lambda: None
        act()
        return self._ends


def test_a_player_without_a_processor_lets_the_arm_rest_and_goes_on(robot, client):
    recorded = wave(robot, 6.0)
    stop = Stop(robot, 4.0, lambda: robot.run(2.0))
    times, places = played(robot, client, recorded, stop=stop)
    pause = (times > 1.0) & (times < 4.0)
    assert (np.diff(places[pause], axis=0) == 0.0).all(axis=1).sum() > 100, "it rests"
    steady = (times > 0.3) & (times < 5.8) & ~pause
    assert off(recorded, times, places)[steady].max() < 1e-3


def test_ctrl_c_stops_the_arm(robot, client):
    with pytest.raises(StoppedError):
        played(robot, client, wave(robot), stop=Stop(robot, 4.0, ends=True))
    robot.wait(robot.rests, "it stops")
    assert robot.statuses[-1]["state"] == "STOPPED"


def test_a_stop_by_somebody_else_ends_the_player(robot, client):
    stop, begin = Stop(robot, 4.0, lambda: robot.call(Trigger, "stop")), robot.time
    with pytest.raises(MotionError):
        played(robot, client, wave(robot), stop=stop)
    assert robot.time - begin < 5.5, "before the recording has ended"
    robot.wait(robot.rests, "it stops")
