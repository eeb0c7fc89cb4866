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
