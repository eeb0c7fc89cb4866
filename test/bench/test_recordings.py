# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of all that the bench can do: replayed to the bit, altered, truncated, damaged."""

import json
import re
import sys
import time
from collections import Counter
from threading import Event
from types import SimpleNamespace
from unittest import mock

import bench
import numpy as np
import pytest
import rclpy
import virtual_node
from bench import COMMANDS, HOME, Robot, down
from mcap.reader import make_reader
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import Writer
from moveit_client import joints_at, motion_goal
from moveit_msgs.action import ExecuteTrajectory
from moveit_msgs.msg import CollisionObject, MoveItErrorCodes
from rclpy.serialization import deserialize_message, serialize_message
from scene_client import BALL, MESH, Camera, Client, at, held, primitive, thing
from sensor_msgs.msg import JointState, Joy
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger
from test_chunks import joints, poses
from test_clutch import Hand
from test_gripper import Server
from test_joint_target import lead
from virtual_node import Log, Spinner, VirtualBoundary, VirtualClock, VirtualNode
from visualization_msgs.msg import InteractiveMarkerFeedback

from basis_ik.extras.recording import replay
from basis_ik.extras.recording.recorded import Recorded, RecordingError
from basis_ik.extras.recording.recording import (
    Recording,
    RecordingBoundary,
    Sent,
    _head,
    type_name,
)
from basis_ik.ros.convert import pose_message
from basis_ik.transforms.rigid import RigidTransform

STREAM = COMMANDS[0]
NEAR = down(0.4, 0.2, 0.3)
TURN, BACK = np.array([1.2, 0.0, 0.0, 0.0, 0.0, 0.0]), np.array([-1.2, 0.6, -0.6, 0.0, 0.0, 0.0])
READY = [0.3, -1.2, 1.2, -1.6, -1.5, 0.2]
AXES = "joy.axes:=[0, 1, 2, 3, 4, 5]"
TILTED = RigidTransform.from_rpy(0.0, -1.5, 0.0, [0.8, 0.2, 0.3])  # which takes long to find out


class Recorder(RecordingBoundary, VirtualBoundary):
    """Records what crosses the boundary of a node in a world."""

    def __init__(self, world):
        VirtualBoundary.__init__(self, world)
        self.entries = []
        super().__init__(None, SimpleNamespace(put=self.entries.append))

    def read(self, name, live):
        return super().read(name, lambda: VirtualBoundary.read(self, name, live))

    def _note_value(self, name, value):
        return super().read(name, lambda: value)

    def is_ready(self, name, live, wait):
        return self._note_value(name, VirtualBoundary.is_ready(self, name, live, wait))

    def clock(self, clock):
        now = VirtualBoundary.clock(self, clock)
        return self._note_value("clock", now) if isinstance(clock, VirtualClock) else now

    def moment(self, clock):
        return self._note_value("moment", VirtualBoundary.moment(self, clock))

    def wrap(self, name, callback, form):
        return VirtualBoundary.wrap(self, name, super().wrap(name, callback, form), form)

    def publish(self, publisher, message):
        topic = publisher.topic_name
        if topic in COMMANDS or topic.endswith("/status"):  # all else goes past the boundary
            data = message if isinstance(message, bytes) else serialize_message(message)
            self._note(Sent(topic, type_name(publisher.msg_type), data))
        VirtualBoundary.publish(self, publisher, message)

    def send(self, name, message, send):
        return super().send(name, message, lambda: VirtualBoundary.send(self, name, message, send))


class RecordedNode(VirtualNode):
    """Runs as in `ik_node.run`."""

    def check_kernels(self):
        return self.boundary.run("kernels", super().check_kernels)

    def start(self):
        self.boundary.run("start", super().start)
        self.head = {**_head(self), "arguments": []}

    def end(self):
        self.boundary.run("end", super().end)


