# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint states and frames that are wrong, late or missing: when each is told, and what it stops."""

import numpy as np
import pytest
from bench import PERIOD, down, running
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import SetBool, Trigger
from world import MILLISECOND, SECOND

from basis_ik.transforms.rigid import RigidTransform

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)
BESIDE = down(0.45, -0.10, 0.30)
HERE = RigidTransform.identity()
TIMEOUT = 0.5  # s: the default of joint_state_timeout
RESUMES = 1.0  # s: the default of resume_timeout
OLDEST = 1.0  # s: target_max_age, here
HANDLED = 2 * PERIOD + 1e-9  # s until the node has handled a message, and told it


@pytest.fixture(scope="module")
def bench():
    with running("-p", f"target_max_age:={OLDEST}") as robot:
        robot.home = robot.tip()
        yield robot


@pytest.fixture
def robot(bench):
    """The robot at rest at its home; what a test commands must be safe."""
    states = bench.states
    assert bench.set_parameter("speed_override", 1.0).successful
    assert bench.set_parameter("path", "joint").successful
    if not bench.at(bench.home, 1e-9):
        bench.reach(bench.home)
    bench.wait(bench.rests, "silence")
    yield bench
    bench.states = states
    bench.frames.clear()
    complaints, bench.arm.complaints = bench.arm.complaints, []
    assert complaints == []


def refusals(robot, reason):
    return int(robot.statuses[-1].get(f"refused.{reason}", 0))


class Shifted:
    """Publishes joint states with another stamp."""

    def __init__(self, publisher, shift):
        self._publisher, self._shift = publisher, shift

    def publish(self, state):
        stamp = state.header.stamp
        sec, nanosec = divmod(stamp.sec * SECOND + stamp.nanosec + self._shift, SECOND)
        state.header.stamp = Time(sec=max(sec, 1), nanosec=nanosec)
        self._publisher.publish(state)


@pytest.mark.parametrize(
    ("shift", "reason", "words"),
    [
        (-(2**31) * SECOND, "STALE", "s old, steadily: the publisher's clock is off"),
        (-3 * SECOND, "STALE", " (3.00"),
        (-501 * MILLISECOND, "STALE", " (0.50"),
        (511 * MILLISECOND, "FUTURE", "s ahead, steadily: the publisher's clock is off"),
        (3 * SECOND, "FUTURE", "steadily: the publisher's clock is off"),
    ],
    ids=["1970", "behind", "just behind", "just ahead", "ahead"],
)
def test_joint_states_of_another_time_move_nothing(robot, shift, reason, words):
    good, count, begin = robot.states, len(robot.statuses), robot.time
    robot.states = Shifted(good, shift)
    robot.run(TIMEOUT - 2 * PERIOD)
    assert all(status["state"] != "WAITING" for status in robot.statuses[count:])
    robot.wait_status(state="WAITING")
    assert robot.time - begin <= TIMEOUT + HANDLED
    assert robot.statuses[-1]["last_refusal.joint_states"].startswith(f"{reason}: ")
    robot.run(0.1)
    assert words in robot.statuses[-1]["message"]
    robot.run(RESUMES)
    robot.send("base_link", NEAR, stamp=None)
    assert robot.rests()
    assert robot.statuses[-1]["last_refusal.target_pose"].startswith("NOT_READY: ")
    assert robot.statuses[-1]["last_refusal.joint_states"].startswith(f"{reason}: ")
    assert refusals(robot, "NOT_READY") > 0
    begin, robot.states = robot.time, good
    robot.wait_status(state="READY")
    assert robot.time - begin <= HANDLED
    robot.reach(NEAR, 1e-9)


def test_what_is_refused_all_the_time_is_logged_once_a_second(robot):
    good, since = robot.states, len(robot.log)
    robot.states = Shifted(good, -3 * SECOND)
    robot.run(3.95)
    told = [line for line in robot.log.lines()[since:] if line.startswith("joint state: STALE")]
    assert len(told) == 4
    robot.states = good
    robot.run(0.1)


@pytest.mark.parametrize("shift", [-480 * MILLISECOND, 500 * MILLISECOND])
def test_joint_states_that_are_a_little_off_are_accepted(robot, shift):
    good, before = robot.states, robot.statuses[-1]
    robot.states = Shifted(good, shift)
    robot.run(2.0)
    robot.reach(NEAR, 1e-9)
    for reason in ("STALE", "FUTURE"):
        assert robot.statuses[-1].get(f"refused.{reason}") == before.get(f"refused.{reason}")
    robot.states = good
    robot.run(1.0)


