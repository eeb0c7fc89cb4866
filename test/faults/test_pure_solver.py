# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Targets without a solution, or with a wrong one: reported, and commanded within all limits."""

import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import PointStamped, TwistStamped
from pure_arm import HOME, PERIOD, UR5E, Arm, down, plain_forward

from basis_ik.arm import pipeline
from basis_ik.arm.chain_state import State
from basis_ik.arm.limits import MotionLimits
from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.pose.solve import solve
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

HERE = Path(__file__).parent
PANDA = (HERE.parents[1] / "urdf" / "panda.urdf").read_text()
PANDA_HOME = (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785)
PLANAR = {"position_only_ik": True}


def robot(rows, tip="0 0 0"):
    """Return a URDF of joints in a row: (origin, axis, lower, upper)."""
    text = '<robot name="row"><link name="l0"/>'
    for k, (origin, axis, lower, upper) in enumerate(rows):
        text += (
            f'<link name="l{k + 1}"/><joint name="j{k + 1}" type="revolute"><parent link="l{k}"/>'
            f'<child link="l{k + 1}"/><origin xyz="{origin}"/><axis xyz="{axis}"/>'
            f'<limit lower="{lower}" upper="{upper}" velocity="2" effort="9"/></joint>'
        )
    return text + (
        f'<link name="tip"/><joint name="end" type="fixed"><parent link="l{len(rows)}"/>'
        f'<child link="tip"/><origin xyz="{tip}"/></joint></robot>'
    )


def planar(first=3.14, second=3.14):
    """Links of 0.5 m and 0.3 m in the plane: they reach from 0.2 m to 0.8 m."""
    z = "0 0 1"
    return robot([("0 0 0", z, -first, first), ("0.5 0 0", z, -second, second)], "0.3 0 0")


HEAD = robot([("0 0 0.2", "0 0 1", -3.3, 3.3), ("0 0 0", "0 1 0", -2.0, 2.0)])


def at(x, y, z=0.0):
    return RigidTransform.from_rpy(0.0, 0.0, 0.0, [x, y, z])


def there(arm, urdf):
    """Return where the tip is (3,), by kinematics that are not the package's."""
    values = dict(zip(arm.chain.joint_names, arm.place, strict=True))
    return plain_forward(urdf, values, arm.chain.tip)[:3, 3]


def as_near_as_it_gets(urdf, arm, target, verdict):
    """Go to a target out of reach; return how far from it the arm comes to rest [m]."""
    arm.go(target, frame=arm.chain.root)
    arm.until_rest()
    told = arm.status()
    missing = np.linalg.norm(there(arm, urdf) - target.translation)
    assert told["verdict"] == verdict
    assert float(told["missing_distance"]) == pytest.approx(missing, abs=1e-6)
    assert arm.state.state is State.ARRIVED, "at the best effort"
    steps = np.diff(arm.commands, axis=0)
    assert ((steps >= -1e-9).all(axis=0) | (steps <= 1e-9).all(axis=0)).all(), "straight there"
    sent, place = len(arm.oracle.commands), arm.place
    for _ in range(20):
        arm.go(target, frame=arm.chain.root)
        arm.cycles(5)
    assert len(arm.oracle.commands) == sent or np.abs(arm.commands[sent:] - place).max() < 1e-9
    return missing


@pytest.mark.parametrize("angle", [-2.0, 0.4, 1.5])
def test_row_53_a_target_too_far(observed, angle):
    urdf, x, y = planar(), math.cos(angle), math.sin(angle)
    arm = Arm(urdf, start=[0.4, 0.5], **PLANAR)
    missing = as_near_as_it_gets(urdf, arm, at(1.3 * x, 1.3 * y), "TOO_FAR")
    assert missing == pytest.approx(0.5, abs=1e-6)
    arm = Arm()
    other = as_near_as_it_gets(UR5E, arm, down(1.5 * x, 1.5 * y, 0.4), "TOO_FAR")
    assert 0.5 < other < 0.8
    arm.follows_again()
    observed(f"TOO_FAR by {missing:.6f} m of 0.5 m; then rest")


@pytest.mark.parametrize("angle", [-2.0, 0.4, 1.5])
def test_row_54_a_target_too_near(observed, angle):
    urdf, x, y = planar(), math.cos(angle), math.sin(angle)
    arm = Arm(urdf, start=[0.4, 0.5], **PLANAR)
    missing = as_near_as_it_gets(urdf, arm, at(0.1 * x, 0.1 * y), "TOO_NEAR")
    assert missing == pytest.approx(0.1, abs=1e-6)
    arm.go(at(0.3 * x, 0.3 * y), frame="l0")
    arm.until_rest()
    assert np.linalg.norm(there(arm, urdf) - [0.3 * x, 0.3 * y, 0.0]) < 2e-5
    observed(f"TOO_NEAR by {missing:.6f} m of 0.1 m; then rest")


