"""The programs as processes."""

import os
import signal
import subprocess
import sys
import threading

import domain_coordinator
import pytest
from geometry_msgs.msg import TransformStamped
from tf2_ros_programs.tf2_echo import describe

STATIC = "static_transform_publisher"


@pytest.fixture
def start():
    started = []
    with domain_coordinator.domain_id() as domain:

        def run(program, *arguments):
            code = f"import sys; from tf2_ros_programs.{program} import main; sys.exit(main())"
            process = subprocess.Popen(
                [sys.executable, "-u", "-c", code, *arguments],
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


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_echo_tells_what_the_publisher_published_and_both_end_well(start, how):
    options = "--x 1 --yaw 0.5 --frame-id a --child-frame-id b --ros-args -r __ns:=/r"
    publisher = start(STATIC, *options.split())
    read_until(publisher, "from 'a' to 'b'")
    echo = start("tf2_echo", "b", "a", "20", "--precision", "2")
    read_until(echo, "At time 0.0")
    assert echo.stdout.readline() == "- Translation: [-0.88, 0.48, 0.00]\n"
    for process in (echo, publisher):
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
        names.add(process.stdout.readline().split()[2])
    assert len(names) == 2
    assert all(name.startswith(f"[{STATIC}_") for name in names)


@pytest.mark.parametrize(
    ("program", "arguments", "status", "said"),
    [
        (STATIC, ["--help"], 0, "usage: static_transform_publisher"),
        (STATIC, ["--x", "1"], 1, "error parsing command line arguments: --frame-id must be given"),
        ("tf2_echo", ["--help"], 0, "usage: tf2_echo"),
        ("tf2_echo", ["a"], 2, "target_frame"),
        ("tf2_echo", ["a", "b", "0"], 2, "rate"),
        ("tf2_echo", ["a", "b", "nan"], 2, "rate"),
    ],
)
def test_help_and_mistakes(start, program, arguments, status, said):
    process = start(program, *arguments)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == status
    assert said in output
    assert "Traceback" not in output


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
