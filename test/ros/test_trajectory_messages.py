# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A serialised trajectory equals the message of a Python object."""

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory

from basis_ik.arm.limiter import Motion
from basis_ik.ros.outputs import trajectory_messages
from basis_ik.ros.outputs.trajectory_messages import SerializationError, SerializedTrajectory


def random_motion(rng, count, joints):
    times = np.cumsum(rng.uniform(1e-4, 2.0, count))
    return Motion(times, *rng.uniform(-4.0, 4.0, (3, count, joints)))


@pytest.mark.parametrize("joints", [1, 2, 3, 6, 7])
@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_a_filled_message_differs_in_its_numbers_only(joints, count):
    rng, names = np.random.default_rng(joints), [f"joint{'_' * k}" for k in range(joints)]
    serialized = SerializedTrajectory(names, count)
    for stamp in (0, 1_795_374_374_987_654_321):
        motion = random_motion(rng, count, joints)
        message = deserialize_message(serialized.filled(stamp, motion), JointTrajectory)
        assert message.joint_names == names
        assert message.header.frame_id == ""
        assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == stamp
        assert len(message.points) == count
        for point, when, *state in zip(message.points, *motion, strict=True):
            assert [list(point.positions), list(point.velocities), list(point.accelerations)] == [
                values.tolist() for values in state
            ]
            assert len(point.effort) == 0
            duration = point.time_from_start
            assert duration.sec * 10**9 + duration.nanosec == round(1e9 * when)


@pytest.mark.parametrize("count", [1, 3])
def test_further_joints_rest_where_they_are_held(count):
    serialized = SerializedTrajectory(["a", "b"], count, ["finger", "thumb"])
    motion = random_motion(np.random.default_rng(0), count, 2)
    for places in ([0.02, -0.3], [0.05, 0.1]):
        data = serialized.filled(1, motion, 0, np.array(places))
        message = deserialize_message(data, JointTrajectory)
        assert message.joint_names == ["a", "b", "finger", "thumb"]
        for point, _, *state in zip(message.points, *motion, strict=True):
            given = [point.positions, point.velocities, point.accelerations]
            held = [places, [0.0, 0.0], [0.0, 0.0]]
            assert [list(each) for each in given] == [
                [*values, *rest] for values, rest in zip(state, held, strict=True)
            ]


@pytest.mark.parametrize("start", [-20_000_000, -1_000_000_000, 1])
def test_a_motion_may_begin_before_or_after_the_stamp(start):
    motion = random_motion(np.random.default_rng(0), 2, 1)
    message = SerializedTrajectory(["a"], 2).filled(5, motion, start)
    for point, when in zip(
        deserialize_message(message, JointTrajectory).points, motion.times, strict=True
    ):
        duration = point.time_from_start
        assert duration.sec * 10**9 + duration.nanosec == start + round(1e9 * when)
        assert 0 <= duration.nanosec < 10**9


def test_a_returned_message_does_not_change():
    serialized = SerializedTrajectory(["a"], 2)
    one = random_motion(np.random.default_rng(0), 2, 1)
    before = serialized.filled(1, one)
    kept = bytes(before)
    assert serialized.filled(2, one) != kept
    assert before == kept


def test_an_unknown_serialisation_is_refused(monkeypatch):
    monkeypatch.setattr(
        trajectory_messages, "serialize_message", lambda message: b"?" + serialize_message(message)
    )
    with pytest.raises(SerializationError, match="CDR"):
        SerializedTrajectory(["a"], 2)
