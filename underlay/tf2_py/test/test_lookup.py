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

"""Where frames are: against products of 4x4 matrices, and every way to have no answer."""

import math
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.duration import Duration
from rclpy.time import Time
from tf2_py import (
    BufferCore,
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
)


def yaw(angle):
    return (0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2))


def matrix(seven):
    x, y, z, w = seven[3:]
    result = np.eye(4)
    result[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    result[:3, 3] = seven[:3]
    return result


@pytest.fixture
def buffer():
    return BufferCore()


number = st.floats(-10.0, 10.0)
quaternion = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1)
link = st.tuples(st.integers(0, 100), st.tuples(*[number] * 3), quaternion, st.booleans())


@given(links=st.lists(link, min_size=1, max_size=12), data=st.data())
def test_any_two_frames_of_a_tree_agree_with_the_matrix_product(stamped, numbers, links, data):
    from_root = {"f0": np.eye(4)}
    buffer = BufferCore()
    for place, (pick, translation, rotation, static) in enumerate(links):
        parent, child = f"f{pick % (place + 1)}", f"f{place + 1}"
        rotation = np.divide(rotation, np.linalg.norm(rotation)).tolist()
        insert = buffer.set_transform_static if static else buffer.set_transform
        insert(stamped(parent, child, 3.0, translation, rotation), "test")
        from_root[child] = from_root[parent] @ matrix([*translation, *rotation])
    frames = st.sampled_from(sorted(from_root))
    target, source = data.draw(frames), data.draw(frames)
    expected = np.linalg.inv(from_root[target]) @ from_root[source]
    for time in (Time(), Time(seconds=3)):
        found = matrix(numbers(buffer.lookup_transform_core(target, source, time)))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_one_stored_transform_comes_back_exactly(buffer, stamped, seconds):
    sent = stamped("a", "b", 2.5, (0.1, -0.2, 0.3), yaw(0.7))
    buffer.set_transform(sent, "test")
    assert buffer.lookup_transform_core("a", "b", seconds(2.5)) == sent
    assert buffer.lookup_transform_core("a", "b", Time()) == sent


def test_between_samples_position_is_linear_and_rotation_even(buffer, stamped, seconds, numbers):
    buffer.set_transform(stamped("a", "b", 1.0, (0.0, 0.0, 0.0), yaw(0.0)), "test")
    buffer.set_transform(stamped("a", "b", 2.0, (4.0, 0.0, 0.0), yaw(2.0)), "test")
    found = buffer.lookup_transform_core("a", "b", seconds(1.25))
    np.testing.assert_allclose(numbers(found), [1.0, 0.0, 0.0, *yaw(0.5)], atol=1e-12)


def test_rotation_takes_the_shorter_way_whatever_the_sign_of_the_quaternion(
    buffer, stamped, seconds, numbers
):
    buffer.set_transform(stamped("a", "b", 1.0, rotation=yaw(0.1)), "test")
    opposite = tuple(-part for part in yaw(0.3))
    buffer.set_transform(stamped("a", "b", 2.0, rotation=opposite), "test")
    found = numbers(buffer.lookup_transform_core("a", "b", seconds(1.5)))
    np.testing.assert_allclose(matrix(found), matrix([0, 0, 0, *yaw(0.2)]), atol=1e-12)


def test_two_samples_of_nearly_the_same_rotation_stay_finite(buffer, stamped, seconds, numbers):
    buffer.set_transform(stamped("a", "b", 1.0, rotation=yaw(0.5)), "test")
    buffer.set_transform(stamped("a", "b", 2.0, rotation=yaw(0.5 + 1e-9)), "test")
    found = numbers(buffer.lookup_transform_core("a", "b", seconds(1.5)))
    np.testing.assert_allclose(found, [0, 0, 0, *yaw(0.5)], atol=1e-8)


def test_time_zero_is_the_latest_time_known_of_all_links(buffer, stamped, seconds, numbers):
    for at in (1.0, 2.0, 3.0):
        buffer.set_transform(stamped("a", "b", at, (at, 0.0, 0.0)), "test")
    for at in (1.0, 2.5):
        buffer.set_transform(stamped("b", "c", at), "test")
    buffer.set_transform_static(stamped("c", "d", 99.0), "test")
    found = buffer.lookup_transform_core("a", "d", Time())
    assert (found.header.stamp.sec, found.header.stamp.nanosec) == (2, 500_000_000)
    assert numbers(found)[0] == 2.5
    assert buffer.get_latest_common_time("a", "d") == seconds(2.5)
    assert buffer.get_latest_common_time("d", "a") == seconds(2.5)
    assert buffer.get_latest_common_time("a", "b") == seconds(3.0)
    assert buffer.get_latest_common_time("c", "d") == Time()


