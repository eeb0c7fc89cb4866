# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actions of launch descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import logging
from .entities import Action, Entities, LaunchContext, LaunchDescription
from .event_handlers import BaseEventHandler
from .events import Shutdown as ShutdownEvent
from .events.process import ProcessExited
from .execute_process import ExecuteProcess as ExecuteProcess
from .launch_description_sources import PythonLaunchDescriptionSource
from .substitutions import evaluate, normalize_to_list_of_substitutions, perform_substitutions


class LogInfo(Action):
    """Logs a message for the user."""

    def __init__(self, *, msg: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._msg = normalize_to_list_of_substitutions(msg)

    def execute(self, context: LaunchContext) -> None:
        """Log it."""
        logging.log("launch.user", perform_substitutions(context, self._msg))


class OpaqueFunction(Action):
    """Calls a function with the context; it may return a list of entities."""

    def __init__(
        self, *, function: Callable[..., Any], args: Iterable[Any] = (), **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._function, self._args = function, args

    def execute(self, context: LaunchContext) -> Entities | None:
        """Call it."""
        entities: Entities | None = self._function(context, *self._args)
        return entities


class RegisterEventHandler(Action):
    """Registers an event handler."""

    def __init__(self, event_handler: BaseEventHandler, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.event_handler = event_handler

    def execute(self, context: LaunchContext) -> None:
        """Register it."""
        context.register_event_handler(self.event_handler)


class Shutdown(Action):
    """Shuts the launch down; the reason is for readers of the launch file."""

    def __init__(self, *, reason: str) -> None:
        super().__init__()
        self.reason = reason

    def execute(self, context: LaunchContext) -> None:
        """Emit the event; name the process whose end is the cause, if there is one."""
        if isinstance(context.event, ProcessExited):
            name = context.event.process_name
            logging.log(name, f"process[{name}] was required: shutting down launched system")
        context.emit_event_sync(ShutdownEvent())


class DeclareLaunchArgument(Action):
    """Declares an argument of the launch file; its value is a launch configuration."""

    def __init__(
        self,
        name: str,
        *,
        default_value: Any = None,
        description: str = "no description given",
        choices: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.name = name
        self.choices = None if choices is None else list(choices)
        self.description = description
        if self.choices:
            self.description = f"{description.removesuffix('.')}. Valid choices are: {self.choices}"
        self.default_value = (
            None if default_value is None else normalize_to_list_of_substitutions(default_value)
        )

    def get_launch_arguments(self) -> Iterator[DeclareLaunchArgument]:
        """Yield itself."""
        yield self

    def execute(self, context: LaunchContext) -> None:
        """Set the default where no value is given; check the value.

        Raises:
            RuntimeError: There is neither, or the value is none of the choices.
        """
        if self.name not in context.launch_configurations:
            if self.default_value is None:
                raise RuntimeError(
                    f"Required launch argument '{self.name}' (description: '{self.description}') "
                    "was not provided"
                )
            value = perform_substitutions(context, self.default_value)
            context.launch_configurations[self.name] = value
        value = context.launch_configurations[self.name]
        if self.choices is not None and value not in self.choices:
            raise RuntimeError(
                f'Argument "{self.name}" provided value "{value}" is not valid. Valid options '
                f"are: {self.choices}"
            )


class IncludeLaunchDescription(Action):
    """Yields another launch description, with values for its arguments."""

    def __init__(
        self,
        launch_description_source: PythonLaunchDescriptionSource,
        *,
        launch_arguments: Iterable[tuple[Any, Any]] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.launch_description_source = launch_description_source
        self.launch_arguments = list(launch_arguments)

    def get_launch_arguments(self) -> Iterator[DeclareLaunchArgument]:
        """Yield those of the file, whose path must be known before the launch."""
        found = self.launch_description_source.get_launch_description(LaunchContext())
        yield from found.get_launch_arguments()

    def execute(self, context: LaunchContext) -> list[LaunchDescription]:
        """Load the description, set its arguments, yield it."""
        description = self.launch_description_source.get_launch_description(context)
        for name, value in self.launch_arguments:
            context.launch_configurations[evaluate(context, name)] = evaluate(context, value)
        return [description]
