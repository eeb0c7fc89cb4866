# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""How long messages and results of actions are kept for others."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""The last message is kept for those who come later."""
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""A message that is older than another is not read."""
RESULT_TIMEOUT = 10
"""Time that the result of an action is kept for late requests [s], as in rclcpp.

With rclpy's 15 min the goals of a client that streams them would accumulate.
"""