def test_links_above_the_common_ancestor_do_not_count(buffer, stamped, seconds):
    buffer.set_transform(stamped("world", "base", 1.0), "test")
    for arm in ("left", "right"):
        buffer.set_transform(stamped("base", arm, 5.0), "test")
    assert buffer.lookup_transform_core("left", "right", seconds(5.0)).header.stamp.sec == 5
    assert buffer.lookup_transform_core("left", "right", Time()).header.stamp.sec == 5


def test_static_frames_have_an_answer_at_any_time(buffer, stamped, seconds, numbers):
    buffer.set_transform_static(stamped("a", "b", 7.0, (1.0, 2.0, 3.0)), "test")
    found = buffer.lookup_transform_core("a", "b", seconds(1e6))
    assert found.header.stamp.sec == 1_000_000
    assert numbers(found)[:3] == [1.0, 2.0, 3.0]
    assert buffer.lookup_transform_core("a", "b", Time()).header.stamp.sec == 0


def test_a_fixed_frame_joins_two_times(buffer, stamped, seconds, numbers):
    for at in (1.0, 2.0):
        buffer.set_transform(stamped("map", "base", at, (10 * at, 0.0, 0.0), yaw(at)), "test")
        buffer.set_transform(stamped("base", "camera", at, (0.0, at, 0.0)), "test")
    found = buffer.lookup_transform_full_core("base", seconds(2), "camera", seconds(1), "map")
    map_T_base_at_1 = matrix([10, 0, 0, *yaw(1)]) @ matrix([0, 1, 0, *yaw(0)])
    expected = np.linalg.inv(matrix([20, 0, 0, *yaw(2)])) @ map_T_base_at_1
    np.testing.assert_allclose(matrix(numbers(found)), expected, atol=1e-12)
    assert found.header.stamp.sec == 2
    assert (found.header.frame_id, found.child_frame_id) == ("base", "camera")
    query = ("base", seconds(2), "camera", seconds(1), "map")
    assert buffer.can_transform_full_core(*query) == (1, "")


def test_a_frame_is_where_it_is_even_if_nobody_knows_it(buffer, seconds, numbers):
    found = buffer.lookup_transform_core("nowhere", "nowhere", seconds(4))
    assert numbers(found) == [0, 0, 0, 0, 0, 0, 1]
    assert found.header.stamp.sec == 4
    assert buffer.can_transform_core("nowhere", "nowhere", seconds(4)) == (1, "")


def test_the_latest_identity_has_the_stamp_of_the_frame(buffer, stamped):
    buffer.set_transform(stamped("a", "b", 4.0), "test")
    assert buffer.lookup_transform_core("b", "b", Time()).header.stamp.sec == 4


def test_reparenting_follows_time(buffer, stamped, seconds, numbers):
    for place, at in (("wall", 1.0), ("wall", 2.0), ("hand", 3.0), ("hand", 4.0)):
        buffer.set_transform(stamped(place, "tool", at, (at, 0.0, 0.0)), "test")
    assert numbers(buffer.lookup_transform_core("wall", "tool", seconds(1.5)))[0] == 1.5
    assert numbers(buffer.lookup_transform_core("wall", "tool", seconds(2.9)))[0] == 2.0
    assert numbers(buffer.lookup_transform_core("hand", "tool", seconds(3.5)))[0] == 3.5
    with pytest.raises(ConnectivityException):
        buffer.lookup_transform_core("wall", "tool", seconds(3.5))
    with pytest.raises(ConnectivityException):
        buffer.lookup_transform_core("wall", "tool", Time())


def test_static_and_moving_replace_each_other(buffer, stamped, seconds, numbers):
    buffer.set_transform(stamped("a", "b", 5.0, (1.0, 0.0, 0.0)), "test")
    buffer.set_transform_static(stamped("a", "b", 0.0, (2.0, 0.0, 0.0)), "test")
    assert numbers(buffer.lookup_transform_core("a", "b", seconds(100)))[0] == 2.0
    buffer.set_transform(stamped("a", "b", 6.0, (3.0, 0.0, 0.0)), "test")
    assert numbers(buffer.lookup_transform_core("a", "b", seconds(6)))[0] == 3.0
    with pytest.raises(ExtrapolationException):
        buffer.lookup_transform_core("a", "b", seconds(5))


def test_the_history_is_ten_seconds_or_what_was_asked_for(stamped, seconds):
    for cache_time, kept in ((None, 10.0), (Duration(seconds=2), 2.0)):
        buffer = BufferCore(cache_time)
        for at in range(20):
            buffer.set_transform(stamped("a", "b", float(at)), "test")
        assert buffer.can_transform_core("a", "b", seconds(19 - kept))[0]
        assert not buffer.can_transform_core("a", "b", seconds(19 - kept - 0.5))[0]


def test_unknown_frames_are_named(buffer, stamped):
    buffer.set_transform(stamped("a", "b"), "test")
    for target, source, argument in (("x", "b", "target_frame"), ("a", "x", "source_frame")):
        with pytest.raises(LookupException) as error:
            buffer.lookup_transform_core(target, source, Time())
        assert f'"x" passed to lookupTransform argument {argument} does not exist' in str(
            error.value
        )
        possible, reason = buffer.can_transform_core(target, source, Time())
        assert not possible
        text = f'Invalid frame ID "x" passed to canTransform argument {argument}'
        assert reason == f"{text} - frame does not exist"
    with pytest.raises(LookupException, match="argument fixed_frame does not exist"):
        buffer.lookup_transform_full_core("a", Time(), "b", Time(), "x")


