"""Calls from Python of what only kernels call."""

import numba


def from_python(helper):
    """Return a helper as a function that Python can call: compiled ones have no entry for it."""
    if not hasattr(helper, "py_func"):
        return helper  # under NUMBA_DISABLE_JIT=1

    @numba.njit(error_model="numpy")
    def call(*arguments):
        return helper(*arguments)

    return call
