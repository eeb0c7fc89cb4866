# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A chain with a tool: it ends at a frame that is fixed to the tip."""

from pathlib import Path

import numpy as np

from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform

URDF = Path(__file__).parents[2] / "urdf"


def test_with_a_tool_it_ends_at_a_frame_fixed_to_the_tip():
    chain = RobotModel.from_urdf((URDF / "ur5e.urdf").read_text()).chain()
    tip_T_tool = RigidTransform.from_rpy(0.3, -0.2, 0.9, [0.1, 0.02, 0.25])
    tool = chain.with_tool("tcp", tip_T_tool)
    q = np.linspace(-1.0, 1.5, 6)
    assert tool.forward(q).is_close(chain.forward(q) @ tip_T_tool, 1e-12)
    assert tool.link_poses(q)["tcp"].is_close(tool.forward(q), 1e-12)
    assert tool.link_poses(q)["tool0"].is_close(chain.forward(q), 1e-12)
    assert (tool.root, tool.tip, tool.joint_names) == (chain.root, "tcp", chain.joint_names)
    assert chain.tip == "tool0"
    assert tool.reach > np.linalg.norm(tool.forward(q).translation)
    steps = 1e-6 * np.eye(6)
    moved = [(tool.forward(q + s).translation - tool.forward(q - s).translation) for s in steps]
    np.testing.assert_allclose(tool.jacobian(q)[:3].T, np.array(moved) / 2e-6, atol=1e-8)


def test_a_link_of_the_chain_may_be_its_tool():
    chain = RobotModel.from_urdf((URDF / "ur5e.urdf").read_text()).chain()
    link = chain.links[-2]
    poses = chain.link_poses(np.zeros(6))
    tool = chain.with_tool(link, chain.forward(np.zeros(6)).inverse() @ poses[link])
    assert tool.links == chain.links
    assert tool.forward(np.zeros(6)).is_close(poses[link], 1e-12)