class RawSpinner(Spinner):
    """Hands on messages as they come by DDS: serialised."""

    def receive(self, topic, message):
        super().receive(topic, serialize_message(message))

    def _handle_once(self):
        self._boundary.before_callbacks(self._node)
        return super()._handle_once()

    def handle_others(self):
        self._boundary.before_callbacks(self._node)
        super().handle_others()


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """A robot that has ended, and whose input of all kinds was recorded."""
    words = (f"postures.ready:={READY}", "gripper.interface:=gripper_command", AXES)
    return recorded(tmp_path_factory.mktemp("recording") / "run.mcap", words, do_everything)


def recorded(path, words, do):
    """Return a robot that has ended, and whose input was recorded."""
    with (
        mock.patch.object(bench, "VirtualBoundary", Recorder),
        mock.patch.object(virtual_node, "VirtualNode", RecordedNode),
        mock.patch.object(virtual_node, "Spinner", RawSpinner),
    ):
        robot = Robot(*(word for each in words for word in ("-p", each)))
    try:
        do(robot)
    finally:
        robot.end()
    write(path, robot)
    robot.recording = path
    return robot


def write(path, robot):
    """Write what was recorded, in ten parts."""
    named = SimpleNamespace(get_logger=Log, get_fully_qualified_name=lambda: "/basis_ik")
    with mock.patch("basis_ik.extras.recording.recording.FLUSH_PERIOD", 0.0):
        recording = Recording(path.open("xb"), named, robot.node.head)
        for part in np.array_split(range(len(robot.boundary.entries)), 10):
            size = path.stat().st_size
            for k in part:
                recording.put(robot.boundary.entries[k])
            while path.stat().st_size == size:
                time.sleep(0.01)
        recording.close()


@pytest.fixture
def recording(robot):
    return robot.recording


def do_everything(robot):
    robot.frames["base_link", "ball"] = lambda: RigidTransform.from_rpy(
        np.pi, 0.0, 0.0, [0.40, 0.05 * robot.time, 0.3]
    )
    robot.wait_status(state="READY")
    robot.reach(NEAR)
    robot.send("ball", RigidTransform.identity(), stamp=None)
    robot.run(0.5)
    assert robot.set_parameter("speed_override", 0.5).successful
    robot.boundary.solving = 0.05
    robot.send("base_link", TILTED)
    robot.wait_status(verdict="ORIENTATION_UNREACHABLE")
    robot.place("tool0", "gripper", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.0, 0.0, 0.1]))
    robot.run(0.1)
    assert robot.set_parameter("tool_frame", "gripper").successful
    robot.wait_status(tool_frame="gripper")
    robot.jog("tool0", (0.0, 0.0, -0.1))
    robot.wait_status(input="twist")
    names = list(robot.chain.joint_names)
    robot.states.publish(JointState(name=names, position=[np.nan] * len(names)))
    robot.wait_status(**{"refused.NON_FINITE": "1"})
    robot.send("base_link", down(0.4, -0.2, 0.3))
    robot.wait_status(state="MOVING")
    robot.topic("target/feedback").publish(dragged())
    robot.wait_status(target_stamp="0.000000000")
    assert robot.call(Trigger, "stop").success
    robot.wait_status(state="STOPPED")
    assert robot.call(SetBool, "enable", data=True).success
    robot.end_of(robot.point("base_link", (0.9, -0.5, 0.7)))
    names = robot.chain.joint_names
    wanted = dict(zip(names, robot.positions + 0.2, strict=True))
    moved = robot.act("move_action", motion_goal(joints_at(wanted)))
    robot.end_of(moved)
    back = moved.result.planned_trajectory
    back.joint_trajectory.points.reverse()
    for point in back.joint_trajectory.points:
        point.velocities = [-value for value in point.velocities]
    times = [point.time_from_start for point in back.joint_trajectory.points][::-1]
    for point, time_from_start in zip(back.joint_trajectory.points, times, strict=True):
        point.time_from_start = time_from_start
    robot.end_of(robot.act("execute_trajectory", ExecuteTrajectory.Goal(trajectory=back)))
    look_before(robot)
    lead_by_streams(robot)
    grip(robot)


