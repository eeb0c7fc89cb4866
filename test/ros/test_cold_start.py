# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node responds while it compiles, refuses targets, and then starts."""

import shutil
from pathlib import Path

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Twist
from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import ListParameters
from robot_bench import HOME, PATIENCE, PATIENT, URDF, Robot, down, start_arm, start_node, stop_node
from std_msgs.msg import String

from basis_ik.numerics import jit

ANSWERS = 10  # of each service, while it compiles for some seconds


@pytest.fixture
def cold(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def cool(tmp_path):
    """A cache without the kernels of the arm, if there is a warm one."""
    warm = Path(jit._cache_directory())
    for room in ("descent", "closed_form", "search", "solvers/pose"):
        if (warm / room).exists():
            shutil.copytree(warm / room, tmp_path / warm.name / room)
    return tmp_path


def compiling(robot):
    return [s for s in robot.statuses if s.get("state") == "COMPILING"]


def answered_meanwhile(robot, kind, name):
    """Hold that a service answers while the last that the node has said is that it compiles."""
    client = robot.node.create_client(kind, name)
    assert client.wait_for_service(PATIENCE), name
    for _ in range(ANSWERS):
        future = client.call_async(kind.Request())
        robot.wait(future.done, f"an answer of {name}")
        assert robot.statuses[-1]["state"] == "COMPILING", name


def test_the_node_responds_while_it_compiles_and_then_starts(own_domain, cool, monkeypatch):
    robot, other = Robot(own_domain), rclpy.Context()  # whose twists are of another type
    texts = set()
    robot.node.create_subscription(
        DiagnosticArray, "/diagnostics", lambda m: texts.add(m.status[0].message), 10
    )
    arm = start_arm(own_domain, robot.chain, HOME)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cool))
    process = start_node(own_domain, *PATIENT, "-p", "plain_inputs:=['twist']")
    try:
        robot.description.publish(String(data=URDF.replace("ur5e", "other")))
        robot.wait(lambda: len(compiling(robot)) > 2, "the node says that it compiles")
        robot.description.publish(String(data=URDF))  # another one meanwhile
        answered_meanwhile(robot, GetState, "basis_ik/get_state")
        answered_meanwhile(robot, ListParameters, "basis_ik/list_parameters")
        robot.send("base_link", down(0.4, 0.2, 0.4))
        robot.wait(lambda: "refused.NOT_READY" in robot.statuses[-1], "the refusal")
        assert robot.statuses[-1]["last_refusal.target_pose"].startswith("NOT_READY")
        assert robot.statuses[-1]["level"] == DiagnosticStatus.WARN
        rclpy.init(context=other, domain_id=own_domain)
        sender = rclpy.create_node("sender", context=other)
        plain = sender.create_publisher(Twist, "basis_ik/twist", 1)
        robot.wait(plain.get_subscription_count, "the node hears twists")
        plain.publish(Twist())
        robot.wait(lambda: "last_refusal.twist" in robot.statuses[-1], "its refusal, too")
        assert not robot.transit("configure")
        assert robot.state() == "unconfigured"
        robot.wait_status(state="READY")
        assert len([t for t in texts if t.startswith("compiling the kernels")]) > 1, texts
        assert robot.state() == "active"
        assert robot.commands == [], "the target that was refused"
        robot.reach("base_link", down(0.4, 0.2, 0.4))
    finally:
        code, output = stop_node(process)
        stop_node(arm)
        robot.close()
        rclpy.try_shutdown(context=other)
        print(output)
    assert code == 0
    assert "cannot configure: compiling the kernels, once: " in output
    assert "try again" in output
    assert "ready: ur5e" in output
    assert "ready: other" not in output, "of descriptions that came meanwhile the newest counts"
    assert "Traceback" not in output
    assert any(cool.glob("*/arm/**/*.nbi"))


PROGRAMS = {
    "ik_node": "{}",
    "frames_node": "{constraints: [look], look: {type: points_at, bone: a, tail: b, target: c}}",
    "transform_nodes": "{nodes: [a, b], b: {parent: a}, combine: [c], c: {chain: [a, b]}}",
}


@pytest.mark.parametrize(("program", "given"), PROGRAMS.items(), ids=PROGRAMS)
def test_a_program_ends_on_a_signal_while_it_compiles(own_domain, cold, tmp_path, program, given):
    path = tmp_path / "params.yaml"
    name = "basis_ik" if program == "ik_node" else program
    path.write_text(f"{name}:\n  ros__parameters: {given}\n")
    robot = Robot(own_domain)
    robot.node.create_subscription(DiagnosticStatus, f"{name}/status", robot._on_status, 10)
    module = ("-m", "basis_ik.programs", program)
    process = start_node(own_domain, "--params-file", str(path), program=module)
    try:
        robot.wait(lambda: compiling(robot), "the node says that it compiles")
        answered_meanwhile(robot, ListParameters, f"{name}/list_parameters")
        if program == "ik_node":
            assert robot.transit("shutdown")
            assert robot.state() == "finalized"
    finally:
        code, output = stop_node(process)
        robot.close()
    assert code == 0, output
    assert "Traceback" not in output
