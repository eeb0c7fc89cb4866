# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ros2 command: parses its arguments, imports one sub-command, reports errors in one line."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

# The summary of each sub-command, and the module whose function of its name adds to it.
COMMANDS = {
    "action": ("Send a goal to an action", "nodes"),
    "launch": ("Run a launch file", "packages"),
    "lifecycle": ("Managed nodes: their states", "nodes"),
    "node": ("Nodes", "nodes"),
    "param": ("Parameters of running nodes", "nodes"),
    "pkg": ("Installed packages", "packages"),
    "run": ("Run an executable of a package", "packages"),
    "service": ("Call a service", "nodes"),
    "topic": ("Topics: listen to them, publish on them, measure them", "topics"),
}


class Parser(argparse.ArgumentParser):
    """A parser that names a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message and leave with status 2."""
        self.exit(2, f"{self.prog}: {message}; `{self.prog} -h` lists what there is here\n")


class Command:
    """Takes the verbs and arguments of one sub-command."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self._verbs: Any = None

    def verb(self, name: str, main: Callable[..., Any], summary: str) -> Callable[..., Any]:
        """Add a verb; return what adds its arguments."""
        if self._verbs is None:
            self._verbs = self.parser.add_subparsers(metavar="<verb>", required=True)
        parser = self._verbs.add_parser(name, help=summary, description=summary)
        parser.set_defaults(main=main)
        return parser.add_argument


def make_parser(argv: list[str]) -> Parser:
    """Return the parser, with the arguments of only the sub-command that `argv` names."""
    parser = Parser(prog="ros2", description="The ros2 command, as far as basis_ik needs it.")
    commands = parser.add_subparsers(metavar="<command>", required=True)
    for name, (summary, module) in COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=summary)
        if name in argv[:1]:
            getattr(importlib.import_module(f"ros2cli.{module}"), name)(Command(sub))
    return parser


def main(argv: list[str] | None = None) -> int | str | None:
    """Run the command and return what `sys.exit` takes: a status, or a message for status 1."""
    argv = sys.argv[1:] if argv is None else argv
    sys.stdout.reconfigure(line_buffering=True)
    args = make_parser(argv).parse_args(argv)
    try:
        return args.main(args)
    except KeyboardInterrupt:
        return int(signal.SIGINT)
    except (RuntimeError, ValueError) as error:
        return str(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
