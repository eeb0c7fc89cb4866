# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The simulated controller and drives against recordings of ros2_control at 500 Hz.

Recorded were joint_trajectory_controller 4.42.1 and ros2_control 4.46.0 (Jazzy), one joint told of
here. Hardware: `dyn` is mock_components/GenericSystem with calculate_dynamics, whose position is
the command of the cycle before; on `lag30` the position follows the command with a first-order lag
of 30 ms, on `slow` at 0.2 rad/s at most. Controller: `meas` has its defaults, `des` has
interpolate_from_desired_state, `tol` constraints (0.05 on the path, 0.01 at the goal, goal_time
0.5), `scl` speed scaling.

data/jtc_recordings.json has the first 2.1 s of each stream of messages:

- in_force: the cycle in which each message came into force, as it can be read from the recorded
  output (0.6 to 6.7 ms after it was sent, later where the machine stalled); -1: none, because the
  next message overtook it. cycles: how many there are. phase: the time of cycle 0 [s].
- speed [rad/s], acceleration [rad/s2]: 99th percentiles of the output and of the measured joint,
  of the whole recording of 4 s. lag [s]: of both behind the wanted motion, in the first 2.1 s.
- peaks: greatest speed and acceleration of the output in the first 2.1 s, where the machine kept
  its cycles (each within 0.12 ms, no more than two in a row not told): elsewhere they are those of
  late cycles.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from basis_ik.simulation.control_loop import ControlLoop
from basis_ik.simulation.simulated_joints import SimulatedJoints
from basis_ik.simulation.tolerances import Tolerances
from basis_ik.simulation.trajectory_command import (
    TrajectoryCommand,
    Waypoint,
    refuse_trajectory,
)
from basis_ik.simulation.trajectory_controller import TrajectoryController

RECORDED = json.loads((Path(__file__).parent / "data" / "jtc_recordings.json").read_text())
PERIOD = 0.002
NONE = np.zeros(0)
INFINITE = np.array([math.inf])


def values(*numbers):
    return [np.array([number]) for number in numbers] + [NONE] * (4 - len(numbers))


class Rig:
    """One joint without limits at 500 Hz, with its commands and motion."""

    def __init__(self, hardware, controller, phase=0.0):
        lag, speed = {"dyn": (0.0, math.inf), "lag30": (0.03, math.inf), "slow": (0.03, 0.2)}[
            hardware
        ]
        self.joint = SimulatedJoints(
            -INFINITE, INFINITE, np.array([speed]), np.zeros(1), time_constant=lag
        )
        self.controller = TrajectoryController(
            ("a",),
            np.array([False]),
            np.zeros(1),
            TIGHT if controller == "tol" else LOOSE,
            period=PERIOD,
            interpolate_from_desired_state=controller in ("des", "scl"),
        )
        self._loop = ControlLoop(self.joint, np.array([0]), self.controller, PERIOD)
        self._phase = phase
        self._count = 0
        self.out, self.arm, self.ends, self.violations = [], [], [], []
        self._loop.cycle(-1.0)  # holds

    @property
    def now(self):
        """The time of the next cycle."""
        return self._count * PERIOD + self._phase

    def cycle(self):
        update = self._loop.cycle(self.now)
        self.out.append(self.controller.output.positions[0])
        self.arm.append(self.joint.positions[0])
        if update is not None:
            self.note(update.goal_end)
            if update.violation:
                self.violations.append(self.now)
        self._count += 1

    def note(self, end):
        if end is not None:
            self.ends.append((self.now, end))

    def until(self, time):
        while self.now < time:
            self.cycle()

    def until_cycle(self, count):
        while self._count < count:
            self.cycle()


LOOSE = Tolerances(np.zeros(1), np.zeros(1), 0.0)
TIGHT = Tolerances(np.array([0.05]), np.array([0.01]), 0.5)


# ---- Streams of messages: q(t) = 0.2 (1 - cos(pi t)) rad


def window(first, last):
    return [0.02 * count for count in range(first, last + 1)]


