# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Frames at even times of messages that are late, doubled, missing or slower than the frames."""

import math

import numpy as np
import pytest

from basis_ik.extras.recording.samples import SampleError, Sampler, Stream

SECOND = 10**9
FPS, DELAY = 20, 0.2
STEP = SECOND // FPS
BEGIN = 100 * SECOND
STREAMS = {"arm": Stream(0.5), "camera": Stream(0.5), "target": Stream()}
ARM = {"arm": STREAMS["arm"]}


def sampler(messages=(), streams=STREAMS):
    """Return a sampler whose episode begins with a value of each stream, and with messages."""
    made = Sampler(FPS, DELAY)
    for stream in streams:
        made.add(stream, BEGIN - 1, f"{stream} before")
    for message in messages:
        made.add(*message)
    made.begin(BEGIN, streams)
    return made


def after(seconds):
    return BEGIN + round(SECOND * seconds)


def arms(made, seconds):
    """Return what the frames have of the arm that are decided some time after the begin [s]."""
    return [each["arm"] for each in made.frames(after(seconds))]


def test_a_frame_has_the_newest_value_of_each_stream_that_is_not_later():
    made = sampler(
        [
            ("arm", BEGIN, "at once"),
            ("arm", BEGIN + STEP, "in time"),
            ("arm", BEGIN + STEP + 1, "x"),
        ]
    )
    frames = list(made.frames(after(0.25)))
    assert [each["arm"] for each in frames] == ["at once", "in time"]
    assert {each["camera"] for each in frames} == {"camera before"}
    assert [set(each) for each in frames] == [set(STREAMS)] * 2


def test_what_comes_late_counts_until_its_frame_is_decided():
    made = sampler()
    assert arms(made, 0.199) == []
    made.add("arm", BEGIN, "late")
    assert arms(made, 0.2) == ["late"]
    made.add("arm", BEGIN + 1, "of the next frame")
    assert arms(made, 0.25) == ["of the next frame"]


def test_messages_may_come_in_any_order_and_twice():
    rng, stamps = np.random.default_rng(3), BEGIN + 7 * SECOND // 1000 * np.arange(200)
    made = sampler()
    for k in rng.permutation(np.repeat(np.arange(200), 2)):
        made.add("arm", int(stamps[k]), int(k))
        made.add("camera", int(stamps[k]), int(k))
    frames = arms(made, 1.2)
    times = BEGIN + STEP * np.arange(21)
    assert frames == (np.searchsorted(stamps, times, side="right") - 1).tolist()


def test_of_messages_with_one_stamp_the_first_counts():
    made = sampler([("arm", BEGIN, "first"), ("arm", BEGIN, "again")])
    assert arms(made, 0.2) == ["first"]


def test_a_camera_that_is_slower_than_the_frames_is_repeated():
    made = sampler()
    for k in range(20):
        made.add("arm", BEGIN + k * STEP, k)
    for k in range(5):
        made.add("camera", BEGIN + 4 * k * STEP, k)
    frames = [each["camera"] for each in made.frames(after(0.95 + DELAY))]
    assert frames == np.repeat(np.arange(5), 4).tolist()


def test_what_moves_is_interpolated_unless_it_was_silent_for_long():
    made = Sampler(FPS, DELAY)
    for seconds, value in ((-0.02, 1.0), (0.03, 2.0), (0.11, 4.0), (0.30, 8.0), (0.36, 8.6)):
        made.add("arm", after(seconds), value)
    made.begin(BEGIN, {"arm": Stream(1.0, moves=True)})
    expected = [1.4, 2.5, 3.75, 4.0, 4.0, 4.0, 8.0, 8.5, 8.6]  # after 0.36 s none has come
    assert np.allclose(arms(made, 0.6), expected, rtol=0.0, atol=1e-9)


def test_frames_do_not_drift():
    made = Sampler(30, 0.0)
    for k in range(30 * 100 + 1):
        made.add("arm", BEGIN + math.floor(k * SECOND / 30), k)
    made.begin(BEGIN, {"arm": Stream(0.1)})
    frames = [frame for k in range(1001) for frame in made.frames(BEGIN + k * SECOND // 10)]
    assert [each["arm"] for each in frames] == list(range(3001))


@pytest.mark.parametrize("stream", ["arm", "camera"])
def test_an_episode_begins_only_with_values_that_are_new_enough(stream):
    made = Sampler(FPS, DELAY)
    with pytest.raises(SampleError, match=f"no value of {stream}"):
        made.begin(BEGIN, {stream: Stream(0.5)})
    made.add(stream, BEGIN + 1, "of another clock")
    with pytest.raises(SampleError, match=f"no value of {stream}"):
        made.begin(BEGIN, {stream: Stream(0.5)})
    made.add(stream, BEGIN - SECOND, "long ago")
    with pytest.raises(SampleError, match=rf"newest value of {stream} is 1\.00 s old"):
        made.begin(BEGIN, {stream: Stream(0.5)})
    assert not made.records
    made.begin(BEGIN, {stream: Stream()})
    assert made.records


def test_a_stream_that_ends_drops_the_episode():
    made = sampler([("arm", BEGIN + k * STEP, k) for k in range(100)])
    with pytest.raises(SampleError, match=r"newest value of camera is 0\.5\d s old"):
        arms(made, 2.0)
    assert not made.records
    assert arms(made, 3.0) == []


def test_a_clock_that_is_set_back_drops_the_episode_and_what_was_before():
    made = sampler()
    assert len(arms(made, 0.3)) == 3
    with pytest.raises(SampleError, match=r"set back by 0\.100 s"):
        arms(made, 0.2)
    assert not made.records
    with pytest.raises(SampleError, match="no value of arm"):
        made.begin(after(0.25), STREAMS)


def test_an_episode_ends_with_the_frames_up_to_its_end():
    made = sampler([("arm", BEGIN + k * STEP, k) for k in range(100)], ARM)
    first = arms(made, 0.4)
    made.end(after(0.42))
    made.end(after(0.9))  # it ends already
    assert made.records
    assert first + arms(made, 2.0) == list(range(9))
    assert not made.records


def test_an_episode_that_is_dropped_has_no_more_frames():
    made = sampler()
    made.cancel()
    assert arms(made, 1.0) == []
    assert not made.records


def test_the_next_episode_begins_anew():
    made = sampler([("arm", BEGIN + k * STEP, k) for k in range(200)], ARM)
    made.end(after(0.1))
    assert arms(made, 5.0) == [0, 1, 2]
    made.begin(after(5.0), ARM)
    assert arms(made, 5.3) == [100, 101, 102]


def test_what_no_frame_needs_is_forgotten():
    made = Sampler(FPS, DELAY)
    for k in range(10_000):
        made.add("arm", BEGIN + k * SECOND // 100, k)
        assert list(made.frames(BEGIN + k * SECOND // 100)) == []
    assert len(made._values["arm"]) < 30
    made.begin(after(100.0), ARM)
    for k in range(10_000, 20_000):
        made.add("arm", BEGIN + k * SECOND // 100, k)
        list(made.frames(BEGIN + k * SECOND // 100))
    assert len(made._values["arm"]) < 30
