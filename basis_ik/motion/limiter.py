"""Commands on the way to a goal: limited in velocity, checked once more before they leave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SLACK = 1e-9  # rounding allowance [rad or m]


def step_towards(
    command: NDArray[np.float64], goal: NDArray[np.float64], max_step: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the next command on the straight joint-space line from `command` to `goal`.

    All joints are slowed by one factor, so that they arrive together.

    Args:
        command: The last command (n,) [rad or m].
        goal: Where to (n,).
        max_step: Largest allowed change of each joint (n,), positive.
    """
    delta = goal - command
    ratio = float(np.max(np.abs(delta) / max_step))
    return goal.copy() if ratio <= 1.0 else command + delta / ratio


def is_safe(
    command: NDArray[np.float64],
    previous: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    max_step: NDArray[np.float64],
) -> bool:
    """Tell whether a command may be sent.

    It must be finite, change no joint by more than `max_step`, and lie inside the limits; a joint
    that was outside may only move inward.
    """
    # Written so that NaN fails every comparison.
    within_step = np.abs(command - previous) <= max_step + SLACK
    above = (command >= lower - SLACK) | ((previous < lower) & (command >= previous))
    below = (command <= upper + SLACK) | ((previous > upper) & (command <= previous))
    return bool(np.all(within_step & above & below & np.isfinite(command)))
