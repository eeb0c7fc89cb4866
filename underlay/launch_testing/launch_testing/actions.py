"""The action that lets the tests begin."""

from __future__ import annotations

from launch import Action, Event, LaunchContext
from launch._upstream import upstream_names


class Ready(Event):
    """The tests may begin."""

    name = "launch_testing.Ready"


class ReadyToTest(Action):
    """Lets the tests begin; on no condition."""

    def __init__(self) -> None:
        super().__init__()

    def execute(self, context: LaunchContext) -> None:
        """Tell the test runner."""
        context.emit_event_sync(Ready())


__getattr__ = upstream_names(__name__, "GTest PyTest Test TestProcess")
