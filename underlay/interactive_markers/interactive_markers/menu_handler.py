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

"""A menu, and whom to call when an entry is chosen."""

from collections.abc import Callable
from dataclasses import dataclass

from visualization_msgs.msg import InteractiveMarkerFeedback, MenuEntry

from interactive_markers.interactive_marker_server import InteractiveMarkerServer

Callback = Callable[[InteractiveMarkerFeedback], None]


@dataclass
class _Entry:
    title: str
    callback: Callback
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

    def insert(self, title: str, *, callback: Callback) -> int:
        """Add an entry and return its handle."""
        handle = len(self._entries) + 1
        self._entries[handle] = _Entry(title, callback)
        return handle

    def setVisible(self, handle: int, visible: bool) -> None:
        """Show an entry or hide it."""
        self._entries[handle].visible = visible

    def setCheckState(self, handle: int, check_state: int) -> None:
        """Give an entry a box, checked or not, or none."""
        self._entries[handle].check_state = check_state

    def apply(self, server: InteractiveMarkerServer, marker_name: str) -> bool:
        """Give the menu as it is now to a marker; False if that is gone from the server.

        Raises:
            KeyError: As upstream: there is no such marker, and the menu was never applied to it.
        """
        marker = server.get(marker_name)
        if marker is None:
            self._markers.remove(marker_name)
            return False
        boxes = {self.CHECKED: "[x] ", self.UNCHECKED: "[ ] "}
        marker.menu_entries = [
            MenuEntry(
                id=handle,
                title=boxes.get(entry.check_state, "") + entry.title,
                command_type=MenuEntry.FEEDBACK,
            )
            for handle, entry in self._entries.items()
            if entry.visible
        ]
        server.insert(
            marker,
            feedback_callback=self._on_select,
            feedback_type=InteractiveMarkerFeedback.MENU_SELECT,
        )
        self._markers.add(marker_name)
        return True

    def reApply(self, server: InteractiveMarkerServer) -> bool:
        """Give it again to every marker that has it; False if one of them is gone."""
        applied = [self.apply(server, name) for name in tuple(self._markers)]
        return all(applied)

    def _on_select(self, feedback: InteractiveMarkerFeedback) -> None:
        if feedback.menu_entry_id in self._entries:
            self._entries[feedback.menu_entry_id].callback(feedback)
