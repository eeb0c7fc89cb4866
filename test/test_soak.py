# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The soak draws the same from the same seed, ends with a bad command, and finds what grows."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmark"))

import soak  # noqa: E402

SECOND = 1_000_000_000
START = 1_000 * SECOND  # ns
TURN = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def drawn(seed, count=300):
    return list(itertools.islice(soak.deeds(seed), count))


def test_a_seed_determines_the_actions():
    one, again, other = drawn(1), drawn(1), drawn(2)
    assert [d.kind for d in one] == [d.kind for d in again]
    assert all((a.numbers == b.numbers).all() for a, b in zip(one, again, strict=True))
    assert [d.seconds for d in one] == [d.seconds for d in again]
    assert [d.kind for d in one] != [d.kind for d in other]


def test_all_kinds_of_actions_are_drawn_and_executed():
    assert {deed.kind for deed in drawn(1)} == set(soak.KINDS)
    assert all(callable(getattr(soak.User, f"do_{kind}")) for kind in soak.KINDS)


@pytest.fixture
def watch(tmp_path):
    return soak.Watch(tmp_path / "fault.txt", ["soak --seed 7"])


def fill(stamp, time):
    stamp.sec, stamp.nanosec = time // SECOND, time % SECOND


def on_joint_state(watch, time, positions):
    message = JointState(name=list(soak.CHAIN.joint_names), position=positions.tolist())
    fill(message.header.stamp, time)
    watch.joint_state(message, time)


def on_window(watch, time, *positions):
    """A window of points 10 ms apart, that ends at rest."""
    message = JointTrajectory(joint_names=list(soak.CHAIN.joint_names))
    fill(message.header.stamp, time)
    for number, each in enumerate(positions):
        still = [0.0] * len(each)
        point = JointTrajectoryPoint(positions=each.tolist(), velocities=still, accelerations=still)
        fill(point.time_from_start, number * SECOND // 100)
        message.points.append(point)
    watch.command(message, time + 2_000_000)


def work(watch, seconds, step):
    """An arm that turns on, one step every 10 ms, a window for each."""
    for k in range(round(100 * seconds)):
        now, here = START + k * SECOND // 100, soak.START + k * step * TURN
        on_joint_state(watch, now, here)
        on_window(watch, now, here, here + step * TURN, here + 2 * step * TURN)
    return now, here


def test_good_commands_are_no_fault_and_their_ages_are_stored(watch):
    work(watch, 1.0, 0.001)
    watch.check()
    assert watch.fault is None
    assert list(watch.ages) == pytest.approx([2.0] * 100)


def test_a_bad_command_ends_the_run_with_a_log(watch, tmp_path):
    now, here = work(watch, 5.0, 0.001)
    watch.check()
    on_window(watch, now + SECOND // 100, here + 0.5 * TURN, here + TURN)
    watch.check()
    assert "begins at" in watch.fault or "goes" in watch.fault
    with pytest.raises(soak.Stop, match="shoulder_pan_joint"):
        soak.User.check(type("User", (), {"watch": watch, "ik": None}))
    first, *lines = (tmp_path / "fault.txt").read_text().splitlines()
    assert first == "soak --seed 7"
    rows = [line.split(maxsplit=3) for line in lines if line[:1].isdigit()]
    times = [float(time) for time, *_ in rows]
    assert max(times) - min(times) == pytest.approx(soak.KEPT, abs=0.02)
    assert {side for _, side, *_ in rows} == {"in", "out"}


def test_a_failed_last_check_ends_the_run(watch):
    message = DiagnosticStatus(message="a command leaps")
    message.values = [KeyValue(key="state", value="UNSAFE")]
    watch.told(message, START)
    assert "a command leaps" in watch.fault


def rows_of(slope):
    """A row for each second of ten minutes, memory growing by a slope [MB/h]."""
    return [
        {"s": float(s), "memory_mb": 200.0 + slope * s / 3600.0, "processor": 0.2}
        | {"missed_periods": s // 100}
        for s in range(1, 601)
    ]


@pytest.mark.parametrize("slope", [0.0, 36.0])
def test_growing_memory_is_reported_with_its_slope(slope):
    received = np.arange(0.0, 600.0, 0.01)
    told = soak.summary(rows_of(slope), received, np.full(len(received), 1.5), [1.0, 3.0, 2.0])
    assert told["memory_slope_mb_per_h"] == pytest.approx(slope, abs=1e-6)
    assert told["missed_periods"] == 6
    assert told["periods"] == 60_000
    assert told["first_command_after_ms"] == {"probes": 3, "median": 2.0, "max": 3.0}


def test_the_last_minute_is_compared_with_the_first():
    received = np.arange(0.0, 600.0, 0.01)
    ages = np.where(received > 540.0, 5.0, 1.0)
    told = soak.summary(rows_of(0.0), received, ages, [1.0])["command_age_ms"]
    assert (told["first_minute"]["p99"], told["last_minute"]["p99"]) == (1.0, 5.0)
