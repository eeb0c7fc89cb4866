# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The bench itself: time, order, delays, stalls, and runs that repeat."""

import late_messages
import numpy as np
import pytest
from bench import CYCLE, PERIOD, Arm, down, running
from builtin_interfaces.msg import Duration, Time
from late_messages import HOME, NAMES, RECORDINGS, WINDOWS
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from world import MILLISECOND, SECOND, Link, Stalls, World

from basis_ik.robot.robot import RobotModel

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)


def test_events_run_in_the_order_of_their_times_then_of_their_setting():
    world, seen = World(), []
    for when, name in ((3, "c"), (1, "a"), (3, "d"), (2, "b")):
        world.at(when, lambda name=name: seen.append((world.now, name)))
    world.advance(10)
    assert seen == [(1, "a"), (2, "b"), (3, "c"), (3, "d")]
    assert world.now == 10


def test_time_stands_where_an_end_was_reached():
    world, seen = World(), []
    world.every(4, lambda: seen.append(world.now))
    world.advance(100, ends=lambda: len(seen) == 3)
    assert (world.now, seen) == (8, [0, 4, 8])


def arrivals(count, **how):
    """Send messages a millisecond apart; return number and time of those that arrive [ms]."""
    world = World(seed=5)
    link, seen = Link(world), []
    for name, value in how.items():
        setattr(link, name, value)
    for k in range(count):
        world.at(
            k * MILLISECOND,
            lambda k=k: link.send(lambda: seen.append((k, world.now / MILLISECOND))),
        )
    world.advance(SECOND)
    return seen


def test_messages_keep_their_order_however_long_each_takes():
    seen = arrivals(200, delay=(2 * MILLISECOND, 50 * MILLISECOND))
    assert [k for k, _ in seen] == list(range(200))
    delays = [when - k for k, when in seen]
    assert min(delays) >= 2.0
    assert max(delays) <= 50.0
    assert len(set(delays)) > 20


def test_messages_get_lost_and_are_doubled_as_often_as_asked():
    assert len(arrivals(1000, loss=0.3)) == pytest.approx(700, abs=50)
    assert len(arrivals(1000, doubling=0.3)) == pytest.approx(1300, abs=50)


