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

"""The parameter `solver`, over DDS, with the node in its own process."""

from pathlib import Path

import numpy as np
import pytest
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from robot_bench import down, running
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.transforms.rigid import RigidTransform

PANDA = (Path(__file__).parents[2] / "urdf" / "panda.urdf").read_text()
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
TABLE = RigidTransform.from_rpy(0.0, 0.0, 0.5, (0.3, -0.2, 0.1))  # root_T_table


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain, "-p", "solver:=fabrik", urdf=PANDA, home=HOME) as robot:
        robot.place(robot.chain.root, "table", TABLE)
        yield robot


def choose(robot, solver):
    value = ParameterValue(type=4, string_value=solver)
    parameters = [Parameter(name="solver", value=value)]
    return robot.call(SetParameters, "set_parameters", parameters=parameters).results[0]


def go(robot, target):
    """Send a target in the table's frame; return the status of the arm that has arrived."""
    robot.send("table", TABLE.inverse() @ target)
    robot.wait_there(target, "the arm is there")
    robot.wait_status(verdict="REACHED", state="ARRIVED")
    return robot.statuses[-1]


def test_the_solver_is_chosen_at_start_and_changed_at_run_time(robot):
    assert int(go(robot, down(0.40, 0.20, 0.40))["passes"]) > 0
    answer = choose(robot, "newton")
    assert not answer.successful
    assert "must be one of descent, fabrik" in answer.reason
    assert "passes" in go(robot, down(0.45, 0.10, 0.35))
    assert choose(robot, "descent").successful
    assert "passes" not in go(robot, down(0.40, 0.20, 0.40))
    assert choose(robot, "fabrik").successful
    assert "passes" in go(robot, down(0.45, 0.10, 0.35))


def test_the_passes_are_shown_while_fabrik_solves(robot):
    shown = {}

    def on_markers(message):
        shown.update({m.ns: m for m in message.markers})

    robot.node.create_subscription(MarkerArray, "basis_ik/markers", on_markers, 1)
    assert choose(robot, "fabrik").successful
    go(robot, down(0.45, 0.10, 0.35))
    tip = robot.tip().translation
    shown.clear()
    go(robot, down(0.40, -0.15, 0.40))
    robot.wait(lambda: "passes" in shown and shown["passes"].points, "the passes are shown")
    passes = shown["passes"]
    assert len(passes.colors) == len(passes.points)
    assert (passes.type, passes.header.frame_id) == (Marker.LINE_LIST, robot.chain.root)
    # The first stage is the seed, and each line begins where the one before it ends.
    ends = np.array([(p.x, p.y, p.z) for p in passes.points])
    joints = len(robot.chain.joint_names)
    assert np.array_equal(ends[1 : 2 * joints - 1 : 2], ends[2 : 2 * joints : 2])
    assert np.allclose(ends[2 * joints - 1], tip, atol=1e-4)
    assert choose(robot, "descent").successful
    go(robot, down(0.45, 0.10, 0.35))
    robot.wait(lambda: shown["passes"].action == Marker.DELETE, "the passes are gone")
