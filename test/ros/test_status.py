# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""When a status is published: whenever something has changed, and now and then besides."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from basis_ik.arm.admission import Refusal, Refusals, Refused, Request
from basis_ik.arm.chain_state import ChainState, Event
from basis_ik.arm.goals import (
    JointGoal,
    JointVelocityGoal,
    PointGoal,
    PoseGoal,
    Ray,
    TwistGoal,
)
from basis_ik.arm.singularity import Notice
from basis_ik.ros import boundary as module
from basis_ik.ros.status import StatusReport
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

# The numbers themselves: with those of the module no change of them would be seen.
PERIOD = 0.5
REFRESH = 0.05


@pytest.fixture
def published():
    return []


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def arm():
    return SimpleNamespace(
        name="",
        chain=SimpleNamespace(root="base_link", tip="tool0"),
        model=SimpleNamespace(name="ur5e"),
        pipeline=SimpleNamespace(solution=None, goal=None, notice=None),
        targets=SimpleNamespace(target=None, stamp=None, refusal=None, answer=None, preview=None),
        preview_text="",
        rehearsal=None,
        refusals=Refusals(module.time.monotonic),
        state=ChainState(),
        problem="",
        hindrance="",
        other_commander="",
        displaced="",
        settings=SimpleNamespace(speed_override=1.0),
        tool=SimpleNamespace(frame=""),
        clutch=SimpleNamespace(text=""),
    )


@pytest.fixture
def chain(arm):
    journal = SimpleNamespace(warn=lambda *_: None, recovered=lambda *_: None)
    return SimpleNamespace(
        arm=arm, journal=journal, unheard="", gripper=None, resolve=lambda name: f"~/{name}"
    )


@pytest.fixture
def report(chain, published):
    node = SimpleNamespace(
        get_fully_qualified_name=lambda: "/basis_ik",
        create_publisher=lambda *_: SimpleNamespace(publish=published.append),
    )
    return StatusReport(node, chain)


def values(status):
    return {pair.key: pair.value for pair in status.values}


def test_an_unchanged_status_is_repeated(clock, report, arm, published):
    for _ in range(10):
        report.publish()
    clock[0] += 0.9 * PERIOD
    report.publish()
    assert len(published) == 1
    clock[0] += 0.1 * PERIOD
    report.publish()
    assert len(published) == 2


def test_a_new_target_is_published_soon_but_streams_are_throttled(clock, report, arm, published):
    for _ in range(100):
        arm.targets.target = SimpleNamespace(frame_id="base_link", stamp=round(1e9 * clock[0]))
        report.publish()
        clock[0] += 0.01
    assert len(published) == pytest.approx(1.0 / REFRESH, abs=1)
    clock[0] += REFRESH
    report.publish()
    last = arm.targets.target.stamp
    assert values(published[-1])["target_stamp"] == f"{last // 10**9}.{last % 10**9:09}"


@pytest.mark.parametrize(
    ("override", "level", "text"),
    [
        (1.0, DiagnosticStatus.OK, "no robot"),
        (0.3, DiagnosticStatus.OK, "no robot; speed override is 0.3"),
        (0.0, DiagnosticStatus.WARN, "no robot; speed override is 0"),
    ],
)
def test_a_speed_override_is_published_at_once(
    clock, report, arm, published, override, level, text
):
    arm.settings.speed_override = 0.5
    report.publish()
    arm.settings.speed_override = override
    report.publish()
    assert (published[-1].level, published[-1].message) == (level, text)
    assert values(published[-1])["speed_override"] == f"{override:g}"


def test_a_change_of_input_is_published_at_once(clock, report, arm, published):
    report.publish()
    assert "input" not in values(published[-1])
    for goal, name in (
        (TwistGoal((0.0, 0.0, 0.1), (0.0, 0.0, 0.0)), "twist"),
        (JointVelocityGoal((0.1,)), "joint_jog"),
        (JointGoal((0.1,)), "joint_positions"),
        (PoseGoal(RigidTransform.identity()), "pose"),
        (PointGoal((1.0, 0.0, 0.0), Ray((1.0, 0.0, 0.0))), "point"),
    ):
        arm.pipeline.goal = goal
        report.publish()
        assert values(published[-1])["input"] == name


