"""The node's log: a line for each change, never a flood."""

from __future__ import annotations

import math
import time

from rclpy.node import Node

QUIET = 1.0  # s between two lines with the same reason


class Journal:
    """Tells troubles by subject and reason, and once when a subject has recovered.

    Args:
        node: Whose log it is.
        name: What each line begins with; may be empty.
    """

    def __init__(self, node: Node, name: str = "") -> None:
        self._log = node.get_logger()
        self._prefix = f"{name}: " if name else ""
        self._told: dict[tuple[str, str], float] = {}  # within the last second
        self._said: set[str] = set()
        self._troubles: dict[str, tuple[str, float]] = {}

    def trouble(self, subject: str, reason: str, text: str) -> None:
        """Warn, unless the same reason was told within the last second.

        Args:
            subject: What is in trouble; one of a few.
            reason: Which trouble; one of a few.
            text: One line for people.
        """
        now = time.monotonic()
        last = self._told.get((subject, reason))
        told = self._troubles.get(subject, ("", 0.0))[0]
        if told == text or (last is not None and now - last < QUIET):
            self._troubles[subject] = told, now  # and what was not told now is told when it lasts
            return
        self._troubles[subject] = text, now
        self._tell(subject, reason, now)
        self._log.warning(f"{self._prefix}{text}")

    def deny(self, text: str) -> None:
        """Say that something asked for is not done, unless that was said within the last second."""
        now = time.monotonic()
        if now - self._told.get(("", text), -math.inf) >= QUIET:
            self._tell("", text, now)
            self._log.error(f"{self._prefix}{text}")

    def fine(self, subject: str, text: str) -> None:
        """Say that a subject has recovered, once it has been out of trouble for a second."""
        trouble = self._troubles.get(subject)
        if trouble is not None and time.monotonic() - trouble[1] >= QUIET:
            del self._troubles[subject]
            self._log.info(f"{self._prefix}recovered: {text}")

    def say(self, text: str) -> None:
        """Tell something that is no trouble."""
        self._log.info(f"{self._prefix}{text}")

    def once(self, subject: str, text: str) -> None:
        """Tell something that is no trouble, once for each subject."""
        if subject not in self._said:
            self._said.add(subject)
            self._log.info(f"{self._prefix}{text}")

    def _tell(self, subject: str, reason: str, now: float) -> None:
        # What is older silences nothing; reasons that quote somebody else's text would pile up.
        self._told = {key: then for key, then in self._told.items() if now - then < QUIET}
        self._told[subject, reason] = now
