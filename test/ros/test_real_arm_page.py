# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters in docs/real_arm.md; its commands run in test_documented_commands.py."""

import re
import shlex
from pathlib import Path

from basis_ik.ros.parameters import ik_parameters

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "real_arm.md").read_text()
CONTROLLER = "scaled_joint_trajectory_controller"
DECLARED = {
    each.name: each for each in (*ik_parameters.NODE_PARAMETERS, *ik_parameters.CHAIN_PARAMETERS)
}


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
