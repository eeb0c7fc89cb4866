# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Calls from Python of what only kernels call, compiled or as plain Python."""

import numba

IS_PLAIN = bool(numba.config.DISABLE_JIT)
"""Whether kernels are plain Python here, a hundred times slower: it checks bounds and types."""


def from_python(helper):
    """Return a helper as a function that Python can call: compiled ones have no entry for it."""
    if not hasattr(helper, "py_func"):
        return helper  # under NUMBA_DISABLE_JIT=1

    @numba.njit(error_model="numpy")
    def call(*arguments):
        return helper(*arguments)

    return call


def sample(count):
    """Return how many random cases to draw: as plain Python a thirtieth of a kernel's, or three.

    Bounds and types are the same in each; that figures are right is for the compiled ones to show.
    """
    return max(min(count, 3), count // 30) if IS_PLAIN else count
