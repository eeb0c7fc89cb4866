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

import importlib
import threading
import time

import pytest
import tf2_ros
from geometry_msgs.msg import PoseStamped, Wrench
from rclpy.duration import Duration
from rclpy.time import Time
from tf2_ros import Buffer, BufferInterface, TransformRegistration

SOON = Duration(seconds=0.05)
LATE = Duration(seconds=20)


@pytest.fixture
def buffer():
    return Buffer()


def later(action):
    thread = threading.Timer(0.05, action)
    thread.start()
    return thread


def test_the_names_of_upstream_are_there():
    for name in ("Transform", "Lookup", "Connectivity", "Extrapolation", "InvalidArgument"):
        assert issubclass(getattr(tf2_ros, f"{name}Exception"), tf2_ros.TransformException)
    assert isinstance(Buffer(Duration(seconds=5)), tf2_ros.BufferCore)
    assert importlib.import_module("tf2_ros.buffer").Buffer is Buffer


@pytest.mark.parametrize("name", ["BufferClient", "StaticTransformListener"])
def test_what_is_not_covered_says_so(name):
    with pytest.raises(ImportError, match=f"tf2_ros.{name} is not in this underlay"):
        exec(f"from tf2_ros import {name}")
    with pytest.raises(AttributeError, match="nonsense"):
        tf2_ros.nonsense  # noqa: B018


def test_lookup_with_and_without_keywords(buffer, stamped):
    sent = stamped("a", "b", 1.0, x=3.0)
    assert buffer.set_transform(sent, "test") is None
    at = Time(seconds=1)
    assert buffer.lookup_transform("a", "b", at) == sent
    assert buffer.lookup_transform("a", "b", at.to_msg()) == sent
    assert (
        buffer.lookup_transform(target_frame="a", source_frame="b", time=at, timeout=SOON) == sent
    )
    assert buffer.lookup_transform_full("a", at, "b", at, "a") == sent
    full = {"target_time": at, "source_time": at, "fixed_frame": "a"}
    assert buffer.can_transform_full(target_frame="a", source_frame="b", **full) == 1


def test_can_transform_gives_the_reason_when_asked(buffer, stamped):
    buffer.set_transform(stamped("a", "b", 1.0), "test")
    assert buffer.can_transform("a", "b", Time()) == 1
    assert buffer.can_transform("a", "b", Time(), return_debug_tuple=True) == (1, "")
    assert buffer.can_transform("a", "c", Time()) == 0
    assert "does not exist" in buffer.can_transform("a", "c", Time(), SOON, True)[1]
    assert (
        "does not exist"
        in buffer.can_transform_full("a", Time(), "c", Time(), "a", return_debug_tuple=True)[1]
    )


def test_without_timeout_nothing_waits(buffer):
    start = time.monotonic()
    with pytest.raises(tf2_ros.LookupException):
        buffer.lookup_transform("a", "b", Time())
    assert not buffer.can_transform("a", "b", Time(), Duration(seconds=-5))
    assert time.monotonic() - start < 1.0


def test_a_timeout_ends_with_the_reason(buffer):
    with pytest.raises(tf2_ros.LookupException):
        buffer.lookup_transform("a", "b", Time(), SOON)
    with pytest.raises(tf2_ros.LookupException):
        buffer.lookup_transform_full("a", Time(), "b", Time(), "a", SOON)


@pytest.mark.parametrize("static", [False, True])
def test_a_waiting_lookup_gets_what_arrives(buffer, stamped, static):
    insert = buffer.set_transform_static if static else buffer.set_transform
    thread = later(lambda: insert(stamped("a", "b", 1.0, x=2.0), "test"))
    found = buffer.lookup_transform("a", "b", Time(seconds=1), LATE)
    assert found.transform.translation.x == 2.0
    thread.join()


