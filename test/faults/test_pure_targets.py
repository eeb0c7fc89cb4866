# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Invalid targets: each is refused with a reason in the status, and the previous one stays."""

import math
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from pure_arm import HOME, NS, Arm, down
from std_msgs.msg import String

from basis_ik.ros.parameters.parameters import ConfigError
from basis_ik.transforms.rigid import RigidTransform

DOCS = Path(__file__).parents[2] / "docs"
FIELDS = [("position", f) for f in "xyz"] + [("orientation", f) for f in "xyzw"]


def at(x):
    return RigidTransform.from_rpy(0.0, 0.0, 0.0, [x, 0.0, 0.0])


@pytest.fixture(scope="module")
def arm():
    """An arm on its way to a target: the tests before have left it anywhere."""
    return Arm()


@pytest.fixture
def moving(arm):
    """The arm in mid-motion to a target that is never reached while the test lasts."""
    arm.until_rest()
    arm.go(down(0.35 if arm.place[0] > 0.0 else 0.45, -0.25 if arm.place[0] > 0.0 else 0.25))
    arm.cycles(5)
    assert arm.goal is not None
    yield arm
    arm.follows_again()


def with_field(arm, where, value):
    message = arm.pose(down(0.45))
    setattr(getattr(message.pose, where[0]), where[1], value)
    return message


def refuses_each(arm, reason, values):
    """Refuse each value in each field; return how many were."""
    for where in FIELDS:
        for value in values:
            message = with_field(arm, where, value)
            arm.refuses(reason, lambda message=message: arm.receive("target_pose", message))
    return len(FIELDS) * len(values)


def test_row_01_nan_in_a_pose(moving, observed):
    count = refuses_each(moving, "NON_FINITE", [math.nan, -math.nan])
    observed(f"REJECT(NON_FINITE), {count} of {count}")


def test_row_02_infinity_in_a_pose(moving, observed):
    count = refuses_each(moving, "NON_FINITE", [math.inf, -math.inf])
    observed(f"REJECT(NON_FINITE), {count} of {count}")


def test_row_03_huge_numbers_in_a_pose(moving, observed):
    count = refuses_each(moving, "OUT_OF_RANGE", [1e200, -1e200, 1.0001e8])
    far = moving.pose(down(0.45))
    far.pose.position.x = 1e8  # in order as a message, but no place for the arm
    moving.refuses("OUT_OF_RANGE", lambda: moving.receive("target_pose", far))
    far.pose.position.x = 1.0001e6
    moving.refuses("OUT_OF_RANGE", lambda: moving.receive("target_pose", far))
    # In coordinates of the earth, beside the arm: what is too large is not made good by a sum.
    moving.put_frame("base_link", "earth", at(-1e8), static=True)
    far.header.frame_id, far.pose.position.x = "earth", 1e8 + 0.45
    moving.refuses("OUT_OF_RANGE", lambda: moving.receive("target_pose", far))
    far.pose.position.x = 1e8
    moving.receive("target_pose", far)
    moving.cycles()
    assert moving.goal.root_T_target.translation[0] == 0.0, "the largest is taken"
    observed(f"REJECT(OUT_OF_RANGE), {count + 3} of {count + 3}; beyond 1e6 m from the root, too")


def scaled(arm, length):
    message = arm.pose(down(0.45))
    q = message.pose.orientation
    q.x, q.y, q.z, q.w = (length * value for value in (q.x, q.y, q.z, q.w))
    return message


def test_row_04_zero_quaternion(moving, observed):
    zero = scaled(moving, 0.0)
    logged = moving.refuses("BAD_QUATERNION", lambda: moving.receive("target_pose", zero))
    observed(f"REJECT(BAD_QUATERNION): {logged}")


