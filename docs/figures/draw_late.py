# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw docs/figures/late.svg: output and arm in motions whose messages come late.

pip install matplotlib && python docs/figures/draw_late.py      (in `make shell`)
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "test" / "fuzz"))
import late_run  # noqa: E402

LIMIT = np.pi  # rad/s, of each joint of the UR5e
BLUE, GREY = "#2b6cb0", "#a0aec0"

mpl.use("svg")
mpl.rcParams.update(
    {"svg.hashsalt": "basis_ik", "svg.fonttype": "none", "font.size": 9}
    | {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)


class Shown(NamedTuple):
    """A pattern."""

    seed: int
    """Of its robot."""
    number: int
    """Of the robot's patterns."""
    title: str
    seconds: float
    """That are drawn."""


SHOWN = (
    Shown(11, 1, "by the stamp, up to 50 ms late: a moving target", 1.5),
    Shown(30, 4, "a controller that blends, up to 2 s late: a moving target", 1.5),
)


class Watched(list[Any]):
    """The outputs of an arm, each with where the arm then is."""

    def __init__(self, arm: Any) -> None:
        super().__init__()
        self._arm, self.rows = arm, []  # type: ignore[var-annotated]

    def append(self, entry: Any) -> None:
        """Append an output, and the arm's positions."""
        super().append(entry)
        self.rows.append((*entry, self._arm.joints.positions.copy()))


def record(shown: Shown) -> list[Any]:
    """Return time [ns], output and arm (n,) [rad] of each cycle in a pattern."""
    watched: list[Watched] = []
    plain = late_run._try

    def watch(robot: Any, *rest: Any) -> Any:
        robot.arm.outputs = Watched(robot.arm)
        watched.append(robot.arm.outputs)
        return plain(robot, *rest)

    late_run._try = watch
    patterns, _ = late_run.run(shown.seed)
    late_run._try = plain
    print(patterns[shown.number])
    return watched[shown.number].rows


def main() -> None:
    """Draw it."""
    figure, axes = plt.subplots(2, len(SHOWN), figsize=(9.0, 4.5), sharex="col", squeeze=False)
    for column, shown in zip(axes.T, SHOWN, strict=True):
        rows = record(shown)
        times = 1e-9 * (np.array([row[0] for row in rows]) - rows[0][0])
        kept = times < shown.seconds
        output, arm = (np.array([row[k] for row in rows]) for k in (1, 2))
        joint = int(np.abs(np.diff(output, axis=0)).max(axis=0).argmax())
        for way, colour, name in ((arm, GREY, "arm"), (output, BLUE, "output")):
            column[0].plot(times[kept], way[kept, joint], color=colour, label=name)
            speed = np.gradient(way[:, joint], times)
            column[1].plot(times[kept], speed[kept], color=colour, linewidth=1.0)
        for bound in (-LIMIT, LIMIT):
            column[1].axhline(bound, color=GREY, linestyle=":", linewidth=0.8)
        column[0].set_title(shown.title, fontsize=9)
        column[1].set_xlabel("s")
    axes[0, 0].set_ylabel("position [rad]")
    axes[1, 0].set_ylabel("velocity [rad/s],\nits limit dotted")
    axes[0, 0].legend(frameon=False)
    figure.savefig(HERE / "late.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
