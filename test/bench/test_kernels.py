# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""While the control loop runs, no kernel is compiled or loaded, which would delay it."""

import os
import re
import subprocess
import sys

import numpy as np
from bench import HOME, down, running
from geometry_msgs.msg import Pose, PoseStamped
from moveit_msgs.msg import PositionIKRequest
from moveit_msgs.srv import GetCartesianPath, GetPositionFK, GetPositionIK
from std_srvs.srv import SetBool, Trigger

from basis_ik.ros.convert import pose_message
from basis_ik.ros.kinematics.services import KinematicsServices
from basis_ik.transforms.rigid import RigidTransform

READY = "the node is ready"
PLACES = HOME + 0.1  # where home is
TURNED = RigidTransform.from_rpy(0.0, -1.5, 0.0, [0.75, 0.2, 0.1])


def do_everything():
    with running("-p", f"home:={PLACES.tolist()}", "-p", "check_collisions:=auto") as robot:
        print(READY, flush=True)
        robot.place("base_link", "table", RigidTransform.from_rpy(0.0, 0.0, 0.3, [0.1, 0.0, 0.0]))
        robot.run(0.1)
        assert robot.set_parameter("max_linear_speed", 0.5).successful
        near, below, far = down(0.4, 0.2, 0.4), down(0.05, 0.0, 0.1), down(3.0, 0.0, 0.4)
        for solver in ("descent", "fabrik"):
            assert robot.set_parameter("solver", solver).successful
            for frame, pose in (
                ("base_link", near),
                ("table", down(0.4, 0.1, 0.4)),
                ("base_link", far),
                ("base_link", below),
                ("base_link", TURNED),
            ):
                count = len(robot.commands)
                robot.send(frame, pose)
                robot.run(1.0)
                assert len(robot.commands) > count
        assert any(m.ns == "passes" for m in robot.heard["markers"].markers)
        for point in ((0.9, -0.5, 0.7), (0.0, 0.0, 0.0), (-0.9, 0.1, 0.2)):
            robot.look("table", point)
            robot.run(1.0)
        robot.end_of(robot.point("base_link", (0.8, 0.3, 0.4), max_velocity=0.5))
        assert robot.call(Trigger, "home").success
        robot.wait(lambda: np.allclose(robot.positions, PLACES), "the arm is at home")
        for frame in ("base_link", "tool0"):
            count = len(robot.commands)
            robot.jog(frame, (0.05, 0.0, 0.02), (0.1, 0.0, 0.0))
            robot.run(0.5)
            assert len(robot.commands) > count
        assert robot.call(Trigger, "stop").success
        assert robot.call(SetBool, "enable", data=True).success
        solve(robot, pose_message(near), pose_message(far))


def solve(robot, near, far):
    """Call the services of kinematics, which have a thread of their own."""
    (served,) = (each for each in robot.node._robot._plug_ins if type(each) is KinematicsServices)
    services = {each.srv_name: each for each in served._side.node.services}
    ik, fk, path = (
        services[f"/basis_ik/compute_{name}"] for name in ("ik", "fk", "cartesian_path")
    )
    for pose in (near, far):
        request = PositionIKRequest(pose_stamped=PoseStamped(pose=pose))
        request.timeout.nanosec = 50_000_000
        ik.callback(GetPositionIK.Request(ik_request=request), GetPositionIK.Response())
        several = [PoseStamped(pose=pose), PoseStamped(pose=near)]
        request = PositionIKRequest(pose_stamped_vector=several)
        request.ik_link_names = ["tool0", "forearm_link"]
        ik.callback(GetPositionIK.Request(ik_request=request), GetPositionIK.Response())
    links = ["tool0", "forearm_link"]
    fk.callback(GetPositionFK.Request(fk_link_names=links), GetPositionFK.Response())
    request = GetCartesianPath.Request(max_step=0.01, waypoints=[near, Pose()])
    answer = path.callback(request, GetCartesianPath.Response())
    assert 0.5 < answer.fraction < 1.0  # so other ways were searched for


def test_all_kernels_are_ready_before_the_node_is():
    """In a process of its own, where numba logs each kernel that it loads or saves."""
    run = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, "NUMBA_DEBUG_CACHE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    early, late = (
        re.findall(r"\[cache\] data (?:loaded from|saved to) .*?([^/]+)\.\d+\.nbc", part)
        for part in run.stdout.split(READY)
    )
    assert len(early) > 10  # numba does log them
    assert late == []


if __name__ == "__main__":
    do_everything()
