# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node's input can be recorded and replayed, and what cannot be recorded is reported."""

import errno
import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcap.writer import Writer
from robot_bench import down, running
from std_srvs.srv import Trigger

from basis_ik.extras.recording.message_definition import definition
from basis_ik.extras.recording.recorded import Recorded, RecordingError
from basis_ik.extras.recording.recording import TEXT_VERSION, Entry, Recording, make_boundary
from basis_ik.ros.boundary import LIVE


def test_a_run_is_replayed_to_the_bit(domain, tmp_path):
    path = tmp_path / "run.mcap"
    with running(domain, "-p", f"record:={path}") as robot:
        robot.send("base_link", down(0.4, 0.2, 0.3))
        robot.wait(lambda: robot.commands, "the arm moves")
        assert robot.call(Trigger, "stop").success
        robot.wait(lambda: robot.statuses[-1]["state"] == "STOPPED", "it has stopped")
    done = subprocess.run(
        [sys.executable, "-m", "basis_ik.programs", "replay", str(path)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done
    equal = r"[1-9]\d* commands and [1-9]\d* statuses in .* s, all equal to the bit"
    assert re.search(equal, done.stdout)


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
    recording = Recording(io.BufferedWriter(disk), node, {"form": TEXT_VERSION})
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
    recording = Recording(path.open("xb"), Log(), {"form": TEXT_VERSION})
    size = path.stat().st_size
    recording.put(an_entry(0))
    wait(lambda: path.stat().st_size > size)
    (entry,) = Recorded(path).entries()  # not closed
    assert entry == an_entry(0)._replace(given=entry.given)
    recording.close()


def test_a_recording_that_falls_behind_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("basis_ik.extras.recording.recording.LARGEST_QUEUE", 10)
    node = Log()
    recording = Recording((tmp_path / "run.mcap").open("xb"), node, {"form": TEXT_VERSION})
    for number in range(1000):
        recording.put(an_entry(number))
    wait(lambda: node.lines)
    assert "written more slowly than entries come" in node.lines[0]
    recording.close()
