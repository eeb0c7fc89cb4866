# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw docs/figures/chunks.svg: the actions of a dataset, sent as a policy sends them.

python docs/figures/draw_chunks.py FOLDER EPISODE PYTHON      (in `make shell`; a minute)

FOLDER is a LeRobotDataset of an SO-101 in LeRobot's units, ±100 for the range of each joint. PYTHON
is one with LeRobot. Ten times a second a chunk of 16 actions comes, 60 ms after its stamp. The
drives lag by 30 ms.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1] / "test" / "bench"), str(HERE.parents[1] / "test" / "ros")]
from bench import running  # noqa: E402
from small_arms import so101  # noqa: E402
from test_chunks import ACTIONS, joints  # noqa: E402
from world import MILLISECOND, SECOND  # noqa: E402

from basis_ik.extras.recording.dataset import read_episode  # noqa: E402
from basis_ik.robot.robot import RobotModel  # noqa: E402

ENDS = ("base_link", "gripper_frame_link")
CHAIN = RobotModel.from_urdf(so101()).chain(*ENDS)
RATE, LATE, LAG = 10, 60 * MILLISECOND, 0.03
LEAD, REST = 0.5, 1.0  # s before the first chunk, and after the last
SEEN = (4.0, 10.0)  # s: before and afterwards it rests
TITLES = {12: "12 rad/s², assumed", 100: "100 rad/s², by the URDF"}  # largest accelerations
SHOWN = 2  # the elbow is the fastest
BLUE, RED, GREY = "#2b6cb0", "#c53030", "#a0aec0"

mpl.use("svg")
mpl.rcParams.update(
    {"svg.hashsalt": "basis_ik", "svg.fonttype": "none", "font.size": 9}
    | {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)


def actions(folder: str, episode: str, python: str) -> tuple[Any, int]:
    """Return the actions [rad], shape (n, 5), and their rate [Hz]."""
    recorded = read_episode(python, Path(folder), int(episode))
    share = 0.5 + np.array(recorded.rows)[:, :5] / 200.0
    return CHAIN.lower + share * (CHAIN.upper - CHAIN.lower), recorded.fps


def described(acceleration: int) -> str:
    """Return the URDF; the node assumes what it does not state."""
    if acceleration == 12:
        return so101()
    text = so101().replace('effort="10"', f'effort="10" acceleration="{acceleration}"')
    return text.replace("<robot ", '<robot version="1.2" ')


def sent(rows: Any, fps: int, acceleration: int) -> tuple[Any, Any, Any]:
    """Send actions as chunks; return times since the first [s], commands and the arm [rad]."""
    measured: list[tuple[int, Any]] = []
    words = ("-p", f"root_link:={ENDS[0]}", "-p", f"tip_link:={ENDS[1]}")
    how = {"urdf": described(acceleration), "home": rows[0], "ends": ENDS, "lag": LAG}
    with running(*words, **how) as robot:  # which also checks that the limits are kept
        robot.topic("joint_chunk").link.delay = (LATE, LATE)
        begin, first = robot.world.now + round(LEAD * SECOND), len(robot.arm.outputs)
        for start in range(0, len(rows), fps // RATE):

            def send(start: int = start) -> None:
                part = rows[start : start + ACTIONS]
                joints(robot, np.arange(len(part)) / fps, part)

            robot.world.at(begin + start * SECOND // fps, send)
        look = lambda: measured.append((robot.world.now, robot.positions.copy()))  # noqa: E731
        robot.world.every(2 * MILLISECOND, look)
        robot.run(LEAD + len(rows) / fps + REST)
        when, outputs = zip(*robot.arm.outputs[first:], strict=True)
        limits = robot.arm.limits
    times, outputs = 1e-9 * (np.array(when) - begin), np.array(outputs)
    speeds = np.gradient(outputs, times, axis=0)
    changes = np.gradient(speeds, times, axis=0)
    for what, values, most in (
        ("speed", speeds, limits.velocity), ("acceleration", changes, limits.acceleration)
    ):  # fmt: skip
        print(f"{acceleration}: {what} at most {np.abs(values / most).max():.0%} of its limit")
    when, places = zip(*measured, strict=True)
    since, columns = 1e-9 * (np.array(when) - begin), np.array(places).T
    return times, outputs, np.array([np.interp(times, since, each) for each in columns]).T


def main() -> None:
    """Send the actions with each acceleration, and write the figure."""
    rows, fps = actions(*sys.argv[1:])

    def wanted(times: Any) -> Any:
        at = np.arange(len(rows)) / fps
        return np.array([np.interp(times, at, each) for each in rows.T]).T

    figure, axes = plt.subplots(2, len(TITLES), figsize=(11.0, 5.6), sharex=True, sharey="row")
    for (position, velocity), (acceleration, title) in zip(axes.T, TITLES.items(), strict=True):
        times, commanded, measured = sent(rows, fps, acceleration)
        curves = {"wanted": wanted(times), "commanded": commanded, "measured": measured}
        for (name, values), colour in zip(curves.items(), (RED, GREY, BLUE), strict=True):
            lags = np.arange(-0.05, 0.3, 1e-3)
            off = [np.sqrt(np.mean((values - wanted(times - lag)) ** 2)) for lag in lags]
            if name != "wanted":
                print(f"{acceleration}: {name} lags by {lags[np.argmin(off)]:.3f} s, "
                      f"then off by {min(off):.4f} rad on average")  # fmt: skip
            position.plot(times, values[:, SHOWN], color=colour, label=name, lw=1.0)
            speed = np.gradient(values[:, SHOWN], times)
            velocity.plot(times, speed, color=colour, lw=0.8)
        for limit in (-CHAIN.velocity[SHOWN], CHAIN.velocity[SHOWN]):
            velocity.axhline(limit, color=RED, lw=0.8, ls=":")
        position.set_title(title)
        velocity.set_xlabel("time [s]")
        velocity.set_xlim(SEEN)
    axes[0, 0].set_ylabel(f"{CHAIN.joint_names[SHOWN]} [rad]")
    axes[1, 0].set_ylabel("velocity [rad/s]; dotted: limit")
    axes[0, 0].legend(loc="upper right", fontsize=7)
    figure.savefig(HERE / "chunks.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
