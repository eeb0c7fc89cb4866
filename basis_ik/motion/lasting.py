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

"""What is said of a motion, without a flicker."""

from __future__ import annotations

from math import inf

from basis_ik.solvers.verdict import Reason

LASTS = 0.3  # s


class Lasting:
    """A reason that is said until it has not been there for a while.

    At a joint's limit a tip that is jogged stands in one period and creeps on in the next.

    Attributes:
        said: What is to be said; None: nothing.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Say nothing."""
        self.said: Reason | None = None
        self._seen = -inf

    def tell(self, found: Reason | None, now: float) -> Reason | None:
        """Return what is to be said.

        Args:
            found: What there is now; None: nothing.
            now: On a clock that begins anywhere [s].
        """
        if found == self.said or self.said is None or now - self._seen >= LASTS:
            self.said, self._seen = found, now
        return self.said
