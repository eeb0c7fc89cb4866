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

"""What answers events: in general, and those of processes and of shutdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._base import Entities, Event, LaunchDescriptionEntity, SomeEntitiesType
from ._upstream import upstream_names
from .events import Shutdown as ShutdownEvent
from .events.process import ProcessExited, ProcessIO, ProcessStarted, RunningProcessEvent
from .utilities import checked_entities

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class BaseEventHandler:
    """Chooses events by a matcher; `handle_once` unregisters it after its first event."""

    def __init__(self, *, matcher: Callable[[Any], bool], handle_once: bool = False) -> None:
        self.matcher = matcher
        self.handle_once = handle_once

    def matches(self, event: Event) -> bool:
        """Return whether `event` is one for this handler."""
        return self.matcher(event)

    def describe(self) -> tuple[str, Entities]:
        """Return its name and the entities that are known before any event."""
        return type(self).__name__, []

    def handle(self, event: Any, context: LaunchContext) -> SomeEntitiesType | None:
        """Make the event known as `context.locals.event`; return entities to visit."""
        context.extend_locals({"event": event})
        if self.handle_once:
            context.unregister_event_handler(self)
        return None


class _FunctionHandler(BaseEventHandler):
    """Answers with entities, or with those that a function of event and context returns."""

    def __init__(self, *, answer: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__function = answer if callable(answer) else None
        self.__entities = [] if callable(answer) else _entities(answer)

    def describe(self) -> tuple[str, Entities]:
        """Return its name and the entities that are known before any event."""
        return type(self).__name__, self.__entities

    def handle(self, event: Any, context: LaunchContext) -> SomeEntitiesType | None:
        """Return the entities."""
        super().handle(event, context)
        return self.__entities if self.__function is None else self.__function(event, context)


class EventHandler(_FunctionHandler):
    """Answers with an entity or several."""

    def __init__(
        self,
        *,
        matcher: Callable[[Any], bool],
        entities: SomeEntitiesType | None = None,
        handle_once: bool = False,
    ) -> None:
        self.entities = _entities(entities)
        super().__init__(matcher=matcher, answer=self.entities, handle_once=handle_once)


def _entities(entities: Any) -> Entities:
    alone = isinstance(entities, LaunchDescriptionEntity)
    return checked_entities([entities] if alone else entities, "entities of an event handler")


def _of(kind: type[RunningProcessEvent], target_action: Any) -> Callable[[Any], bool]:
    """Match events of a kind about one action, those that a function accepts, or (None) any.

    Raises:
        TypeError: The target is none of these.
    """
    from .actions import ExecuteProcess

    is_action = isinstance(target_action, ExecuteProcess)
    if target_action is not None and not is_action and not callable(target_action):
        raise TypeError(
            f"target_action must be an ExecuteProcess, a function or None, not {target_action!r}"
        )

    def matcher(event: Any) -> bool:
        if not isinstance(event, kind):
            return False
        if callable(target_action):
            return bool(target_action(event.action))
        return target_action is None or event.action is target_action

    return matcher


class OnProcessStart(_FunctionHandler):
    """Answers when a process has started."""

    def __init__(self, *, target_action: Any = None, on_start: Any, **kwargs: Any) -> None:
        super().__init__(matcher=_of(ProcessStarted, target_action), answer=on_start, **kwargs)


class OnProcessExit(_FunctionHandler):
    """Answers when a process has ended."""

    def __init__(self, *, target_action: Any = None, on_exit: Any, **kwargs: Any) -> None:
        super().__init__(matcher=_of(ProcessExited, target_action), answer=on_exit, **kwargs)


class OnProcessIO(_FunctionHandler):
    """Calls functions with the output of a process as it comes, in pieces of any length."""

    def __init__(
        self,
        *,
        target_action: Any = None,
        on_stdin: Callable[[ProcessIO], SomeEntitiesType | None] | None = None,
        on_stdout: Callable[[ProcessIO], SomeEntitiesType | None] | None = None,
        on_stderr: Callable[[ProcessIO], SomeEntitiesType | None] | None = None,
        **kwargs: Any,
    ) -> None:
        functions = (on_stdin, on_stdout, on_stderr)

        def answer(event: ProcessIO, context: LaunchContext) -> SomeEntitiesType | None:
            function = functions[event.fd]
            return None if function is None else function(event)

        super().__init__(matcher=_of(ProcessIO, target_action), answer=answer, **kwargs)


class OnShutdown(_FunctionHandler):
    """Answers when the launch shuts down."""

    def __init__(self, *, on_shutdown: Any, **kwargs: Any) -> None:
        super().__init__(
            matcher=lambda event: isinstance(event, ShutdownEvent), answer=on_shutdown, **kwargs
        )


__getattr__ = upstream_names(
    __name__, "EventNamed OnActionEventBase OnExecutionComplete OnIncludeLaunchDescription"
)
