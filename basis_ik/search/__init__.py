# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""From a goal and a seed to proven joint positions: what all solvers of chains share."""