# Case: messages a second; times of the points after the message is due; how much each states
# (1: positions, 2: velocities too, 3: accelerations too); header stamp after it is due, None: zero.
STREAMS = {
    "a1": (50, [0.02], 1, None),
    "a2": (50, [0.02], 2, None),
    "a3": (50, [0.02], 2, None),
    "a4": (50, [0.04], 1, None),
    "a5": (100, [0.01], 1, None),
    "a6": (50, [0.02], 3, None),
    "a7": (100, [0.02], 1, None),
    "a8": (50, [0.0], 1, None),
    "a9": (50, [0.04], 2, None),
    "a10": (100, [0.1], 1, None),
    "b1": (50, window(1, 5), 2, 0.0),
    "b2": (50, window(1, 5), 3, 0.0),
    "b3": (50, window(0, 5), 2, 0.0),
    "b4": (50, window(1, 5), 1, 0.0),
    "b5": (50, window(1, 5), 3, -0.02),
    "b6": (50, window(1, 5), 2, 0.0),
    "b7": (50, window(0, 5), 3, 0.0),
    "b8": (50, window(1, 5), 3, None),
    "b9": (50, window(1, 5), 3, 0.04),
    "b10": (50, window(1, 10), 3, 0.0),
    "b11": (50, window(0, 5), 3, None),
    "b12": (100, [0.0, 0.04], 3, 0.0),
    "b13": (100, [0.0, 0.04], 2, 0.0),
    "b14": (100, [0.0, 0.02, 0.04], 1, 0.0),
    "b15": (50, window(0, 5), 3, 0.005),
    "b16": (50, window(0, 5), 3, -0.08),
    "b17": (50, window(0, 5), 3, 0.0),  # its braking tail comes after the next message
}
# All velocities, or the last of each message, are zero.
AT_REST = {"a3": slice(None), "b6": slice(-1, None)}


def message(case, index):
    rate, times, stated, stamp = STREAMS[case]
    due = index / rate
    points = []
    for time in times:
        angle = math.pi * (due + time)
        state = (
            0.2 * (1.0 - math.cos(angle)),
            0.2 * math.pi * math.sin(angle),
            0.2 * math.pi**2 * math.cos(angle),
        )
        points.append(Waypoint(time, *values(*state[:stated])))
    if case in AT_REST:
        for row in range(len(points))[AT_REST[case]]:
            points[row] = points[row]._replace(velocities=np.zeros(1))
    return TrajectoryCommand(("a",), tuple(points), None if stamp is None else due + stamp)


def replayed(stream):
    """The rig after all messages of an excerpt have come into force when they did."""
    rig = Rig(stream["hardware"], stream["controller"], stream["phase"])
    for index, cycle in enumerate(stream["in_force"]):
        if cycle >= 0:
            rig.until_cycle(cycle)
            rig.controller.follow(message(stream["case"], index))
    rig.until_cycle(stream["cycles"])
    return rig


def speeds(positions):
    return np.abs(np.diff(positions)) / PERIOD


def accelerations(positions):
    return np.abs(np.diff(positions, 2)) / PERIOD**2


def lag(positions, phase):
    """The shift in time that fits the wanted motion best [s], to half a millisecond."""
    times = phase + PERIOD * np.arange(len(positions))
    shifts = np.arange(-0.1, 0.3, 0.0005)

    def best(some):
        wanted = 0.2 * (1.0 - np.cos(np.pi * np.maximum(times - shifts[some, None], 0.0)))
        return some[np.argmin(np.sum((positions - wanted) ** 2, axis=1))]

    near = best(np.arange(0, len(shifts), 20))  # of a motion that takes seconds
    return shifts[best(np.arange(max(near - 20, 0), min(near + 21, len(shifts))))]


def key(stream):
    return " ".join(stream[name] for name in ("hardware", "controller", "case"))