def test_a_change_of_state_is_published_at_once(clock, report, arm, published):
    for count, event in enumerate(
        (Event.CONFIGURE, Event.ACTIVATE, Event.MOVE, Event.END_COMMANDS)
    ):
        arm.state.handle(event)
        if event is Event.MOVE:
            arm.pipeline.missing = lambda _: np.zeros(1)
            arm.pipeline.command = None
            arm.measured = SimpleNamespace(positions=lambda: np.zeros(1))
        report.publish()
        assert len(published) == 1 + count
        assert values(published[-1])["state"] == arm.state.state.name


@pytest.mark.parametrize("silent", [False, True])
def test_every_refusal_is_published_in_the_next_period(clock, report, arm, published, silent):
    for event in (Event.CONFIGURE, Event.ACTIVATE):
        arm.state.handle(event)
    if silent:
        arm.state.handle(Event.UNMET, "no joint state of elbow")
    report.publish()
    for count in range(1, 4):
        arm.refusals.add(Refused(Refusal.STALE, "2.1 s old"), Request("joint_states"))
        report.publish()
        assert len(published) == 1 + count
        assert values(published[-1])["refused.STALE"] == str(count)
        assert values(published[-1])["last_refusal.joint_states"].startswith("STALE: ")


def test_only_refused_targets_are_in_the_message(clock, report, arm, published):
    for event in (Event.CONFIGURE, Event.ACTIVATE):
        arm.state.handle(event)
    arm.refusals.add(Refused(Refusal.STALE, "2.1 s old"), Request("joint_states"))
    report.publish()
    assert published[-1].level == DiagnosticStatus.OK
    assert "stamp" not in published[-1].message
    refused = Refused(Refusal.NO_FRAME, "x")
    arm.targets.refusal = arm.targets.answer = arm.refusals.add(
        refused, Request("twist", 1, 1_500_000_000)
    )
    clock[0] += 10.0
    report.publish()
    assert published[-1].level == DiagnosticStatus.WARN
    assert (
        published[-1].message == f"no target; the newest target was refused 10.0 s ago: {refused}"
    )
    said = values(published[-1])
    assert (said["verdict"], said["last_refusal_stamp.twist"]) == ("REFUSED", "1.500000000")
    assert said["last_refusal_age.joint_states"] == said["last_refusal_age.twist"] == "10.000"
    assert (said["refused.twist"], said["refused.NO_FRAME"], said["refused.STALE"]) == ("1",) * 3


def test_what_does_not_arrive_is_in_the_message(report, chain, published):
    report.publish()
    chain.unheard = "nothing of x/msg/Y by /z arrives"
    report.publish()
    assert len(published) == 2, "at once"
    assert published[-1].level == DiagnosticStatus.WARN
    assert published[-1].message == f"no robot; {chain.unheard}"


def test_a_singularity_notice_is_published_at_once_in_motion(clock, report, arm, published):
    arm.pipeline.missing = lambda _: np.zeros(1)
    arm.pipeline.command = None
    arm.measured = SimpleNamespace(positions=lambda: np.zeros(1))
    near = Notice(Verdict.SINGULAR, joints=("wrist_1_joint", "wrist_3_joint"))
    arm.state.handle(Event.CONFIGURE)
    arm.state.handle(Event.ACTIVATE)
    arm.pipeline.notice = near
    report.publish()
    assert published[-1].level == DiagnosticStatus.OK, "it does not move"
    arm.state.handle(Event.MOVE)
    report.publish()
    assert published[-1].level == DiagnosticStatus.WARN
    expected = "nearing a singularity: wrist_1_joint, wrist_3_joint will turn fast"
    assert published[-1].message == expected
    arm.pipeline.notice = replace(near, passing=True)
    report.publish()
    assert published[-1].message.startswith("passing a singularity: ")
    assert len(published) == 3
