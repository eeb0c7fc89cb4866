# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a node is started with."""

import sys

import pytest
from launch import LaunchContext
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

REPORT = """#!{python}
import sys
import rclpy
print(*sys.argv[1:])
rclpy.init()
node = rclpy.create_node("own", automatically_declare_parameters_from_overrides=True)
values = {{name: parameter.value for name, parameter in node._parameters.items()}}
del values["use_sim_time"], values["start_type_description_service"]
print(node.get_fully_qualified_name(), ascii(values))
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Make a package with one executable, in an ament prefix of its own."""
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    program = tmp_path / "lib" / "pkg" / "report"
    for folder in (index, program.parent):
        folder.mkdir(parents=True)
    (index / "pkg").touch()
    program.write_text(REPORT.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path), prepend=":")
    return tmp_path


@pytest.fixture
def start(package, run):
    """Start the node; return the return code, and what went to the screen."""

    def start_node(*before, **arguments):
        node = {"package": "pkg", "executable": "report", "output": "screen", **arguments}
        return run(*before, Node(**node))

    return start_node


def test_names_arguments_and_remappings(start):
    code, out = start(
        DeclareLaunchArgument("level", default_value="debug"),
        name="arm",
        namespace="robot",
        arguments=["-a", "b"],
        ros_arguments=["--log-level", ["arm:=", LaunchConfiguration("level")]],
        remappings=[("from", "to")],
    )
    assert code == 0
    assert (
        "] -a b --ros-args --log-level arm:=debug -r __node:=arm -r __ns:=/robot -r from:=to\n"
        "[report-1] /robot/arm {}\n" in out
    )


def test_parameters_of_every_type_and_rank(start, package):
    file = package / "p.yaml"
    file.write_text("/**:\n  ros__parameters:\n    t: file\n    n: 1.0\n")
    values = {"t": "1e-3", "l": ["on", "2"], "s": "\u00e4: 'b' \"c\"\n\n# d"}
    yes = ParameterValue(LaunchConfiguration("yes"), value_type=bool)
    declared = DeclareLaunchArgument("yes", default_value="true")
    _, out = start(declared, parameters=[str(file), {**values, "b": yes}])
    (report,) = [line for line in out.splitlines() if "/own" in line]
    assert eval(report.split("/own ")[1]) == {**values, "n": 1.0, "b": True}


def test_a_node_that_is_fully_named_gets_parameters_that_outrank_those_of_a_file(start, package):
    file = package / "p.yaml"
    entry = "{}:\n  ros__parameters:\n    n: 1.0\n"
    file.write_text(entry.format("/**") + entry.format("/arm"))
    _, out = start(name="arm", namespace="", parameters=[str(file), {"n": 2.0}])
    assert "/arm {'n': 2.0}\n" in out


def test_a_file_that_is_not_there_is_told_and_left_out(start):
    code, out = start(parameters=["no/such/file.yaml"])
    assert code == 0
    assert "Parameter file path is not a file: no/such/file.yaml" in out


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ({"executable": "shout"}, "executable 'shout' not found on the libexec directory '"),
        ({"package": "no_such_package"}, "package 'no_such_package' not found"),
    ],
)
def test_what_is_not_installed_is_named(start, names, reason):
    code, out = start(**names)
    assert code == 1
    assert reason in out


def test_a_parameter_whose_name_is_no_text_is_refused(start):
    code, out = start(parameters=[{5: "x"}])
    assert code == 1
    assert "TypeError: '5' is a int, where a text or a substitution is needed" in out


def test_what_is_not_of_the_type_is_refused():
    with pytest.raises(ValueError, match="could not convert string to float: 'x'"):
        ParameterValue("x", value_type=float).evaluate(LaunchContext())
