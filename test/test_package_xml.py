# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""package.xml names what is imported and started, each by the tag that fits, and nothing else."""

import ast
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUN = sorted([*(ROOT / "basis_ik").rglob("*.py"), *(ROOT / "launch").glob("*.py")])
TEST = sorted([ROOT / "conftest.py", *(ROOT / "test").rglob("*.py")])
BENCH = (ROOT / "benchmark").glob("*.py")
OURS = {"basis_ik", *(path.stem for path in (*TEST, *BENCH))}
# What comes by a rosdep key or in a package that is named otherwise.
KEYS = {
    "hypothesis": "python3-hypothesis",
    "llvmlite": "python3-numba",  # part of it
    "mujoco": "python3-mujoco-pip",
    "numba": "python3-numba",
    "numpy": "python3-numpy",
    "pip": "python3-pip",
    "pytest": "python3-pytest",
    "tf2_ros": "tf2_ros_py",
    "transforms3d": "python3-transforms3d",
    "yaml": "python3-yaml",
}
# rosdep's `ruckig` is the C++ library alone; `conftest.py` says where the binding comes from. Only
# recordings need mcap, and whoever makes or reads one is told where it comes from; so it is with
# pictures of maps and matplotlib, whose key would bring it to every robot, with clusters, with
# datasets and LeRobot, with viser and what comes with it, which only the web view needs, and with
# coal.
WITHOUT_KEY = {
    "PIL", "coal", "distributed", "lerobot", "matplotlib", "mcap", "playwright", "pyarrow", "rich",
    "ruckig", "trimesh", "viser", "websockets",
}  # fmt: skip


def imported(tree):
    """Yield the imported modules, by their first name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


def started(tree):
    """Yield the packages of the nodes that are launched."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Node", "LifecycleNode"):
            yield from (each.value.value for each in node.keywords if each.arg == "package")


def commanded(text):
    """Yield the packages of the commands `ros2 ...` and the programs `python -m ...`.

    A pattern that such a command is compared with runs none.
    """
    run = r'(?<!case \[")\bros2(?:"\)?,|\()\s*"(\w+)"'
    yield from (f"ros2{verb}" for verb in re.findall(run, text))
    yield from (KEYS[name] for name in re.findall(r'"-m", "(\w+)"', text) if name in KEYS)


def needed(text):
    """Return the packages and keys that a Python file needs."""
    tree = ast.parse(text)
    modules = set(imported(tree)) - sys.stdlib_module_names - OURS - WITHOUT_KEY
    named = {KEYS.get(name, name) for name in modules}
    return named | (set(started(tree)) - OURS) | set(commanded(text))


def all_needed(paths):
    return set().union(*(needed(path.read_text()) for path in paths))


def declared(tag):
    names = [each.text for each in ET.parse(ROOT / "package.xml").iter(tag)]
    assert names == sorted(set(names)), f"<{tag}>: in alphabetical order, each once"
    return set(names)


def test_runtime_dependencies_are_complete():
    assert declared("exec_depend") == all_needed(RUN) | {"ros2launch"}  # opens its launch files


def test_test_dependencies_are_complete():
    assert declared("test_depend") == all_needed(TEST) - declared("exec_depend")


def test_what_comes_from_pip_is_installed_only_on_request():
    """A package with a rosdep key of pip cannot be released, and pip refuses system Pythons."""
    needs = ET.parse(ROOT / "package.xml").iter("exec_depend")
    asked = {each.text: each.get("condition") for each in needs}
    from_pip = {name: condition for name, condition in asked.items() if name.endswith("-pip")}
    assert from_pip == {"python3-mujoco-pip": "$BASIS_IK_PHYSICS == mujoco"}


def test_there_are_no_other_kinds_of_dependency():
    tags = {each.tag for each in ET.parse(ROOT / "package.xml").getroot()}
    assert {tag for tag in tags if tag.endswith("depend")} == {"exec_depend", "test_depend"}


def test_no_address_leads_to_somebody_else():
    """Until there are a repository and a mailbox, all addresses are in .invalid."""
    package = ET.parse(ROOT / "package.xml").getroot()
    mails = {each.get("email") for each in package.iter() if each.get("email")}
    urls = {each.get("type"): each.text for each in package.iter("url")}
    assert set(urls) == {"website", "repository", "bugtracker"}
    setup = (ROOT / "setup.py").read_text()
    assert set(re.findall(r"[\w.]+@[\w.-]+", setup)) == mails
    assert f'url="{urls["website"]}"' in setup
    for address in (*mails, *urls.values()):
        assert re.match(r"(https://|\w+@)basis-ik\.invalid(/|$)", address)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f():\n    from nav_msgs.msg import Path", {"nav_msgs"}),
        ("import tf2_ros.buffer", {"tf2_ros_py"}),
        ("import yaml, os, basis_ik.errors, ruckig", {"python3-yaml"}),
        ("Node(package='joy', executable='joy_node')", {"joy"}),
        ("Node(package='basis_ik', executable='ik_node')", set()),
        ('run(["ros2", "topic", "list"])', {"ros2topic"}),
        ('run([which("ros2"), "launch"])', {"ros2launch"}),
        ('ros2(\n    "node", "list")', {"ros2node"}),
        ('[sys.executable, "-m", "pip", "-m", "basis_ik"]', {"python3-pip"}),
    ],
)
def test_imports_of_a_file_are_found(text, names):
    assert needed(text) == names


def test_set_up_needs_only_packages_that_rosdep_installs():
    (names,) = re.findall(r'^names = "([\w ]+)"', (ROOT / "underlay/setup.sh").read_text(), re.M)
    assert {KEYS.get(name, name) for name in names.split()} <= (
        declared("exec_depend") | declared("test_depend")
    )
