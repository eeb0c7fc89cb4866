# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""rviz.launch.py with a stand-in for RViz, and without."""

import os
import signal
import subprocess
import time
from pathlib import Path
from shutil import which

import pytest
import rclpy
import yaml
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

CONFIG = Path(__file__).parents[2] / "rviz" / "basis_ik.rviz"


def launch(environment, **more):
    command = [which("ros2"), "launch", "basis_ik", "rviz.launch.py"]
    command += [f"{key}:={value}" for key, value in {"rviz_config": "some.rviz", **more}.items()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def with_rviz(tmp_path):
    """An environment with a package `rviz2`, whose program writes down its arguments."""
    program = tmp_path / "lib" / "rviz2" / "rviz2"
    marker = tmp_path / "share" / "ament_index" / "resource_index" / "packages" / "rviz2"
    for path in (program, marker):
        path.parent.mkdir(parents=True)
    marker.touch()
    written = f"{tmp_path}/arguments"
    program.write_text(f'#!/bin/sh\necho "$*" > {written}.part && mv {written}.part {written}\n')
    program.chmod(0o755)
    return {
        **os.environ,
        "AMENT_PREFIX_PATH": f"{tmp_path}:{os.environ['AMENT_PREFIX_PATH']}",
        "PATH": f"{program.parent}:{os.environ['PATH']}",
    }


@pytest.fixture
def started(with_rviz, tmp_path):
    """Launch, and return RViz's arguments and its ROS arguments."""

    def start(**more):
        launch(with_rviz, **more)
        return halves(tmp_path)

    return start


def halves(tmp_path):
    own, ros = (tmp_path / "arguments").read_text().split("--ros-args", 1)
    return own.strip(), [word for word in ros.split() if ":=" in word]


def test_rviz_gets_its_configuration(started):
    assert started() == ("-d some.rviz", [])


def test_rviz_gets_another_fixed_frame(started):
    assert started(fixed_frame="panda_link0") == ("-d some.rviz -f panda_link0", [])


MOVED = [
    "robot_description",
    "basis_ik/markers",
    "basis_ik/target/update",
    "basis_ik/target/feedback",
    "basis_ik/target/get_interactive_markers",
    "basis_ik/target_point",
]


@pytest.fixture
def described():
    """Publish the description of a robot, in a namespace, too."""
    rclpy.init()
    node = rclpy.create_node("described")
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    text = (CONFIG.parents[1] / "urdf" / "pan_tilt.urdf").read_text()
    for topic in ("/robot_description", "/arm1/robot_description"):
        node.create_publisher(String, topic, latched).publish(String(data=text))
    yield
    rclpy.shutdown()


@pytest.mark.parametrize("more", [{}, {"namespace": "arm1"}])
@pytest.mark.usefixtures("described")
def test_rviz_gets_a_view_of_the_robot_that_is_described(started, more):
    own, _ = started(rviz_config=CONFIG, **more)
    path = Path(own.removeprefix("-d "))
    assert path != CONFIG
    views = yaml.safe_load(path.read_text())["Visualization Manager"]["Views"]
    assert views["Current"]["Distance"] < 2.0  # a head, of 0.3 m
    path.unlink()


@pytest.mark.usefixtures("described")
def test_a_demo_that_gives_its_frame_has_its_own_view(started):
    assert started(rviz_config=CONFIG, fixed_frame="base_link") == (f"-d {CONFIG} -f base_link", [])


@pytest.mark.parametrize("namespace", ["arm1", "/cell/arm1"])
def test_rviz_looks_for_the_robot_in_its_namespace(started, namespace):
    own, remappings = started(rviz_config=CONFIG, namespace=namespace)
    assert own == f"-d {CONFIG}"
    space = "/" + namespace.lstrip("/")
    assert remappings == [f"/{name}:={space}/{name}" for name in MOVED]


def test_other_topics_of_a_configuration_are_not_remapped(started, tmp_path):
    config = tmp_path / "own.rviz"
    config.write_text(CONFIG.read_text().replace("/basis_ik/markers", "/map"))
    _, remappings = started(rviz_config=config, namespace="arm1")
    assert [word for word in remappings if "map" in word] == []
    assert len(remappings) == len(MOVED) - 1


def test_the_launch_file_of_the_node_passes_its_namespace_to_rviz(with_rviz, tmp_path):
    arguments = ["namespace:=arm1", "launch_rviz:=true", "log_level:=fatal"]
    process = subprocess.Popen(
        ["ros2", "launch", "basis_ik", "basis_ik.launch.py", *arguments],
        env=with_rviz,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not (tmp_path / "arguments").exists():
            assert process.poll() is None
            time.sleep(0.1)
        _, remappings = halves(tmp_path)
        assert "/basis_ik/markers:=/arm1/basis_ik/markers" in remappings
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(600)


def test_a_missing_rviz_is_logged(tmp_path):
    """RViz is searched on the PATH, which is empty here, even if RViz is installed."""
    assert "RViz is not installed" in launch({**os.environ, "PATH": str(tmp_path)})
