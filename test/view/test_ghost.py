# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The outline of a robot."""

from pathlib import Path

import numpy as np
import pytest

from basis_ik.robot.robot import RobotModel
from basis_ik.robot.visuals import Visual
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.ghost import OUTLINES, Ghost
from basis_ik.view.shapes import GREEN, Lines, Mesh

URDF = Path(__file__).parents[2] / "urdf"
PLACE = RigidTransform.from_rpy(0.1, 0.2, 0.3, [0.0, 0.0, 0.1])


@pytest.fixture(scope="module")
def chain():
    return RobotModel.from_urdf((URDF / "ur5e.urdf").read_text()).chain()


@pytest.mark.parametrize("kind", OUTLINES)
def test_an_outline_is_as_large_as_its_body(kind):
    points = OUTLINES[kind]
    assert np.allclose(points.max(axis=0), 0.5)
    assert np.allclose(points.min(axis=0), -0.5)
    if kind != "box":
        axes = 3 if kind == "sphere" else 2
        assert np.allclose(np.linalg.norm(points[:, :axes], axis=1), 0.5)


def test_a_capsule_is_a_cylinder_and_two_spheres(chain):
    capsule = Visual("forearm_link", PLACE, "capsule", (0.2, 0.2, 0.5))
    (shape,) = Ghost(chain, [capsule]).at(chain.link_poses(np.zeros(6)), GREEN)
    points = PLACE.inverse().apply(shape.ends)
    assert np.allclose(points.max(axis=0), [0.1, 0.1, 0.35])
    assert np.allclose(points.min(axis=0), [-0.1, -0.1, -0.35])
    middle = np.clip(points[:, 2], -0.25, 0.25)
    assert (np.linalg.norm(points - np.outer(middle, [0, 0, 1]), axis=1) <= 0.1 + 1e-9).all()
    bodies = len(OUTLINES["cylinder"]) + 2 * len(OUTLINES["sphere"])
    assert len(points) == bodies


def test_only_moving_links_are_drawn_at_their_poses(chain):
    visuals = [
        Visual("base_link_inertia", PLACE, "box", (1.0, 1.0, 1.0)),
        Visual("forearm_link", PLACE, "box", (0.1, 0.2, 0.3)),
        Visual("forearm_link", PLACE, "sphere", (0.1, 0.1, 0.1)),
        Visual("somewhere else", PLACE, "box", (1.0, 1.0, 1.0)),
    ]
    poses = chain.link_poses(np.zeros(6))
    (shape,) = Ghost(chain, visuals).at(poses, GREEN)
    assert isinstance(shape, Lines)
    assert (shape.frame, shape.color, shape.number) == ("base_link", GREEN, 0)
    assert shape.pose is poses["forearm_link"]
    corners = PLACE.inverse().apply(shape.ends[:24])
    assert np.allclose(np.abs(corners), [0.05, 0.1, 0.15])
    assert len(shape.ends) == 24 + len(OUTLINES["sphere"])


def test_a_mesh_is_shown_whole_and_can_be_seen_through(chain):
    mesh = Visual("forearm_link", PLACE, "mesh", (1e-3, 1e-3, 1e-3), "package://arm/forearm.stl")
    poses = chain.link_poses(np.zeros(6))
    (shape,) = Ghost(chain, [mesh]).at(poses, GREEN)
    assert isinstance(shape, Mesh)
    assert (shape.file, shape.scale) == ("package://arm/forearm.stl", (1e-3, 1e-3, 1e-3))
    assert np.allclose(shape.pose.matrix, (poses["forearm_link"] @ PLACE).matrix)
    assert 0.0 < shape.color[3] < 0.5


def test_outlines_are_made_once(chain):
    ghost = Ghost(chain, [Visual("forearm_link", PLACE, "box", (0.1, 0.2, 0.3))])
    poses = (chain.link_poses(np.full(6, value)) for value in (0.0, 1.0))
    one, other = (next(iter(ghost.at(each, GREEN))) for each in poses)
    assert one.ends is other.ends


def test_the_top_is_that_of_the_highest_body(chain):
    poses = chain.link_poses(np.zeros(6))
    upright = poses["forearm_link"].inverse()  # to the axes of the root
    body = Visual("forearm_link", upright @ PLACE, "box", (0.1, 0.1, 0.1))
    mesh = Visual("wrist_3_link", poses["wrist_3_link"].inverse() @ PLACE, "mesh", (1.0,) * 3, "a")
    height = PLACE.apply(0.1 * np.array(OUTLINES["box"]))[:, 2].max()
    assert Ghost(chain, [body]).top(poses) == pytest.approx(height)
    assert Ghost(chain, [mesh]).top(poses) == pytest.approx(0.1)
    assert Ghost(chain, [body, mesh]).top(poses) == pytest.approx(height)
    assert Ghost(chain, []).top(poses) == -np.inf
