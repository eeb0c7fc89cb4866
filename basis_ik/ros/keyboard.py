# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Keys that jog the tip, and a terminal that passes on each stroke."""

from __future__ import annotations

import contextlib
import os
import sys
import termios
import tty
from collections.abc import Iterator

from basis_ik.errors import BasisIkError

Triple = tuple[float, float, float]

# Fractions of the linear and the angular speed for each key.
KEY_TWISTS: dict[str, tuple[Triple, Triple]] = {
    "w": ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "s": ((-1.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "a": ((0.0, 1.0, 0.0), (0.0, 0.0, 0.0)),
    "d": ((0.0, -1.0, 0.0), (0.0, 0.0, 0.0)),
    "r": ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
    "f": ((0.0, 0.0, -1.0), (0.0, 0.0, 0.0)),
    "u": ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    "j": ((0.0, 0.0, 0.0), (-1.0, 0.0, 0.0)),
    "i": ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "k": ((0.0, 0.0, 0.0), (0.0, -1.0, 0.0)),
    "o": ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    "l": ((0.0, 0.0, 0.0), (0.0, 0.0, -1.0)),
}
ZERO_TWIST = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@contextlib.contextmanager
def strokes_at_once() -> Iterator[int]:
    """Make the terminal pass on each stroke at once; restore its mode at the end.

    Yields:
        The file descriptor to read from.

    Raises:
        BasisIkError: Standard input is not a terminal.
    """
    descriptor = sys.stdin.fileno()
    if not os.isatty(descriptor):
        raise BasisIkError(
            "standard input is no terminal: run `ros2 run basis_ik teleop_keyboard` in its own "
            "terminal, not by a launch file or pipe"
        )
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield descriptor
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
