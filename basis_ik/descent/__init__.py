# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""From a goal and a start to proven joint positions, compiled: sweep, descent, proof."""
