# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The head action, control_msgs/PointHead, of a pan-tilt head."""

import math
from pathlib import Path

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from bench import CONTROLLER_STATES, PERIOD, miss, running
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticStatus
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger

from basis_ik.ros.periodic_spinner import SPIN_PAUSE
from basis_ik.transforms.rigid import RigidTransform

SUCCEEDED, CANCELED, ABORTED = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_CANCELED,
    GoalStatus.STATUS_ABORTED,
)
PAN_TILT = (Path(__file__).parents[2] / "urdf" / "pan_tilt.urdf").read_text()
REST = np.zeros(2)
AHEAD, LEFT = (2.0, 0.3, 0.4), (0.5, 2.0, 0.8)
BEHIND = (-3.0, 0.0, 0.3)  # the pan joint ends at 2.7 rad on either side
THRESHOLD = 0.01  # rad: the default of success_angle_threshold
EXACT, POINTED = 1e-9, 1e-6  # rad: of a joint, and of the solved axis
STALL = 5.0  # s without progress, after which a goal is aborted
CHECK = 0.05  # s between two checks of a goal, each with feedback
ENDS = 2 * SPIN_PAUSE + CHECK  # s: from what ends a goal until its client knows
TRANSFORM_TIMEOUT = 0.5  # s: the default of transform_timeout
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
TIP_T_LASER = RigidTransform.from_rpy(0.0, 0.1, 0.2, [0.05, -0.1, 0.02])


@pytest.fixture(scope="module")
def started():
    with running("-p", "home:=[0.0, 0.0]", urdf=PAN_TILT, home=REST) as robot:
        yield robot


@pytest.fixture
def head(started):
    """A head that rests and looks ahead."""
    started.call(SetBool, "enable", data=True)
    assert started.call(Trigger, "home").success
    started.wait(lambda: np.allclose(started.positions, REST, rtol=0.0, atol=EXACT), "home")
    started.wait(started.rests, "silence")
    started.log.clear()
    yield started
    started.frames.clear()
    complaints, started.arm.complaints = started.arm.complaints, []
    assert complaints == []
    assert started.node.inputs.awaiting == 0


def seconds(value):
    return Duration(sec=math.floor(value), nanosec=round(1e9 * (value % 1.0)))


def said(robot, words):
    return [line for line in robot.log.lines() if line.startswith(f"head goal {words}")]


def frame_of(robot, link):
    return robot.model.chain(robot.chain.root, link).forward(robot.positions)


def test_a_point_is_pointed_at_with_feedback(head):
    goal = head.point("base_link", AHEAD)
    begun = head.time
    assert head.end_of(goal) == SUCCEEDED
    assert miss(head.tip(), AHEAD) <= goal.feedback[-1] <= THRESHOLD < goal.feedback[-2]
    assert goal.feedback == sorted(goal.feedback, reverse=True)
    assert len(goal.feedback) == pytest.approx((head.time - begun) / CHECK, abs=1)
    assert said(head, "succeeded")
    head.wait(head.rests, "the motion is finished nevertheless")
    assert miss(head.tip(), AHEAD) < POINTED


@pytest.mark.parametrize(
    ("frame", "given", "axis"),
    [
        ("", (0.0, 0.0, 0.0), Z),
        ("camera_optical_frame", (0.0, 0.0, 0.0), Z),
        ("camera_link", (0.0, 0.0, 0.0), X),
        ("", (0.3, 0.1, 1.0), (0.3, 0.1, 1.0)),
        ("camera_link", Z, Z),
    ],
)
def test_the_axis_is_z_of_optical_frames_and_x_of_others_unless_given(head, frame, given, axis):
    point = (0.4, 0.1, 2.0) if (frame, axis) == ("camera_link", Z) else LEFT
    goal = head.point("base_link", point, pointing_frame=frame, axis=given)
    assert head.end_of(goal) == SUCCEEDED
    head.wait(head.rests, "silence")
    assert miss(frame_of(head, frame or head.chain.tip), point, axis) < POINTED


