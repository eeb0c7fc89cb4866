# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""`pip install .`: the library and a command, and the ROS programs only where ROS is."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

from basis_ik.programs import MODULES

ROOT = Path(__file__).parents[1]
SOURCES = ["basis_ik", "config", "launch", "resource", "rviz", "urdf", "package.xml", "README.md",
           "setup.cfg", "setup.py"]  # fmt: skip
# All that setup.py asks for, and what that needs in turn.
NEEDED = ["llvmlite", "numba", "numpy", "transforms3d"]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy: pip leaves its `build` where the sources are."""
    folder = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """What `setup.py` asks for, and nothing else of this environment: no ROS."""
    folder = tmp_path_factory.mktemp("libraries")
    for name in NEEDED:
        if (spec := find_spec(name)) is not None:
            package = Path(spec.origin).parent
            for each in package.parent.glob(f"{name}*"):  # with its libraries and its version
                (folder / each.name).symlink_to(each)
    return folder


def install(sources, folder, ros):
    """Install with pip into a folder; return the names of the programs."""
    environment = {key: each for key, each in os.environ.items() if key != "AMENT_PREFIX_PATH"}
    if ros:
        environment["AMENT_PREFIX_PATH"] = "/opt/ros"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps",
         "--no-build-isolation", "--target", str(folder), str(sources)],
        env=environment, check=True, timeout=300,
    )  # fmt: skip
    return {each.name for each in (folder / "bin").iterdir()}


@pytest.fixture(scope="module")
def without_ros(sources, tmp_path_factory):
    folder = tmp_path_factory.mktemp("without_ros")
    return folder, install(sources, folder, ros=False)


@pytest.fixture(scope="module")
def with_ros(sources, tmp_path_factory):
    folder = tmp_path_factory.mktemp("with_ros")
    return folder, install(sources, folder, ros=True)


@pytest.fixture
def run(libraries):
    """Run Python with an installation and the libraries alone; return status and output."""

    def run(folder, *words, cwd=ROOT):
        done = subprocess.run(
            [sys.executable, "-S", *words],
            cwd=cwd,
            env=os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{libraries}"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_without_ros_one_command_is_installed(without_ros):
    assert without_ros[1] == {"basis_ik"}


def test_the_package_describes_itself_and_the_readme_its_extras(without_ros):
    (package,) = distributions(name="basis_ik", path=[str(without_ros[0])])
    text = (ROOT / "README.md").read_text()
    assert package.metadata["Description-Content-Type"] == "text/markdown"
    assert package.metadata["Description"].strip() == text.strip()
    (table,) = re.findall(r"^\| extra \|.*?\n\n", text, re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE))
    assert named == set(package.metadata.get_all("Provides-Extra")) - {"test"}


def test_with_ros_the_programs_are_installed_too(with_ros):
    assert with_ros[1] == {"basis_ik", "warm_up", *MODULES}


def test_the_example_of_the_readme_runs(without_ros, run, tmp_path):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    script = tmp_path / "example.py"
    script.write_text(f"{example}\nimport basis_ik\nprint(basis_ik.__file__)\n")
    status, out, err = run(without_ros[0], str(script), cwd=tmp_path)
    assert status == 0, err
    assert "Verdict.REACHED reached" in out
    assert out.splitlines()[-1] == str(without_ros[0] / "basis_ik" / "__init__.py")


def test_the_command_solves(without_ros, run):
    folder, _ = without_ros
    status, out, err = run(
        folder, str(folder / "bin" / "basis_ik"), "solve", "--urdf", "urdf/panda.urdf",
        "--xyz", "0.4", "0.1", "0.5", "--rpy", "3.14159", "0", "0",
    )  # fmt: skip
    assert (status, err) == (0, "")
    assert out.startswith("panda_link0 -> panda_hand_tcp: reached")
    refused = run(folder, str(folder / "bin" / "basis_ik"), "solve")
    assert refused[2].startswith("basis_ik solve: error: ")


@pytest.mark.parametrize("program", MODULES)
def test_a_program_reports_in_one_line_that_ros_is_missing(with_ros, run, program):
    folder, _ = with_ros
    status, out, err = run(folder, str(folder / "bin" / program))
    assert (status, out) == (1, "")
    assert err.startswith(f"{program}: needs ROS 2, which this Python does not have")
    assert err.count("\n") == 1
