# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Poses that few starts reach: at singularities, and in corners of the limits."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest
from closed_arms import chain_of
from hard_arms import ARMS, H

from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.pose.diagnosis import Diagnosis
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform

PANDA = Path(__file__).parents[3] / "urdf" / "panda.urdf"

SINGULAR = [
    (
        "gen3",
        [3.1416, 0.6198, 0, 0, 0.1219, -1.5038, 1.4732],
        [-2.4, -1.27, -2.78, 2.51, -1.66, -0.5, -1.59],
    ),
    (
        "gen3",
        [2.0502, -0.9877, 0, 0, 0, 0, 0],
        [1.02, 0.28, 0.7, -1.08, 1.01, 1.17, -0.0],
    ),
    (
        "gen3",
        [0, 2.41, -0.5772, 0, 0, 0.8177, 0],
        [1.71, -0.81, -0.4, 2.65, 2.28, -0.05, -1.0],
    ),
    (
        "gen3",
        [-0.6739, 0.2141, 0, 0, -0.6799, 1.5708, 0],
        [-2.38, -2.11, 1.16, -0.59, -0.25, 0.15, 2.09],
    ),
    (
        "tiago",
        [0.35, 0, -1.2995, -1.5708, 1.5708, -1.5708, -0.2822, -0.2495],
        [0.16, 1.39, 0.6, 0.44, 0.09, -0.65, 0.3, 1.64],
    ),
    (
        "lift_arm",
        [0.0272, 1.5708, 0, -0.4967, 0.085, -1.5708, 2.1],
        [0.17, -1.36, -0.99, 2.38, -0.52, -2.07, 1.11],
    ),
]
CORNERS = [
    (
        "baxter",
        [-1.70168, -2.147, 3.05418, 2.618, 2.9685, -0.5329, 3.059],
        [-1.67, 1.01, 1.92, 0.62, 1.93, -0.43, -2.03],
    ),
    (
        "baxter",
        [1.70168, -2.147, -3.05418, 2.618, -3.059, 2.094, -3.059],
        [0.51, 0.19, -2.39, 2.34, 2.6, 1.92, 0.47],
    ),
    (
        "baxter",
        [-1.70168, -2.147, 3.05418, 2.618, 3.059, 0, 3.059],
        [1.46, 1.02, 0.84, -0.0, -1.06, 0.34, 1.16],
    ),
    (
        "tiago",
        [0.35, 2.3969, 1.0908, 1.5708, -0.3927, 2.0944, -1.4137, 0.4801],
        [0.19, 1.82, -1.46, -1.95, 0.14, 1.91, 1.25, -1.88],
    ),
    (
        "tiago",
        [0.3044, 2.7489, 0.6462, -3.5343, 2.1746, 0.0098, 1.4137, 2.0254],
        [0.0, 0.25, -0.5, -2.66, 0.75, 1.65, 0.99, 0.21],
    ),
    # More starts than the best scout's error has others make: by its square.
    (
        "tiago_pro",
        [0.35, -1.9898, 1.1345, -2.5084, -2.4435, 3.6652, -1.885, 2.618],
        [0.16, -1.12, -1.28, -1.23, 0.38, 1.37, 1.56, -1.89],
    ),
    (
        "tiago_pro",
        [0, -3.7841, -1.7651, -2.618, -2.4435, 1.835, -1.885, 2.618],
        [0.29, -1.37, -0.12, 1.14, 0.7, 1.05, -0.11, 1.02],
    ),
    # Where ten descents do not even reach the position.
    (
        "tiago_pro",
        [0.35, 0.5236, -2.4435, 0.0109, 1.0367, -1.5708, 0.6715, 1.3529],
        [0.14, -2.48, -1.46, 1.09, 0.59, 0.65, 1.9, 0.53],
    ),
    (
        "tiago_pro",
        [0.35, -0.5972, -2.4435, 0.2765, 1.1345, 1.5708, 0.3556, 2.618],
        [0.22, -1.87, -0.75, -0.98, -0.33, 0.48, -1.69, 0.02],
    ),
    (
        "panda",
        [1.7075, -0.9446, 0, -1.066, 0, 3.7525, 2.8973],
        [2.84, 0.3, -1.56, -2.96, 1.6, 1.35, 2.86],
    ),
]


@pytest.fixture(scope="module")
def named(robot):
    made = {name: chain_of(*given) for name, given in ARMS.items()}
    return lambda name: made[name] if name in made else robot(name)


