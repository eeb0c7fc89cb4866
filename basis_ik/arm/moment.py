# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A moment of the control loop."""

from typing import NamedTuple

SECOND = 1_000_000_000  # [ns]


class Moment(NamedTuple):
    """The time on both clocks of a control loop; read once in each period."""

    loop: float
    """Time of ages and time limits, of a clock that is never set [s]."""
    clock: int
    """Time of stamps [ns]."""
