# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""docs/coming_from.md: its snippets run, and the names in it exist."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from robot_bench import PATIENCE, URDF, Robot, start_node, stop_node
from std_msgs.msg import String

from basis_ik.ros.parameters.ik_parameters import CHAIN_PARAMETERS, NODE_PARAMETERS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "coming_from.md").read_text()
(CLIENT,) = re.findall(r"```python\n(import rclpy\n.*?)```", TEXT, re.DOTALL)
SERVE = re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL)[0].replace("\\\n", " ")


def run(script, domain):
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=ROOT,
        env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_moveit_client_works_as_documented(domain):
    robot = Robot(domain)
    process = start_node(domain, *SERVE.split("--ros-args")[1].replace('"', "").split())
    robot.description.publish(String(data=URDF))
    try:
        code, joints = run(CLIENT, domain).splitlines()[-2:]  # DDS may print complaints before
    finally:
        _, output = stop_node(process)
        robot.close()
    assert code == "1 ", output
    assert all(name in joints for name in robot.chain.joint_names)


@pytest.mark.parametrize(
    "name", ["chains", "approximate_solutions", "kinematics_solver_timeout", "position_only_ik",
             "incoming_command_timeout", "position_threshold", "orientation_threshold",
             "success_angle_threshold", "root_link", "tip_link"]
)  # fmt: skip
def test_parameters_on_the_page_exist(name):
    assert f"`{name}`" in TEXT
    assert name in {declaration.name for declaration in (*NODE_PARAMETERS, *CHAIN_PARAMETERS)}


def test_a_command_expires_like_servos_by_default():
    assert {each.name: each.default for each in NODE_PARAMETERS}["incoming_command_timeout"] == 0.1
