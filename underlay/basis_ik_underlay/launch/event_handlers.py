# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Handlers of the events of processes and of shutdown.

A handler answers with entities, or with a function of the event and the context that returns an
entity, several, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .entities import Action, Event, LaunchContext
from .events import Shutdown
from .events.process import ProcessExited, ProcessIO, ProcessStarted, RunningProcessEvent


class BaseEventHandler:
    """Answers the events that a matcher chooses."""

    def __init__(self, matcher: Callable[[Any], bool], answer: Any) -> None:
        self._matcher, self._answer = matcher, answer

    def matches(self, event: Event) -> bool:
        """Return whether `event` is one for this handler."""
        return self._matcher(event)

    def handle(self, event: Event, context: LaunchContext) -> Any:
        """Return the entities to visit."""
        return self._answer(event, context) if callable(self._answer) else self._answer


def _of(kind: type[RunningProcessEvent], target_action: Any = None) -> Callable[[Any], bool]:
    """Match events of a kind about one action or (None) any.

    Raises:
        TypeError: The target is something else, such as upstream's function of an action.
    """
    if not isinstance(target_action, Action | None):
        raise TypeError(f"target_action must be an action here, not {target_action!r}")
    return lambda event: isinstance(event, kind) and target_action in (None, event.action)


class OnProcessStart(BaseEventHandler):
    """Answers when a process has started."""

    def __init__(self, *, on_start: Any) -> None:
        super().__init__(_of(ProcessStarted), on_start)


class OnProcessExit(BaseEventHandler):
    """Answers when a process has ended."""

    def __init__(self, *, target_action: Any = None, on_exit: Any) -> None:
        super().__init__(_of(ProcessExited, target_action), on_exit)


class OnProcessIO(BaseEventHandler):
    """Calls functions with the output of any process as it comes, in pieces of any length."""

    def __init__(
        self, *, on_stdout: Callable[[ProcessIO], Any], on_stderr: Callable[[ProcessIO], Any]
    ) -> None:
        super().__init__(
            _of(ProcessIO),
            lambda event, _: (on_stdout if event.from_stdout else on_stderr)(event),
        )


class OnShutdown(BaseEventHandler):
    """Answers when the launch shuts down."""

    def __init__(self, *, on_shutdown: Any) -> None:
        super().__init__(lambda event: isinstance(event, Shutdown), on_shutdown)
