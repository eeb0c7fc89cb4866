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
from launch import (
    Action,
    Condition,
    Event,
    EventHandler,
    LaunchContext,
    LaunchDescription,
    LaunchDescriptionEntity,
)
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    GroupAction,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    SetLaunchConfiguration,
    Shutdown,
    TimerAction,
    UnregisterEventHandler,
)
from launch.conditions import (
    IfCondition,
    InvalidConditionExpressionError,
    LaunchConfigurationEquals,
    LaunchConfigurationNotEquals,
    UnlessCondition,
)
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart, OnShutdown
from launch.events.process import SignalProcess
from launch.launch_description_sources import (
    AnyLaunchDescriptionSource,
    InvalidLaunchFileError,
    PythonLaunchDescriptionSource,
    get_launch_description_from_any_launch_file,
)
from launch.substitutions import (
    EnvironmentVariable,
    LaunchConfiguration,
    PathJoinSubstitution,
    ThisLaunchFileDir,
)


def log(*names):
    return LogInfo(msg=[text for name in names for text in (LaunchConfiguration(name), " ")])


def test_a_given_value_wins_over_the_default(run):
    _, out = run(
        SetLaunchConfiguration("given", "1"),
        DeclareLaunchArgument("given", default_value="2"),
        DeclareLaunchArgument("default", default_value=["<", LaunchConfiguration("given"), ">"]),
        log("given", "default"),
    )
    assert "[INFO] [launch.user]: 1 <1> \n" in out


def test_an_argument_tells_its_choices():
    argument = DeclareLaunchArgument(
        "a", default_value="1", description="what.", choices=["1", "2"]
    )
    assert argument.description == "what. Valid choices are: ['1', '2']"
    with pytest.raises(RuntimeError, match="is not in provided choices"):
        DeclareLaunchArgument("a", default_value="3", choices=["1", "2"])
    with pytest.raises(RuntimeError, match="Provided choices arg is empty"):
        DeclareLaunchArgument("a", choices=[])
    assert DeclareLaunchArgument("a", choices=["1"]).description == "One of: ['1']"
    assert DeclareLaunchArgument("a").description == "no description given"


@pytest.mark.parametrize(
    "make",
    [
        lambda: LogInfo(msg=5),
        lambda: DeclareLaunchArgument("a", default_value=5),
        lambda: SetLaunchConfiguration("a", 5),
        lambda: SetEnvironmentVariable("A", 5),
        lambda: IfCondition(True),
        lambda: LaunchConfigurationEquals("a", 5),
        lambda: IncludeLaunchDescription(Path("/a.launch.py")),
        lambda: TimerAction(period=5, actions=[]),
        lambda: TimerAction(period=5.0, actions=[], cancel_on_shutdown="true"),
        lambda: OpaqueFunction(function="f"),
        lambda: OpaqueFunction(function=print, args=5),
        lambda: OpaqueFunction(function=print, kwargs=[("a", 1)]),
        lambda: SignalProcess(signal_number=2, process_matcher=print),
        lambda: OnProcessExit(target_action="node", on_exit=[]),
        lambda: OnProcessStart(target_action=LogInfo(msg=""), on_start=[]),
        lambda: OnProcessIO(target_action=5),
        lambda: OnProcessExit(on_exit=["no entity"]),
        lambda: EventHandler(matcher=print, entities=print),
    ],
)
def test_what_upstream_refuses_is_refused_when_it_is_made(make):
    with pytest.raises(TypeError):
        make()


def test_an_event_is_needed_to_emit_one():
    with pytest.raises(RuntimeError, match="needs an instance of an event"):
        EmitEvent(event=Event)


def test_what_does_nothing_is_an_action_and_a_condition_without_a_predicate_never_holds():
    assert Action().visit(LaunchContext()) is None
    assert LaunchDescriptionEntity().visit(LaunchContext()) is None
    assert not Condition().evaluate(LaunchContext())


@pytest.mark.parametrize(
    "answer", [LogInfo(msg="told"), [[LogInfo(msg="told")]], [None], "text", ["text"]]
)
def test_a_function_must_give_a_list_of_entities(run, answer):
    code, out = run(OpaqueFunction(function=lambda context: answer))
    assert code == 1
    assert "OpaqueFunction: " in out
    assert "]: told" not in out