@pytest.mark.parametrize(("name", "truth", "seed"), [*SINGULAR, *CORNERS])
def test_poses_that_few_starts_reach_are_reached(named, name, truth, seed):
    chain = named(name)
    assert solve(chain, chain.forward(truth), seed).success


def test_without_its_last_resort_some_case_fails(named, monkeypatch):
    monkeypatch.setattr(Diagnosis, "corners", lambda self: None)
    reached = [solve(named(n), named(n).forward(q), seed).success for n, q, seed in CORNERS]
    assert not all(reached)


@pytest.mark.parametrize(
    ("truth", "seed"),
    [
        (
            [3.1416, 0.6198, 0, 0, 0.1219, -1.5038, 1.4732],
            [-0.04, 0.85, -2.76, 0.3, -1.44, 1.69, -2.74],
        ),
        ([2.0502, -0.9877, 0, 0, 0, 0, 0], [1.13, 1.78, -1.71, 2.1, 2.34, -2.15, 1.3]),
    ],
)
def test_what_nearly_arrives_is_finished_before_all_longer_searches(
    named, monkeypatch, truth, seed
):
    chain = named("gen3")
    for longer in ("sample_self_motion", "persist", "corners"):
        monkeypatch.setattr(Diagnosis, longer, lambda self, *given: None)
    assert solve(chain, chain.forward(truth), seed).success
    monkeypatch.setattr(Diagnosis, "finish", lambda self: None)
    assert not solve(chain, chain.forward(truth), seed).success


def test_what_the_best_effort_leads_to_is_reached():
    """An arm and a torso of a Romeo: starts end at many positions some 1e-5 rad off."""
    low_high = [
        (-0.785398, 0.785398), (-1.44478, 2.22041), (-1.14032, 0.430472), (-2.0944, 2.0944),
        (0, 1.5708), (-0.523599, 3.66519), (-0.436332, 0.436332), (-0.977384, 0.977384),
    ]  # fmt: skip
    places = [
        ("0 0 0.2", "0 0 0", "0 0 1"),
        ("0.005 -0.19 0", "0.158879 -0.0725189 0.424682", "0 1 0"),
        ("0 0 0", "0 0 -0.430457", "0 0 1"),
        ("0.205 0 0", "-0.17452 0 0", "1 0 0"),
        ("0 0 0", "0 0 0", "0 0 1"),
        ("0.1823 0 0", "0 0 0", "1 0 0"),
        ("0 0 0", "0 0 0", "0 0 1"),
        ("0 0 0", "0 0 0", "0 1 0"),
    ]
    rows = [("revolute", *p, *bounds) for p, bounds in zip(places, low_high, strict=True)]
    hand = RigidTransform.from_rpy(-1.57079633, 0, 0, (0.09, 0, -0.02))
    chain, rng = chain_of(rows).with_tool("hand", hand), np.random.default_rng(0)
    truth = [
        0.785398,
        -0.945748253532936,
        0,
        H,
        0.8474573605915151,
        0,
        0.436332,
        0.08301084599984354,
    ]
    missed_from = [-0.08066, 1.41153, -0.81331, -1.42482, 1.28132, 3.22159, 0.27067, 0.04874]
    for seed in (missed_from, *(chain.random(rng) for _ in range(3))):
        assert solve(chain, chain.forward(truth), seed).success


def test_where_descents_creep_the_best_effort_is_the_target():
    """A Panda that is singular and at a limit: thousands of starts are abandoned on their way."""
    chain = RobotModel.from_urdf_file(PANDA).chain("panda_link0", "panda_link8")
    truth = [-1.154274251722732, -1.7628, 0, -0.4616417210139456, 0, H, -1.0780139977767182]
    seed = [1.33, 0.154, 2.521, -0.623, -2.881, 3.215, -2.703]
    assert solve(chain, chain.forward(truth), seed).success


@pytest.mark.parametrize("name", [*ARMS, "panda", "iiwa", "jaco", "lift_arm"])
def test_poses_with_joints_at_limits_and_at_quarter_turns_are_reached(named, name):
    chain, rng = named(name), np.random.default_rng(1)
    low = np.where(np.isfinite(chain.lower), chain.lower, -pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, pi)
    for _ in range(300):
        q = rng.uniform(low, high)
        which, up = rng.integers(0, 4, len(q)), rng.random(len(q)) < 0.5
        quarters = np.clip(rng.integers(-2, 3, len(q)) * H, low, high)
        q = np.where(which == 0, np.where(up, high, low), np.where(which == 1, quarters, q))
        solution = solve(chain, chain.forward(q), rng.uniform(low, high))
        assert solution.success, (q, solution)
