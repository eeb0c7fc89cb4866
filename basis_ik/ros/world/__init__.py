# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The objects around the robot, by MoveIt's topics and services of planning scenes."""
