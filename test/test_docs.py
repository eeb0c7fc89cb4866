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

"""The documentation matches the code, and its link targets exist."""

import ast
import re
from pathlib import Path

import pytest
import yaml

from basis_ik.motion.admission import Refusal
from basis_ik.motion.chain_state import State
from basis_ik.verdict import Verdict

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("underlay/*.md")])
# What the node never reports: it solves without a bound on the move, and one task at a time.
LIBRARY_ONLY = {"MOVE_BOUND", "STEP_BOUND", "OTHER_TASKS"}
# What needs no help.
FINE = {"REACHED", "MOVING", "ARRIVED", "BRAKING"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_link_targets_exist(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_figure_is_used():
    shown = {
        name
        for page in PAGES
        for name in re.findall(r"\((?:docs/)?figures/(\w+\.svg)\)", page.read_text())
    }
    assert shown == {path.name for path in (ROOT / "docs" / "figures").glob("*.svg")}


def test_the_readme_counts_the_demos_targets_and_frames():
    targets = yaml.safe_load((ROOT / "config" / "demo_targets.yaml").read_text())["targets"]
    words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    frames = words[len({each["frame"] for each in targets})]
    text = (ROOT / "README.md").read_text()
    assert re.findall(r"in (\w+) tf frames", text) == [frames, frames]
    assert re.findall(r"walks through (\w+) targets", text) == [words[len(targets)]]


def test_every_status_text_has_a_remedy():
    text = (ROOT / "docs" / "troubleshooting.md").read_text()
    for names in (Verdict, Refusal, State):
        for name in {each.name for each in names} - LIBRARY_ONLY - FINE:
            assert f"`{name}`" in text, f"{name} is not in the troubleshooting page"


def test_files_named_in_the_architecture_exist():
    text = (ROOT / "docs" / "architecture.md").read_text()
    names = set(
        re.findall(
            r"`((?:numerics|transforms|robot|search|pose|look|tasks|path|fabrik|bones|motion|ros|test)/[\w/]+\.py)`",
            text,
        )
    )
    assert len(names) > 20
    ahead = {"robot/collisions.py"}  # what comes next
    found = {
        name for name in names if (ROOT / "basis_ik" / name).exists() or (ROOT / name).exists()
    }
    assert names - found == ahead


def test_the_commands_of_the_shell_are_listed():
    """The sub-commands of the `ros2` that `make shell` has without an installation of ROS 2."""
    tree = ast.parse((ROOT / "underlay/basis_ik_underlay/ros2cli/__init__.py").read_text())
    (there,) = (
        [key.value for key in node.value.keys]
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict)
    )
    text = (ROOT / "README.md").read_text()
    (listed,) = re.findall(r"its `ros2` has the commands ([\w,\s]*?), and no others", text)
    assert set(re.findall(r"\w+", listed)) - {"and"} == set(there)