@pytest.mark.parametrize("length", [1.00099, 0.99901, 1.00101, 0.99899, 2.0])
def test_row_05_quaternion_of_another_length(arm, observed, length):
    def offer():
        arm.receive("target_pose", scaled(arm, length))

    if abs(length - 1.0) > 1e-3:
        logged = arm.refuses("BAD_QUATERNION", offer)
        observed(f"{length:g}: REJECT(BAD_QUATERNION)")
        assert f"{length:.6g}" in logged
        return
    arm.go(down(0.45))
    arm.cycles()
    exact = arm.goal.root_T_target.matrix
    arm.go(down(0.40))
    arm.cycles()
    offer()
    arm.cycles()
    np.testing.assert_allclose(arm.goal.root_T_target.matrix, exact, atol=1e-15)
    observed(f"{length:g}: normalised")


def test_row_06_a_quaternion_and_its_opposite(observed):
    ways = []
    for sign in (1.0, -1.0):
        arm = Arm()
        message = arm.pose(down(0.45) @ RigidTransform.from_rpy(0.2, 0.1, 0.3, [0.0] * 3))
        q = message.pose.orientation
        q.x, q.y, q.z, q.w = sign * q.x, sign * q.y, sign * q.z, sign * q.w
        arm.receive("target_pose", message)
        arm.until_rest()
        ways.append(arm.commands)
    assert len(ways[0]) > 50
    np.testing.assert_array_equal(*ways)
    observed(f"{len(ways[0])} commands, all bits alike")


def test_row_07_empty_frame(moving, observed):
    moving.refuses("NO_FRAME", lambda: moving.go(down(0.45), frame=""))
    observed("REJECT(NO_FRAME)")


BAD_FRAMES = ["/base_link", "base\nlink", "a\x00b", "\x1b[31m", "a\u202eb", "f" * 256]


def test_row_08_frames_that_tf_cannot_hold(moving, observed, monkeypatch):
    asked = []
    monkeypatch.setattr(moving.buffer, "lookup_transform", lambda *a: asked.append(a))
    for frame in (*BAD_FRAMES, "\x1b" * 1_000_000):
        logged = moving.refuses("BAD_FRAME", lambda frame=frame: moving.go(down(0.45), frame=frame))
        assert logged.isascii()
        assert logged.isprintable()
        assert len(logged) <= 128 + len("''")
    assert all(line.isprintable() and len(line) < 300 for line in moving.node.lines)
    grown = []
    tracemalloc.start()
    for k in range(40):
        moving.go(down(0.45), frame=f"{k}" + "x" * 1_000_000)
        grown.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert grown[-1] - grown[4] < 1e5, "nothing of them is kept"
    assert not asked, "tf is not asked"
    monkeypatch.undo()
    longest = "f" * 255
    moving.put_frame("base_link", longest, down(0.0, 0.0, 0.0), static=True)
    moving.go(down(0.40), frame=longest)
    moving.cycles()
    assert moving.control.arm.targets.target.frame_id == longest
    observed(f"REJECT(BAD_FRAME); {(grown[-1] - grown[4]) / 1e3:.0f} kB more after 35 MB of names")


def taken(arm, **header):
    """Offer a good target; return whether it is followed in the next period."""
    goal, refused = arm.goal, arm.control.arm.refusals.counts.total()
    arm.go(down(0.40 + 0.001 * len(arm.oracle.commands) % 0.05), **header)
    arm.cycles()
    return arm.goal != goal and arm.control.arm.refusals.counts.total() == refused


def test_row_10_stamp_too_old(moving, observed):
    logged = moving.refuses("STALE", lambda: moving.go(down(0.45), age=2 * NS + 1))
    moving.refuses("STALE", lambda: moving.go(down(0.45), stamp=(0, 1)))
    moving.control.arm.targets.reset()  # no order among stamps
    assert taken(moving, age=2 * NS), "at the border"
    observed(f"REJECT(STALE): {logged}")


