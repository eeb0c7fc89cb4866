# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The simulated arm: a trajectory controller, drives, and masses and contacts by MuJoCo."""