def test_what_is_held_comes_at_once():
    world = World()
    link, seen = Link(world), []
    link.hold(0.1)
    for when in (0, 40 * MILLISECOND, 150 * MILLISECOND):
        world.at(when, lambda: link.send(lambda: seen.append(world.now)))
    world.advance(SECOND)
    assert seen == [SECOND // 10, SECOND // 10, 150 * MILLISECOND]


def test_a_part_that_stands_still_goes_on_afterwards():
    world = World()
    stalls = Stalls(world)
    stalls.add(100, 50e-9)
    ends = []
    for when in (99, 100, 149, 150):
        world.advance(when)
        ends.append(stalls.end())
    assert ends == [99, 150, 150, 150]


def disturbed(seed):
    """Run a motion with delays, losses and stalls; return all outputs and statuses."""
    with running(seed=seed, lag=0.03) as robot:
        robot.commanding.delay, robot.commanding.loss = (0, 20 * MILLISECOND), 0.1
        robot.states.link.delay, robot.states.link.doubling = (0, 10 * MILLISECOND), 0.1
        robot.boundary.stalls.add(robot.world.now + SECOND // 5, 0.05)
        robot.arm.taking.add(robot.world.now + SECOND // 3, 0.05)
        robot.send("base_link", NEAR)
        robot.run(2.0)
        robot.arm.complaints.clear()
        return np.array([q for _, q in robot.arm.outputs]).tobytes(), repr(robot.statuses)


def test_a_run_is_repeated_to_the_bit():
    first = disturbed(7)
    assert disturbed(7) == first
    assert disturbed(8) != first


def test_the_arm_brakes_while_its_node_stands_still():
    with running() as robot:
        robot.set_off(FAR)
        begun = robot.world.now
        robot.boundary.stalls.add(begun, 1.0)
        robot.run(0.5)
        assert robot.world.now >= begun + SECOND
        late = [c for c in robot.commands if begun + SECOND * PERIOD < c.time < begun + SECOND]
        assert late == []
        speeds = np.diff([q for when, q in robot.arm.outputs if when < begun + SECOND], axis=0)
        assert np.abs(speeds[:50]).max() > 0.0
        assert np.abs(speeds[-50:]).max() == 0.0
        robot.reach(FAR, 1e-9)


def test_a_controller_that_takes_nothing_for_a_while_then_takes_the_newest():
    with running() as robot:
        robot.set_off(FAR)
        robot.arm.taking.add(robot.world.now, 0.1)
        robot.send("base_link", NEAR)
        robot.run(3.0)
        robot.arm.complaints.clear()  # windows were entered late
        robot.reach(NEAR, 1e-9)


def test_cycles_that_are_left_out_count_in_the_next_one():
    with running() as robot:
        robot.set_off(FAR)
        robot.arm.updating.add(robot.world.now, 0.02)
        robot.run(0.1)
        times = np.diff([when for when, _ in robot.arm.outputs])
        assert sorted(set(times)) == [CYCLE, 20 * MILLISECOND]
        robot.arm.complaints.clear()  # the output has caught up in one cycle
        robot.reach(FAR, 1e-9)


ONE_JOINT = """<robot name="one"><link name="base"/><link name="tip"/>
<joint name="j" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
  <limit lower="-6" upper="6" velocity="2" effort="1"/></joint></robot>"""
EPOCH = 1000 * SECOND


def message(window, since):
    """Return a recorded window as a message, its times as of a moment [ns]."""

    def split(kind, time):
        seconds, nanoseconds = divmod(time, SECOND)
        return kind(sec=seconds, nanosec=nanoseconds)

    stamp, points = window
    trajectory = JointTrajectory(joint_names=["j"])
    trajectory.header.stamp = split(Time, since + stamp)
    for time, *state in points:
        position, velocity, acceleration = ([value] for value in state)
        trajectory.points.append(
            JointTrajectoryPoint(
                positions=position,
                velocities=velocity,
                accelerations=acceleration,
                time_from_start=split(Duration, time),
            )
        )
    return trajectory


# Its updates are never caught up, and it has the controller's default of where a trajectory begins.
REPLAYED = [
    (name, *recording)
    for name, recording in zip(NAMES, RECORDINGS, strict=True)
    if not (recording[0]["catch_up"] or recording[0]["desired"])
]


@pytest.mark.parametrize(
    ("case", "rule"), [row[1:] for row in REPLAYED], ids=[row[0] for row in REPLAYED]
)
def test_an_arm_to_which_messages_come_late_moves_as_the_real_one_did(case, rule):
    world, begin = World(), 5 * CYCLE
    arm = Arm(
        world,
        RobotModel.from_urdf(ONE_JOINT).chain(),
        HOME,
        lambda: EPOCH + world.now,
        lag=case["lag"],
        replaces=rule == "true",
        path=case["path"],
    )
    for stalls, part in ((case["stalls"], arm.updating), (case["deaf"], arm.taking)):
        for since, until in stalls:
            part.add(begin + since, (until - since) / SECOND)
    for when, factor in case["scaling"]:
        world.at(begin + when, lambda f=factor: setattr(arm.controller, "speed_scaling", f))
    for when, index in case.get("arrived", case["taken"]):
        window = message(WINDOWS[case["windows"]][index], EPOCH + begin)
        world.at(begin + when, lambda window=window: arm.take(window))
    world.advance(begin + (case["cycles"] - 1) * CYCLE)
    outputs = [output[0] for when, output in arm.outputs if when >= begin]
    recorded = late_messages.recorded(case, rule)[0]
    np.testing.assert_allclose(outputs, recorded, rtol=0, atol=1e-6)
