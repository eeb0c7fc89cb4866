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

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, GroupAction, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, SubstitutionFailure, TextSubstitution
from launch.utilities import perform_substitutions
from launch_ros.actions import Node, PushRosNamespace, SetParameter, SetRemap
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import (
    ExecutableInPackage,
    FindPackage,
    FindPackagePrefix,
    FindPackageShare,
)
from rclpy.exceptions import InvalidNamespaceException, InvalidNodeNameException

ECHO = 'echo "$@"'


def text(value):
    return TextSubstitution(text=value)


def ros_arguments(node, context=None):
    context = context or LaunchContext()
    node._perform_substitutions(context)
    cmd = [perform_substitutions(context, part) for part in node.cmd]
    return cmd[cmd.index("--ros-args") + 1 :]


def parameters(*given):
    """Return what a node gets: a dict of its one temporary file."""
    flag, file = ros_arguments(Node(executable="x", parameters=list(given)))
    assert flag == "--params-file"
    ((node, content),) = yaml.safe_load(Path(file).read_text()).items()
    assert (node, list(content)) == ("/**", ["ros__parameters"])
    return content["ros__parameters"]


def test_a_node_is_found_and_told_its_names(run, package):
    prefix = package("pkg", say=ECHO)
    node = Node(
        package="pkg",
        executable="say",
        name=["na", text("me")],
        namespace="ns",
        arguments=["-a", text("b")],
        ros_arguments=["--log-level", "debug"],
        remappings=[("from", "to"), ("~/x", [text("/y"), "z"])],
        output="screen",
    )
    code, out = run(node)
    assert code == 0
    assert (
        "[say-1] -a b --ros-args --log-level debug -r __node:=name -r __ns:=/ns -r from:=to "
        "-r ~/x:=/yz\n" in out
    )
    assert node.process_details["cmd"][0] == f"{prefix}/lib/pkg/say"
    assert node.node_name == "/ns/name"


def test_exec_name_condition_and_on_exit(run, package):
    package("pkg", say=ECHO)
    _, out = run(
        DeclareLaunchArgument("yes", default_value="true"),
        Node(
            package="pkg",
            executable="say",
            exec_name="speaker",
            condition=IfCondition(LaunchConfiguration("yes")),
            on_exit=Shutdown(),
        ),
        Node(package="pkg", executable="say", exec_name="mute", condition=IfCondition("false")),
    )
    assert "process[speaker-1] was required" in out
    assert "mute" not in out


def test_a_missing_package_is_named(run):
    code, out = run(Node(package="no_such_package", executable="x"))
    assert code == 1
    assert "package 'no_such_package' not found, searching: [" in out


def test_a_missing_executable_is_named_with_those_that_exist(run, package):
    prefix = package("pkg", say=ECHO, sing=ECHO)
    code, out = run(Node(package="pkg", executable="shout"))
    assert code == 1
    assert (
        f"executable 'shout' not found on the libexec directory '{prefix}/lib/pkg'; there are: "
        "say, sing\n" in out
    )
    package("bare")
    _, out = run(Node(package="bare", executable="x"))
    assert f"package 'bare' found at '{prefix}', but libexec directory" in out


@pytest.mark.parametrize(
    ("pushed", "own", "expected"),
    [
        ([], None, Node.UNSPECIFIED_NODE_NAMESPACE),
        ([], "own", "/own"),
        (["a"], "own", "/a/own"),
        (["a"], "/own", "/own"),
        (["a"], "/", "/"),
        (["a"], "", "/a"),
        (["a"], None, "/a"),
        (["a", "b"], "own", "/a/b/own"),
        (["a", "/b/"], "own", "/b/own"),
        ([""], None, "/"),
    ],
)
def test_namespaces_add_up(pushed, own, expected):
    context = LaunchContext()
    for namespace in pushed:
        PushRosNamespace(namespace).execute(context)
    node = Node(executable="x", name="n", namespace=own)
    arguments = ros_arguments(node, context)
    assert node.expanded_node_namespace == expected
    assert node.node_name == expected.rstrip("/") + "/n"
    assert (f"__ns:={expected}" in arguments) == (expected != node.UNSPECIFIED_NODE_NAMESPACE)