@pytest.mark.parametrize(("name", "fault"), [("", "cannot be empty"), ("/a", "cannot start with")])
def test_names_must_be_of_the_present_form(buffer, stamped, name, fault):
    buffer.set_transform(stamped("/a", "/b"), "test")  # here, as upstream, the slash is taken off
    assert buffer.can_transform_core("a", "b", Time()) == (1, "")
    with pytest.raises(InvalidArgumentException, match=fault):
        buffer.lookup_transform_core("b", name, Time())
    assert not buffer.can_transform_core(name, "b", Time())[0]


def test_separate_trees_are_named(buffer, stamped, seconds):
    buffer.set_transform(stamped("a", "b", 1.0), "test")
    buffer.set_transform(stamped("c", "d", 1.0), "test")
    for time in (Time(), seconds(1)):
        with pytest.raises(ConnectivityException) as error:
            buffer.lookup_transform_core("b", "d", time)
        assert str(error.value) == (
            "Could not find a connection between 'b' and 'd' because they are not part of the "
            "same tree.Tf has two or more unconnected trees."
        )
    with pytest.raises(ConnectivityException):
        buffer.get_latest_common_time("b", "d")


def test_an_unknown_time_is_named_with_the_frames(buffer, stamped, seconds):
    for at in (1.0, 2.0):
        buffer.set_transform(stamped("a", "b", at), "test")
    for target, source in (("a", "b"), ("b", "a")):
        with pytest.raises(ExtrapolationException) as error:
            buffer.lookup_transform_core(target, source, seconds(2.5))
        assert str(error.value) == (
            "Lookup would require extrapolation into the future.  Requested time 2.500000 but the "
            "latest data is at time 2.000000, when looking up transform from frame "
            f"[{source}] to frame [{target}]"
        )
    assert "into the past" in buffer.can_transform_core("a", "b", seconds(0.5))[1]


def test_histories_that_do_not_overlap_have_no_common_time(buffer, stamped):
    for at in (1.0, 2.0):
        buffer.set_transform(stamped("a", "b", at), "test")
        buffer.set_transform(stamped("b", "c", at + 3.0), "test")
    with pytest.raises(ExtrapolationException, match="into the past"):
        buffer.lookup_transform_core("a", "c", Time())


def test_a_loop_is_found(buffer, stamped, seconds):
    for parent, child in (("a", "b"), ("b", "c"), ("c", "a"), ("root", "other")):
        buffer.set_transform(stamped(parent, child, 1.0), "test")
    for time in (Time(), seconds(1)):
        for target, source in (("other", "a"), ("a", "other")):
            with pytest.raises(LookupException, match="contains a loop"):
                buffer.lookup_transform_core(target, source, time)
    # Inside the loop there is a way, as upstream.
    assert buffer.can_transform_core("a", "c", seconds(1)) == (1, "")


def test_clear_forgets_what_moves_and_keeps_the_rest(buffer, stamped, seconds):
    buffer.set_transform(stamped("a", "b", 1.0), "test")
    buffer.set_transform_static(stamped("b", "c"), "test")
    buffer.clear()
    assert buffer.can_transform_core("b", "c", seconds(9)) == (1, "")
    with pytest.raises(ConnectivityException):
        buffer.lookup_transform_core("a", "b", Time())
    with pytest.raises(ExtrapolationException):
        buffer.lookup_transform_core("a", "b", seconds(1))
    buffer.set_transform(stamped("a", "b", 0.5), "test")  # time may have jumped back
    assert buffer.can_transform_core("a", "c", seconds(0.5)) == (1, "")


@pytest.fixture
def hasty_threads():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def test_threads_do_not_disturb_each_other(buffer, stamped, hasty_threads):
    """Position and stamp belong together in every sample; an error ends a thread early."""
    wrong, finished, stop = [], [], threading.Event()

    def write():
        at = 0
        while not stop.is_set():
            at += 1
            buffer.set_transform(stamped("a", "b", at, (float(at), 0.0, 0.0)), "test")

    def read():
        for _ in range(1500):
            found = buffer.lookup_transform_core("a", "b", Time())
            if found.transform.translation.x != found.header.stamp.sec:
                wrong.append(found)
        finished.append(True)

    buffer.set_transform(stamped("a", "b", 1, (1.0, 0.0, 0.0)), "test")
    writer = threading.Thread(target=write)
    readers = [threading.Thread(target=read) for _ in range(3)]
    for thread in (writer, *readers):
        thread.start()
    for thread in readers:
        thread.join()
    stop.set()
    writer.join()
    assert not wrong
    assert len(finished) == 3
