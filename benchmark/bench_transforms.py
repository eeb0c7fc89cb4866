# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rigid transforms, transform nodes and tree lookups, against the libraries that people use.

    python benchmark/bench_transforms.py [--quick] [--json FILE]

Every contestant of a row is first checked to give our answer; then all are timed in turns, round
after round, as they are called from Python, and the medians are shown. What multiplies bare arrays
without a type and without a check is marked `bare`: a floor to measure against, not a contestant.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import jaxlie
import numpy as np
import pytransform3d.transformations as pt
import scipy.linalg
from pytransform3d.transform_manager import TransformManager
from scipy.spatial.transform import RigidTransform as ScipyRigid
from transforms3d import affines
from transforms3d.quaternions import mat2quat, qinverse, qmult, quat2mat, rotate_vector

from basis_ik.transforms.node import TransformNode
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

Call = Callable[[], object]
Row = dict[str, Call]  # the first is ours
LIBRARIES = ("numpy", "numba", "transforms3d", "scipy", "pytransform3d", "jax", "jaxlie")
SLICE = 5e-4  # seconds that a contestant gets per round, at least one call
LONGEST = 15.0  # seconds that a row may take; slow rows get fewer rounds, five at least


def dense(value: object) -> np.ndarray:
    """Bring any contestant's answer to an array of ours."""
    if isinstance(value, tuple):  # a quaternion wxyz and a translation
        return affines.compose(value[1], quat2mat(value[0]), np.ones(3))
    if isinstance(value, RigidTransform | TransformNode):
        return value.matrix
    if isinstance(value, jaxlie.SE3 | ScipyRigid):
        return np.asarray(value.as_matrix())
    array = np.asarray(value)
    homogeneous_points = array.shape[-1] == 4 and array.shape != (4, 4)
    return array[..., :3] if homogeneous_points else array


def measure(name: str, row: Row, rounds: int) -> dict[str, dict[str, float]]:
    """Check all answers of a row, then time all calls in turns.

    Returns:
        For each contestant the median seconds per call, and the median of how many times ours it
        took in the same round: what else the machine was doing then weighs on both.
    """
    expected, counts = None, {}
    for label, call in row.items():
        answer = dense(call())
        expected = answer if expected is None else expected
        if not np.allclose(answer, expected, rtol=1e-9, atol=1e-9):
            raise SystemExit(f"{name}: {label} does not give our answer")
        start = time.perf_counter()
        call()
        counts[label] = max(1, math.ceil(SLICE / (time.perf_counter() - start)))
    samples: dict[str, list[float]] = {label: [] for label in row}
    end = time.perf_counter() + LONGEST
    for number in range(rounds):
        if number >= 5 and time.perf_counter() > end:
            break
        for label, call in row.items():
            repeat = range(counts[label])
            start = time.perf_counter()
            for _ in repeat:
                call()
            samples[label].append((time.perf_counter() - start) / counts[label])
    ours = next(iter(samples.values()))
    return {
        label: {
            "seconds": statistics.median(times),
            "ratio": statistics.median(t / o for t, o in zip(times, ours, strict=True)),
        }
        for label, times in samples.items()
    }


def rigid_rows(rng: np.random.Generator) -> dict[str, Row]:
    """Compose, inverse, and application to one point and to a million."""
    a, b = (RigidTransform.exp(rng.normal(size=6)) for _ in range(2))
    A, B = a.matrix.copy(), b.matrix.copy()
    R, t, u = A[:3, :3].copy(), A[:3, 3].copy(), B[:3, 3].copy()
    p, P = rng.normal(size=3), rng.normal(size=(1_000_000, 3))
    q, r = mat2quat(A[:3, :3]), mat2quat(B[:3, :3])
    sa, sb = ScipyRigid.from_matrix(A), ScipyRigid.from_matrix(B)
    ja, jb = jaxlie.SE3.from_matrix(jnp.array(A)), jaxlie.SE3.from_matrix(jnp.array(B))
    jp, jP = jnp.array(p), jnp.array(P)
    done = jax.block_until_ready
    compose, inverse = jax.jit(lambda x, y: x @ y), jax.jit(lambda x: x.inverse())
    apply = jax.jit(lambda x, y: x.apply(y))
    return {
        "compose": {
            "basis_ik": lambda: a @ b,
            "transforms3d": lambda: (qmult(q, r), rotate_vector(u, q) + t),
            "scipy": lambda: sa * sb,
            "pytransform3d": lambda: pt.concat(B, A),
            "jaxlie": lambda: done(ja @ jb),
            "jaxlie jit": lambda: done(compose(ja, jb)),
            "bare pytransform3d": lambda: pt.concat(B, A, check=False),
            "bare numpy": lambda: A @ B,
        },
        "inverse": {
            "basis_ik": lambda: a.inverse(),
            "transforms3d": lambda: (qinverse(q), -rotate_vector(t, qinverse(q))),
            "scipy": lambda: sa.inv(),
            "pytransform3d": lambda: pt.invert_transform(A),
            "jaxlie": lambda: done(ja.inverse()),
            "jaxlie jit": lambda: done(inverse(ja)),
            "bare pytransform3d": lambda: pt.invert_transform(A, check=False),
            "bare numpy": lambda: np.linalg.inv(A),
        },
        "apply to 1 point": {
            "basis_ik": lambda: a.apply(p),
            "transforms3d": lambda: rotate_vector(p, q) + t,
            "scipy": lambda: sa.apply(p),
            "pytransform3d": lambda: pt.transform(A, pt.vector_to_point(p)),
            "jaxlie": lambda: done(ja.apply(jp)),
            "jaxlie jit": lambda: done(apply(ja, jp)),
            "bare numpy": lambda: R @ p + t,
        },
        "apply to 1,000,000 points": {
            "basis_ik": lambda: a.apply(P),
            "transforms3d": lambda: P @ quat2mat(q).T + t,
            "scipy": lambda: sa.apply(P),
            "pytransform3d": lambda: pt.transform(A, pt.vectors_to_points(P)),
            "jaxlie": lambda: done(ja.apply(jP)),
            "jaxlie jit": lambda: done(apply(ja, jP)),
            "bare numpy": lambda: P @ R.T + t,
        },
    }


