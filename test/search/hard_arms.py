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

"""Arms of seven and eight joints with poses that few starts lead to."""

from __future__ import annotations

from math import pi

H = pi / 2


def turning(xyz, rpy, lower, upper):
    return ("revolute", xyz, rpy, "0 0 1", lower, upper)


def endless(xyz, rpy):
    return ("continuous", xyz, rpy, "0 0 1", 0, 0)


ARMS = {
    "gen3": (
        [
            endless("0 0 0.15643", f"{pi} 0 0"),
            turning("0 0.005375 -0.12838", f"{H} 0 0", -2.41, 2.41),
            endless("0 -0.21038 -0.006375", f"{-H} 0 0"),
            turning("0 0.006375 -0.21038", f"{H} 0 0", -2.66, 2.66),
            endless("0 -0.20843 -0.006375", f"{-H} 0 0"),
            turning("0 0.00017505 -0.10593", f"{H} 0 0", -2.23, 2.23),
            endless("0 -0.10593 -0.00017505", f"{-H} 0 0"),
        ],
        "0 0 -0.0615",
    ),
    "baxter": (
        [
            turning("0.024645 0.219645 0.118588", "0 0 0.7854", -1.70168, 1.70168),
            turning("0.055695 0 0.011038", f"{-H} 0 0", -2.147, 1.047),
            turning("0.102 0 0", f"{H} 0 {H}", -3.05418, 3.05418),
            turning("0.069 0 0.26242", f"{-H} {-H} 0", -0.05, 2.618),
            turning("0.10359 0 0", f"{H} 0 {H}", -3.059, 3.059),
            turning("0.01 0 0.2707", f"{-H} {-H} 0", -1.5708, 2.094),
            turning("0.115975 0 0", f"{H} 0 {H}", -3.059, 3.059),
        ],
        "0 0 0.11355",
    ),
    "tiago": (
        [
            ("prismatic", "-0.062 0 0.193", "0 0 0", "0 0 1", 0, 0.35),
            turning("0.15505 0.014 -0.151", f"0 0 {-H}", 0, 2.7489),
            turning("0.125 0.0195 -0.031", f"{-H} 0 0", -1.5708, 1.0908),
            turning("0.0895 0 -0.0015", f"{-H} 0 {H}", -3.5343, 1.5708),
            turning("-0.02 -0.027 -0.222", f"{-H} {-H} 0", -0.3927, 2.3562),
            turning("-0.162 0.02 0.027", f"0 {-H} 0", -2.0944, 2.0944),
            turning("0 0 0.15", f"{-H} {-H} 0", -1.4137, 1.4137),
            turning("0 0 0", f"{H} 0 {H}", -2.0944, 2.0944),
        ],
        "0 0 0.05",
    ),
    "tiago_pro": (
        [
            ("prismatic", "-0.0245 0 0.8457", "0 0 0", "0 0 1", 0, 0.35),
            turning("0.08976 -0.15918 -0.09201", "-2.0679 0 -1.9199", -4.7124, 0.5236),
            turning("0.03711 0.02 0.18", f"{-H} 0 {-H}", -2.4435, 1.1345),
            turning("0.02 -0.17011 -0.03711", f"{H} 0 0", -2.618, 2.618),
            turning("0.02 -0.03711 0.15989", f"{H} 0 0", -2.4435, 1.1345),
            turning("-0.02 0.17011 -0.03711", f"{H} 0.00159 {pi}", -1.5708, 3.6652),
            ("revolute", "0 -0.0422 0.1654", f"{-H} 0 3.14", "0 0 -1", -1.885, 3.002),
            turning("0.07 -0.0534 -0.0422", f"{H} 0 0", -2.618, 2.618),
        ],
        "0 0 0.017",
    ),
}
