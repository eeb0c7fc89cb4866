# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot on the bench that is given the commands of a page, as a reader would give them."""

import importlib
import re
import runpy
import shlex
import subprocess
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import yaml
from bench import HOME, URDF, Robot
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from std_msgs.msg import String
from virtual_program import Server, VirtualProgram
from world import World

from basis_ik.__main__ import main
from basis_ik.ros.demo.simulated_arm import SimulatedArm
from basis_ik.transforms.rigid import RigidTransform

ROOT = Path(__file__).parents[2]
# What commands begin with that name something of this package.
OURS = ("basis_ik", "make", "pytest", "python", "ros2")
TABLE = RigidTransform.from_rpy(0.1, -0.2, 2.0, [0.45, 0.10, 0.10])  # of demo.launch.py


def lines_of(page):
    """Return the commands of a page, in its order, those in its sentences too."""
    text = (ROOT / page).read_text().replace("\\\n", " ")
    lines = []
    pattern = r"^```(\w*)\n(.*?)^```|`([^`\n]+)`"
    for language, block, inline in re.findall(pattern, text, re.MULTILINE | re.DOTALL):
        given = (
            [inline] if " " in inline else block.splitlines() if language in ("", "bash") else []
        )
        ours = [line.strip() for line in given if line.strip().split(" ")[0] in OURS]
        lines += [line.strip() for line in given] if language == "bash" else ours
    return lines


def kind_of(name):
    package, room, kind = name.split("/")
    return getattr(importlib.import_module(f"{package}.{room}"), kind)


def filled(message, text):
    """Return a message with what is written in YAML; raise for what it does not have."""

    def fill(owner, values):
        for name, value in values.items():
            if isinstance(value, dict):
                fill(getattr(owner, name), value)
            else:
                setattr(owner, name, value)

    fill(message, yaml.safe_load(text))
    return message


def kinds(node):
    resolve = node.resolve_service_name
    found = {each.topic_name: each.msg_type for each in (*node.publishers, *node.subscriptions)}
    return found | {resolve(each.srv_name): each.srv_type for each in node.services}


def simulated_arm(words, urdf, home):
    """Return the name of the arm that a page starts, and the types of its topics and services."""
    arm = VirtualProgram(World(), SimulatedArm, *words)
    with mock.patch("basis_ik.ros.demo.simulated_controller.ActionServer", Server):
        arm.receive("/robot_description", String(data=urdf))
        arm.run(0.1)
    found = kinds(arm.node)
    (state,) = arm.sent["/joint_states"][-1:]
    assert np.allclose(state.position, home)
    name = arm.node.get_name()
    arm.end()
    return name, found


