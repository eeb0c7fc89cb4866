# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node's lifecycle in motion; more of it is in test/faults/test_bench_life.py."""

from bench import down, running
from std_srvs.srv import SetBool, Trigger

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)


def test_cleanup_in_motion_brakes_and_the_node_can_be_configured_again():
    with running() as robot:
        robot.set_off(FAR)
        for name in ("deactivate", "cleanup"):
            assert robot.transit(name)
        assert robot.state() == "unconfigured"
        assert not [each for each in robot.node.subscriptions if "target" in each.topic_name]
        assert robot.rests()
        assert not robot.at(FAR, 1e-2)
        for name in ("configure", "activate"):
            assert robot.transit(name)
        robot.wait_status(state="READY")
        robot.reach(NEAR, 1e-9)


def test_a_node_that_was_cleaned_up_after_a_stop_without_joint_states_starts_anew():
    with running() as robot:
        robot.set_off(FAR)
        robot.publishing = False
        robot.run(0.6)
        assert robot.call(Trigger, "stop").success
        for name in ("deactivate", "cleanup", "configure", "activate"):
            assert robot.transit(name)
        robot.wait_status(state="STOPPED")
        robot.publishing = True
        assert robot.call(SetBool, "enable", data=True).success
        robot.wait_status(state="READY")
        robot.reach(NEAR, 1e-9)
