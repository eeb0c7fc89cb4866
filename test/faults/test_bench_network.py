# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of the network, and a node without a processor."""

import pytest
from bench_arm import FAR, NEAR, arrives, refusals, robot_of, stands
from world import MILLISECOND

LAST = 20 * MILLISECOND  # the longest delay


def shuffled(robot, topic):
    """Let a topic's messages get lost, and overtake each other."""
    world, deliver = robot.world, topic.link.send

    def send(work):
        if world.random.random() > 0.2:
            world.at(world.now + world.random.randint(0, LAST), lambda: deliver(work))

    topic.link.send = send


@pytest.mark.parametrize("kind", ["lost and reordered", "late", "too late"])
def test_row_74_a_bad_network(observed, kind):
    with robot_of("-p", "tracking_lag:=0.5") as robot:
        robot.arm.bound = 1.1  # where a window is lost, the one before brakes for a moment
        topics = robot.states, robot.controller_states, robot.targets
        if kind == "lost and reordered":
            lost_and_reordered(robot, topics, observed)
            return
        assert robot.set_parameter("speed_override", 0.2).successful
        robot.set_off(FAR, 0.4)
        delay = (200 if kind == "late" else 600) * MILLISECOND
        for topic in topics:
            topic.link.delay = (delay, delay)
        robot.wait_status(state="WAITING")
        robot.wait(robot.rests, "silence")
        assert kind == "late" or not robot.at(FAR, 1e-2)
        for _ in range(10):
            robot.send("base_link", NEAR)
            robot.run(0.1)
        assert stands(robot)
        observed(f"{delay // MILLISECOND} ms late: {robot.statuses[-1]['message']}")
        for topic in topics:
            topic.link.delay = (0, 0)
        robot.run(1.0)
        robot.wait_status(state="READY")
        assert robot.set_parameter("speed_override", 1.0).successful


def lost_and_reordered(robot, topics, observed):
    plain = [topic.link.send for topic in topics]
    for topic in topics:
        shuffled(robot, topic)
    robot.commanding.loss, robot.commanding.delay = 0.2, (0, LAST)
    for target in (FAR, NEAR, FAR):
        for _ in range(10):  # one of five gets lost
            robot.send("base_link", target)
            robot.run(0.5)
        assert robot.at(target, 1e-6)
    stale = refusals(robot, "OUT_OF_ORDER")
    assert stale > 100, "what came late was told from what did not"
    observed(f"20 % lost, up to 20 ms late: it arrives; {stale} messages OUT_OF_ORDER")
    for topic, send in zip(topics, plain, strict=True):
        topic.link.send = send
    robot.commanding.loss, robot.commanding.delay = 0.0, (0, 0)
    robot.run(1.0)


def missed_periods(robot):
    """Return the number of missed periods that the node has reported last."""
    (loop,) = [each for each in robot.heard["/diagnostics"].status if "control loop" in each.name]
    return int({pair.key: pair.value for pair in loop.values}["missed_periods"])


def test_row_78_no_processor(robot, observed):
    robot.run(1.0)
    before = missed_periods(robot)
    robot.send("base_link", FAR)
    for k in range(10):
        robot.boundary.stalls.add(robot.world.now + k * 150 * MILLISECOND, 0.05)
    robot.run(3.0)
    arrives(robot, FAR)
    counted = missed_periods(robot) - before
    observed(f"10 pauses of 50 ms: {counted} periods counted; it arrives")
    assert 49 <= counted <= 50
