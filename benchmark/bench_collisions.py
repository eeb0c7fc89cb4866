# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Distances of an arm's links against pinocchio and coal, and what a scene costs a solve.

    python benchmark/bench_collisions.py [--quick] [--json FILE]
    python benchmark/bench_collisions.py --surplus FILE.urdf...
    python benchmark/bench_collisions.py --points

For each arm, in turns in one run: the covers of all pairs of links with gradients; the verdict, by
the shapes; the pairs within 5 cm with twenty objects; pinocchio's `computeDistances` and
`computeCollisions` of the same pairs, without gradients; and solves with and without a scene.
`free` counts targets among objects that some of many random starts reaches freely, and of these the
ones that `solve` does. `--surplus` tells how much too large the covers of some descriptions are.
`--points` tells what 100,000 points of a room cost: an evaluation, a period of the control loop, a
cloud in the side thread, and its exchange.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from basis_ik import RigidTransform, RobotModel, Scene, Shape, solve
from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.clearance import CLEARANCE_TUNING, Clearance
from basis_ik.arm.goals import JointGoal
from basis_ik.arm.pipeline import Pipeline
from basis_ik.collision.point_cloud import PointCloud, seen
from basis_ik.descent.descent_kernel import DESCENT_REACHED
from basis_ik.search.prepare import prepared

ROOT = Path(__file__).parents[1]
ARMS = ("ur5e", "panda")
WITHIN = 0.05  # m
BLOCK = 20  # calls between two looks at the clock

Row = dict[str, Any]


