# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Plots of an arm's commands, measurements and errors over the last seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from viser import GuiApi

from basis_ik.extras.web_view.looks import Unit


class PlotTuning(NamedTuple):
    """Tuning of the plot."""

    span: float = 20.0  # [s] shown
    sample_rate: float = 10.0  # [Hz]
    send_rate: float = 5.0  # [Hz]


PLOT = PlotTuning()
CURVE_COLORS = (
    "#e6194b",
    "#3cb44b",
    "#4363d8",
    "#f58231",
    "#911eb4",
    "#42d4f4",
    "#f032e6",
    "#bfef45",
)
ALL_JOINTS = "all joints"
COMMANDED = "commanded"  # ends the name of a curve


class ArmPlot:
    """One plot, of a kind and a joint that the user selects.

    Args:
        gui: viser's GUI.
        units: The units of the joints' positions by their names.
    """

    def __init__(self, gui: GuiApi, units: Mapping[str, Unit]) -> None:
        self._gui = gui
        self._kinds = {
            "positions": _pairs({name: unit.text for name, unit in units.items()}),
            "velocities": _pairs({name: f"{unit.text}/s" for name, unit in units.items()}),
            "errors": ("position mm", "orientation °", "farthest joint °"),
            "latency": (
                "solve, median ms", "solve, largest ms", "joint states: age ms",
                "control period: work, p99 ms",
            ),
        }  # fmt: skip
        self._choice = gui.add_dropdown("plot", (*self._kinds, "none"))
        self._joint = gui.add_dropdown("joint", (*units, ALL_JOINTS))
        # A folder keeps the plot's position when another kind is selected.
        self._folder = gui.add_folder(f"over the last {PLOT.span:.0f} s", expand_by_default=True)
        self._rows: dict[str, deque[tuple[float, ...]]] = {
            kind: deque(maxlen=round(PLOT.span * PLOT.sample_rate)) for kind in self._kinds
        }
        self._shown: tuple[str, str] = ("", "")
        self._plot: Any = None
        self._sampled = self._sent = -np.inf

    def destroy(self) -> None:
        """Remove the plot from the page."""
        for part in (self._choice, self._joint, self._folder):
            part.remove()

    def is_due(self, now: float) -> bool:
        """Return whether a sample is due at a time [s]."""
        return now - self._sampled >= 1.0 / PLOT.sample_rate

    def add(self, now: float, values: Mapping[str, Sequence[float]]) -> None:
        """Add a sample.

        Args:
            now: Its time [s].
            values: Values of each plot's curves; NaN where unknown.
        """
        self._sampled = now
        for kind, row in values.items():
            self._rows[kind].append((now, *row))
        if now - self._sent >= 1.0 / PLOT.send_rate:
            self._sent = now
            self._send(now)

    def _send(self, now: float) -> None:
        kind, joint = shown = self._choice.value, self._joint.value
        if shown != self._shown:
            if self._plot is not None:
                self._plot.remove()
                self._plot = None
            self._shown = shown
        if kind not in self._kinds:
            return
        names = self._kinds[kind]
        chosen = [k for k, name in enumerate(names) if joint in (ALL_JOINTS, name.split(" ")[0])]
        chosen = chosen or list(range(len(names)))  # of no joint
        table = np.array(self._rows[kind], np.float64).T
        table[0] -= now
        data = tuple(np.ascontiguousarray(table[k]) for k in (0, *(k + 1 for k in chosen)))
        if self._plot is not None:
            self._plot.data = data
            return
        curves = list(map(_curve, *_numbered([names[k] for k in chosen])))
        series: list[dict[str, Any]] = [{"label": "s"}, *curves]
        with self._folder:
            self._plot = self._gui.add_uplot(
                data, tuple(series), aspect=1.3, scales={"x": {"time": False}}
            )


def _pairs(units: Mapping[str, str]) -> list[str]:
    """Return the names of the curves of joints, by their units: measured, then commanded."""
    return [f"{name} {unit}{of}" for name, unit in units.items() for of in ("", f" {COMMANDED}")]


def _numbered(names: Sequence[str]) -> tuple[Sequence[str], list[int]]:
    """Return names and color numbers; measured and commanded curves of a joint share one."""
    plain = [name.removesuffix(f" {COMMANDED}") for name in names]
    order = list(dict.fromkeys(plain))
    return names, [order.index(each) for each in plain]


def _curve(name: str, number: int) -> dict[str, Any]:
    curve = {"label": name, "stroke": CURVE_COLORS[number % len(CURVE_COLORS)], "width": 2}
    return curve | ({"dash": (6, 4), "width": 1} if name.endswith(COMMANDED) else {})
