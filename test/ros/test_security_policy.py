# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The policy for SROS 2 allows each program what it has in the graph, and nothing else."""

import re
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import rclpy
from rclpy.action import graph
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_bench import PATIENCE, URDF, start_node, stop_node, wait_for_log
from std_msgs.msg import String

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "config" / "security" / "policy.xml"
# Of the format: which lists there are, what one may do with them, and what each holds.
LISTS = {"topics": "topic", "services": "service", "actions": "action"}
ACTIONS = {
    "topics": {"publish", "subscribe"},
    "services": {"reply", "request"},
    "actions": {"execute", "call"},
}
NODE, ARM, DESCRIBER = "ik_node", "driver", "robot_state_publisher"
OPERATOR, ADMINISTRATOR, VIEWER = "operator", "administrator", "viewer"
CONTROLLER = "joint_trajectory_controller"
# What the arm has only with a robot.
CONTROLLER_OWN = re.compile("joint_states|trajectory$|controller_state|activate|emergency_stop")


def read_policy():
    """Return what each enclave may do: pairs of an action and a full name."""
    enclaves = {}
    for enclave in ET.parse(POLICY).getroot().find("enclaves"):
        allowed = enclaves.setdefault(enclave.get("path").removeprefix("/basis_ik/"), set())
        for profile in enclave.find("profiles"):
            space, node = profile.get("ns"), profile.get("node")
            for each in profile:
                for action in each.attrib:
                    allowed |= {(action, full_name(name.text, space, node)) for name in each}
    return enclaves


def full_name(name, space, node):
    if name.startswith("~"):
        name = f"{node}{name[1:]}"
    return name if name.startswith("/") else f"{space.rstrip('/')}/{name}"


def enclaves_with(action, *names):
    """Return the enclaves that may do this with any of these."""
    wanted = {(action, name) for name in names}
    return {enclave for enclave, allowed in read_policy().items() if allowed & wanted}


def test_the_policy_has_the_right_format():
    policy = ET.parse(POLICY).getroot()
    assert (policy.tag, policy.attrib) == ("policy", {"version": "0.2.0"})
    (enclaves,) = policy
    for enclave in enclaves:
        assert (enclave.tag, set(enclave.attrib)) == ("enclave", {"path"})
        (profiles,) = enclave
        for profile in profiles:
            assert (profile.tag, set(profile.attrib)) == ("profile", {"ns", "node"})
            for each in profile:
                assert set(each.attrib) < ACTIONS[each.tag]  # one at a time
                assert set(each.attrib.values()) == {"ALLOW"}
                assert {child.tag for child in each} == {LISTS[each.tag]}
                names = [child.text for child in each]
                assert names == sorted(set(names))


def test_only_the_operator_sends_targets():
    targets = (
        "target_pose",
        "target_point",
        "twist",
        "joint_jog",
        "joint_target",
        "joint_chunk",
        "pose_chunk",
        "posture",
        "device_pose",
        "clutch",
        "speed_override",
    )
    names = [f"/basis_ik/{name}" for name in (*targets, "target/feedback")]
    assert enclaves_with("publish", *names) == {OPERATOR}
    assert enclaves_with("request", "/basis_ik/home", "/basis_ik/go", "/basis_ik/enable") == {
        OPERATOR
    }
    assert enclaves_with("call", "/basis_ik/point_head_action") == {OPERATOR}


def test_only_the_node_commands_the_controller():
    assert enclaves_with("publish", f"/{CONTROLLER}/joint_trajectory") == {NODE}
    assert enclaves_with("call", f"/{CONTROLLER}/follow_joint_trajectory") == set()


def test_only_their_sources_publish_description_and_states():
    assert enclaves_with("publish", "/joint_states", f"/{CONTROLLER}/controller_state") == {ARM}
    assert enclaves_with("publish", "/robot_description", "/tf", "/tf_static") == {DESCRIBER}


def test_only_the_administrator_uses_parameters_and_lifecycle():
    for enclave, allowed in read_policy().items():
        services = {name for action, name in allowed if action == "request"}
        inner = {name for name in services if name.endswith("change_state") or "parameter" in name}
        if enclave == NODE:
            assert inner == {f"/{CONTROLLER}/get_parameters"}, "it reads the controller's rule"
        else:
            assert bool(inner) == (enclave == ADMINISTRATOR), (enclave, inner)


def test_whoever_may_move_the_arm_may_stop_it():
    assert enclaves_with("request", "/basis_ik/stop") == {OPERATOR, ADMINISTRATOR}


