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

"""Rotations and poses as plain tuples: for so few numbers faster than any array."""

import math

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w
Pose = tuple[Vector, Quaternion]

IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)


def rotate(q: Quaternion, v: Vector) -> Vector:
    """Rotate by q v q*, which like upstream scales by |q|² where q is not of unit length."""
    x, y, z, w = q
    vx, vy, vz = v
    along = 2.0 * (x * vx + y * vy + z * vz)
    keep = w * w - x * x - y * y - z * z
    turn = 2.0 * w
    return (
        keep * vx + along * x + turn * (y * vz - z * vy),
        keep * vy + along * y + turn * (z * vx - x * vz),
        keep * vz + along * z + turn * (x * vy - y * vx),
    )


def compose(a: Pose, b: Pose) -> Pose:
    """The pose a @ b."""
    (tx, ty, tz), rotation = a
    vx, vy, vz = rotate(rotation, b[0])
    ax, ay, az, aw = rotation
    bx, by, bz, bw = b[1]
    return (vx + tx, vy + ty, vz + tz), (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def inverse(pose: Pose) -> Pose:
    """The pose that undoes one."""
    (tx, ty, tz), (x, y, z, w) = pose
    rotation = (-x, -y, -z, w)
    return rotate(rotation, (-tx, -ty, -tz)), rotation


def slerp(a: Quaternion, b: Quaternion, ratio: float) -> Quaternion:
    """Turn at constant speed, the shorter way, from a (ratio 0) to b (ratio 1)."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    cosine = ax * bx + ay * by + az * bz + aw * bw
    squares = (ax * ax + ay * ay + az * az + aw * aw) * (bx * bx + by * by + bz * bz + bw * bw)
    angle = math.acos(min(1.0, abs(cosine) / math.sqrt(squares)))
    if angle == 0.0:
        return a
    near = math.sin((1.0 - ratio) * angle) / math.sin(angle)
    far = math.copysign(math.sin(ratio * angle) / math.sin(angle), cosine)
    return (near * ax + far * bx, near * ay + far * by, near * az + far * bz, near * aw + far * bw)
