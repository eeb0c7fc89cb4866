# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The tests run where the package is used: stock ROS 2 with `colcon test`, and a bare Ubuntu."""

import re
import runpy
from collections import Counter
from contextlib import nullcontext
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import yaml
from launch_ros.actions import Node

from basis_ik.robot.robot import RobotModel

ROOT = Path(__file__).parents[1]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
JOBS = WORKFLOW["jobs"]


@pytest.fixture
def launch_file():
    spec = spec_from_file_location("ros2_control", ROOT / ".ci" / "ros2_control.launch.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def script(job):
    return "\n".join(step["run"] for step in JOBS[job]["steps"] if "run" in step)


def test_every_supported_distribution_is_tested_in_its_official_container():
    ros = JOBS["ros"]
    assert ros["strategy"]["matrix"]["distro"] == ["jazzy", "lyrical", "rolling"]
    assert ros["container"] == "ros:${{ matrix.distro }}"
    assert not ros["strategy"]["fail-fast"]  # the others are of interest all the same


def test_containers_install_the_dependencies_and_run_colcon_test():
    found = [
        script("ros").index(command)
        for command in (
            "rosdep install --from-paths src --ignore-src -y",
            "colcon build",
            "colcon test ",
            "colcon test-result --verbose",
        )
    ]
    assert found == sorted(found)


def test_everything_runs_each_week_too():
    """What is not pinned moves without a push."""
    (when,) = WORKFLOW[True]["schedule"]  # YAML reads `on` as true
    *_, days, _, weekday = when["cron"].split()
    assert (days, weekday) == ("*", "1")
    only_then = {name: job["if"] for name, job in JOBS.items() if "if" in job}
    assert only_then == {"long": "github.event_name == 'schedule'"}
    assert "make test-long" in script("long")


@pytest.mark.parametrize("job", JOBS)
def test_every_job_has_a_time_limit_and_ends_alone(job):
    assert 10 <= JOBS[job]["timeout-minutes"] <= 120
    if "strategy" in JOBS[job]:
        assert not JOBS[job]["strategy"]["fail-fast"]


def test_a_machine_without_ros_follows_the_readme():
    (install,) = re.findall(r"sudo apt install ([\w +.-]+)", (ROOT / "README.md").read_text())
    for job in ("bare", "dependencies", "faults", "long"):
        assert f"apt-get install -y {install}\n" in script(job)
    assert script("bare").splitlines()[-2:] == ["make demo", ".ci/run"]


def test_a_cached_setup_is_that_of_its_inputs_and_not_of_the_weekly_run():
    (step,) = (each for each in JOBS["bare"]["steps"] if "cache" in each.get("uses", ""))
    for source in ("underlay/**", "setup.py", "setup.cfg", "package.xml"):
        assert f"'{source}'" in step["with"]["key"]
    assert "restore-keys" not in step["with"]
    assert "!.setup/*/stamps/kernels*" in step["with"]["path"].split()
    assert step["if"] == "github.event_name != 'schedule'"


def test_every_set_of_versions_runs_all_tests():
    sets = {
        each["dependencies"]: each for each in JOBS["dependencies"]["strategy"]["matrix"]["include"]
    }
    (words,) = re.findall(
        r"unknown\. Choose newest, ([\w, ]+)\.", (ROOT / "underlay" / "setup.sh").read_text()
    )
    assert sets.keys() == set(re.findall(r"\w+", words.replace(" or ", ", ")))
    assert sets["oldest"]["container"] == "debian:12"  # whose packages it unpacks
    assert script("dependencies").splitlines()[-1] == ".ci/run"


def test_every_fault_is_tested_without_ros():
    assert script("faults").splitlines()[-1] == "make faults"


def test_the_site_is_built_on_every_push():
    assert script("site").splitlines()[-1] == "make site"


def test_each_middleware_gets_what_it_needs():
    job = JOBS["middleware"]
    assert job["strategy"]["matrix"]["rmw"] == [
        "rmw_fastrtps_cpp",
        "rmw_cyclonedds_cpp",
        "rmw_zenoh_cpp",
    ]
    assert job["env"]["RMW_IMPLEMENTATION"] == "${{ matrix.rmw }}"
    router, _, test = script("middleware").splitlines()[-3:]
    assert "ros2 run rmw_zenoh_cpp rmw_zenohd &" in router
    assert test == "python -m pytest -q test/ros/test_middleware.py"


def test_the_library_runs_on_every_python_and_with_plain_numba():
    versions = ["3.10", "3.11", "3.12", "3.13", "3.14"]
    library = JOBS["library"]
    assert JOBS["pip"]["strategy"]["matrix"]["python"] == versions
    assert library["strategy"]["matrix"]["python"] == versions
    assert [each["compiler"] for each in library["strategy"]["matrix"]["include"]] == [
        "plain numba"
    ]
    assert library["env"] == {
        "BASIS_IK_PLAIN_NUMBA": "${{ matrix.compiler == 'plain numba' && '1' || '' }}"
    }


def test_the_tests_of_every_package_of_the_library_run_without_ros():
    packages = {path.parent.name for path in (ROOT / "basis_ik").glob("*/__init__.py")}
    tested = set(re.findall(r"\btest/(\w+)", script("library")))
    assert tested == packages - {"ros"}


def test_ros2_control_moves_the_arm_of_the_demo(launch_file):
    text = launch_file.description(ROOT)
    joints = ElementTree.fromstring(text).findall("ros2_control/joint")
    controllers = yaml.safe_load(launch_file.CONTROLLERS.read_text())
    controller = controllers["joint_trajectory_controller"]["ros__parameters"]
    arm = RobotModel.from_urdf(text).chain()
    assert [joint.get("name") for joint in joints] == controller["joints"] == [*arm.joint_names]
    for joint in joints:
        assert [each.get("name") for each in joint] == [
            *controller["command_interfaces"],
            *controller["state_interfaces"],
        ]


def test_ros2_control_is_started_like_its_documentation(launch_file):
    nodes = [each for each in launch_file.generate_launch_description().entities
             if isinstance(each, Node)]  # fmt: skip
    assert len(nodes) == 5  # the tour comes when the controllers are there
    last = script("ros2_control").splitlines()[-1].split()
    assert ROOT / last[-1].removeprefix("src/basis_ik/") == Path(launch_file.__file__)
    assert "ros-jazzy-ros2-control ros-jazzy-ros2-controllers" in script("ros2_control")


def test_a_fresh_environment_gets_the_package_from_pip_and_runs_the_readme():
    assert "/tmp/fresh/bin/pip install .\n" in script("pip")
    assert "README.md" in script("pip")


def test_colcon_runs_the_tests_with_pytest(monkeypatch):
    """Without it in setup.py, colcon takes unittest, which finds none of them."""
    given = {}
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("setuptools.setup", given.update)
    runpy.run_path(str(ROOT / "setup.py"))
    assert given["extras_require"]["test"] == ["pytest"]


def test_a_link_to_setup_py_finds_the_readme(monkeypatch, tmp_path):
    """`colcon build --symlink-install` makes one; what cannot be found would be on stderr."""
    given = {}
    (tmp_path / "setup.py").symlink_to(ROOT / "setup.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("setuptools.setup", given.update)
    runpy.run_path("setup.py")
    assert given["long_description"] == (ROOT / "README.md").read_text()


@pytest.mark.parametrize("dependencies", ["newest", "stock", "oldest"])
def test_pytest_is_compatible_with_jazzys_launch_testing(dependencies):
    """Those of Lyrical run with its own, on a later pytest."""
    pins = (ROOT / "underlay" / "requirements" / f"{dependencies}.txt").read_text()
    assert int(re.search(r"^pytest==(\d+)", pins, re.MULTILINE)[1]) < 9


def test_names_of_test_files_are_unique():
    """launch_testing imports each by its bare name, and refuses the second of a name."""
    names = Counter(path.name for path in (ROOT / "test").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize(("length", "fits"), [(200, True), (201, False)])
def test_an_id_that_is_too_long_for_the_environment_is_refused(request, length, fits):
    plugins = request.config.pluginmanager.get_plugins()
    (conftest,) = (plugin for plugin in plugins if hasattr(plugin, "LONGEST_ID"))
    items = [SimpleNamespace(nodeid="x" * length)]
    with nullcontext() if fits else pytest.raises(pytest.UsageError, match="give shorter ids"):
        conftest.pytest_collection_modifyitems(items)


# What a report and a commit are asked for ---------------------------------------------------------

PINS = {
    line
    for name in ("newest", "tools")
    for line in (ROOT / "underlay" / "requirements" / f"{name}.txt").read_text().splitlines()
}


def test_the_hooks_before_a_commit_are_those_of_make_lint():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    hooks = repository["hooks"]
    (lint,) = re.findall(r"then (.*); else", (ROOT / "Makefile").read_text())
    assert [hook["entry"] for hook in hooks] == lint.split(" && ")
    for pin in (pin for hook in hooks for pin in hook["additional_dependencies"]):
        assert {pin, f'{pin}; python_version >= "3.11"'} & PINS, pin


@pytest.mark.parametrize("form", ["bug", "request"])
def test_a_report_is_asked_for_by_a_form(form):
    """GitHub shows none of a form that lacks one of these."""
    text = (ROOT / ".github" / "ISSUE_TEMPLATE" / f"{form}.yml").read_text()
    found = yaml.safe_load(text)
    assert {"name", "description", "body"} <= found.keys()
    asked = [each for each in found["body"] if each["type"] != "markdown"]
    assert len({each["id"] for each in asked}) == len(asked)
    assert all(each["attributes"]["label"] for each in asked)
    assert asked[0]["validations"]["required"]


def test_the_report_of_a_fault_has_what_reproduces_it():
    text = (ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text()
    asked = {each.get("id"): each for each in yaml.safe_load(text)["body"]}
    assert {"version", "recording", "robot_description", "status"} <= asked.keys()
    distributions = [name.capitalize() for name in JOBS["ros"]["strategy"]["matrix"]["distro"]]
    options = asked["distribution"]["attributes"]["options"]
    assert options == [*distributions, "another", "none"]
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    for command in ("`-p record:=run.mcap`", " /basis_ik/status`"):
        assert command in text
        assert command in page


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    package = ElementTree.parse(ROOT / "package.xml")
    assert citation["version"] == package.findtext("version")
    assert citation["license"] == package.findtext("license")
    assert citation["authors"] == [{"name": package.findtext("author")}]
