# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The loop over starts: when it ends, and what it returns."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from basis_ik.search.starts import search_starts


class End(NamedTuple):
    value: float
    steps: int


def search(values, budget=100, met=0.0, best=None, steps=10):
    """Search for the least of values, each of which takes ten steps; return also who was asked."""
    asked = []

    def descend(value, left):
        asked.append((value, left))
        return End(value, min(steps, max(left, 0)))

    result = search_starts(
        values, descend, lambda one, other: one.value < other.value,
        lambda end: end.value <= met, budget=budget, best=best,
    )  # fmt: skip
    return result, asked


def test_a_search_ends_at_the_first_start_that_meets_the_goal():
    (best, steps, used), asked = search([3.0, 1.0, 0.0, -1.0])
    assert (best.value, steps, used) == (0.0, 30, 3)
    assert asked == [(3.0, 100), (1.0, 90), (0.0, 80)]


def test_what_meets_the_goal_is_taken_even_if_another_end_would_be_better():
    assert search([3.0, 0.5], met=0.5, best=End(0.1, 0))[0][0].value == 0.5


def test_the_earliest_of_the_best_ends_is_returned():
    (best, steps, used), _ = search([3.0, 1.0, 2.0, 1.0])
    assert best.value == 1.0
    assert (steps, used) == (40, 4)
    first, second = End(1.0, 1), End(1.0, 2)
    found = search_starts([first, second], lambda start, left: start, lambda a, b: a < b)
    assert found[0] is first


def test_a_search_ends_with_its_budget_and_asks_for_no_further_start():
    def starts():
        yield from (3.0, 2.0)
        raise AssertionError("no third start")

    (best, steps, used), asked = search(starts(), budget=15)
    assert (best.value, steps, used) == (2.0, 15, 2)
    assert asked == [(3.0, 15), (2.0, 5)]


def test_the_first_start_is_used_even_without_a_budget():
    assert search([3.0, 1.0], budget=0)[1] == [(3.0, 0)]


def test_a_given_end_has_to_be_improved_on():
    given = End(2.0, 0)
    assert search([3.0, 2.0], best=given)[0][0] is given
    assert search([3.0, 1.0], best=given)[0][0].value == 1.0


def test_a_search_without_a_start_is_refused():
    with pytest.raises(ValueError, match="needs a start"):
        search([])
