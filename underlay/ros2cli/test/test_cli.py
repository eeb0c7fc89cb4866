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

"""The command line itself: help, and what it does not know. Nothing here looks at a graph."""

import argparse
import subprocess
import sys

import pytest
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from ros2cli import graph, qos
from ros2cli.cli import COMMANDS, ELSEWHERE, main
from ros2cli.command import launch, topic


def test_without_a_command_or_a_verb_it_prints_its_help(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert all(f"    {name}" in out for name in COMMANDS)
    assert not main(["topic"])
    assert "hz" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: ros2 {command} ")


@pytest.mark.parametrize(
    ("argv", "package"),
    [
        *(([command, "x"], package) for command, package in ELSEWHERE.items()),
        (["topic", "bw", "/x"], "ros2topic"),
        (["topic", "echo", "/x", "--csv"], "ros2topic"),
        (["action", "find", "x"], "ros2action"),
        (["service", "info", "/x"], "ros2service"),
        (["nonsense"], "ros2cli"),
    ],
)
def test_what_is_not_covered_names_the_upstream_package(argv, package, capsys):
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert f"upstream's {package} has" in last


@pytest.mark.parametrize(
    "argv",
    [
        ["topic", "pub", "-r", "0", "/x", "y"],
        ["topic", "pub", "-r", "nan", "/x", "y"],
        ["topic", "pub", "--times=-1", "/x", "y"],
        ["topic", "pub", "-1", "-t", "2", "/x", "y"],
        ["topic", "hz", "-w", "0", "/x"],
        ["topic", "echo", "/x", "--qos-reliability", "perhaps"],
        ["topic", "echo"],
    ],
)
def test_bad_arguments_are_a_usage_error(argv, capsys):
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    assert "error: " in capsys.readouterr().err.splitlines()[-1]


def test_bad_values_are_refused_before_a_node_is_made(capsys):
    assert main(["topic", "pub", "/x", "a/b"]) == "The passed message type is invalid: 'a/b'"
    assert "needs to be a dictionary" in main(["topic", "pub", "/x", "std_msgs/String", "x"])
    assert main(["service", "call", "/x", "a/b"]) == "The passed service type is invalid: 'a/b'"
    reason = main(["action", "send_goal", "/x", "a/b", ""])
    assert reason == "The passed action type is invalid: 'a/b'"
    assert capsys.readouterr().out == ""


def test_rclpy_is_imported_only_by_what_needs_it():
    code = (
        "import sys; from ros2cli.cli import main; main(sys.argv[1:]);print('rclpy' in sys.modules)"
    )
    for argv, needed in ((["pkg", "prefix", "rclpy"], False), (["topic"], True)):
        line = [sys.executable, "-c", code, *argv]
        out = subprocess.run(line, capture_output=True, text=True, check=True).stdout
        assert out.splitlines()[-1] == str(needed)


def test_qos_options_change_the_preset():
    def options(*argv):
        parser = argparse.ArgumentParser()
        qos.add_options(parser, "default")
        return parser.parse_args(argv)

    assert not qos.chosen(options())
    assert qos.profile(options()).depth == 10
    assert qos.profile(options("--qos-profile", "sensor_data")).depth == 5
    args = options("--qos-durability", "transient_local", "--qos-depth", "3")
    assert qos.chosen(args)
    found = qos.profile(args)
    assert (found.durability, found.depth) == (DurabilityPolicy.TRANSIENT_LOCAL, 3)
    assert found.reliability == ReliabilityPolicy.RELIABLE
    assert qos.profile(options()).durability == DurabilityPolicy.VOLATILE


def test_rate_of_known_gaps(capsys):
    topic._print_rate([0.1, 0.3])
    assert capsys.readouterr().out == (
        "average rate: 5.000\n\tmin: 0.100s max: 0.300s std dev: 0.10000s window: 3\n"
    )


@pytest.mark.parametrize(
    ("arrivals", "ends"),
    [
        ([], 4),  # nobody else: not believed before four spin times
        ([0.5], 1.5),
        ([3.0], 4.0),
        ([0.5, 1.0, 1.9], 2.9),
        ([i * 0.9 for i in range(50)], 10),  # news without end
    ],
)
def test_the_graph_is_known_when_there_is_no_more_news(arrivals, ends, monkeypatch):
    class Clock:
        """A time that only sleeping moves, and a graph in which a node arrives now and then."""

        now = 0.0

        def monotonic(self):
            return self.now

        def sleep(self, seconds):
            self.now += seconds

        def get_node_names_and_namespaces(self):
            return [("self", "/"), *((f"n{t}", "/") for t in arrivals if t <= self.now)]

        def get_topic_names_and_types(self, no_demangle):
            return []

    clock = Clock()
    monkeypatch.setattr(graph, "time", clock)
    graph.settle(clock, argparse.Namespace(spin_time=1.0))
    assert clock.now == pytest.approx(ends, abs=0.05)


@pytest.mark.parametrize("text", ["x", "x=1", ":=1", ""])
def test_malformed_launch_arguments(text):
    with pytest.raises(RuntimeError, match="malformed launch argument"):
        launch._pair(text)


def test_a_launch_argument_may_hold_the_separator():
    assert launch._pair("a:=b:=c") == ("a", "b:=c")
