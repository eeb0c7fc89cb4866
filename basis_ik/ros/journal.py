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

"""The node's log: a line for each change, never a flood."""

from __future__ import annotations

from rclpy.node import Node

from basis_ik.ros.boundary import boundary_of

QUIET = 1.0  # s between two lines with the same reason


class Journal:
    """Tells troubles by subject and reason, and once when a subject has recovered.

    Args:
        node: Whose log it is.
        name: What each line begins with; may be empty.
    """

    def __init__(self, node: Node, name: str = "") -> None:
        self._log, self._boundary = node.get_logger(), boundary_of(node)
        self._prefix = f"{name}: " if name else ""
        self._recent: dict[tuple[str, str], float] = {}  # within the last second
        self._logged_once: set[str] = set()
        self._troubles: dict[str, tuple[str, float]] = {}

    def warn(self, subject: str, reason: str, text: str, *, lasting: bool = False) -> None:
        """Warn, unless the same reason was told within the last second.

        Args:
            subject: What is in trouble; one of a few.
            reason: Which trouble; one of a few.
            text: One line for people.
            lasting: Whether it does not pass by itself: then it is an error.
        """
        told = self._troubles.get(subject, ("", 0.0))[0]
        if told == text or not self._is_new(subject, reason):
            text = told  # and what was not told now is told when it lasts
        elif lasting:  # in a line of its own: rclpy refuses two severities in one
            self._log.error(f"{self._prefix}{text}")
        else:
            self._log.warning(f"{self._prefix}{text}")
        self._troubles[subject] = text, self._boundary.steady()

    def error(self, text: str) -> None:
        """Say that something asked for is not done, unless that was said within the last second."""
        if self._is_new("", text):
            self._log.error(f"{self._prefix}{text}")

    def recovered(self, subject: str, text: str) -> None:
        """Say that a subject has recovered, once it has been out of trouble for a second."""
        trouble = self._troubles.get(subject)
        if trouble is not None and self._boundary.steady() - trouble[1] >= QUIET:
            del self._troubles[subject]
            self._log.info(f"{self._prefix}recovered: {text}")

    def info(self, subject: str, reason: str, text: str) -> None:
        """Tell something that is no trouble, unless it was told within the last second.

        Args:
            subject: What it is about; one of a few.
            reason: What it is; one of a few.
            text: One line for people.
        """
        if self._is_new(subject, reason):
            self._log.info(f"{self._prefix}{text}")

    def info_once(self, subject: str, text: str) -> None:
        """Tell something that is no trouble, once for each subject."""
        if subject not in self._logged_once:
            self._logged_once.add(subject)
            self._log.info(f"{self._prefix}{text}")

    def _is_new(self, subject: str, reason: str) -> bool:
        """Tell whether a line was not told within the last second; then it is told now."""
        now = self._boundary.steady()
        # What is older silences nothing; reasons that quote somebody else's text would pile up.
        self._recent = {key: then for key, then in self._recent.items() if now - then < QUIET}
        if (subject, reason) in self._recent:
            return False
        self._recent[subject, reason] = now
        return True
