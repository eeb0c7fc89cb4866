# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Plots of an arm's commands, measurements and errors over the last seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from viser import GuiApi

SPAN = 20.0  # s shown
SAMPLE_RATE = 10.0  # Hz
SEND_RATE = 5.0  # Hz
COLORS = ("#e6194b", "#3cb44b", "#4363d8", "#f58231", "#911eb4", "#42d4f4", "#f032e6", "#bfef45")
MEASURED, COMMANDED = "measured", "commanded"


class ArmPlot:
    """One plot, of a kind that the user selects.

    Args:
        gui: viser's GUI.
        kinds: Names of the curves of each plot; a curve that ends in `COMMANDED` is dashed.
    """

    def __init__(self, gui: GuiApi, kinds: Mapping[str, Sequence[str]]) -> None:
        self._gui, self._kinds = gui, kinds
        self._choice = gui.add_dropdown("plot", (*kinds, "none"))
        # A folder keeps the plot's position when another kind is selected.
        self._folder = gui.add_folder("over the last 20 s", expand_by_default=True)
        self._rows: dict[str, deque[tuple[float, ...]]] = {
            kind: deque(maxlen=round(SPAN * SAMPLE_RATE)) for kind in kinds
        }
        self._shown, self._plot = "", None
        self._sampled = self._sent = -np.inf

    def destroy(self) -> None:
        """Remove the plot from the page."""
        self._choice.remove()
        self._folder.remove()

    def is_due(self, now: float) -> bool:
        """Return whether a sample is due at a time [s]."""
        return now - self._sampled >= 1.0 / SAMPLE_RATE

    def add(self, now: float, values: Mapping[str, Sequence[float]]) -> None:
        """Add a sample.

        Args:
            now: Its time [s].
            values: Values of each plot's curves; NaN where unknown.
        """
        self._sampled = now
        for kind, row in values.items():
            self._rows[kind].append((now, *row))
        if now - self._sent >= 1.0 / SEND_RATE:
            self._sent = now
            self._send(now)

    def _send(self, now: float) -> None:
        kind = self._choice.value
        if kind != self._shown:
            if self._plot is not None:
                self._plot.remove()
                self._plot = None
            self._shown = kind
        if kind not in self._kinds:
            return
        table = np.array(self._rows[kind], np.float64).T
        table[0] -= now
        data = tuple(np.ascontiguousarray(column) for column in table)
        if self._plot is not None:
            self._plot.data = data
            return
        series: list[dict[str, Any]] = [{"label": "s"}, *map(_curve, *_numbered(self._kinds[kind]))]
        with self._folder:
            self._plot = self._gui.add_uplot(
                data, tuple(series), aspect=1.3, scales={"x": {"time": False}}
            )


def _numbered(names: Sequence[str]) -> tuple[Sequence[str], list[int]]:
    """Return names and color numbers; measured and commanded curves of a joint share one."""
    plain = [name.removesuffix(f" {COMMANDED}") for name in names]
    order = list(dict.fromkeys(plain))
    return names, [order.index(each) for each in plain]


def _curve(name: str, number: int) -> dict[str, Any]:
    curve = {"label": name, "stroke": COLORS[number % len(COLORS)], "width": 2}
    return curve | ({"dash": (6, 4), "width": 1} if name.endswith(COMMANDED) else {})
