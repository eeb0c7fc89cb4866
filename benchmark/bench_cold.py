# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Cold and warm starts: what the compiler costs, by numba version, by use, and by kernel.

    python benchmark/bench_cold.py [--numba 0.58.1,0.68.1] [--top N] [--quick] [--json FILE]

Each row is a fresh process that begins with an empty cache of kernels, and then the same once
more. Processor time is that of the whole process, its imports included, and of its children; it
varies less than wall time where other work is running. Needs no competitors and no ROS: versions
of numba other than the present one are fetched from PyPI into `.setup/bench/`.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".setup" / "bench"
# numba, and the newest numpy that it takes
VERSIONS = {
    "0.58.1": "1.26.4",
    "0.59.1": "1.26.4",
    "0.60.0": "2.0.2",
    "0.61.2": "2.2.6",
    "0.68.1": "2.4.6",
}
DEFAULT = "0.58.1,0.68.1"  # Ubuntu 24.04's, and the newest

Row = dict[str, Any]


# What is started, in a process of its own -------------------------------------------------------


def solve_pose(xyz: tuple[float, float, float]) -> None:
    from basis_ik.robot.robot import RobotModel
    from basis_ik.solvers.pose.solve import solve
    from basis_ik.transforms.rigid import RigidTransform

    chain = RobotModel.from_urdf_file(ROOT / "urdf" / "ur5e.urdf").chain()
    solve(chain, RigidTransform.from_rpy(3.14159, 0.0, 0.0, xyz))


def solve_gaze() -> None:
    from basis_ik.robot.robot import RobotModel
    from basis_ik.solvers.look.look_at import look_at

    chain = RobotModel.from_urdf_file(ROOT / "urdf" / "ur5e.urdf").chain()
    look_at(chain, (1.0, 0.5, 0.2), axis=(0.0, 0.0, 1.0))


def solve_bones(xyz: tuple[float, float, float], angle: float | None) -> None:
    from basis_ik.fabrik.ball_limits import BallLimit
    from basis_ik.fabrik.fabrik import solve_chain

    limits = None if angle is None else {1: BallLimit.cone(angle), 2: BallLimit.cone(angle)}
    joints = [[0.0, 0.0, float(k)] for k in range(4)]
    solve_chain(joints, xyz, limits=limits)


def warm_up(name: str) -> None:
    from basis_ik import warm_up

    for step in getattr(warm_up, name)():
        step.run()


def warm_up_command() -> None:
    from basis_ik.__main__ import main

    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    main(["warm-up"])


USES: dict[str, Callable[[], None]] = {
    "solve, reached": lambda: solve_pose((0.4, 0.2, 0.3)),
    "solve, out of reach": lambda: solve_pose((0.8, 0.2, 0.5)),
    "look_at": solve_gaze,
    "FABRIK, a chain": lambda: solve_bones((1.0, 0.5, 2.0), None),
    "FABRIK, with limits": lambda: solve_bones((0.3, 0.2, 2.9), 0.3),
    "FABRIK, limits in the way": lambda: solve_bones((1.0, 0.5, 2.0), 0.3),
    "the node, all of it": lambda: warm_up("node_steps"),
    "frames_node, all of it": lambda: warm_up("frames_steps"),
    "everything": lambda: warm_up("all_steps"),
    "everything, by warm-up": warm_up_command,
}
IN_DETAIL = "everything"  # the row whose kernels are listed


