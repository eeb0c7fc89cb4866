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

"""Faults of the driver, of its controller, of the network, and of who else is in the graph."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from motions import FAR, NEAR, has_braked, set_off, stands, told_by, unstarted
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from robot_bench import HOME, PATIENCE, URDF, output_of, start_node, stop_node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory
from world import CONTROLLER

from basis_ik.transforms.rigid import RigidTransform


@contextlib.contextmanager
def another(world, name):
    """Give a node that may publish what it likes."""
    node = rclpy.create_node(name, context=world.context)
    try:
        yield node
    finally:
        node.destroy_node()


# With worlds of their own; first, for the world that the others share stays to the end ---------


RELAYED = {
    "joint_states": ("sensor_msgs", "JointState"),
    f"{CONTROLLER}/controller_state": ("control_msgs", "JointTrajectoryControllerState"),
    f"{CONTROLLER}/joint_trajectory": ("trajectory_msgs", "JointTrajectory"),
    "basis_ik/target_pose": ("geometry_msgs", "PoseStamped"),
}
ARM_HEARS = f"{CONTROLLER}/joint_trajectory"


class Relay:
    """A process between node and arm, and before the node's targets; the recorder hears past it."""

    def __init__(self, domain):
        self._domain, self._process = domain, None

    def start(self, loss=0.0, delay=0.0, jitter=0.0):
        """Take the place of the one before."""
        self.stop()
        ways = [f"{topic}=far/{topic}={'/'.join(kind)}" for topic, kind in RELAYED.items()]
        program = str(Path(__file__).with_name("relay.py"))
        self._process = subprocess.Popen(
            [sys.executable, program, str(loss), str(delay), str(jitter), *ways],
            env={**os.environ, "ROS_DOMAIN_ID": str(self._domain)},
        )

    def stop(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE)


@pytest.fixture
def relayed(own_domain):
    def far(topics):
        return [word for topic in topics for word in ("-r", f"{topic}:=far/{topic}")]

    relay = Relay(own_domain)
    node, arm = far(RELAYED.keys() - {ARM_HEARS}), far([ARM_HEARS])
    try:
        relay.start()
        with unstarted(own_domain, node=node, arm=arm) as world:
            world.start()
            world.reset()
            yield world, relay
            relay.start()
            time.sleep(1.0)  # until both sides have found it
            world.ready()
    finally:
        relay.stop()


@pytest.mark.parametrize("kind", ["lost and reordered", "late"])
def test_row_74_a_bad_network(relayed, observed, kind):
    world, relay = relayed
    if kind == "late":
        set_off(world)
        relay.start(delay=0.2)
        world.settled()
        assert not world.at(FAR, 1e-2)
        world.wait_status(state="WAITING")
        held = world.positions
        for _ in range(10):
            world.send("base_link", NEAR)
            time.sleep(0.1)
        assert np.abs(world.positions - held).max() < 1e-3
        observed(f"relay, 200 ms late: HOLD, {world.statuses[-1]['message']}")
        return
    relay.start(loss=0.2, jitter=0.02)
    time.sleep(1.0)
    for target in (FAR, NEAR, FAR):
        end = time.monotonic() + PATIENCE
        while not world.at(target, 1e-3) and time.monotonic() < end:
            world.send("base_link", target)  # one of five gets lost
            time.sleep(0.5)
        assert world.at(target, 1e-3)
    stale = world.statuses[-1].get("refused.OUT_OF_ORDER", "0")
    assert int(stale) > 0, "what came late was told from what did not"
    observed(f"relay, 20 % lost, up to 20 ms late: it arrives; {stale} states OUT_OF_ORDER")


def test_row_76_a_security_policy(own_domain, tmp_path, monkeypatch, observed):
    """Whether the middleware has security or not: keys that are none let nobody in."""
    keys = tmp_path / "keys"
    (keys / "enclaves").mkdir(parents=True)
    for name in (
        "identity_ca.cert.pem", "cert.pem", "key.pem", "permissions_ca.cert.pem",
        "governance.p7s", "permissions.p7s",
    ):  # fmt: skip
        (keys / "enclaves" / name).write_text("none")
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    monkeypatch.setenv("ROS_SECURITY_STRATEGY", "Enforce")
    reasons = []
    for store in (keys, tmp_path / "nothing"):
        monkeypatch.setenv("ROS_SECURITY_KEYSTORE", str(store))
        status, said = output_of(start_node(own_domain))
        assert status == 1
        assert "Traceback" not in said
        reasons.append(said.strip().splitlines()[-1])
        assert reasons[-1].startswith("ik_node: ")
    if "security libraries" in reasons[0]:
        built = "this middleware is built without security"
    else:
        built = "this middleware has security; keys of a real policy were not tried"
    observed(f"with Enforce the node does not start without keys; {built}")


@pytest.fixture
def told(own_domain):
    with told_by(own_domain) as world_and_teller:
        yield world_and_teller


def of_1970(state):
    state.header.stamp = Time(sec=1)
    return state


def test_row_85_joint_states_of_another_time(told, observed):
    world, teller = told
    for kind in ("one for ever", "1970"):
        world.reset()
        set_off(world)
        kept = []

        def first(state, kept=kept):
            kept.append(state)
            return kept[0]

        teller.bend = first if kind == "one for ever" else of_1970
        world.wait_status(state="WAITING")
        assert "STALE" in world.statuses[-1]["message"]
        has_braked(world)
        world.send("base_link", NEAR)
        assert stands(world)
        teller.bend = lambda state: state
        world.ready()
        assert stands(world), "what was asked before is not taken up"
    observed("HOLD; STALE, as if it were silent; no motion by itself afterwards")


