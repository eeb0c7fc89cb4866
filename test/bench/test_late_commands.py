# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands that come late, get lost or bunch: what the controller's output and the arm then do.

The old way, a window in each period from rest on, made the output leap by 0.26 to 2.2 rad in these.
"""

import contextlib
import random

import numpy as np
import pytest
from bench import CYCLE, HOME, Robot, down
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory
from world import MILLISECOND, SECOND

from basis_ik.ros.outputs.trajectory_messages import to_point
from basis_ik.transforms.rigid import RigidTransform

PLACES = [
    down(0.45, 0.15, 0.35),
    down(0.35, -0.35, 0.50),
    down(-0.30, 0.40, 0.45),
    down(0.20, 0.50, 0.25),
    down(0.50, -0.10, 0.60),
]
SPEED, ACCELERATION = 1.003, 1.05  # times the limits
LEAP = 0.02  # rad in a cycle, beyond what the limit of speed allows
TOPIC, ACTION = "joint_trajectory", "follow_joint_trajectory"
DISTURBED, SETTLES = 1.2, 1.0  # s


# What the node is told of the controller's rule, and whether that blends trajectories.
RULES = {
    "stamp": ((), False),
    "blends": ((), True),
    "unknown": (("-p", "trajectory_replacement:=allowed"), False),
}
UNDERRATED = ("-p", "trajectory_replacement:=not_allowed"), True
BETWEEN = 20 * MILLISECOND  # from one message of a stream to the next


@contextlib.contextmanager
def robot_with(lag, rule=RULES["stamp"], *, mute=False, tolerance=0.0, **values):
    words, replaces = rule
    given = [word for each in values.items() for word in ("-p", "{}:={}".format(*each))]
    robot = Robot(*words, *given, lag=lag, replaces=replaces, path=tolerance)
    if mute:
        robot.controller_states.link.loss, robot.boundary.sources["publishers"] = 1.0, 0
    try:
        robot.wait_status(state="READY")
        robot.run(0.5 if replaces else 0.1)  # the answer about the rule counts from then on
        yield robot
    finally:
        robot.loop.end()


def disturb(robot, rng, longest, stall):
    """Delay messages by up to `longest` [ms], typically 10; let parts stand for up to `stall`."""
    links = [robot.states.link, *robot.told, robot.targets.link, *robot.commandings]
    for link in links:
        link.delay = (0, MILLISECOND * rng.choice([1, 10, 10, longest]))
    for part in (robot.boundary.stalls, *robot.takers):
        part.add(robot.world.now + rng.randrange(SECOND), 1e-3 * rng.uniform(0.0, stall))
    return links


def swung(target, step):
    """Return a target that moves on a circle of 5 cm, at 0.3 m/s."""
    x, y = 0.05 * np.sin(0.12 * step), 0.05 * (1.0 - np.cos(0.12 * step))
    return RigidTransform.from_rpy(0.0, 0.0, 0.0, [x, y, 0.0]) @ target


def move(robot, rng, kind):
    """Send a target, and what comes after it."""
    target = rng.choice(PLACES)
    robot.send("base_link", target)
    robot.run(rng.uniform(0.05, 0.6))
    if kind == "another target":
        target = rng.choice(PLACES)
        robot.send("base_link", target)
    elif kind == "stop":
        stop(robot)
    elif kind == "moving target":
        for step in range(25):
            robot.send("base_link", swung(target, step))
            robot.run(0.02)
    elif kind == "twist":
        jog(robot, 0.6, lambda elapsed: 0.05 * round(20.0 * elapsed % 5.0))


def jog(robot, seconds, speed=lambda _: 0.1):
    """Let twists come for a while, also if the node stands; their speeds are up to 0.2 m/s."""
    begin = robot.world.now
    for elapsed in range(0, round(SECOND * seconds), BETWEEN):
        up = (0.0, 0.0, speed(1e-9 * elapsed))
        robot.world.at(begin + elapsed, lambda up=up: robot.jog("base_link", linear=up))
    robot.run(seconds)


class Seen:
    """What the output did: times the limits; the leap beyond them in a cycle [rad]."""

    def __init__(self, robot, since):
        outputs = [(time, positions) for time, positions in robot.arm.outputs if time >= since]
        way = np.array([positions for _, positions in outputs])
        step, limits = np.diff(way, axis=0), robot.arm.limits
        period = 1e-9 * CYCLE
        self.speed = (np.abs(step) / period / limits.velocity).max()
        self.rate = (np.abs(np.diff(step, axis=0)) / period**2 / limits.acceleration).max()
        self.leap = (np.abs(step) - period * limits.velocity).max()


MORE = ["", pytest.param(" more", marks=pytest.mark.long)]  # of what is drawn


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("lag", [0.0, 0.03, 0.1])
@pytest.mark.parametrize("kind", ["target", "another target", "stop", "moving target"])
def test_delays_of_up_to_50_ms_keep_the_limits(kind, lag, more):
    """Of a message, or of a part that stands still: not one after the other."""
    rng = random.Random(f"{kind} {lag}{more}")
    with robot_with(lag) as robot:
        for _ in range(4):
            since = robot.world.now
            links = disturb(robot, rng, *rng.choice([(50, 0), (10, 40)]))
            move(robot, rng, kind)
            robot.run(DISTURBED)
            for link in links:
                link.delay = (0, 0)
            robot.wait(robot.rests, "rest")
            seen = Seen(robot, since)
            assert seen.speed <= SPEED
            assert seen.rate <= ACCELERATION
            robot.call(SetBool, "enable", data=True)


@pytest.mark.parametrize(
    "seed", [*range(5), *(pytest.param(each, marks=pytest.mark.long) for each in range(5, 24))]
)
def test_a_motion_to_a_target_keeps_the_limits_whatever_is_late(seed):
    rng = random.Random(seed)
    with robot_with(rng.choice([0.0, 0.03, 0.1])) as robot:
        for _ in range(3):
            since = robot.world.now
            longest = rng.choice([100, 300, 1000])
            links = disturb(robot, rng, longest, rng.choice([0, 250, 2000]))
            robot.send("base_link", rng.choice(PLACES))
            robot.run(DISTURBED)
            for link in links:
                link.delay = (0, 0)
            robot.run(SETTLES)
            assert explains(robot, since), "why it rests"
            robot.wait(robot.rests, "rest")
            seen = Seen(robot, since)
            assert seen.leap <= 1e-4
            assert seen.rate <= ACCELERATION
            robot.run(2.5)  # until what was sent cannot be taken any more


def test_a_controller_that_takes_nothing_for_a_quarter_of_a_second_does_not_leap():
    """Its thread for messages had no processor, while its updates were punctual."""
    with robot_with(0.03) as robot:
        robot.arm.taking.add(robot.world.now, 0.25)
        robot.reach(PLACES[0], 1e-6)
        assert robot.arm.complaints == []


@pytest.mark.parametrize(
    ("rule", "seed"),  # of such as leapt by up to 1.9 rad when nothing was recalled
    [
        *(("stamp", each) for each in (7, 10, 11, 15, 19)),
        *(("blends", each) for each in (10, 19)),
        *(pytest.param("stamp", each, marks=pytest.mark.long) for each in range(20, 60)),
    ],
)
def test_a_controller_that_takes_nothing_in_mid_motion_does_not_leap(rule, seed):
    """Its thread for messages stands still, and then takes the newest, however old that is."""
    rng = random.Random(seed)
    kind = rng.choice(["another target", "stop", "moving target", "twist"])
    with robot_with(rng.choice([0.0, 0.03, 0.1]), RULES[rule]) as robot:
        for _ in range(5):
            since, stall = robot.world.now, rng.uniform(0.05, 2.0)
            robot.arm.taking.add(since + rng.randrange(SECOND), stall)
            move(robot, rng, kind)
            robot.run(1.0 + stall)
            assert explains(robot, since), "why it rests"
            robot.wait(robot.rests, "rest")
            assert Seen(robot, since).leap <= LEAP
            robot.run(2.6)  # until nothing can be taken any more
            robot.call(SetBool, "enable", data=True)
            robot.reach(PLACES[2], 0.02)


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize(
    ("interface", "rule", "behind", "kind"),  # [ms]
    [
        (TOPIC, "stamp", 30, "moving target"),  # leaps of 0.08 rad in a cycle, taken for its clock
        (TOPIC, "stamp", 80, "twist"),
        (TOPIC, "blends", 5, "twist"),
        (TOPIC, "blends", 12, "moving target"),  # 0.1 rad
        (TOPIC, "blends", 80, "moving target"),
        (TOPIC, "stamp", -15, "moving target"),
        (TOPIC, "blends", -15, "twist"),
        (ACTION, "stamp", 80, "stop"),
        (ACTION, "blends", 30, "stop"),
        (ACTION, "blends", 80, "another target"),
    ],
)
def test_a_controller_whose_clock_is_off_keeps_the_limits(interface, rule, behind, kind, more):
    """What begins in its future, it would lead to from where the arm is measured, in a cycle."""
    rng = random.Random(f"{interface} {rule} {behind} {kind}{more}")
    with robot_with(0.03, RULES[rule], command_interface=interface) as robot:
        system = robot.boundary.system
        robot.arm.system = lambda: system() - behind * MILLISECOND
        robot.commanding.delay = (0, 8 * MILLISECOND)
        robot.run(2.5)  # until all states are by this clock
        for _ in range(3):
            since = robot.world.now
            move(robot, rng, kind)
            robot.run(1.0)
            robot.wait(robot.rests, "rest")
            seen = Seen(robot, since)
            assert seen.speed <= SPEED
            assert seen.rate <= ACCELERATION
            robot.call(SetBool, "enable", data=True)
            robot.reach(PLACES[2], 1e-6)


@pytest.mark.parametrize("interface", [TOPIC, ACTION])
def test_a_clock_that_is_farther_behind_than_a_slow_motion_shows_keeps_the_limits(interface):
    with robot_with(0.03, command_interface=interface) as robot:
        system = robot.boundary.system
        robot.arm.system = lambda: system() - 40 * MILLISECOND
        robot.run(2.5)  # until all states are by this clock
        robot.commanding.delay = (30 * MILLISECOND, 30 * MILLISECOND)
        since = robot.world.now
        robot.send("base_link", PLACES[1])
        robot.run(0.35)
        robot.commanding.delay = (0, 0)
        robot.send("base_link", PLACES[0])
        robot.run(0.1)
        robot.wait(robot.rests, "rest")
        seen = Seen(robot, since)
        assert seen.speed <= SPEED
        assert seen.rate <= ACCELERATION


def test_a_controller_that_blends_is_led_on_although_its_states_are_late():
    """Its clock may be as far behind: that must not keep the node from sending anything."""
    with robot_with(0.0, RULES["blends"]) as robot:
        robot.controller_states.link.delay = (30 * MILLISECOND, 30 * MILLISECOND)
        robot.run(2.5)
        robot.send("base_link", PLACES[1])
        robot.run(0.3)
        robot.send("base_link", PLACES[0])
        robot.run(0.6)
        assert robot.at(PLACES[0])


def test_a_stop_that_waits_to_be_taken_never_makes_the_output_leap():
    """Also where the motion has ended before the controller takes it."""
    with robot_with(0.0) as robot:
        for taken in np.arange(0.7, 1.4, 0.1):
            since = robot.world.now
            robot.send("base_link", PLACES[1])
            robot.run(0.1)
            robot.arm.taking.add(robot.world.now, taken - 0.1)
            robot.run(0.45)
            stop(robot)
            robot.run(1.5)
            robot.wait_status(state="STOPPED")
            assert Seen(robot, since).leap <= LEAP, taken
            robot.run(2.6)  # until nothing can be taken any more
            robot.call(SetBool, "enable", data=True)
            robot.reach(PLACES[2], 0.02)


@pytest.mark.parametrize("seconds", [0.05, 0.15, 0.5])
@pytest.mark.parametrize("pause", [0.0, 0.1, 0.2])
def test_an_arm_that_somebody_leads_away_from_its_target_is_not_drawn_back(pause, seconds):
    with robot_with(0.0) as robot:
        robot.arm.bound = np.inf
        robot.reach(PLACES[0], 1e-6)
        robot.run(pause)
        message = JointTrajectory(joint_names=robot.arm.joint_names)
        there = robot.positions + 0.02
        point = to_point(there, np.zeros(6))
        point.time_from_start.nanosec = round(1e9 * seconds)
        message.points.append(point)
        robot.arm.take(message)
        robot.run(seconds + 1.0)
        assert np.allclose(robot.positions, there, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(("stall", "end"), [(0.02, "ARRIVED"), (0.3, "TRACKING_LOST")])
def test_a_controller_whose_cycles_stand_still_leaps_by_what_it_has_missed(stall, end):
    """No message can prevent it: it goes on where the motion is by then."""
    with robot_with(0.1) as robot:
        robot.arm.bound = np.inf
        since = robot.world.now
        robot.arm.updating.add(since + SECOND // 4, stall)
        robot.send("base_link", PLACES[2])
        robot.run(0.25 + stall + 0.01)
        limits = robot.arm.limits.velocity.max()
        leap = Seen(robot, since).leap + 1e-9 * CYCLE * limits
        assert 0.3 * stall * limits < leap <= (stall + 2e-9 * CYCLE) * limits
        robot.wait_status(state=end)
        if end != "ARRIVED":
            here = robot.positions
            robot.run(1.0)
            assert np.abs(robot.positions - here).max() < 0.1, "it is held where it is"
            robot.arm.complaints.clear()


def starve(robot, seconds):
    """Let the driver take no message and publish none; its cycles are punctual."""
    robot.arm.taking.add(robot.world.now, seconds)
    for link in (robot.states.link, robot.controller_states.link):
        link.loss = 1.0
        end = robot.world.now + round(SECOND * seconds)
        robot.world.at(end, lambda link=link: setattr(link, "loss", 0.0))


@pytest.mark.parametrize("rule", ["stamp", "blends"])
@pytest.mark.parametrize(
    ("unheard", "stall", "lag"),
    [
        (0.01, 0.2, 0.03), (0.01, 1.0, 0.0), (0.05, 0.2, 0.0), (0.05, 0.4, 0.03),
        (0.05, 0.6, 0.0), (0.09, 0.4, 0.0), (0.09, 0.6, 0.03),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["another target", "stop"])
def test_a_driver_that_neither_takes_nor_tells_does_not_leap(kind, unheard, stall, lag, rule):
    """Nobody knows what it has taken: what it may take late is recalled, and nothing else sent."""
    with robot_with(lag, RULES[rule]) as robot:
        robot.send("base_link", robot.chain.forward(np.add(HOME, [0.9, -0.3, 0.4, 0.2, -0.2, 0.5])))
        robot.run(0.4 - unheard)
        starve(robot, stall)
        robot.run(unheard)
        before = len(robot.commands)
        goal = robot.chain.forward(np.add(HOME, [-0.7, 0.0, 0.2, 0.1, -0.1, 0.2]))
        if kind == "stop":
            stop(robot)
        else:
            robot.send("base_link", goal)
        robot.run(stall - unheard)
        assert len(robot.commands) <= before + 2, "the change, and its recall"
        robot.run(3.0)
        assert Seen(robot, 0).leap <= LEAP
        if kind == "stop":
            robot.wait_status(state="STOPPED")
        else:
            assert robot.at(goal) or "DROPPED" in robot.statuses[-1]["message"]


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("stall", [0.48, 0.55])
def test_an_arm_on_its_way_to_a_controller_that_stood_still_is_not_drawn_back(stall, stops):
    """Its motion has ended long ago by its times, and just now by the controller's reference."""
    with robot_with(0.03) as robot:
        robot.arm.bound = np.inf
        robot.send("base_link", robot.chain.forward(np.add(HOME, [0.9, -0.3, 0.4, 0.2, -0.2, 0.5])))
        robot.run(0.3)
        robot.arm.updating.add(robot.world.now, stall)
        robot.commanding.hold(stall + 0.005)
        starve(robot, stall)
        robot.run(0.1)
        if stops:
            stop(robot)
        robot.run(stall - 0.1 + 1e-9 * CYCLE)
        since = robot.world.now
        assert Seen(robot, 0).leap > 0.2, "the controller's own"
        robot.run(3.0)
        assert Seen(robot, since).leap <= 1e-4