def run_use(name: str, out: Path) -> None:
    """Do it, and write what each kernel cost: processor time without that of its callees."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def __init__(self) -> None:
            self.kernels: dict[str, list[float]] = {}
            self._stack: list[list[float]] = []  # when begun, spent in callees

        def on_start(self, event: Any) -> None:
            self._stack.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            began, callees = self._stack.pop()
            spent = time.process_time() - began
            if self._stack:
                self._stack[-1][1] += spent
            function = event.data["dispatcher"].py_func
            if function.__module__.startswith("basis_ik."):
                name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
                entry = self.kernels.setdefault(name, [0.0, 0])
                entry[0] += spent - callees
                entry[1] += 1

    listener = Listener()
    event.register("numba:compile", listener)
    USES[name]()
    out.write_text(json.dumps(listener.kernels))


# Measuring --------------------------------------------------------------------------------------


def measure(python: Path, use: str, cache: Path) -> tuple[Row, dict[str, list[float]]]:
    """Return processor and wall time [s], memory [MB], kernels compiled; and each kernel's."""
    keep = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
    environment = keep | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(cache)}
    out = cache / "kernels.json"
    cache.mkdir(exist_ok=True)
    began = time.perf_counter()
    command = [str(python), __file__, "--use", use, "--json", str(out)]
    process = subprocess.Popen(command, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{use!r} failed with {python}")
    kernels = json.loads(out.read_text())
    files = {path.stem for path in cache.rglob("*.nbi")}
    row = {
        "processor_s": used.ru_utime + used.ru_stime,
        "wall_s": wall,
        "memory_mb": used.ru_maxrss / 1024,  # of the largest process
        "kernels": len(files),
    }
    return row, kernels


def measure_version(python: Path, versions: dict[str, str]) -> Row:
    print(f"\nnumba {versions['numba']}, numpy {versions['numpy']}")
    heads = f"{'cold: processor':>15} {'wall':>7} {'kernels':>8}   {'warm':>7} {'wall':>7}"
    print(f"{'seconds':24} {heads}")
    uses, detail = {}, {}
    for use in USES:
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder) / "cache"
            cold, kernels = measure(python, use, cache)
            warm, late = measure(python, use, cache)
        if late:
            print(f"  compiled although it had been: {', '.join(late)}")
        if use == IN_DETAIL:
            detail = kernels
        uses[use] = {"cold": cold, "warm": {k: v for k, v in warm.items() if k != "kernels"}}
        print(
            f"{use:24} {cold['processor_s']:15.1f} {cold['wall_s']:7.1f} {cold['kernels']:8}   "
            f"{warm['processor_s']:7.1f} {warm['wall_s']:7.1f}",
            flush=True,
        )
    ranked = sorted(detail.items(), key=lambda item: -item[1][0])
    table = {name: {"processor_s": s, "compilations": n} for name, (s, n) in ranked}
    return {"versions": versions, "uses": uses, "kernels": table}


def print_kernels(kernels: dict[str, Row], top: int) -> None:
    whole = sum(row["processor_s"] for row in kernels.values())
    print(f"\n{len(kernels)} kernels, {whole:.1f} s without what they call; the {top} largest")
    for name, row in list(kernels.items())[:top]:
        print(f"{name:44} {row['processor_s']:6.2f} s  compiled {row['compilations']} times")


# Environments -----------------------------------------------------------------------------------


def make_environment(version: str) -> Path | None:
    """Return the Python of an environment with a numba; None where it has no wheel."""
    folder = ENVIRONMENTS / f"cold-{version}-py{sys.version_info.major}.{sys.version_info.minor}"
    python = folder / "bin" / "python"
    complete = folder / "complete"
    if complete.exists():
        return python
    print(f"fetching numba {version} into {folder.relative_to(ROOT)}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    command = [
        str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--only-binary", ":all:", f"numba=={version}", f"numpy=={VERSIONS[version]}",
        "transforms3d",
    ]  # fmt: skip
    environment = os.environ | {"PIP_CACHE_DIR": str(ROOT / ".setup" / "cache" / "pip")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        complete.touch()
        return python
    shutil.rmtree(folder)
    lines = done.stderr.strip().splitlines() or ["pip failed"]
    print(f"numba {version} left out, Python {platform.python_version()}: {lines[-1]}", flush=True)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--numba", default=DEFAULT,
        help=f"versions beside the present one, of {', '.join(VERSIONS)}; default {DEFAULT}",
    )  # fmt: skip
    parser.add_argument("--top", type=int, default=25, help="how many kernels are printed")
    parser.add_argument("--quick", action="store_true", help="the present numba only")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--use", choices=USES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.use:
        run_use(options.use, options.json)
        return
    wanted = [] if options.quick else [v for v in options.numba.split(",") if v]
    for version in wanted:
        if version not in VERSIONS:
            parser.error(f"numba {version} is not one of {', '.join(VERSIONS)}")
    present = {name: importlib.metadata.version(name) for name in ("numba", "numpy")}
    pythons = [(Path(sys.executable), present)]
    for version in wanted:
        python = None if version == present["numba"] else make_environment(version)
        if python is not None:
            pythons.append((python, {"numba": version, "numpy": VERSIONS[version]}))
    results = [measure_version(python, versions) for python, versions in pythons]
    print_kernels(results[0]["kernels"], options.top)
    record = {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "results": results,
    }
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
