"""What answers events: in general, and those of processes and of shutdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._base import Entities, Event, SomeEntitiesType
from ._upstream import upstream_names
from .events import Shutdown as ShutdownEvent
from .events.process import ProcessExited, ProcessIO, ProcessStarted, RunningProcessEvent
from .utilities import normalize_to_list_of_entities

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


class EventHandler(BaseEventHandler):
    """Answers with entities, or with those that a function of event and context returns."""

    def __init__(
        self,
        *,
        matcher: Callable[[Any], bool],
        entities: Any = None,
        handle_once: bool = False,
    ) -> None:
        super().__init__(matcher=matcher, handle_once=handle_once)
        self.__function = entities if callable(entities) else None
        self.entities = [] if callable(entities) else normalize_to_list_of_entities(entities)

    def describe(self) -> tuple[str, Entities]:
        """Return its name and the entities that are known before any event."""
        return type(self).__name__, self.entities

    def handle(self, event: Any, context: LaunchContext) -> SomeEntitiesType | None:
        """Return the entities."""
        super().handle(event, context)
        return self.entities if self.__function is None else self.__function(event, context)


def _of(kind: type[RunningProcessEvent], target_action: Any) -> Callable[[Any], bool]:
    """Match events of a kind about one action, those that a function accepts, or (None) any."""

    def matcher(event: Any) -> bool:
        if not isinstance(event, kind):
            return False
        if callable(target_action):
            return bool(target_action(event.action))
        return target_action is None or event.action is target_action

    return matcher


class OnProcessStart(EventHandler):
    """Answers when a process has started."""

    def __init__(self, *, target_action: Any = None, on_start: Any, **kwargs: Any) -> None:
        super().__init__(matcher=_of(ProcessStarted, target_action), entities=on_start, **kwargs)


class OnProcessExit(EventHandler):
    """Answers when a process has ended."""

    def __init__(self, *, target_action: Any = None, on_exit: Any, **kwargs: Any) -> None:
        super().__init__(matcher=_of(ProcessExited, target_action), entities=on_exit, **kwargs)


class OnProcessIO(EventHandler):
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

        super().__init__(matcher=_of(ProcessIO, target_action), entities=answer, **kwargs)


class OnShutdown(EventHandler):
    """Answers when the launch shuts down."""

    def __init__(self, *, on_shutdown: Any, **kwargs: Any) -> None:
        super().__init__(
            matcher=lambda event: isinstance(event, ShutdownEvent), entities=on_shutdown, **kwargs
        )


__getattr__ = upstream_names(
    __name__, "EventNamed OnActionEventBase OnExecutionComplete OnIncludeLaunchDescription"
)
