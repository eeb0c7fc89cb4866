# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Describes, starts and watches processes: the part of ROS 2 launch that basis_ik uses."""

from .entities import Action, Event, LaunchContext, LaunchDescription
from .launch_service import LaunchService

__all__ = ["Action", "Event", "LaunchContext", "LaunchDescription", "LaunchService"]