# Below this output acceleration [rad/s2] the recorded acceleration of the joint is that of cycles
# some 0.05 ms early or late; the simulated one must then not be above it.
SMOOTH = 30.0
# What one cycle 0.12 ms early and the next as much late make of 0.63 rad/s [rad/s2].
JITTER = 40.0
# Figures that are off by more than 10 %, with the simulated and the recorded one, and why.
# Cycles or messages were late by 10 ms and more, which the excerpt cannot say:
#   dyn des a1: 474 and 424 (output), 418 (joint) rad/s2; lag30 des a2: 465 and 409 rad/s2;
#   lag30 des a3: 0.93 and 1.11 rad/s, joint 0.69 and 0.79 rad/s; lag30 des a7: 1.44 and 1.63 rad/s,
#   466 and 813 rad/s2; dyn meas b1: 2.4 and 18 rad/s2; lag30 des b14: 16 and 11 rad/s2.
# The velocity was measured with the noise of the cycles, and each message begins with it:
#   dyn meas b2: 3.0 and 9.9 rad/s2; b6: 2.4 and 6.7; b9: 3.0 and 7.7.
# The rest of the recording differs from the excerpt, in which these are within 10 or 11 %:
#   lag30 meas a10: 4880 and 4290 rad/s2, 4580 in the excerpt; dyn des b11: 371 and 456 (458 of the
#   joint), 375 in the excerpt; lag30 meas b11, joint: 32.6 and 27.4, 29.4 in the excerpt.
# Messages 5 ms ahead: 0.05 ms of the cycles' phase, all that was told of it, change the figure:
#   dyn des b15: 7.3 and 6.5 rad/s2.
MISSES = {
    "dyn des a1": ["acceleration of the output", "acceleration of the joint"],
    "lag30 des a2": ["acceleration of the output"],
    "lag30 des a3": ["speed of the output", "speed of the joint"],
    "lag30 des a7": ["top speed", "top acceleration"],
    "lag30 meas a10": ["acceleration of the output"],
    "dyn meas b1": ["acceleration of the output"],
    "dyn meas b2": ["acceleration of the output"],
    "dyn meas b6": ["acceleration of the output"],
    "dyn meas b9": ["acceleration of the output"],
    "dyn des b11": ["acceleration of the output", "acceleration of the joint"],
    "lag30 meas b11": ["acceleration of the joint"],
    "lag30 des b14": ["acceleration of the output"],
    "dyn des b15": ["acceleration of the output"],
}


def misses(stream):
    """The figures of a replayed stream that are more than 10 % off the recorded ones."""
    rig = replayed(stream)
    figures = {}
    for place, positions in enumerate((rig.out, rig.arm)):
        where = ("output", "joint")[place]
        speed = np.percentile(speeds(positions), 99)
        acceleration = np.percentile(accelerations(positions), 99)
        figures[f"speed of the {where}"] = speed, stream["speed"][place], 0.0
        least = stream["acceleration"][place]
        if where == "joint" and stream["acceleration"][0] < SMOOTH:
            least = min(least, acceleration)
        figures[f"acceleration of the {where}"] = acceleration, least, 0.0
        shift = lag(positions, stream["phase"])
        # The recorded lag was told in steps of half a millisecond.
        figures[f"lag of the {where}"] = shift, stream["lag"][place], 0.000501
    if stream["peaks"] is not None:
        figures["top speed"] = speeds(rig.out).max(), stream["peaks"][0], 0.0
        if stream["peaks"][1] > JITTER:
            figures["top acceleration"] = accelerations(rig.out).max(), stream["peaks"][1], 0.0
    return {
        name: (float(simulated), recorded)
        for name, (simulated, recorded, step) in figures.items()
        if not abs(simulated - recorded) <= max(0.1 * abs(recorded), step)
    }


@pytest.mark.parametrize("stream", RECORDED, ids=key)
def test_a_stream_moves_the_simulation_like_the_real_controller(stream):
    assert list(misses(stream)) == MISSES.get(key(stream), [])


# ---- Single messages and goals: 0.8 rad with a quintic, in most cases in 2 s


def quintic(seconds=2.0, count=20, start=0.0, distance=0.8):
    points = []
    for s in np.linspace(0.0, 1.0, count + 1)[1:]:
        state = (
            start + distance * s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
            distance * 30.0 * s**2 * (1.0 - s) ** 2 / seconds,
            distance * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / seconds**2,
        )
        points.append(Waypoint(s * seconds, *values(*state)))
    return TrajectoryCommand(("a",), tuple(points))


def to(time, *state, stamp=None):
    return TrajectoryCommand(("a",), (Waypoint(time, *values(*state)),), stamp)


def hold(time, *derivatives, ahead=0.0):
    """A message with one point, at the measured position or some seconds ahead of it."""
    return lambda rig: to(time, rig.arm[-1] + 0.75 * ahead, *derivatives)


