# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Moves an arm from Python: `from basis_ik.client import Arm`; docs/client.md shows it."""

from basis_ik.ros.arm_client import (
    Arm,
    Motion,
    MotionError,
    MotionTimeoutError,
    NodeError,
    NotReachedError,
    ReplacedError,
    Status,
    StoppedError,
    TargetRefusedError,
)

__all__ = [
    "Arm",
    "Motion",
    "MotionError",
    "MotionTimeoutError",
    "NodeError",
    "NotReachedError",
    "ReplacedError",
    "Status",
    "StoppedError",
    "TargetRefusedError",
]
