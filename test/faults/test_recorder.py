# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorder catches what is bad: else its silence would mean nothing."""

import math

import numpy as np
import pytest
from builtin_interfaces.msg import Duration, Time
from control_msgs.msg import JointTrajectoryControllerState
from recorder import SECOND, Recorder
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

JOINTS = ["turn", "slide"]
LOWER, UPPER = np.array([-2.0, 0.0]), np.array([2.0, 0.5])
VELOCITY, DRIVES = np.array([1.0, 0.5]), np.array([2.0, 1.0])
PERIOD = 10_000_000  # ns
START = 1_000 * SECOND
HOME = np.array([0.5, 0.2])


def time(nanoseconds, kind=Time):
    return kind(sec=nanoseconds // SECOND, nanosec=nanoseconds % SECOND)


def motion(seconds):
    """Return the states of a valid motion from home at times (k,): positions, velocities, ...

    A second long, as smooth as a polynomial of degree five is; (k, 3, 2).
    """
    s = np.clip(np.asarray(seconds), 0.0, 1.0)
    shape = np.stack([
        s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2, 60 * s * (1 - s) * (1 - 2 * s)
    ], axis=1)  # fmt: skip
    way = np.array([0.4, -0.1])
    states = shape[:, :, np.newaxis] * way
    states[:, 0] += HOME
    return states


def window(since, points=6):
    """Return the window of that motion at a time since its start [ns]; its end rests too early."""
    message = JointTrajectory(joint_names=list(JOINTS))
    message.header.stamp = time(START + since)
    times = [k * PERIOD for k in range(points - 1)]
    times.append(times[-1] + 300_000_000)
    states = motion([(since + t) / SECOND for t in times])
    states[-1, 0] = states[-2, 0] + 0.1 * states[-2, 1]
    states[-1, 1:] = 0.0
    for when, (q, v, a) in zip(times, states, strict=True):
        point = JointTrajectoryPoint(
            positions=q.tolist(), velocities=v.tolist(), accelerations=a.tolist()
        )
        point.time_from_start = time(when, Duration)
        message.points.append(point)
    return message


def joint_state(since, positions, names=JOINTS):
    message = JointState(name=list(names), position=[float(q) for q in positions])
    message.header.stamp = time(START + since)
    return message


@pytest.fixture
def recorder():
    """A recorder after half a second of an arm at rest at home."""
    recorder = Recorder(JOINTS, LOWER, UPPER, VELOCITY, DRIVES, 0.01)
    for k in range(50):
        on_joint_state(recorder, (k - 50) * PERIOD, HOME)
    return recorder


def lead(recorder, periods, since=0):
    """Send a valid stream, and let the arm follow it 30 ms later."""
    for k in range(since, since + periods):
        recorder.on_window(window(k * PERIOD), START + k * PERIOD + 1_000_000)
        (state,) = motion([0.01 * k - 0.03])
        on_joint_state(recorder, k * PERIOD, state[0])


def on_joint_state(recorder, since, positions, delay=0):
    recorder.on_joint_state(joint_state(since, positions), START + since + delay)


def caught(recorder, words):
    faults = recorder.check()
    assert any(words in fault for fault in faults), faults
    return True


def test_a_valid_motion_has_no_faults(recorder):
    lead(recorder, 60)
    assert recorder.check() == []
    lead(recorder, 60, since=60)
    assert recorder.check() == [], "a stream may continue after a check"


def damage(change):
    """Return a stream's window in mid-motion, changed."""
    message = window(40 * PERIOD)
    change(message)
    return message


def of_point(k, field, values):
    def change(message):
        setattr(message.points[k], field, values)

    return change


def nothing(message):
    message.points = []


def other_joints(message):
    message.joint_names = JOINTS[::-1]


def fewer_joints(message):
    message.joint_names = JOINTS[:1]


def twice_at_a_time(message):
    message.points[2].time_from_start = message.points[1].time_from_start


def ahead(message):
    message.header.stamp = time(START + 41 * PERIOD)


def moved(way, first=0, last=None):
    """Move some points, all of them else, by a way."""

    def change(message):
        for point in message.points[first:last]:
            point.positions = [q + d for q, d in zip(point.positions, way, strict=True)]

    return change


BAD = {
    "nan": (of_point(1, "positions", [math.nan, 0.2]), "position is not finite"),
    "inf": (of_point(5, "positions", [0.6, math.inf]), "position is not finite"),
    "nan velocity": (of_point(3, "velocities", [math.nan, 0.0]), "velocity is not finite"),
    "inf acceleration": (of_point(0, "accelerations", [0.0, -math.inf]), "is not finite"),
    "no points": (nothing, "no points"),
    "other order": (other_joints, "it names"),
    "fewer names": (fewer_joints, "it names"),
    "fewer values": (of_point(2, "positions", [0.6]), "1 position values"),
    "no velocities": (of_point(2, "velocities", []), "0 velocity values"),
    "times": (twice_at_a_time, "times do not increase"),
    "ahead": (ahead, "is 0.009000 s ahead"),
    "no rest": (of_point(5, "velocities", [1e-6, 0.0]), "does not end at rest"),
    "step": (moved([0.0101, 0.0], 3), "turn goes"),
    "step back": (moved([0.0, -0.0051], 2, 3), "slide goes"),
    "speed": (of_point(3, "velocities", [1.001, 0.0]), "velocity is too large"),
    "upper limit": (of_point(5, "positions", [0.9, 0.5 + 1e-6]), "slide is moved beyond"),
    "lower limit": (of_point(5, "positions", [0.9, -1e-6]), "slide is moved beyond"),
    "leap": (moved([1e-5, 0.0]), "turn begins at"),
    "leap of the other": (moved([0.0, -1e-5]), "slide begins at"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_window_is_a_fault(recorder, name):
    change, words = BAD[name]
    lead(recorder, 40)
    recorder.on_window(damage(change), START + 40 * PERIOD + 1_000_000)
    assert caught(recorder, words)
    assert recorder.check() == [], "reported once"


def test_a_good_window_is_no_fault(recorder):
    lead(recorder, 40)
    recorder.on_window(damage(lambda _: None), START + 40 * PERIOD + 1_000_000)
    assert recorder.check() == []


@pytest.mark.parametrize("beyond", [-1, 1])
def test_a_joint_outside_its_limit_may_only_move_inward(recorder, beyond):
    """Heard from an arm that stands outside, 0.1 beyond the upper limit of its first joint."""
    outside = np.array([2.1, 0.2])
    recorder.clock_leaps()
    for k in range(5):
        on_joint_state(recorder, k * PERIOD, outside)
    message = window(5 * PERIOD)
    for k, point in enumerate(message.points):
        point.positions = [2.1 + beyond * 0.001 * k, 0.2]
        point.velocities = [0.0, 0.0]
    recorder.on_window(message, None)
    faults = [fault for fault in recorder.check() if "measured" not in fault]
    assert (faults == []) == (beyond < 0), faults


def test_a_start_away_from_the_arm_is_a_fault(recorder):
    message = window(0)
    for point in message.points:
        point.positions = [0.51, 0.2]
    recorder.on_window(message, None)
    assert caught(recorder, "turn begins at 0.51")


def test_a_start_at_the_controllers_reference_is_no_fault(recorder):
    told = JointTrajectoryControllerState(joint_names=JOINTS)
    told.header.stamp, told.reference.positions = time(START), [0.51, 0.2]
    recorder.on_controller_state(told)
    message = window(0)
    for point in message.points:
        point.positions, point.velocities = [0.51, 0.2], [0.0, 0.0]
    recorder.on_window(message, None)
    assert recorder.check() == []


def test_a_start_in_motion_is_a_fault(recorder):
    """The arm is there, but at rest; the window begins at full speed."""
    message = window(0)
    message.points[0].velocities = [0.3, 0.0]
    recorder.on_window(message, None)
    assert caught(recorder, "turn begins at 0.5")


def test_a_late_window_may_begin_within_reach_of_the_joints(recorder):
    """Late by three periods more than was settled: 0.03 s at the largest speed."""
    for way, fine in ((0.029, True), (0.031, False)):
        lead(recorder, 40)
        message = window(44 * PERIOD)
        expected = motion([0.41])[0, 0, 0]  # the end of what was settled
        moved([expected + way - message.points[0].positions[0], 0.0])(message)
        recorder.on_window(message, None)
        faults = [fault for fault in recorder.check() if "begins" in fault]
        assert (faults == []) == fine, faults
        recorder.clock_leaps()
        on_joint_state(recorder, 0, HOME)


@pytest.mark.parametrize(
    ("off", "late", "fine"), [(0.0, 0.2, True), (0.01, 0.2, False), (0.0, 0.05, False)]
)
def test_a_late_recorder_lets_a_window_without_a_stamp_begin_before(recorder, off, late, fine):
    """By as much as joint states come late, too."""
    on_joint_state(recorder, 0, HOME, delay=round(late * SECOND))
    first, second = window(0, points=30), window(10 * PERIOD)
    first.header.stamp = time(0)
    moved([off, 0.0])(second)
    for message in (first, second):
        recorder.on_window(message, START + 20 * PERIOD)
    faults = [fault for fault in recorder.check() if "begins" in fault]
    assert (faults == []) == fine, faults


@pytest.mark.parametrize(("before", "fine"), [(0.51, True), (0.49, False)])
def test_only_a_window_that_is_over_may_begin_anywhere(recorder, before, fine):
    """It takes the place of one that was not taken; this one lasts for half a second."""
    message = JointTrajectory(joint_names=list(JOINTS))
    message.header.stamp = time(START - round(before * SECOND))
    for when in (0, SECOND // 2):
        point = JointTrajectoryPoint(
            positions=[0.9, 0.1], velocities=[0.0, 0.0], accelerations=[0.0, 0.0]
        )
        point.time_from_start = time(when, Duration)
        message.points.append(point)
    recorder.on_window(message, START)
    faults = [fault for fault in recorder.check() if "begins" in fault]
    assert (faults == []) == fine, faults


def test_a_window_may_continue_from_a_missed_one(recorder):
    for missed, fine in ((0, False), (1, True)):
        lead(recorder, 20)
        if missed:
            recorder.miss(missed)
        recorder.on_window(window(70 * PERIOD), None)
        faults = [fault for fault in recorder.check() if "begins" in fault]
        assert (faults == []) == fine, faults
        recorder.clock_leaps()
        on_joint_state(recorder, 0, HOME)


BAD_ARM = {
    "nan": ([math.nan, 0.2], "not finite"),
    "beyond": ([2.0 + 1e-6, 0.2], "beyond its limits"),
    "leap": ([HOME[0] + 0.021, 0.2], "faster than its drives"),
}


@pytest.mark.parametrize("name", BAD_ARM)
def test_a_bad_joint_state_is_a_fault(recorder, name):
    positions, words = BAD_ARM[name]
    on_joint_state(recorder, 0, positions)
    assert caught(recorder, words)


def test_a_jump_at_the_speed_of_the_drives_is_a_fault(recorder):
    """At 2 rad/s, where 1 rad/s is allowed, and 0.02 s may be made up for."""
    for k in range(5):
        on_joint_state(recorder, k * PERIOD, [HOME[0] + 0.02 * k, HOME[1]])
    assert caught(recorder, "ahead of what it may go")


def test_catching_up_after_a_late_cycle_is_no_fault(recorder):
    for k in range(5):
        on_joint_state(recorder, k * PERIOD, [HOME[0] + 0.02 * k, HOME[1]], delay=30_000_000)
    assert recorder.check() == []


@pytest.mark.parametrize(("periods", "sound"), [(9, True), (11, False)])
def test_catching_up_after_two_stalls_is_bounded(recorder, periods, sound):
    """Without states for twice 40 ms, then 2 rad/s, where 1 rad/s is allowed."""
    on_joint_state(recorder, 3 * PERIOD, HOME)
    for k in range(periods + 1):
        on_joint_state(recorder, (7 + k) * PERIOD, [HOME[0] + 0.02 * k, HOME[1]])
    assert sound == (recorder.check() == [])


def test_the_delay_of_joint_states_is_reported(recorder):
    on_joint_state(recorder, 0, HOME, delay=SECOND)
    on_joint_state(recorder, PERIOD, HOME, delay=200_000_000)
    assert recorder.delay(START) == 1.0
    assert recorder.delay(START + 1) == 0.2
    on_joint_state(recorder, PERIOD + 3 * SECOND, HOME)
    assert recorder.delay(START) == 3.0, "three seconds in which none came"
    assert recorder.delay(START + 9 * SECOND) == 0.0


def test_states_that_go_back_in_time_are_a_fault_unless_the_clock_does(recorder):
    on_joint_state(recorder, -20 * PERIOD, HOME)
    assert caught(recorder, "go back")
    recorder.clock_leaps()
    on_joint_state(recorder, -100 * PERIOD, HOME)
    assert recorder.check() == []


def test_after_a_jump_of_the_clock_a_window_continues_the_last(recorder):
    for way, fine in ((0.0, True), (0.05, False)):
        lead(recorder, 40)
        recorder.clock_leaps()
        message = window(41 * PERIOD)
        message.header.stamp = time(START - 5 * SECOND)
        moved([way, 0.0])(message)
        recorder.on_window(message, None)
        faults = [fault for fault in recorder.check() if "begins" in fault]
        assert (faults == []) == fine, faults
        recorder.clock_leaps()
