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

"""The programs as processes."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from geometry_msgs.msg import TransformStamped
from tf2_ros_programs import static_transform_publisher, tf2_echo
from tf2_ros_programs.tf2_echo import describe

STATIC = "static_transform_publisher"

# The program, which says when its own code begins to run.
START = """
import importlib, sys
from tf2_ros_programs import run
import_module = importlib.import_module
def announced(name):
    importlib.import_module = import_module
    print("importing", flush=True)
    return import_module(name)
importlib.import_module = announced
sys.exit(getattr(run, sys.argv.pop(1))())
"""


@pytest.fixture
def start(domain):
    started = []

    def run(program, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", START, program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
        )
        watchdog = threading.Timer(30, process.kill)  # ends a read that would never end
        watchdog.start()
        started.append((process, watchdog))
        return process

    yield run
    for process, watchdog in started:
        watchdog.cancel()
        process.kill()
        process.communicate()


def read_until(process, text):
    for line in process.stdout:
        if text in line:
            return
    pytest.fail(f"{text!r} was never said")


def test_echo_tells_what_the_publisher_published_and_both_end_well(start):
    options = "--x 1 --yaw 0.5 --frame-id a --child-frame-id b --ros-args -r __ns:=/r"
    publisher = start(STATIC, *options.split())
    read_until(publisher, "from 'a' to 'b'")
    echo = start("tf2_echo", "b", "a", "20", "--precision", "2")
    read_until(echo, "At time 0.0")
    assert echo.stdout.readline() == "- Translation: [-0.88, 0.48, 0.00]\n"
    for process, how in ((echo, signal.SIGINT), (publisher, signal.SIGTERM)):
        process.send_signal(how)
        output, _ = process.communicate(timeout=20)
        assert process.returncode == 0, output
        assert "Traceback" not in output


@pytest.mark.parametrize(
    ("how", "after"), [(signal.SIGINT, 0.0), (signal.SIGTERM, 0.2), (signal.SIGINT, 0.4)]
)
def test_a_signal_while_starting_ends_well_too(start, how, after):
    process = start(STATIC, "--frame-id", "a", "--child-frame-id", "b")
    read_until(process, "importing")
    time.sleep(after)
    process.send_signal(how)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 0, output
    assert "Traceback" not in output


def test_echo_says_what_it_waits_for(start):
    echo = start("tf2_echo", "here", "there", "20")
    read_until(echo, 'Waiting for transform here -> there: Invalid frame ID "here"')


def test_several_publishers_have_names_of_their_own(start):
    names = set()
    for child in "bc":
        process = start(STATIC, "--frame-id", "a", "--child-frame-id", child)
        read_until(process, "importing")
        names.add(process.stdout.readline().split()[2])
    assert len(names) == 2
    assert all(name.startswith(f"[{STATIC}_") for name in names)


@pytest.mark.parametrize(
    ("program", "arguments", "status", "said"),
    [
        (static_transform_publisher, ["--help"], 0, "usage: static_transform_publisher"),
        (static_transform_publisher, ["--x", "1"], 1, "error parsing command line arguments: "),
        (tf2_echo, ["--help"], 0, "usage: tf2_echo"),
        (tf2_echo, ["a"], 2, "target_frame"),
        (tf2_echo, ["a", "b", "0"], 2, "rate"),
        (tf2_echo, ["a", "b", "nan"], 2, "rate"),
    ],
)
def test_help_and_mistakes(monkeypatch, capsys, program, arguments, status, said):
    monkeypatch.setattr(sys, "argv", ["program", *arguments, "--ros-args", "-r", "__ns:=/r"])
    with pytest.raises(SystemExit) as end:
        sys.exit(program.main(threading.Event()))
    assert end.value.code == status
    assert said in "".join(capsys.readouterr())


def test_a_mistake_is_the_exit_status(start):
    assert start(STATIC, "--x").wait(timeout=20) == 1


def test_the_description_of_a_transform():
    message = TransformStamped()
    message.header.stamp.sec, message.header.stamp.nanosec = 12, 34
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = 1.0, -2.0, 0.5
    q.x, q.y, q.z, q.w = 0.5, 0.5, 0.5, 0.5  # x to y, y to z, z to x
    assert describe(message, 1).splitlines() == [
        "At time 12.34",
        "- Translation: [1.0, -2.0, 0.5]",
        "- Rotation: in Quaternion (xyzw) [0.5, 0.5, 0.5, 0.5]",
        "- Rotation: in RPY (radian) [1.6, -0.0, 1.6]",
        "- Rotation: in RPY (degree) [90.0, -0.0, 90.0]",
        "- Matrix:",
        " 0.0  0.0  1.0  1.0",
        " 1.0  0.0  0.0 -2.0",
        " 0.0  1.0  0.0  0.5",
        " 0.0  0.0  0.0  1.0",
    ]
