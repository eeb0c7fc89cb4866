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

import sys
from pathlib import Path

import pytest
from launch import LaunchContext
from launch.substitutions import (
    AndSubstitution,
    Command,
    EnvironmentVariable,
    EqualsSubstitution,
    FindExecutable,
    LaunchConfiguration,
    NotEqualsSubstitution,
    NotSubstitution,
    OrSubstitution,
    PathJoinSubstitution,
    PythonExpression,
    SubstitutionFailure,
    TextSubstitution,
)
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


@pytest.fixture
def context():
    context = LaunchContext()
    context.launch_configurations.update(a="1", yes="True", no="off")
    return context


def test_texts_and_substitutions_are_joined(context):
    subs = normalize_to_list_of_substitutions(
        ["/x", "/", LaunchConfiguration("a"), TextSubstitution(text="!")]
    )
    assert perform_substitutions(context, subs) == "/x/1!"


@pytest.mark.parametrize("value", [1, None, ["a", 2.0], Path("/x"), [["a"]]])
def test_a_number_a_path_and_a_list_in_a_list_are_no_texts(value):
    with pytest.raises(TypeError, match="where a text or a substitution is needed"):
        normalize_to_list_of_substitutions(value)


@pytest.mark.parametrize(
    ("substitution", "value"),
    [
        (LaunchConfiguration("a"), "1"),
        (LaunchConfiguration(["a"]), "1"),
        (LaunchConfiguration("b", default="2"), "2"),
        (LaunchConfiguration("b", default=["<", LaunchConfiguration("a"), ">"]), "<1>"),
        (LaunchConfiguration("b", default=5), "5"),
        (LaunchConfiguration("b", default=""), ""),
        (LaunchConfiguration("b", default=[5, LaunchConfiguration("a")]), "51"),
        (PathJoinSubstitution(["/x", LaunchConfiguration("a"), "y.urdf"]), "/x/1/y.urdf"),
        (PythonExpression([LaunchConfiguration("a"), " + 1"]), "2"),
        (PythonExpression(["'", LaunchConfiguration("a"), "' == '1'"]), "True"),
        (PythonExpression("round(cos(pi)) + math.floor(2.5)"), "1"),
        (PythonExpression("os.path.join('a', 'b')", ["os"]), "a/b"),
        (PythonExpression("os.path.join('a', 'b')", "os"), "a/b"),
        (EqualsSubstitution(LaunchConfiguration("a"), "1.0"), "true"),
        (EqualsSubstitution(LaunchConfiguration("a"), 2), "false"),
        (EqualsSubstitution(LaunchConfiguration("yes"), "true"), "true"),
        (EqualsSubstitution("x", "X"), "false"),
        (EqualsSubstitution(True, 1), "true"),
        (EqualsSubstitution("TRUE", "1"), "true"),
        (EqualsSubstitution(False, 0), "true"),
        (EqualsSubstitution(True, "0"), "false"),
        (EqualsSubstitution(True, 1.0), "false"),
        (EqualsSubstitution(1, 1.0), "true"),
        (EqualsSubstitution(None, ""), "true"),
        (EqualsSubstitution([1, 2], "[1, 2]"), "true"),
        (EqualsSubstitution(["1", LaunchConfiguration("a")], 11), "true"),
        (NotEqualsSubstitution(True, 1), "false"),
        (NotSubstitution("No"), "true"),
        (NotEqualsSubstitution("x", "y"), "true"),
        (NotEqualsSubstitution("x", "x"), "false"),
        (NotSubstitution(LaunchConfiguration("no")), "true"),
        (AndSubstitution(LaunchConfiguration("yes"), LaunchConfiguration("no")), "false"),
        (AndSubstitution("1", "on"), "true"),
        (OrSubstitution(LaunchConfiguration("no"), LaunchConfiguration("yes")), "true"),
        (OrSubstitution("0", "false"), "false"),
    ],
)
def test_values(context, substitution, value):
    assert substitution.perform(context) == value