def test_a_waiting_question_gets_what_arrives(buffer, stamped):
    at = Time(seconds=1)
    thread = later(lambda: buffer.set_transform(stamped("a", "b", 1.0), "test"))
    assert buffer.can_transform_full("a", at, "b", at, "a", LATE)
    assert buffer.can_transform("a", "b", at, LATE)
    thread.join()


def test_async_lookups_run_through_when_the_transform_is_known(buffer, stamped):
    sent, at = stamped("a", "b", 1.0, x=2.0), Time(seconds=1)
    buffer.set_transform(sent, "test")
    for coroutine in (
        buffer.lookup_transform_async("a", "b", at),
        buffer.lookup_transform_full_async("a", at, "b", at, "a"),
    ):
        with pytest.raises(StopIteration) as end:
            coroutine.send(None)
        assert end.value.value == sent


def test_async_lookups_go_on_when_the_transform_arrives(buffer, stamped):
    sent, at = stamped("a", "b", 1.0, x=2.0), Time(seconds=1)
    coroutines = [
        buffer.lookup_transform_async("a", "b", at),
        buffer.lookup_transform_full_async("a", at, "b", at, "a"),
    ]
    for coroutine in coroutines:
        coroutine.send(None)
    buffer.set_transform(stamped("c", "d", 1.0), "test")
    for coroutine in coroutines:
        coroutine.send(None)  # still waiting
    buffer.set_transform(sent, "test")
    for coroutine in coroutines:
        with pytest.raises(StopIteration) as end:
            coroutine.send(None)
        assert end.value.value == sent


def test_a_future_is_done_once_and_calls_back_outside_the_lock(buffer, stamped):
    future, heard = buffer.wait_for_transform_async("a", "b", Time()), []

    def answer(_):
        # Another thread must be able to use the buffer meanwhile.
        thread = threading.Thread(
            target=lambda: heard.append(buffer.can_transform("a", "b", Time()))
        )
        thread.start()
        thread.join(10.0)

    future.add_done_callback(answer)
    for at in (1.0, 2.0):
        buffer.set_transform(stamped("a", "b", at), "test")
    assert future.done()
    assert future.result() is True
    assert heard == [1]


def test_a_cancelled_future_is_forgotten(buffer, stamped):
    future = buffer.wait_for_transform_async("a", "b", Time())
    future.cancel()
    buffer.set_transform(stamped("a", "b", 1.0), "test")
    assert future.cancelled()
    assert buffer._awaited == []


class Marker:
    """A message of nobody else's: what is registered is so for the whole process."""

    def __init__(self, header, x):
        self.header, self.x = header, x

    def __eq__(self, other):
        return (self.header, self.x) == (other.header, other.x)


def test_registered_messages_are_transformed_at_their_own_time(buffer, stamped):
    def move(marker, transform):
        return Marker(transform.header, marker.x + transform.transform.translation.x)

    TransformRegistration().add(Marker, move)
    for at in (1.0, 2.0):
        buffer.set_transform(stamped("a", "b", at, x=at), "test")
    marker = Marker(stamped("b", "", 2.0).header, 10.0)
    moved = buffer.transform(marker, "a")
    assert (moved.header.frame_id, moved.x) == ("a", 12.0)
    copy = buffer.transform(marker, "a", timeout=SOON, new_type=Marker)
    assert copy == moved
    full = buffer.transform_full(marker, "a", Time(seconds=1), "a")
    assert (full.x, full.header.stamp.sec) == (12.0, 1)
    with pytest.raises(tf2_ros.TypeException, match="ConvertRegistration"):
        buffer.transform(marker, "a", new_type=PoseStamped)


def test_other_messages_are_refused_by_name(buffer):
    with pytest.raises(tf2_ros.TypeException, match="Wrench"):
        buffer.transform(Wrench(), "a")


def test_the_interface_itself_looks_nothing_up():
    with pytest.raises(tf2_ros.NotImplementedException):
        BufferInterface().lookup_transform("a", "b", Time())
