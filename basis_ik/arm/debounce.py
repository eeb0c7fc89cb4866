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

"""Debounces status messages about a motion."""

from __future__ import annotations

from math import inf

from basis_ik.verdict import Reason

HOLD_TIME = 0.3  # s


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