def test_pushed_settings_end_with_their_group(run, package):
    package("pkg", say=ECHO)

    def say(name):
        return Node(package="pkg", executable="say", exec_name=name, output="screen")

    _, out = run(
        GroupAction([PushRosNamespace("in"), SetRemap("a", "b"), say("inside")]), say("outside")
    )
    assert "[inside-1] --ros-args -r __ns:=/in -r a:=b\n" in out
    assert "[outside-2] --ros-args\n" in out


def test_parameters_for_all_come_before_those_of_the_node():
    context = LaunchContext()
    SetParameter("a", text("1.5")).execute(context)
    SetParameter("use_sim_time", True).execute(context)
    arguments = ros_arguments(Node(executable="x", parameters=[{"a": 2}]), context)
    assert arguments[:4] == ["-p", "a:=1.5", "-p", "use_sim_time:=true"]
    assert arguments[4] == "--params-file"


def test_parameters_of_a_fully_named_node_are_for_it_alone():
    node = Node(executable="x", name="n", namespace="/a/b", parameters=[{"p": 1}])
    file = ros_arguments(node)[-1]
    assert list(yaml.safe_load(Path(file).read_text())) == ["/a/b/n"]


def test_files_are_passed_on(tmp_path, capsys):
    file = tmp_path / "p.yaml"
    file.touch()
    given = [str(file), file, ParameterFile([text(str(tmp_path)), "/p.yaml"]), text(str(file))]
    assert ros_arguments(Node(executable="x", parameters=given)) == ["--params-file", str(file)] * 4
    assert "WARNING" not in capsys.readouterr().out
    assert ros_arguments(Node(executable="x", parameters=["no/such/file.yaml"])) == []
    assert "Parameter file path is not a file: no/such/file.yaml" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (1, 1),
        (2.5, 2.5),
        (True, True),
        ("true", "true"),
        ("1e-3", "1e-3"),
        ("a: b\n\n'c' \"d\"", "a: b\n\n'c' \"d\""),
        ("", ""),
        ([1, 2], [1, 2]),
        ((1, 2.5), [1.0, 2.5]),
        (["1", "true"], ["1", "true"]),
        ([True, False], [True, False]),
        (text("true"), True),
        (text("7"), 7),
        (text("word"), "word"),
        (text(""), ""),
        (text("[1.0, 2.0]"), [1.0, 2.0]),
        ([text("fiz"), "buz"], "fizbuz"),
        ([text("1"), "2"], 12),
        ([[text("fiz")], "buz"], ["fiz", "buz"]),
        ([[text("1")], [text("2")]], [1, 2]),
        (ParameterValue(text("1"), value_type=str), "1"),
        (ParameterValue([text("1"), ".0"], value_type=str), "1.0"),
        (ParameterValue(text("a: b"), value_type=str), "a: b"),
        (ParameterValue(text("1"), value_type=float), 1.0),
        (ParameterValue(text("3"), value_type=int), 3),
        (ParameterValue(text("True"), value_type=bool), True),
        (ParameterValue(False, value_type=bool), False),
        (ParameterValue(text("[1.0, 2.0]"), value_type=list[float]), [1.0, 2.0]),
        (ParameterValue([1, 2.0], value_type=list[float]), [1.0, 2.0]),
        (ParameterValue([1, text("2")], value_type=list[int]), [1, 2]),
        (ParameterValue([["a", text("b")], "c"], value_type=list[str]), ["ab", "c"]),
        (ParameterValue(text("8")), 8),
        (ParameterValue(text("")), ""),
        (ParameterValue("8"), "8"),
        (ParameterValue(["8"]), ["8"]),
    ],
)
def test_values(given, value):
    (got,) = parameters({"p": given}).values()
    assert got == value
    assert type(got) is type(value)
    if isinstance(value, list):
        assert [type(item) for item in got] == [type(item) for item in value]


