# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The gripper's actions with a server of their own, and the client, each over DDS."""

import threading

import pytest
from control_msgs.action import GripperCommand, ParallelGripperCommand
from gripper_stand_in import Controller
from robot_bench import PATIENCE, running

from basis_ik.client import Arm, StoppedError


@pytest.mark.parametrize(
    ("interface", "kind"),
    [
        ("gripper_command", GripperCommand),
        ("parallel_gripper_command", ParallelGripperCommand),
    ],
)
def test_the_client_closes_it_on_something_and_a_stop_ends_its_way(domain, interface, kind):
    words = [f"gripper.interface:={interface}", "gripper.closed:=0.01"]
    controller = Controller(domain, kind)
    try:
        with (
            running(domain, *(word for each in words for word in ("-p", each))) as robot,
            Arm(domain_id=domain) as arm,
        ):
            controller.done.set()
            robot.wait(
                lambda: arm.status.values.get("gripper") == "", "a gripper without a command"
            )
            assert arm.grip(0.0, timeout=PATIENCE) == "STALLED"
            position = controller.commands[0].position
            assert (position if isinstance(position, float) else position[0]) == 0.01
            controller.done.clear()
            controller.asked.clear()
            stopper = threading.Thread(target=lambda: controller.asked.wait() and arm.stop())
            stopper.start()
            with pytest.raises(StoppedError, match="stopped before it was open"):
                arm.grip(1.0, timeout=PATIENCE)
            stopper.join(PATIENCE)
    finally:
        controller.close()