def test_the_viewer_only_subscribes():
    written = {name for action, name in read_policy()[VIEWER] if action in ("publish", "call")}
    assert written == {"/parameter_events", "/rosout"}


def test_every_allowed_name_has_both_ends():
    """A name with one end only is a mistake."""
    enclaves = read_policy()
    pairs = {"publish": "subscribe", "request": "reply", "call": "execute"}
    everything = set().union(*enclaves.values())
    for action, counterpart in pairs.items():
        for name in {name for done, name in everything if done == action}:
            assert (counterpart, name) in everything, (action, name)


def test_only_command_line_tools_have_wildcards():
    names = {name for allowed in read_policy().values() for _, name in allowed if "*" in name}
    assert names == {"/_ros2cli_*/get_type_description"}


@pytest.fixture
def watcher(own_domain):
    """A node that reads the graph and publishes a robot description."""
    context = rclpy.Context()
    context.init(domain_id=own_domain)
    node = rclpy.create_node("watcher", context=context)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    node.description = node.create_publisher(String, "robot_description", latched)
    yield node
    node.destroy_node()
    context.shutdown()


def actions_of(watcher, nodes):
    """Return what nodes do in the graph: pairs of an action and a full name."""
    found = set()
    for node in nodes:
        for action, ask in (
            ("publish", watcher.get_publisher_names_and_types_by_node),
            ("subscribe", watcher.get_subscriber_names_and_types_by_node),
            ("reply", watcher.get_service_names_and_types_by_node),
            ("request", watcher.get_client_names_and_types_by_node),
        ):
            # An action is made of services and topics, which the policy names by the action.
            found |= {(action, name) for name, _ in ask(node, "/") if "/_action/" not in name}
        for action, ask in (
            ("execute", graph.get_action_server_names_and_types_by_node),
            ("call", graph.get_action_client_names_and_types_by_node),
        ):
            found |= {(action, name) for name, _ in ask(watcher, node, "/")}
    return found


def nodes_of(enclave):
    path = f"enclaves/enclave[@path='/basis_ik/{enclave}']/profiles/profile"
    return [profile.get("node") for profile in ET.parse(POLICY).getroot().iterfind(path)]


def differences(watcher, enclave):
    """Return what an enclave's nodes do beyond the policy, and what it allows beyond them."""
    there = {name for name, _ in watcher.get_node_names_and_namespaces()}
    nodes = nodes_of(enclave)
    done = actions_of(watcher, [node for node in nodes if node in there])
    allowed = read_policy()[enclave]
    return {"not allowed": done - allowed, "superfluous": allowed - done}


def settled(watcher, enclave, wanted):
    """Wait until the graph is as wanted; return the differences."""
    end = time.monotonic() + PATIENCE
    while (found := differences(watcher, enclave)) != wanted and time.monotonic() < end:
        time.sleep(0.1)
    return found


def test_the_policy_matches_the_graph(watcher, own_domain):
    arm = start_node(own_domain, program=("-m", "basis_ik.programs", "simulated_arm"))
    node = start_node(own_domain)
    try:
        wait_for_log(arm, "waiting for a robot description")
        # It receives the description only while it waits.
        waiting = {("subscribe", "/robot_description")}
        later = {action for action in read_policy()[ARM] if CONTROLLER_OWN.search(action[1])}
        wanted = {"not allowed": set(), "superfluous": later}
        assert settled(watcher, ARM, wanted) == wanted
        watcher.description.publish(String(data=URDF))
        wait_for_log(arm, "simulating")
        wanted = {"not allowed": set(), "superfluous": waiting}
        assert settled(watcher, ARM, wanted) == wanted
        wait_for_log(node, "ready:")
        wanted = {"not allowed": set(), "superfluous": set()}
        assert settled(watcher, NODE, wanted) == wanted
    finally:
        assert stop_node(node)[0] == 0
        assert stop_node(arm)[0] == 0


@pytest.mark.parametrize("keystore", ["", "empty"], ids=["no keystore", "enclave without keys"])
def test_with_security_enforced_the_node_needs_keys(complaint, monkeypatch, tmp_path, keystore):
    if keystore:
        (tmp_path / "enclaves" / "basis_ik" / "ik_node").mkdir(parents=True)
        monkeypatch.setenv("ROS_SECURITY_KEYSTORE", str(tmp_path))
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    monkeypatch.setenv("ROS_SECURITY_STRATEGY", "Enforce")
    line = complaint("ik_node", more=("--enclave", "/basis_ik/ik_node"))
    assert ("creating node" if keystore else "ROS 2 refuses") in line
