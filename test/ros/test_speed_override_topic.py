# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What comes on `~/speed_override` becomes the parameter of its chain."""

import math
from types import SimpleNamespace

import pytest
from std_msgs.msg import Float64

from basis_ik.arm.admission import Refusals
from basis_ik.ros.speed_override import SpeedOverride


@pytest.fixture
def received():
    """Send values to a named chain; return its topics, set parameters and refusals."""

    def receive(name, *values):
        topics, given, refusals = [], [], Refusals(lambda: 0.0)

        def subscribe(_, topic, callback, *__, **___):
            topics.append(topic)
            for value in values:
                callback(Float64(data=value))

        node = SimpleNamespace(
            create_subscription=subscribe,
            set_parameters=lambda many: given.extend((each.name, each.value) for each in many),
        )
        controller = SimpleNamespace(
            arm=SimpleNamespace(name=name, refusals=refusals),
            resolve=lambda topic: f"~/{name}/{topic}" if name else f"~/{topic}",
            own=lambda _: given[-1][1] if given else 1.0,
            journal=SimpleNamespace(warn=lambda *_: None, recovered=lambda *_: None),
        )
        SpeedOverride(node, controller)
        return topics, given, refusals.counts

    return receive


@pytest.mark.parametrize(("name", "prefix"), [("", ""), ("left", "left.")])
def test_each_chain_has_its_own(received, name, prefix):
    topics, given, _ = received(name, 0.5, 0.0)
    assert topics == [f"~/{name}/speed_override" if name else "~/speed_override"]
    assert given == [(f"{prefix}speed_override", 0.5), (f"{prefix}speed_override", 0.0)]


def test_an_unchanged_value_is_not_set_again(received):
    assert received("", 1.0, 0.5, 0.5, 0.5, 1.0)[1] == [
        ("speed_override", 0.5),
        ("speed_override", 1.0),
    ]


def test_a_refused_value_sets_nothing(received):
    _, given, counts = received("", math.nan, 2.0, -1.0)
    assert given == []
    assert counts == {"NON_FINITE": 1, "OUT_OF_RANGE": 2}