@pytest.mark.parametrize("interface", ["joint_trajectory", "follow_joint_trajectory"])
@pytest.mark.parametrize("begun", [0.2, 0.7])
@pytest.mark.parametrize(("lag", "stall"), [(0.0, 1.5), (0.03, 1.5), (0.03, 6.0)])
def test_an_arm_whose_driver_stands_still_is_not_said_to_be_stopped(lag, stall, begun, interface):
    """It leaps when the driver goes on: until then nobody knows where it stops."""
    with robot_with(lag, command_interface=interface) as robot:
        robot.arm.bound = np.inf
        robot.send("base_link", PLACES[2])
        robot.run(begun)
        robot.arm.updating.add(robot.world.now, stall)
        robot.commanding.hold(stall + 0.005)  # the driver's cycles go on before its messages
        starve(robot, stall)
        robot.run(0.2)
        assert robot.call(Trigger, "stop").success
        robot.run(stall - 0.25)
        assert robot.statuses[-1]["state"] == "BRAKING"
        assert "no joint state" in robot.statuses[-1]["message"]
        robot.wait_status(state="STOPPED", patience=1.0)
        assert Seen(robot, 0).leap > 0.2
        assert stays(robot, 3.0, 0.01), "no more than the rest of the drives' way"


@pytest.mark.parametrize("unheard", [0.3, 0.6, 4.0])
def test_a_motion_is_stopped_although_the_controllers_state_is_not_heard(unheard):
    """The controller has the whole motion, and would go on to its end."""
    with robot_with(0.03) as robot:
        assert robot.set_parameter("speed_override", 0.2).successful
        robot.send("base_link", PLACES[0])
        robot.run(0.5)
        robot.controller_states.link.loss = 1.0
        robot.run(unheard)
        assert robot.call(Trigger, "stop").success
        robot.run(0.3)
        robot.controller_states.link.loss = 0.0
        robot.wait_status(state="STOPPED")
        here = robot.positions
        robot.run(5.0)
        assert np.abs(robot.positions - here).max() < 1e-3, "the rest of the drives' way"
        assert not robot.at(PLACES[0], 1e-2)
        assert robot.arm.complaints == []