def test_nested_dicts_and_keys_of_substitutions():
    assert parameters({"a": {"b": 1, text("c"): {"d": 2}}, (text("e"), "f"): 3}) == {
        "a.b": 1,
        "a.c.d": 2,
        "ef": 3,
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "Expected a non-empty sequence"),
        ([True, 1], "Expected a non-empty sequence.* for parameter p"),
        (text("[1, [2]]"), "Expected a non-empty sequence"),
        (text("{a: 1}"), "Allowed value types of parameter p are .* got dict"),
        (None, "None cannot be the value of parameter 'p'"),
        ([1, None], r"\[1, None\] cannot be the value of parameter 'p'"),
        (b"x", "cannot be the value of parameter 'p'"),
        (text("[1, 2.5]"), r"uniform type .* for parameter p; got \[1, 2.5\]"),
        ([1.5, text("2")], r"uniform type .* for parameter p; got \[1.5, 2\]"),
        (text("null"), "Allowed value types of parameter p are .* got NoneType"),
        (text("a : b : c"), "Unable to parse the value of parameter p as yaml.*value_type=str"),
    ],
)
def test_what_is_no_parameter_is_refused(given, message):
    with pytest.raises(TypeError, match=message):
        parameters({"p": given})


@pytest.mark.parametrize(
    "arguments",
    [
        {"parameters": {"a": 1}},
        {"parameters": ({"a": 1},)},
        {"parameters": [5.0]},
        {"parameters": [None]},
        {"parameters": [{5: "x"}]},
        {"parameters": [{"a": {5: "x"}}]},
        {"parameters": [{"a": None}]},
        {"remappings": {"a": "b"}},
        {"remappings": [["a", "b"]]},
        {"remappings": [("a", "b", "c")]},
        {"remappings": [("a", 5)]},
        {"ros_arguments": ("--log-level", "debug")},
        {"arguments": [5]},
        {"name": 5},
        {"namespace": 5},
        {"executable": 5},
        {"package": 5},
    ],
)
def test_what_upstream_refuses_is_refused_when_the_node_is_made(arguments):
    with pytest.raises(TypeError):
        Node(**{"executable": "x", **arguments})


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("5", int),
        (5, float),
        (5, str),
        (1, bool),
        (5, list[int]),
        ([1, 2], list[float]),
        ([1, 2.0], list[int]),
        ([1, 2], int),
        (["a", 1], None),
        (None, None),
    ],
)
def test_a_parameter_value_must_be_of_its_type(value, kind):
    with pytest.raises(TypeError):
        ParameterValue(value, value_type=kind)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (text("1.5"), int),
        (text("x"), float),
        (text("perhaps"), bool),
        (text("[1, 2]"), list[float]),
        (text("1"), list[int]),
        ([text("1"), "2"], list[int]),
        (text("{a: 1}"), None),
        (text("[1, a]"), None),
        (text("a : b : c"), None),
        ([1, [text("a")]], None),
    ],
)
def test_what_a_substitution_gives_must_be_of_the_type(value, kind):
    with pytest.raises(ValueError):  # noqa: PT011 (each with words of its own)
        ParameterValue(value, value_type=kind).evaluate(LaunchContext())


@pytest.mark.parametrize("kind", [dict, list, list[dict], "int"])
def test_there_are_no_other_types_of_parameters(kind):
    with pytest.raises(ValueError, match="unrecognized data type"):
        ParameterValue(text("1"), value_type=kind)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: ParameterFile(5.0), TypeError),
        (lambda: ParameterFile("x", allow_substs="true"), TypeError),
        (lambda: SetParameter("a", None), TypeError),
        (lambda: SetParameter(5, 1), TypeError),
        (lambda: SetRemap("a", 5), TypeError),
        (lambda: PushRosNamespace(5), TypeError),
    ],
)
def test_what_upstream_refuses_is_refused_when_it_is_made(make, error):
    with pytest.raises(error):
        make()


