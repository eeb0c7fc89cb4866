# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The colors of a share, the same in files, on the page and in pictures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from basis_ik.numerics.arrays import FloatArray

# Colors of matplotlib's viridis for shares 0, 1/4, ... 1; their brightness grows evenly.
COLOURS = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)])


def colours(share: FloatArray) -> npt.NDArray[np.uint8]:
    """Return colors (k, 3) from violet to yellow for shares (k,) from 0 to 1."""
    steps = np.linspace(0.0, 1.0, len(COLOURS))
    found = np.empty((len(share), 3), np.uint8)
    for i, each in enumerate(COLOURS.T):
        found[:, i] = np.rint(np.interp(share, steps, each))
    return found