def stop(robot):
    robot.loop.spinner.request("/basis_ik/stop", Trigger.Request())


def stays(robot, seconds, close=1e-4):
    """Return whether the arm stays where it is for a while."""
    here = robot.positions.copy()
    robot.run(seconds)
    return np.abs(robot.positions - here).max() < close


@pytest.mark.parametrize(
    ("seed", "mute"),
    [
        *((each, False) for each in range(12)),
        # Such as never stopped when nobody looked; the last two stand meanwhile.
        *((each, True) for each in (6, 12, 13, 17, 20, 25, 73)),
    ],
)
def test_an_arm_that_is_told_to_be_stopped_has_stopped_whatever_is_late(seed, mute):
    """Brakes that come late are refused; the whole motion goes on until one is taken."""
    rng = random.Random(seed)
    with robot_with(rng.choice([0.0, 0.03]), mute=mute) as robot:
        speed = rng.choice([0.01, 0.05, 0.3])
        assert robot.set_parameter("speed_override", speed).successful
        robot.send("base_link", PLACES[0])
        robot.run(rng.uniform(0.3, 1.5))
        for part in (robot.boundary.stalls, robot.arm.taking, robot.arm.updating):
            for _ in range(rng.randrange(4)):
                begin = robot.world.now + rng.randrange(SECOND)
                part.add(begin, rng.choice([0.1, 0.3, 1.0]) * rng.random())
        links = rng.choice([[], [robot.controller_states], [robot.controller_states, robot]])
        links = [each.commanding if each is robot else each.link for each in links]
        for link in links:
            link.delay = (0, MILLISECOND * rng.choice([20, 100, 300, 800]))
        stop(robot)
        robot.run(2.0)
        for link in links:
            link.delay = (0, 0)
        robot.wait_status(state="STOPPED")
        robot.run(0.3)  # the rest of the drives' way
        assert stays(robot, 3.0)
        assert speed == 0.3 or not robot.at(PLACES[0], 1e-2)


