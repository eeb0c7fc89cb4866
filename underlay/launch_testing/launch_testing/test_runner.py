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

"""Runs launches with the tests that belong to them."""

from __future__ import annotations

import sys
import threading
import traceback
import unittest
from collections.abc import Iterable
from typing import Any

from launch import LaunchDescription, LaunchDescriptionSource, LaunchService
from launch.actions import IncludeLaunchDescription, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart, _FunctionHandler
from launch.events.process import ProcessExited

from .actions import Ready
from .io_handler import ActiveIoHandler
from .loader import TestRun
from .proc_info_handler import ActiveProcInfoHandler
from .util import output_of, show

# How long tests may go on after the processes under test have ended by themselves [s].
_TESTS_GRACE = 10.0


class RunResult:
    """What came of a run.

    Args:
        run: The run.
    """

    def __init__(self, run: TestRun) -> None:
        self.run = run
        self.problem: str | None = None
        self.results: list[unittest.TestResult] = []

    @property
    def tests_run(self) -> int:
        """How many tests were run."""
        return sum(result.testsRun for result in self.results)

    def wasSuccessful(self) -> bool:
        """Return whether the launch went as it should and every test passed."""
        return self.problem is None and all(result.wasSuccessful() for result in self.results)

    def report(self) -> str:
        """Return what failed, test by test."""
        parts = [] if self.problem is None else [f"{self.run.name}: {self.problem}"]
        for result in self.results:
            for test, text in result.failures + result.errors:
                parts.append(f"FAILED {self.run.name} {_name(test)}\n{text.rstrip()}")
            for test in result.unexpectedSuccesses:
                parts.append(f"FAILED {self.run.name} {_name(test)}: unexpected success")
        return "\n\n".join(parts)


def _name(test: Any) -> str:
    return ".".join(test.id().split(".")[-2:])


class _Worker:
    """Runs one launch in this thread, and its tests in another."""

    def __init__(self, run: TestRun, arguments: Iterable[tuple[str, str]], debug: bool) -> None:
        self._result = RunResult(run)
        self._ready, self._over = threading.Event(), threading.Event()
        self._proc_info, self._proc_output = ActiveProcInfoHandler(), ActiveIoHandler()
        self._test_args: dict[str, str] = {}
        description, self._test_context = run.normalized_test_description()
        self._service = LaunchService(noninteractive=True, debug=debug)
        self._service.include_launch_description(self._wrapped(description, arguments))

    def _wrapped(
        self, description: LaunchDescription, arguments: Iterable[tuple[str, str]]
    ) -> LaunchDescription:
        append = self._proc_output.append
        handlers: list[Any] = [
            OnProcessStart(on_start=lambda event, _: self._proc_info.append(event)),
            OnProcessExit(on_exit=lambda event, _: self._proc_info.append(event)),
            OnProcessIO(on_stdout=append, on_stderr=append),
            _FunctionHandler(
                matcher=lambda event: isinstance(event, Ready),
                answer=lambda event, _: self._ready.set(),
            ),
        ]
        include = IncludeLaunchDescription(
            LaunchDescriptionSource(description), launch_arguments=arguments
        )
        note_arguments = OpaqueFunction(
            function=lambda context: self._test_args.update(context.launch_configurations)
        )
        return LaunchDescription([*map(RegisterEventHandler, handlers), include, note_arguments])

    def run(self) -> RunResult:
        result = self._result
        tests = threading.Thread(target=self._active_tests, daemon=True)
        tests.start()
        code = self._service.run(shutdown_when_idle=not result.run.keep_alive)
        stopped_early = tests.is_alive() and not self._over.is_set()
        if stopped_early:
            result.problem = (
                "Processes under test stopped before tests completed"
                + (" (launch failed, see its error above)" if code else "")
                + self._summary()
            )
        self._over.set()
        self._ready.set()
        self._proc_info.close()
        self._proc_output.close()
        tests.join(_TESTS_GRACE)
        if code and result.problem is None:
            result.problem = "launch failed, see its error above"
        if result.problem is None:
            self._run_tests(post_shutdown=True)
        return result

    def _active_tests(self) -> None:
        """Wait until the tests can begin; run them; end the launch."""
        try:
            if not self._ready.wait(self._result.run.timeout):
                self._result.problem = (
                    f"Timed out after {self._result.run.timeout} s waiting for ReadyToTest"
                    + self._summary()
                )
            elif not self._over.is_set():
                self._run_tests(post_shutdown=False)
        except Exception:  # of this package or of unittest: those of tests are in their results
            self._result.problem = f"the tests could not be run\n{traceback.format_exc()}"
        finally:
            self._over.set()
            self._service.shutdown()

    def _run_tests(self, *, post_shutdown: bool) -> None:
        attributes = {
            "proc_info": self._proc_info,
            "proc_output": self._proc_output,
            "test_args": self._test_args,
        }
        arguments = dict(self._test_context)
        if not post_shutdown:
            arguments["launch_service"] = self._service
        suite = self._result.run.tests(
            post_shutdown=post_shutdown, attributes=attributes, arguments=arguments
        )
        runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2)
        self._result.results.append(runner.run(suite))

    def _summary(self) -> str:
        """Return what is known of each process."""
        parts = [""]
        for info in self._proc_info:
            state = "was still running"
            if isinstance(info, ProcessExited):
                state = f"exited with code {info.returncode}"
            parts.append(f"  {info.process_name} {state}; its command was: {' '.join(info.cmd)}")
        if len(parts) == 1:
            return ": no process has been started"
        if self._proc_output.processes():
            for stream in ("stdout", "stderr"):
                parts.append(show(output_of(self._proc_output, stream), stream))
        return "\n".join(parts)


class LaunchTestRunner:
    """Runs the launches of a test file, one after the other."""

    def __init__(
        self,
        test_runs: Iterable[TestRun],
        launch_file_arguments: Iterable[tuple[str, str]] = (),
        debug: bool = False,
    ) -> None:
        self._test_runs = list(test_runs)
        self._arguments = list(launch_file_arguments)
        self._debug = debug

    def run(self) -> list[RunResult]:
        """Return what came of each."""
        return [_Worker(run, self._arguments, self._debug).run() for run in self._test_runs]
