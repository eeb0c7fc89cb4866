# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The action that lets the tests begin."""

from launch import Action, Event, LaunchContext


class Ready(Event):
    """The tests may begin."""


class ReadyToTest(Action):
    """Lets the tests begin."""

    def execute(self, context: LaunchContext) -> None:
        """Tell the test runner."""
        context.emit_event_sync(Ready())
