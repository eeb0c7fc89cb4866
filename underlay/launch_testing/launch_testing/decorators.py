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

"""Decorators of test descriptions and test classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

# Attributes that the decorators set.
POST_SHUTDOWN = "__post_shutdown_test__"
PARAMETERS = "__launch_test_parameters__"
KEEP_ALIVE = "__launch_test_keep_alive__"
TIMEOUT = "__launch_test_timeout__"


def _set(name: str, value: Any) -> Callable[[T], T]:
    def decorate(target: T) -> T:
        setattr(target, name, value)
        return target

    return decorate


def post_shutdown_test() -> Callable[[T], T]:
    """Mark a test class to be run after the processes have ended."""
    return _set(POST_SHUTDOWN, True)


def parametrize(argnames: str, argvalues: Iterable[Any]) -> Callable[[T], T]:
    """Run the whole launch once for each value, given to `generate_test_description` by name.

    Args:
        argnames: The names, separated by commas.
        argvalues: The values; tuples of values where there are several names.

    Raises:
        TypeError: The names are no text.
        ValueError: There are more or fewer values than names.
    """
    if not isinstance(argnames, str):
        raise TypeError(f"parametrize: the names must be a text, not {argnames!r}")
    names = [name.strip() for name in argnames.split(",") if name.strip()]
    rows = [value if isinstance(value, tuple) else (value,) for value in argvalues]
    for row in rows:
        if len(row) != len(names):
            raise ValueError(f"parametrize: {len(row)} values {row} for the names {names}")
    return _set(PARAMETERS, [dict(zip(names, row, strict=True)) for row in rows])


def ready_to_test_action_timeout(timeout: float) -> Callable[[T], T]:
    """Let `ReadyToTest` take up to `timeout` [s] instead of 15."""
    return _set(TIMEOUT, timeout)
