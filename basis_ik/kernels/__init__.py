"""Compiled functions: arrays in, arrays and status integers out."""

from basis_ik.dependencies import check_dependencies

check_dependencies()  # before any kernel imports numba
