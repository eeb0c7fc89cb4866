# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Random joint motion that an arm is able to make, and clipped damped least squares along it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

PERIOD = 0.01  # [s]
SPEED = 0.5  # of the largest velocity, at most
EASE = 1.875  # peak of a minimum-jerk motion's speed, by its mean


def feasible_motion(chain, rng, legs):
    """Return positions (k, n) within the limits and half of the velocities, sampled at 100 Hz.

    From one random position to the next, all joints at once, with the least jerk (Flash and Hogan
    1985).
    """
    low = np.where(np.isfinite(chain.lower), chain.lower, -np.pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, np.pi)
    ends = rng.uniform(low, high, (legs + 1, len(low)))
    rows = [ends[:1]]
    for begin, end in pairwise(ends):
        seconds = EASE * np.max(np.abs(end - begin) / (SPEED * chain.velocity))
        count = int(np.ceil(seconds / PERIOD))
        s = np.arange(1, count + 1)[:, np.newaxis] / count
        rows.append(begin + (end - begin) * (s**3 * (10.0 - 15.0 * s + 6.0 * s * s)))
    return np.vstack(rows)


def least_squares_step(chain, target, q, bound, damping, steps=3):
    """Return positions (n,) after steps of damped least squares, each clipped to the bounds."""
    low, high = np.maximum(chain.lower, q - bound), np.minimum(chain.upper, q + bound)
    for _ in range(steps):
        tip, jacobian = chain.forward(q).matrix, chain.jacobian(q)
        error = np.empty(6)
        error[:3] = target[:3, 3] - tip[:3, 3]
        error[3:] = rotation_vector(target[:3, :3] @ tip[:3, :3].T)
        square = jacobian @ jacobian.T + damping**2 * np.eye(6)
        q = np.clip(q + jacobian.T @ np.linalg.solve(square, error), low, high)
    return q


def rotation_vector(rotation):
    """Return axis times angle (3,) [rad] of a rotation (3, 3) by less than half a turn."""
    twice = np.array(
        [
            rotation[2, 1] - rotation[1, 2],
            rotation[0, 2] - rotation[2, 0],
            rotation[1, 0] - rotation[0, 1],
        ]
    )
    sine = 0.5 * np.linalg.norm(twice)
    angle = np.arctan2(sine, 0.5 * (np.trace(rotation) - 1.0))
    return twice * (0.5 * angle / sine if sine > 1e-12 else 0.5)


def is_on(reached, target, position=1e-3, angle=1e-2):
    """Return whether two poses (4, 4) differ by at most a millimetre and 0.01 rad."""
    turned = np.linalg.norm(reached[:3, :3] - target[:3, :3]) / np.sqrt(2.0)  # the angle, if small
    return bool(np.linalg.norm(reached[:3, 3] - target[:3, 3]) <= position and turned <= angle)