def timed(calls: dict[str, Callable[[Any], object]], arguments: Sequence[Any]) -> dict[str, float]:
    """Return the median time of each call [µs], in blocks that take turns."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for begin in range(0, len(arguments) - BLOCK + 1, BLOCK):
        for name, call in calls.items():
            start = time.perf_counter()
            for each in arguments[begin : begin + BLOCK]:
                call(each)
            found[name].append((time.perf_counter() - start) / BLOCK * 1e6)
    return {name: float(np.median(each)) for name, each in found.items()}


def crowd(scene: Scene, count: int, rng: np.random.Generator) -> None:
    """Add objects of four kinds around an arm, none at its foot."""
    makers = (
        lambda: Shape.box(*rng.uniform(0.05, 0.25, 3)),
        lambda: Shape.cylinder(*rng.uniform(0.05, 0.2, 2)),
        lambda: Shape.sphere(rng.uniform(0.03, 0.1)),
        lambda: Shape.capsule(*rng.uniform(0.03, 0.15, 2)),
    )
    for k in range(count):
        way = rng.normal(size=3)
        way[2] = abs(way[2])
        place = rng.uniform(0.4, 0.9) * way / np.linalg.norm(way)
        pose = RigidTransform.exp([*place, *rng.normal(size=3)])
        scene.add(f"object {k}", makers[k % 4](), pose)


def kernels(scene: Scene) -> tuple[Callable[[Any], object], ...]:
    """Return calls of the kernels alone: all pairs, the verdict, those within a distance."""
    tables = scene._ready()
    memory = tables.take()
    return (
        lambda q: tables.measure(q, memory, 1e30),
        lambda q: tables.collides(q, memory),
        lambda q: tables.measure(q, memory, WITHIN),
    )


def of_pinocchio(name: str, scene: Scene) -> dict[str, Callable[[Any], object]]:
    """Return calls of pinocchio for the same pairs of links; none where it is not installed."""
    try:
        import pinocchio
    except ImportError:
        print("pinocchio is not installed: pip install pin")
        return {}
    path = str(ROOT / "urdf" / f"{name}.urdf")
    model = pinocchio.buildModelFromUrdf(path)
    geometry = pinocchio.buildGeomFromUrdf(model, path, pinocchio.GeometryType.COLLISION)
    shapes: dict[str, list[int]] = {}
    for number, each in enumerate(geometry.geometryObjects):
        shapes.setdefault(model.frames[each.parentFrame].name, []).append(number)
    for one, other in scene.pairs:
        for i in shapes[one]:
            for j in shapes[other]:
                geometry.addCollisionPair(pinocchio.CollisionPair(i, j))
    data, places = model.createData(), geometry.createData()
    order = [model.joints[model.getJointId(joint)].idx_q for joint in scene.chain.joint_names]
    whole = pinocchio.neutral(model)

    def measure(q: Any) -> object:
        whole[order] = q
        return pinocchio.computeDistances(model, data, geometry, places, whole)

    def collide(q: Any) -> object:
        whole[order] = q
        return pinocchio.computeCollisions(model, data, geometry, places, whole, False)

    return {"pinocchio distances": measure, "pinocchio collisions": collide}


def measure_arm(name: str, count: int) -> Row:
    model = RobotModel.example(name)
    alone, full = Scene(model, exact=False), Scene(model, exact=False)
    rng = np.random.default_rng(0)
    crowd(full, 20, rng)
    questions = [alone.chain.random(rng) for _ in range(count)]
    everything, verdict, _ = kernels(alone)
    _, verdict_of_20, within = kernels(full)
    calls = {
        "all pairs": everything,
        "verdict": verdict,
        "verdict, 20 objects": verdict_of_20,
        "within 5 cm, 20 objects": within,
        "is_free": alone.is_free,
        "distance": alone.distance,
        **of_pinocchio(name, alone),
    }
    row: Row = {"pairs": len(alone.pairs), "us": timed(calls, questions)}
    free = [q for q in questions if alone.is_free(q)]
    chain = alone.chain
    tasks = [(chain.forward(q), chain.random(rng)) for q in free]
    solves = {
        "plain": lambda task: solve(chain, *task),
        "scene": lambda task: solve(chain, *task, scene=alone),
    }
    each: dict[str, list[float]] = {key: [] for key in solves}
    for task in tasks:
        for key, call in solves.items():
            start = time.perf_counter()
            call(task)
            each[key].append((time.perf_counter() - start) * 1e6)
    row["solve"] = {key: float(np.median(times)) for key, times in each.items()}
    row["solve"]["scene, mean"] = float(np.mean(each["scene"]))
    return row


def count_free(name: str, targets: int, starts: int) -> Row:
    """Return how many targets random starts reach freely, and how many of these `solve` does."""
    scene, rng = Scene(RobotModel.example(name), exact=False), np.random.default_rng(1)
    crowd(scene, 8, rng)
    chain, ready, some, ours, shown = scene.chain, prepared(scene.chain), 0, 0, 0
    q = np.empty(len(chain.joint_names))
    while shown < targets:
        target, seed = chain.forward(chain.random(rng)), chain.random(rng)
        if scene.is_free(solve(chain, target, seed).positions):
            continue  # only those whose nearest solution collides
        shown += 1
        found = False
        for _ in range(starts):
            status, *_ = ready.search(
                ready.weights, target.matrix.copy(), chain.random(rng), q, (1e-6, 1e-6), 100
            )
            found = status == DESCENT_REACHED and scene.is_free(q)
            if found:
                break
        some += found
        ours += found and solve(chain, target, seed, scene=scene).success
    return {"colliding": shown, "free by starts": some, "free by solve": ours}


def tell_surplus(path: str) -> None:
    scene = Scene(RobotModel.from_urdf_file(path), exact=False)
    surplus = 1e3 * np.array(list(scene.surplus.values()))
    shapes = sum(len(link.bodies) for link in scene._links)
    capsules = sum(len(link.capsules) for link in scene._links)
    spread = f"{np.median(surplus):.0f} and {surplus.max():.0f} mm"
    print(f"| {Path(path).stem} | {shapes} | {capsules} | {spread} |")


def room(count: int, rng: np.random.Generator) -> Any:
    """Return points of a wall and a floor around an arm, with noise of 2 mm."""
    u = rng.uniform(-1.0, 1.0, (count // 2, 4))
    wall = [np.full(len(u), 0.8), u[:, 0], 0.9 + u[:, 1]]
    floor = [u[:, 2], u[:, 3], np.full(len(u), -0.1)]
    return np.hstack([wall, floor]).T + rng.normal(scale=2e-3, size=(2 * len(u), 3))


def tell_points(name: str) -> None:
    rng, model = np.random.default_rng(0), RobotModel.example(name)
    points, times = room(100_000, rng), {}
    scenes = {"": Scene(model, exact=False, padding=0.01)}
    scenes["points"] = scenes[""].copy()
    clouds = [PointCloud.of(each) for each in (points, room(100_000, rng))]
    scenes["points"].add_points("points", clouds[0])
    chain = scenes[""].chain
    for label, scene in scenes.items():
        tables = scene._ready()
        memory = tables.take()
        times[f"evaluation, {label}"] = lambda q, t=tables, m=memory: t.measure(
            q, m, CLEARANCE_TUNING.horizon
        )
    found = timed(times, [chain.random(rng) for _ in range(2000)])
    for label, scene in scenes.items():
        caps = SpeedCaps(chain)
        caps.clearance = Clearance(scene)
        pipe, q, spent = Pipeline(chain, period=0.01, caps=caps), chain.neutral, []
        for _ in range(6):
            pipe.set_goal(JointGoal(tuple(chain.random(rng))), q)
            for _ in range(200):
                start = time.perf_counter()
                command = pipe.step(q)
                spent.append((time.perf_counter() - start) * 1e6)
                q = q if command is None else command
        found[f"period, {label}"] = float(np.median(spent))
    scene = scenes["points"]
    capsules, pose = scene.robot_at(chain.neutral), np.eye(3, 4)
    reach = scene.reach()[np.newaxis]
    making = timed(
        {
            "without the robot": lambda _: seen(points, pose, reach, capsules),
            "spheres and their tree": lambda _: PointCloud.of(points),
            "exchange": lambda k: scene.add_points("points", clouds[k % 2]),
        },
        range(2 * BLOCK),
    )
    print(name, scene, json.dumps(found | making, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", help="where to write the figures")
    parser.add_argument("--surplus", nargs="+", metavar="FILE", help="only covers, of these URDFs")
    parser.add_argument("--points", action="store_true", help="only clouds of points")
    options = parser.parse_args()
    if options.points:
        for name in ARMS:
            tell_points(name)
        return
    if options.surplus:
        for path in options.surplus:
            tell_surplus(path)
        return
    count, targets, starts = (400, 20, 1000) if options.quick else (4000, 200, 10_000)
    found: Row = {}
    for name in ARMS:
        measure_arm(name, 40)  # compiles
        found[name] = measure_arm(name, count) | {"free": count_free(name, targets, starts)}
        print(name, json.dumps(found[name], indent=1))
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
