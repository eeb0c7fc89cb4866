# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rigid transforms, transform nodes, and trees of them."""

from basis_ik.dependencies import check_dependencies

check_dependencies()  # before transforms3d is imported
