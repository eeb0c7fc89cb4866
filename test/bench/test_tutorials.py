# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""docs/tutorials: each block of each page, in the order of the pages, as one story."""

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
from bench import down
from rehearsal import ROOT, TABLE, Rehearsal, send_pose
from viewer import SHOWN, Viewer

from basis_ik.robot.robot import RobotModel
from basis_ik.ros.demo.demo_targets import read_targets
from basis_ik.transforms.rigid import RigidTransform

PAGES = ("see_it_move", "send_a_pose", "your_own_arm", "your_first_change")
LOCKED = 1.0  # s for which a handle ignores feedback after it has appeared
# Of a reader's terminal; a `make test ARGS=...` that runs this file hands its own variables on.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARGS", "VIEW")}  # fmt: skip
# The type checker has seen all but a word of the copy, in `make test` itself.
TOOLS = {
    "python": f'exec {sys.executable} "$@"',
    "ruff": f'exec {sys.executable} -m ruff "$@"',
    "mypy": "",
}


def blocks(page):
    """Return the languages and the texts of a page's blocks."""
    text = (ROOT / "docs" / "tutorials" / f"{page}.md").read_text()
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert 2 * len(found) == text.count("```")
    return found


def commands(text):
    return text.replace("\\\n", " ").splitlines()


class Story(Rehearsal):
    """A rehearsal that passes over nothing."""

    def other(self, line):
        match shlex.split(line.removesuffix("&")):
            case ["make", "demo", *_]:
                made = subprocess.run(
                    [*shlex.split(line), "-n", "--no-print-directory"], cwd=ROOT,
                    env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=True,
                )  # fmt: skip
                self.give(made.stdout.splitlines()[-1].split(" && ")[1])
            case ["ros2", "launch", "basis_ik", "demo.launch.py", *given]:
                assert {*given} <= {"robot:=ur5e", "view:=true"}
                self.tour()
            case ["ros2", "run", "robot_state_publisher", "robot_state_publisher", file]:
                self.end()
                self.urdf = (self._folder / file).read_text()
                self.home = RobotModel.from_urdf(self.urdf).chain().neutral
            case ["python", "examples/send_pose.py"]:
                send_pose(self.robot)
            case _:
                raise AssertionError(line)

    def tour(self):
        """Visit the demo's targets; the carousel turns under one of them."""
        self._start()
        robot, speed, verdicts = self.robot, 0.0, []
        robot.frames["base_link", "carousel"] = lambda: RigidTransform.from_rpy(
            0.0, 0.0, speed * robot.time, [0.35, -0.20, 0.15]
        )
        robot.wait_status(state="READY")
        for target in read_targets(ROOT / "config" / "demo_targets.yaml", "base_link"):
            if target.kind == "blocked":
                continue  # there are no objects here
            assert robot.set_parameter("position_only_ik", target.kind == "position").successful
            sent = robot.send(target.frame, target.frame_T_target).header.stamp
            stamp = f"{sent.sec}.{sent.nanosec:09}"
            robot.wait_status(state="ARRIVED", target_stamp=stamp)
            verdicts.append(robot.statuses[-1]["verdict"])
        assert verdicts.count("TOO_FAR") == 1
        assert verdicts.count("REACHED") == len(verdicts) - 1


def test_the_pages_are_told_one_after_another():
    """Each leads to the next, and the site has them in this order."""
    index = (ROOT / "docs" / "index.rst").read_text()
    assert re.findall(r"^   tutorials/(\w+)$", index, re.MULTILINE) == [*PAGES]
    for page, following in itertools.pairwise(PAGES):
        text = (ROOT / "docs" / "tutorials" / f"{page}.md").read_text()
        assert re.findall(r"^Next: \[.*\]\((\w+)\.md\)", text, re.MULTILINE) == [following]


def check(line, story, capsys):
    """Check what a page says of a command after it was given."""
    robot = story.robot
    if "targets:=false" in line or "ik_node" in line:
        robot.wait_status(state="READY")
    if "launch_rviz:=true" in line or "targets:=false view:=true" in line:
        robot.run(SHOWN + LOCKED)
        Viewer(robot).drag(down(0.42, 0.20, 0.40))
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        assert robot.at(down(0.42, 0.20, 0.40))
    elif "x: 2.0" in line:
        robot.wait_status(state="ARRIVED", verdict="TOO_FAR")
    elif "target_pose" in line:
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        if "frame_id: table" in line:
            assert robot.at(TABLE @ down(0.0, 0.0, 0.2))
        elif "z: 0.3" in line:
            assert robot.at(down(0.4, 0.2, 0.3))
        else:
            assert np.allclose(robot.tip().translation, [0.3, 0.2, 0.5], rtol=0.0, atol=1e-4)
    elif "send_pose.py" in line:
        assert robot.at(down(0.4, 0.2, 0.4))
        assert capsys.readouterr().out.startswith("ARRIVED, REACHED: ")
    elif "/basis_ik/stop" in line:
        robot.wait_status(state="STOPPED")
        robot.send("base_link", down(0.4, 0.2, 0.3))
        robot.run(0.5)
        assert robot.statuses[-1]["state"] == "STOPPED"
    elif "/basis_ik/enable" in line:
        robot.wait_status(state="READY")


def test_from_the_demo_to_an_arm_of_ones_own(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with Story(tmp_path) as story:
        for language, text in (block for page in PAGES[:3] for block in blocks(page)):
            if language == "xml":
                (tmp_path / "my_arm.urdf").write_text(text)
            elif language == "text":
                assert text in capsys.readouterr().out
            else:
                assert language == "bash"
                for line in commands(text):
                    story.give(line)
                    check(line, story, capsys)


@pytest.fixture
def clone(tmp_path):
    """Return a copy of what the last page changes, checks and tests, and an environment for it."""
    root, tools = tmp_path / "clone", tmp_path / "tools"
    for name in ("basis_ik", "test", "examples", "urdf"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, root / name)
    (root / "underlay").mkdir()
    (root / "underlay" / "setup.sh").touch()
    (root / "underlay" / "env.sh").touch()
    tools.mkdir()
    for name, line in TOOLS.items():
        (tools / name).write_text(f"#!/bin/sh\n{line}\n")
        (tools / name).chmod(0o755)
    path = os.pathsep.join([str(tools), ENVIRONMENT["PATH"]])
    return root, {**ENVIRONMENT, "PATH": path, "DEPENDENCIES": "newest"}


def test_the_first_change(clone):
    """Really made, in a copy; what is followed by the words of a failure fails, and no other."""
    root, environment = clone
    found = [*blocks(PAGES[3]), ("", "")]
    for (language, text), (then, said) in itertools.pairwise(found):
        lines = commands(text) if language == "bash" else []
        for number, line in enumerate(lines, 1):
            fails = number == len(lines) and then == "text"
            done = subprocess.run(
                ["bash", "-c", line], cwd=root, env=environment,
                capture_output=True, text=True, timeout=600, check=False,
            )  # fmt: skip
            assert (done.returncode != 0) == fails, f"{line}\n{done.stdout}\n{done.stderr}"
            assert not fails or said.strip() in done.stdout
