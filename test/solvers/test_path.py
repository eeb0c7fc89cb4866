"""Lines and arcs, and arms that follow them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from basis_ik.solvers.arguments import SolveArgumentError
from basis_ik.solvers.path import arc, follow, line
from basis_ik.solvers.verdict import Verdict
from basis_ik.transforms.rigid import RigidTransform

HOME = [0.1, 0.2, 0.3, -1.5, 0.2, 1.4, 0.1]


def test_a_line_is_straight_even_and_ends_where_it_should(robot):
    start = robot("panda").forward(HOME)
    end = RigidTransform.from_rpy(0.2, 0.8, 0.1, (0.05, 0.2, -0.1)) @ start
    poses = line(start, end, step=0.01, turn=0.03)
    assert np.allclose(poses[0].matrix, start.matrix)
    assert np.allclose(poses[-1].matrix, end.matrix)
    direction = end.translation - start.translation
    for a, b in pairwise(poses):
        move = b.translation - a.translation
        assert np.linalg.norm(move) <= 0.01 + 1e-12
        assert np.linalg.norm(np.cross(move, direction)) < 1e-12
        assert np.linalg.norm((a.inverse() @ b).log()[3:]) <= 0.03 + 1e-12


def test_an_arc_keeps_its_distance_from_the_axis(robot):
    start = robot("panda").forward(HOME)
    centre, axis = np.array([0.3, 0.1, 0.4]), np.array([0.0, 0.6, 0.8])
    poses = arc(start, centre, axis, 1.5)
    spoke = np.linalg.norm(np.cross(start.translation - centre, axis))
    for pose in poses:
        assert np.linalg.norm(np.cross(pose.translation - centre, axis)) == pytest.approx(spoke)
    turned = np.linalg.norm((poses[0].inverse() @ poses[-1]).log()[3:])
    assert turned == pytest.approx(1.5)


def test_a_line_within_reach_is_followed_to_its_end_without_jumps(robot):
    chain = robot("panda")
    start = chain.forward(HOME)
    poses = line(start, RigidTransform.from_rpy(0, 0, 0, (0.05, 0.15, -0.1)) @ start)
    path = follow(chain, poses, HOME, max_move=0.1)
    assert path.success
    assert path.fraction == 1.0
    assert np.abs(np.diff(path.positions, axis=0)).max() <= 0.1
    for q, pose in zip(path.positions, poses, strict=True):
        assert np.linalg.norm((chain.forward(q).inverse() @ pose).log()) < 3e-6


def test_a_line_out_of_the_workspace_is_followed_as_far_as_it_goes(robot):
    chain = robot("panda")
    start = chain.forward(HOME)
    poses = line(start, RigidTransform.from_rpy(0, 0, 0, (2.0, 0.0, 0.0)) @ start, step=0.02)
    path = follow(chain, poses, HOME)
    assert not path.success
    assert 0.0 < path.fraction < 0.5
    assert len(path.positions) == round(path.fraction * len(poses))
    assert path.reason.verdict is not Verdict.REACHED


def test_no_poses_are_followed_at_once(robot):
    path = follow(robot("panda"), [], HOME)
    assert path.success
    assert path.positions.shape == (0, 7)


@pytest.mark.parametrize("keywords", [{"step": 0.0}, {"turn": -1.0}, {"step": np.nan}])
def test_bad_spacing_is_refused(keywords):
    here = RigidTransform.identity()
    with pytest.raises(SolveArgumentError):
        line(here, here, **keywords)
    with pytest.raises(SolveArgumentError):
        arc(here, (0, 0, 0), (0, 0, 1), 1.0, **keywords)