class Rehearsal:
    """A robot to which the commands of a page are given, one after the other.

    Args:
        folder: Where commands of the shell run.
    """

    def __init__(self, folder):
        self._folder, self.robot = folder, None
        self.urdf, self.home = URDF, HOME
        self._arm, self._controller = {}, "joint_trajectory_controller"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """End the node, if there is one."""
        if self.robot:
            self.robot.end()
        self.robot = None

    @property
    def _there(self):
        return self._arm | (kinds(self.robot.node) if self.robot else {})

    def _start(self, *words, **how):
        """Start the node of the bench, in place of one that runs, and the demo's table."""
        self.end()
        how |= {"urdf": self.urdf, "home": self.home, "controller": self._controller}
        self.robot = Robot(*words, **how)
        self.robot.place("base_link", "table", TABLE)

    def _launch(self, given):
        """Start the node as basis_ik.launch.py does."""
        given.pop("launch_rviz", None)
        given.pop("namespace", None)
        file = str(self._folder / given.pop("params_file", ROOT / "config" / "basis_ik.yaml"))
        (section,) = yaml.safe_load(Path(file).read_text()).values()
        node = section["ros__parameters"]
        self._controller = node.get("controller", self._controller)
        words = [word for each in given.items() for word in ("-p", ":=".join(each))]
        self._start("--params-file", file, *words, prefix=given.get("frame_prefix", ""))

    def give(self, line):
        """Run a command, with the node of the bench for the one that it launches."""
        line = line.replace("$(ros2 pkg prefix --share basis_ik)", str(ROOT))
        if line.startswith(("cp ", "echo ")):
            subprocess.run(["bash", "-ec", line], cwd=self._folder, check=True)
            return
        words = shlex.split(line.removeprefix("ros2 "), comments=True)
        match [word for word in words if word != "&"]:
            case ["basis_ik", "solve" | "inspect" as what, *words]:
                assert main([what, *words]) == 0
            case ["run", "basis_ik", "simulated_arm", *words]:
                self._controller, self._arm = simulated_arm(words[1:], self.urdf, self.home)
            case ["run", "basis_ik", "ik_node", *words]:
                self._start(*words[1:])
            case ["launch", "basis_ik", "basis_ik.launch.py", *given]:
                self._launch(dict(each.split(":=") for each in given))
            case ["launch", "basis_ik", "demo.launch.py", "targets:=false", *_]:
                self._start()
            case ["run", "tf2_ros", "static_transform_publisher", *given]:
                place = dict(zip(given[::2], given[1::2], strict=True))
                x, y, z = (float(place.get(f"--{axis}", 0.0)) for axis in "xyz")
                pose = RigidTransform.from_rpy(0.0, 0.0, float(place["--yaw"]), [x, y, z])
                self.robot.place(place["--frame-id"], place["--child-frame-id"], pose)
            case ["lifecycle", "set", "/basis_ik", transition]:
                assert self.robot.transit(transition)
                sent_to = {each.topic_name for each in self.robot.node.publishers}
                assert f"/{self._controller}/joint_trajectory" in sent_to
            case ["topic", "info" | "hz" | "echo", *words]:
                assert {word for word in words if word[0] == "/"} <= self._there.keys()
            case ["param", "set", "/basis_ik", name, value]:
                assert self.robot.set_parameter(name, yaml.safe_load(value)).successful
            case ["param", "get", "/basis_ik", name]:
                assert self.robot.node.has_parameter(name)
            case ["topic", "pub", *how, name, kind, text]:
                assert self._there[name] is kind_of(kind)
                options = dict(zip(how[::2], how[1::2], strict=False))
                for _ in range(int(options.get("-t", 1))):
                    self.robot.topic(name).publish(filled(kind_of(kind)(), text))
                    self.robot.run(1.0 / float(options.get("-r", 1)))
            case ["service", "call", name, kind, *text]:
                assert self._there[name] is kind_of(kind)
                request = filled(kind_of(kind).Request(), *text or ["{}"])
                if name in kinds(self.robot.node):
                    future = self.robot.loop.spinner.request(name, request)
                    self.robot.wait(future.done, f"an answer of {name}")
                    assert future.result().success
            case _:
                self.other(line)

    def other(self, line):
        """Pass over a command that the bench has no part in."""


def client_of(robot, example, name):
    """Return an example's node beside the robot's: its clock, and what it sends."""
    client = runpy.run_path(ROOT / "examples" / f"{example}.py")[name]()
    now = SimpleNamespace(to_msg=robot.stamp)
    client.get_clock = lambda: SimpleNamespace(now=lambda: now)
    theirs = kinds(robot.node)
    shared = {topic: kind for topic, kind in kinds(client).items() if topic.startswith("/basis_ik")}
    assert shared == {topic: theirs[topic] for topic in shared}
    for each in client.publishers:
        if each.topic_name in shared:
            each.publish = robot.topic(each.topic_name).publish
    return client


def heard(status):
    """Return a status of the bench as the message that it was."""
    values = [KeyValue(key=key, value=value) for key, value in status.items() if key != "level"
              and isinstance(value, str)]  # fmt: skip
    return DiagnosticStatus(message=status["message"], values=values)


def send_pose(robot):
    """Run `examples/send_pose.py` to its end."""
    client, told = client_of(robot, "send_pose", "PoseClient"), 0

    def is_done():
        nonlocal told
        for status in robot.statuses[told:]:
            told += 1
            client.on_status(heard(status))
        return client.done

    robot.wait(is_done, "the end of the example")
    client.destroy_node()