def node_rows(rng: np.random.Generator) -> dict[str, Row]:
    """Two nodes with scale into one: rotation, scale and its axes, not only a matrix."""

    def node() -> TransformNode:
        R, SR = (RigidTransform.exp(rng.normal(size=6)).rotation for _ in range(2))
        C, T = rng.normal(size=(2, 3))
        scale = np.exp(rng.uniform(-1, 1, 3))
        return TransformNode(center=C, rotation=R, scale=scale, scale_orientation=SR, translation=T)

    a, b = node(), node()
    A, B = a.matrix.copy(), b.matrix.copy()

    def polar_and_eigenvectors() -> np.ndarray:
        m = A @ B
        R, stretch = scipy.linalg.polar(m[:3, :3])
        S, SR = np.linalg.eigh(stretch)
        m[:3, :3] = R @ (SR * S) @ SR.T
        return m

    return {
        "node combination": {
            "basis_ik": lambda: a @ b,
            "transforms3d": lambda: affines.compose(*affines.decompose44(A @ B)),
            "scipy": polar_and_eigenvectors,
        }
    }


def tree_rows(rng: np.random.Generator, sizes: tuple[int, ...]) -> dict[str, Row]:
    """The same lookup over eight steps in trees of several sizes."""
    steps = [RigidTransform.exp(rng.normal(size=6)) for _ in range(8)]

    def edges(size: int) -> list[tuple[str, str, RigidTransform]]:
        """Two branches of four below the root, and what else there is below neither end."""
        found = [("f1", "f0", steps[0]), ("f5", "f0", steps[4])]
        found += [(f"f{i}", f"f{i - 1}", steps[i - 1]) for i in (2, 3, 4, 6, 7, 8)]
        above = np.random.default_rng(1).integers(0, np.arange(9, max(size, 9)))
        found += [(f"f{i}", f"f{above[i - 9]}", steps[i % 8]) for i in range(9, size)]
        return found

    def ours(size: int) -> Call:
        tree = TransformTree("f0")
        for child, parent, transform in edges(size):
            tree.add(child, parent, transform)
        return lambda: tree.lookup("f4", "f8")

    def manager(size: int, check: bool) -> Call:
        graph = TransformManager(check=check)
        for child, parent, transform in edges(size):
            graph.add_transform(child, parent, transform.matrix)
        return lambda: graph.get_transform("f8", "f4")

    small, *larger = sizes
    row = {
        "basis_ik": ours(small),
        "pytransform3d": manager(small, True),
        "pytransform3d unchecked": manager(small, False),
    }
    rows = {f"tree lookup, 8 steps in {small} frames": row}
    key = f"tree lookup, 8 steps in {small} … {larger[-1]:,} frames, ours"
    rows[key] = {f"{size:,} frames": ours(size) for size in sizes}
    return rows


def report(name: str, figures: dict[str, dict[str, float]]) -> None:
    """Print a row: each contestant, its median, and how many times ours it takes."""
    print(f"\n{name}")
    for label, figure in figures.items():
        scale, unit = (1e6, "µs") if figure["seconds"] < 1e-3 else (1e3, "ms")
        print(f"  {label:24s} {figure['seconds'] * scale:10.2f} {unit} {figure['ratio']:9.2f} ×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    rounds = 40 if arguments.quick else 400
    rng = np.random.default_rng(0)
    rows = rigid_rows(rng) | node_rows(rng) | tree_rows(rng, (16, 1_000, 100_000))
    results = {}
    for name, row in rows.items():
        results[name] = measure(name, row, rounds)
        report(name, results[name])
    contestants = [
        (figure["ratio"], label, name)
        for name, figures in results.items()
        for label, figure in list(figures.items())[1:]
        if not label.startswith("bare") and not name.endswith("ours")
    ]
    ratio, label, name = min(contestants)
    print(f"\nnearest contestant: {label}, {name}: {ratio:.2f} × our time")
    record = {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {library: importlib.metadata.version(library) for library in LIBRARIES},
        "rounds": rounds,
        "rows": results,
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
