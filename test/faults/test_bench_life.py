# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of the managed life, and an exception in it."""

import gc

import numpy as np
import pytest
from bench import PERIOD, URDF
from bench_arm import FAR, NEAR, arrives, brakes, enable, stands
from geometry_msgs.msg import PoseStamped
from std_msgs.msg import String
from std_srvs.srv import Trigger

from basis_ik.arm.arm import Arm


def transit(robot, *names):
    for name in names:
        assert robot.transit(name)


def test_row_62_an_exception_in_a_callback(robot, observed, monkeypatch):
    def failing(*_, **__):
        raise ZeroDivisionError("in a callback")

    robot.set_off(FAR, 0.4)
    with monkeypatch.context() as defects:
        defects.setattr(Arm, "take_pose", failing)
        robot.send("base_link", NEAR)
        robot.run(2 * PERIOD)
    assert robot.state() == "inactive"
    brakes(robot)
    robot.send("base_link", NEAR)
    assert stands(robot)
    (failure,) = [line for line in robot.log.lines() if "Traceback" in line]
    assert failure.count("ZeroDivisionError: in a callback") == 1
    robot.log.clear()
    transit(robot, "activate")
    robot.wait_status(state="READY")
    observed("braked, inactive until activated; one traceback")


def test_row_66_a_target_while_inactive(robot, observed):
    transit(robot, "deactivate")
    robot.send("base_link", FAR)
    robot.look("base_link", (0.9, -0.5, 0.7))
    robot.jog("base_link", linear=(0.1, 0.0, 0.0))
    robot.targets.publish(PoseStamped())  # no frame, no quaternion: would be refused
    robot.look("/", (0.0, 0.0, 0.0))
    robot.jog("/")
    assert not robot.call(Trigger, "home").success
    assert stands(robot)
    transit(robot, "activate")
    assert stands(robot, 1.0), "it is not replayed"
    assert not any(key.startswith("refused.") for key in robot.statuses[-1])
    observed("ignored; nothing moves after activate")


def test_row_67_deactivated_in_mid_motion(robot, observed):
    robot.set_off(FAR, 0.4)
    transit(robot, "deactivate")
    assert robot.state() == "inactive"
    way = brakes(robot)
    robot.positions = robot.positions + np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.2])
    transit(robot, "activate")
    assert stands(robot)
    robot.send("base_link", NEAR)
    arrives(robot, NEAR)  # the robot judges whether it began where it was measured
    observed(f"braked after {way:.2f} rad; began anew where the arm had been moved to")


def test_row_68_twenty_lives(robot, observed):
    def entities():
        node = robot.node
        kinds = node.subscriptions, node.services, node.clients, node.timers, node.publishers
        return [len(list(kind)) for kind in kinds]

    def objects():
        robot.loop.spinner.forget()  # which keeps what has ended
        gc.collect()
        return sum(str(type(each).__module__).startswith("basis_ik") for each in gc.get_objects())

    def live():
        transit(robot, "deactivate", "cleanup", "configure", "activate")

    for _ in range(2):
        live()
    before, count = entities(), objects()
    for _ in range(18):
        live()
    assert entities() == before
    grown = objects() - count
    assert grown <= 0
    robot.wait_status(state="READY")
    observed(f"the same entities, and {grown:+} of {count} objects, after 18 of 20 lives")


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.2, 0.3])
def test_row_81_activated_while_it_brakes(robot, observed, pause):
    robot.set_off(FAR, 0.4)
    here = robot.positions
    transit(robot, "deactivate")
    robot.run(pause)
    transit(robot, "activate")
    brakes(robot)
    robot.wait_status(state="READY")
    assert stands(robot), "nothing is replayed"
    way = np.abs(robot.positions - here).max()
    observed(f"{pause:.1f} s later: braked in {way:.2f} rad, then active")


OTHER = URDF.replace('name="ur5e"', 'name="other"', 1)
END, BEGIN = ("deactivate", "cleanup"), ("configure", "activate")


@pytest.mark.parametrize(
    "order",
    [
        ("description", END, BEGIN),
        (END, "description", BEGIN),
        (END, BEGIN, "description"),
        ("description", ("deactivate",), ("activate",)),
    ],
    ids=["before", "between", "after", "inactive"],
)
def test_row_88_stopped_is_stopped(robot, observed, order):
    robot.set_off(FAR, 0.4)
    assert robot.call(Trigger, "stop").success
    brakes(robot)
    for action in order:
        if action == "description":
            robot.description.publish(String(data=OTHER))
            robot.run(1.0)
        else:
            transit(robot, *action)
    robot.wait_status(state="STOPPED")
    robot.send("base_link", NEAR)
    assert stands(robot, 1.0)
    assert robot.statuses[-1]["state"] == "STOPPED"
    assert any("ready: other" in line for line in robot.log.lines())
    enable(robot)
    assert stands(robot), "and then it waits for a target"
    names = ", ".join(each if isinstance(each, str) else "+".join(each) for each in order)
    observed(f"{names}: STOPPED until ~/enable")