def brake(rig):
    """A stamped message that brakes evenly within 0.3 s from the measured state."""
    times = [0.02 * count for count in range(1, 16)]
    states = ((rig.arm[-1] + 0.75 * t - 1.25 * t * t, 0.75 - 2.5 * t, -2.5) for t in times)
    points = (Waypoint(t, *values(*state)) for t, state in zip(times, states, strict=True))
    return TrajectoryCommand(("a",), tuple(points), rig.now)


def back(rig):
    return quintic(start=rig.arm[-1], distance=-rig.arm[-1])


# What was done a second after the first message (c) or goal (g), 0.4 rad on the way at 0.75 rad/s.
ACTIONS = {
    "c0": [],
    "c3": [(1.0, "follow", hold(0.0))],
    "c3b": [(1.0, "follow", hold(0.02))],
    "c3c": [(1.0, "follow", hold(0.1, 0.0))],
    "c3d": [(1.0, "follow", hold(0.5, 0.0, 0.0))],
    "c3e": [(1.0, "follow", hold(0.3, 0.0, 0.0, ahead=0.15))],
    "c3f": [(1.0, "follow", hold(0.3, 0.0, ahead=0.15))],
    "c3g": [(1.0, "follow", brake)],
    "g0": [],
    "g1": [(1.0, "cancel", None)],
    "g2": [(1.0, "goal", back)],
    "g3": [(1.0, "follow", hold(0.02))],
    "g4": [(1.0, "follow", lambda _: to(1.0, 0.2, 0.0, 0.0))],
    "g7": [(1.0, "deactivate", None), (1.5, "activate", None)],
    "g8": [(1.0, "deactivate", None), (1.3, "follow", back), (2.0, "activate", None)],
}
# Messages and actions are in force so long after they were sent [s]: the recorded median.
DELAY = 0.003


def acted(case, hardware, controller):
    """The rig after all of a case, and where the arm was when something was done."""
    rig = Rig(hardware, controller, phase=0.001)
    first = "goal" if case.startswith("g") else "follow"
    at = None
    for time, kind, make in [(0.0, first, lambda _: quintic()), *ACTIONS[case]]:
        rig.until(time)
        if time == 1.0:
            at = rig.arm[-1]
        command = make(rig) if make else None
        rig.until(time + DELAY)
        if kind == "follow":
            rig.controller.follow(command)
        elif kind == "goal":
            rig.note(rig.controller.start_goal(command, LOOSE))
        elif kind == "cancel":
            rig.note(rig.controller.cancel_goal())
        elif kind == "deactivate":
            rig.note(rig.controller.deactivate())
        else:
            rig.controller.activate()
    rig.until(3.5)
    return rig, at


# Hardware, controller, case; codes of the goals that ended and when that was told [s], travel of
# the joint after the action [rad], greatest acceleration of the output [rad/s2].
DONE = [
    ("dyn", "meas", "g0", [(0, 2.0045)], None, None),
    ("dyn", "des", "g0", [(0, 2.007)], None, None),
    ("lag30", "meas", "g0", [(0, 2.004)], None, None),
    ("dyn", "meas", "g1", [(0, 1.004)], -0.0015, 750),
    ("dyn", "des", "g1", [(0, 1.0027)], 0.0, 747),
    ("lag30", "meas", "g1", [(0, 1.0036)], 0.0, 6230),
    ("dyn", "meas", "g2", [(-1, 1.005), (0, 3.056)], -0.3985, 32.2),
    ("dyn", "des", "g2", [(-1, 1.0032), (0, 3.0535)], -0.397, 384),
    ("lag30", "meas", "g2", [(-1, 1.0037), (0, 3.0045)], -0.3768, 5410),
    ("dyn", "meas", "g3", [(0, 1.0554)], -0.0015, None),
    ("dyn", "des", "g3", [(0, 1.0525)], -0.0015, 514),
    ("lag30", "meas", "g3", [(0, 1.0525)], -0.0015, 5810),
    ("dyn", "meas", "g4", [(0, 2.0044)], -0.1985, 4.11),
    ("dyn", "des", "g4", [(0, 2.056)], -0.197, 374),
    ("lag30", "meas", "g4", [(0, 2.0536)], -0.1768, 5400),
    ("dyn", "meas", "g7", [(-1, 1.0532)], 0.0045, None),
    ("dyn", "des", "g7", [(-1, 1.0039)], 0.0015, None),
    ("lag30", "meas", "g7", [(-1, 1.0522)], 0.0247, None),
    ("dyn", "meas", "g8", [(-1, 1.0541)], 0.003, None),
    ("dyn", "des", "g8", [(-1, 1.0045)], 0.0015, None),
    ("lag30", "meas", "g8", [(-1, 1.0529)], 0.0247, None),
    ("dyn", "meas", "c3", [], -0.0015, 1130),
    ("dyn", "des", "c3", [], -0.003, 1130),
    ("dyn", "meas", "c3b", [], -0.0015, 450),
    ("dyn", "des", "c3b", [], -0.003, 505),
    ("dyn", "meas", "c3c", [], -0.0015, 30.4),
    ("dyn", "des", "c3c", [], -0.0015, 392),
    ("dyn", "meas", "c3d", [], -0.0015, 5.96),
    ("dyn", "des", "c3d", [], -0.0015, 383),
    ("dyn", "meas", "c3e", [], 0.1105, None),
    ("dyn", "des", "c3e", [], 0.1114, 375),
    ("dyn", "meas", "c3f", [], 0.1141, None),
    ("dyn", "des", "c3f", [], 0.1094, 378),
    ("dyn", "meas", "c3g", [], 0.1081, None),
    ("dyn", "des", "c3g", [], 0.1111, 411),
]
TEXTS = {-1: ("preempted by new incoming action.", "cancelled during deactivate transition.")}
# A message that comes into force two cycles earlier or later.
TWO_CYCLES = 2 * PERIOD * 0.75 + 1e-9
# The end of a goal is published 20 times a second, with a delay of a few ms.
TOLD_WITHIN = 0.06


