"""The parameter `solver`, over DDS, with the node in a process of its own."""

import pytest
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from robot_bench import down, running


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain, "-p", "solver:=fabrik") as robot:
        yield robot


def choose(robot, solver):
    value = ParameterValue(type=4, string_value=solver)
    parameters = [Parameter(name="solver", value=value)]
    return robot.call(SetParameters, "set_parameters", parameters=parameters).results[0]


def go(robot, target):
    """Send a target; return the status of the arm that has arrived."""
    robot.send("base_link", target)
    robot.wait(lambda: robot.at(target), "the arm is there")
    robot.wait_status(verdict="REACHED", state="ARRIVED")
    return robot.statuses[-1]


def test_the_solver_is_chosen_at_start_and_changed_at_run_time(robot):
    assert int(go(robot, down(0.40, 0.20, 0.40))["passes"]) > 0
    answer = choose(robot, "newton")
    assert not answer.successful
    assert "must be one of descent, fabrik" in answer.reason
    assert "passes" in go(robot, down(0.45, 0.10, 0.35))
    assert choose(robot, "descent").successful
    assert "passes" not in go(robot, down(0.40, 0.20, 0.40))
    assert choose(robot, "fabrik").successful
    assert "passes" in go(robot, down(0.45, 0.10, 0.35))
