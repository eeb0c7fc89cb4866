# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ends a demo's launch: with a program that it requires, or after its tours and all viewers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from launch import Action, LaunchContext
from launch.actions import LogInfo, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit, OnProcessStart
from launch.events.process import ProcessExited, ProcessStarted
from launch_ros.actions import Node

# Programs that show the robot, and the message about them when the tours are over.
VIEWERS = {
    "rviz2": "Close RViz to end the launch.",
    "web_view": "The page in the browser stays; Ctrl-C ends the launch.",
}


def end_launch(event: ProcessExited, context: LaunchContext) -> Action | None:
    """End the launch with a process that it requires: the `on_exit` of its node.

    Raises:
        RuntimeError: The process has died. Only an exception in a launch file gives `ros2 launch`
            an exit status other than 0.
    """
    if context.is_shutdown:
        return None
    if event.returncode != 0:
        raise RuntimeError(f"{event.process_name} has died, which the others require")
    return Shutdown(reason=f"{event.process_name} has ended")


def end_with(tours: Sequence[Node], failure: str) -> list[Action]:
    """Return the actions that end the launch; its exit status is 0 if all tours succeeded.

    Args:
        tours: Programs that end by themselves, with status 0 if they succeeded.
        failure: Message if one did not.
    """
    end = _End(len(tours), failure)
    return [
        RegisterEventHandler(OnProcessStart(on_start=end.on_process_start)),
        *(
            RegisterEventHandler(OnProcessExit(target_action=tour, on_exit=end.on_tour_exit))
            for tour in tours
        ),
        RegisterEventHandler(OnProcessExit(on_exit=end.on_process_exit)),
    ]


class _End:
    def __init__(self, under_way: int, failure: str) -> None:
        self._under_way, self._failure = under_way, failure
        self._failed = False
        self._open: list[str] = []  # of VIEWERS

    def on_process_start(self, event: ProcessStarted, _: LaunchContext) -> None:
        name = _program(event)
        if name in VIEWERS:
            self._open.append(name)

    def on_tour_exit(self, event: ProcessExited, context: LaunchContext) -> Action | None:
        if context.is_shutdown:
            return None
        self._under_way -= 1
        self._failed |= event.returncode != 0
        return self._shut_down("the tour is over")

    def on_process_exit(self, event: ProcessExited, context: LaunchContext) -> Action | None:
        name = _program(event)
        if context.is_shutdown or name not in self._open:
            return None
        self._open.remove(name)
        return self._shut_down(f"{name} has ended")

    def _shut_down(self, reason: str) -> Action | None:
        if self._open:
            message = " ".join(VIEWERS[name] for name in self._open)
            return None if self._under_way else LogInfo(msg=message)
        if self._failed:
            raise RuntimeError(self._failure)  # see `end_launch`
        return None if self._under_way else Shutdown(reason=reason)


def _program(event: ProcessStarted | ProcessExited) -> str:
    return Path(event.cmd[0]).name