def test_row_86_zeros_beside_the_driver(told, observed):
    world, _ = told
    with another(world, "joint_state_publisher") as node:
        zeros = node.create_publisher(JointState, "told/joint_states", 10)
        state = JointState(name=list(world.chain.joint_names), position=[0.0] * 6)
        over = threading.Event()

        def tell():
            while not over.wait(0.011):
                state.header.stamp = world.node.get_clock().now().to_msg()
                zeros.publish(state)

        set_off(world)
        thread = threading.Thread(target=tell)
        thread.start()
        try:
            world.wait_status(state="WAITING")
            world.wait(
                lambda: "/joint_state_publisher, /robot" in world.statuses[-1]["message"],
                "both are named",
            )
            assert world.statuses[-1]["last_refusal"].startswith("JUMP: ")
            world.settled()
            world.send("base_link", NEAR)
            assert stands(world, 1.0)
        finally:
            over.set()
            thread.join()
    world.ready()
    observed("REJECT(JUMP), both publishers named; HOLD, and no command while they contradict")


# In a world that they share --------------------------------------------------------------------


def test_row_70_the_driver_is_killed(world, observed):
    set_off(world)
    world.kill_arm()
    world.wait_status(state="WAITING")
    world.start_arm()
    world.wait(lambda: world.at_joints(HOME), "the driver is back")
    world.wait(lambda: world.statuses[-1]["state"] != "WAITING", "so is the node")
    assert stands(world, 1.0)
    world.ready()
    observed("WAITING; back at home: READY, nothing moves")


def test_row_71_the_node_is_killed(world, observed):
    set_off(world)
    world.process.kill()
    world.process.wait(PATIENCE)
    world.process.output.close()
    world.process = None
    way = has_braked(world)
    world.statuses.clear()
    world.start_node()
    world.description.publish(String(data=URDF))
    world.ready()
    assert stands(world)
    observed(f"the arm brakes on the last window, in {way:.2f} rad")


@pytest.mark.parametrize("rival", ["publisher", "node"])
def test_row_72_a_rival(world, observed, rival):
    if rival == "publisher":
        publisher = world.node.create_publisher(
            JointTrajectory, f"{CONTROLLER}/joint_trajectory", 1
        )

        def end():
            world.node.destroy_publisher(publisher)

        words = "has another publisher, /robot; end it"
    else:
        second = start_node(world.domain)

        def end():
            stop_node(second)

        words = "there is another node /basis_ik; end one of them"
    try:
        world.wait(
            lambda: (
                world.statuses[-1]["level"] == DiagnosticStatus.ERROR
                and words in world.statuses[-1]["message"]
            ),
            "it is noticed",
        )
        world.send("base_link", NEAR)
        assert stands(world)
        if rival == "publisher":
            assert world.transit("deactivate")
            assert not world.transit("activate"), "refused as long as it is there"
    finally:
        end()
    if rival == "publisher":
        world.wait(lambda: world.transit("activate"), "alone, it is activated")
    world.ready()
    assert stands(world)
    observed(f"{rival}: named, nothing moves")


def test_row_73_nobody_takes_the_commands(world, observed):
    here = world.positions
    world.kill_arm()
    world.wait_status(state="WAITING")
    world.wait(lambda: world.state() == "active", "it answers")
    before = int(world.statuses[-1].get("refused.NOT_READY", 0))
    world.send("base_link", FAR)
    world.wait(lambda: int(world.statuses[-1].get("refused.NOT_READY", 0)) > before, "it refuses")
    assert world.quiet()
    world.start_arm(at=here)
    world.ready()
    assert stands(world)
    observed("WAITING, answers, REJECT(NOT_READY); READY once somebody listens")


def test_row_75_a_quality_of_service_that_does_not_fit(world, observed):
    took = []
    volatile = QoSProfile(depth=1, durability=DurabilityPolicy.VOLATILE)
    for kind, topic, qos, policy in (
        (PoseStamped, "basis_ik/target_pose", qos_profile_sensor_data, "RELIABILITY"),
        (String, "robot_description", volatile, "DURABILITY"),
    ):
        with another(world, "camera") as node:
            since = time.monotonic()
            node.create_publisher(kind, topic, qos)
            words = f"a publisher on /{topic} is incompatible: its QoS does not fit, {policy}"
            world.wait(lambda words=words: words in world.log, "its line in the log")
            took.append(time.monotonic() - since)
        (line,) = [line for line in world.log.splitlines() if words in line]
        assert line.startswith("[ERROR]")
    observed(f"an ERROR with topic and policy after {max(took):.1f} s")


def test_row_91_a_frame_comes_to_hang_on_the_tool(world, observed):
    """The frame is then 2 cm off where it was: from there it would run ahead of the tool."""
    world.frames["tool0"], world.frames["box"] = world.tip, lambda: NEAR
    world.send("box", RigidTransform.identity(), stamp=None)
    world.wait(lambda: world.at(NEAR, 1e-3), "the arm is there")
    del world.frames["box"]
    time.sleep(0.1)
    world.place("tool0", "box", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.02, 0.0, 0.0]))
    time.sleep(1.0)
    away = np.linalg.norm(world.tip().translation - NEAR.translation)
    assert away < 1e-3
    world.settled()
    observed(f"the tool stays within {1e3 * away:.1f} mm")
