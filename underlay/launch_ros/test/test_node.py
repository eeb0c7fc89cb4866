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

"""What a node is started with."""

import sys

import pytest
from launch import LaunchContext, LaunchDescription, LaunchService, logging
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

REPORT = """#!{python}
import sys
for word in sys.argv[1:]:
    print(word)
    if word.startswith("/tmp/launch_params") or word.endswith(".yaml"):
        print(open(word).read())
import rclpy
rclpy.init()
node = rclpy.create_node("own", automatically_declare_parameters_from_overrides=True)
values = {{name: parameter.value for name, parameter in node._parameters.items()}}
values = {{name: value for name, value in values.items() if name in "tnbls"}}
print("REPORT", node.get_fully_qualified_name(), values)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Make a package with one executable, in an ament prefix of its own."""
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    program = tmp_path / "lib" / "pkg" / "report"
    for folder in (index, program.parent, tmp_path / "share" / "pkg"):
        folder.mkdir(parents=True)
    (index / "pkg").touch()
    program.write_text(REPORT.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    logging.log_dir.cache_clear()
    logging._logger.cache_clear()
    return tmp_path


@pytest.fixture
def run(package, capsys):
    """Start the node; return the return code, and the lines that it wrote."""

    def start(*before, **arguments):
        node = {"package": "pkg", "executable": "report", "output": "screen", **arguments}
        service = LaunchService(noninteractive=True)
        service.include_launch_description(LaunchDescription([*before, Node(**node)]))
        code = service.run()
        lines = capsys.readouterr().out.splitlines()
        return code, [line.partition("] ")[2] for line in lines]

    return start


def test_names_arguments_and_remappings(run):
    code, lines = run(
        DeclareLaunchArgument("level", default_value="debug"),
        name="arm",
        namespace="robot",
        arguments=["-a", "b"],
        ros_arguments=["--log-level", ["arm:=", LaunchConfiguration("level")]],
        remappings=[("from", "to")],
    )
    assert code == 0
    words = "-a b --ros-args --log-level arm:=debug -r __node:=arm -r __ns:=/robot -r from:=to"
    assert [line for line in lines if line in words.split()] == words.split()
    assert "REPORT /robot/arm {}" in lines


def test_parameters_of_every_type_and_rank(run, package):
    file = package / "p.yaml"
    file.write_text("/**:\n  ros__parameters:\n    t: file\n    n: 1.0\n")
    code, lines = run(
        DeclareLaunchArgument("yes", default_value="true"),
        parameters=[
            str(file),
            {
                "t": "1e-3",
                "b": ParameterValue(LaunchConfiguration("yes"), value_type=bool),
                "l": ["on", "2"],
                "s": "ä: 'b' \"c\"\n\n# d",
            },
        ],
    )
    assert code == 0
    (report,) = [line for line in lines if line.startswith("REPORT")]
    assert eval(report.removeprefix("REPORT /own ")) == {
        "t": "1e-3",
        "n": 1.0,
        "b": True,
        "l": ["on", "2"],
        "s": "ä: 'b' \"c\"\n\n# d",
    }


def test_a_node_that_is_fully_named_gets_parameters_that_outrank_those_of_a_file(run, package):
    file = package / "p.yaml"
    file.write_text("/robot/arm:\n  ros__parameters:\n    n: 1.0\n")
    _, lines = run(name="arm", namespace="robot", parameters=[str(file), {"n": 2.0}])
    assert "REPORT /robot/arm {'n': 2.0}" in lines


def test_an_empty_namespace_is_the_root(run):
    _, lines = run(namespace="")
    assert "__ns:=/" in lines


def test_a_file_that_is_not_there_is_told_and_left_out(run):
    code, lines = run(parameters=["no/such/file.yaml"])
    assert code == 0
    assert any("Parameter file path is not a file: no/such/file.yaml" in line for line in lines)
    assert "--params-file" not in lines


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ({"executable": "shout"}, "executable 'shout' not found on the libexec directory '"),
        ({"package": "no_such_package"}, "package 'no_such_package' not found"),
    ],
)
def test_what_is_not_installed_is_named(run, names, reason):
    code, lines = run(**names)
    assert code == 1
    assert any(reason in line for line in lines)


@pytest.mark.parametrize(
    ("text", "kind", "value"), [("1", float, 1.0), ("0", bool, False), ("1", str, "1")]
)
def test_the_type_of_a_parameter(text, kind, value):
    got = ParameterValue(text, value_type=kind).evaluate(LaunchContext())
    assert (got, type(got)) == (value, kind)


def test_what_is_not_of_the_type_is_refused():
    with pytest.raises(ValueError, match="could not convert string to float: 'x'"):
        ParameterValue("x", value_type=float).evaluate(LaunchContext())


def test_the_share_directory(package):
    assert FindPackageShare("pkg").perform(LaunchContext()) == f"{package}/share/pkg"
