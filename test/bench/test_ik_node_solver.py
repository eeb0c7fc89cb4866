# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameter `solver`, and the passes of FABRIK in the markers."""

from pathlib import Path

import numpy as np
import pytest
from bench import down, running
from visualization_msgs.msg import Marker

from basis_ik.transforms.rigid import RigidTransform

PANDA = (Path(__file__).parents[2] / "urdf" / "panda.urdf").read_text()
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
TABLE = RigidTransform.from_rpy(0.0, 0.0, 0.5, (0.3, -0.2, 0.1))  # root_T_table
HERE, THERE = down(0.40, 0.20, 0.40), down(0.45, 0.10, 0.35)


@pytest.fixture(scope="module")
def robot():
    with running("-p", "solver:=fabrik", urdf=PANDA, home=HOME) as robot:
        robot.place(robot.chain.root, "table", TABLE)
        yield robot


def choose(robot, solver):
    assert robot.set_parameter("solver", solver).successful


def go(robot, target):
    """Send a target in the table's frame; return the status of the arm that has arrived."""
    robot.send("table", TABLE.inverse() @ target)
    robot.wait(robot.rests, "silence")
    status = robot.statuses[-1]
    assert (status["verdict"], status["state"]) == ("REACHED", "ARRIVED")
    assert robot.at(target, 1e-5), "within the solver's tolerance"
    return status


def test_the_solver_is_chosen_at_start_and_changed_at_run_time(robot):
    assert int(go(robot, HERE)["passes"]) > 0
    answer = robot.set_parameter("solver", "newton")
    assert not answer.successful
    assert "must be one of descent, fabrik" in answer.reason
    assert "passes" in go(robot, THERE)
    choose(robot, "descent")
    assert "passes" not in go(robot, HERE)
    choose(robot, "fabrik")
    assert "passes" in go(robot, THERE)


def shown(robot, name):
    """Return the newest marker of a name."""
    (marker,) = [each for each in robot.heard["markers"].markers if each.ns == name]
    return marker


def test_the_passes_are_shown_while_fabrik_solves(robot):
    choose(robot, "fabrik")
    go(robot, THERE)
    tip = robot.tip().translation
    go(robot, down(0.40, -0.15, 0.40))
    passes = shown(robot, "passes")
    assert (passes.type, passes.header.frame_id) == (Marker.LINE_LIST, robot.chain.root)
    assert len(passes.colors) == len(passes.points) > 0
    # The first stage is the seed, and each line begins where the one before it ends.
    ends = np.array([(p.x, p.y, p.z) for p in passes.points])
    joints = len(robot.chain.joint_names)
    assert np.array_equal(ends[1 : 2 * joints - 1 : 2], ends[2 : 2 * joints : 2])
    np.testing.assert_allclose(ends[2 * joints - 1], tip, rtol=0.0, atol=1e-9)
    choose(robot, "descent")
    go(robot, THERE)
    assert shown(robot, "passes").action == Marker.DELETE
