# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ROS 2 nodes; the only package that imports rclpy and messages."""
