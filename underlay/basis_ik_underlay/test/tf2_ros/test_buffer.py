# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where frames are: against products of 4x4 matrices, and every way to have no answer."""

import math
import sys
import threading

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from rclpy.time import Time
from tf2_ros import Buffer, TransformException

nan, inf = math.nan, math.inf


def seconds(at):
    return Time(nanoseconds=round(at * 1e9))


def numbers(message):
    t, q = message.transform.translation, message.transform.rotation
    return [t.x, t.y, t.z, q.x, q.y, q.z, q.w]


def x_of(buffer, target, source, at=0.0):
    return buffer.lookup_transform(target, source, seconds(at)).transform.translation.x


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
    return Buffer()


@pytest.fixture
def put(buffer, stamped):
    return lambda *args, **kwargs: buffer.set_transform(stamped(*args, **kwargs), "somebody")


number = st.floats(-10.0, 10.0)
quaternion = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1)
link = st.tuples(st.integers(0, 100), st.tuples(*[number] * 3), quaternion, st.booleans())


@given(links=st.lists(link, min_size=1, max_size=12), data=st.data())
def test_any_two_frames_of_a_tree_agree_with_the_matrix_product(stamped, links, data):
    from_root = {"f0": np.eye(4)}
    buffer = Buffer()
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
        found = matrix(numbers(buffer.lookup_transform(target, source, time)))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_one_stored_transform_comes_back_exactly_and_does_not_change(buffer, stamped):
    sent = stamped("a", "b", 2.5, (0.1, -0.2, 0.3), yaw(0.7))
    buffer.set_transform(sent, "test")
    found = buffer.lookup_transform("a", "b", seconds(2.5))
    assert found == sent
    found.transform.translation.x = sent.transform.translation.x = 9.0
    assert x_of(buffer, "a", "b") == 0.1


@pytest.mark.parametrize("sign", [1, -1])  # either quaternion of the same rotation
def test_between_samples_position_is_linear_and_rotation_even(buffer, put, sign):
    put("a", "b", 1.0, (0.0, 0.0, 0.0), yaw(0.0))
    put("a", "b", 2.0, (4.0, 0.0, 0.0), tuple(sign * part for part in yaw(2.0)))
    found = numbers(buffer.lookup_transform("a", "b", seconds(1.25)))
    np.testing.assert_allclose(matrix(found), matrix([1.0, 0.0, 0.0, *yaw(0.5)]), atol=1e-12)


def test_time_zero_is_the_latest_time_known_of_all_links(buffer, put, stamped):
    for at in (3.0, 1.0, 2.0):  # in any order
        put("a", "b", at, (at, 0.0, 0.0))
    for at in (1.0, 2.5):
        put("b", "c", at)
    buffer.set_transform_static(stamped("c", "d", 99.0), "test")
    assert x_of(buffer, "a", "d") == 2.5
    assert buffer.lookup_transform("a", "d", Time()).header.stamp.nanosec == 500_000_000
    assert buffer.get_latest_common_time("a", "d") == seconds(2.5)
    assert buffer.get_latest_common_time("d", "a") == seconds(2.5)
    assert buffer.get_latest_common_time("a", "b") == seconds(3.0)
    assert buffer.get_latest_common_time("b", "b") == seconds(3.0)
    assert buffer.get_latest_common_time("c", "d") == Time()


def test_links_above_the_common_ancestor_and_static_ones_do_not_count(buffer, put, stamped):
    put("world", "base", 1.0)
    for arm in ("left", "right"):
        put("base", arm, 5.0)
    buffer.set_transform_static(stamped("right", "hand", 7.0, (1.0, 2.0, 3.0)), "test")
    for time in (Time(), seconds(5.0)):
        assert buffer.lookup_transform("left", "hand", time).header.stamp.sec == 5
    assert x_of(buffer, "right", "hand", 1e6) == 1.0
    assert buffer.lookup_transform("right", "hand", Time()).header.stamp.sec == 0
    assert numbers(buffer.lookup_transform("none", "none", Time()))[-1] == 1  # it is where it is


def test_reparenting_follows_time(buffer, put):
    for place, at in (("wall", 1.0), ("wall", 2.0), ("hand", 3.0), ("hand", 4.0)):
        put(place, "tool", at, (at, 0.0, 0.0))
    assert x_of(buffer, "wall", "tool", 1.5) == 1.5
    assert x_of(buffer, "wall", "tool", 2.9) == 2.0  # nothing lies between two parents
    assert x_of(buffer, "hand", "tool", 3.5) == 3.5
    for time in (3.5, 0.0):
        with pytest.raises(TransformException, match="not part of the same tree"):
            x_of(buffer, "wall", "tool", time)


def test_the_history_is_ten_seconds(buffer, put, capsys):
    for at in range(20):
        put("a", "b", float(at))
    put("a", "b", 19.0, (1.0, 0.0, 0.0))
    assert x_of(buffer, "a", "b", 19) == 1.0  # the newer of the same stamp
    assert x_of(buffer, "a", "b", 9) == 0.0
    with pytest.raises(TransformException, match="into the past"):
        x_of(buffer, "a", "b", 8.5)
    assert capsys.readouterr().err == ""
    put("a", "b", 8.5)
    assert capsys.readouterr().err == (
        "Warning: TF_OLD_DATA ignoring data from the past for frame b at time 8.500000 "
        "according to authority somebody\n"
    )