@pytest.mark.parametrize(
    ("way", "after"), [(1.0, (1.0 - 0.05) / (2.0 * np.pi)), (4.0, 0.5)], ids=["reachable", "far"]
)
def test_a_new_reference_of_an_encoder_is_accepted_after_a_while(robot, way, after):
    """Once the joint can have moved there at twice its speed, but for 0.05 rad; or after 0.5 s."""
    before, begin = refusals(robot, "JUMP"), robot.time
    robot.positions = robot.positions + way * np.eye(6)[5]
    robot.wait_status(state="WAITING")
    assert robot.time - begin <= HANDLED
    assert refusals(robot, "JUMP") > before
    assert (
        f"JUMP: a joint moved faster than it can (wrist_3_joint: by {way:.3f} in 0.0"
        in (robot.statuses[-1]["message"])
    )
    robot.wait(lambda: robot.statuses[-1]["state"] != "WAITING", "it is accepted")
    assert after - PERIOD <= robot.time - begin <= after + HANDLED
    robot.reach(NEAR, 1e-9)


# Gaps ----------------------------------------------------------------------------------------


def falls_silent(robot, seconds, *, driver=False):
    """Let joint states cease for a while; the controller's states, too, if the driver stands."""
    robot.publishing, robot.controller_states.link.loss = False, float(driver)
    robot.run(seconds)
    robot.publishing, robot.controller_states.link.loss = True, 0.0


def has_waited(robot, count):
    return any(status["state"] in ("BRAKING", "WAITING") for status in robot.statuses[count:])


def is_dropped(robot, words):
    """Return whether a warning tells of a dropped target, and the arm stays where it is."""
    status = robot.statuses[-1]
    told = "DROPPED: " in status["message"] and words in status["message"]
    return told and status["level"] == DiagnosticStatus.WARN and robot.rests()


@pytest.mark.parametrize("gap", [0.3, 0.6, 0.9, 1.2])
@pytest.mark.parametrize("driver", [False, True], ids=["joint states", "driver"])
def test_an_arm_goes_on_by_itself_after_a_short_gap(robot, gap, driver):
    count = len(robot.statuses)
    assert robot.set_parameter("speed_override", 0.2).successful
    robot.set_off(FAR, 0.1)
    falls_silent(robot, gap, driver=driver)
    assert has_waited(robot, count) == (gap > TIMEOUT), "it brakes without joint states"
    if gap > TIMEOUT:
        assert "; the arm goes on if this ends within 1 s" in robot.statuses[-1]["message"]
    assert not robot.at(FAR, 1e-2)
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    robot.wait(robot.rests, "silence")
    assert robot.at(FAR, 1e-6)
    assert robot.set_parameter("speed_override", 1.0).successful
    robot.run(2 * PERIOD)
    assert robot.statuses[-1]["level"] == DiagnosticStatus.OK


@pytest.mark.parametrize("driver", [False, True], ids=["joint states", "driver"])
def test_a_line_goes_on_after_a_short_gap(robot, driver):
    robot.reach(NEAR)
    assert robot.set_parameter("path", "straight").successful
    assert robot.set_parameter("speed_override", 0.2).successful
    robot.set_off(BESIDE, 0.05)
    falls_silent(robot, 0.9, driver=driver)
    assert not robot.at(BESIDE, 1e-2)
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    robot.wait(robot.rests, "silence")
    assert robot.at(BESIDE, 1e-6)


