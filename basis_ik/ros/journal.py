# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node's log: one line for each change, throttled."""

from __future__ import annotations

from rclpy.node import Node

from basis_ik.ros.boundary import boundary_of

REPEATED_LINE_PERIOD = 1.0  # [s], least time between two lines with the same reason


class Journal:
    """Logs problems by subject and reason, and once when a subject has recovered.

    Args:
        node: The node that logs.
        name: Prefix of each line; may be empty.
    """

    def __init__(self, node: Node, name: str = "") -> None:
        self._log, self._boundary = node.get_logger(), boundary_of(node)
        self._prefix = f"{name}: " if name else ""
        self._recent: dict[tuple[str, str], float] = {}  # within the last second
        self._logged_once: set[str] = set()
        self._problems: dict[str, tuple[str, float]] = {}

    def warn(self, subject: str, reason: str, text: str, *, lasting: bool = False) -> None:
        """Log a problem, unless the same reason was logged within the last second.

        Args:
            subject: The subject of the problem; from a small set.
            reason: The kind of problem; from a small set.
            text: The message, in one line.
            lasting: Whether it needs a user's action; then it is logged as an error.
        """
        previous = self._problems.get(subject, ("", 0.0))[0]
        if previous == text or not self._is_new(subject, reason):
            text = previous  # a line that is suppressed now is logged later if the problem lasts
        elif lasting:  # a separate call: rclpy refuses two severities at one call site
            self._log.error(f"{self._prefix}{text}")
        else:
            self._log.warning(f"{self._prefix}{text}")
        self._problems[subject] = text, self._boundary.steady()

    def error(self, text: str) -> None:
        """Log an error, unless the same one was logged within the last second."""
        if self._is_new("", text):
            self._log.error(f"{self._prefix}{text}")

    def recovered(self, subject: str, text: str) -> None:
        """Log that a subject has recovered, once it has been without a problem for a second."""
        problem = self._problems.get(subject)
        if problem is not None and self._boundary.steady() - problem[1] >= REPEATED_LINE_PERIOD:
            del self._problems[subject]
            self._log.info(f"{self._prefix}recovered: {text}")

    def info(self, subject: str, reason: str, text: str) -> None:
        """Log information, unless it was logged within the last second.

        Args:
            subject: The subject; from a small set.
            reason: The kind of information; from a small set.
            text: The message, in one line.
        """
        if self._is_new(subject, reason):
            self._log.info(f"{self._prefix}{text}")

    def info_once(self, subject: str, text: str) -> None:
        """Log information, once for each subject."""
        if subject not in self._logged_once:
            self._logged_once.add(subject)
            self._log.info(f"{self._prefix}{text}")

    def _is_new(self, subject: str, reason: str) -> bool:
        """Return whether a line was not logged within the last second, and record it."""
        now = self._boundary.steady()
        # Older entries have no effect, and reasons that quote input would accumulate.
        self._recent = {
            key: then for key, then in self._recent.items() if now - then < REPEATED_LINE_PERIOD
        }
        if (subject, reason) in self._recent:
            return False
        self._recent[subject, reason] = now
        return True