@pytest.mark.parametrize(
    ("frames", "x", "w", "reasons"),
    [
        (("a", "a"), 0.0, 1.0, ["TF_SELF_TRANSFORM"]),
        (("a", "/"), 0.0, 1.0, ["TF_NO_CHILD_FRAME_ID"]),
        (("", "b"), 0.0, 1.0, ["TF_NO_FRAME_ID"]),
        (("a", "b"), nan, 1.0, ["TF_NAN_INPUT"]),
        (("a", "b"), 0.0, nan, ["TF_NAN_INPUT", "TF_DENORMALIZED_QUATERNION"]),
        (("a", "b"), 0.0, 0.0, ["TF_DENORMALIZED_QUATERNION"]),
        (("a", "b"), 0.0, 1.006, ["TF_DENORMALIZED_QUATERNION"]),
        (("a", "b"), inf, 1.004, []),
    ],
)
def test_what_is_unfit_is_refused_with_its_reason(buffer, stamped, capsys, frames, x, w, reasons):
    unfit = stamped(*frames, 1.0, (x, 0.0, 0.0), (0.0, 0.0, 0.0, w))
    for insert in (buffer.set_transform, buffer.set_transform_static):
        insert(unfit, "somebody")
        lines = capsys.readouterr().err.splitlines()
        assert [line.split()[1] for line in lines] == [f"{reason}:" for reason in reasons]
        assert all("somebody" in line for line in lines)
    assert (buffer.all_frames_as_yaml() == "[]") == bool(reasons)


def test_the_frames_are_listed(buffer, put, stamped):
    put("map", "base", 1.0)
    buffer.set_transform_static(stamped("/base", "/camera"), "mount")  # of tf1: without the slash
    assert yaml.safe_load(buffer.all_frames_as_yaml()) == {
        "base": {"parent": "map"},
        "camera": {"parent": "base"},
    }


@pytest.mark.parametrize(
    ("target", "source", "reason"),
    [
        ("x", "b", '"x" passed to %s argument target_frame does not exist'),
        ("a", "x", '"x" passed to %s argument source_frame does not exist'),
        ("b", "d", "Could not find a connection between 'b' and 'd' because they are not part of"),
    ],
)
def test_frames_that_are_unknown_or_not_connected_are_named(buffer, put, target, source, reason):
    put("a", "b", 1.0)
    put("c", "d", 1.0)
    for ask, function in (
        (buffer.get_latest_common_time, "get_latest_common_time"),
        (lambda *two: x_of(buffer, *two, 1.0), "lookupTransform"),
    ):
        with pytest.raises(TransformException) as error:
            ask(target, source)
        assert reason.replace("%s", function) in str(error.value)


def test_an_unknown_time_is_named_with_the_frames(buffer, put):
    put("a", "b", 1.0)
    with pytest.raises(TransformException, match=r"but only time 1\.000000 is in the buffer"):
        x_of(buffer, "a", "b", 2.5)
    put("a", "b", 2.0)
    for target, source in (("a", "b"), ("b", "a")):
        with pytest.raises(TransformException) as error:
            x_of(buffer, target, source, 2.5)
        assert str(error.value) == (
            "Lookup would require extrapolation into the future.  Requested time 2.500000 but the "
            "latest data is at time 2.000000, when looking up transform from frame "
            f"[{source}] to frame [{target}]"
        )


def test_a_loop_is_found(buffer, put):
    for parent, child in (("a", "b"), ("b", "c"), ("c", "a"), ("root", "other")):
        put(parent, child, 1.0)
    for time in (Time(), seconds(1)):
        for target, source in (("other", "a"), ("a", "other")):
            with pytest.raises(TransformException, match="contains a loop"):
                buffer.lookup_transform(target, source, time)


def test_clear_forgets_what_moves_and_keeps_the_rest(buffer, put, stamped):
    buffer.set_transform_static(stamped("a", "b"), "test")
    put("a", "b", 1.0)  # static and moving replace each other
    buffer.set_transform_static(stamped("b", "c"), "test")
    buffer.clear()
    assert x_of(buffer, "b", "c", 9) == 0.0
    for time in (0.0, 1.0):
        with pytest.raises(TransformException):
            x_of(buffer, "a", "b", time)
    put("a", "b", 0.5, (1.0, 0.0, 0.0))  # time may have jumped back
    assert x_of(buffer, "a", "c", 0.5) == 1.0


def test_threads_do_not_disturb_each_other(buffer, put):
    """Position and stamp belong together in every sample; an error ends a thread early."""
    usual, wrong, stop = sys.getswitchinterval(), [], threading.Event()
    sys.setswitchinterval(1e-6)

    def write():
        at = 1
        while not stop.is_set():
            at += 1
            put("a", "b", at, (float(at), 0.0, 0.0))

    put("a", "b", 1, (1.0, 0.0, 0.0))
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(3000):
            found = buffer.lookup_transform("a", "b", Time())
            if found.transform.translation.x != found.header.stamp.sec:
                wrong.append(found)
    finally:
        stop.set()
        writer.join()
        sys.setswitchinterval(usual)
    assert not wrong
