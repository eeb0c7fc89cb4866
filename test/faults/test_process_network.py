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

"""Faults of the driver, its controller, the network, and other nodes in the graph."""

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
from motions import FAR, NEAR, has_braked, set_off, stands, unstarted, with_state_relay
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from rig import CONTROLLER
from robot_bench import HOME, PATIENCE, URDF, output_of, start_node, stop_node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from basis_ik.transforms.rigid import RigidTransform


@contextlib.contextmanager
def another(rig, name):
    """Yield a node for arbitrary messages."""
    node = rclpy.create_node(name, context=rig.context)
    try:
        yield node
    finally:
        node.destroy_node()


# With rigs of their own; first, for the rig that the others share stays to the end ---------


RELAYED = {
    "joint_states": ("sensor_msgs", "JointState"),
    f"{CONTROLLER}/controller_state": ("control_msgs", "JointTrajectoryControllerState"),
    f"{CONTROLLER}/joint_trajectory": ("trajectory_msgs", "JointTrajectory"),
    "basis_ik/target_pose": ("geometry_msgs", "PoseStamped"),
}
ARM_HEARS = f"{CONTROLLER}/joint_trajectory"


class Relay:
    """A relay between node and arm, and before the node's targets; the recorder bypasses it."""

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
        with unstarted(own_domain, node=node, arm=arm) as rig:
            rig.start()
            rig.reset()
            yield rig, relay
            relay.start()
            time.sleep(1.0)  # until both sides have found it
            rig.ready()
    finally:
        relay.stop()


@pytest.mark.parametrize("kind", ["lost and reordered", "late"])
def test_row_74_a_bad_network(relayed, observed, kind):
    rig, relay = relayed
    if kind == "late":
        set_off(rig)
        relay.start(delay=0.2)
        rig.settled()
        assert not rig.at(FAR, 1e-2)
        rig.wait_status(state="WAITING")
        held = rig.positions
        for _ in range(10):
            rig.send("base_link", NEAR)
            time.sleep(0.1)
        assert np.abs(rig.positions - held).max() < 1e-3
        observed(f"relay, 200 ms late: HOLD, {rig.statuses[-1]['message']}")
        return
    relay.start(loss=0.2, jitter=0.02)
    time.sleep(1.0)
    for target in (FAR, NEAR, FAR):
        end = time.monotonic() + PATIENCE
        while not rig.at(target, 1e-3) and time.monotonic() < end:
            rig.send("base_link", target)  # one of five gets lost
            time.sleep(0.5)
        assert rig.at(target, 1e-3)
    stale = rig.statuses[-1].get("refused.OUT_OF_ORDER", "0")
    assert int(stale) > 0, "what came late was told from what did not"
    observed(f"relay, 20 % lost, up to 20 ms late: it arrives; {stale} states OUT_OF_ORDER")


def test_row_76_a_security_policy(own_domain, tmp_path, monkeypatch, observed):
    """With or without security in the middleware, invalid keys give no access."""
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
        status, logged = output_of(start_node(own_domain))
        assert status == 1
        assert "Traceback" not in logged
        reasons.append(logged.strip().splitlines()[-1])
        assert reasons[-1].startswith("ik_node: ")
    if "security libraries" in reasons[0]:
        built = "this middleware is built without security"
    else:
        built = "this middleware has security; keys of a real policy were not tried"
    observed(f"with Enforce the node does not start without keys; {built}")


@pytest.fixture
def filtered(own_domain):
    with with_state_relay(own_domain) as rig_and_relay:
        yield rig_and_relay


def of_1970(state):
    state.header.stamp = Time(sec=1)
    return state


def test_row_85_joint_states_of_another_time(filtered, observed):
    rig, state_relay = filtered
    for kind in ("one for ever", "1970"):
        rig.reset()
        set_off(rig)
        kept = []

        def first(state, kept=kept):
            kept.append(state)
            return kept[0]

        state_relay.change = first if kind == "one for ever" else of_1970
        rig.wait_status(state="WAITING")
        assert "STALE" in rig.statuses[-1]["message"]
        has_braked(rig)
        rig.send("base_link", NEAR)
        assert stands(rig)
        state_relay.change = lambda state: state
        rig.ready()
        assert stands(rig), "what was asked before is not taken up"
    observed("HOLD; STALE, as if it were silent; no motion by itself afterwards")


def test_row_86_zeros_beside_the_driver(filtered, observed):
    rig, _ = filtered
    with another(rig, "joint_state_publisher") as node:
        zeros = node.create_publisher(JointState, "relayed/joint_states", 10)
        state = JointState(name=list(rig.chain.joint_names), position=[0.0] * 6)
        over = threading.Event()

        def publish():
            while not over.wait(0.011):
                state.header.stamp = rig.node.get_clock().now().to_msg()
                zeros.publish(state)

        set_off(rig)
        thread = threading.Thread(target=publish)
        thread.start()
        try:
            rig.wait_status(state="WAITING")
            rig.wait(
                lambda: "/joint_state_publisher, /robot" in rig.statuses[-1]["message"],
                "both are named",
            )
            assert rig.statuses[-1]["last_refusal"].startswith("JUMP: ")
            rig.settled()
            rig.send("base_link", NEAR)
            assert stands(rig, 1.0)
        finally:
            over.set()
            thread.join()
    rig.ready()
    observed("REJECT(JUMP), both publishers named; HOLD, and no command while they contradict")