def test_a_handler_may_give_one_entity_but_no_list_in_a_list(run):
    code, out = run(
        RegisterEventHandler(OnShutdown(on_shutdown=lambda event, _: LogInfo(msg="told")))
    )
    assert (code, out.count("]: told")) == (0, 1)
    nested = OnShutdown(on_shutdown=lambda event, _: [[LogInfo(msg="told")]])
    code, out = run(RegisterEventHandler(nested))
    assert code == 1
    assert "OnShutdown: [<" in out


def test_a_group_that_does_not_forward_keeps_the_environment_of_the_start(run, monkeypatch):
    monkeypatch.setenv("AT_START", "kept")
    _, out = run(
        SetEnvironmentVariable("LATER", "lost"),
        GroupAction(
            [
                LogInfo(msg=EnvironmentVariable("AT_START", default_value="gone")),
                LogInfo(msg=EnvironmentVariable("LATER", default_value="gone")),
            ],
            forwarding=False,
        ),
        LogInfo(msg=EnvironmentVariable("LATER")),
    )
    told = [line.rpartition(": ")[2] for line in out.splitlines() if "user" in line]
    assert told == ["kept", "gone", "lost"]
    monkeypatch.delenv("LATER")


def test_arguments_within_a_group_that_does_not_forward_cannot_be_given():
    def group(name, **arguments):
        return GroupAction([DeclareLaunchArgument(name)], **arguments)

    description = LaunchDescription([group("open"), group("hidden", forwarding=False)])
    assert [argument.name for argument in description.get_launch_arguments()] == ["open"]


def test_scoped_groups_keep_to_themselves(run):
    _, out = run(
        SetLaunchConfiguration("a", "1"),
        GroupAction([SetLaunchConfiguration("a", "2"), log("a")]),
        log("a"),
        GroupAction([log("a")], launch_configurations={"a": [LaunchConfiguration("a"), "!"]}),
        GroupAction([SetLaunchConfiguration("a", "3")], scoped=False),
        log("a"),
        GroupAction([LogInfo(msg=LaunchConfiguration("a", default="gone"))], forwarding=False),
        GroupAction([SetLaunchConfiguration("a", "4")], scoped=False, condition=IfCondition("0")),
        log("a"),
    )
    values = [line.rpartition(": ")[2].strip() for line in out.splitlines() if "user" in line]
    assert values == ["2", "1", "1!", "3", "gone", "3"]


@pytest.mark.parametrize("text", ["true", "True", "1", " TRUE "])
def test_true_conditions(text):
    assert IfCondition(text).evaluate(LaunchContext())
    assert not UnlessCondition(text).evaluate(LaunchContext())


@pytest.mark.parametrize("text", ["false", "False", "0"])
def test_false_conditions(text):
    assert not IfCondition(text).evaluate(LaunchContext())
    assert UnlessCondition(text).evaluate(LaunchContext())


@pytest.mark.parametrize("text", ["", "yes", "2"])
def test_what_is_neither_true_nor_false_is_refused(text):
    with pytest.raises(InvalidConditionExpressionError, match="expected one of"):
        IfCondition(text).evaluate(LaunchContext())


def test_conditions_on_configurations():
    context = LaunchContext()
    context.launch_configurations["a"] = "1"
    assert LaunchConfigurationEquals("a", "1").evaluate(context)
    assert not LaunchConfigurationEquals("a", "2").evaluate(context)
    assert not LaunchConfigurationEquals("b", "1").evaluate(context)
    assert LaunchConfigurationEquals("b", None).evaluate(context)
    assert LaunchConfigurationNotEquals("a", "2").evaluate(context)


def test_a_timer_waits_and_is_canceled_by_shutdown(run):
    late = TimerAction(period=60.0, actions=[LogInfo(msg="late")])
    _, out = run(
        late,
        TimerAction(period="0.1", actions=[LogInfo(msg="second"), Shutdown()]),
        LogInfo(msg="first"),
    )
    assert out.index("first") < out.index("second")
    assert "late" not in out


def test_handlers_can_be_unregistered_and_can_answer_once(run):
    once = OnShutdown(on_shutdown=[LogInfo(msg="once")], handle_once=True)
    never = OnShutdown(on_shutdown=[LogInfo(msg="never")])
    _, out = run(
        RegisterEventHandler(once),
        RegisterEventHandler(never),
        UnregisterEventHandler(never),
        Shutdown(),
        Shutdown(),
    )
    assert out.count("once") == 1
    assert "never" not in out


