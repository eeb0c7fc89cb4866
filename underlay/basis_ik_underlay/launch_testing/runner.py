# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Runs a launch in this thread, and its tests in another."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import traceback
import unittest
from collections.abc import Callable
from typing import Any

from launch import LaunchContext, LaunchDescription, LaunchService
from launch.actions import RegisterEventHandler
from launch.event_handlers import BaseEventHandler, OnProcessExit, OnProcessIO, OnProcessStart
from launch.events.process import RunningProcessEvent

from . import PARAMETERS, POST_SHUTDOWN
from .actions import Ready
from .asserts import ProcessInfo, ProcessOutput, describe, show

# How long the description may take until the tests can begin [s].
_READY_TIMEOUT = 15.0
# How long tests may go on after the processes under test have ended by themselves [s].
_TESTS_GRACE = 10.0


def failures(module: Any) -> list[str]:
    """Run the launch of a test file, once for each of its parameters; return what failed."""
    function = module.generate_test_description
    cases = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, unittest.TestCase)
    ]
    found = []
    for parameters in getattr(function, PARAMETERS, [{}]):
        values = ", ".join(f"{key}={value!r}: " for key, value in parameters.items())
        run = _Run(function(**parameters), cases, parameters)
        found += [values + text for text in run.run()]
    return found


class _Run:
    """One launch and its tests."""

    def __init__(
        self,
        description: LaunchDescription,
        cases: list[type[unittest.TestCase]],
        parameters: dict[str, Any],
    ) -> None:
        self._cases, self._parameters = cases, parameters
        self._failures: list[str] = []
        self._ready, self._over = threading.Event(), threading.Event()
        self._info: ProcessInfo = {}
        self._output = ProcessOutput()
        self._service = LaunchService(noninteractive=True)
        handlers = (
            OnProcessStart(on_start=self._on_process),
            OnProcessExit(on_exit=self._on_process),
            OnProcessIO(on_stdout=self._output.append, on_stderr=self._output.append),
            BaseEventHandler(lambda event: isinstance(event, Ready), lambda *_: self._ready.set()),
        )
        self._service.include_launch_description(
            LaunchDescription([*map(RegisterEventHandler, handlers), description])
        )

    def _on_process(self, event: RunningProcessEvent, _: LaunchContext) -> None:
        self._info[event.action] = event

    def run(self) -> list[str]:
        """Run it; return what failed."""
        tests = threading.Thread(target=self._active_tests, daemon=True)
        tests.start()
        code = self._service.run()
        if code:
            self._failures.append("the launch failed, see its error above")
        elif not self._over.is_set():
            self._fail("the processes under test stopped before the tests had ended")
        self._over.set()
        self._ready.set()
        self._output.close()
        tests.join(_TESTS_GRACE)
        self._test(post_shutdown=True)
        return self._failures

    def _active_tests(self) -> None:
        """Wait until the tests can begin; run them; end the launch."""
        try:
            if not self._ready.wait(_READY_TIMEOUT):
                self._fail(f"there was no ReadyToTest within {_READY_TIMEOUT} s")
            elif not self._over.is_set():
                self._test(post_shutdown=False)
        except Exception:  # of this package or of unittest: those of tests are in their results
            self._failures.append(f"the tests could not be run\n{traceback.format_exc()}")
        finally:
            self._over.set()
            self._service.shutdown()

    def _fail(self, reason: str) -> None:
        states = "".join(f"\n  {describe(event)}" for event in self._info.values())
        written = show(self._output.texts("stderr"))
        self._failures.append(f"{reason}; the processes:{states}\nOn stderr:\n{written}")

    def _test(self, *, post_shutdown: bool) -> None:
        suite = unittest.TestSuite()
        given = {"proc_info": self._info, "proc_output": self._output}
        arguments = {**self._parameters, **given}
        for case in self._cases:
            if getattr(case, POST_SHUTDOWN, False) == post_shutdown:
                bound = _bind(case, arguments)
                suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(bound))
        result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
        for test, text in result.failures + result.errors:
            self._failures.append(f"{test}\n{text.rstrip()}")


def _bind(case: type[unittest.TestCase], arguments: dict[str, Any]) -> type[unittest.TestCase]:
    """Return a subclass whose test methods get the arguments that they name."""
    namespace: dict[str, Any] = {"__module__": case.__module__}
    for name in unittest.defaultTestLoader.getTestCaseNames(case):
        method = getattr(case, name)
        wanted = list(inspect.signature(method).parameters)[1:]
        namespace[name] = _bound(method, {key: arguments[key] for key in wanted})
    return type(case.__name__, (case,), namespace)


def _bound(method: Callable[..., Any], given: dict[str, Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def bound(self: Any) -> Any:
        return method(self, **given)

    return bound