def test_a_tf_frame_fixed_to_the_tip_is_accepted(head):
    head.place("camera_optical_frame", "laser", TIP_T_LASER)
    head.run(2 * PERIOD)
    goal = head.point("base_link", AHEAD, pointing_frame="laser", axis=Z)
    assert head.end_of(goal) == SUCCEEDED
    head.wait(head.rests, "silence")
    assert miss(head.tip() @ TIP_T_LASER, AHEAD) < POINTED


@pytest.mark.parametrize("stamped", [False, True])
def test_a_moving_point_is_followed_while_the_goal_is_active_and_not_after(head, stamped):
    begun = head.time

    def ball():
        angle = 0.6 * math.sin(min(head.time - begun, 1.5))
        return RigidTransform.from_rpy(0.0, 0.0, angle, [0.0, 0.0, 0.3])

    head.frames["base_link", "ball"] = ball
    head.run(2 * PERIOD)
    stamp = head.stamp() if stamped else None
    head.run(0.2)
    goal = head.point("ball", (2.0, 0.0, 0.0), stamp, min_duration=seconds(2.5))
    assert head.end_of(goal) == SUCCEEDED
    assert miss(head.tip(), ball().apply((2.0, 0.0, 0.0))) <= THRESHOLD
    head.wait(head.rests, "silence")
    held = head.positions
    head.frames["base_link", "ball"] = lambda: RigidTransform.from_rpy(0.0, 0.0, -1.0)
    head.run(0.5)
    assert np.array_equal(head.positions, held)


@pytest.mark.parametrize("stamped", [False, True])
def test_a_point_in_the_heads_own_frame_is_where_it_was_seen(head, stamped):
    seen, stamp = head.tip().apply((0.3, -0.2, 2.0)), head.stamp()
    if stamped:
        head.look("base_link", LEFT)
        head.run(0.5)
    goal = head.point("camera_optical_frame", (0.3, -0.2, 2.0), stamp if stamped else None)
    assert head.end_of(goal) == SUCCEEDED
    head.wait(head.rests, "silence")
    assert miss(head.tip(), seen) < POINTED


def speeds(head, **fields):
    """Run a goal; return its duration [s] and the joints' speeds in all cycles [rad/s]."""
    count, begun = len(head.arm.outputs), head.time
    assert head.end_of(head.point("base_link", LEFT, **fields)) == SUCCEEDED
    duration = head.time - begun
    head.wait(head.rests, "silence")
    times, positions = zip(*head.arm.outputs[count:], strict=True)
    return duration, np.abs(np.diff(positions, axis=0) / (1e-9 * np.diff(times)[:, np.newaxis]))


def test_max_velocity_is_kept_and_used(head):
    _, all_speeds = speeds(head, max_velocity=0.7)
    assert all_speeds.max() == pytest.approx(0.7, abs=1e-5)


def test_min_duration_is_kept_and_used(head):
    duration, all_speeds = speeds(head, min_duration=seconds(3.0))
    assert 3.0 <= duration <= 3.0 + ENDS + 1e-9 * CONTROLLER_STATES
    moving = 2e-3 * np.count_nonzero(all_speeds.max(axis=1) > EXACT)
    assert 3.0 <= moving <= 3.09, "the end is planned up to 70 ms ahead"
    duration, all_speeds = speeds(head, min_duration=seconds(1.0))
    assert 1.0 <= duration <= 1.0 + ENDS, "although it is there"
    assert all_speeds.max() < EXACT


def test_a_newer_goal_replaces_the_active_one(head):
    first = head.point("base_link", LEFT, min_duration=seconds(20.0))
    second = head.point("base_link", AHEAD)
    assert head.end_of(first) == ABORTED
    assert said(head, "aborted: replaced by a newer goal")
    assert head.end_of(second) == SUCCEEDED
    head.wait(head.rests, "silence")
    assert miss(head.tip(), AHEAD) < POINTED


