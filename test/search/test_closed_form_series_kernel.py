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

"""The product over four ways, its series, and how that depends on the target."""

from math import pi

import numpy as np
import pytest
from from_python import from_python, sample

from basis_ik.numerics import trigonometric_kernel
from basis_ik.search import closed_form_series_kernel as kernel

(
    approach_roots, bend_at, fill_series, find_ways, missed, nearest_way, product_at, ratio,
    room_at, sensitivity, way_at,
) = (
    from_python(getattr(kernel, name))
    for name in (
        "approach_roots", "bend_at", "fill_series", "find_ways", "missed", "nearest_way",
        "product_at", "ratio", "room_at", "sensitivity", "way_at",
    )
)  # fmt: skip
series_at = from_python(trigonometric_kernel.series_at)


def unit(rng):
    v = rng.normal(size=3)
    return tuple((v / np.linalg.norm(v)).tolist())


def drawn(rng):
    """An arm, and angles of its first four joints with which it reaches what it is to reach."""
    h = [unit(rng) for _ in range(6)]
    a = [tuple(rng.uniform(-0.3, 0.3, 3).tolist()) for _ in range(4)]
    angles = rng.uniform(-pi, pi, 5)
    p, to = np.zeros(3), turn(h[4], angles[4]) @ h[5]
    for axis, way, angle in reversed(list(zip(h[:4], a, angles, strict=False))):
        p, to = turn(axis, angle) @ (np.array(way) + p), turn(axis, angle) @ to
    ends = tuple(p.tolist()), tuple(to.tolist())
    return kernel.Reacher(*h[:5], *a, *ends, float(np.dot(h[4], h[5])), 2.0), angles


def turn(axis, angle):
    x, y, z = axis
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * across @ across


def room_to_work():
    return np.empty((5, 4)), np.array([complex(0.4, 0.9) ** k for k in range(4)])


def misses(arm, angle):
    """The misses of all four ways, sorted."""
    table, roots = room_to_work()
    way = way_at(arm, angle)
    square, _ = find_ways(arm, way, table, roots)
    bends = [bend_at(arm, way, table, square, root) for root in roots]
    return np.sort_complex([ratio(missed(arm, bend), bend.across) for bend in bends])


def test_a_quotient_of_complex_numbers_is_one_and_infinite_by_zero():
    assert abs(ratio(3.0 + 1.0j, 0.0j)) == np.inf
    assert ratio(3.0 + 1.0j, 1.0 - 2.0j) == pytest.approx((3.0 + 1.0j) / (1.0 - 2.0j))


def test_the_roots_of_a_quartic_are_all_approached():
    rng = np.random.default_rng(0)
    for _ in range(sample(300)):
        k2, k1 = rng.normal(size=2) @ [1, 1j], rng.normal(size=2) @ [1, 1j]
        k0, square = rng.normal(), rng.uniform(-2.0, 2.0)
        _, roots = room_to_work()
        approach_roots(complex(k2), complex(k1), float(k0), float(square), roots)
        given = np.roots([k2, k1, k0, np.conj(k1) * square, np.conj(k2) * square**2])
        for root in given:
            assert np.abs(roots - root).min() < 1e-6


def test_one_of_the_ways_is_that_which_the_target_was_made_of():
    rng = np.random.default_rng(1)
    for _ in range(sample(100)):
        arm, angles = drawn(rng)
        table, roots = room_to_work()
        way = way_at(arm, angles[0])
        miss, step, bend = nearest_way(arm, way, table, roots)
        assert miss < 1e-9
        assert abs(step) < 1e-6
        cosines = np.cos(angles[[1, 3]]), np.sin(angles[[1, 3]])
        assert np.abs([bend.c2, bend.c4] - cosines[0]).max() < 1e-6
        assert np.abs([bend.s2, bend.s4] - cosines[1]).max() < 1e-6


def test_the_product_consists_of_twelve_harmonics():
    rng = np.random.default_rng(2)
    for _ in range(sample(40)):
        arm, _ = drawn(rng)
        table, roots = room_to_work()
        series = np.empty((3, 16))
        noise = fill_series(arm, table, roots, series)
        largest = series[2].max()
        assert noise < 1e-8 * largest
        assert series[2, 13:].max() <= 1e-9 * largest < series[2, 12] * 1e9
        for angle in rng.uniform(0.0, 2 * pi, 5):
            value = series_at(series, angle)[0]
            assert value == pytest.approx(product_at(arm, angle, table, roots), abs=1e-8 * largest)


def test_an_arm_whose_product_is_nothing_is_told():
    """The meeting point lies on axis 4, which thus does not move it."""
    arm, _ = drawn(np.random.default_rng(5))
    table, roots = room_to_work()
    noise = fill_series(arm._replace(a4=(0.0, 0.0, 0.0)), table, roots, np.empty((3, 16)))
    assert noise == np.inf


def test_misses_change_as_foretold_with_joint_1_and_with_the_target():
    rng = np.random.default_rng(6)
    for _ in range(sample(60)):
        arm, angles = drawn(rng)
        table, roots = room_to_work()
        angle = angles[0] + 0.1
        way = way_at(arm, angle)
        square, _ = find_ways(arm, way, table, roots)
        bends = [bend_at(arm, way, table, square, root) for root in roots]
        known = [sensitivity(arm, way, bend) for bend in bends]
        here = [ratio(missed(arm, bend), bend.across) for bend in bends]
        after, before = misses(arm, angle + 1e-6), misses(arm, angle - 1e-6)
        shift = 1e-7 * rng.uniform(-1, 1, 3)
        moved = misses(arm._replace(p=tuple((np.array(arm.p) + shift).tolist())), angle)
        for miss, (slope, blur) in zip(here, known, strict=True):
            ahead = after[np.abs(after - miss - 1e-6 * slope).argmin()]
            behind = before[np.abs(before - miss + 1e-6 * slope).argmin()]
            if blur < 1e3 and np.abs(np.array(here) - miss)[np.array(here) != miss].min() > 0.01:
                assert (ahead - behind) / 2e-6 == pytest.approx(slope, rel=1e-3, abs=1e-3)
                off = np.abs(moved - miss).min()
                assert off <= 1.1 * blur * np.linalg.norm(shift) + 1e-9


def test_room_is_what_the_nearest_way_has():
    rng = np.random.default_rng(7)
    arm, angles = drawn(rng)
    table, roots = room_to_work()
    assert room_at(arm, angles[0], table, roots) < 1e-9
    assert room_at(arm, angles[0] + 0.3, table, roots) > 1e-6