def look_before(robot):
    """Go to a pose that was shown before, and leave a posture."""
    assert robot.set_parameter("follow_drag", "confirm").successful
    robot.boundary.solving = 0.05
    robot.topic("target/feedback").publish(dragged())
    robot.wait_status(preview_verdict="REACHED")
    assert robot.call(Trigger, "go").success
    robot.wait_status(state="ARRIVED", target_stamp="0.000000000")
    robot.topic("posture").publish(String(data="ready"))
    robot.wait(lambda: "preview of ready" in robot.statuses[-1]["message"], "a posture")
    assert robot.set_parameter("follow_drag", "live").successful
    robot.boundary.solving = 0.0


def lead_by_streams(robot):
    """Lead the arm as a leader arm does, a policy, and a device with its clutch."""
    home = robot.positions
    lead(robot, home + 0.1)
    robot.wait_status(state="ARRIVED", input="joint_positions")
    joints(robot, [0.2, 0.4], [home + 0.1, home])
    robot.run(0.3)
    poses(robot, [0.2, 0.4], [robot.chain.forward(home), robot.chain.forward(home + 0.1)])
    robot.wait_status(state="ARRIVED", input="chunk")
    hand = Hand(robot)
    robot.run(0.1)
    hand.held = True
    hand.go((0.05, 0.0, 0.0))
    hand.on = False
    robot.wait_status(clutch="released: the clutch was silent for 0.1 s")


def grip(robot):
    """Move by a joystick, and close the gripper on something, twice."""
    for _ in range(10):
        stick = Joy(axes=[0.0, 0.5, 0.0, 0.0, 0.0, 0.0])
        stick.header.stamp = robot.stamp()
        robot.topic("joy").publish(stick)
        robot.run(0.02)
    server = Server(robot)
    for _ in range(2):
        robot.topic("gripper").publish(Float64(data=0.0))
        robot.wait_status(gripper="MOVING")
        server.end(stalled=True, reached_goal=False)
        robot.wait_status(gripper="STALLED")
    robot.gripped = len(server.goals)


def dragged():
    """Return feedback about a dragged handle."""
    feedback = InteractiveMarkerFeedback(
        client_id="somebody",
        marker_name="target",
        control_name="move_x",
        event_type=InteractiveMarkerFeedback.POSE_UPDATE,
        pose=pose_message(down(0.4, 0.1, 0.4)),
    )
    feedback.header.frame_id = "base_link"
    return feedback