def test_row_55_a_straight_chain_and_a_target_on_its_line(observed):
    urdf, ends = planar(), []
    for _ in range(3):
        arm = Arm(urdf, start=[0.0, 0.0], **PLANAR)
        arm.go(at(0.6, 0.0), frame="l0")
        arm.until_rest()
        assert arm.status()["verdict"] == "REACHED"
        assert np.linalg.norm(there(arm, urdf) - [0.6, 0.0, 0.0]) < 2e-5
        ends.append(arm.commands)
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])
    assert abs(arm.place[1]) > 0.5, "it bends"
    arm = Arm(urdf, start=[0.0, 0.0], **PLANAR)
    as_near_as_it_gets(urdf, arm, at(0.9, 0.0), "TOO_FAR")
    observed(f"REACHED in {len(ends[0])} commands, three times the same")


def test_row_56_targets_without_a_direction(observed):
    urdf = planar()
    arm = Arm(urdf, start=[0.4, 0.5], **PLANAR)
    assert as_near_as_it_gets(urdf, arm, at(0.0, 0.0), "TOO_NEAR") == pytest.approx(0.2, abs=1e-6)
    arm = Arm(urdf, start=[0.4, 0.5], **PLANAR)
    joint = at(0.5 * math.cos(0.4), 0.5 * math.sin(0.4))  # where the second joint is
    arm.go(joint, frame="l0")
    arm.until_rest()
    assert arm.status()["verdict"] == "REACHED"
    assert np.linalg.norm(there(arm, urdf) - joint.translation) < 2e-5
    arm = Arm()
    for pose in (at(0.0, 0.0), *arm.chain.link_poses(HOME).values()):
        arm.go(pose)
        arm.until_rest()
        assert math.isfinite(float(arm.status()["position_error"]))
    arm.follows_again()
    head, start = Arm(HEAD, start=[0.3, 0.3]), np.array([0.3, 0.3])
    point = PointStamped()
    point.header.frame_id, point.point.z = "l0", 0.2
    head.receive("target_point", point)
    head.until_rest()
    assert head.status()["verdict"] == "DEGENERATE"
    np.testing.assert_array_equal(head.place, start)
    head = Arm(HEAD, start=[0.0, 0.0])
    point.point.x = -1.0  # exactly behind
    head.receive("target_point", point)
    head.until_rest()
    assert head.status()["verdict"] == "REACHED"
    looks = plain_forward(HEAD, dict(zip(("j1", "j2"), head.place, strict=True)), "tip")[:3, 0]
    np.testing.assert_allclose(looks, [-1.0, 0.0, 0.0], atol=2e-5)
    observed("TOO_NEAR, REACHED; DEGENERATE of its own origin; behind: REACHED")


WRIST = np.array([0.0, -1.57, 1.57, -1.57, -0.35, 0.0])  # at zero wrist_2 the wrist is singular


def through_the_wrist(chain):
    """A twist of 0.3 rad/s that moves wrist_2 almost through zero."""
    axes = chain.jacobian(WRIST)[3:]
    across = np.cross(axes[:, 4], axes[:, 5])
    turn = axes[:, 4] + 0.03 * across / np.linalg.norm(across)
    message = TwistStamped()
    message.header.frame_id = "base_link"
    w = message.twist.angular
    w.x, w.y, w.z = (0.3 * turn / np.linalg.norm(turn)).tolist()
    return message


@pytest.mark.parametrize(("mode", "most"), [("pass", 1.0), ("slow", 0.25), ("stop", 0.25)])
def test_row_57_a_singularity(observed, mode, most):
    arm = Arm(start=WRIST, singularities=mode)
    twist, told = through_the_wrist(arm.chain), []
    for _ in range(700):
        arm.receive("twist", twist)
        arm.cycles()
        told.append(arm.status()["message"])
    fastest = (np.abs(np.diff(arm.commands, axis=0)) / arm.chain.velocity / PERIOD).max()
    assert fastest <= most + 1e-6
    named = [each for each in told if "singularity" in each]
    assert any(each.startswith("nearing a singularity: ") for each in named)
    assert any(each.startswith("passing a singularity: ") for each in named) == (mode != "stop")
    assert "wrist_1_joint" in named[-1] or "wrist_3_joint" in named[-1]
    turned = np.abs(arm.place - WRIST)[[3, 5]].min()
    if mode == "stop":
        assert arm.status()["verdict"] == "SINGULAR"
        assert np.abs(np.diff(arm.commands[-10:], axis=0)).max() < 1e-9, "it stands ahead of it"
    else:
        assert turned > 1.0, "it has flipped"
    arm.cycles(50)
    arm.until_rest()
    arm.follows_again()
    observed(f"{mode}: {100 * fastest:.0f} % of a joint's speed; {named[-1]}"[:100])


