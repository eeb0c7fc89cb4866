# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters: their declarations and checks, and the settings of a node and its chains."""