def test_row_11_stamp_in_the_future(moving, observed):
    tenth = NS // 10
    logged = moving.refuses("FUTURE", lambda: moving.go(down(0.45), age=-tenth - 1))
    moving.refuses("FUTURE", lambda: moving.go(down(0.45), stamp=(2**31 - 1, 0)))
    assert taken(moving, age=-tenth), "at the border"
    moving.cycles(15)
    observed(f"REJECT(FUTURE): {logged}")


def test_row_12_stamp_zero_means_now(arm, observed):
    arm.until_rest()
    for x in (0.40, 0.42):
        arm.put_frame("base_link", "cart", down(x, 0.1, 0.4))
        if x == 0.40:
            arm.go(RigidTransform.identity(), frame="cart", stamp=(0, 0))
        arm.cycles()
        assert arm.goal.root_T_target.translation[0] == pytest.approx(x)
    arm.until_rest()
    assert arm.chain.forward(arm.place).translation[0] == pytest.approx(0.42, abs=1e-4)
    assert '**With stamp zero** ("here, now")' in (DOCS / "interfaces.md").read_text()
    observed("taken with the newest transform, and with every newer one; docs/interfaces.md")


@pytest.mark.parametrize(
    "stamp", [(10_000, NS), (10_000, 2**32 - 1), (-1, 0), (-(2**31), NS - 1)], ids=str
)
def test_row_13_malformed_stamps(arm, observed, stamp):
    logged = arm.refuses("BAD_STAMP", lambda: arm.go(down(0.45), stamp=stamp))
    observed(f"REJECT(BAD_STAMP): {logged}")


def test_row_14_older_than_the_last(moving, observed):
    assert taken(moving, age=100)
    logged = moving.refuses("OUT_OF_ORDER", lambda: moving.go(down(0.45), age=NS))
    newest = moving.control.arm.targets.target.stamp
    moving.refuses("OUT_OF_ORDER", lambda: moving.go(down(0.45), stamp=divmod(newest - 1, NS)))
    assert taken(moving, stamp=divmod(newest, NS)), "as old as the last one"
    observed(f"REJECT(OUT_OF_ORDER): {logged}")


def test_row_111_postures(observed):
    joint = '<joint name="elbow_joint" value="{}"/>'
    states = "".join(
        f'<group_state name="{name}">{joint.format(value)}</group_state>'
        for name, value in (("bent", 1.0), ("lost", 9.0))
    )
    srdf = {"robot_description_semantic": f'<robot name="ur5e">{states}</robot>'}
    arm = Arm(**srdf, **{"postures.ready": HOME.tolist()})
    for name in ("rea", "", "Ready", "x" * 10_000):
        message = String(data=name)
        told = arm.refuses("UNKNOWN_POSTURE", partial(arm.receive, "posture", message))
        assert told.endswith("; there are: bent, lost, ready")
    observed("REJECT(UNKNOWN_POSTURE): there are bent, lost, ready")
    told = arm.refuses("OUT_OF_RANGE", lambda: arm.receive("posture", String(data="lost")))
    observed(f"REJECT(OUT_OF_RANGE): {told.split(' must')[0]}")
    assert arm.oracle.commands == []
    for positions in ([0.0], [9.0] * 6, [math.nan] * 6):
        with pytest.raises(ConfigError, match=r"'postures\.ready' does not fit: ") as bad:
            Arm(**{"postures.ready": positions})
        assert "\n" not in str(bad.value)
    with pytest.raises(ConfigError, match=r"'home' is also given as postures\.home"):
        Arm(home=HOME.tolist(), **{"postures.home": HOME.tolist()})
    observed("REFUSE with the parameter's name")
    arm.receive("posture", String(data="bent"))
    arm.until_rest()
    moved = arm.place - HOME
    assert moved[2] == pytest.approx(1.0 - HOME[2], abs=1e-9)
    assert np.abs(np.delete(moved, 2)).max() < 1e-9, "the others stay"
    arm.follows_again()