@pytest.mark.parametrize(
    ("hardware", "controller", "case", "ends", "travel", "peak"),
    DONE,
    ids=[" ".join(row[:3]) for row in DONE],
)
def test_events_in_motion_have_the_recorded_effects(hardware, controller, case, ends, travel, peak):
    rig, at = acted(case, hardware, controller)
    assert [int(end.code) for _, end in rig.ends] == [code for code, _ in ends]
    for (time, _), (_, reported) in zip(rig.ends, ends, strict=True):
        assert time - 2 * PERIOD <= reported <= time + TOLD_WITHIN
    if travel is not None:
        assert abs(rig.arm[-1] - at - travel) <= max(0.1 * abs(travel), TWO_CYCLES)
    if peak is not None:
        assert accelerations(rig.out).max() == pytest.approx(peak, rel=0.1)


# ---- Tolerances

OFF = Tolerances(np.zeros(1), np.array([0.01]), 0.5)
OFF_AND_TIGHT = Tolerances(np.zeros(1), np.array([1e-9]), 0.3)


@pytest.mark.parametrize(
    ("hardware", "command", "tolerances", "code", "text", "reported"),
    [
        ("lag30", quintic(), TIGHT, 0, "Goal successfully reached!", 2.0546),
        ("lag30", quintic(0.8), TIGHT, -4, "Aborted due to path tolerance violation", 0.4061),
        ("lag30", quintic(0.3, 6), TIGHT, -4, "Aborted due to path tolerance violation", 0.109),
        ("lag30", quintic(0.8), OFF, 0, "Goal successfully reached!", 0.806),
        (
            "lag30",
            quintic(0.8),
            OFF_AND_TIGHT,
            -5,
            "Aborted due to goal_time_tolerance exceeding by 0.30",
            1.1588,
        ),
        ("slow", quintic(0.8), TIGHT, -4, "Aborted due to path tolerance violation", 0.207),
        (
            "slow",
            quintic(0.8),
            OFF,
            -5,
            "Aborted due to goal_time_tolerance exceeding by 0.50",
            1.3099,
        ),
    ],
    ids=["h1", "h2", "h3", "h4", "h5", "slow h2", "slow h4"],
)
def test_tolerances_end_a_goal_as_recorded(hardware, command, tolerances, code, text, reported):
    rig = Rig(hardware, "tol")
    rig.until(DELAY)
    rig.controller.start_goal(command, tolerances)
    rig.until(3.0)
    [(time, end)] = rig.ends
    assert int(end.code) == code
    assert end.text.startswith(text)
    assert time - 2 * PERIOD <= reported <= time + TOLD_WITHIN
    if code:
        assert np.ptp(rig.out[-500:]) == 0.0
        assert rig.out[-1] in rig.arm  # a position that was measured


