# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files of objects as MoveIt and its display in RViz write them: `.scene`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from basis_ik.collision.collision_scene import Scene
from basis_ik.collision.covered_links import anchored, held_at
from basis_ik.collision.shape import SceneError, Shape
from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform


def load_scene(model: RobotModel, chain: Chain, file: Path | None) -> Scene:
    """Return a scene of a robot and the objects of a `.scene` file.

    The format is that of MoveIt 1.1 and MoveIt 2, `PlanningScene::saveGeometryToStream`. Boxes,
    spheres, cylinders and meshes are read; colors and subframes are passed over.

    Args:
        model: The robot.
        chain: The chain that moves.
        file: The file, whose poses are in the frame of the model's root; None: no objects.

    Raises:
        SceneError: The file cannot be read, is no such file, or has another shape; or the robot has
            no collision shapes.
        ChainError: The chain moves the model's root.
    """
    scene = Scene(model, chain, exact=False)
    if file is None:
        return scene
    try:
        lines = iter(file.read_text(encoding="utf-8").splitlines()[1:])  # the first is a name
    except (OSError, UnicodeError) as error:
        raise SceneError(str(file), f"it cannot be read: {error}") from None
    root_T_world = anchored(model, chain, held_at(model, chain, {}), model.root)[1]
    name = ""
    try:
        for line in lines:
            if line.strip() == ".":
                return scene
            if not line.startswith("* "):
                raise ValueError(f"an object begins with '* ', this line is {line[:40]!r}")
            name = line[2:].strip()
            place, shapes, places = root_T_world @ _pose(lines), [], []
            for _ in range(int(next(lines))):
                shapes.append(_shape(lines, name))
                places.append(_pose(lines))
                next(lines)  # its color
            for _ in range(int(next(lines))):  # subframes
                next(lines)
                _pose(lines)
            scene.add(name, shapes, place, places)
    except (ValueError, IndexError, StopIteration, RuntimeError, BasisIkError) as error:
        text = f"object {name!r}: {error or 'the file ends within it'}"
        raise SceneError(str(file), f"{text}; export it again from MoveIt 2 or RViz") from None
    raise SceneError(str(file), "its last line, '.', is missing; export it again")


def _numbers(lines: Iterator[str], count: int) -> FloatArray:
    """Return the numbers of the next line."""
    line = next(lines)
    values = np.array([float(word) for word in line.split()])
    if len(values) != count:
        raise ValueError(f"expected {count} numbers, this line is {line[:40]!r}")
    return values


def _pose(lines: Iterator[str]) -> RigidTransform:
    place = _numbers(lines, 3)
    return RigidTransform.from_quaternion_xyzw(_numbers(lines, 4), place)


def _shape(lines: Iterator[str], name: str) -> Shape:
    kind = next(lines).strip()
    if kind == "box":
        return Shape.box(*_numbers(lines, 3).tolist())
    if kind == "sphere":
        return Shape.sphere(*_numbers(lines, 1).tolist())
    if kind == "cylinder":
        return Shape.cylinder(*_numbers(lines, 2).tolist())
    if kind != "mesh":
        raise ValueError(f"a {kind[:40]!r} is not supported, only box, sphere, cylinder and mesh")
    corners, faces = _numbers(lines, 2).astype(int).tolist()
    points = np.array([_numbers(lines, 3) for _ in range(corners)])
    triangles = np.array([_numbers(lines, 3) for _ in range(faces)], np.int64).reshape(-1, 3)
    return Shape.of_triangles(points[triangles], name)