@pytest.mark.parametrize("late", [0.6, 1.2, 3.0])
def test_a_mute_controller_that_gets_all_commands_late_stops_within_the_limits(late):
    with robot_with(0.03, mute=True) as robot:
        assert robot.set_parameter("speed_override", 0.05).successful
        robot.send("base_link", PLACES[2])
        robot.run(1.0)
        since, robot.commanding.delay = robot.world.now, 2 * (round(SECOND * late),)
        stop(robot)
        robot.wait_status(state="STOPPED")
        assert stays(robot, 10.0)
        assert not robot.at(PLACES[2], 1e-2)
        assert len(robot.arm.refused) > 0
        seen = Seen(robot, since)
        assert seen.speed <= 0.05 * SPEED
        assert seen.rate <= ACCELERATION
        robot.commanding.delay = (0, 0)
        assert robot.set_parameter("speed_override", 1.0).successful
        robot.call(SetBool, "enable", data=True)
        robot.reach(PLACES[1], 1e-3)


def test_a_clock_that_is_set_back_does_not_leave_a_stopped_arm_in_doubt():
    with robot_with(0.03, mute=True) as robot:
        assert robot.set_parameter("speed_override", 0.05).successful
        robot.send("base_link", PLACES[2])
        robot.run(1.0)
        stop(robot)
        robot.wait(lambda: robot.node._robot.arms[0].execution.in_doubt, "doubt")
        robot.boundary.offset -= 3600 * SECOND
        robot.wait_status(state="STOPPED")


@pytest.mark.parametrize("stall", [0.2, 0.6, 1.5, 2.5, 10.0])
@pytest.mark.parametrize("after", [0.01, 0.1, 0.3])
def test_a_motion_that_the_controller_has_not_taken_is_recalled_by_a_stop(stall, after):
    with robot_with(0.03) as robot:
        robot.arm.taking.add(robot.world.now, stall)
        since = robot.world.now
        robot.send("base_link", PLACES[0])
        robot.run(after)
        stop(robot)
        robot.wait_status(state="STOPPED")
        assert robot.time - 1e-9 * since < after + 2.2, "it does not wait for the controller"
        robot.run(0.3)  # the rest of the drives' way
        assert stays(robot, stall + 3.0)
        assert Seen(robot, since).rate <= ACCELERATION


@pytest.mark.parametrize("delay", [0.3, 0.6, 0.9, 1.4, 1.9])
def test_a_motion_that_comes_late_does_not_begin_once_it_is_stopped(delay):
    """What recalls it comes as late: the controller takes the motion first."""
    with robot_with(0.03) as robot:
        late = round(SECOND * delay)
        robot.commanding.delay = (late, late)
        robot.send("base_link", PLACES[0])
        robot.run(0.2)
        stop(robot)
        robot.wait_status(state="STOPPED", patience=5.0)
        robot.run(0.3)  # the rest of the drives' way
        assert stays(robot, 5.0)


@pytest.mark.parametrize("delay", [0.03, 0.06, 0.1, 0.15])
def test_a_brake_that_a_controller_blends_too_late_is_followed_to_its_end(delay):
    """Its output leaps back to where the brake begins, and then moves on."""
    with robot_with(0.03, RULES["blends"]) as robot:
        robot.arm.bound = np.inf
        robot.send("base_link", PLACES[2])
        robot.run(0.35)
        robot.commanding.delay = (round(SECOND * delay), round(SECOND * delay))
        stop(robot)
        robot.wait_status(state="STOPPED", patience=5.0)
        assert rests_since(robot, robot.statuses[-1]["heard"] - 0.05)
        assert stays(robot, 2.0, 0.02), "no more than the rest of the drives' way"


