# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A driver, a node or another one that ends or begins, and what the middleware refuses."""

import contextlib

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from motions import FAR, NEAR, set_off, stands
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from rig import CONTROLLER
from robot_bench import HOME, PATIENCE, URDF, output_of, start_node, stop_node
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory


@contextlib.contextmanager
def another(rig, name):
    """Yield a node for arbitrary messages."""
    node = rclpy.create_node(name, context=rig.context)
    try:
        yield node
    finally:
        node.destroy_node()


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
    rig.settled()
    assert rig.at(FAR, 1e-3), "it goes on to its goal"
    rig.statuses.clear()
    rig.start_node()
    rig.description.publish(String(data=URDF))
    rig.ready()
    assert stands(rig)
    observed("the arm goes on to its goal, and rests there")


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


def test_row_75_a_quality_of_service_that_does_not_fit(rig, observed):
    volatile = QoSProfile(depth=1, durability=DurabilityPolicy.VOLATILE)
    for kind, topic, qos, policy in (
        (PoseStamped, "basis_ik/target_pose", qos_profile_sensor_data, "RELIABILITY"),
        (String, "robot_description", volatile, "DURABILITY"),
    ):
        with another(rig, "camera") as node:
            node.create_publisher(kind, topic, qos)
            words = f"a publisher on /{topic} is incompatible: its QoS does not fit, {policy}"
            rig.wait(lambda words=words: words in rig.log, "its line in the log")
        (line,) = [line for line in rig.log.splitlines() if words in line]
        assert line.startswith("[ERROR]")
    observed("an ERROR with topic and policy")
