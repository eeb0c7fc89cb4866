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

"""The node's input can be recorded and replayed: its output is equal to the bit."""

import errno
import io
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from mcap.reader import make_reader
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import Writer
from point_head_client import Client
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.serialization import deserialize_message, serialize_message
from robot_bench import down, running
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import InteractiveMarkerFeedback

from basis_ik.ros.boundary import LIVE
from basis_ik.ros.convert import pose_message
from basis_ik.ros.recording.message_definition import definition
from basis_ik.ros.recording.recorded import Recorded, RecordingError
from basis_ik.ros.recording.recording import FORM, Entry, Recording, make_boundary
from basis_ik.transforms.rigid import RigidTransform

COMMANDS = "/joint_trajectory_controller/joint_trajectory"
FAR = down(9.0, 0.0, 0.3)


@pytest.fixture(scope="module")
def recording(domain, tmp_path_factory):
    """A recording of all kinds of things; the log of its node."""
    path = tmp_path_factory.mktemp("recording") / "run.mcap"
    with running(domain, "-p", f"record:={path}") as robot:
        _do_everything(robot)
    return path


def _do_everything(robot):
    start = time.monotonic()
    robot.frames["ball"] = lambda: RigidTransform.from_rpy(
        3.14, 0.0, 0.0, [0.40, 0.05 * (time.monotonic() - start), 0.3]
    )
    change = Parameter(name="speed_override", value=ParameterValue(type=3, double_value=0.5))
    names = list(robot.chain.joint_names)
    bad = JointState(name=names, position=[float("nan")] * len(names))
    _insist(robot, lambda: robot.send("base_link", down(0.4, 0.2, 0.3)), "state", "ARRIVED")
    ball = RigidTransform.identity()
    _insist(robot, lambda: robot.send("ball", ball, stamp=None), "target_frame", "ball")  # followed
    assert robot.call(SetParameters, "set_parameters", parameters=[change]).results[0].successful
    # Which takes longer than a period to be found out.
    _insist(robot, lambda: robot.send("base_link", FAR), "verdict", "TOO_FAR")
    _insist(robot, lambda: robot.jog("tool0", (0.0, 0.0, -0.1)), "input", "twist")
    _insist(robot, lambda: robot.states.publish(bad), "refused.NON_FINITE")
    _insist(robot, lambda: robot.send("base_link", down(0.4, -0.2, 0.3)), "state", "MOVING")
    handle = robot.node.create_publisher(InteractiveMarkerFeedback, "basis_ik/target/feedback", 1)
    _insist(robot, lambda: handle.publish(_dragged()), "target_stamp", "0.000000000")
    assert robot.call(Trigger, "stop").success
    robot.wait(lambda: robot.statuses[-1]["state"] == "STOPPED", "it has stopped")
    assert robot.call(SetBool, "enable", data=True).success
    Client(robot).run((0.9, -0.5, 0.7))


def _dragged():
    """Return feedback about a dragged handle."""
    feedback = InteractiveMarkerFeedback(
        client_id="somebody",
        marker_name="target",
        control_name="move",
        event_type=InteractiveMarkerFeedback.POSE_UPDATE,
        pose=pose_message(down(0.4, 0.1, 0.4)),
    )
    feedback.header.frame_id = "base_link"
    return feedback


def _insist(robot, say, key, value=None):
    """Say something again and again until the status has a value: a message may be lost."""
    seen, logged = len(robot.statuses), 0.0

    def come():
        nonlocal logged
        if time.monotonic() - logged > 0.1:
            logged = time.monotonic()
            say()
        new = robot.statuses[seen:]
        return any(key in each and value in (None, each[key]) for each in new)

    robot.wait(come, f"{key} {value}")