def test_a_motion_that_is_given_up_is_recalled():
    with robot_with(0.03) as robot:
        robot.arm.taking.add(robot.world.now, 20.0)
        robot.send("base_link", PLACES[0])
        robot.wait(lambda: "has not taken" in robot.statuses[-1]["message"], "it is given up")
        assert stays(robot, 20.0)


@pytest.mark.parametrize("loss", [0.0, 1.0])
def test_a_motion_is_recalled_at_the_nodes_end(loss):
    with robot_with(0.03) as robot:
        robot.arm.taking.add(robot.world.now, 8.0)
        robot.send("base_link", PLACES[0])
        robot.run(0.3)
        robot.controller_states.link.loss = loss
    robot.world.advance(robot.world.now + 12 * SECOND)
    assert robot.arm.refused, "it has taken something in the end"
    assert np.array_equal(robot.positions, HOME)


@pytest.mark.parametrize("late", [20, 60, 100, 150])
def test_a_motion_that_begins_as_it_is_recalled_keeps_the_limits(late):
    """The message that recalls it comes a little later."""
    with robot_with(0.0) as robot:
        since = robot.world.now
        robot.commanding.delay = (late * MILLISECOND, late * MILLISECOND)
        robot.send("base_link", PLACES[0])
        robot.run(0.03)
        stop(robot)
        robot.wait_status(state="STOPPED")
        assert stays(robot, 2.0)
        seen = Seen(robot, since)
        assert seen.speed <= SPEED
        assert seen.rate <= ACCELERATION


@pytest.mark.parametrize("lost", [0.05, 0.8])
@pytest.mark.parametrize("is_gone", [False, True])
def test_a_motion_that_was_not_taken_is_recalled_although_the_state_is_lost(is_gone, lost):
    with robot_with(0.03) as robot:
        robot.arm.taking.add(robot.world.now, 5.0)
        robot.send("base_link", PLACES[0])
        robot.run(0.05)
        robot.controller_states.link.loss = 1.0
        robot.run(lost)
        stop(robot)
        robot.run(2.5)
        assert robot.statuses[-1]["state"] == "BRAKING", "more is not known"
        if is_gone:
            robot.boundary.sources["publishers"] = 0
        else:
            robot.controller_states.link.loss = 0.0
        robot.wait_status(state="STOPPED", patience=2.0)
        robot.run(5.0)
        assert np.array_equal(robot.positions, HOME)


@pytest.mark.parametrize("delay", [120, 250, 600, 900])
def test_a_brake_that_was_refused_is_sent_again_and_earlier(delay):
    """Each message comes so late that the usual brake is over."""
    with robot_with(0.03) as robot:
        assert robot.set_parameter("speed_override", 0.05).successful
        robot.send("base_link", PLACES[0])
        robot.run(0.5)
        since = robot.world.now
        robot.commanding.delay = (delay * MILLISECOND, delay * MILLISECOND)
        stop(robot)
        robot.wait_status(state="STOPPED", patience=2.5)
        robot.run(0.3)
        assert robot.arm.refused
        assert stays(robot, 3.0)
        assert Seen(robot, since).rate <= ACCELERATION