def test_row_58_limits_in_the_way(observed):
    urdf = planar(first=0.5, second=0.1)
    arm = Arm(urdf, start=[0.0, 0.0], **PLANAR)
    x, y = 0.7995 * math.cos(1.0), 0.7995 * math.sin(1.0)
    arm.go(at(x, y), frame="l0")
    arm.until_rest()
    told = arm.status()
    assert (told["verdict"], told["joint"], float(told["bound"])) == ("LIMIT", "j1", 0.5)
    assert arm.place[0] == pytest.approx(0.5, abs=1e-6)
    assert arm.commands[:, 0].max() <= 0.5 + 1e-9
    missing = np.linalg.norm(there(arm, urdf) - [x, y, 0.0])
    assert float(told["missing_distance"]) == pytest.approx(missing, abs=1e-6)
    observed(told["message"])


def test_row_59_the_budget_is_spent(monkeypatch, observed):
    chain = RobotModel.from_urdf(UR5E).chain()
    far, seed = down(0.55, 0.55, 0.3) @ RigidTransform.from_rpy(2.0, 1.0, 0.5, [0.0] * 3), HOME
    here = chain.forward(seed).translation
    for target, budget in ((far, 1), (far, 2), (down(2.0), 1), (down(2.0), 60)):
        short = solve(chain, target, seed, position_only=True, max_iterations=budget)
        assert short.verdict is Verdict.BUDGET_SPENT
        assert short.iterations <= budget
        assert short.position_error <= np.linalg.norm(here - target.translation), "the best so far"
    for target in (far, down(2.0)):
        hasty = solve(chain, target, seed, position_only=True, time_limit=1e-9)
        assert hasty.verdict is Verdict.BUDGET_SPENT
        assert hasty.iterations < 100
        assert np.isfinite(hasty.positions).all()
    # In the loop no solve is longer than what a period has room for; the rest is done beside it.
    asked = []

    def watched(*args, max_iterations, **kwargs):
        solution = solve(*args, max_iterations=max_iterations, **kwargs)
        passes = solution.passes.count if solution.passes else 0
        asked.append((max_iterations, solution.iterations + passes))
        return solution

    monkeypatch.setattr(pipeline, "solve", watched)
    arm = Arm()
    for target in (down(2.0, 0.3, 0.2), down(0.05, 0.0, 0.1), down(0.0, 0.0, 0.3)):
        arm.go(target)
        arm.until_rest()
        assert arm.status()["verdict"] in ("TOO_FAR", "TOO_NEAR", "ORIENTATION_UNREACHABLE")
        assert (arm.status()["proven"] == "true") != ("starts" in arm.status())
    assert [each for each, _ in asked] == [2000] * 3
    assert max(taken for _, taken in asked) <= 2000
    longest = max(taken for _, taken in asked)
    asked.clear()
    arm = Arm(solver="fabrik")
    arm.go(down(0.05, 0.0, 0.1))
    arm.until_rest()
    (quick, taken), (long, _) = asked
    assert (quick, long) == (300, 100_000)
    assert taken <= 300
    assert arm.status()["verdict"] == "ORIENTATION_UNREACHABLE"
    observed(
        f"BUDGET_SPENT after 1, 2 and 100 steps; in a period at most {longest}, {taken} passes"
    )


def damaged(monkeypatch, value):
    """Put NaN into every solution."""

    def broken(*args, **kwargs):
        solution = solve(*args, **kwargs)
        return solution._replace(positions=np.where(np.arange(6) == 4, value, solution.positions))

    monkeypatch.setattr(pipeline, "solve", broken)


def is_latched(arm):
    """Check that only enabling lets the arm go on."""
    assert arm.state.state is State.UNSAFE
    assert arm.status()["state"] == "UNSAFE"
    sent = len(arm.oracle.commands)
    for _ in range(5):
        arm.go(down(0.4))
        arm.cycles(20)
    arm.control.arm.deactivate()
    arm.control.arm.activate()
    arm.cycles(20)
    assert arm.state.state is State.UNSAFE
    assert len(arm.oracle.commands) == sent, "nothing is sent"
    arm.control.arm.enable()
    arm.cycles(2)
    arm.follows_again()