@pytest.mark.parametrize(
    ("taker", "words"),
    [
        ("point", "replaced by another target"),
        ("pose", "replaced by another target"),
        ("home", "replaced by another target"),
        ("stop", "stopped; call ~/enable to continue"),
        ("description", "not active"),
    ],
)
def test_what_else_moves_the_head_ends_the_goal(head, taker, words):
    goal = head.point("base_link", LEFT, min_duration=seconds(20.0))
    head.run(0.5)
    assert goal.feedback
    if taker == "point":
        head.look("base_link", AHEAD)
    elif taker == "pose":
        head.send("base_link", head.tip())
    elif taker == "description":
        head.description.publish(String(data=f"{PAN_TILT}<!-- again -->"))
        head.wait_status(state="READY")
    else:
        assert head.call(Trigger, taker).success
    head.run(ENDS)
    assert goal.status == ABORTED
    assert said(head, f"aborted: {words}")
    head.wait(head.rests, "silence")
    if taker == "point":
        assert miss(head.tip(), AHEAD) < POINTED


def test_a_goal_that_is_replaced_while_the_controller_stands_does_not_blame_it(head):
    goal = head.point("base_link", LEFT, min_duration=seconds(20.0))
    head.run(0.5)
    head.arm.controller.speed_scaling = 0.0
    head.run(0.5)
    head.look("base_link", AHEAD)
    head.run(ENDS)
    assert goal.status == ABORTED
    assert said(head, "aborted: replaced by another target")
    head.arm.controller.speed_scaling = 1.0
    head.run(0.1)
    head.arm.complaints.clear()  # the steps are the controller's
    head.wait(head.rests, "silence")


def test_a_goal_is_canceled_and_the_head_stops(head):
    goal = head.point("base_link", LEFT, min_duration=seconds(20.0))
    head.run(2.0)
    goal.is_cancel_requested = True
    head.run(ENDS)
    assert goal.status == CANCELED
    assert said(head, "canceled")
    before = head.positions
    head.wait(head.rests, "silence")
    assert np.abs(head.positions - before).max() < 0.05
    assert miss(head.tip(), LEFT) > 0.5


def test_a_point_that_cannot_be_pointed_at_is_approached_and_the_goal_aborted(head):
    goal = head.point("base_link", BEHIND)
    assert head.end_of(goal) == ABORTED
    assert abs(head.positions[0]) == pytest.approx(2.7, abs=EXACT)
    head.wait_status(verdict="LIMIT", joint="pan_joint")
    assert miss(head.tip(), BEHIND) == pytest.approx(goal.feedback[-1], abs=1e-4)
    (line,) = said(head, "aborted")
    assert line.startswith(f"head goal aborted: the best effort is {goal.feedback[-1]:.4g} rad off")


def test_a_moving_point_that_cannot_be_pointed_at_ends_the_goal(head):
    begun = head.time
    head.frames["base_link", "prowler"] = lambda: RigidTransform.from_rpy(
        0.0, 0.0, 0.1 * math.sin(3.0 * (head.time - begun))
    )
    head.run(0.1)
    goal = head.point("prowler", BEHIND)
    assert head.end_of(goal) == ABORTED
    best = min(goal.feedback)
    (line,) = said(head, "aborted")
    assert line.startswith(f"head goal aborted: no nearer for 5 s, {best:.4g} rad off at best")
    since = CHECK * (len(goal.feedback) - 1 - goal.feedback.index(best))
    assert STALL <= since <= STALL + 3.0 / 3.0, "a smaller remaining way is progress, too"
    head.wait(head.rests, "it follows no longer")


def test_a_goal_without_joint_states_is_rejected(head):
    head.publishing = False
    head.wait_status(state="WAITING")
    assert not head.point("base_link", AHEAD).accepted
    assert said(head, "rejected: no joint state of pan_joint, tilt_joint")
    head.publishing = True
    head.wait_status(state="READY")


def test_many_bad_goals_log_one_line_of_each_kind_in_a_second(head):
    begun = head.time
    for k in range(60):
        assert not head.point("base_link", AHEAD, max_velocity=-1.0 - k).accepted
        assert not head.point("base_link", AHEAD, pointing_frame=f"nose {k}").accepted
    whole = math.floor(head.time - begun)
    assert whole >= 2
    for words in ("rejected: max_velocity is -", "rejected: pointing_frame: "):
        assert len(said(head, words)) == 1 + whole


