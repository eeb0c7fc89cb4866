# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A node that solves for long or never comes to rest, and the signals that end one."""

import signal
import time

import numpy as np
import pytest
from motions import FAR, has_braked, set_off
from recorder import SECOND
from rig import Rig
from robot_bench import URDF, down, output_of, start_node, wait_for_log
from std_msgs.msg import String

# What a pose's height makes the node do wrong.
SOLVES_LONG, NEVER_RESTS = 8.0, 9.0
DEFECTIVE = f"""
import sys
import time

from basis_ik.arm.pipeline import Pipeline
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.ik_node import IkNode
from basis_ik.programs import run

take_pose, aim, come_to_rest = ChainController.take_pose, Pipeline.set_goal, IkNode.come_to_rest
defects = set()


def defective_take_pose(self, message, **how):
    height = message.pose.position.z
    if height >= {SOLVES_LONG}:
        defects.add(height)
        message.pose.position.z = 0.4
    take_pose(self, message, **how)


def defective_aim(self, *arguments, **named):
    if {SOLVES_LONG} in defects:
        defects.remove({SOLVES_LONG})
        print("solving for long", flush=True)
        time.sleep(0.4)
    return aim(self, *arguments, **named)


def defective_come_to_rest(self, patience):
    if {NEVER_RESTS} in defects:
        time.sleep(60.0)
    come_to_rest(self, patience)


ChainController.take_pose, Pipeline.set_goal = defective_take_pose, defective_aim
IkNode.come_to_rest = defective_come_to_rest
sys.exit(run("ik_node"))
"""


class DefectiveWorld(Rig):
    """A rig with a node that fails on request."""

    def __init__(self, domain, script):
        self._script = script
        super().__init__(domain)

    def start_node(self):
        arguments, program = self._node, (str(self._script),)
        self.process, self._log_start = start_node(self.domain, *arguments, program=program), 0

    def ended(self):
        """Wait for the node's end; return its exit status and its output in this test."""
        process, self.process = self.process, None
        status, logged = output_of(process)
        return status, logged[self._log_start :]

    def start_again(self):
        """Start the node after it has ended."""
        self.statuses.clear()
        self.start_node()
        self.description.publish(String(data=URDF))
        self.ready()


@pytest.fixture(scope="module")
def defective_rig(domain, tmp_path_factory):
    script = tmp_path_factory.mktemp("defective") / "node.py"
    script.write_text(DEFECTIVE)
    rig = DefectiveWorld(domain, script)
    try:
        rig.start()
        yield rig
    finally:
        print(rig.close()[1])


@pytest.fixture
def defective(defective_rig):
    if defective_rig.process is None:
        defective_rig.start_again()
    defective_rig.reset()
    yield defective_rig
    defective_rig.check()


@pytest.mark.parametrize(("name", "times"), [("SIGINT", 1), ("SIGTERM", 2)])
def test_row_69_a_signal_in_mid_solve(defective, observed, name, times):
    defective.send("base_link", down(0.4, 0.2, SOLVES_LONG))
    wait_for_log(defective.process, "solving for long")
    for _ in range(times):
        defective.process.send_signal(getattr(signal, name))
        time.sleep(0.05)
    status, logged = defective.ended()
    # Another status if it had taken 1.2 s: then it is forced.
    assert status == 0, logged
    assert "Traceback" not in logged
    defective.start_again()
    observed(f"{name} x {times}: exit status 0, after the solve")


@pytest.mark.parametrize(
    ("names", "forced"),
    [
        (("SIGINT",), False),
        (("SIGINT", "SIGTERM"), False),
        (("SIGTERM",), True),
    ],
    ids=["once", "twice", "forced"],
)
def test_row_95_a_signal_at_full_speed(defective, observed, names, forced):
    height = NEVER_RESTS if forced else 0.4
    set_off(defective, height=height)
    since = defective.node.get_clock().now().nanoseconds
    for name in names:
        defective.process.send_signal(getattr(signal, name))
        time.sleep(0.02)
    status, logged = defective.ended()
    assert status == (1 if forced else 0), logged
    assert "Traceback" not in logged
    if forced:
        defective.settled()
        assert defective.at(FAR, 1e-3), "as if it were killed"
        observed("never at rest by itself: exit status 1, the arm goes on to its goal")
    else:
        way = has_braked(defective)
        # One that follows may hold the arm where it rests, for half a second.
        last = [each for each in defective.recorder.windows if np.any(each.states[1])][-1]
        (moving,) = np.nonzero(np.any(last.states[1], axis=1))
        braked = (last.stamp + int(last.times[moving[-1] + 1]) - since) / SECOND
        assert 0.0 < braked <= 0.5
        observed(f"{'+'.join(names)}: at rest {braked:.2f} s and {way:.2f} rad later, status 0")
    defective.start_again()
