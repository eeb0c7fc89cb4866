# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Nodes that need no robot: constraints on tf frames, and trees of transform nodes."""
