# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Launch for ROS nodes: the part of ROS 2 launch_ros that basis_ik uses."""
