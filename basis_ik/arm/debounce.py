# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Debounces status messages about a motion."""

from __future__ import annotations

from math import inf

from basis_ik.verdict import Reason

HOLD_TIME = 0.3  # [s], for which a reason stays on display after it was last found


class Debounced:
    """A reason that stays on display until it has been absent for a while.

    Without this it would flicker: near a joint's limit, a jogged tip alternately stops and creeps.

    Attributes:
        shown: The reason on display, or None.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Clear the display."""
        self.shown: Reason | None = None
        self._seen = -inf

    def update(self, found: Reason | None, now: float) -> Reason | None:
        """Return the reason to display.

        Args:
            found: The current reason, or None.
            now: Time on any steady clock [s].
        """
        if found == self.shown or self.shown is None or now - self._seen >= HOLD_TIME:
            self.shown, self._seen = found, now
        return self.shown
