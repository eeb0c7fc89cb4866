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

"""From a test file to the runs of its launch, and the tests that go with each."""

from __future__ import annotations

import functools
import inspect
import unittest
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from launch import LaunchDescription, LaunchDescriptionEntity

from .actions import ReadyToTest
from .decorators import KEEP_ALIVE, PARAMETERS, POST_SHUTDOWN, TIMEOUT


@dataclass
class TestRun:
    """One run of the launch that a test file describes.

    Args:
        name: Of the file, with the parameters of this run.
        test_description_function: Its `generate_test_description`.
        param_args: The parameters.
        test_cases: Its test classes.
    """

    __test__ = False  # no test itself, whatever its name

    name: str
    test_description_function: Callable[..., Any]
    param_args: dict[str, Any]
    test_cases: list[type[unittest.TestCase]] = field(default_factory=list)

    @property
    def keep_alive(self) -> bool:
        """Whether the launch outlives its processes."""
        return getattr(self.test_description_function, KEEP_ALIVE, False)

    @property
    def timeout(self) -> float:
        """How long ReadyToTest may take [s]."""
        return getattr(self.test_description_function, TIMEOUT, 15.0)

    def normalized_test_description(self) -> tuple[LaunchDescription, dict[str, Any]]:
        """Return the description, and what its tests can ask for by name.

        Raises:
            TypeError: `generate_test_description` returns something else.
            RuntimeError: The description never says that the tests can begin.
        """
        result = self.test_description_function(**self.param_args)
        description, context = result if isinstance(result, tuple) else (result, {})
        if not isinstance(description, LaunchDescription):
            raise TypeError(
                f"generate_test_description of {self.name} must return a LaunchDescription, alone "
                f"or with a dict, not {type(description).__name__}"
            )
        if not any(isinstance(entity, ReadyToTest) for entity in _entities(description)):
            raise RuntimeError(
                f"generate_test_description of {self.name} must return a LaunchDescription "
                "containing a ReadyToTest action"
            )
        return description, {**self.param_args, **context}

    def tests(
        self, *, post_shutdown: bool, attributes: dict[str, Any], arguments: dict[str, Any]
    ) -> unittest.TestSuite:
        """Return the tests of one phase, able to take arguments by name.

        Args:
            post_shutdown: Those after the shutdown, or those before.
            attributes: What every test case has as attributes.
            arguments: What test methods, setUp, tearDown and the like may ask for.
        """
        suite = unittest.TestSuite()
        for case in self.test_cases:
            if getattr(case, POST_SHUTDOWN, False) == post_shutdown:
                bound = _bind(case, attributes, {**attributes, **arguments})
                suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(bound))
        return suite


def _entities(entity: LaunchDescriptionEntity) -> Iterator[LaunchDescriptionEntity]:
    yield entity
    parts = [part for _, parts in entity.describe_conditional_sub_entities() for part in parts]
    for sub_entity in entity.describe_sub_entities() + parts:
        yield from _entities(sub_entity)


_FIXTURES = ("setUp", "tearDown", "setUpClass", "tearDownClass")


def _bind(
    case: type[unittest.TestCase], attributes: dict[str, Any], arguments: dict[str, Any]
) -> type[unittest.TestCase]:
    """Return a subclass whose methods get the arguments that they name."""
    namespace: dict[str, Any] = {**attributes, "__module__": case.__module__}
    for name in [*unittest.defaultTestLoader.getTestCaseNames(case), *_FIXTURES]:
        method = inspect.getattr_static(case, name)
        is_class_method = isinstance(method, classmethod)
        function = method.__func__ if is_class_method else method
        wanted = list(inspect.signature(function).parameters)[1:]
        given = {key: arguments[key] for key in wanted if key in arguments}
        if given:
            bound = _with_arguments(function, given)
            namespace[name] = classmethod(bound) if is_class_method else bound
    subclass = type(case.__name__, (case,), namespace)
    subclass.__qualname__ = case.__qualname__
    return subclass


def _with_arguments(function: Callable[..., Any], given: dict[str, Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def bound(self: Any) -> Any:
        return function(self, **given)

    del bound.__wrapped__  # else its signature would still ask for the arguments
    return bound


def LoadTestsFromPythonModule(module: Any, *, name: str = "launch_tests") -> list[TestRun]:
    """Return the runs of a test file: one, or one for each set of parameters."""
    function = module.generate_test_description
    cases = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, unittest.TestCase)
    ]
    runs = []
    for parameters in getattr(function, PARAMETERS, [{}]):
        values = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
        run_name = f"{name}[{values}]" if values else name
        runs.append(TestRun(run_name, function, parameters, cases))
    return runs
