# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The table of motions beside MoveIt Servo's; as a program, writes it into docs/coming_from.md.

`python benchmark/motion_table.py` reads benchmark/results/motion.json. Servo's figures are of
MoveIt 2.12.4 on the real joint_trajectory_controller with a UR5e and the same limits: with its demo
settings, and with `max_expected_latency` 0.03 s.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coming_from.md"
RESULTS = ROOT / "benchmark" / "results" / "motion.json"
DEGREES = 180.0 / math.pi
MARK = "<!-- benchmark/motion_table.py -->\n"


class Row(NamedTuple):
    """A figure: what it is called, where it is in the results, and what Servo did in the same.

    Attributes:
        title: With the unit that it is shown in.
        name, key: Of the measurement and of its figure; the figure is in s, m, rad or a part.
        scale: From there to what is shown.
        servo: Of its settings; text where there is no one number; None where nothing is known.
        more: Whether more is better.
    """

    title: str
    name: str
    key: str
    scale: float
    servo: tuple[float | str | None, ...]
    more: bool = False


EXACT = (
    Row("pose to motion, median [ms]", "pose_to_motion", "median", 1e3, (98, 27)),
    Row("pose to motion, greatest [ms]", "pose_to_motion", "max", 1e3, (101, 33)),
    Row("twist to motion, median [ms]", "twist_to_motion", "median", 1e3, (101, 26)),
    Row("step of 5 cm: within 1 mm after [ms]", "step", "within_1_mm", 1e3, (480, 410)),
    Row("the same, `path: straight` [ms]", "straight_step", "within_1_mm", 1e3, (480, 410)),
    Row("its overshoot [mm]", "step", "overshoot", 1e3, (9.9, 9.9)),
    Row("its departure from the line [mm]", "step", "off_line", 1e3, (0.17, 0.17)),
    Row("the same, `path: straight` [mm]", "straight_step", "off_line", 1e3, (0.17, 0.17)),
    Row("big move: departure from the line [mm]", "big_move", "off_line", 1e3, (0.42, 0.42)),
    Row("the same, `path: straight` [mm]", "straight_big_move", "off_line", 1e3, (0.42, 0.42)),
    Row("circle at 0.16 m/s: error, median [mm]", "slow_circle", "error_median", 1e3, (17, 6.4)),
    Row("its error, greatest [mm]", "slow_circle", "error_max", 1e3, (19, 8.1)),
    Row("circle at 0.31 m/s: error, median [mm]", "circle", "error_median", 1e3, (36, 14)),
    Row("its error, greatest [mm]", "circle", "error_max", 1e3, (38, 24)),
    Row("its lag [ms]", "circle", "lag", 1e3, (115, 43)),
    Row("its error of shape [mm]", "circle", "shape", 1e3, (0.8, 1.1)),
    Row("stop from a twist of 0.2 m/s: after [ms]", "stop_from_twist", "time", 1e3, (96, 24)),
    Row("its way [mm]", "stop_from_twist", "way", 1e3, (18, 3.7)),
    Row("its acceleration [% of the limit]", "stop_from_twist", "acceleration", 1e2, (169, 241)),
    Row("stop on the circle at 0.31 m/s: after [ms]", "stop_on_circle", "time", 1e3, (88, 22)),
    Row("its way [mm]", "stop_on_circle", "way", 1e3, (27, 5)),
    Row("its acceleration [% of the limit]", "stop_on_circle", "acceleration", 1e2, (756, 610)),
    Row("twists cease: at rest after [ms]", "twists_cease", "time", 1e3, (220, 150)),
    Row("its way [mm]", "twists_cease", "way", 1e3, (41, 27)),
    Row("the circle's poses cease: past the last [mm]", "poses_cease", "past", 1e3, ("9–12", 11)),
    Row("at rest, off the last by [mm]", "poses_cease", "final", 1e3, ("9–12", 11)),
)
LAGGING = (
    Row("pose to motion, median [ms]", "pose_to_motion", "median", 1e3, (103, 34)),
    Row("circle at 0.31 m/s: error, median [mm]", "circle", "error_median", 1e3, (44, 22)),
    Row("its lag [ms]", "circle", "lag", 1e3, (142, 70)),
    Row("its acceleration [% of the limit]", "circle", "acceleration", 1e2, (63, 47)),
    Row(
        "the same, of raw samples, 99th percentile [%]",
        "circle",
        "raw_acceleration_p99",
        1e2,
        (131, 97),
    ),
    Row("stop from a twist of 0.2 m/s: after [ms]", "stop_from_twist", "time", 1e3, (243, 171)),
    Row("its way [mm]", "stop_from_twist", "way", 1e3, (23, 9)),
    Row("stop on the circle: after [ms]", "stop_on_circle", "time", 1e3, (265, 203)),
    Row("its way [mm]", "stop_on_circle", "way", 1e3, (33, 14)),
)
EMERGENCY = "emergency stop"
JOGGING = (
    Row("stretching out: so far [mm]", "stretch_out", "way", 1e3, (287,), more=True),
    Row("off the line by [mm]", "stretch_out", "off_line", 1e3, (0.43,)),
    Row("the status names", "stretch_out", "told", 1.0, (None,)),
    Row("a second of the twist back: back by [mm]", "stretch_out", "back", 1e3, ("yes",)),
    Row(
        "past the wrist's singularity, 1° beside it: turned in 8 s [°]",
        "through_the_wrist",
        "turned",
        DEGREES,
        (EMERGENCY,),
    ),
    Row("the tip moves by [mm]", "through_the_wrist", "off", 1e3, (EMERGENCY,)),
    Row("the fastest joint [% of its speed limit]", "through_the_wrist", "speed", 1e2, (None,)),
    Row("acceleration [% of the limit]", "through_the_wrist", "acceleration", 1e2, (None,)),
    Row("the status names", "through_the_wrist", "told", 1.0, (EMERGENCY,)),
    Row(
        "a second of the twist back: turned back by [°]",
        "through_the_wrist",
        "back",
        DEGREES,
        (0,),
        more=True,
    ),
    Row("into a joint's limit: short of it by [rad]", "into_a_limit", "short_of", 1.0, (0.10,)),
    Row("the tip moves by [mm]", "into_a_limit", "off", 1e3, (None,)),
    Row("acceleration [% of the limit]", "into_a_limit", "acceleration", 1e2, ("136–601",)),
    Row("the status names", "into_a_limit", "told", 1.0, (None,)),
    Row("changes of what the status names, in 4 s", "into_a_limit", "changes", 1.0, (None,)),
    Row("a pose out of reach: at rest after [ms]", "out_of_reach", "rest", 1e3, (EMERGENCY,)),
    Row("the status says", "out_of_reach", "told", 1.0, (EMERGENCY,)),
    Row("a pose within reach again: off by [mm]", "out_of_reach", "final", 1e3, (289,)),
)
TABLES = (
    (EXACT, ("exact",), "arm that follows exactly | here | Servo | Servo, 0.03 s"),
    (
        LAGGING,
        ("lagging", "lagging_desired"),
        "arm with a lag of 30 ms | here | here, `interpolate_from_desired_state` | Servo "
        "| Servo, 0.03 s",
    ),
    (JOGGING, ("jogging",), "jogging with twists; out of reach | here | Servo"),
)


