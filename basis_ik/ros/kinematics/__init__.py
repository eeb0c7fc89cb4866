# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""MoveIt's kinematics services: compute_ik, compute_fk and compute_cartesian_path."""
