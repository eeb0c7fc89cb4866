"""Bases, transform nodes, and trees of them."""

from basis_ik.dependencies import check_dependencies

check_dependencies()  # before transforms3d is imported