def replay(path, *arguments):
    """Replay a file in a process of its own; return exit status and output."""
    done = subprocess.run(
        [sys.executable, "-m", "basis_ik.ros.programs", "replay", str(path), *arguments],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


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


def test_a_run_is_replayed_to_the_bit(recording):
    status, logged = replay(recording)
    assert status == 0, logged
    assert "all equal to the bit" in logged
    assert "numbers may differ" not in logged
    (counts,) = re.findall(r"(\d+) commands and (\d+) statuses", logged)
    assert int(counts[0]) > 100
    assert int(counts[1]) > 10


def test_a_difference_is_reported_with_both_values(recording, tmp_path):
    topics = []

    def change(topic, data):
        topics.append(topic)
        if topics == ["/basis_ik/recording"]:
            text = json.loads(deserialize_message(data, String).data)
            text["versions"]["numba"] = "0.1"
            text["parameters"] |= {"gone": 1.0}
            return serialize_message(String(data=json.dumps(text)))
        if topic != "/joint_states" or COMMANDS not in topics:
            return data
        message = deserialize_message(data, JointState)
        message.position[0] += 1e-3
        return serialize_message(message)

    altered(recording, tmp_path / "altered.mcap", change)
    status, logged = replay(tmp_path / "altered.mcap")
    assert status == 1, logged
    assert "parameter 'gone' is gone: 1.0" in logged
    assert "recorded with 0.1: numbers may differ" in logged
    first, second = re.findall(r"(?:recorded|replayed): (\S+ .*)", logged)
    assert first != second
    assert re.search(r"then it differs \d+\.\d{3} s after the beginning, in '", logged)


def test_a_truncated_recording_is_replayed_to_its_end(recording, tmp_path):
    cut = tmp_path / "cut.mcap"
    content = recording.read_bytes()
    cut.write_bytes(content[: len(content) * 2 // 3])
    status, logged = replay(cut)
    assert status == 0, logged
    assert "is truncated" in logged
    assert "all equal to the bit" in logged


def test_a_recording_may_be_truncated_anywhere(recording, tmp_path):
    content, cut = recording.read_bytes(), tmp_path / "cut.mcap"
    with recording.open("rb") as file:
        begin = make_reader(file).get_summary().chunk_indexes[-1].chunk_start_offset
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


def test_a_file_that_is_no_recording_is_refused(tmp_path):
    nothing = tmp_path / "nothing.mcap"
    nothing.write_bytes(b"nothing")
    with pytest.raises(RecordingError, match="is not a recording"):
        Recorded(nothing)
    with pytest.raises(RecordingError, match=r"cannot read .*: No such file"):
        Recorded(tmp_path / "absent.mcap")
    with nothing.open("wb") as file:
        writer = Writer(file)
        writer.start()
        writer.finish()
    with pytest.raises(RecordingError, match="is not a recording of ik_node"):
        Recorded(nothing)


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
    topics = {"/tf", "/robot_description", "/joint_states", "/basis_ik/target_pose", COMMANDS}
    assert topics | {"/basis_ik/status", "/basis_ik/recording"} <= set(received)
    schema = next(s for s in summary.schemas.values() if s.name.endswith("/JointTrajectory"))
    parts = re.findall(r"^MSG: (\S+)$", schema.data.decode(), re.M)
    assert parts == [
        "std_msgs/Header", "trajectory_msgs/JointTrajectoryPoint", "builtin_interfaces/Time",
        "builtin_interfaces/Duration",
    ]  # fmt: skip


def test_a_type_without_a_definition_has_an_empty_one():
    assert definition("nobody_msgs/msg/Nothing") == ""


# What cannot be recorded ------------------------------------------------------------------------


def test_an_invalid_file_is_refused_at_start(complaint, tmp_path):
    assert "No such file or directory" in complaint("ik_node", f"record:={tmp_path}/no/run.mcap")
    there = tmp_path / "run.mcap"
    there.write_text("a recording")
    assert "already exists; name a new file" in complaint("ik_node", f"record:={there}")
    assert there.read_text() == "a recording"


def test_a_folder_gets_a_new_file(tmp_path):
    boundary = make_boundary(Log(), {"record": str(tmp_path)})
    boundary.close()
    (file,) = tmp_path.iterdir()
    assert re.fullmatch(r"basis_ik_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.mcap", file.name)
    assert Recorded(file).head["node"] == "/basis_ik"
    assert make_boundary(Log(), {"record": ""}) is LIVE


def test_a_missing_library_is_reported_with_the_remedy(complaint, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "mcap.writer", None)
    line = complaint("ik_node", f"record:={tmp_path}/run.mcap")
    assert "parameter 'record' needs the Python package mcap" in line
    assert "pip install 'mcap>=1.6'" in line
    monkeypatch.setitem(sys.modules, "mcap.stream_reader", None)
    with pytest.raises(RecordingError, match=r"replay needs the Python package mcap"):
        Recorded(Path(__file__))


class Log:
    """A node as far as a recording needs one."""

    def __init__(self):
        self.lines = []

    def get_logger(self):
        return self

    def get_fully_qualified_name(self):
        return "/basis_ik"

    def get_parameters_by_prefix(self, _):
        return {}

    def error(self, line):
        self.lines.append(line)


class FullDisk(io.FileIO):
    """A file on a disk that is full after some bytes."""

    room = 1_000_000

    def write(self, data):
        if self.tell() + len(data) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


def wait(condition):
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def an_entry(number):
    """Return one that does not compress well."""
    return Entry(number, f"timer {number} 0", None, os.urandom(300).hex(), {"steady": [0.1]}, [])


def test_a_full_disk_ends_the_recording_and_keeps_it_readable(tmp_path):
    path, node = tmp_path / "run.mcap", Log()
    disk = FullDisk(path, "xb")
    recording = Recording(io.BufferedWriter(disk), node, {"form": FORM})
    size = path.stat().st_size
    for number in range(20):
        recording.put(an_entry(number))
    wait(lambda: path.stat().st_size > size)
    disk.room = path.stat().st_size + 1000
    for number in range(20, 40):
        recording.put(an_entry(number))
    wait(lambda: node.lines)
    recording.put(an_entry(40))
    recording.close()
    (line,) = node.lines
    assert re.fullmatch(r"the recording has ended, .*No space left on device: .*run.mcap", line)
    names = [entry.name for entry in Recorded(path).entries()]
    assert names == [f"timer {k} 0" for k in range(20)]


def test_older_entries_survive_a_killed_process(tmp_path):
    path = tmp_path / "run.mcap"
    recording = Recording(path.open("xb"), Log(), {"form": FORM})
    size = path.stat().st_size
    recording.put(an_entry(0))
    wait(lambda: path.stat().st_size > size)
    (entry,) = Recorded(path).entries()  # not closed
    assert entry == an_entry(0)._replace(given=entry.given)
    recording.close()


def test_a_recording_that_falls_behind_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("basis_ik.ros.recording.recording.LARGEST_QUEUE", 10)
    node = Log()
    recording = Recording((tmp_path / "run.mcap").open("xb"), node, {"form": FORM})
    for number in range(1000):
        recording.put(an_entry(number))
    wait(lambda: node.lines)
    assert "written more slowly than entries come" in node.lines[0]
    recording.close()