@pytest.mark.parametrize(
    ("substitution", "message"),
    [
        (LaunchConfiguration("b"), "launch configuration 'b' does not exist"),
        (EnvironmentVariable("NO_SUCH"), "environment variable 'NO_SUCH' does not exist"),
        (FindExecutable(name="no-such"), "executable 'no-such' not found on the PATH"),
        (Command("false"), "executed command failed. Command: false"),
        (Command("no-such-command"), "file not found: .*no-such-command"),
        (Command("sh -c 'echo bad >&2'"), "Captured stderr output: bad"),
        (Command("true", on_stderr="perhaps"), "expected 'on_stderr' to be one of"),
    ],
)
def test_failures_name_what_is_missing(context, substitution, message):
    with pytest.raises(SubstitutionFailure, match=message):
        substitution.perform(context)


def test_a_word_is_no_truth_value(context):
    message = r"NotSubstitution\('perhaps'\) must be true or false"
    with pytest.raises(SubstitutionFailure, match=message):
        NotSubstitution("perhaps").perform(context)
    with pytest.raises(SubstitutionFailure, match="must be true or false, not '2'"):
        AndSubstitution("2", "1").perform(context)
    with pytest.raises(SubstitutionFailure, match=r"must be true or false, not ': \{'"):
        OrSubstitution("1", ": {").perform(context)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LaunchConfiguration(5),
        lambda: EnvironmentVariable("A", default_value=5),
        lambda: PathJoinSubstitution(["/x", ["y", ".urdf"]]),
        lambda: PythonExpression(5),
        lambda: PythonExpression("1", None),
    ],
)
def test_what_is_no_text_is_refused_when_it_is_made(make):
    with pytest.raises(TypeError, match="where a text or a substitution is needed"):
        make()


def test_environment_variables(context, monkeypatch):
    monkeypatch.setenv("SET", "value")
    assert EnvironmentVariable("SET").perform(context) == "value"
    assert EnvironmentVariable("UNSET", default_value=["d", "!"]).perform(context) == "d!"


def test_executables_and_commands(context, capsys):
    assert FindExecutable(name="sh").perform(context).endswith("/sh")
    assert Command(["echo ", "'a  b' ", LaunchConfiguration("a")]).perform(context) == "a  b 1\n"
    both = "sh -c 'echo out; echo err >&2'"
    assert Command(both, on_stderr="ignore").perform(context) == "out\n"
    assert Command(both, on_stderr="capture").perform(context) == "out\nerr\n"
    assert Command(both, on_stderr="warn").perform(context) == "out\n"
    assert "wrote to stderr: err" in capsys.readouterr().out


def test_descriptions_are_for_people():
    assert TextSubstitution(text="a").describe() == "'a'"
    assert LaunchConfiguration("a").describe() == "LaunchConfiguration('a')"
    path = PathJoinSubstitution([LaunchConfiguration("a"), "b.xml"])
    assert path.describe() == "PathJoinSubstitution(LaunchConfiguration('a'), 'b.xml')"
    assert NotSubstitution(["a", "b"]).describe() == "NotSubstitution('a' + 'b')"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("launch", "LaunchIntrospector"),
        ("launch.actions", "ForEach"),
        ("launch.substitutions", "FileContent"),
        ("launch.event_handlers", "OnExecutionComplete"),
        ("launch.events", "ExecutionComplete"),
        ("launch.events.process", "ProcessStdin"),
        ("launch.launch_description_sources", "FrontendLaunchDescriptionSource"),
        ("launch.logging", "reset"),
        ("launch.utilities", "is_a"),
    ],
)
def test_what_only_upstream_has_is_named(module, name):
    message = rf"{module}\.{name} is part of upstream launch, but not of this underlay"
    with pytest.raises(ImportError, match=message):
        exec(f"from {module} import {name}")
    assert not hasattr(sys.modules[module], "no_such_name")
