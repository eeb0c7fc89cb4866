# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Kernels of a chain, compared with 4x4 products and finite differences."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from from_python import from_python
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.robot import chain_kernel as kernels
from basis_ik.robot.chain_kernel import ChainArrays

forward_and_jacobian = from_python(kernels.forward_and_jacobian)
jacobian_at = from_python(kernels.jacobian_at)


def random_frame(rng, scale=0.5):
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return np.column_stack((q * np.linalg.det(q), rng.normal(size=3) * scale))


def random_chain(seed, m=7, n=5):
    """Turning and sliding joints; some of the n variables drive several joints."""
    rng = np.random.default_rng(seed)
    variables = np.concatenate((np.arange(n), rng.integers(0, n, m - n)))
    rng.shuffle(variables)
    return ChainArrays(
        origins=np.array([random_frame(rng) for _ in range(m)]),
        prismatic=rng.integers(0, 2, m),
        variables=variables,
        multipliers=rng.choice([1.0, -1.0, 0.5, 2.0], m),
        offsets=rng.choice([0.0, 0.3], m),
        tip=random_frame(rng),
        lower=np.full(n, -2.0),
        upper=np.full(n, 2.0),
        continuous=np.zeros(n, np.int64),
    ), rng.uniform(-2, 2, n)


def square(frame):
    return np.vstack((frame, (0, 0, 0, 1)))


def plain_frames(chain, q):
    """Moved frames and tip, by 4x4 products."""
    frame, frames = np.eye(4), []
    for i, origin in enumerate(chain.origins):
        value = chain.multipliers[i] * q[chain.variables[i]] + chain.offsets[i]
        motion = np.eye(4)
        if chain.prismatic[i]:
            motion[2, 3] = value
        else:
            c, s = np.cos(value), np.sin(value)
            motion[:2, :2] = ((c, -s), (s, c))
        frame = frame @ square(origin) @ motion
        frames.append(frame[:3])
    return np.array(frames), (frame @ square(chain.tip))[:3]


def evaluate(chain, q):
    m, n = len(chain.origins), len(q)
    frames, tip, jacobian = np.full((m, 3, 4), np.nan), np.full((3, 4), np.nan), np.empty((6, n))
    forward_and_jacobian(chain, q, frames, tip, jacobian)
    return frames, tip, jacobian


@given(st.integers(0, 10_000))
def test_frames_and_tip_are_the_product_of_the_joints_transforms(seed):
    chain, q = random_chain(seed)
    frames, tip, _ = evaluate(chain, q)
    expected_frames, expected_tip = plain_frames(chain, q)
    np.testing.assert_allclose(frames, expected_frames, atol=1e-13)
    np.testing.assert_allclose(tip, expected_tip, atol=1e-13)


@given(st.integers(0, 10_000))
def test_jacobian_agrees_with_finite_differences(seed):
    chain, q = random_chain(seed)
    _, tip, jacobian = evaluate(chain, q)
    h = 1e-6
    for k in range(len(q)):
        step = np.zeros(len(q))
        step[k] = h
        after, before = plain_frames(chain, q + step)[1], plain_frames(chain, q - step)[1]
        rate = (after - before) / (2 * h)
        spin = rate[:, :3] @ tip[:, :3].T  # Ṙ Rᵀ = [ω]
        omega = 0.5 * np.array(
            (spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1])
        )
        np.testing.assert_allclose(jacobian[:3, k], rate[:, 3], atol=1e-7)
        np.testing.assert_allclose(jacobian[3:, k], omega, atol=1e-7)


def test_jacobian_of_another_point_on_the_tip():
    chain, q = random_chain(3)
    frames, tip, _ = evaluate(chain, q)
    offset = np.array((0.1, -0.2, 0.3))
    moved = chain._replace(
        tip=(square(chain.tip) @ square(np.column_stack((np.eye(3), offset))))[:3]
    )
    jacobian = np.empty((6, len(q)))
    jacobian_at(chain, frames, tip[:, :3] @ offset + tip[:, 3], jacobian)
    np.testing.assert_allclose(jacobian, evaluate(moved, q)[2], atol=1e-13)


