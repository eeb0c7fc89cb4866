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

"""Draw docs/figures/bench_solve.svg from benchmark/results/solve.json; `make bench` does so too.

pip install matplotlib && python docs/figures/draw_bench.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "benchmark" / "results" / "solve.json"
OURS = "basis_ik"
MARKS = "osD^vP*X"

mpl.use("svg")
mpl.rcParams.update(
    {"svg.hashsalt": "basis_ik", "svg.fonttype": "none", "font.size": 9}
    | {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)


def rows(ax: Axes, compared: dict[str, Any], key: str, label: str) -> None:
    """Draw one figure of each contestant, a row for each arm."""
    contestants = dict.fromkeys(name for each in compared.values() for name in each)
    for number, name in enumerate(contestants):
        there = [
            (row, each[name][key]) for row, each in enumerate(compared.values()) if name in each
        ]
        ax.plot(
            [value for _, value in there],
            [row for row, _ in there],
            MARKS[number % len(MARKS)],
            ms=6 if name == OURS else 4,
            color="#c53030" if name == OURS else plt.get_cmap("tab10")(number % 10),
            alpha=1.0 if name == OURS else 0.7,
            label=name,
            zorder=3 if name == OURS else 2,
        )
    ax.set(yticks=range(len(compared)), yticklabels=list(compared), xlabel=label)
    ax.grid(visible=True, color="#e2e8f0")


def main() -> None:
    """Draw time and success."""
    compared = json.loads(RESULTS.read_text())["compare"]
    figure, (times, solved) = plt.subplots(
        1, 2, figsize=(9.0, 0.5 + 0.27 * len(compared)), width_ratios=(3, 1), sharey=True
    )
    times.set_xscale("log")
    rows(times, compared, "mean_us", "mean time of a solve [µs]")
    rows(solved, compared, "success_percent", "solved [%]")
    times.invert_yaxis()
    figure.legend(
        *times.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False
    )
    figure.savefig(HERE / "bench_solve.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