def keeps_limits(arm, start):
    """Check speed, acceleration and jerk of all commands from rest to rest."""
    limits = MotionLimits.of_chain(arm.chain)
    way = np.vstack([start, start, start, arm.commands])
    for order, most in ((1, limits.velocity), (2, limits.acceleration), (3, limits.jerk)):
        assert (np.abs(np.diff(way, order, axis=0)) <= most * PERIOD**order * (1 + 1e-6)).all()
    assert np.array_equal(way[-1], way[-2]), "at rest"


@pytest.mark.parametrize("value", [math.nan, math.inf, 100.0])
@pytest.mark.parametrize("cycles", [0, 15], ids=["at rest", "in motion"])
def test_row_60_the_solver_returns_nan(monkeypatch, observed, cycles, value):
    arm = Arm()
    if cycles:
        arm.go(down(0.45, 0.3))
        arm.cycles(cycles)
    before = len(arm.oracle.commands)
    damaged(monkeypatch, value)
    arm.go(down(0.35, -0.3))
    arm.until_rest()
    if cycles:
        keeps_limits(arm, HOME)
    else:
        assert len(arm.oracle.commands) == before
    monkeypatch.undo()
    is_latched(arm)
    observed(f"{value:g}: {'braked' if cycles else 'nothing sent'}, latched UNSAFE")


def digest():
    """Return a digest of all that two arms were commanded on their way to some targets.

    One has a closed form, whose answers hardly depend on the seed; the other has none.
    """
    commands = []
    for arm in (Arm(), Arm(PANDA, PANDA_HOME)):
        for x, y in ((0.45, 0.30), (0.35, -0.25), (0.60, 0.10)):
            arm.go(down(x, y), frame=arm.chain.root)
            arm.cycles(30)
        arm.until_rest()
        assert arm.status()["verdict"] == "REACHED"
        commands += list(arm.commands)
    return hashlib.sha256(b"".join(each.tobytes() for each in commands)).hexdigest(), len(commands)


def test_row_61_the_same_input_again(observed):
    first, count = digest()
    assert digest() == (first, count)
    script = f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
    script += "from test_pure_solver import digest; print(digest()[0])"
    again = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        timeout=120.0,
    )
    assert again.stdout.strip() == first, again.stderr
    observed(f"{count} commands, all bits alike, also in a new process")


ELBOW = np.eye(6)[2]
# What one command is damaged by, in a motion of so many periods from a start of the elbow.
DAMAGED = {
    "a check that fails, early": (1.57, 8, None),
    "a check that fails": (1.57, 16, None),
    "a check that fails, late": (1.57, 24, None),
    "NaN": (1.57, 16, lambda q, _: np.where(ELBOW > 0.0, math.nan, q)),
    "infinity": (1.57, 16, lambda q, _: np.where(ELBOW > 0.0, math.inf, q)),
    "too long a step": (1.57, 16, lambda q, _: q + 0.04 * ELBOW),
    "beyond the upper limit": (math.pi - 0.01, 3, lambda _, q: q + 0.03 * ELBOW),
    "beyond the lower limit": (-math.pi + 0.01, 3, lambda _, q: q - 0.03 * ELBOW),
    "farther outside": (math.pi + 0.2, 3, lambda _, q: q + 0.005 * ELBOW),
    "farther outside, below": (-math.pi - 0.2, 3, lambda _, q: q - 0.005 * ELBOW),
}


@pytest.mark.parametrize(("elbow", "after", "damage"), DAMAGED.values(), ids=DAMAGED)
def test_row_92_the_last_check_fails_once_at_speed(monkeypatch, observed, elbow, after, damage):
    start = HOME + (elbow - 1.57) * ELBOW
    arm = Arm(start=start)
    arm.control.arm.go_to(list(map(float, HOME + 0.8 * np.eye(6)[0])))
    arm.cycles(after)
    place, limiter, left = arm.place, arm.control.arm.pipeline._limiter, [True]
    if damage is None:
        check = pipeline.is_safe
        monkeypatch.setattr(pipeline, "is_safe", lambda *a: not left.pop() if left else check(*a))
    else:
        step = limiter.step
        monkeypatch.setattr(
            limiter, "step", lambda *a: damage(step(*a), place) if left and left.pop() else step(*a)
        )
    speed = np.abs(np.diff(arm.commands[-2:], axis=0)).max() / PERIOD
    arm.cycles()
    assert not left
    arm.until_rest()
    keeps_limits(arm, start)
    is_latched(arm)
    observed(f"braked from {speed:.2f} rad/s within all limits, latched UNSAFE")
