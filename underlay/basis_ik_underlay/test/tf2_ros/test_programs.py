# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""static_transform_publisher and tf2_echo as processes, and how programs start."""

import math
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tf2_ros.programs import parse

# The program, which says when its own code begins to run.
START = """
import importlib, runpy, sys
import_module = importlib.import_module
def announced(name):
    importlib.import_module = import_module
    print("importing", flush=True)
    return import_module(name)
importlib.import_module = announced
del sys.argv[0]
runpy.run_path(sys.argv[0])
"""
PROGRAMS = Path(__file__).parents[2] / "lib"
PUBLISHER = "tf2_ros/static_transform_publisher"
FRAMES = ["--frame-id", "a", "--child-frame-id", "b"]


@pytest.fixture
def start(domain):
    started = []

    def run(program, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", START, PROGRAMS / program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        watchdog = threading.Timer(120, process.kill)  # ends a read that would never end
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


def ends_well(process, how):
    process.send_signal(how)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0, output
    assert "Traceback" not in output


def test_echo_tells_what_the_publisher_published_and_both_end_well(start):
    echo = start("tf2_ros/tf2_echo", "b", "a")
    read_until(echo, "Waiting for transform b -> a: ")
    publisher = start(PUBLISHER, *FRAMES, "--x", "1", "--yaw", "0.5")
    read_until(publisher, "from 'a' to 'b'")
    read_until(echo, "At time 0.0")
    assert [echo.stdout.readline() for _ in range(4)] == [
        "- Translation: [-0.878, 0.479, 0.000]\n",
        "- Rotation: in Quaternion (xyzw) [0.000, 0.000, -0.247, 0.969]\n",
        "- Rotation: in RPY (radian) [0.000, 0.000, -0.500]\n",
        "- Rotation: in RPY (degree) [0.000, 0.000, -28.648]\n",
    ]
    ends_well(echo, signal.SIGINT)
    ends_well(publisher, signal.SIGTERM)


@pytest.mark.parametrize("after", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("program", [PUBLISHER, "robot_state_publisher/robot_state_publisher"])
def test_a_signal_while_starting_ends_well_too(start, tmp_path, program, after):
    file = tmp_path / "robot.urdf"
    file.write_text('<robot name="r"/>')
    process = start(program, *(FRAMES if program == PUBLISHER else [file]))
    read_until(process, "importing")
    time.sleep(after)
    ends_well(process, signal.SIGINT)


def seven(*arguments):
    message = parse([*map(str, arguments), *FRAMES])
    assert (message.header.frame_id, message.child_frame_id) == ("a", "b")
    t, q = message.transform.translation, message.transform.rotation
    return [t.x, t.y, t.z, q.x, q.y, q.z, q.w]


def test_what_is_not_given_is_the_identity():
    assert seven() == [0, 0, 0, 0, 0, 0, 1]
    assert seven("--z", 3, "--y", -0.5) == [0, -0.5, 3, 0, 0, 0, 1]


def test_angles_turn_about_fixed_axes_roll_first():
    quarter = math.pi / 2  # two quarters are a third of a turn about a diagonal
    assert seven("--roll", quarter, "--yaw", quarter)[3:] == pytest.approx([0.5, 0.5, 0.5, 0.5])
    assert seven("--pitch", quarter, "--yaw", quarter)[3:] == pytest.approx([-0.5, 0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--x", "one", *FRAMES], "invalid float value: 'one'"),
        (["--qx", "1", *FRAMES], "unrecognized arguments: --qx"),
        (["--frame-id", "a"], "required: --child-frame-id"),
    ],
)
def test_what_does_not_describe_a_transform_is_named(arguments, fault, capsys):
    with pytest.raises(SystemExit):
        parse(arguments)
    assert fault in capsys.readouterr().err