def test_an_arm_at_its_target_is_there_again_after_a_short_gap(robot):
    robot.reach(NEAR)
    robot.wait(robot.rests, "silence")
    here = robot.positions
    falls_silent(robot, 0.9)
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    np.testing.assert_allclose(robot.positions, here, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("driver", [False, True], ids=["joint states", "driver"])
def test_a_target_is_dropped_after_a_long_gap_and_that_is_told_until_the_next(robot, driver):
    robot.set_off(FAR, 0.1)
    since = len(robot.log)
    falls_silent(robot, TIMEOUT + RESUMES + 2 * PERIOD, driver=driver)
    told = [line for line in robot.log.lines()[since:] if "the target is dropped" in line]
    assert len(told) == 1
    robot.wait_status(state="READY")
    robot.run(2.0)
    assert is_dropped(robot, "no joint state of shoulder_pan_joint, ")
    robot.reach(NEAR, 1e-9)
    assert robot.statuses[-1]["level"] == DiagnosticStatus.OK
    assert robot.statuses[-1]["message"] == "reached"


def test_nothing_goes_on_by_itself_if_that_is_not_wanted(robot):
    assert robot.set_parameter("resume_timeout", 0.0).successful
    assert robot.set_parameter("speed_override", 0.2).successful
    robot.set_off(FAR, 0.1)
    falls_silent(robot, 0.6)
    robot.wait_status(state="READY")
    robot.run(1.0)
    assert is_dropped(robot, "no joint state of ")
    assert robot.set_parameter("resume_timeout", RESUMES).successful


def test_an_arm_that_was_moved_in_the_gap_does_not_go_on(robot):
    assert robot.set_parameter("speed_override", 0.2).successful
    robot.set_off(FAR, 0.1)
    robot.publishing = False
    robot.run(0.9)
    robot.positions = robot.positions + 0.1 * np.eye(6)[0]
    robot.publishing = True
    robot.wait_status(state="READY")
    assert robot.rests()
    assert "goes on to its target once it rests where it braked" in robot.statuses[-1]["message"]
    robot.run(2.0 * RESUMES)
    assert is_dropped(robot, "the arm is not where it braked without joint states")


def test_an_arm_whose_driver_was_away_does_not_go_on(robot):
    """It was ended, and has not only stood still."""
    assert robot.set_parameter("speed_override", 0.2).successful
    robot.set_off(FAR, 0.1)
    sources = dict(robot.boundary.sources)
    robot.publishing = False
    robot.run(0.6)
    robot.boundary.sources |= {"listeners": 0, "publishers": 0}
    robot.run(0.3)
    robot.boundary.sources |= sources
    robot.publishing = True
    robot.wait_status(state="READY")
    robot.run(1.0)
    assert is_dropped(robot, "no joint state of ")


def test_an_arm_goes_on_only_once_it_rests(robot):
    """Something else moves it slowly by where it braked."""
    assert robot.set_parameter("speed_override", 0.2).successful
    robot.set_off(FAR, 0.1)
    falls_silent(robot, 0.9)
    home, begin = robot.positions, robot.time
    robot.wait_status(state="READY")
    while robot.time - begin < 0.35:
        robot.positions = home + 0.14 * (robot.time - begin)
        assert robot.statuses[-1]["state"] != "MOVING"
        robot.run(PERIOD)
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    assert robot.time - begin > 0.4


@pytest.mark.parametrize("when", ["in the gap", "after it"])
def test_the_newest_target_is_the_one_that_the_arm_goes_on_to(robot, when):
    before = refusals(robot, "NOT_READY")
    robot.set_off(FAR, 0.1)
    robot.publishing = False
    robot.run(0.6)
    if when == "in the gap":
        robot.send("base_link", NEAR)
        robot.run(0.3)
    robot.publishing = True
    if when == "after it":
        robot.run(2 * PERIOD)
        robot.send("base_link", NEAR)
    robot.wait_status(state="ARRIVED", verdict="REACHED")
    robot.wait(robot.rests, "silence")
    assert robot.at(NEAR, 1e-6)
    assert refusals(robot, "NOT_READY") == before


@pytest.mark.parametrize("service", ["stop", "deactivate"])
def test_what_is_stopped_in_a_gap_does_not_go_on(robot, service):
    robot.set_off(FAR, 0.1)
    robot.publishing = False
    robot.run(0.7)
    if service == "stop":
        assert robot.call(Trigger, "stop").success
    else:
        assert robot.transit("deactivate")
    robot.publishing = True
    robot.run(0.1)
    if service == "stop":
        assert robot.call(SetBool, "enable", data=True).success
    else:
        assert robot.transit("activate")
    robot.wait_status(state="READY")
    assert robot.rests()
    robot.run(2.0)
    assert robot.rests()


@pytest.mark.parametrize("states", ["go on", "cease"])
def test_a_late_period_of_the_node_is_no_silence_of_the_driver(robot, states):
    """It is given 0.1 s to handle what came meanwhile."""
    assert robot.set_parameter("speed_override", 0.2).successful
    robot.set_off(FAR, 0.1)
    count, begin, stall = len(robot.statuses), robot.time, 0.6
    robot.boundary.stalls.add(robot.world.now, stall)
    for link in (robot.states.link, robot.controller_states.link):
        link.hold(stall + 0.05)
    robot.publishing = states == "go on"
    if states == "go on":
        robot.run(1.0)
        assert not has_waited(robot, count)
    else:
        robot.wait_status(state="BRAKING")
        assert robot.time - begin == pytest.approx(stall + 0.1, abs=HANDLED)
        robot.publishing = True
    assert robot.set_parameter("speed_override", 1.0).successful
    robot.wait_status(state="ARRIVED")


def test_a_node_that_is_always_late_notices_a_silent_driver_all_the_same(robot):
    assert robot.set_parameter("speed_override", 0.2).successful
    robot.set_off(FAR, 0.1)
    robot.publishing, begin, stall = False, robot.time, 0.15
    for k in range(10):
        robot.boundary.stalls.add(robot.world.now + round(0.16 * k * SECOND), stall)
    robot.wait_status(state="BRAKING")
    assert robot.time - begin <= TIMEOUT + 0.1 + 2 * stall
    robot.publishing = True
    assert robot.set_parameter("speed_override", 1.0).successful
    robot.run(2.0)


# Frames --------------------------------------------------------------------------------------


def test_a_frame_that_is_no_longer_published_is_refused_once(robot):
    robot.frames["base_link", "belt"] = lambda: NEAR
    robot.place("belt", "on the belt", HERE)
    robot.run(0.1)
    robot.send("on the belt", HERE, stamp=None)
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the arm is there")
    ceased = robot.time
    robot.frames.clear()
    robot.wait(lambda: refusals(robot, "TF_STALE"), "the target is dropped")
    assert OLDEST - PERIOD <= robot.time - ceased <= OLDEST + PERIOD + 1e-9
    assert robot.statuses[-1]["verdict"] == "REFUSED"
    assert "target_frame" not in robot.statuses[-1]
    robot.reach(FAR, 1e-9)
    robot.wait(robot.rests, "silence")
    assert refusals(robot, "TF_STALE") == 1, "told once"
    sent = robot.time
    robot.send("on the belt", HERE, stamp=None)
    robot.wait(lambda: refusals(robot, "TF_STALE") == 2, "its refusal")
    assert robot.time - sent <= HANDLED
    assert robot.rests()
    assert robot.at(FAR, 1e-9)
    robot.frames["base_link", "belt"] = lambda: NEAR
    robot.run(2 * PERIOD)
    robot.send("on the belt", HERE, stamp=None)
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the arm is there")


def test_a_frame_with_a_pause_shorter_than_its_largest_age_is_followed(robot):
    robot.frames["base_link", "belt"] = lambda: NEAR
    robot.run(2 * PERIOD)
    before = refusals(robot, "TF_STALE")
    robot.send("belt", HERE, stamp=None)
    robot.run(1.0)
    robot.frames.clear()
    robot.run(OLDEST - 2 * PERIOD)
    robot.frames["base_link", "belt"] = lambda: FAR
    robot.wait(lambda: robot.at(FAR, 1e-9), "the arm is there")
    assert refusals(robot, "TF_STALE") == before


def test_a_static_frame_does_not_expire(robot):
    robot.place("base_link", "table", NEAR)
    robot.run(1.5 * OLDEST)
    robot.send("table", HERE, stamp=None)
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the arm is there")
    robot.run(1.5 * OLDEST)
    assert robot.statuses[-1]["target_frame"] == "table"
    assert robot.statuses[-1]["state"] == "ARRIVED"


def test_a_grasped_object_is_no_longer_followed(robot):
    """The frame is 2 cm off where it was: from then on it would run ahead of the tool."""
    robot.frames["base_link", "box"] = lambda: NEAR
    robot.run(2 * PERIOD)
    robot.send("box", HERE, stamp=None)
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the arm is there")
    del robot.frames["base_link", "box"]
    robot.place("tool0", "box", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.02, 0.0, 0.0]))
    here = robot.positions
    robot.run(2.5)
    assert robot.rests()
    np.testing.assert_allclose(robot.positions, here, rtol=0.0, atol=1e-9)
    assert sum("the arm now carries 'box'" in line for line in robot.log.lines()) == 1