@pytest.fixture
def replayed(monkeypatch, capsys):
    """Replay a file; return exit status and output."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")  # the replay does so itself

    def run(path):
        monkeypatch.setattr(sys, "argv", ["replay", str(path)])
        return replay.main(Event()), capsys.readouterr().out

    yield run
    rclpy.try_shutdown()


def altered(path, new, change):
    """Rewrite a recording, each message as `change(channel, data)` returns it."""
    with path.open("rb") as old, new.open("wb") as file:
        writer, schemas, channels = Writer(file), {}, {}
        writer.start(profile="ros2")
        for each in StreamReader(old).records:
            if isinstance(each, Schema) and each.id not in schemas:
                schemas[each.id] = writer.register_schema(each.name, each.encoding, each.data)
            elif isinstance(each, Channel) and each.id not in channels:
                schema = schemas[each.schema_id]
                number = writer.register_channel(each.topic, "cdr", schema, each.metadata)
                channels[each.id] = number, each.topic
            elif isinstance(each, Message):
                number, topic = channels[each.channel_id]
                data = change(topic, each.data)
                writer.add_message(number, each.log_time, data, each.publish_time)
        writer.finish()


def test_a_run_is_replayed_to_the_bit(robot, replayed):
    status, logged = replayed(robot.recording)
    assert status == 0, logged
    # One of the "commands" asks the controller whether it replaces trajectories.
    counts = (
        f"{len(robot.commands) + 1 + robot.gripped} commands and {len(robot.statuses)} statuses in "
    )
    assert logged.startswith(counts)
    assert logged.endswith(" s, all equal to the bit\n")
    assert logged.count("\n") == 1


FAR = np.mgrid[0.0:0.1:0.02, 0.8:0.9:0.02, 0.0:0.1:0.02].reshape(3, -1).T


def meet_objects(robot):
    """Meet objects of all kinds: dropped on the way, on a belt, in the hand, and as points."""
    robot.wait_status(state="WAITING")
    client = Client(robot)
    camera = Camera(client, lambda: FAR)
    robot.frames["base_link", "belt"] = lambda: at(0.62, -0.15 - 0.02 * robot.time, 0.35)
    robot.wait_status(state="READY")
    robot.reach(robot.chain.forward(HOME + TURN))
    client.hold(
        held("tool", frame="tool0", pose=at(0.0, 0.0, 0.1), primitives=[BALL], meshes=[MESH])
    )
    camera.see = lambda: FAR + 0.01 * robot.time
    robot.run(0.2)
    robot.set_off(robot.chain.forward(HOME + BACK), 0.3)
    client.put(
        thing("box", frame="belt", primitives=[primitive(SolidPrimitive.BOX, 0.1, 0.4, 0.4)])
    )
    robot.wait(lambda: robot.statuses[-1]["message"].startswith("held by "), "it is held", 10.0)
    robot.run(0.3)
    client.put(thing("box", operation=CollisionObject.REMOVE, primitives=()))
    client.hold(held("tool", operation=CollisionObject.REMOVE))
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    client.put(
        thing("box", frame="belt", primitives=[primitive(SolidPrimitive.BOX, 0.1, 0.4, 0.4)])
    )
    wanted = dict(zip(robot.chain.joint_names, robot.positions, strict=True))
    first = robot.chain.joint_names[0]
    for turn, is_free in ((-0.1, True), (1.5, False)):  # the box is in the way
        goal = motion_goal(joints_at({**wanted, first: wanted[first] + turn}))
        done = robot.act("move_action", goal)
        robot.end_of(done)
        assert (done.result.error_code.val == MoveItErrorCodes.SUCCESS) == is_free


def test_an_arm_among_objects_is_replayed_to_the_bit(replayed, tmp_path):
    words = (
        "check_collisions:=true", "point_cloud_topic:=points",
    )  # fmt: skip
    robot = recorded(tmp_path / "run.mcap", words, meet_objects)
    assert any(each["message"].startswith("held by ") for each in robot.statuses)
    status, logged = replayed(robot.recording)
    assert status == 0, logged
    assert logged.endswith(" s, all equal to the bit\n")
    assert logged.count("\n") == 1


def test_a_replay_without_the_recorded_objects_differs(replayed, tmp_path):
    """The replay sees objects where the recording has them, and nowhere else."""
    robot = recorded(tmp_path / "run.mcap", ("check_collisions:=true",), drop)

    def change(topic, data):
        if topic != "/basis_ik/recording":
            return data
        text = json.loads(deserialize_message(data, String).data)
        text.get("readings", {}).pop("world", None)
        return serialize_message(String(data=json.dumps(text)))

    altered(robot.recording, tmp_path / "new.mcap", change)
    status, logged = replayed(tmp_path / "new.mcap")
    assert status == 1
    assert " differs " in f" {logged}"


def drop(robot):
    """Drop a box on the arm's way."""
    robot.wait_status(state="READY")
    client = Client(robot)
    robot.reach(robot.chain.forward(HOME + TURN))
    robot.set_off(robot.chain.forward(HOME + BACK), 0.3)
    box = primitive(SolidPrimitive.BOX, 0.1, 0.4, 0.4)
    client.put(thing("box", pose=at(0.62, -0.15, 0.35), primitives=[box]))
    robot.wait(lambda: robot.statuses[-1]["message"].startswith("held by "), "it is held", 10.0)