@pytest.mark.parametrize(
    ("rate", "least"),
    [
        (100.0, 0),
        (500.0, 10),
        pytest.param(100.0, 10, marks=pytest.mark.long),
        pytest.param(500.0, 0, marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("kind", ["another target", "stop", "moving target", "twist"])
@pytest.mark.parametrize("rule", ["blends", "unknown"])
def test_delays_of_up_to_10_ms_keep_the_limits_by_each_rule(rule, kind, rate, least):
    rng = random.Random(kind)
    with robot_with(0.0, RULES[rule], update_rate=rate) as robot:
        robot.commanding.delay = (least * MILLISECOND, 10 * MILLISECOND)
        for _ in range(3):
            since = robot.world.now
            move(robot, rng, kind)
            robot.wait(robot.rests, "rest")
            seen = Seen(robot, since)
            assert seen.speed <= SPEED
            assert seen.rate <= ACCELERATION
            robot.call(SetBool, "enable", data=True)
        assert robot.arm.refused == []


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("lag", [0.0, 0.03, 0.1])
@pytest.mark.parametrize("kind", ["another target", "stop"])
@pytest.mark.parametrize(("rule", "latest"), [("stamp", 50), ("blends", 10), ("unknown", 10)])
def test_whole_motions_that_come_late_keep_the_limits(rule, latest, kind, lag, more):
    """Goals of the action, each in the middle of the one before."""
    rng = random.Random(f"{rule} {kind} {lag}{more}")
    with robot_with(lag, RULES[rule], command_interface="follow_joint_trajectory") as robot:
        for _ in range(2):
            since = robot.world.now
            links = [robot.states.link, robot.controller_states.link, robot.commanding]
            for link in links:
                link.delay = (0, latest * MILLISECOND)
            robot.send("base_link", rng.choice(PLACES))
            robot.run(rng.uniform(0.3, 0.9))
            stop(robot) if kind == "stop" else robot.send("base_link", rng.choice(PLACES))
            robot.run(DISTURBED)
            for link in links:
                link.delay = (0, 0)
            robot.wait(robot.rests, "rest")
            seen = Seen(robot, since)
            assert seen.speed <= SPEED
            assert seen.rate <= ACCELERATION
            assert robot.call(SetBool, "enable", data=True).success
        assert not any("from where it was commanded" in line for line in robot.log.lines())


@pytest.mark.parametrize(
    ("lag", "stall", "silent"), [(0.0, 0.3, 0.19), (0.0, 0.5, 0.19), (0.03, 0.5, 0.08)]
)
def test_a_whole_motion_is_not_replaced_while_the_controller_is_not_heard(lag, stall, silent):
    """Its driver stands still; the goal would be taken afterwards, where it is by then."""
    with robot_with(lag, command_interface="follow_joint_trajectory") as robot:
        robot.arm.bound = np.inf
        robot.send("base_link", robot.chain.forward(np.add(HOME, [0.9, -0.3, 0.4, 0.2, -0.2, 0.5])))
        robot.run(0.27)
        robot.arm.updating.add(robot.world.now, stall)
        robot.commanding.hold(stall + 0.005)  # the driver's cycles go on before its messages
        starve(robot, stall)
        robot.run(silent)
        robot.send("base_link", PLACES[1])
        robot.run(stall + 0.005 - silent)
        since = robot.world.now
        assert Seen(robot, 0).leap > 0.2, "the controller's own"
        robot.run(3.0)
        assert Seen(robot, since).leap <= 1e-4


@pytest.mark.parametrize("after", [0.02, 0.05, 0.2])
@pytest.mark.parametrize("rule", ["stamp", "blends"])
def test_a_whole_motion_that_is_stopped_before_it_is_heard_of_keeps_the_limits(rule, after):
    with robot_with(0.1, RULES[rule], command_interface="follow_joint_trajectory") as robot:
        since = robot.world.now
        robot.send("base_link", PLACES[2])
        robot.run(after)
        stop(robot)
        robot.wait_status(state="STOPPED")
        assert Seen(robot, since).rate <= ACCELERATION
        then = 1e-9 * robot.world.now
        robot.run(2.0)
        assert rests_since(robot, then)


@pytest.mark.parametrize("begin", [4, 12, 16])
def test_a_whole_motion_that_blends_is_stopped_at_a_sample_that_leaves_time(begin):
    """Wherever the samples are in the node's period: the motion is taken some time after it."""
    with robot_with(0.0, RULES["blends"], command_interface="follow_joint_trajectory") as robot:
        robot.commanding.delay = (begin * MILLISECOND, begin * MILLISECOND)
        since = robot.world.now
        robot.send("base_link", PLACES[2])
        robot.run(0.3)
        robot.commanding.delay = (8 * MILLISECOND, 8 * MILLISECOND)
        stop(robot)
        robot.wait_status(state="STOPPED")
        assert Seen(robot, since).rate <= ACCELERATION


@pytest.mark.parametrize("after", [0.1, 0.25, 0.4])
@pytest.mark.parametrize("factor", [0.5, 0.1])
@pytest.mark.parametrize("kind", ["another target", "stop"])
def test_a_whole_motion_whose_feedback_is_late_is_changed_where_the_controller_is(
    kind, factor, after
):
    """It has changed its speed since the last feedback, as its published state tells."""
    with robot_with(0.03, command_interface="follow_joint_trajectory") as robot:
        robot.send("base_link", robot.chain.forward(np.add(HOME, [0.9, -0.3, 0.4, 0.2, -0.2, 0.5])))
        robot.run(0.2)
        robot.arm.goal.feed_back = lambda _: None
        robot.arm.controller.speed_scaling = factor
        robot.run(after)
        stop(robot) if kind == "stop" else robot.send("base_link", PLACES[1])
        robot.run(3.0)
        assert Seen(robot, 0).leap <= 1e-4
        assert not any("from where it was commanded" in line for line in robot.log.lines())


@pytest.mark.parametrize("stall", [0.2, 0.4])
@pytest.mark.parametrize("begin", [0.03, 0.06, 0.15])
@pytest.mark.parametrize("kind", ["another target", "stop"])
def test_a_node_that_was_late_changes_a_whole_motion_where_the_controller_is(kind, begin, stall):
    """The controller has changed its speed meanwhile; the node handles all messages at once."""
    with robot_with(0.0, command_interface="follow_joint_trajectory") as robot:
        robot.send("base_link", robot.chain.forward(np.add(HOME, [0.9, -0.3, 0.4, 0.2, -0.2, 0.5])))
        robot.boundary.stalls.add(robot.world.now + round(SECOND * begin), stall)
        robot.world.at(
            robot.world.now + round(SECOND * begin),
            lambda: setattr(robot.arm.controller, "speed_scaling", 0.5),
        )
        other = robot.chain.forward(np.add(HOME, [-0.7, 0.0, 0.2, 0.1, -0.1, 0.2]))
        robot.world.at(
            robot.world.now + round(SECOND * (begin + stall - 0.02)),
            lambda: stop(robot) if kind == "stop" else robot.send("base_link", other),
        )
        robot.run(4.0)
        assert Seen(robot, 0).leap <= 1e-4


@pytest.mark.parametrize("delay", [0, 20, 50])
@pytest.mark.parametrize("factor", [0.5, 0.1])
@pytest.mark.parametrize("kind", ["another target", "stop"])
def test_a_whole_motion_does_not_leap_into_a_controller_that_scales_its_speed(kind, factor, delay):
    rng = random.Random(f"{kind} {factor} {delay}")
    with robot_with(0.0, command_interface="follow_joint_trajectory") as robot:
        robot.arm.controller.speed_scaling, robot.arm.bound = factor, np.inf
        robot.run(0.2)
        robot.commanding.delay = (0, delay * MILLISECOND)
        since = robot.world.now
        robot.send("base_link", rng.choice(PLACES))
        robot.run(1.0)
        stop(robot) if kind == "stop" else robot.send("base_link", rng.choice(PLACES))
        robot.run(1.0)
        assert Seen(robot, since).speed <= 1.02 * factor


@pytest.mark.parametrize("delay", [0, 1, 5, 10])
@pytest.mark.parametrize("rule", RULES)
def test_a_line_is_kept_by_each_rule(rule, delay):
    with robot_with(0.0, RULES[rule]) as robot:
        robot.reach(PLACES[0], 1e-6)
        assert robot.set_parameter("path", "straight").successful
        robot.commanding.delay = (0, delay * MILLISECOND)
        since = robot.world.now
        robot.reach(PLACES[1], 1e-6)
        way = [positions for time, positions in robot.arm.outputs if time >= since]
        way = np.array([robot.chain.forward(each).translation for each in way])
        way -= way[0]
        line = way[-1] / np.linalg.norm(way[-1])
        assert np.linalg.norm(way - np.outer(way @ line, line), axis=1).max() < 1e-6
        assert Seen(robot, since).rate <= ACCELERATION


def test_a_controller_that_blends_leaps_if_its_rule_is_taken_for_the_other():
    """The twin would tell if the node sent the wrong form."""
    with robot_with(0.0, UNDERRATED) as robot:
        since = robot.world.now
        move(robot, random.Random(0), "moving target")
        robot.wait(robot.rests, "rest")
        assert Seen(robot, since).rate > 50.0


def speeds_since(robot, first):
    """Return the times [s] since an output, and the tip's speeds upward [m/s] in each cycle."""
    outputs = robot.arm.outputs[first:]
    heights = [robot.chain.forward(positions).translation[2] for _, positions in outputs]
    times = np.array([1e-9 * (time - outputs[0][0]) for time, _ in outputs])
    return times[1:], np.diff(heights) / np.diff(times)


@pytest.mark.parametrize(
    "stall",
    [
        15,
        28,
        44,
        80,
        300,
        *(pytest.param(each, marks=pytest.mark.long) for each in (24, 32, 36, 40)),
    ],
)
@pytest.mark.parametrize("rule", ["stamp", "blends"])
def test_a_twist_that_is_repeated_in_a_late_loop_goes_on(rule, stall):
    with robot_with(0.0, RULES[rule]) as robot:
        robot.commanding.delay = (MILLISECOND, 5 * MILLISECOND)
        since, first = robot.world.now, len(robot.arm.outputs)
        robot.boundary.stalls.add(since + SECOND // 2, 1e-3 * stall)
        jog(robot, 1.5)
        times, speeds = speeds_since(robot, first)
        robot.wait(robot.rests, "rest")
        seen = Seen(robot, since)
        assert seen.speed <= SPEED
        assert seen.rate <= ACCELERATION
        steady = (times > 0.4) & (times < 1.45)
        if stall > 44:  # it brakes meanwhile
            steady &= (times < 0.5) | (times > 0.8 + 1e-3 * stall)
        assert np.allclose(speeds[steady], 0.1, rtol=0.02, atol=0.0)


@pytest.mark.parametrize("interval", [None, 20, 50, 200])
def test_a_twist_goes_on_whatever_the_rate_of_the_controllers_states(interval):
    with robot_with(0.03, mute=interval is None) as robot:
        publish = robot.arm.on_state

        def rarely(stamp, update):
            if interval is None or robot.world.now % (interval * MILLISECOND) == 0:
                publish(stamp, update)

        robot.arm.on_state = rarely
        robot.run(3.0)  # it learns how often they come
        since, first = robot.world.now, len(robot.arm.outputs)
        jog(robot, 2.0)
        times, speeds = speeds_since(robot, first)
        robot.wait(robot.rests, "rest")
        seen = Seen(robot, since)
        steady = (times > 0.2) & (times < 2.0)
        assert np.allclose(speeds[steady], 0.1, rtol=0.02, atol=0.0)
        assert seen.rate <= ACCELERATION


@pytest.mark.parametrize("rule", ["stamp", "blends"])
def test_a_speed_that_changes_after_a_silence_is_taken_from_where_the_controller_is(rule):
    """Not from where the node left off: that would be a leap back."""
    with robot_with(0.03, RULES[rule]) as robot:
        assert robot.set_parameter("speed_override", 0.2).successful
        since = robot.world.now
        robot.set_off(PLACES[3], 0.1)
        robot.publishing, robot.controller_states.link.loss = False, 1.0
        robot.run(0.3)
        robot.publishing, robot.controller_states.link.loss = True, 0.0
        assert robot.set_parameter("speed_override", 1.0).successful
        robot.wait_status(state="ARRIVED")
        assert Seen(robot, since).rate <= ACCELERATION


@pytest.mark.parametrize("quiet", [0.15, 0.3])
@pytest.mark.parametrize("kind", ["target", "twist"])
def test_an_arm_whose_controllers_states_are_lost_goes_on_afterwards(kind, quiet):
    """The controller is on the way of what was sent all the while."""
    with robot_with(0.03) as robot:
        since, first = robot.world.now, len(robot.arm.outputs)
        for lost, share in [(0.4, 1.0), (0.4 + quiet, 0.0)]:
            robot.world.at(
                since + round(SECOND * lost),
                lambda share=share: setattr(robot.controller_states.link, "loss", share),
            )
        if kind == "target":
            robot.reach(PLACES[2], 1e-9)
        else:
            jog(robot, 2.0)
            times, speeds = speeds_since(robot, first)
            again = 0.4 + quiet + 0.3
            assert np.allclose(speeds[times > again], 0.1, rtol=0.02, atol=0.0)
        robot.wait(robot.rests, "rest")
        seen = Seen(robot, since)
        assert seen.speed <= SPEED
        assert seen.rate <= ACCELERATION
        assert not any("restarted" in line or "has left" in line for line in robot.log.lines())


@pytest.mark.parametrize("kind", ["target", "another target", "twist"])
@pytest.mark.parametrize("stall", [0.0, 0.03, 0.1, 0.3])
def test_the_arm_is_expected_where_it_is(kind, stall):
    """Also by a loop that was late: its drives do not lag here."""
    with robot_with(0.0) as robot:
        execution = robot.node._robot.arms[0].execution
        advance, widest = execution.advance, []

        def advance_and_look(pipeline, measured, now):
            way, here = execution.expected(now), robot.positions
            if way is not None:
                widest.append(np.ptp(way, axis=0).max())
                assert (way.min(axis=0) - 1e-6 <= here).all()
                assert (here <= way.max(axis=0) + 1e-6).all()
            return advance(pipeline, measured, now)

        execution.advance = advance_and_look
        robot.boundary.stalls.add(robot.world.now + SECOND // 4, stall)
        move(robot, random.Random(1), kind)
        robot.run(0.5)
        assert len(widest) > 30
        robot.wait(robot.rests, "rest")


def disturb_anything(robot, rng, since, *, cycles=True):
    """Let messages come late or get lost, and parts stand still, for up to 2 s.

    With `cycles` the controller's own ones stand still, too.
    """
    longest = rng.choice([10, 10, 100, 300, 1000])
    reliable, lossy = [*robot.commandings, robot.targets.link], [robot.states.link, *robot.told]
    links = reliable + lossy
    for link in links:
        link.delay = (0, MILLISECOND * rng.choice([0, 1, 10, longest]))
    for link in lossy:
        link.loss = rng.choice([0.0, 0.0, 0.0, 0.0, 0.5, 1.0])
    # Cycles that stand still for longer make a controller that is not active.
    parts = [(robot.boundary.stalls, 2.0), *((each, 2.0) for each in robot.takers)]
    for part, most in [*parts, (robot.arm.updating, 0.4)] if cycles else parts:
        for _ in range(rng.choice([0, 0, 1, 2])):
            begin = since + rng.randrange(3 * SECOND // 2)
            part.add(begin, min(most, rng.choice([0.03, 0.1, 0.3, 1.0, 2.0]) * rng.random()))
    return links


def explains(robot, since):
    """Return whether the arm goes on, or something was said since a time [ns] of why it rests."""
    told = {each["message"] for each in robot.statuses if each["heard"] > 1e-9 * since}
    goes_on = robot.statuses[-1]["state"] in ("MOVING", "HOLDING", "ARRIVED")
    return goes_on or bool(told - {"no target", "reached"})


def rests_since(robot, time):
    """Return whether the output has not moved since a time [s]."""
    outputs = [positions for when, positions in robot.arm.outputs if 1e-9 * when >= time]
    return len(outputs) > 0 and np.abs(np.array(outputs) - outputs[-1]).max() < 1e-4


ANY = "target", "another target", "stop", "stop", "moving target", "twist"
WHOLE = "target", "another target", "stop", "stop"  # what goals of the action can do


def try_pattern(robot, rng, kinds=ANY):
    """Disturb a motion; what is said of it must be true, and the arm must go on afterwards."""
    kind = rng.choice(kinds)
    slow = rng.random() < 0.5
    assert robot.set_parameter(
        "speed_override", rng.choice([0.05, 0.3]) if slow else 1.0
    ).successful
    since = robot.world.now
    links = disturb_anything(robot, rng, since)
    move(robot, rng, kind)
    robot.run(1.2)
    for link in links:
        link.delay, link.loss = (0, 0), 0.0
    robot.run(max(0.0, 3.5 - 1e-9 * (robot.world.now - since)))  # until no part stands
    robot.run(SETTLES)
    assert explains(robot, since), "why it rests"
    if kind == "stop":
        robot.wait_status(state="STOPPED", patience=12.0)
        robot.run(0.5)
        told = [each["heard"] for each in robot.statuses if each["state"] == "STOPPED"]
        assert rests_since(robot, min(told) + 0.05), "it had not stopped"
    assert robot.set_parameter("speed_override", 1.0).successful
    assert robot.call(SetBool, "enable", data=True).success
    robot.run(2.6)  # until nothing can be taken any more
    robot.reach(PLACES[2], 0.02)


@pytest.mark.parametrize("rule", ["stamp", "blends"])
@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(each, marks=pytest.mark.long) for each in range(3, 200))]
)
def test_whatever_is_late_a_stopped_arm_rests_and_an_enabled_one_goes_on(seed, rule):
    rng = random.Random(seed)
    with robot_with(rng.choice([0.0, 0.03, 0.1]), RULES[rule]) as robot:
        for _ in range(5):
            try_pattern(robot, rng)
            robot.arm.outputs.clear()
            robot.statuses.clear()
            robot.run(0.1)


@pytest.mark.parametrize("rule", ["stamp", "blends"])
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(each, marks=pytest.mark.long) for each in range(1, 100))]
)
def test_whatever_is_late_whole_motions_stop_and_go_on(seed, rule):
    rng = random.Random(seed)
    lag = rng.choice([0.0, 0.03, 0.1])
    with robot_with(lag, RULES[rule], command_interface="follow_joint_trajectory") as robot:
        for _ in range(5):
            try_pattern(robot, rng, WHOLE)
            robot.arm.outputs.clear()
            robot.statuses.clear()
            robot.run(0.1)