INNER = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo
from launch.substitutions import LaunchConfiguration, ThisLaunchFileDir

def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument("needed", description="what for"),
        LogInfo(msg=["inner ", LaunchConfiguration("needed"), " ", ThisLaunchFileDir()]),
    ])
"""


@pytest.fixture
def inner(tmp_path):
    (tmp_path / "sub").mkdir()
    file = tmp_path / "sub" / "inner.launch.py"
    file.write_text(INNER)
    return file


@pytest.mark.parametrize("source", [PythonLaunchDescriptionSource, AnyLaunchDescriptionSource, str])
def test_an_include_passes_arguments_and_the_file_knows_its_directory(run, inner, source):
    code, out = run(
        IncludeLaunchDescription(source(str(inner)), launch_arguments={"needed": "x"}.items())
    )
    assert code == 0
    assert f"inner x {inner.parent}\n" in out


def test_a_missing_argument_is_named_though_it_was_set_before(run, inner):
    code, out = run(
        SetLaunchConfiguration("needed", "x"),
        IncludeLaunchDescription(PathJoinSubstitution([str(inner.parent), "inner.launch.py"])),
    )
    assert code == 1
    assert (
        "Included launch description missing required argument 'needed' (description: 'what for'), "
        "given: []" in out
    )


def test_the_directory_is_the_outer_one_again_after_an_include(run, inner, tmp_path):
    outer = tmp_path / "outer.launch.py"
    outer.write_text(
        INNER.replace('DeclareLaunchArgument("needed", description="what for")', "INCLUDE")
        .replace(
            "INCLUDE",
            f'IncludeLaunchDescription({str(inner)!r}, launch_arguments=[("needed", "y")])',
        )
        .replace("import DeclareLaunchArgument", "import IncludeLaunchDescription")
        .replace("inner ", "outer ")
    )
    _, out = run(IncludeLaunchDescription(str(outer)))
    assert f"inner y {inner.parent}\n" in out
    assert f"outer y {tmp_path}\n" in out


def test_arguments_are_found_through_groups_and_includes(inner):
    description = LaunchDescription(
        [
            DeclareLaunchArgument("plain"),
            GroupAction([DeclareLaunchArgument("grouped", default_value="1")]),
            GroupAction([DeclareLaunchArgument("perhaps")], condition=IfCondition("false")),
            RegisterEventHandler(OnShutdown(on_shutdown=[DeclareLaunchArgument("late")])),
            IncludeLaunchDescription(str(inner)),
            IncludeLaunchDescription(LaunchConfiguration("unknown")),
        ]
    )
    arguments = {argument.name: argument for argument in description.get_launch_arguments()}
    assert list(arguments) == ["plain", "grouped", "perhaps", "late", "needed"]
    assert {name for name, a in arguments.items() if a._conditionally_included} == {
        "perhaps",
        "late",
    }


def test_this_launch_file_dir_outside_of_a_launch_file(run):
    code, out = run(LogInfo(msg=ThisLaunchFileDir()))
    assert code == 1
    assert "ThisLaunchFileDir used outside of a launch file" in out


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.launch.xml", "<launch/>", "needs launch_xml, which is part of upstream"),
        ("a.launch.yaml", "launch:", "needs launch_yaml, which is part of upstream"),
        ("a.launch.py", "x = ", r"SyntaxError: .*line 1"),
        ("a.launch.py", "raise ValueError('oops')", "ValueError: oops"),
        (
            "a.launch.py",
            "",
            r"does not contain the required function 'generate_launch_description\(\)'",
        ),
    ],
)
def test_a_bad_file_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidLaunchFileError, match=message):
        get_launch_description_from_any_launch_file(str(tmp_path / name))


def test_a_missing_file_is_named(run):
    code, out = run(IncludeLaunchDescription("/no/such/file.launch.py"))
    assert code == 1
    assert "no launch file at '/no/such/file.launch.py'" in out


def test_an_opaque_function_yields_entities_and_gets_arguments(run):
    def function(context, text, *, again):
        return [LogInfo(msg=text), LogInfo(msg=again)]

    _, out = run(OpaqueFunction(function=function, args=["one"], kwargs={"again": "two"}))
    assert "one\n" in out
    assert "two\n" in out


def test_what_is_no_entity_is_named(run):
    code, out = run(OpaqueFunction(function=lambda context: [7]))
    assert code == 1
    assert "OpaqueFunction: 7 is no entity of a launch description" in out