def render(figures: dict[str, Any]) -> str:
    """Return the tables in Markdown; in rows marked with ◆ a setting of Servo's is better."""
    lines = []
    for rows, columns, head in TABLES:
        if not all(column in figures for column in columns):
            continue
        lines += ["", f"| {head} |", "|---" * (head.count("|") + 1) + "|"]
        for row in rows:
            ours = [figures[column][row.name][row.key] for column in columns]
            mark = " ◆" if any(is_better(row, each) for each in ours) else ""
            cells = [shown(each, row.scale) for each in ours] + [shown(each) for each in row.servo]
            lines.append(f"| {row.title}{mark} | {' | '.join(cells)} |")
    return "\n".join(lines[1:]) + "\n"


def is_better(row: Row, ours: Any) -> bool:
    """Tell whether one of Servo's figures is better than ours as shown, where both are numbers."""
    if not isinstance(ours, (int, float)):
        return False
    ours = float(shown(ours, row.scale))
    found = (re.match(r"[\d.]+", str(each)) for each in row.servo)
    theirs = [float(match[0]) for match in found if match]
    return any(each > ours if row.more else each < ours for each in theirs)


def shown(value: Any, scale: float = 1.0) -> str:
    """Return a figure to two or three digits, or a text, as a cell shows it."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(value) or "nothing"
    if isinstance(value, str):
        return value
    value *= scale
    if abs(value) >= 99.5 or value == int(value):
        return f"{value:.0f}"
    return "0.00" if abs(value) < 5e-3 else f"{value:.2g}"


def page(text: str, figures: dict[str, Any]) -> str:
    """Return a page with its tables as the figures have them."""
    before, _, after = text.split(MARK)
    return MARK.join((before, render(figures), after))


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(), json.loads(RESULTS.read_text())))