# In a rig that they share --------------------------------------------------------------------


def test_row_70_the_driver_is_killed(rig, observed):
    set_off(rig)
    rig.kill_arm()
    rig.wait_status(state="WAITING")
    rig.start_arm()
    rig.wait(lambda: rig.at_joints(HOME), "the driver is back")
    rig.wait(lambda: rig.statuses[-1]["state"] != "WAITING", "so is the node")
    assert stands(rig, 1.0)
    rig.ready()
    observed("WAITING; back at home: READY, nothing moves")


def test_row_71_the_node_is_killed(rig, observed):
    set_off(rig)
    rig.process.kill()
    rig.process.wait(PATIENCE)
    rig.process.output.close()
    rig.process = None
    way = has_braked(rig)
    rig.statuses.clear()
    rig.start_node()
    rig.description.publish(String(data=URDF))
    rig.ready()
    assert stands(rig)
    observed(f"the arm brakes on the last window, in {way:.2f} rad")


@pytest.mark.parametrize("other", ["publisher", "node"])
def test_row_72_another_commander(rig, observed, other):
    if other == "publisher":
        publisher = rig.node.create_publisher(JointTrajectory, f"{CONTROLLER}/joint_trajectory", 1)

        def end():
            rig.node.destroy_publisher(publisher)

        words = "has another publisher, /robot; end it"
    else:
        second = start_node(rig.domain)

        def end():
            stop_node(second)

        words = "there is another node /basis_ik; end one of them"
    try:
        rig.wait(
            lambda: (
                rig.statuses[-1]["level"] == DiagnosticStatus.ERROR
                and words in rig.statuses[-1]["message"]
            ),
            "it is noticed",
        )
        rig.send("base_link", NEAR)
        assert stands(rig)
        if other == "publisher":
            assert rig.transit("deactivate")
            assert not rig.transit("activate"), "refused as long as it is there"
    finally:
        end()
    if other == "publisher":
        rig.wait(lambda: rig.transit("activate"), "alone, it is activated")
    rig.ready()
    assert stands(rig)
    observed(f"{other}: named, nothing moves")


def test_row_73_nobody_takes_the_commands(rig, observed):
    here = rig.positions
    rig.kill_arm()
    rig.wait_status(state="WAITING")
    rig.wait(lambda: rig.state() == "active", "it answers")
    before = int(rig.statuses[-1].get("refused.NOT_READY", 0))
    rig.send("base_link", FAR)
    rig.wait(lambda: int(rig.statuses[-1].get("refused.NOT_READY", 0)) > before, "it refuses")
    assert rig.no_commands()
    rig.start_arm(at=here)
    rig.ready()
    assert stands(rig)
    observed("WAITING, answers, REJECT(NOT_READY); READY once somebody listens")


def test_row_75_a_quality_of_service_that_does_not_fit(rig, observed):
    took = []
    volatile = QoSProfile(depth=1, durability=DurabilityPolicy.VOLATILE)
    for kind, topic, qos, policy in (
        (PoseStamped, "basis_ik/target_pose", qos_profile_sensor_data, "RELIABILITY"),
        (String, "robot_description", volatile, "DURABILITY"),
    ):
        with another(rig, "camera") as node:
            since = time.monotonic()
            node.create_publisher(kind, topic, qos)
            words = f"a publisher on /{topic} is incompatible: its QoS does not fit, {policy}"
            rig.wait(lambda words=words: words in rig.log, "its line in the log")
            took.append(time.monotonic() - since)
        (line,) = [line for line in rig.log.splitlines() if words in line]
        assert line.startswith("[ERROR]")
    observed(f"an ERROR with topic and policy after {max(took):.1f} s")


def test_row_91_a_frame_comes_to_hang_on_the_tool(rig, observed):
    """The frame is then 2 cm off where it was: from there it would run ahead of the tool."""
    rig.frames["tool0"], rig.frames["box"] = rig.tip, lambda: NEAR
    rig.send("box", RigidTransform.identity(), stamp=None)
    rig.wait(lambda: rig.at(NEAR, 1e-3), "the arm is there")
    del rig.frames["box"]
    time.sleep(0.1)
    rig.place("tool0", "box", RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.02, 0.0, 0.0]))
    time.sleep(1.0)
    away = np.linalg.norm(rig.tip().translation - NEAR.translation)
    assert away < 1e-3
    rig.settled()
    observed(f"the tool stays within {1e3 * away:.1f} mm")
