# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Arguments, conditions, includes, functions and substitutions."""

import pytest
from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
)
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, describe, evaluate

FILE = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo
from launch.substitutions import LaunchConfiguration

def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument("who", default_value="you", description="Whom to greet."),
        DeclareLaunchArgument("how", choices=["low", "high"], description="How."),
        LogInfo(msg=["hello ", LaunchConfiguration("who")]),
    ])
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.launch.py"
    path.write_text(FILE)
    return str(path)


def included(file, condition=None, **arguments):
    source = PythonLaunchDescriptionSource([file])
    return IncludeLaunchDescription(source, launch_arguments=arguments.items(), condition=condition)


def test_an_included_file_gets_its_arguments(run, file):
    name = LaunchConfiguration("name")
    declared = DeclareLaunchArgument("name", default_value="her")
    code, out = run(declared, included(file, who=name, how="low"))
    assert code == 0
    assert "[INFO] [launch.user]: hello her\n" in out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [({}, "Required launch argument 'how' (description: 'How. Valid"), ({"how": "up"}, "is not")],
)
def test_an_argument_that_is_missing_or_no_choice_ends_the_launch(run, file, arguments, reason):
    code, out = run(included(file, **arguments))
    assert code == 1
    assert reason in out
    assert "hello" not in out


def test_the_arguments_of_a_file_and_of_what_it_includes_are_known_before(file):
    own = DeclareLaunchArgument("who", default_value=LaunchConfiguration("other"))
    description = LaunchDescription([own, included(file, IfCondition("false"))])
    who, how = description.get_launch_arguments()
    assert who is own
    assert describe(who.default_value) == "LaunchConfiguration('other')"
    assert (how.name, how.default_value) == ("how", None)
    assert how.description == "How. Valid choices are: ['low', 'high']"


@pytest.mark.parametrize(("text", "holds"), [("true", 1), ("1", 1), ("False", 0), ("0", 0)])
def test_a_condition(run, text, holds):
    _, out = run(LogInfo(msg="here", condition=IfCondition(text)))
    assert ("here" in out) == holds


def test_what_is_no_condition_ends_the_launch_and_tells_where_it_went_wrong(run):
    code, out = run(LogInfo(msg="here", condition=IfCondition("perhaps")))
    assert code == 1
    assert "ValueError: a condition must be true or false, not 'perhaps' (/" in out


def test_a_function_may_return_entities(run):
    def function(context, word):
        return [LogInfo(msg=word)] if word else None

    code, out = run(*(OpaqueFunction(function=function, args=[word]) for word in ("", "yes")))
    assert code == 0
    assert "yes" in out


def test_substitutions():
    context = LaunchContext()
    context.launch_configurations["a"] = "x"
    a = LaunchConfiguration("a")
    assert evaluate(context, ["<", a, ">"]) == "<x>"
    assert PathJoinSubstitution([a, "b"]).perform(context) == "x/b"
    with pytest.raises(RuntimeError, match="launch configuration 'b' does not exist"):
        LaunchConfiguration("b").perform(context)


def test_what_upstream_refuses_in_place_of_a_text_is_refused():
    with pytest.raises(TypeError, match="'5' is a int, where a text or a substitution is needed"):
        LogInfo(msg=5)
