# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Faults of frames, and a clock that is set: nothing blocks, and no motion is wrong."""

import math
import time
from types import SimpleNamespace

import pytest
from builtin_interfaces.msg import Time as TimeMessage
from pure_arm import NS, PERIOD, START, Arm, down

from basis_ik.arm.chain_state import State
from basis_ik.ros import boundary
from basis_ik.ros.convert import transform_message
from basis_ik.transforms.rigid import RigidTransform

IDENTITY = RigidTransform.identity()


@pytest.fixture
def arm():
    """The arm in mid-motion."""
    arm = Arm()
    arm.go(down(0.45, 0.25))
    arm.cycles(5)
    return arm


@pytest.fixture
def looks(arm, monkeypatch):
    """Queries of tf with a timeout, and the time of each [s]."""
    ask, found = arm.buffer.lookup_transform, {"waits": [], "seconds": []}

    def asked(target, source, when, *timeout, **more):
        found["waits"] += [*timeout, *more.values()]
        begun = time.perf_counter()
        try:
            return ask(target, source, when)
        finally:
            found["seconds"].append(time.perf_counter() - begun)

    monkeypatch.setattr(arm.buffer, "lookup_transform", asked)
    return found


def unknown(arm, looks, observed, frame):
    """Offer targets in a frame that tf cannot place; they are refused after their patience."""
    patience = round(arm.settings["transform_timeout"] / PERIOD)
    for _ in range(3):
        before = arm.control.arm.refusals.counts["NO_TRANSFORM"]
        arm.go(down(0.4), frame=frame, stamp=(0, 0))
        arm.cycles(patience - 1)
        assert arm.control.arm.refusals.counts["NO_TRANSFORM"] == before, "it may still come"
        arm.refuses("NO_TRANSFORM", lambda: None, within=4)
        assert arm.control.arm.targets.newest is arm.control.arm.targets.target, "it waits no more"
    assert looks["waits"] == [], "nobody waits for tf"
    arm.follows_again()
    seconds = sorted(looks["seconds"])
    observed(f"REJECT(NO_TRANSFORM); median look-up {1e6 * seconds[len(seconds) // 2]:.0f} us")


def test_row_19_a_tree_of_its_own(arm, looks, observed):
    arm.put_frame("island", "hut", IDENTITY)
    arm.put_frame("island", "palm", IDENTITY, static=True)
    unknown(arm, looks, observed, "hut")


def test_row_20_a_loop_in_tf(arm, looks, observed):
    for parent, child in (("a", "b"), ("b", "c"), ("c", "a")):
        arm.put_frame(parent, child, IDENTITY)
    assert not arm.control.arm.targets.is_carried("a"), "it ends"
    unknown(arm, looks, observed, "a")


def test_row_21_tf_with_an_infinite_translation(arm, observed):
    lost = transform_message("base_link", "lost", IDENTITY, TimeMessage(sec=START // NS))
    for value, reason in ((math.inf, "NON_FINITE"), (1e200, "OUT_OF_RANGE")):
        for axis in "xyz":
            setattr(lost.transform.translation, axis, value)
            lost.header.stamp.nanosec += 1
            arm.buffer.set_transform(lost, "test")  # tf2 itself lets it pass
            arm.refuses(reason, lambda: arm.go(down(0.4), frame="lost", stamp=(0, 0)))
            setattr(lost.transform.translation, axis, 0.0)
    arm.put_frame("base_link", "far", RigidTransform.from_rpy(0.0, 0.0, 0.0, [2e6, 0.0, 0.0]))
    arm.refuses("OUT_OF_RANGE", lambda: arm.go(down(0.4), frame="far", stamp=(0, 0)))
    arm.follows_again()
    observed("REJECT(NON_FINITE), and OUT_OF_RANGE of 1e200 m; of the sum, too")


def test_row_22_tf_that_is_too_old(arm, observed):
    arm.put_frame("base_link", "cart", IDENTITY, age=2 * NS + 1)
    arm.refuses("TF_STALE", lambda: arm.go(down(0.40), frame="cart", stamp=(0, 0)))
    arm.put_frame("base_link", "cart", IDENTITY)
    arm.go(down(0.40, 0.05), frame="cart", stamp=(0, 0))
    arm.cycles(round(2.0 / PERIOD))
    assert arm.goal is not None, "at the border"
    refused = arm.control.arm.refusals.counts["TF_STALE"]
    arm.cycles(2)
    assert arm.goal is None, "a frame that is followed is followed no longer"
    assert arm.control.arm.refusals.counts["TF_STALE"] == refused + 1
    arm.until_rest()
    arm.put_frame("base_link", "wall", IDENTITY, static=True, age=100 * NS)
    arm.go(down(0.42, 0.05), frame="wall", stamp=(0, 0))
    arm.cycles(2)
    assert arm.goal is not None, "what never moves grows never old"
    arm.follows_again()
    observed("REJECT(TF_STALE); one that is followed is dropped after 2 s; static ones stay")


@pytest.mark.parametrize("step", [-3600.0, 0.9, 3600.0])
def test_row_27_the_systems_time_is_set(monkeypatch, observed, step):
    """Ages are counted on the steady clock: joint states are too old when they are, not else."""
    arm = Arm(max_velocity_scaling_factor=0.2)
    # By the system's time now, which a test sets as it likes.
    clocks = SimpleNamespace(monotonic=lambda: arm.steady, time_ns=lambda: arm.clock)
    monkeypatch.setattr(boundary, "time", clocks)
    arm.node.clock.ros_time_is_active = False
    names = list(arm.chain.joint_names)
    arm.driver = lambda: arm.control.arm.take_joint_state(
        names, list(arm.place), arm.now.loop, None
    )
    arm.control.arm.measured.reset()
    arm.cycles(5)
    arm.go(down(0.45, 0.25), stamp=(0, 0))
    arm.cycles(10)
    arm.clock += round(step * NS)
    arm.cycles(10)
    assert arm.state.state is State.MOVING
    arm.talks = False
    arm.cycles(49)
    assert arm.state.state is State.MOVING, "half a second, and no less"
    arm.clock += round(step * NS)
    arm.cycles(2)
    assert arm.state.state is State.BRAKING, "and a period more"
    arm.until_rest()
    arm.talks = True
    arm.cycles(60)
    arm.follows_again()
    observed(f"set by {step:g} s: HOLD after 0.50 s without joint states, as ever")
