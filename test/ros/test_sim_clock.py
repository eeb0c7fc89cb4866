"""Simulated time that is asked for and does not come is mentioned, once in the log."""

import time

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.parameter import Parameter
from robot_bench import URDF, Robot, start_node, stop_node, wait_until_said
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from basis_ik.ros import checker
from basis_ik.ros.sim_clock import CLOCK_MISSING, ClockWatch, clock_missing


@pytest.fixture
def make(domain):
    context = rclpy.Context()
    context.init(domain_id=domain)
    nodes = []

    def make(simulated):
        given = [Parameter("use_sim_time", value=simulated)]
        nodes.append(rclpy.create_node("watched", context=context, parameter_overrides=given))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    context.shutdown()


def test_it_is_said_once_that_it_is_missing_and_that_it_has_come(make, capfd):
    node = make(simulated=True)
    watch = ClockWatch(node)
    for _ in range(3):
        watch.look()
    assert clock_missing(node)
    assert capfd.readouterr().err.count(CLOCK_MISSING) == 1
    clock = node.create_publisher(Clock, "/clock", 1)
    message = Clock()
    message.clock.sec = 5
    executor = rclpy.executors.SingleThreadedExecutor(context=node.context)
    end = time.monotonic() + 20.0
    while clock_missing(node) and time.monotonic() < end:
        clock.publish(message)
        rclpy.spin_once(node, executor=executor, timeout_sec=0.05)
    for _ in range(3):
        watch.look()
    error = capfd.readouterr().err
    assert error.count("the time has come on /clock") == 1
    assert CLOCK_MISSING not in error


def test_nothing_is_said_by_a_node_that_goes_by_the_systems_time(make, capfd):
    node = make(simulated=False)
    ClockWatch(node).look()
    assert not clock_missing(node)
    assert capfd.readouterr().err == ""


def test_ik_node_says_so_in_its_log_and_in_diagnostics_with_a_robot_and_without(domain):
    robot = Robot(domain)
    heard = []
    robot.node.create_subscription(DiagnosticArray, "/diagnostics", heard.append, 10)

    def told(name):
        """Tell whether a status of that name warns of it."""
        statuses = [each for message in heard for each in message.status if name in each.name]
        warned = [each for each in statuses if CLOCK_MISSING in each.message]
        return any(each.level == DiagnosticStatus.WARN for each in warned)

    process = start_node(domain, "-p", "use_sim_time:=true")
    wait_until_said(process, CLOCK_MISSING)
    robot.wait(lambda: told("basis_ik: start"), "diagnostics that warn of it")
    robot.description.publish(String(data=URDF))
    robot.wait(lambda: told("basis_ik: control loop"), "diagnostics of the loop that warn of it")
    code, output = stop_node(process)
    robot.close()
    assert code == 0
    assert output.count(CLOCK_MISSING) == 1


FRAMES = ("-p", "constraints:=[foot]", "-p", "foot.type:=fabrik", "-p", "foot.target:=c")
OTHERS = {
    "frames_node": (*FRAMES, "-p", "foot.chain:=[a, b]"),
    "moving_point": (),
    "legs_motion": (),
}


@pytest.mark.parametrize(("program", "given"), OTHERS.items(), ids=OTHERS)
def test_other_nodes_say_so_too(domain, program, given):
    module = ("-m", "basis_ik.ros.programs", program)
    process = start_node(domain, *given, "-p", "use_sim_time:=true", program=module)
    wait_until_said(process, CLOCK_MISSING)
    stop_node(process)


def test_who_waits_in_vain_for_a_robot_names_the_missing_clock(complaint, monkeypatch):
    monkeypatch.setattr(checker, "START_PATIENCE", 0.3)
    line = complaint("moving_point", "use_sim_time:=true")
    assert line == f"moving_point: {CLOCK_MISSING}"
    assert "no robot after" in complaint("moving_point")
