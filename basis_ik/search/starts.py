# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The loop over the starts of a search, for descents that Python calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar


class Counted(Protocol):
    """What a descent returns."""

    @property
    def steps(self) -> int:
        """Steps taken."""


Start = TypeVar("Start")
End = TypeVar("End", bound=Counted)

ENDLESS = 2**62


def search_starts(
    starts: Iterable[Start],
    descend: Callable[[Start, int], End],
    is_better: Callable[[End, End], bool],
    is_met: Callable[[End], bool] = lambda end: False,
    *,
    budget: int = ENDLESS,
    best: End | None = None,
) -> tuple[End, int, int]:
    """Descend from one start after another until one meets the goal, or the budget is spent.

    Args:
        starts: At least one, in order. The first one is used even without a budget.
        descend: Descends from a start, with so many steps left, to an end.
        is_better: Whether one end is better than another.
        is_met: Whether an end meets the goal, which ends the search.
        budget: Steps allowed, all descents together.
        best: What has to be improved on; None: the first end.

    Returns:
        The end that meets the goal, else the best; steps of all descents; number of starts used.

    Raises:
        ValueError: There is no start.
    """
    steps, used = 0, 0
    for start in starts:
        end = descend(start, budget - steps)
        steps, used = steps + end.steps, used + 1
        if is_met(end):
            return end, steps, used
        if best is None or is_better(end, best):
            best = end
        if steps >= budget:
            break
    if best is None:
        raise ValueError("a search needs a start")
    return best, steps, used
