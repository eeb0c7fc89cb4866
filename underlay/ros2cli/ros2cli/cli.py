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

"""Parses the command line, imports the one sub-command it names, and turns errors into one line."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

COMMANDS = {
    "action": ("Actions: who offers them, and send one a goal", "ros2action"),
    "interface": ("Message, service and action definitions", "ros2interface"),
    "launch": ("Run a launch file", "ros2launch"),
    "lifecycle": ("Managed nodes: their states and transitions", "ros2lifecycle"),
    "node": ("Nodes, and what each of them offers and uses", "ros2node"),
    "param": ("Parameters of running nodes", "ros2param"),
    "pkg": ("Installed packages", "ros2pkg"),
    "run": ("Run an executable of a package", "ros2run"),
    "service": ("Services: who offers them, and call one", "ros2service"),
    "topic": ("Topics: listen to them, publish on them, measure them", "ros2topic"),
}
ELSEWHERE = {
    "bag": "ros2bag",
    "component": "ros2component",
    "control": "ros2controlcli",
    "daemon": "ros2cli",
    "doctor": "ros2doctor",
    "multicast": "ros2multicast",
    "security": "sros2",
    "test": "ros2test",
    "trace": "ros2trace",
    "wtf": "ros2doctor",
}


class Parser(argparse.ArgumentParser):
    """A parser that says where the rest of an upstream package's cover is to be had."""

    upstream = "ros2cli"

    def error(self, message: str) -> NoReturn:
        """Print the message and leave with status 2."""
        if "invalid choice" in message or "unrecognized arguments" in message:
            message += (
                f" (what upstream's {self.upstream} has beyond this needs a ROS 2 installation)"
            )
        super().error(message)


class Command:
    """What a sub-command's module adds its verbs and arguments to."""

    def __init__(self, name: str, parser: Parser) -> None:
        self.parser = parser
        self._name, self._upstream, self._verbs = name, COMMANDS[name][1], None

    def verb(self, name: str, main: Callable[..., Any], summary: str, graph: bool = True) -> Parser:
        """Add a verb; with `graph`, one that looks at running nodes."""
        if self._verbs is None:
            title = f"Call `ros2 {self._name} <verb> -h` for what a verb takes"
            self._verbs = self.parser.add_subparsers(title=title, metavar="<verb>")
        parser = self._verbs.add_parser(name, help=summary, description=summary)
        parser.upstream = self._upstream
        parser.set_defaults(main=main)
        if graph:
            add = parser.add_argument
            add("--no-daemon", action="store_true", help="accepted; there is no daemon")
            add(
                "--spin-time",
                type=float,
                default=0.5,
                help="seconds without news after which the graph counts as known",
            )
            add("-s", "--use-sim-time", action="store_true", help="take the time from /clock")
        return parser


def make_parser(argv: list[str]) -> Parser:
    """Return the parser, with the arguments of that sub-command only which `argv` names."""
    chosen = next((argument for argument in argv if not argument.startswith("-")), None)
    parser = Parser(
        prog="ros2", description="The ros2 command, in the part that this underlay has."
    )
    title = "Call `ros2 <command> -h` for what a command takes"
    commands = parser.add_subparsers(title=title, metavar="<command>")
    for name, (summary, upstream) in COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=summary)
        sub.upstream = upstream
        if name == chosen:
            parser.upstream = upstream
            sub.set_defaults(main=lambda _, sub=sub: sub.print_help())
            importlib.import_module(f"ros2cli.command.{name}").add_to(Command(name, sub))
    if chosen in ELSEWHERE:
        parser.upstream = ELSEWHERE[chosen]
    return parser


def main(argv: list[str] | None = None) -> int | str | None:
    """Run the command and return what `sys.exit` takes: a status, or a message for status 1."""
    argv = sys.argv[1:] if argv is None else argv
    sys.stdout.reconfigure(line_buffering=True)
    parser = make_parser(argv)
    args = parser.parse_args(argv)
    if not hasattr(args, "main"):
        parser.print_help()
        return 0
    try:
        return args.main(args)
    except KeyboardInterrupt:
        return int(signal.SIGINT)
    except (RuntimeError, ValueError) as error:
        return str(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
