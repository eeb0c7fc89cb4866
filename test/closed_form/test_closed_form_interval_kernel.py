# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Intervals and balls of a proof: what they leave out is no solution."""

from __future__ import annotations

from math import pi

import numpy as np
import transforms3d
from from_python import from_python, sample
from numpy.linalg import norm

from basis_ik.closed_form import closed_form_interval_kernel as kernel
from basis_ik.closed_form.closed_form_kernel import FormGoal

turns_to_height = from_python(kernel.turns_to_height)
turns_onto, within = from_python(kernel.turns_onto), from_python(kernel.within)
bends = from_python(kernel.bends)


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


def test_the_bends_of_an_elbow_contain_all_solutions():
    """Of joints 2 and 3, which bring the end of the elbow to anywhere in a ball."""
    rng, bent, other = np.random.default_rng(8), 0, 0
    for _ in range(sample(1000)):
        form, allowed = np.zeros((27, 3)), np.array([[0.0, pi]] * 6)
        form[kernel.FORM_AXES + 1 : kernel.FORM_AXES + 3] = rng.normal(size=(2, 3))
        form[: kernel.FORM_AXES + 6] /= np.maximum(
            norm(form[: kernel.FORM_AXES + 6], axis=1), 1e-9
        )[:, None]
        form[kernel.FORM_OFFSETS + 2 : kernel.FORM_OFFSETS + 4] = rng.normal(size=(2, 3))
        angles, half = rng.uniform(-pi, pi, 2), 10.0 ** rng.uniform(-4, 0)
        allowed[1] = angles[0] + rng.uniform(-0.5, 0.5) * half, half
        limits = float(angles[1] + rng.uniform(-0.5, 0.5) * half), float(half)
        one, two = (
            transforms3d.axangles.axangle2mat(form[kernel.FORM_AXES + 1 + k], angles[k])
            for k in range(2)
        )
        w = one @ (form[kernel.FORM_OFFSETS + 2] + two @ form[kernel.FORM_OFFSETS + 3])
        error, away = 10.0 ** rng.uniform(-6, -1), rng.normal(size=3)
        w += 0.99 * error * away / norm(away)
        goal = FormGoal((0.0,) * 9, (0.0,) * 3, (0.0,) * 6)
        pose = kernel.Pose(form, goal, allowed, error, 0.0)
        found = bends(pose, 1, limits, tuple(w.tolist()), (error, error))
        inside = [
            all(
                turn[1] >= 0.0 and abs((angle - turn[0] + pi) % (2 * pi) - pi) <= turn[1] + 1e-12
                for angle, turn in zip(angles, each, strict=True)
            )
            for each in found
        ]
        assert any(inside)
        bent += all(inside)
        other += sum(each[0][1] >= 0.0 for each in found) == 1
    assert bent < sample(500) < other