@pytest.mark.parametrize(
    ("after", "command", "violated"),
    [
        (OFF_AND_TIGHT, quintic(0.3, 6), 0.605),
        (None, quintic(0.3, 6), 0.083),
        (OFF_AND_TIGHT, quintic(), 2.305),
        (None, quintic(), None),
    ],
    ids=["h6", "h6b", "h7", "h7b"],
)
def test_a_message_keeps_the_tolerances_of_the_goal_before(after, command, violated):
    rig = Rig("lag30", "tol")
    if after is not None:
        rig.controller.start_goal(to(0.0, 0.0), after)
        rig.cycle()
    begin = rig.now
    rig.until(begin + DELAY)
    rig.controller.follow(command)
    rig.until(begin + 3.0)
    times = [time - begin for time in rig.violations]
    assert times == ([] if violated is None else [pytest.approx(violated, abs=4 * PERIOD)])


@pytest.mark.parametrize("case", ["a7", "b7"], ids=["h8b", "h9b"])
def test_a_stream_that_the_arm_can_follow_violates_no_tolerance(case):
    rig = Rig("lag30", "tol")
    for index in range(2 * STREAMS[case][0]):
        rig.until(index / STREAMS[case][0] + DELAY)
        rig.controller.follow(message(case, index))
    assert rig.violations == []


# ---- Speed scaling


@pytest.mark.parametrize(
    ("case", "factor", "speed", "acceleration"),
    [
        ("a1", 0.5, 1.91, 725),
        ("a1", 0.1, 4.17, 2000),
        ("a1", 0.0, 5.92, 2980),
        ("b2", 0.5, 1.79, 692),
        ("b2", 0.1, 4.28, 2180),
        ("b2", 0.0, 6.24, 3320),
    ],
)
def test_scaling_makes_a_stream_move_in_steps(case, factor, speed, acceleration):
    rig = Rig("dyn", "scl")
    rig.controller.speed_scaling = factor
    for index in range(100):
        rig.until(0.02 * index + DELAY)
        rig.controller.follow(message(case, index))
    rig.until(2.02)
    assert np.percentile(speeds(rig.out), 99) == pytest.approx(speed, rel=0.1)
    assert np.percentile(accelerations(rig.out), 99) == pytest.approx(acceleration, rel=0.1)


def test_scaling_slows_a_goal():
    rig = Rig("dyn", "scl")
    rig.controller.speed_scaling = 0.5
    rig.until(DELAY)
    rig.controller.start_goal(quintic(), LOOSE)
    rig.until(4.5)
    [(time, end)] = rig.ends
    assert int(end.code) == 0
    assert time <= 4.0046 <= time + TOLD_WITHIN
    assert speeds(rig.out).max() == pytest.approx(0.375, rel=0.1)


def test_a_change_of_the_scaling_is_a_step_of_the_speed():
    rig = Rig("dyn", "scl")
    rig.until(DELAY)
    rig.controller.start_goal(quintic(), LOOSE)
    rig.until(0.8 + DELAY)
    rig.controller.speed_scaling = 0.5
    rig.until(4.0)
    [(time, _)] = rig.ends
    assert time - 2 * PERIOD <= 3.2023 <= time + TOLD_WITHIN
    assert accelerations(rig.out).max() == pytest.approx(172, rel=0.1)


def test_nothing_ends_while_the_scaling_is_zero():
    rig = Rig("dyn", "scl")
    rig.controller.speed_scaling = 0.0
    rig.until(DELAY)
    rig.controller.start_goal(quintic(), LOOSE)
    rig.until(6.0)
    assert rig.ends == []
    assert speeds(rig.out).max() == pytest.approx(2.69e-5, rel=0.1)
    rig.controller.speed_scaling = 1.0
    rig.until(8.1)
    assert [int(end.code) for _, end in rig.ends] == [0]


# ---- Times of messages


def test_a_first_point_a_second_ahead_is_approached_at_once():
    rig = Rig("dyn", "meas")
    rig.until(DELAY)
    rig.controller.follow(to(0.3, 0.1, 0.0, 0.0, stamp=1.0))
    rig.until(2.0)
    assert speeds(rig.out).max() == pytest.approx(0.144, rel=0.1)
    assert rig.arm[-1] == pytest.approx(0.1)


