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

"""The interface that code written for upstream relies on: names, types, and what is refused."""

import math

import pytest
import tf2_py
import yaml
from builtin_interfaces.msg import Time as TimeMessage
from rclpy.time import Time
from tf2_py import BufferCore

nan, inf = math.nan, math.inf


@pytest.fixture
def buffer():
    return BufferCore()


def test_every_exception_is_a_transform_exception():
    for name in ("Lookup", "Connectivity", "Extrapolation", "InvalidArgument", "Timeout"):
        assert issubclass(getattr(tf2_py, f"{name}Exception"), tf2_py.TransformException)


def test_setters_return_nothing_even_when_they_refuse(buffer, stamped):
    assert buffer.set_transform(stamped("a", "b"), "test") is None
    assert buffer.set_transform(stamped("a", "a"), "test") is None
    assert buffer.set_transform_static(stamped("a", "c"), "test") is None


def test_whether_a_transform_is_possible_is_a_number(buffer, stamped):
    buffer.set_transform(stamped("a", "b", 1.0), "test")
    for time, expected in ((Time(), 1), (Time(seconds=9), 0)):
        possible, reason = buffer.can_transform_core("a", "b", time)
        assert type(possible) is int
        assert possible == expected
        assert bool(reason) is not bool(expected)


def test_arguments_may_be_named(buffer, stamped):
    buffer.set_transform(stamped("a", "b", 1.0), "test")
    plain = {"target_frame": "a", "source_frame": "b"}
    at = Time(seconds=1)
    full = {**plain, "target_time": at, "source_time": at, "fixed_frame": "a"}
    assert buffer.can_transform_core(**plain, time=at)[0]
    assert buffer.can_transform_full_core(**full)[0]
    found = buffer.lookup_transform_core(**plain, time=at)
    assert buffer.lookup_transform_full_core(**full) == found
    assert buffer.get_latest_common_time(**plain) == at


def test_the_time_of_a_message_is_a_time_too(buffer, stamped):
    buffer.set_transform(stamped("a", "b", 1.5), "test")
    time = TimeMessage(sec=1, nanosec=500_000_000)
    assert buffer.lookup_transform_core("a", "b", time).header.stamp == time


@pytest.mark.parametrize(
    ("frames", "translation", "rotation", "reasons"),
    [
        (("a", "a"), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), ["TF_SELF_TRANSFORM"]),
        (("/a", "a"), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), ["TF_SELF_TRANSFORM"]),
        (("a", ""), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), ["TF_NO_CHILD_FRAME_ID"]),
        (("a", "/"), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), ["TF_NO_CHILD_FRAME_ID"]),
        (("", "b"), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), ["TF_NO_FRAME_ID"]),
        (("a", "b"), (nan, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), ["TF_NAN_INPUT"]),
        (
            ("a", "b"),
            (0.0, 0.0, 0.0),
            (0.0, 0.0, nan, 1.0),
            ["TF_NAN_INPUT", "TF_DENORMALIZED_QUATERNION"],
        ),
        (("a", "b"), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), ["TF_DENORMALIZED_QUATERNION"]),
        (("a", "b"), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.006), ["TF_DENORMALIZED_QUATERNION"]),
        (("a", "b"), (0.0, 0.0, 0.0), (0.0, 0.0, inf, 1.0), ["TF_DENORMALIZED_QUATERNION"]),
    ],
)
def test_what_is_unfit_is_refused_with_its_reason(
    buffer, stamped, capsys, frames, translation, rotation, reasons
):
    unfit = stamped(*frames, 1.0, translation, rotation)
    for insert in (buffer.set_transform, buffer.set_transform_static):
        insert(unfit, "somebody")
        lines = capsys.readouterr().err.splitlines()
        assert [line.split()[1] for line in lines] == [f"{reason}:" for reason in reasons]
        assert all("somebody" in line for line in lines)
    assert buffer._getFrameStrings() == []
    assert buffer.all_frames_as_yaml() == "[]"


def test_a_slightly_long_quaternion_and_an_infinite_translation_pass(buffer, stamped, capsys):
    buffer.set_transform(stamped("a", "b", 1.0, (inf, 0.0, 0.0), (0.0, 0.0, 0.0, 1.004)), "test")
    assert capsys.readouterr().err == ""
    found = buffer.lookup_transform_core("a", "b", Time())
    assert found.transform.translation.x == inf


def test_old_data_is_refused_with_a_warning(buffer, stamped, capsys):
    buffer.set_transform(stamped("a", "b", 100.0), "test")
    buffer.set_transform(stamped("a", "b", 89.5), "somebody")
    assert capsys.readouterr().err == (
        "Warning: TF_OLD_DATA ignoring data from the past for frame b at time 89.500000 "
        "according to authority somebody\n"
    )
    buffer.set_transform(stamped("a", "b", 90.5), "test")
    assert capsys.readouterr().err == ""


def test_a_stored_transform_does_not_change_with_the_message(buffer, stamped, numbers):
    message = stamped("a", "b", 1.0, (1.0, 0.0, 0.0))
    buffer.set_transform(message, "test")
    message.transform.translation.x = 9.0
    found = buffer.lookup_transform_core("a", "b", Time())
    assert numbers(found)[0] == 1.0
    found.transform.translation.x = 9.0
    assert numbers(buffer.lookup_transform_core("a", "b", Time()))[0] == 1.0


def test_the_frames_are_listed(buffer, stamped):
    buffer.set_transform(stamped("map", "base", 1.0), "odometry")
    buffer.set_transform(stamped("map", "base", 3.0), "odometry")
    buffer.set_transform_static(stamped("base", "camera"), "mount")
    assert buffer._getFrameStrings() == ["base", "map", "camera"]
    assert buffer._frameExists("map")
    assert not buffer._frameExists("nowhere")
    assert buffer.all_frames_as_string() == (
        "Frame base exists with parent map.\nFrame camera exists with parent base.\n"
    )
    assert yaml.safe_load(buffer.all_frames_as_yaml()) == {
        "base": {
            "parent": "map",
            "broadcaster": "odometry",
            "rate": 1.0,
            "most_recent_transform": 3.0,
            "oldest_transform": 1.0,
            "buffer_length": 2.0,
        },
        "camera": {
            "parent": "base",
            "broadcaster": "mount",
            "rate": 10000.0,
            "most_recent_transform": 0.0,
            "oldest_transform": 0.0,
            "buffer_length": 0.0,
        },
    }


def test_a_cleared_frame_is_listed_no_more(buffer, stamped):
    buffer.set_transform(stamped("a", "b", 1.0), "test")
    buffer.clear()
    assert buffer.all_frames_as_string() == ""
    assert buffer._frameExists("b")
