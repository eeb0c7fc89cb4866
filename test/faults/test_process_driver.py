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

"""Faults of the driver and of the controller: slow, blocked, gone, exchanged, in another time."""

import signal
import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from motions import (
    BRAKING_WAY,
    FAR,
    NEAR,
    has_braked,
    leap,
    set_off,
    stands,
    unstarted,
)
from rig import CONTROLLER, Rig, own_rig
from robot_bench import HOME, URDF, down
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

ELSEWHERE = HOME + np.array([0.6, 0.2, -0.3, 0.2, 0.0, 0.4])
BESIDE = down(0.45, -0.10, 0.30)
WHOLE = ("-p", "command_interface:=follow_joint_trajectory")
QUICK = ("-p", "tracking_lag:=0.2")  # the default; other rows have more, for a busy machine
STEP = 0.02  # rad, on release: its drives follow what they are told, where the arm is
ACCELERATION = 4.0 * np.pi  # rad/s2: the node's default, the largest speed in 0.25 s
AWAY = 25.0  # s, without a driver


class WholeWorld(Rig):
    """A rig with a node that sends whole motions as goals."""

    def __init__(self, domain):
        super().__init__(domain, node=WHOLE)

    def check(self):
        """Hold what must hold of the measured arm."""
        self.settled()
        target = self.chain.forward(self.positions + 0.05)
        self.send(self.chain.root, target)
        self.wait(lambda: self.at(target, 1e-3), "a good target is reached")
        self.settled()
        faults = self.recorder.check()
        assert faults == [], faults[:5]


# With rigs of their own; first, for the rig that the others share stays to the end ---------


@pytest.mark.parametrize("share", [0.2, 0.3])
def test_row_83_a_slow_controller(own_domain, observed, share):
    with unstarted(own_domain, WholeWorld) as rig:
        rig.start()
        # The first call of a service takes long.
        assert rig.call(Trigger, "stop").success
        assert rig.transit("deactivate")
        assert rig.transit("activate")
        rig.reset()
        rig.set_arm("speed_scaling", share)
        for action in ("newer target", "stop", "deactivate"):
            before = rig.positions
            rig.send("base_link", FAR)
            rig.moved(before, 0.2)
            at = rig.positions
            if action == "newer target":
                rig.send("base_link", BESIDE)
                rig.wait(lambda: rig.at(BESIDE, 1e-3), "the newer target is reached")
            else:
                done = (
                    rig.call(Trigger, action).success if action == "stop" else rig.transit(action)
                )
                assert done
                rig.settled()
                way = np.abs(rig.positions - at).max()
                assert way <= BRAKING_WAY
                observed(f"{action} at {share:.0%}: at rest after {way:.2f} rad")
                if action == "deactivate":
                    assert rig.transit("activate")
                rig.enable()
        rig.set_arm("speed_scaling", 1.0)


def lost(rig, joint, seen):
    """Wait until the arm is stopped for a joint; it must not have been reported as arrived."""
    rig.wait(lambda: rig.statuses[-1]["state"] == "TRACKING_LOST", "it is noticed")
    status = rig.statuses[-1]
    assert status["level"] == DiagnosticStatus.ERROR
    assert f"{joint} is" in status["message"]
    states = [each["state"] for each in rig.statuses[seen:]]
    assert "ARRIVED" not in states[states.index("MOVING") :]
    return status["message"]


@pytest.mark.parametrize("kind", ["never moves", "blocked for 0.6 s", "emergency stop"])
def test_row_84_an_arm_that_does_not_do_as_told(own_domain, observed, kind):
    with own_rig(own_domain, node=QUICK) as rig:
        seen = len(rig.statuses)
        stops = kind != "blocked for 0.6 s"
        if kind != "never moves":
            set_off(rig)
        if stops:
            rig.switch_arm("emergency_stop", True)
        else:
            rig.set_arm("blocked_joint", "shoulder_pan_joint")
        if kind == "never moves":
            rig.send("base_link", FAR)
        else:
            time.sleep(0.6)
        # The fastest joint departs first; a blocked one does whatever the others do.
        message = lost(rig, "wrist_1_joint" if stops else "shoulder_pan_joint", seen)
        rig.settled()
        held, kept = rig.positions, len(rig.track)
        rig.send("base_link", NEAR)
        assert stands(rig, 0.5), "latched"
        if stops:
            rig.switch_arm("emergency_stop", False)
        else:
            rig.set_arm("blocked_joint", "")
        time.sleep(1.0)
        step = np.abs(np.array(rig.track[kept:]) - held).max()
        assert step < STEP, "no step on release"
        observed(f"{kind}: {message.partition(';')[0]}; {step:.1e} rad on release")
        rig.enable()