def test_links_hang_on_their_joints_or_on_the_root():
    chain, q = random_chain(5)
    frames = evaluate(chain, q)[0]
    rng = np.random.default_rng(1)
    constants = np.array([random_frame(rng) for _ in range(3)])
    out = np.empty((3, 3, 4))
    kernels.link_frames(frames, np.array([-1, 0, 6]), constants, out)
    np.testing.assert_array_equal(out[0], constants[0])
    np.testing.assert_allclose(out[1], (square(frames[0]) @ square(constants[1]))[:3], atol=1e-14)
    np.testing.assert_allclose(out[2], (square(frames[6]) @ square(constants[2]))[:3], atol=1e-14)


def test_fields_give_the_same_as_the_named_tuple():
    chain, q = random_chain(7)
    outs = np.empty((len(chain.origins), 3, 4)), np.empty((3, 4)), np.empty((6, len(q)))
    kernels.forward_from_fields(tuple(chain), q, *outs)
    for got, expected in zip(outs, evaluate(chain, q), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_chain_without_joints_is_its_constant_transform():
    chain, _ = random_chain(2)
    still = chain._replace(origins=np.empty((0, 3, 4)))
    _, tip, jacobian = evaluate(still, np.zeros(5))
    np.testing.assert_array_equal(tip, chain.tip)
    assert not jacobian.any()


def test_nan_stays_visible():
    chain, q = random_chain(4)
    q[2] = np.nan
    _, tip, jacobian = evaluate(chain, q)
    assert np.isnan(tip).any()
    assert np.isnan(jacobian).any()


def test_plain_python_and_compiled_kernels_agree(tmp_path):
    """The same source runs without the compiler; that rounds a product and its sum together."""
    script = (
        "import sys, importlib.util, numpy as np\n"
        "spec = importlib.util.spec_from_file_location('t', sys.argv[1])\n"
        "t = importlib.util.module_from_spec(spec); spec.loader.exec_module(t)\n"
        "np.savez(sys.argv[2], *t.evaluate(*t.random_chain(11)))\n"
    )
    out = tmp_path / "plain.npz"
    root = Path(__file__).parents[2]
    path = f"{root}{os.pathsep}{root}/test/numerics"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    subprocess.run(
        [sys.executable, "-c", script, __file__, str(out)], check=True, env=environment, cwd=root
    )
    with np.load(out) as plain:
        for name, compiled in zip(plain.files, evaluate(*random_chain(11)), strict=True):
            np.testing.assert_allclose(plain[name], compiled, rtol=0, atol=5e-15)


@pytest.mark.parametrize("kind", ["turns", "slides"])
def test_one_joint_by_hand(kind):
    origin = np.column_stack((np.eye(3), (1.0, 0.0, 0.0)))
    chain = ChainArrays(
        origins=origin[None].copy(),
        prismatic=np.array([int(kind == "slides")]),
        variables=np.array([0]),
        multipliers=np.array([1.0]),
        offsets=np.array([0.0]),
        tip=np.column_stack((np.eye(3), (2.0, 0.0, 0.0))),
        lower=np.array([-4.0]),
        upper=np.array([4.0]),
        continuous=np.array([0]),
    )
    _, tip, jacobian = evaluate(chain, np.array([np.pi / 2]))
    if kind == "turns":
        np.testing.assert_allclose(tip[:, 3], (1, 2, 0), atol=1e-15)
        np.testing.assert_allclose(jacobian[:, 0], (-2, 0, 0, 0, 0, 1), atol=1e-15)
    else:
        np.testing.assert_allclose(tip[:, 3], (3, 0, np.pi / 2), atol=1e-15)
        np.testing.assert_array_equal(jacobian[:, 0], (0, 0, 1, 0, 0, 0))
