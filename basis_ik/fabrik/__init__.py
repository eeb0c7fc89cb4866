# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""FABRIK on points: chains and trees of bones, with limits."""
