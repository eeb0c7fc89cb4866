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

"""Events of the launch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._base import Event
from .._upstream import upstream_names
from . import process

if TYPE_CHECKING:
    from ..launch_description import LaunchDescription

__all__ = ["IncludeLaunchDescription", "Shutdown", "TimerEvent", "matches_action", "process"]


class IncludeLaunchDescription(Event):
    """A launch description is to be visited."""

    name = "launch.events.IncludeLaunchDescription"

    def __init__(self, launch_description: LaunchDescription) -> None:
        self.launch_description = launch_description


class Shutdown(Event):
    """The launch is to end; `due_to_sigint`: the terminal has told the processes already."""

    name = "launch.events.Shutdown"

    def __init__(self, *, reason: str = "reason not given", due_to_sigint: bool = False) -> None:
        self.reason, self.due_to_sigint = reason, due_to_sigint


class TimerEvent(Event):
    """The time of a timer action has come."""

    name = "launch.events.TimerEvent"

    def __init__(self, *, timer_action: Any) -> None:
        self.timer_action = timer_action


def matches_action(target_action: Any) -> Callable[[Any], bool]:
    """Return a matcher that is true for `target_action` alone."""
    return lambda action: action is target_action


__getattr__ = upstream_names(__name__, "ExecutionComplete")
