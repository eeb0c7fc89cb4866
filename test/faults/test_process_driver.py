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
from robot_bench import HOME, URDF, down
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory
from world import CONTROLLER, World, own_world

ELSEWHERE = HOME + np.array([0.6, 0.2, -0.3, 0.2, 0.0, 0.4])
BESIDE = down(0.45, -0.10, 0.30)
WHOLE = ("-p", "command_interface:=follow_joint_trajectory")
QUICK = ("-p", "tracking_lag:=0.2")  # the default; other rows have more, for a busy machine
STEP = 0.02  # rad, on release: its drives follow what they are told, where the arm is
ACCELERATION = 4.0 * np.pi  # rad/s2: the node's default, the largest speed in 0.25 s
AWAY = 25.0  # s, without a driver


class WholeWorld(World):
    """Its node sends whole motions as goals; the measured arm tells of them."""

    def __init__(self, domain):
        super().__init__(domain, node=WHOLE)

    def judged(self):
        """Hold what must hold of the measured arm."""
        self.settled()
        target = self.chain.forward(self.positions + 0.05)
        self.send(self.chain.root, target)
        self.wait(lambda: self.at(target, 1e-3), "a good target is reached")
        self.settled()
        faults = self.recorder.judge()
        assert faults == [], faults[:5]


# With worlds of their own; first, for the world that the others share stays to the end ---------


@pytest.mark.parametrize("share", [0.2, 0.3])
def test_row_83_a_slow_controller(own_domain, observed, share):
    with unstarted(own_domain, WholeWorld) as world:
        world.start()
        # The first call of a service takes long.
        assert world.call(Trigger, "stop").success
        assert world.transit("deactivate")
        assert world.transit("activate")
        world.reset()
        world.set_arm("speed_scaling", share)
        for deed in ("newer target", "stop", "deactivate"):
            before = world.positions
            world.send("base_link", FAR)
            world.moved(before, 0.2)
            at = world.positions
            if deed == "newer target":
                world.send("base_link", BESIDE)
                world.wait(lambda: world.at(BESIDE, 1e-3), "the newer target is reached")
            else:
                done = world.call(Trigger, deed).success if deed == "stop" else world.transit(deed)
                assert done
                world.settled()
                way = np.abs(world.positions - at).max()
                assert way <= BRAKING_WAY
                observed(f"{deed} at {share:.0%}: at rest after {way:.2f} rad")
                if deed == "deactivate":
                    assert world.transit("activate")
                world.enable()
        world.set_arm("speed_scaling", 1.0)


def lost(world, joint, seen):
    """Wait until the arm is stopped for a joint; it must never have been said to be there."""
    world.wait(lambda: world.statuses[-1]["state"] == "TRACKING_LOST", "it is noticed")
    status = world.statuses[-1]
    assert status["level"] == DiagnosticStatus.ERROR
    assert f"{joint} is" in status["message"]
    states = [each["state"] for each in world.statuses[seen:]]
    assert "ARRIVED" not in states[states.index("MOVING") :]
    return status["message"]


@pytest.mark.parametrize("kind", ["never moves", "blocked for 0.6 s", "emergency stop"])
def test_row_84_an_arm_that_does_not_do_as_told(own_domain, observed, kind):
    with own_world(own_domain, node=QUICK) as world:
        seen = len(world.statuses)
        stops = kind != "blocked for 0.6 s"
        if kind != "never moves":
            set_off(world)
        if stops:
            world.switch_arm("emergency_stop", True)
        else:
            world.set_arm("blocked_joint", "shoulder_pan_joint")
        if kind == "never moves":
            world.send("base_link", FAR)
        else:
            time.sleep(0.6)
        message = lost(world, "shoulder_pan_joint", seen)
        world.settled()
        held, kept = world.positions, len(world.track)
        world.send("base_link", NEAR)
        assert stands(world, 0.5), "latched"
        if stops:
            world.switch_arm("emergency_stop", False)
        else:
            world.set_arm("blocked_joint", "")
        time.sleep(1.0)
        step = np.abs(np.array(world.track[kept:]) - held).max()
        assert step < STEP, "no step on release"
        observed(f"{kind}: {message.partition(';')[0]}; {step:.1e} rad on release")
        world.enable()


