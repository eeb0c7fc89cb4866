# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The node's lifecycle over DDS: all transitions, many times, and another robot meanwhile."""

import time
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from robot_bench import URDF, down, running
from std_msgs.msg import String
from std_srvs.srv import Trigger

FAR = down(-0.40, -0.30, 0.40)
NEAR = down(0.40, 0.20, 0.40)


@pytest.fixture(scope="module")
def bench(domain):
    with running(domain) as robot:
        yield robot


@pytest.fixture
def robot(bench):
    """The robot with the node active, the arm at rest at its home."""
    if bench.state() == "unconfigured":
        assert bench.transit("configure")
    if bench.state() == "inactive":
        assert bench.transit("activate")
    bench.go_home()
    yield bench
    complaints, bench.complaints = bench.complaints, []
    assert complaints == []


def test_deactivation_in_motion_brakes_and_ends_the_commands(robot):
    robot.set_off(FAR)
    assert robot.transit("deactivate")
    assert robot.state() == "inactive"
    robot.wait(robot.no_commands, "silence")
    assert not robot.at(FAR, 1e-2)
    last = np.diff(robot.commands[-5:], axis=0)
    assert np.array_equal(last, np.zeros_like(last)), "it came to rest before it was silent"


def test_targets_received_while_inactive_are_not_replayed(robot):
    assert robot.transit("deactivate")
    robot.send("base_link", FAR)
    robot.look("base_link", (0.9, -0.5, 0.7))
    robot.jog("base_link", linear=(0.1, 0.0, 0.0))
    assert not robot.call(Trigger, "home").success
    robot.targets.publish(PoseStamped())  # no frame, no quaternion: would be refused
    robot.look("/", (0.0, 0.0, 0.0))
    robot.jog("/")
    time.sleep(0.3)
    seen = len(robot.statuses)
    assert robot.transit("activate")
    assert robot.no_commands(0.5)
    robot.wait(lambda: len(robot.statuses) > seen, "a status")
    refused = {key for key in robot.statuses[-1] if key.startswith("refused.")}
    assert refused <= {"refused.STALE"}, "joint states are late where others have the processor"
    robot.reach(NEAR, "it follows targets again")


def test_after_reactivation_motion_starts_at_the_measured_positions(robot):
    robot.set_off(FAR)
    assert robot.transit("deactivate")
    robot.wait(robot.no_commands, "silence")
    robot.positions = robot.positions + 0.3
    assert robot.transit("activate")
    robot.settle()
    robot.go(NEAR)  # the bench objects to any jump


def test_cleanup_in_motion_brakes_and_the_node_can_be_configured_again(robot):
    robot.set_off(FAR)
    assert robot.transit("deactivate")
    assert robot.transit("cleanup")
    assert robot.state() == "unconfigured"
    last = np.diff(robot.commands[-5:], axis=0)
    assert np.array_equal(last, np.zeros_like(last))
    assert robot.targets.get_subscription_count() == 0
    assert robot.transit("configure")
    assert robot.transit("activate")
    robot.settle()
    robot.go(NEAR)


def entities(robot):
    """Count what the node has in the graph."""
    node = robot.node
    by_node = (
        node.get_publisher_names_and_types_by_node,
        node.get_subscriber_names_and_types_by_node,
        node.get_service_names_and_types_by_node,
        node.get_client_names_and_types_by_node,
    )
    return [sorted(name for name, _ in ask("basis_ik", "/")) for ask in by_node]


def memory(process):
    """Resident memory [kB]."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def test_a_hundred_lifecycles_leak_nothing(robot):
    def live():
        assert robot.transit("deactivate")
        assert robot.transit("cleanup")
        assert robot.transit("configure")
        assert robot.transit("activate")

    for _ in range(10):
        live()
    before, size = entities(robot), memory(robot.process)
    for _ in range(90):
        live()
    robot.wait(lambda: entities(robot) == before, "the same entities as before")
    assert memory(robot.process) - size < 20_000
    robot.reach(NEAR, "it follows targets after all that")


def test_the_same_description_again_changes_nothing(robot):
    robot.set_off(FAR)
    robot.description.publish(String(data=URDF))
    robot.wait(lambda: robot.at(FAR), "the arm goes on")


def test_a_malformed_description_in_motion_is_refused(robot):
    robot.set_off(FAR)
    for bad in (URDF[: len(URDF) // 2], "", "<!DOCTYPE robot><robot name='x'/>", "nonsense"):
        robot.description.publish(String(data=bad))
    robot.wait(lambda: robot.at(FAR), "the arm goes on")


def test_a_new_description_is_used_at_rest_with_fresh_states(robot):
    robot.set_off(FAR)
    robot.publishing = False
    slower = URDF.replace('velocity="3.14', 'velocity="1.57')
    assert slower != URDF
    robot.description.publish(String(data=slower))
    robot.wait_status(state="WAITING")  # no joint state of the new robot yet
    robot.wait(robot.no_commands, "silence")
    assert not robot.at(FAR, 1e-2)
    robot.send("base_link", NEAR)
    assert robot.no_commands(), "no command before a joint state"
    robot.publishing = True
    robot.settle()
    robot.go(NEAR)
    robot.description.publish(String(data=URDF))
    robot.wait_status(state="READY")
