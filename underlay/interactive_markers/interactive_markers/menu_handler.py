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

"""A tree of menu entries, and whom to call when one is chosen."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from visualization_msgs.msg import InteractiveMarkerFeedback, MenuEntry

from interactive_markers.interactive_marker_server import InteractiveMarkerServer

Callback = Callable[[InteractiveMarkerFeedback], None]


@dataclass
class _Entry:
    title: str
    parent: int
    command_type: int
    command: str
    callback: Callback | None
    visible: bool = True
    check_state: int = 0


class MenuHandler:
    """A menu that can be given to markers; an entry is known by the handle that `insert` returns.

    Changes show when the menu is applied again and the server applies its changes.
    """

    NO_CHECKBOX = 0
    CHECKED = 1
    UNCHECKED = 2

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        self._markers: set[str] = set()

    def insert(
        self,
        title: str,
        parent: int | None = None,
        command_type: int = MenuEntry.FEEDBACK,
        command: str = "",
        callback: Callback | None = None,
    ) -> int | None:
        """Add an entry and return its handle; None if there is no such parent."""
        if parent is not None and parent not in self._entries:
            print(f"Parent menu entry {parent} not found.", file=sys.stderr)
            return None
        handle = len(self._entries) + 1
        self._entries[handle] = _Entry(title, parent or 0, command_type, command, callback)
        return handle

    def setVisible(self, handle: int, visible: bool) -> bool:
        """Show an entry and what is below it, or hide them; False if there is no such entry."""
        if handle not in self._entries:
            return False
        self._entries[handle].visible = visible
        return True

    def setCheckState(self, handle: int, check_state: int) -> bool:
        """Give an entry a box, checked or not, or none; False if there is no such entry."""
        if handle not in self._entries:
            return False
        self._entries[handle].check_state = check_state
        return True

    def getCheckState(self, handle: int) -> int | None:
        """Return CHECKED, UNCHECKED or NO_CHECKBOX; None if there is no such entry."""
        entry = self._entries.get(handle)
        return None if entry is None else entry.check_state

    def getTitle(self, handle: int) -> str | None:
        """Return an entry's title; None if there is no such entry."""
        entry = self._entries.get(handle)
        return None if entry is None else entry.title

    def apply(self, server: InteractiveMarkerServer, marker_name: str) -> bool:
        """Give the menu as it is now to a marker; False if that is gone from the server.

        Raises:
            KeyError: As upstream: there is no such marker, and the menu was never applied to it.
        """
        marker = server.get(marker_name)
        if marker is None:
            self._markers.remove(marker_name)
            return False
        marker.menu_entries = list(self._messages(0))
        server.insert(
            marker,
            feedback_callback=self.processFeedback,
            feedback_type=InteractiveMarkerFeedback.MENU_SELECT,
        )
        self._markers.add(marker_name)
        return True

    def reApply(self, server: InteractiveMarkerServer) -> bool:
        """Give it again to every marker that has it; False if one of them is gone."""
        applied = [self.apply(server, name) for name in tuple(self._markers)]
        return all(applied)

    def processFeedback(self, feedback: InteractiveMarkerFeedback) -> None:
        """Call whoever belongs to the chosen entry.

        Raises:
            TypeError: As upstream: the entry was inserted without a callback.
        """
        entry = self._entries.get(feedback.menu_entry_id)
        if entry is not None:
            if entry.callback is None:
                raise TypeError(f"menu entry '{entry.title}' has no callback")
            entry.callback(feedback)

    def _messages(self, parent: int) -> Iterator[MenuEntry]:
        boxes = {self.CHECKED: "[x] ", self.UNCHECKED: "[ ] "}
        for handle, entry in self._entries.items():
            if entry.parent == parent and entry.visible:
                yield MenuEntry(
                    id=handle,
                    parent_id=parent,
                    title=boxes.get(entry.check_state, "") + entry.title,
                    command=entry.command,
                    command_type=entry.command_type,
                )
                yield from self._messages(handle)
