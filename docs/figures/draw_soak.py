# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw docs/figures/soak.svg: what `make soak` has measured.

pip install matplotlib && python docs/figures/draw_soak.py      (in `make shell`; reads benchmark/results/soak.json)
"""  # noqa: E501  a command

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
BLUE, GREY = "#2b6cb0", "#a0aec0"

mpl.use("svg")
mpl.rcParams.update(
    {"svg.hashsalt": "basis_ik", "svg.fonttype": "none", "font.size": 9}
    | {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
PANELS = (
    ("memory_mb", 1.0, "resident memory\n[MB]", BLUE),
    ("processor", 100.0, "processor\n[% of a core]", BLUE),
    ("command_age_p99_ms", 1.0, "age of commands,\n99th percentile\n[ms]", BLUE),
    ("missed_periods", 1.0, "missed periods,\nall so far", BLUE),
    ("arm_late_ms", 1.0, "how late the\narm's process is\n[ms]", GREY),
    ("load", 1.0, "load of the\nwhole machine", GREY),
)


def main() -> None:
    """Draw it."""
    figures = json.loads((HERE.parents[1] / "benchmark" / "results" / "soak.json").read_text())
    rows = figures["rows"]
    minutes = [row["s"] / 60.0 for row in rows]
    figure, axes = plt.subplots(len(PANELS), 1, figsize=(8.0, 9.0), sharex=True)
    for axis, (key, factor, label, colour) in zip(axes, PANELS, strict=True):
        values = [float("nan") if row[key] is None else factor * row[key] for row in rows]
        axis.plot(minutes, values, color=colour, linewidth=0.8)
        axis.set_ylabel(label)
        if key != "memory_mb":  # whose small changes are of interest
            axis.set_ylim(bottom=0.0)
    axes[-1].set_xlabel("minutes")
    slope, commands = figures["memory_slope_mb_per_h"], figures["commands"]
    axes[0].set_title(
        f"{figures['minutes']:g} minutes, seed {figures['seed']}: {sum(figures['deeds'].values())} "
        f"deeds, {commands} commands; memory {slope:+.2f} MB/h after the first minute",
        fontsize=9,
    )
    figure.savefig(HERE / "soak.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
