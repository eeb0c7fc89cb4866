# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw the tables of benchmark/results/ as docs/figures/bench_*.svg, as `make bench WRITE=1` does.

pip install matplotlib && python docs/figures/draw_bench.py [solve] [fabrik] [transforms] [limiter]
[latency]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "benchmark" / "results"
OURS = ("basis_ik", "ours")
MARKS = "osD^vP*X"
WIDE = 20.0  # ratio of times from which on they are drawn on a logarithmic axis
Table = Mapping[str, Mapping[str, float]]
"""A row for each thing measured: the figure of each contestant."""

mpl.use("svg")
mpl.rcParams.update(
    {"svg.hashsalt": "basis_ik", "svg.fonttype": "none", "font.size": 9}
    | {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)


def points(ax: Axes, table: Table, label: str) -> None:
    """Draw a table, a row for each thing measured."""
    contestants = dict.fromkeys(name for row in table.values() for name in row)
    for number, name in enumerate(contestants):
        there = [(at, row[name]) for at, row in enumerate(table.values()) if name in row]
        ours = name in OURS
        ax.plot(
            [value for _, value in there],
            [at for at, _ in there],
            MARKS[number % len(MARKS)],
            ms=6 if ours else 4,
            color="#c53030" if ours else plt.get_cmap("tab10")(number % 10),
            alpha=1.0 if ours else 0.7,
            label=name,
            zorder=3 if ours else 2,
        )
    ax.set(yticks=range(len(table)), yticklabels=list(table), xlabel=label)
    ax.grid(visible=True, color="#e2e8f0")


def column(rows: Mapping[str, Mapping[str, Any]], key: str, scale: float = 1.0) -> Table:
    """Return one figure of each contestant."""
    return {
        name: {who: scale * each[key] for who, each in row.items()} for name, row in rows.items()
    }


def draw(name: str, times: Table, solved: Table | None = None) -> None:
    """Draw times [µs] and, where there are any, shares of solved targets [%]."""
    columns = 1 if solved is None else 2
    figure, axes = plt.subplots(
        1, columns, figsize=(9.0, 0.9 + 0.24 * len(times)), width_ratios=(3, 1)[:columns],
        sharey=True, squeeze=False,
    )  # fmt: skip
    first = axes[0, 0]
    points(first, times, "time [µs]")
    every = [time for row in times.values() for time in row.values()]
    if max(every) > WIDE * min(every):
        first.set_xscale("log")
    else:
        first.set_xlim(left=0.0)
    first.set_ylim(-0.5, len(times) - 0.5)
    if solved is not None:
        points(axes[0, 1], solved, "solved [%]")
    first.invert_yaxis()
    handles = first.get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(HERE / f"bench_{name}.svg", metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Draw the tables that are named, or all."""
    for name in sys.argv[1:] or ("solve", "fabrik", "transforms", "limiter", "latency"):
        results = json.loads((RESULTS / f"{name}.json").read_text())
        if name == "solve":
            compared = results["compare"]
            draw(name, column(compared, "mean_us"), column(compared, "success_percent"))
        elif name == "fabrik":
            sizes = {f"{n} links": row for n, row in results["sizes"].items() if n.isdigit()}
            draw(name, column(sizes, "us"), column(sizes, "converged_percent"))
        elif name == "limiter":
            draw(name, results["microseconds"])
        elif name == "latency":
            measured = {"an echo node": "echo", "basis_ik": "basis_ik"}
            draw(
                name,
                {
                    f"from a pose to its command, {what}": {
                        who: 1e3 * results["latency"][key][f"{figure}_ms"]
                        for who, key in measured.items()
                    }
                    for what, figure in (("median", "median"), ("99th percentile", "p99"))
                },
            )
        else:
            rows = {what: row for what, row in results["rows"].items() if "basis_ik" in row}
            draw(name, column(rows, "seconds", 1e6))


if __name__ == "__main__":
    main()