def test_names_that_no_node_can_have_are_refused():
    with pytest.raises(InvalidNodeNameException):
        ros_arguments(Node(executable="x", name="a b"))
    with pytest.raises(InvalidNamespaceException):
        ros_arguments(Node(executable="x", namespace="a//b"))
    with pytest.raises(SubstitutionFailure, match="the resulting namespace is invalid"):
        PushRosNamespace("a b").execute(LaunchContext())


def test_the_name_of_a_node_is_not_known_before_the_action_is_executed():
    node = Node(executable="x", name="n")
    with pytest.raises(RuntimeError, match="cannot access 'node_name' before executing action"):
        _ = node.node_name


def test_a_name_that_two_nodes_have_is_told(run, package):
    package("pkg", say=ECHO)
    names = {"package": "pkg", "executable": "say", "name": "n"}
    _, out = run(
        Node(**names, namespace="a"), Node(**names, namespace="b"), Node(**names, namespace="a")
    )
    assert out.count("there are now at least") == 1
    assert "[WARNING] [say-3]: there are now at least 2 nodes with the name /a/n created" in out


def test_the_ament_index(package):
    prefix = package("pkg", say=ECHO)
    context = LaunchContext()
    with pytest.raises(NotImplementedError, match="FindPackage does not say"):
        FindPackage("pkg").perform(context)
    assert FindPackagePrefix("pkg").perform(context) == str(prefix)
    assert FindPackageShare(["p", text("kg")]).perform(context) == f"{prefix}/share/pkg"
    found = ExecutableInPackage(package="pkg", executable="say").perform(context)
    assert found == f"{prefix}/lib/pkg/say"


REPORT = """
    import rclpy
    rclpy.init()
    node = rclpy.create_node(
        "own",
        allow_undeclared_parameters=True,
        automatically_declare_parameters_from_overrides=True,
    )
    topic = node.create_publisher(__import__("std_msgs.msg").msg.String, "from", 1).topic_name
    values = {name: node.get_parameter(name).value for name in ("s", "f", "a", "from_file", "all")}
    print("REPORT", node.get_fully_qualified_name(), topic, values, flush=True)
"""


def test_a_real_node_gets_names_and_parameters(run, package, tmp_path):
    package("pkg", report=REPORT)
    file = tmp_path / "p.yaml"
    file.write_text(
        "/**:\n  ros__parameters:\n    from_file: 1\n    f: 9.0\n"
        "/robot/*:\n  ros__parameters:\n    from_file: 2\n"
        "/other:\n  ros__parameters:\n    from_file: 3\n"
    )
    code, out = run(
        SetParameter("all", "1e-3"),
        SetParameter("f", 0.5),
        Node(
            package="pkg",
            executable="report",
            name="arm",
            namespace="robot",
            parameters=[file, {"s": "1e-3", "f": 1.5, "a": ["on", "2"]}],
            remappings=[("from", "to")],
            output="screen",
        ),
    )
    assert code == 0
    assert (
        "REPORT /robot/arm /robot/to {'s': '1e-3', 'f': 1.5, 'a': ['on', '2'], 'from_file': 2, "
        "'all': '1e-3'}\n" in out
    )


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("launch_ros", "get_default_launch_description"),
        ("launch_ros.actions", "ComposableNodeContainer"),
        ("launch_ros.actions", "SetUseSimTime"),
        ("launch_ros.descriptions", "ComposableNode"),
        ("launch_ros.parameter_descriptions", "Parameter"),
        ("launch_ros.substitutions", "Parameter"),
    ],
)
def test_what_only_upstream_has_is_named(module, name):
    message = rf"{module}\.{name} is part of upstream launch_ros, but not of this underlay"
    with pytest.raises(ImportError, match=message):
        exec(f"from {module} import {name}")
    with pytest.raises(NotImplementedError, match="allow_substs"):
        ParameterFile("x", allow_substs=True)
