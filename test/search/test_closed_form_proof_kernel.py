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

"""Intervals and balls of a proof: what they leave out is no solution."""

from __future__ import annotations

from math import pi

import numpy as np
import transforms3d
from from_python import from_python, sample
from numpy.linalg import norm

from basis_ik.search import closed_form_proof_kernel as kernel

turns_to_height = from_python(kernel.turns_to_height)
turns_onto, within = from_python(kernel.turns_onto), from_python(kernel.within)


def test_turns_to_a_height_contain_all_solutions():
    rng, seen = np.random.default_rng(5), 0
    for _ in range(sample(400)):
        normal, axis, v = rng.normal(size=(3, 3))
        axis /= norm(axis)
        height, error = rng.normal() * 2.0, 10.0 ** rng.uniform(-6, 1)
        found = turns_to_height(tuple(normal), tuple(axis), tuple(v), height, error)
        for angle in rng.uniform(-pi, pi, 50):
            turned = transforms3d.axangles.axangle2mat(axis, angle) @ v
            if abs(normal @ turned - height) <= error:
                seen += 1
                assert any(
                    half >= 0.0 and abs((angle - middle + pi) % (2 * pi) - pi) <= half + 1e-12
                    for middle, half in found
                )
    assert seen > sample(500)


def test_turns_between_balls_contain_all_solutions():
    rng, seen = np.random.default_rng(6), 0
    for _ in range(sample(2000)):
        axis, a, shift, other = rng.normal(size=(4, 3))
        axis /= norm(axis)
        angle, ra, rb = rng.uniform(-pi, pi), *(10.0 ** rng.uniform(-4, 0, 2))
        b = transforms3d.axangles.axangle2mat(axis, angle) @ a
        a, b = a + 0.99 * ra * shift / norm(shift), b + 0.99 * rb * other / norm(other)
        middle, half = turns_onto(tuple(axis), tuple(a), ra, tuple(b), rb)
        assert abs((angle - middle + pi) % (2 * pi) - pi) <= half
        seen += half < pi
    assert seen > sample(1000)


def test_what_intervals_have_in_common_is_complete_modulo_full_turns():
    rng, empty = np.random.default_rng(7), 0
    for _ in range(sample(2000)):
        allowed = np.array([[rng.uniform(-9, 9), rng.uniform(0.0, 3.3)]])
        found = rng.uniform(-9, 9), rng.uniform(0.0, 3.14)
        middle, half = within(found, allowed, 0)
        empty += half < 0.0
        for angle in found[0] + np.linspace(-1, 1, 21) * found[1]:
            off = abs((angle - allowed[0, 0] + pi) % (2 * pi) - pi)
            if off <= allowed[0, 1]:
                assert half >= 0.0
                assert abs((angle - middle + pi) % (2 * pi) - pi) <= half + 1e-9
    assert sample(20) < empty < sample(1000)
