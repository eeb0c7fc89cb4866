# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The --qos-* options."""

from __future__ import annotations

import argparse
import copy

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSPresetProfiles,
    QoSProfile,
    ReliabilityPolicy,
)

POLICIES = {
    "history": HistoryPolicy,
    "reliability": ReliabilityPolicy,
    "durability": DurabilityPolicy,
    "liveliness": LivelinessPolicy,
}


def add_options(parser: argparse.ArgumentParser, preset: str) -> None:
    """Add the options; `preset` is the profile that they change."""
    presets = [key for key in QoSPresetProfiles.short_keys() if key != "unknown"]
    add = parser.add_argument
    add("--qos-profile", choices=presets, help=f"preset (default: {preset})")
    add("--qos-depth", type=int, metavar="N", help="length of the queue with keep_last")
    for name, policy in POLICIES.items():
        keys = [key for key in policy.short_keys() if key != "unknown"]
        add(f"--qos-{name}", choices=keys, help=f"{name} instead of the preset's")
    lease = "--qos-liveliness-lease-duration-seconds"
    add(lease, type=float, metavar="S", help="liveliness lease instead of the preset's")
    parser.set_defaults(qos_preset=preset)


def chosen(args: argparse.Namespace) -> bool:
    """Return whether any of the options was given."""
    return any(
        v is not None for k, v in vars(args).items() if k[:4] == "qos_" and k != "qos_preset"
    )


def profile(args: argparse.Namespace) -> QoSProfile:
    """Return the profile that the options describe."""
    preset = args.qos_profile or args.qos_preset
    result = copy.copy(QoSPresetProfiles.get_from_short_key(preset))
    for name, policy in POLICIES.items():
        if (key := getattr(args, f"qos_{name}")) is not None:
            setattr(result, name, policy.get_from_short_key(key))
    if args.qos_depth is not None:
        result.depth = args.qos_depth
    if (lease := args.qos_liveliness_lease_duration_seconds) is not None:
        result.liveliness_lease_duration = Duration(seconds=lease)
    return result


def matching(node: Node, topic: str, args: argparse.Namespace) -> QoSProfile:
    """Return the chosen profile, or the strictest one that every publisher of the topic meets."""
    result = profile(args)
    publishers = node.get_publishers_info_by_topic(topic)
    if chosen(args) or not publishers:
        return result
    for name, strict, lax in (
        ("reliability", ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT),
        ("durability", DurabilityPolicy.TRANSIENT_LOCAL, DurabilityPolicy.VOLATILE),
    ):
        offers = [getattr(info.qos_profile, name) == strict for info in publishers]
        setattr(result, name, strict if all(offers) else lax)
        if any(offers) and not all(offers):
            print(
                f"Some, but not all, publishers are offering {strict.name}. "
                f"Falling back to {lax.name} as it will connect to all publishers"
            )
    return result
