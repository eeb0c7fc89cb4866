# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The oldest supported versions: required everywhere, and reported in one line."""

import ast
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from basis_ik import dependencies
from basis_ik.dependencies import OLDEST_VERSIONS, DependencyError, check_dependencies
from basis_ik.errors import BasisIkError

ROOT = Path(__file__).parents[1]
SET_UP = ROOT / "underlay" / "setup.sh"
PACKAGES = [name for name in OLDEST_VERSIONS if name != "python"]
UR5E = str(ROOT / "urdf" / "ur5e.urdf")
INSPECT = ["-m", "basis_ik", "inspect", "--urdf", UR5E]


@pytest.fixture
def python(tmp_path):
    """Run Python where packages are older than they are; return status, stdout and stderr."""

    def run(words, **versions):
        for name, old in versions.items():
            # Whoever comes as far as importing it sees something else than our line.
            (tmp_path / f"{name}.py").write_text("raise AttributeError('too old')")
            folder = tmp_path / f"{name}-{old}.dist-info"
            folder.mkdir()
            (folder / "METADATA").write_text(f"Name: {name}\nVersion: {old}\n")
        path = os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, *words],
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_the_command_line_reports_it_in_one_line(python):
    assert python(INSPECT, numba="0.55.2") == (
        1,
        "",
        "python -m basis_ik: error: basis_ik needs numba 0.56.4 or newer; this is 0.55.2: "
        "upgrade it, pip install -U numba\n",
    )


def test_a_node_reports_it_in_one_line(python):
    status, out, err = python(["-m", "basis_ik.programs", "ik_node"], transforms3d="0.3.1")
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "ik_node: basis_ik needs transforms3d 0.4 or newer; this is 0.3.1: "
        "upgrade it, pip install -U transforms3d"
    ]


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("basis_ik.numerics.jit", "numba"),
        ("basis_ik.solvers.pose.solve", "numba"),
        ("basis_ik.transforms.quaternion", "transforms3d"),
        ("basis_ik.transforms.rigid", "transforms3d"),
    ],
)
def test_it_is_reported_before_the_import(python, module, package):
    status, _, err = python(["-c", f"import {module}"], **{package: "0.1"})
    assert status == 1
    assert f"DependencyError: basis_ik needs {package}" in err
    assert "too old" not in err


@pytest.mark.parametrize("name", OLDEST_VERSIONS)
@pytest.mark.parametrize(
    ("change", "fits"), [(-1, False), (0, True), (1, True)], ids=["older", "same", "newer"]
)
def test_the_oldest_version_is_accepted_and_older_ones_are_not(monkeypatch, name, change, fits):
    first, last = OLDEST_VERSIONS[name].rsplit(".", 1)
    found = f"{first}.{int(last) + change}"
    theirs = lambda asked: found if asked == name else "999.0"  # noqa: E731
    monkeypatch.setattr(dependencies, "version", theirs)
    monkeypatch.setattr(platform, "python_version", lambda: theirs("python"))
    if fits:
        check_dependencies()
        return
    with pytest.raises(
        DependencyError, match=f"{name} {OLDEST_VERSIONS[name]} or newer; this is {found}"
    ):
        check_dependencies()


@pytest.mark.parametrize(
    ("found", "fits"),
    [("1.24.2+ds1", True), ("1.23.5+local9", False), ("1.100", True), ("1.24rc1", True)],
)
def test_versions_are_compared_as_numbers(monkeypatch, found, fits):
    monkeypatch.setattr(dependencies, "version", lambda name: found if name == "numpy" else "999")
    if fits:
        check_dependencies()
        return
    with pytest.raises(DependencyError):
        check_dependencies()


def test_a_package_without_a_version_is_accepted(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(dependencies, "version", missing)
    check_dependencies()


def test_the_error_is_ours_and_an_import_error():
    assert issubclass(DependencyError, BasisIkError)
    assert issubclass(DependencyError, ImportError)


def test_setup_and_readme_have_the_same_versions():
    (call,) = (
        node
        for node in ast.walk(ast.parse((ROOT / "setup.py").read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setup"
    )
    asked = {word.arg: word.value for word in call.keywords}
    assert ast.literal_eval(asked["python_requires"]) == f">={OLDEST_VERSIONS['python']}"
    required = ast.literal_eval(asked["install_requires"])
    assert sorted(required) == sorted(f"{name}>={OLDEST_VERSIONS[name]}" for name in PACKAGES)
    (sentence,) = re.findall(r"The solver needs no ROS: ([^\n]*) or newer\.", readme())
    assert {
        word.lower(): text for word, text in re.findall(r"(\w+) ([\d.]+)", sentence)
    } == OLDEST_VERSIONS


def test_quick_start_and_set_up_need_the_same_python():
    assert f"with Python {OLDEST_VERSIONS['python']} or newer" in readme()
    if SET_UP.exists():
        major, minor = OLDEST_VERSIONS["python"].split(".")
        assert f"sys.version_info < ({major}, {minor})" in SET_UP.read_text()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "Makefile", "underlay/README.md"])
def test_each_set_of_versions_is_documented(page):
    (words,) = re.findall(r"unknown\. Choose (newest[\w, ]+)\.", SET_UP.read_text())
    names = re.findall(r"\w+", words.replace(" or ", ", "))
    for name in names:
        assert (ROOT / "underlay" / "requirements" / f"{name}.txt").exists()
        if name != "newest":  # what one has anyhow
            assert re.search(rf"DEPENDENCIES=[\w|]*\b{name}\b", (ROOT / page).read_text()), name


def test_the_run_with_lyricals_has_ubuntus_versions():
    if os.environ.get("DEPENDENCIES") == "lyrical":
        assert version("numba").startswith("0.64.")
        assert version("numpy").startswith("2.3.")


def test_the_run_with_the_oldest_has_the_oldest_versions():
    if os.environ.get("DEPENDENCIES") == "oldest":
        for name in PACKAGES:
            assert f"{version(name)}.".startswith(f"{OLDEST_VERSIONS[name]}."), (
                f"{name} {version(name)}"
            )


def readme():
    return (ROOT / "README.md").read_text()
