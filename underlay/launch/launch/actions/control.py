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

"""Actions that log, call, group, answer and shut down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import logging
from .._base import Action, Entities, Event, SomeSubstitutionsType
from ..event_handlers import BaseEventHandler
from ..events import Shutdown as ShutdownEvent
from ..events.process import ProcessExited
from ..launch_context import LaunchContext
from ..utilities import evaluate, normalize_to_list_of_substitutions, perform_substitutions


class LogInfo(Action):
    """Logs a message for the user."""

    def __init__(self, *, msg: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__msg = normalize_to_list_of_substitutions(msg)

    def execute(self, context: LaunchContext) -> None:
        """Log it."""
        logging.get_logger("launch.user").info(perform_substitutions(context, self.__msg))


class OpaqueFunction(Action):
    """Calls a function with the context; it may return a list of entities.

    Raises:
        TypeError: The function cannot be called, `args` is no iterable, or `kwargs` no dict.
    """

    def __init__(
        self,
        *,
        function: Callable[..., Any],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        **left_over: Any,
    ) -> None:
        super().__init__(**left_over)
        if not callable(function):
            raise TypeError(f"OpaqueFunction needs a function, not {function!r}")
        if args is not None and not isinstance(args, Iterable):
            raise TypeError(f"args of OpaqueFunction must be iterable, not {args!r}")
        if kwargs is not None and not isinstance(kwargs, dict):
            raise TypeError(f"kwargs of OpaqueFunction must be a dict, not {kwargs!r}")
        self.__function, self.__args, self.__kwargs = function, args or (), kwargs or {}

    def execute(self, context: LaunchContext) -> Entities:
        """Call it."""
        entities: Entities = self.__function(context, *self.__args, **self.__kwargs)
        return entities


class EmitEvent(Action):
    """Emits an event.

    Raises:
        RuntimeError: It is no event.
    """

    def __init__(self, *, event: Event, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(event, Event):
            raise RuntimeError(f"EmitEvent needs an instance of an event, not {event!r}")
        self.event = event

    def execute(self, context: LaunchContext) -> None:
        """Queue it."""
        context.emit_event_sync(self.event)


class Shutdown(EmitEvent):
    """Shuts the launch down."""

    def __init__(self, *, reason: SomeSubstitutionsType = "reason not given", **kwargs: Any):
        super().__init__(event=ShutdownEvent(), **kwargs)
        self.__reason = reason

    def execute(self, context: LaunchContext) -> None:
        """Emit the event; name the process whose end is the cause, if there is one."""
        assert isinstance(self.event, ShutdownEvent)  # see the constructor
        self.event.reason = evaluate(context, self.__reason)
        cause = context.get_locals_as_dict().get("event")
        if isinstance(cause, ProcessExited):
            name = cause.process_name
            logging.get_logger(name).info(
                f"process[{name}] was required: shutting down launched system"
            )
        super().execute(context)


class RegisterEventHandler(Action):
    """Registers an event handler."""

    def __init__(self, event_handler: BaseEventHandler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.event_handler = event_handler

    def execute(self, context: LaunchContext) -> None:
        """Register it."""
        context.register_event_handler(self.event_handler)

    def describe_conditional_sub_entities(self) -> list[tuple[str, Entities]]:
        """Return what the handler answers with."""
        return [self.event_handler.describe()]


class UnregisterEventHandler(Action):
    """Removes an event handler."""

    def __init__(self, event_handler: BaseEventHandler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.event_handler = event_handler

    def execute(self, context: LaunchContext) -> None:
        """Unregister it."""
        context.unregister_event_handler(self.event_handler)


class GroupAction(Action):
    """Yields actions; `scoped` keeps what they set from those that follow the group.

    Without `forwarding` a scope begins without launch configurations, and with the environment that
    the launch began with.
    """

    def __init__(
        self,
        actions: Iterable[Action],
        *,
        scoped: bool = True,
        forwarding: bool = True,
        launch_configurations: Mapping[Any, SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__actions = list(actions)
        self.__scoped, self.__forwarding = scoped, forwarding
        self.__configurations = dict(launch_configurations or {})

    def get_sub_entities(self) -> Entities:
        """Return the actions."""
        return list(self.__actions)

    @property
    def _hides_arguments(self) -> bool:
        """Whether the arguments declared within cannot be given from outside."""
        return self.__scoped and not self.__forwarding

    def execute(self, context: LaunchContext) -> Entities:
        """Open the scope; yield the actions and, last, what closes it."""
        values = {
            evaluate(context, name): evaluate(context, value)
            for name, value in self.__configurations.items()
        }
        if not self.__scoped:
            context.launch_configurations.update(values)
            return list(self.__actions)
        context._push_scope()
        if not self.__forwarding:
            context._reset_scope()
        context.launch_configurations.update(values)
        close = OpaqueFunction(function=lambda context: context._pop_scope())
        return [*self.__actions, close]