def test_an_unknown_frame_ends_the_goal_when_a_transform_is_late(head):
    begun = head.time
    assert head.end_of(head.point("nowhere", AHEAD)) == ABORTED
    assert TRANSFORM_TIMEOUT <= head.time - begun <= TRANSFORM_TIMEOUT + ENDS + SPIN_PAUSE
    assert said(head, "aborted: target refused: NO_TRANSFORM")
    goal = head.point("base_link", BEHIND)
    assert head.call(Trigger, "home").success
    assert head.end_of(goal) == ABORTED
    assert said(head, "aborted: replaced by another target"), "the refusal was another goal's"


REJECTED = {
    "nan": ({"point": (math.nan, 0.0, 0.0)}, "target: NON_FINITE"),
    "infinite": ({"point": (math.inf, 0.0, 0.0)}, "target: NON_FINITE"),
    "huge": ({"point": (1e200, 0.0, 0.0)}, "target: OUT_OF_RANGE"),
    "no frame": ({"frame": ""}, "target: NO_FRAME"),
    "bad frame": ({"frame": "/base_link"}, "target: BAD_FRAME"),
    "nan axis": ({"axis": (math.nan, 0.0, 1.0)}, "pointing_axis is (nan, 0.0, 1.0)"),
    "negative duration": ({"min_duration": seconds(-1.0)}, "min_duration is negative: -1.0 s"),
    "slightly negative": ({"min_duration": seconds(-1e-9)}, "min_duration is negative: -9.99"),
    "nan velocity": ({"max_velocity": math.nan}, "max_velocity is nan rad/s"),
    "infinite velocity": ({"max_velocity": math.inf}, "max_velocity is inf rad/s"),
    "negative velocity": ({"max_velocity": -1.0}, "max_velocity is -1.0 rad/s"),
    "unknown frame": ({"pointing_frame": "nose"}, "pointing_frame: NO_TRANSFORM"),
    "frame that does not move": ({"pointing_frame": "base_link"}, "pointing_frame: "),
    "frame that is not rigid": ({"pointing_frame": "wobbly"}, "pointing_frame: "),
}


@pytest.mark.parametrize(("fields", "words"), REJECTED.values(), ids=REJECTED)
def test_a_malformed_goal_is_rejected_with_its_reason(head, fields, words):
    head.frames["base_link", "wobbly"] = RigidTransform.identity
    head.run(1.0)  # no reason is logged twice within a second
    goal = head.point(**{"frame": "base_link", "point": AHEAD, **fields})
    assert not goal.accepted
    assert said(head, f"rejected: {words}")
    assert head.rests()
    assert head.statuses[-1]["level"] == DiagnosticStatus.WARN
    assert "the newest target was refused" in head.statuses[-1]["message"]


def test_goals_are_rejected_while_stopped(head):
    head.call(Trigger, "stop")
    assert not head.point("base_link", AHEAD).accepted
    assert said(head, "rejected: stopped; call ~/enable to continue")


def test_a_goal_waits_while_the_speed_override_is_zero(head):
    head.overrides.publish(Float64(data=0.0))
    head.wait_status(speed_override="0")
    goal = head.point("base_link", AHEAD)
    head.run(STALL + 0.5)
    assert np.array_equal(head.positions, REST)
    assert goal.status is None
    head.overrides.publish(Float64(data=1.0))
    assert head.end_of(goal) == SUCCEEDED


def test_a_goal_waits_while_the_controller_stands(head):
    head.run(0.1)
    head.arm.controller.speed_scaling = 0.0
    head.run(0.1)
    goal = head.point("base_link", AHEAD)
    head.run(STALL + 0.5)
    assert np.array_equal(head.positions, REST)
    assert goal.status is None
    head.arm.controller.speed_scaling = 1.0
    assert head.end_of(goal) == SUCCEEDED
