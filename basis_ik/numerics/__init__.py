# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The compiler of kernels, and the small linear algebra that they share."""

from basis_ik.dependencies import check_dependencies

check_dependencies()  # before any kernel imports numba
