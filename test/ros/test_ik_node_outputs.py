"""Each command interface drives the arm, with safe commands, over DDS."""

import pytest
from robot_bench import down, running


@pytest.mark.parametrize(
    ("interface", "topic"), [("position", "commands"), ("joint_state", "joint_commands")]
)
def test_the_arm_is_driven_through(domain, interface, topic):
    with running(domain, "-p", f"command_interface:={interface}") as robot:
        robot.send("base_link", down(0.40, 0.20, 0.40))
        robot.wait(lambda: robot.at(down(0.40, 0.20, 0.40)), "the arm is there")
        assert robot.interface == topic
        robot.wait(robot.quiet, "silence")
