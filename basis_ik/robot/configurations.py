# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Initial joint positions: the middle of the limits, or random ones."""

from __future__ import annotations

import numpy as np

from basis_ik.numerics.arrays import FloatArray


def middle(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the middle of limits (n,); if one is infinite, the allowed position nearest to 0."""
    low, high = np.isfinite(lower), np.isfinite(upper)
    both = 0.5 * np.where(low, lower, 0.0) + 0.5 * np.where(high, upper, 0.0)
    return np.where(low & high, both, np.clip(0.0, lower, upper))


def uniform(lower: FloatArray, upper: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return uniform positions (n,) within limits; if one is infinite, within a full turn."""
    low = np.where(np.isfinite(lower), lower, np.minimum(-np.pi, upper - 2.0 * np.pi))
    high = np.where(np.isfinite(upper), upper, np.maximum(np.pi, lower + 2.0 * np.pi))
    return np.clip(rng.uniform(low, high), lower, upper)
