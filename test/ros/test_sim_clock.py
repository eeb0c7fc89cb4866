# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Simulated time: missing, slow, standing still, and jumping."""

import time
from threading import Event
from types import SimpleNamespace

import pytest
import rclpy
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock

from basis_ik.process import still_compiling
from basis_ik.ros import sim_clock
from basis_ik.ros.boundary import present
from basis_ik.ros.convert import time_message
from basis_ik.ros.demo import checker
from basis_ik.ros.demo.legs_motion import LegsMotion
from basis_ik.ros.demo.moving_point import MovingPoint
from basis_ik.ros.frames.frames_node import FramesNode
from basis_ik.ros.frames.transform_nodes import TransformNodes
from basis_ik.ros.sim_clock import (
    CLOCK_MISSING,
    ClockWatch,
    LoopClock,
    clock_missing,
    jump_text,
    loop_time,
)


@pytest.fixture
def make(monkeypatch):
    """Create nodes that hear nobody."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    context = rclpy.Context()
    context.init()
    nodes = []

    def make(simulated):
        given = [Parameter("use_sim_time", value=simulated)]
        nodes.append(rclpy.create_node("watched", context=context, parameter_overrides=given))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    context.shutdown()


def receive_time(node, seconds):
    """Let a node receive a time on /clock."""
    (clock,) = [each for each in node.subscriptions if each.topic_name == "/clock"]
    clock.callback(Clock(clock=time_message(round(1e9 * seconds))))


def test_a_missing_clock_and_its_arrival_are_logged_once(make, capfd):
    node = make(simulated=True)
    watch = ClockWatch(node)
    for _ in range(3):
        watch.check()
    assert clock_missing(node)
    assert capfd.readouterr().err.count(CLOCK_MISSING) == 1
    receive_time(node, 5.0)
    assert not clock_missing(node)
    for _ in range(3):
        watch.check()
    error = capfd.readouterr().err
    assert error.count("receiving the time on /clock") == 1
    assert CLOCK_MISSING not in error


def test_leaving_a_missing_simulated_time_is_logged_as_such(make, capfd):
    node = make(simulated=True)
    watch = ClockWatch(node)
    watch.check()
    node.set_parameters([Parameter("use_sim_time", value=False)])
    watch.check()
    error = capfd.readouterr().err
    assert "receiving the time on the system clock" in error
    assert "on /clock" not in error.replace(CLOCK_MISSING, "")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "the clock was replaced"),
        (4e-4, "the clock has jumped by 0.0004 s"),
        (-2e-9, "the clock has jumped by -2e-09 s"),
        (1.7e9, "the clock has jumped by 1700000000.000 s"),
    ],
)
def test_a_jump_has_a_length_that_is_not_zero(seconds, text):
    assert jump_text(seconds) == text


def test_a_node_with_system_time_logs_nothing(make, capfd):
    node = make(simulated=False)
    ClockWatch(node).check()
    assert not clock_missing(node)
    assert capfd.readouterr().err == ""


# The loop's time -----------------------------------------------------------------------------

PERIOD = 0.01


@pytest.fixture
def simulation(make):
    """A loop clock on simulated time, which `at` sets [s]; `jumps` are the reported ones."""
    node, jumps = make(simulated=True), []
    clock = LoopClock(node, PERIOD, jumps.append)

    def periods():
        return clock.periods(present(node.get_clock()).clock)

    def at(seconds):
        receive_time(node, seconds)

    return SimpleNamespace(node=node, clock=clock, at=at, jumps=jumps, periods=periods)


def test_periods_are_due_as_simulated_time_advances(simulation):
    at = simulation.at
    assert simulation.periods() == 0
    assert simulation.clock.standstill() == CLOCK_MISSING
    at(5.0)
    assert simulation.periods() == 0
    due = []
    for k in range(1, 11):
        at(5.0 + 0.002 * k)
        due.append(simulation.periods())
    assert due == [0, 0, 0, 0, 1, 0, 0, 0, 0, 1], "at a fifth of real time"
    at(5.07)
    assert simulation.periods() == 5, "a slow clock"
    assert simulation.periods() == 0, "and until it comes again"
    at(5.97)
    assert simulation.periods() == 10, "at most"
    at(5.98)
    assert simulation.periods() == 1, "what was left out is not made up for"


def test_jumps_of_simulated_time_are_reported(simulation):
    at, jumps = simulation.at, simulation.jumps
    at(100.0)
    assert jumps == [pytest.approx(100.0)], "the first time that there is"
    at(100.9)
    assert len(jumps) == 1
    at(100.8)
    assert jumps[1:] == [pytest.approx(-0.1)]
    assert simulation.periods() == 0
    at(3700.8)
    assert jumps[2:] == [pytest.approx(3600.0)]
    assert simulation.periods() == 0, "no burst"
    simulation.node.set_parameters([Parameter("use_sim_time", value=False)])
    assert jumps[3:] == [0.0], "another clock"
    assert simulation.periods() == 1


def test_the_start_of_time_is_reported_even_at_zero(simulation):
    simulation.periods()
    simulation.at(0.004)
    assert simulation.periods() == 0
    assert simulation.jumps == [pytest.approx(0.004)]
    simulation.at(0.014)
    assert simulation.periods() == 1
    assert len(simulation.jumps) == 1


def test_a_standstill_is_reported_after_a_while(simulation, monkeypatch):
    simulation.at(5.0)
    simulation.periods()
    assert simulation.clock.standstill() is None
    monkeypatch.setattr(sim_clock, "SIM_CLOCK", sim_clock.SIM_CLOCK._replace(standstill=0.0))
    assert "5.000 s" in simulation.clock.standstill()


def test_steps_of_system_time_are_reported(monkeypatch):
    now, jumps = [1_000_000_000_000], []
    clock = SimpleNamespace(
        ros_time_is_active=False,
        now=lambda: SimpleNamespace(nanoseconds=now[0]),
        create_jump_callback=lambda *_, **__: None,
    )
    node = SimpleNamespace(get_clock=lambda: clock)
    steady = [0]
    monkeypatch.setattr(time, "monotonic_ns", lambda: steady[0])
    loop_clock = LoopClock(node, PERIOD, jumps.append)
    for step in (0.0, 0.01, 3.0, 0.01):
        steady[0] += round(1e9 * step)
        now[0] += round(1e9 * step)
        assert loop_clock.periods(now[0]) == 1
    assert jumps == []
    for step in (-3600.0, 5.0):
        now[0] += round(1e9 * step)
        assert loop_clock.periods(now[0]) == 1
        assert loop_clock.periods(now[0]) == 1
        assert jumps[-1] == pytest.approx(step)
    assert len(jumps) == 2
    assert loop_clock.standstill() is None
    assert abs(loop_time(node) - time.monotonic()) < 1.0


FRAMES = ("constraints:=[foot]", "foot.type:=fabrik", "foot.target:=c", "foot.chain:=[a, b]")
OTHERS = {
    "frames_node": (FramesNode, FRAMES),
    "moving_point": (lambda: MovingPoint(Event()), ()),
    "legs_motion": (LegsMotion, ()),
    "transform_nodes": (TransformNodes, ("nodes:=[a]",)),
}


@pytest.mark.parametrize(("kind", "given"), OTHERS.values(), ids=OTHERS)
def test_other_nodes_report_a_missing_clock(monkeypatch, capfd, kind, given):
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    words = [word for each in ("use_sim_time:=true", *given) for word in ("-p", each)]
    rclpy.init(args=["--ros-args", *words], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = kind()
        (watch,) = [t for t in node.timers if t.callback.__qualname__ == "ClockWatch.check"]
        watch.callback()
        node.destroy_node()
    finally:
        rclpy.shutdown()
        while still_compiling():  # a program that ends meanwhile would end pytest
            time.sleep(0.01)
    assert capfd.readouterr().err.count(CLOCK_MISSING) == 1


def test_a_timeout_without_a_robot_names_the_missing_clock(complaint, monkeypatch):
    monkeypatch.setattr(checker, "START_TIMEOUT", 0.3)
    line = complaint("moving_point", "use_sim_time:=true")
    assert line == f"moving_point: {CLOCK_MISSING}"
    assert "no robot after" in complaint("moving_point")