# The controller's tolerances -----------------------------------------------------------------

# The table of docs/real_arm.md: lag of the drives [s], by how much the arm is then behind [rad].
BEHIND = {0.01: 0.03, 0.03: 0.1, 0.1: 0.31, 0.2: 0.58}


@pytest.mark.parametrize("lag", BEHIND)
def test_the_tolerance_of_the_table_fits_its_lag(lag):
    with robot_with(lag, tolerance=BEHIND[lag]) as robot:
        for place in PLACES:
            robot.reach(place, 1e-2)
        assert not any("left" in line for line in robot.log.lines())


@pytest.mark.parametrize(("rule", "within"), [("stamp", 0.03), ("blends", 0.05)])
@pytest.mark.parametrize("kind", ["target", "twist"])
@pytest.mark.parametrize("lag", [0.01, 0.1])
def test_a_hold_by_a_tolerance_ends_the_motion_and_is_named(lag, kind, rule, within):
    with robot_with(
        lag, RULES[rule], tolerance=(0.4 if kind == "target" else 0.1) * BEHIND[lag]
    ) as robot:
        publish, errors = robot.arm.on_state, []

        def keep(stamp, update):
            errors.append(np.abs(update.errors[0]))
            publish(stamp, update)

        def stands():
            return np.array_equal(robot.arm.outputs[-1][1], robot.arm.outputs[-2][1])

        robot.arm.on_state = keep
        if kind == "target":
            robot.send("base_link", PLACES[0])
        for step in range(100 if kind == "twist" else 0):
            when = robot.world.now + step * BETWEEN
            robot.world.at(when, lambda: robot.jog("base_link", linear=(0.5, 0.5, 0.0)))
        robot.wait(lambda: not stands(), "it moves")
        robot.wait(stands, "it holds")
        robot.wait(lambda: "has left" in robot.statuses[-1]["message"], "it is told", within)
        worst = robot.chain.joint_names[int(np.max(errors, axis=0).argmax())]
        assert f"constraints.{worst}.trajectory" in robot.statuses[-1]["message"]
        if kind == "target":
            count = len(robot.commands)
            assert stays(robot, 1.0, 0.1)
            assert len(robot.commands) == count, "nothing is sent any more"
