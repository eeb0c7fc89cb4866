# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Best efforts: these are no worse than what thousands of starts of another method find."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from closed_arms import FEWER, chain_of
from from_python import IS_PLAIN, sample
from hard_arms import ARMS

from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

# Roll, pitch and yaw, position, seed; the least distance [m] and the least angle [rad] there of
# 3000 starts of `benchmark/brute_force.py`.
UNREACHABLE = [
    ("ur5e", [-1.184, 1.376, 1.918], [0.1418, -0.9643, 0.2112],
     [-1.67, -1.39, -0.49, -1.33, 1.22, -0.58], 0.006959, 1.5176),
    ("ur5e", [-2.448, -1.036, -0.585], [-0.9849, 0.6092, -0.0898],
     [-1.44, 0.49, -0.8, -1.82, -2.56, -2.15], 0.216319, 1.5294),
    ("panda", [-2.796, -0.201, -3.005], [-0.7286, -0.2075, -1.0378],
     [1.92, -0.29, 0.26, -0.09, -1.51, 2.68, 0.32], 0.693021, 0.4203),
    ("panda", [0.428, 0.722, 0.899], [-0.8522, -0.4484, 0.0868],
     [-2.12, 0.61, -1.94, -1.85, 1.24, 2.83, -0.43], 0.046527, 2.5257),
    ("panda", [-0.626, -0.025, -1.289], [-0.7829, 0.619, 0.8521],
     [-2.76, 0.16, 2.29, -2.35, -1.7, 0.88, 0.17], 0.177554, 1.1001),
    ("tiago", [-0.076, 0.67, 0.421], [0.4841, -0.5031, 1.2409],
     [0.01, 2.31, -0.99, 0.47, 0.17, 0.84, 0.59, 1.04], 0.348324, 0.7879),
    ("gen3", [-1.601, -0.225, 1.496], [0.0203, 0.0341, 0.184],
     [2.89, -1.89, -2.77, -1.81, -0.09, -2.04, 1.09], 0.000000, 0.0919),
    ("youbot", [2.195, -1.243, -1.548], [0.023, -0.0061, 0.091],
     [-1.1, 1.06, -2.6, 0.07, 0.93], 0.000000, 0.7693),
    ("youbot", [2.5277, 1.1778, -1.4795], [0.0234, -0.0007, 0.0958],
     [-2.87, -0.48, -1.92, 0.47, 0.9], 0.000000, 1.2741),  # at the end of a long valley
    ("youbot", [0.3539, 0.4156, -0.2855], [-0.0348, 0.0971, 0.1521],
     [-2.42, -1.05, -2.3, 1.77, -1.62], 0.000000, 1.5877),
    ("youbot", [-0.7612, -0.7976, -1.0403], [0.0674, -0.0033, 0.1013],
     [0.8, -0.28, 2.47, 0.63, 2.27], 0.005042, 1.1423),
    ("tiago", [-2.1358, -0.0124, 2.7144], [0.7968, 0.3182, 0.1134],
     [0.19, 1.08, 0.19, -3.05, 2.23, 1.46, -0.72, -0.04], 0.000000, 1.0234),
    ("tiago", [-1.53746517, -0.37396226, 1.80939182], [-0.24848319, 0.22279286, 0.64514457],
     [0.31, 2.22, 1.09, -1.96, 1.87, 0.85, -0.8, 1.59], 0.000000, 0.4564),  # needs the last weights
    ("tiago", [0.281, 0.3844, -0.916], [-0.0629, 0.0145, 0.2048],
     [0.27, 2.61, -0.69, -2.74, 1.27, -1.52, 1.13, -1.09], 0.000000, 0.3933),
    ("tiago", [2.5302, 0.56, -1.3645], [-0.132, 0.2491, 0.0656],
     [0.11, 0.3, 0.73, -2.49, -0.2, 2.09, 0.27, 1.44], 0.000000, 1.1429),
    ("tiago", [2.3002, -0.3484, -1.9029], [0.8488, -0.0439, 0.2371],
     [0.06, 2.34, 1.02, 0.15, -0.02, 0.7, -1.08, 0.09], 0.000000, 1.0383),
    ("panda", [-0.5697, -0.5143, 1.1286], [-0.1609, -0.2513, 0.4639],
     [0.15, 0.88, -1.9, -1.84, -2.7, 2.49, 0.43], 0.000000, 0.0944),
    ("youbot", [0.0925, 0.9348, -0.0702], [0.0241, 0.0001, 0.5222],
     [-2.21, 0.53, -0.22, -1.47, 0.25], 0.000000, 0.7311),
    ("youbot", [-0.927184, -0.316554, -2.398568], [-0.027975, 0.228407, 0.300196],
     [2.14, -0.13, 2.49, -1.76, -2.77], 0.000000, 1.4912),  # 4.6 rad farther from the seed
]  # fmt: skip
NAMED = {**ARMS, "youbot": FEWER["youbot"]}
URDF = Path(__file__).parents[3] / "urdf"


@cache
def named(name):
    if name in NAMED:
        return chain_of(*NAMED[name])
    return RobotModel.from_urdf_file(URDF / f"{name}.urdf").chain()


@pytest.mark.parametrize(
    ("name", "rpy", "xyz", "seed", "away", "turned"),
    [UNREACHABLE[i] for i in (0, 3, 7, 16)] if IS_PLAIN else UNREACHABLE,  # nearly all lines
)
def test_no_best_effort_is_worse_than_what_brute_force_finds(name, rpy, xyz, seed, away, turned):
    chain = named(name)
    solution = solve(chain, RigidTransform.from_rpy(*rpy, xyz), seed)
    assert not solution.success
    assert solution.position_error <= away + 1.5e-6  # and half a digit of what is stated
    assert solution.orientation_error <= turned + 1e-3


@pytest.mark.parametrize("allowed", [1, 50, 200])
def test_steps_are_held(allowed):
    far = RigidTransform.from_rpy(0.1, 0.2, 0.3, (3.0, 0.0, 0.0))
    solution = solve(named("panda"), far, max_iterations=allowed)
    assert solution.iterations <= allowed
    assert solution.verdict in (Verdict.BUDGET_SPENT, Verdict.TOO_FAR)


def test_a_position_alone_is_the_nearest():
    chain = named("panda")
    rng = np.random.default_rng(3)
    target = RigidTransform.from_rpy(0, 0, 0, (-0.7286, -0.2075, -1.0378))
    least = [
        solve(chain, target, chain.random(rng), position_only=True).position_error
        for _ in range(sample(20))
    ]
    assert max(least) - min(least) <= 1e-6


def test_no_more_starts_are_made_once_most_have_come_to_the_best():
    """A Gen3 far out of reach comes to it from half of its starts; 40 would take 1200 steps."""
    chain, rng = named("gen3"), np.random.default_rng(5)
    steps = []
    for _ in range(sample(20)):
        way = rng.normal(size=3)
        target = RigidTransform.from_rpy(*rng.uniform(-3, 3, 3), 2.0 * way / np.linalg.norm(way))
        steps.append(solve(chain, target, chain.random(rng)).iterations)
    assert np.mean(steps) < 900
