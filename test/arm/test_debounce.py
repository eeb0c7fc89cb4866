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
