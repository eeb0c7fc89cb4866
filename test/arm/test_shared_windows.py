# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Of several controllers that share an arm, the one that is behind counts."""

import numpy as np
import pytest
from test_sent_windows import BEGIN, EXACT, GOAL, MS, branch, still, to

from basis_ik.arm.shared_windows import SharedWindows

COLUMNS = [np.array([0, 2]), np.array([1])]
JOINS = BEGIN + 150 * MS


@pytest.fixture
def sent():
    """Two windows; the second leaves the first one after 150 ms."""
    sent = SharedWindows(COLUMNS)
    first = to(GOAL)
    sent.send(first, alone=True)
    sent.send(branch(first, JOINS, GOAL + np.array([-0.5, -0.5, 0.3])))
    return sent


def observe(sent, *which, stamp):
    """Let each controller be on a window of its own at a time."""
    reference = np.empty(3)
    for columns, window in zip(COLUMNS, which, strict=True):
        reference[columns] = window.at(stamp)[columns, 0]
    return sent.observe_each([stamp] * 2, reference, EXACT, shifted=False)


def test_all_must_have_taken_a_window(sent):
    first, second = sent.windows
    assert observe(sent, first, first, stamp=JOINS - 10 * MS) == [True, True]
    assert sent.since() == JOINS
    assert observe(sent, second, first, stamp=JOINS + 100 * MS) == [True, True]
    assert sent.since() == JOINS, "one has not"
    assert sent.is_off(2e-6, EXACT)
    assert sent.windows == [first, second]
    assert observe(sent, second, second, stamp=JOINS + 120 * MS) == [True, True]
    assert sent.since() == np.inf
    assert sent.windows == [second]


def test_one_that_follows_nothing_is_told_apart(sent):
    first, second = sent.windows
    elsewhere = first._replace(motion=first.motion._replace(positions=first.motion.positions + 1.0))
    assert observe(sent, second, elsewhere, stamp=JOINS + 100 * MS) == [True, False]


def test_the_oldest_reference_counts(sent):
    first, _ = sent.windows
    stamps = [BEGIN + 80 * MS, BEGIN + 60 * MS]
    reference = np.array([first.at(stamps[0])[0, 0], *first.at(stamps[1])[1:, 0]])
    sent.observe_each(stamps, reference, EXACT, shifted=False)
    assert sent.seen == stamps[1]


def test_one_that_has_missed_a_window_ends_where_that_before_ends(sent):
    """Together they then follow a window that was never sent."""
    first, second = sent.windows
    for stamp in (JOINS + 100 * MS, max(first.over, second.over) + 1):
        observe(sent, second, first, stamp=stamp)
    (mixed,) = sent.windows
    ends = np.where([True, False, True], second.at(second.end)[:, 0], first.at(first.end)[:, 0])
    assert np.allclose(mixed.motion.positions[-1], ends, rtol=0.0, atol=1e-9)
    halfway = JOINS + 50 * MS
    assert np.allclose(mixed.at(halfway)[1], first.at(halfway)[1], rtol=0.0, atol=1e-7)
    assert np.allclose(mixed.at(halfway)[0], second.at(halfway)[0], rtol=0.0, atol=1e-7)
    assert sent.newest is mixed, "and it stays the same"
    observe(sent, second, first, stamp=mixed.over + 20 * MS)
    assert sent.newest is mixed


def test_all_must_rest_before_a_motion():
    sent, place = SharedWindows(COLUMNS), still(GOAL)
    observe(sent, place, place, stamp=BEGIN)
    assert sent.resting is None
    observe(sent, place, place, stamp=BEGIN + 20 * MS)
    assert np.array_equal(sent.resting, GOAL)
    moved = still(GOAL + 0.1)
    observe(sent, place, moved, stamp=BEGIN + 40 * MS)
    assert sent.resting is None
