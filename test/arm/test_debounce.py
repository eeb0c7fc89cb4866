# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A reason is shown until it has been absent for a while."""

import itertools

import pytest

from basis_ik.arm.debounce import Debounced
from basis_ik.verdict import Reason, Verdict

# The numbers themselves: with those of the module no change of them would be seen.
HOLD_TIME = 0.3  # s

LIMIT = Reason(Verdict.LIMIT, joint="elbow", bound=1.0)
OTHER = Reason(Verdict.LIMIT, joint="wrist", bound=1.0)
PERIOD = 0.01


def reported(found):
    debounced = Debounced()
    return [debounced.update(each, k * PERIOD) for k, each in enumerate(found)]


def changes(logged):
    return sum(a != b for a, b in itertools.pairwise(logged))


@pytest.mark.parametrize("between", [None, OTHER])
def test_an_intermittent_reason_is_shown_without_flicker(between):
    logged = reported([None] * 5 + [LIMIT, between] * 100)
    assert changes(logged) == 1
    assert logged[5:] == [LIMIT] * 200


@pytest.mark.parametrize("then", [None, OTHER])
def test_a_reason_is_cleared_after_a_while(then):
    logged = reported([LIMIT] * 10 + [then] * 50)
    count = 10 + round(HOLD_TIME / PERIOD) - 1
    assert logged == [LIMIT] * count + [then] * (60 - count)


def test_a_reset_clears_the_reason():
    debounced = Debounced()
    assert debounced.update(LIMIT, 0.0) is LIMIT
    debounced.reset()
    assert debounced.shown is None
    assert debounced.update(None, 0.01) is None
