# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tests of running processes: the part of ROS 2 launch_testing that basis_ik uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

# Attributes that the decorators set.
POST_SHUTDOWN = "__post_shutdown_test__"
PARAMETERS = "__launch_test_parameters__"


def post_shutdown_test() -> Callable[[Any], Any]:
    """Mark a test class to be run after the processes have ended."""
    return _set(POST_SHUTDOWN, True)


def parametrize(argname: str, argvalues: Iterable[Any]) -> Callable[[Any], Any]:
    """Run the whole launch once for each value, given to `generate_test_description` by name."""
    return _set(PARAMETERS, [{argname: value} for value in argvalues])


def _set(name: str, value: Any) -> Callable[[Any], Any]:
    def decorate(target: Any) -> Any:
        setattr(target, name, value)
        return target

    return decorate