@pytest.mark.parametrize("begin", ["here", "elsewhere", "for the first time"])
def test_row_87_a_driver_away_for_long(own_domain, observed, begin):
    with unstarted(own_domain) as world:
        if begin == "for the first time":
            world.start_node()
            world.description.publish(String(data=URDF))
            world.wait_status(state="WAITING")
            for stamp in ("now", None):
                world.send("base_link", FAR, stamp=stamp)
            world.look("base_link", (0.9, -0.5, 0.7))
            assert not world.call(Trigger, "home").success
            at = HOME
        else:
            world.start()
            world.reset()
            set_off(world)
            world.kill_arm()
            world.wait_status(state="WAITING")
            world.send("base_link", NEAR, stamp=None)
            time.sleep(AWAY)
            at = world.positions if begin == "here" else ELSEWHERE
        count = len(world.commands)
        world.recorder.clock_leaps()  # where the arm is meanwhile nobody has told
        world.start_arm(at=at)
        world.wait(lambda: world.at_joints(at), "the driver is there")
        world.ready()
        assert stands(world, 1.0)
        assert len(world.commands) == count, "nothing is commanded without a new target"
    observed(f"{begin}: READY, nothing moves without a new target")


def test_row_97_a_simulation_with_a_time_of_its_own(own_domain, observed):
    with own_world(own_domain, simulated_time=True) as world:
        world.clock.run(0.2)
        set_off(world)
        world.clock.pause()
        world.wait_status(state="WAITING")
        assert "stands still" in world.statuses[-1]["message"]
        assert stands(world, 1.0), "nothing moves while it is paused"
        world.send("base_link", NEAR, stamp=None)
        assert stands(world, 0.5)
        world.clock.run(0.2)
        world.send("base_link", FAR)
        world.wait(lambda: world.at(FAR, 1e-3), "the arm is there")
        observed("at a fifth: within the limits in its own time; paused: WAITING, nothing moves")
        world.clock.run()
        world.send("base_link", NEAR)
        world.wait(lambda: world.at(NEAR, 1e-3), "the arm is there")
        set_off(world)
        leap(world, 5.0 - world.clock.seconds)
        world.settled()
        assert not world.at(FAR, 1e-2)
        assert stands(world, 1.0), "it does not go on by itself"
        observed("reset: HOLD, and new targets are taken")


# In a world that they share --------------------------------------------------------------------


def test_row_82_the_node_stands_still(world, observed):
    set_off(world)
    first = len(world.recorder.windows)
    world.process.send_signal(signal.SIGSTOP)
    try:
        time.sleep(3.0)
        way = has_braked(world)
        held = world.positions
    finally:
        world.process.send_signal(signal.SIGCONT)
    world.wait(lambda: world.statuses[-1]["state"] in ("READY", "ARRIVED"), "its decision")
    world.settled()
    accelerations = [np.abs(w.states[2]).max() for w in world.recorder.windows[first:]]
    assert max(accelerations, default=0.0) <= (1.0 + 1e-9) * ACCELERATION
    moved = np.abs(world.positions - held).max()
    assert world.at(FAR, 1e-3) or moved < STEP
    went = "it goes on from rest" if world.at(FAR, 1e-3) else "READY, it stays there"
    observed(f"the arm brakes in {way:.2f} rad meanwhile; then {went}")


@pytest.mark.parametrize("kind", ["stopped and started", "exchanged", "second publisher"])
def test_row_96_another_controller_in_mid_stream(world, observed, kind):
    set_off(world)
    if kind == "second publisher":
        topic = f"{CONTROLLER}/joint_trajectory"
        rival = world.node.create_publisher(JointTrajectory, topic, 1)
        words = "has another publisher, /robot; end it"
        world.wait(lambda: world.statuses[-1]["state"] in ("ARRIVED", "WAITING"), "the end")
        world.wait(lambda: words in world.statuses[-1]["message"], "it is named")
        world.send("base_link", NEAR)
        assert stands(world), "refused"
        world.node.destroy_publisher(rival)
        world.ready()
    elif kind == "exchanged":
        world.kill_arm()
        here = world.positions
        world.start_arm(at=here)
        world.wait(lambda: world.statuses[-1]["state"] != "MOVING", "it is noticed")
        world.wait(lambda: world.statuses[-1]["state"] != "WAITING", "it is back")
        assert np.abs(world.positions - here).max() < STEP
        assert stands(world, 1.0)
    else:
        world.switch_arm("activate", False)
        world.wait(lambda: world.statuses[-1]["state"] != "MOVING", "it is noticed")
        time.sleep(1.0)
        held = world.positions
        world.switch_arm("activate", True)
        time.sleep(1.5)
        assert np.abs(world.positions - held).max() < STEP, "no step when it is back"
        assert not world.at(FAR, 1e-2)
    state = world.statuses[-1]["state"]
    world.enable()
    observed(f"{kind}: {state}, no step")