@pytest.mark.parametrize("begin", ["here", "elsewhere", "for the first time"])
def test_row_87_a_driver_away_for_long(own_domain, observed, begin):
    with unstarted(own_domain) as rig:
        if begin == "for the first time":
            rig.start_node()
            rig.description.publish(String(data=URDF))
            rig.wait_status(state="WAITING")
            for stamp in ("now", None):
                rig.send("base_link", FAR, stamp=stamp)
            rig.look("base_link", (0.9, -0.5, 0.7))
            assert not rig.call(Trigger, "home").success
            at = HOME
        else:
            rig.start()
            rig.reset()
            set_off(rig)
            rig.kill_arm()
            rig.wait_status(state="WAITING")
            rig.send("base_link", NEAR, stamp=None)
            time.sleep(AWAY)
            at = rig.positions if begin == "here" else ELSEWHERE
        count = len(rig.commands)
        rig.recorder.clock_leaps()  # the arm's positions meanwhile are unknown
        rig.start_arm(at=at)
        rig.wait(lambda: rig.at_joints(at), "the driver is there")
        rig.ready()
        assert stands(rig, 1.0)
        assert len(rig.commands) == count, "nothing is commanded without a new target"
    observed(f"{begin}: READY, nothing moves without a new target")


def test_row_97_a_simulation_with_a_time_of_its_own(own_domain, observed):
    with own_rig(own_domain, simulated_time=True) as rig:
        rig.clock.run(0.2)
        set_off(rig)
        rig.clock.pause()
        rig.wait_status(state="WAITING")
        assert "stands still" in rig.statuses[-1]["message"]
        assert stands(rig, 1.0), "nothing moves while it is paused"
        rig.send("base_link", NEAR, stamp=None)
        assert stands(rig, 0.5)
        rig.clock.run(0.2)
        rig.send("base_link", FAR)
        rig.wait(lambda: rig.at(FAR, 1e-3), "the arm is there")
        observed("at a fifth: within the limits in its own time; paused: WAITING, nothing moves")
        rig.clock.run()
        rig.send("base_link", NEAR)
        rig.wait(lambda: rig.at(NEAR, 1e-3), "the arm is there")
        set_off(rig)
        leap(rig, 5.0 - rig.clock.seconds)
        rig.settled()
        assert not rig.at(FAR, 1e-2)
        assert stands(rig, 1.0), "it does not go on by itself"
        observed("reset: HOLD, and new targets are taken")


# In a rig that they share --------------------------------------------------------------------


def test_row_82_the_node_stands_still(rig, observed):
    set_off(rig)
    first = len(rig.recorder.windows)
    rig.process.send_signal(signal.SIGSTOP)
    try:
        time.sleep(3.0)
        way = has_braked(rig)
        held = rig.positions
    finally:
        rig.process.send_signal(signal.SIGCONT)
    rig.wait(lambda: rig.statuses[-1]["state"] in ("READY", "ARRIVED"), "its decision")
    rig.settled()
    accelerations = [np.abs(w.states[2]).max() for w in rig.recorder.windows[first:]]
    assert max(accelerations, default=0.0) <= (1.0 + 1e-9) * ACCELERATION
    moved = np.abs(rig.positions - held).max()
    assert rig.at(FAR, 1e-3) or moved < STEP
    went = "it goes on from rest" if rig.at(FAR, 1e-3) else "READY, it stays there"
    observed(f"the arm brakes in {way:.2f} rad meanwhile; then {went}")


@pytest.mark.parametrize("kind", ["stopped and started", "exchanged", "second publisher"])
def test_row_96_another_controller_in_mid_stream(rig, observed, kind):
    set_off(rig)
    if kind == "second publisher":
        topic = f"{CONTROLLER}/joint_trajectory"
        other = rig.node.create_publisher(JointTrajectory, topic, 1)
        words = "has another publisher, /robot; end it"
        rig.wait(lambda: rig.statuses[-1]["state"] in ("ARRIVED", "WAITING"), "the end")
        rig.wait(lambda: words in rig.statuses[-1]["message"], "it is named")
        rig.send("base_link", NEAR)
        assert stands(rig), "refused"
        rig.node.destroy_publisher(other)
        rig.ready()
    elif kind == "exchanged":
        rig.kill_arm()
        here = rig.positions
        rig.start_arm(at=here)
        rig.wait(lambda: rig.statuses[-1]["state"] != "MOVING", "it is noticed")
        rig.wait(lambda: rig.statuses[-1]["state"] != "WAITING", "it is back")
        assert np.abs(rig.positions - here).max() < STEP
        assert stands(rig, 1.0)
    else:
        rig.switch_arm("activate", False)
        rig.wait(lambda: rig.statuses[-1]["state"] != "MOVING", "it is noticed")
        time.sleep(1.0)
        held = rig.positions
        rig.switch_arm("activate", True)
        time.sleep(1.5)
        assert np.abs(rig.positions - held).max() < STEP, "no step when it is back"
        assert not rig.at(FAR, 1e-2)
    state = rig.statuses[-1]["state"]
    rig.enable()
    observed(f"{kind}: {state}, no step")
