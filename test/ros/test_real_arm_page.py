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

"""The commands in docs/real_arm.md match the node and the arm."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from basis_ik.ros.parameters import ik_parameters

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "real_arm.md").read_text()
CONTROLLER = "scaled_joint_trajectory_controller"
# Of ros2_control and of the shell: what runs on a robot only, or is no name of ours.
ELSEWHERE = {"ros2 control", "ros2 node", "ros2 run", "xacro", "python", "export", "pkill"}
FILES = {"cp", "echo"}
LOOKED_AT = {f"ros2 {verb}" for verb in ("topic", "service", "param", "lifecycle", "launch")}
DECLARED = {each.name: each for each in (*ik_parameters.NODE, *ik_parameters.CHAIN)}


def commands():
    """Return the words of each command in the page's blocks, comments left out."""
    blocks = re.findall(r"^```bash\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines]


def of(beginning):
    """Return the words that follow in each command that begins like this."""
    words = beginning.split()
    found = [line[len(words) :] for line in commands() if line[: len(words)] == words]
    assert found, beginning
    return found


def test_every_command_is_of_a_tested_kind():
    for line in commands():
        assert line[0] in ELSEWHERE | FILES or " ".join(line[:2]) in LOOKED_AT | ELSEWHERE, line


@pytest.mark.parametrize("line", of("ros2 param set /basis_ik"), ids=lambda line: line[0])
def test_parameters_that_are_set_accept_the_value(line):
    name, value = line
    declared = DECLARED[name]
    assert not declared.read_only
    assert declared.low <= yaml.safe_load(value) <= declared.high


def test_parameters_that_are_read_exist():
    # Of ros2_control, as on the page.
    assert of(f"ros2 param get /{CONTROLLER}") == [["state_interfaces"]]
    for (name,) in of("ros2 param get /basis_ik"):
        assert name in DECLARED
    for name in re.findall(r"`(\w+): [^`]*`", PAGE):
        assert name in DECLARED, name


def test_parameters_to_set_before_the_start_are_read_only():
    names = [line.split(":")[0].strip() for line, *_ in of("echo")]
    assert len(names) == 3
    assert all(DECLARED[name].read_only for name in names)


def test_launch_files_and_their_arguments_exist():
    for package, file, *arguments in of("ros2 launch"):
        assert package == "basis_ik"
        text = (ROOT / "launch" / file).read_text()
        for argument in arguments:
            assert f'"{argument.split(":=")[0]}"' in text


def test_transitions_are_those_of_a_managed_node():
    for node, transition in of("ros2 lifecycle set"):
        assert (node, transition) in {("/basis_ik", "configure"), ("/basis_ik", "activate")}
