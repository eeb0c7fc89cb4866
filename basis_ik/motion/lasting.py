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
