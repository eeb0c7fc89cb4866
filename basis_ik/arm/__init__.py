# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""From a target in the root frame to safe commands: admission, state, limits, checks."""
