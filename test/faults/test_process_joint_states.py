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

"""Faults of the measured arm, before a node and a simulated arm as processes."""

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from diagnostic_msgs.msg import DiagnosticStatus
from motions import FAR, NEAR, unstarted
from rclpy.action import ActionClient
from rig import CONTROLLER
from robot_bench import HOME, URDF
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def test_row_28_no_joint_states(own_domain, observed):
    with unstarted(own_domain) as rig:
        rig.start_node()
        rig.description.publish(String(data=URDF))
        rig.wait_status(state="WAITING")
        rig.send("base_link", FAR, stamp=None)
        assert rig.no_commands(2.0)
        assert rig.commands == []
        message = rig.statuses[-1]["message"]
        assert message.startswith("no joint state of shoulder_pan_joint, ")
        observed(f"WAITING, {message[:36]}, ...; no command")
        rig.start_arm()
        rig.ready()
        assert rig.no_commands(0.5), "what was asked before is not replayed"


def move_arm(rig, positions, seconds):
    """Move the arm from outside, by its controller's action."""
    client = ActionClient(rig.node, FollowJointTrajectory, f"{CONTROLLER}/follow_joint_trajectory")
    try:
        assert client.wait_for_server(30.0)
        point = JointTrajectoryPoint(positions=positions.tolist(), velocities=[0.0] * 6)
        point.time_from_start.sec = seconds
        trajectory = JointTrajectory(joint_names=list(rig.chain.joint_names), points=[point])
        sent = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory))
        rig.wait(sent.done, "an answer to the goal")
        ended = sent.result().get_result_async()
        rig.wait(ended.done, "the end of the goal")
        assert ended.result().status == GoalStatus.STATUS_SUCCEEDED
    finally:
        client.destroy()


def test_row_37_moved_while_idle(rig, observed):
    elsewhere = HOME + np.array([0.8, 0.3, -0.4, 0.2, 0.0, 0.5])
    rig.send("base_link", NEAR)
    rig.wait(lambda: rig.at(NEAR, 1e-3), "the arm is there")
    rig.settled()
    commands = len(rig.commands)
    move_arm(rig, elsewhere, 3)
    rig.settled()
    assert rig.at_joints(elsewhere)
    assert len(rig.commands) == commands, "nothing brings it back"
    count = len(rig.recorder.windows)
    rig.send("base_link", FAR)
    rig.wait(lambda: len(rig.recorder.windows) > count, "the next motion")
    first = rig.recorder.windows[count]
    off = np.abs(np.array(first.states[0][0]) - elsewhere).max()
    observed(f"the next motion begins {off:.1e} rad from the measured position")
    assert off < 1e-6
    rig.wait(lambda: rig.at(FAR, 1e-3), "the arm is there")


def test_row_38_arm_does_not_follow(rig, observed):
    rig.set_arm("blocked_joint", "shoulder_pan_joint")
    try:
        rig.send("base_link", FAR)
        rig.wait_status(state="TRACKING_LOST", level=DiagnosticStatus.ERROR)
        message = rig.statuses[-1]["message"]
        assert "shoulder_pan_joint is" in message
        observed(f"TRACKING_LOST: {message}")
        rig.settled()
        held = rig.positions
        rig.send("base_link", NEAR)
        assert rig.no_commands(1.0), "latched"
    finally:
        rig.set_arm("blocked_joint", "")
    rig.settled()
    assert rig.at_joints(held, 0.02), "no step on release"
    rig.enable()
