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

import pytest
from tf2_py import ExtrapolationException
from tf2_py.quaternion import IDENTITY
from tf2_py.time_cache import Sample, StaticCache, TimeCache, interpolate


def sample(stamp, parent="p", x=0.0):
    return Sample(stamp, parent, (x, 0.0, 0.0), IDENTITY)


@pytest.fixture
def cache():
    return TimeCache(10)


def test_samples_may_come_in_any_order(cache):
    for stamp in (5, 3, 9, 4, 8):
        assert cache.insert(sample(stamp))
    assert cache.extent() == (3, 9, 5)
    assert cache.bracket(6) == (sample(5), sample(8))


def test_what_is_older_than_the_duration_is_forgotten(cache):
    for stamp in (1, 2, 11, 12):
        cache.insert(sample(stamp))
    assert cache.extent() == (2, 12, 3)


def test_a_sample_older_than_the_duration_is_refused(cache):
    cache.insert(sample(20))
    assert not cache.insert(sample(9))
    assert cache.insert(sample(10))


def test_a_repeated_stamp_replaces_and_does_not_grow(cache):
    for x in range(100):
        assert cache.insert(sample(7, x=float(x)))
    assert cache.extent() == (7, 7, 1)
    assert cache.bracket(7)[0].translation == (99.0, 0.0, 0.0)


def test_time_zero_is_the_newest(cache):
    cache.insert(sample(3))
    cache.insert(sample(5))
    assert cache.bracket(0) == (sample(5), sample(5))


def test_a_met_stamp_is_not_interpolated(cache):
    for stamp in (3, 4, 5):
        cache.insert(sample(stamp))
    for stamp in (3, 4, 5):
        assert cache.bracket(stamp) == (sample(stamp), sample(stamp))


@pytest.mark.parametrize(
    ("stored", "wanted", "message"),
    [
        (
            (1, 2),
            3,
            "Lookup would require extrapolation into the future.  "
            "Requested time 3.000000 but the latest data is at time 2.000000",
        ),
        (
            (4, 5),
            2,
            "Lookup would require extrapolation into the past.  "
            "Requested time 2.000000 but the earliest data is at time 4.000000",
        ),
        (
            (1,),
            2,
            "Lookup would require extrapolation at time 2.000000, "
            "but only time 1.000000 is in the buffer",
        ),
        ((), 1, "Unable to lookup transform, cache is empty"),
    ],
    ids=["future", "past", "between", "empty"],
)
def test_outside_the_history_the_message_tells_where_it_ends(stored, wanted, message):
    cache = TimeCache(10**11)
    for stamp in stored:
        cache.insert(sample(stamp * 10**9))
    with pytest.raises(ExtrapolationException) as error:
        cache.bracket(wanted * 10**9)
    assert str(error.value) == message


def test_interpolation_is_linear_in_position():
    pose = interpolate((sample(10, x=1.0), sample(20, x=3.0)), 15)
    assert pose == ((2.0, 0.0, 0.0), IDENTITY)


def test_no_interpolation_across_a_change_of_parent():
    older, newer = sample(10, "a", 1.0), sample(20, "b", 3.0)
    assert interpolate((older, newer), 19)[0] == (1.0, 0.0, 0.0)


def test_an_infinite_translation_passes_as_upstream():
    infinite = float("inf")
    pose = interpolate((sample(10, x=infinite), sample(20, x=infinite)), 15)
    assert pose[0] == (infinite, 0.0, 0.0)


def test_a_static_sample_holds_at_all_times_and_survives_clear():
    cache = StaticCache()
    cache.insert(sample(5, x=1.0))
    cache.insert(sample(6, x=2.0))
    cache.clear()
    for stamp in (0, 1, 10**18):
        assert cache.bracket(stamp)[0].translation == (2.0, 0.0, 0.0)
    assert cache.extent() == (0, 0, 1)


def test_a_cleared_history_is_empty(cache):
    cache.insert(sample(5))
    cache.clear()
    assert cache.extent() == (0, 0, 0)
    assert cache.newest() is None
