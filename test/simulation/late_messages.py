# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of what the real controller did with messages that came late, or not at all.

data/jtc_late.json.gz was recorded as data/jtc_replacement.json was, at 500 Hz, of one joint. What
`the node` sends is of one joint of a UR5e on the bench, with the node in the loop; all other
schedules are made by hand, of windows that the node has sent. Times are in ns since the first
update. No speed scaling is used that upstream's arithmetic cuts to whole nanoseconds.

- windows: of each stream, the messages: stamp, points: time, position, velocity, acceleration.
- taken: when the controller takes which of them; at an update's time: before it.
- arrived: the same before the thread that takes them has stood still, in the times `deaf`.
- stalls: from when until when there are no updates; those that were missed follow with catch_up.
- desired: interpolate_from_desired_state. path: the path tolerance [rad]; 0: none.
- output: by rule (allow_trajectory_replacement), of all updates: commanded position, position and
  velocity of the reference [rad, rad/s], as second differences in units of 1e-7.

data/jtc_live.json.gz has recordings of joint_trajectory_controller 4.42.1 running over DDS, under
load, at 500 Hz: of the first joint of six. Not recorded was which window was taken when: that is
what explains all recorded references and outputs, of all joints, within 1e-6. Stamps were recorded
in whole microseconds; times are fitted within that.

- taken: update, its time after the first one [ns], the window that is taken there.
- elapsed: times between updates [ns]. unrecorded: updates of which only the taking is known.
- scaling: from which update on it is what.
- reference, output: positions, as above.
"""

import gzip
import json
from pathlib import Path

import numpy as np


def _read(name):
    return json.loads(gzip.decompress((Path(__file__).parent / "data" / name).read_bytes()))


_READ = _read("jtc_late.json.gz")
LIVE = _read("jtc_live.json.gz")
WINDOWS = _READ["windows"]
RECORDINGS = [(case, rule) for case in _READ["recordings"] for rule in case["output"]]
NAMES = [f"{case['windows']}: {case['case']}, {rule}" for case, rule in RECORDINGS]
HOME = np.array([-1.57])
PERIOD = 2_000_000  # ns


def unpacked(differences):
    """Return numbers of which second differences are given, along the last axis."""
    return 1e-7 * np.cumsum(np.cumsum(differences, axis=-1), axis=-1)


def recorded(case, rule):
    """Return command, reference's position and velocity of all updates, shape (3, updates)."""
    return unpacked(case["output"][rule])


def updates(case):
    """Return the times of a case's updates."""
    times = []
    for due in range(0, case["cycles"] * PERIOD, PERIOD):
        ends = [end for begin, end in case["stalls"] if begin <= due < end]
        if not ends:
            times.append(due)
        elif case["catch_up"]:
            times.append(max(ends))
    for index in range(1, len(times)):  # one that was missed takes 0.1 ms
        times[index] = max(times[index], times[index - 1] + 100_000)
    return times
