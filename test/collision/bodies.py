# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Shapes and robots for the tests of collisions, and what is measured on them by brute force."""

import numpy as np
from hypothesis import strategies as st

from basis_ik.collision.shape import Shape
from basis_ik.transforms.rigid import RigidTransform

LENGTHS = st.floats(0.01, 0.6)


@st.composite
def hulls(draw):
    """Hulls of random points, round ones and flat ones."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    points = rng.normal(size=(draw(st.integers(4, 60)), 3))
    if draw(st.booleans()):
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    size = np.array([draw(LENGTHS) for _ in range(3)])
    return Shape.hull_of(size * points + rng.normal(size=3))


SOLIDS = st.one_of(
    st.builds(Shape.box, LENGTHS, LENGTHS, LENGTHS), st.builds(Shape.cylinder, LENGTHS, LENGTHS)
)
ROUND = st.one_of(st.builds(Shape.sphere, LENGTHS), st.builds(Shape.capsule, LENGTHS, LENGTHS))
SHAPES = st.one_of(SOLIDS, ROUND, hulls())


def points_in(shape, count, seed=0):
    """Return random points (count, 3) in a shape, many of them on its surface."""
    rng = np.random.default_rng(seed)
    half = 0.5 * np.array(shape.size)
    if shape.kind == "box":
        points = rng.uniform(-1.0, 1.0, (count, 3))
        points[::2] = np.sign(points[::2]) ** rng.integers(0, 2, (len(points[::2]), 3))
        return half * points
    if shape.kind == "mesh":
        weights = rng.dirichlet(np.full(len(shape.hull.vertices), 0.1), count)
        return weights @ shape.hull.vertices
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    if shape.kind == "sphere":
        return half[0] * way
    along = rng.uniform(-half[2], half[2], count)
    along[::2] = half[2] * np.sign(along[::2])
    if shape.kind == "capsule":
        return half[0] * way + along[:, None] * [0.0, 0.0, 1.0]
    way = way[:, :2] / np.linalg.norm(way[:, :2], axis=1, keepdims=True)
    out = half[0] * np.sqrt(rng.uniform(0.5, 1.0, count))
    out[::3] = half[0]
    return np.column_stack([out[:, None] * way, along])


def random_pose(rng, reach=1.0):
    """Return a random pose within a box."""
    turn = RigidTransform.exp([0.0, 0.0, 0.0, *rng.normal(size=3)])
    return RigidTransform.from_rotation_translation(turn.rotation, rng.uniform(-reach, reach, 3))


def write_stl(path, triangles):
    """Write triangles (f, 3, 3) as a binary STL file."""
    triangles = np.asarray(triangles, "<f4")
    rows = np.zeros((len(triangles), 50), np.uint8)
    rows[:, 12:48] = np.ascontiguousarray(triangles).reshape(-1, 9).view(np.uint8).reshape(-1, 36)
    count = np.array([len(triangles)], "<u4").tobytes()
    path.write_bytes(b"\0" * 80 + count + rows.tobytes())
    return path
