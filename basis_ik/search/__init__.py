# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Goals, prepared chains and tasks by priority: what all solvers of chains share."""
