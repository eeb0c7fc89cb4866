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

"""Messages from YAML and to YAML."""

import math

import pytest
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped, PoseWithCovariance
from ros2cli.values import Style, fill, fill_at_once, get_type, now, parse, to_yaml
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty, Header, String, UInt8MultiArray
from tf2_msgs.msg import TFMessage


@pytest.mark.parametrize("name", ["std_msgs/msg/String", "std_msgs/String"])
def test_a_type_is_found_by_its_long_and_its_short_name(name):
    assert get_type(name, "msg") is String


@pytest.mark.parametrize(
    ("name", "kind", "what"),
    [
        ("std_msgs/msg/Strin", "msg", "message"),
        ("no_such_msgs/msg/String", "msg", "message"),
        ("std_msgs/srv/String", "msg", "message"),
        ("String", "msg", "message"),
        ("", "msg", "message"),
        ("std_msgs/msg/String", "srv", "service"),
        ("std_msgs/msg/", "action", "action"),
    ],
)
def test_a_type_that_does_not_exist_is_named(name, kind, what):
    with pytest.raises(ValueError, match=f"^The passed {what} type is invalid: '{name}'$"):
        get_type(name, kind)


def filled(message, text):
    stamps = fill(message, parse(text))
    return message, stamps


def test_fields_take_what_yaml_makes_of_numbers_and_words():
    message, _ = filled(
        JointState(), "{name: [a, 1], position: [1, 2e-1, .nan, -.inf], header: {frame_id: 7}}"
    )
    assert message.name == ["a", "1"]
    assert message.position[:2].tolist() == [1.0, 0.2]
    assert math.isnan(message.position[2])
    assert message.position[3] == -math.inf
    assert message.header.frame_id == "7"
    message, _ = filled(DiagnosticStatus(), "{level: 2, values: [{key: a, value: b}, {key: c}]}")
    assert message.level == b"\x02"
    assert message.values == [KeyValue(key="a", value="b"), KeyValue(key="c")]
    message, _ = filled(UInt8MultiArray(), "data: !!binary AQL/")
    assert message.data.tolist() == [1, 2, 255]
    assert filled(String(), "")[0] == String()


def test_auto_and_now_take_the_time_of_each_publication():
    class Node:
        """At the hour that it is told."""

        def get_clock(self):
            return self

        now = get_clock

        def to_msg(self):
            return Header().stamp.__class__(sec=12, nanosec=34)

    message, stamps = filled(
        TFMessage(), "{transforms: [{header: auto}, {header: {stamp: now}}, {header: {}}]}"
    )
    now(Node(), stamps)
    assert [t.header.stamp.sec for t in message.transforms] == [12, 12, 0]
    assert [t.header.stamp.nanosec for t in message.transforms] == [34, 34, 0]


@pytest.mark.parametrize(
    ("message", "text", "reason"),
    [
        (String, "[1", "is not YAML"),
        (String, "a\tb: 'c", "is not YAML"),
        (String, "hello", "needs to be a dictionary"),
        (String, "{dta: x}", "no field 'dta'; there are: data"),
        (String, "{data: }", "'data' takes string, not None"),
        (String, "{data: [x]}", "'data' takes string, not"),
        (
            PoseStamped,
            "{pose: {position: {q: 1}}}",
            "no field 'pose.position.q'; there are: x, y, z",
        ),
        (PoseStamped, "{pose: {position: {x: a}}}", "'pose.position.x' takes double, not 'a'"),
        (PoseStamped, "{pose: 3}", "'pose' takes a dictionary, not 3"),
        (PoseStamped, "{header: now}", "'header' takes a dictionary, not 'now'"),
        (PoseStamped, "{header: {stamp: {sec: 1.5}}}", "'header.stamp.sec' takes int32, not 1.5"),
        (PoseStamped, "{header: {stamp: {nanosec: -1}}}", "'header.stamp.nanosec' takes uint32"),
        (PoseWithCovariance, "{covariance: [1, 2]}", "'covariance' takes double[36]"),
        (JointState, "{position: 1}", "'position' takes sequence<double>, not 1"),
        (JointState, "{position: [[1]]}", "'position' takes sequence<double>"),
        (UInt8MultiArray, "{data: [256]}", "'data' takes sequence<uint8>"),
        (TFMessage, "{transforms: [{}, {child: x}]}", "no field 'transforms[1].child'"),
    ],
)
def test_what_a_field_does_not_take_is_refused_with_its_path(message, text, reason):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the reason is looked at below)
        filled(message(), text)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


STATE = JointState(name=["a", "b"], position=[1.0, 2.5])
STATE.header.frame_id = "größe"


def test_yaml_has_the_fields_in_their_order_and_strings_as_they_are():
    assert to_yaml(STATE) == (
        "header:\n  stamp:\n    sec: 0\n    nanosec: 0\n  frame_id: größe\n"
        "name:\n- a\n- b\nposition:\n- 1.0\n- 2.5\nvelocity: []\neffort: []\n"
    )
    assert to_yaml(Empty()) == "{}\n"
    assert to_yaml(DiagnosticStatus(level=b"\x00")).startswith('level: "\\0"\n')
    assert to_yaml(String(data="1")) == "data: '1'\n"
    assert to_yaml(String(data="w " * 500)).count("\n") == 1


@pytest.mark.parametrize(
    ("style", "message", "line"),
    [
        (Style(length=1), STATE, "name:\n- a\n- '...'\n"),
        (Style(length=2), STATE, "name:\n- a\n- b\nposition"),
        (Style(length=5), String(data="Hello World"), "data: Hello...\n"),
        (Style(length=5), String(data="Hello"), "data: Hello\n"),
        (Style(strings=False), String(data="Hello"), "data: '<string length: <5>>'\n"),
        (Style(arrays=False), STATE, "position: '<sequence type: double, length: 2>'\n"),
        (Style(arrays=False), PoseWithCovariance(), "covariance: '<array type: double[36]>'\n"),
        (
            Style(arrays=False),
            TFMessage(),
            "transforms: '<sequence type: geometry_msgs/msg/TransformStamped, length: 0>'\n",
        ),
        (Style(flow=True), String(data="x"), "{data: x}\n"),
    ],
)
def test_styles(style, message, line):
    assert line in to_yaml(message, style)


def test_what_is_printed_can_be_read_again():
    message, _ = filled(JointState(), to_yaml(STATE))
    assert message == STATE


def test_auto_and_now_stand_for_nothing_where_nothing_is_published():
    message = PoseStamped()
    fill_at_once(message, parse("{header: {frame_id: base}}"))
    assert message.header.frame_id == "base"
    with pytest.raises(ValueError, match="only `topic pub` knows `now` and `auto`"):
        fill_at_once(message, parse("{header: auto}"))