def test_a_difference_is_reported_with_both_values(recording, replayed, tmp_path):
    topics = []

    def change(topic, data):
        topics.append(topic)
        if topics == ["/basis_ik/recording"]:
            text = json.loads(deserialize_message(data, String).data)
            text["versions"]["numba"] = "0.1"
            text["parameters"] |= {"gone": 1.0}
            return serialize_message(String(data=json.dumps(text)))
        if topic != "/joint_states" or STREAM not in topics:
            return data
        message = deserialize_message(data, JointState)
        message.position[0] += 1e-3
        return serialize_message(message)

    altered(recording, tmp_path / "altered.mcap", change)
    status, logged = replayed(tmp_path / "altered.mcap")
    assert status == 1, logged
    assert "parameter 'gone' is gone: 1.0" in logged
    assert "recorded with 0.1: numbers may differ" in logged
    first, second = re.findall(r"(?:recorded|replayed): (\S+ .*)", logged)
    assert first != second
    assert re.search(r"then it differs \d+\.\d{3} s after the beginning, in '", logged)


def test_a_truncated_recording_is_replayed_to_its_end(recording, replayed, tmp_path):
    cut = tmp_path / "cut.mcap"
    content = recording.read_bytes()
    cut.write_bytes(content[: len(content) * 2 // 3])
    status, logged = replayed(cut)
    assert status == 0, logged
    assert "is truncated" in logged
    assert "all equal to the bit" in logged


def test_a_recording_may_be_truncated_anywhere(recording, tmp_path):
    content, cut = recording.read_bytes(), tmp_path / "cut.mcap"
    with recording.open("rb") as file:
        begin = make_reader(file).get_summary().chunk_indexes[2].chunk_start_offset
    for size in range(begin - 1, begin + 60):
        cut.write_bytes(content[:size])
        recorded = Recorded(cut)
        assert list(recorded.entries())
        assert recorded.cut_off


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_an_altered_byte_is_detected(recording, tmp_path, part):
    content = bytearray(recording.read_bytes())
    content[int(part * _data_end(recording))] ^= 1
    damaged = tmp_path / "damaged.mcap"
    damaged.write_bytes(content)
    with pytest.raises(RecordingError, match="damaged"):
        list(Recorded(damaged).entries())


def _data_end(path):
    """Return the length of what is read for a replay [bytes]."""
    with path.open("rb") as file:
        return make_reader(file).get_summary().chunk_indexes[-1].chunk_start_offset


def test_other_mcap_readers_get_the_original_messages(recording):
    """As a bag: channels with their types, and what these are made of, as text."""
    with recording.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        summary, received = reader.get_summary(), Counter()
        for schema, channel, message in reader.iter_messages():
            assert (schema.encoding, channel.message_encoding) == ("ros2msg", "cdr")
            received[channel.topic] += 1
            if channel.topic == "/joint_states":
                assert len(deserialize_message(message.data, JointState).position) == 6
    assert summary.statistics.message_count == received.total()
    topics = {"/tf", "/robot_description", "/joint_states", "/basis_ik/target_pose", STREAM}
    assert topics | {"/basis_ik/status", "/basis_ik/recording"} <= set(received)
    schema = next(s for s in summary.schemas.values() if s.name.endswith("/JointTrajectory"))
    parts = re.findall(r"^MSG: (\S+)$", schema.data.decode(), re.M)
    assert parts == [
        "std_msgs/Header", "trajectory_msgs/JointTrajectoryPoint", "builtin_interfaces/Time",
        "builtin_interfaces/Duration",
    ]  # fmt: skip