@pytest.mark.parametrize(("ahead", "until", "travel"), [(1.0, 3.0, -0.154), (3600.0, 3.2, 1.6624)])
def test_a_stamp_ahead_in_motion_keeps_the_velocity_at_first(ahead, until, travel):
    rig = Rig("dyn", "meas")
    rig.until(DELAY)
    rig.controller.follow(quintic())
    rig.until(0.8)
    at = rig.arm[-1]
    rig.until(0.8 + DELAY)
    rig.controller.follow(to(0.3, 0.1, 0.0, 0.0, stamp=0.8 + ahead))
    rig.until(until)
    assert rig.arm[-1] - at == pytest.approx(travel, rel=0.1)


def test_a_trajectory_from_the_past_is_entered_at_its_present_time():
    rig = Rig("dyn", "meas")
    rig.until(DELAY)
    rig.controller.follow(TrajectoryCommand(("a",), quintic().waypoints, -0.5))
    rig.until(2.0)
    assert speeds(rig.out).max() == pytest.approx(42.4, rel=0.1)


# ---- Refusals: a message by topic, and the same as a goal

UR = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
HOME = (0.0, -1.57, 1.57, -1.57, -1.57, 0.0)
ZERO = (0.0,) * 6


def row(time, positions=HOME, velocities=(), accelerations=(), effort=()):
    return Waypoint(
        time, *(np.array(x, float) for x in (positions, velocities, accelerations, effort))
    )


def put(index, value):
    return (*HOME[:index], value, *HOME[index + 1 :])


# Case, points, what else is not as usual, whether the real one took it.
MESSAGES = [
    ("d0", [row(0.3)], {}, True),
    ("d1", [row(0.3)], {"names": (*UR[:5], "foo")}, False),
    ("d2", [row(0.3)], {"names": (*UR[:5], UR[0])}, True),
    ("d3", [row(0.3, HOME[:3])], {"names": UR[:3]}, False),
    ("d3b", [row(0.3, HOME[:3])], {"names": UR[:3], "allow_partial_joints": True}, True),
    ("d4", [row(0.3), row(0.3)], {}, False),
    ("d5", [row(-0.3), row(0.3)], {}, True),
    ("d6", [row(0.3)], {"start": -1.0}, False),
    ("d7", [row(0.3, velocities=ZERO), row(3.0, velocities=ZERO)], {"start": -1.0}, True),
    ("d8", [row(0.3, HOME, ZERO, ZERO)], {"start": 1.0}, True),
    ("d8b", [row(0.3, HOME, ZERO, ZERO)], {"start": 3600.0}, True),
    ("d9", [row(0.3, HOME[:5])], {}, False),
    ("d10", [row(0.3, (), ZERO)], {}, False),
    ("d11", [row(0.3, HOME, (0.1,) * 6)], {}, False),
    ("d12 c2 g5 g5b", [], {}, False),
    ("d13 c2b", [row(0.3)], {"names": ()}, False),
    ("d14", [row(0.3, effort=ZERO)], {}, False),
    ("d15", [row(1.0, put(2, 4.57), ZERO, ZERO)], {}, True),
    ("d16", [row(0.02, put(0, 1.0))], {}, True),
    ("d17 d18 x5", [row(0.3, put(1, math.nan))], {}, True),
    ("d19", [row(0.3, put(1, math.inf))], {}, True),
    ("a2r", [row(0.02, HOME, (0.0394,) * 6)], {}, False),
    ("a2", [row(0.02, HOME, (0.0394,) * 6)], {"allow_final_velocity": True}, True),
    ("g6", [row(1.0), row(0.5)], {}, False),
]
# The simulation refuses more, as docs/simulated_arm.md explains.
STRICTER = ("d2", "d17 d18 x5", "d19")


@pytest.mark.parametrize(
    ("case", "points", "given", "taken"), MESSAGES, ids=[entry[0] for entry in MESSAGES]
)
def test_refusals_match_the_real_controller(case, points, given, taken):
    command = TrajectoryCommand(given.pop("names", UR), tuple(points), given.pop("start", None))
    refusal = refuse_trajectory(command, UR, 0.0, **given)
    assert (refusal is None) == (taken and case not in STRICTER)
