# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The contestants of the pose solver benchmark, each called the way its users call it.

Every one is built from the same cut URDF and is asked for one configuration near a seed that
satisfies position and orientation within 1e-5 (m, rad) and the joint limits.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
from robots import Arm

from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.pose.solve import solve, warm_up, warm_up_fabrik

Answer = Any  # whatever the library returns; `positions` is read from it outside the clock
Call = Callable[[np.ndarray, np.ndarray], Answer]
Read = Callable[[Answer], "np.ndarray | None"]
TOLERANCE = 1e-5
ARTIFACTS = Path(".setup/bench/ssik").resolve()  # what `ssik build` made, kept between runs
BUILD_TIME = 150.0  # [s] that it may take; for some arms it takes many minutes


class Judge:
    """Forward kinematics by pinocchio, the same for everybody."""

    def __init__(self, arm: Arm) -> None:
        self._model = pinocchio.buildModelFromXML(arm.text)
        self._data = self._model.createData()
        self._frame = self._model.getFrameId(arm.tip)
        self._root = self._model.getFrameId(arm.root)
        chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
        self.lower, self.upper = np.array(chain.lower), np.array(chain.upper)

    def pose(self, q: np.ndarray) -> Any:
        """Return root_T_tip."""
        full = np.empty(self._model.nq)
        for k, joint in enumerate(self._model.joints[1:]):
            if joint.nq == 2:  # a continuous joint is a cosine and a sine
                full[joint.idx_q : joint.idx_q + 2] = np.cos(q[k]), np.sin(q[k])
            else:
                full[joint.idx_q] = q[k]
        pinocchio.framesForwardKinematics(self._model, self._data, full)
        return self._data.oMf[self._root].actInv(self._data.oMf[self._frame])

    def jacobian(self) -> np.ndarray:
        """Return the tip's Jacobian (6, n) in its own frame, where `pose` was last asked for."""
        pinocchio.computeJointJacobians(self._model, self._data)
        return pinocchio.getFrameJacobian(
            self._model, self._data, self._frame, pinocchio.ReferenceFrame.LOCAL
        )

    def accepts(
        self,
        q: np.ndarray | None,
        target: np.ndarray,
        within: tuple[float, float] = (TOLERANCE, TOLERANCE),
    ) -> bool:
        """Whether q reaches the target, by default within 1e-5 m and rad, inside the limits."""
        if q is None or not np.isfinite(q).all():
            return False
        if (q < self.lower - 1e-9).any() or (q > self.upper + 1e-9).any():
            return False
        off = self.pose(q).actInv(pinocchio.SE3(target))
        turned = np.linalg.norm(pinocchio.log3(off.rotation))
        return bool(np.linalg.norm(off.translation) <= within[0] and turned <= within[1])


def ours(arm: Arm, judge: Judge) -> tuple[Call, Read]:
    chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
    warm_up(chain)

    def call(target: np.ndarray, seed: np.ndarray) -> Answer:
        return solve(chain, target, seed, position_tolerance=1e-5, orientation_tolerance=1e-5)

    return call, lambda answer: answer.positions if answer.success else None


def our_fabrik(arm: Arm, judge: Judge) -> tuple[Call, Read]:
    chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
    warm_up(chain)
    warm_up_fabrik(chain)

    def call(target: np.ndarray, seed: np.ndarray) -> Answer:
        return solve(
            chain, target, seed, position_tolerance=1e-5, orientation_tolerance=1e-5,
            solver="fabrik",
        )  # fmt: skip

    return call, lambda answer: answer.positions if answer.success else None


def roboticstoolbox(arm: Arm, judge: Judge) -> tuple[Call, Read]:
    rtb = importlib.import_module("roboticstoolbox")
    chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
    arrays = chain.arrays
    steps = []
    for i, origin in enumerate(arrays.origins):
        steps.append(rtb.ET.SE3(np.vstack([origin, [0, 0, 0, 1]])))
        low, high = (max(judge.lower[i], -np.pi), min(judge.upper[i], np.pi))
        if np.isfinite(judge.lower[i]):
            low, high = judge.lower[i], judge.upper[i]
        make = rtb.ET.tz if arrays.prismatic[i] else rtb.ET.Rz
        steps.append(make(qlim=[low, high]))
    steps.append(rtb.ET.SE3(np.vstack([arrays.tip, [0, 0, 0, 1]])))
    ets = rtb.ETS(steps)

    def call(target: np.ndarray, seed: np.ndarray) -> Answer:
        return ets.ik_LM(target, q0=seed, tol=5e-11, joint_limits=True)

    return call, lambda answer: answer.q if answer.success else None


def trac_ik(arm: Arm, judge: Judge) -> tuple[Call, Read]:
    module = importlib.import_module("trac_ik")
    solver = module.TracIK(arm.root, arm.tip, str(arm.path), timeout=0.005, epsilon=1e-5)

    def call(target: np.ndarray, seed: np.ndarray) -> Answer:
        return solver.ik(target[:3, 3], target[:3, :3], seed_jnt_values=seed)

    return call, lambda answer: None if answer is None else np.asarray(answer)


def optik(arm: Arm, judge: Judge) -> tuple[Call, Read]:
    module = importlib.import_module("optik")
    chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
    if chain.continuous.any() or chain.prismatic.any():  # it would take the process down
        raise RuntimeError("continuous and prismatic joints are not supported")
    robot = module.Robot.from_urdf_file(str(arm.path), arm.root, arm.tip)
    robot.set_parallelism(1)
    settings = module.SolverConfig(solution_mode="speed", max_time=0.1, tol_f=1e-11)

    def call(target: np.ndarray, seed: np.ndarray) -> Answer:
        return robot.ik(settings, target.tolist(), seed.tolist())

    return call, lambda answer: None if answer is None else np.asarray(answer[0])


def ssik(arm: Arm, judge: Judge) -> tuple[Call, Read]:
    """Build what `ssik build` makes for deployment; `Manipulator.from_urdf` is for first trials."""
    version = importlib.metadata.version("ssik")
    name = f"{arm.name}_{hashlib.sha256(arm.text.encode()).hexdigest()[:8]}_{version}"
    module = "ik_" + re.sub(r"\W", "_", name)
    file, log = ARTIFACTS / f"{module}.py", ARTIFACTS / f"{module}.log"
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    # It keeps what it derived below the home folder.
    home = {"HOME": str(ARTIFACTS), "XDG_CACHE_HOME": str(ARTIFACTS / "cache")}
    os.environ.update(home)
    if not file.exists() and not log.exists():
        print(f"  ssik: building for {arm.name}, up to {BUILD_TIME:.0f} s", flush=True)
        command = [
            str(Path(sys.executable).with_name("ssik")), "build", str(arm.path), "--no-validate",
            "--base", arm.root, "--ee", arm.tip, "--out", str(file), "--module-name", module,
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=BUILD_TIME, check=False
            )
            log.write_text(done.stdout + done.stderr)
        except subprocess.TimeoutExpired:
            log.write_text(f"more than {BUILD_TIME:.0f} s")
    if not file.exists():
        raise RuntimeError(log.read_text().strip()[-60:])
    if str(ARTIFACTS) not in sys.path:
        sys.path.append(str(ARTIFACTS))
    robot = importlib.import_module(module)

    def call(target: np.ndarray, seed: np.ndarray) -> Answer:
        return robot.solve(target, q_seed=seed, max_solutions=1, enumerate_windings=False)

    return call, lambda answer: np.asarray(answer[0].q) if answer else None


def pinocchio_loop(arm: Arm, judge: Judge) -> tuple[Call, Read]:
    """Levenberg-Marquardt on pinocchio's Jacobian with restarts, as its users write it."""
    model = pinocchio.buildModelFromXML(arm.text)
    if model.nq != model.nv:
        raise RuntimeError("continuous joints need an integrator")
    data, tip = model.createData(), model.getFrameId(arm.tip)
    low, high, rng = judge.lower, judge.upper, np.random.default_rng(0)

    def call(target: np.ndarray, seed: np.ndarray) -> Answer:
        pinocchio.framesForwardKinematics(model, data, seed)
        goal = data.oMf[model.getFrameId(arm.root)] * pinocchio.SE3(target)
        q = seed
        for _ in range(50):
            for _ in range(100):
                pinocchio.framesForwardKinematics(model, data, q)
                off = data.oMf[tip].actInv(goal)
                error = pinocchio.log6(off).vector
                size = float(error @ error)
                if size < 1e-12:
                    return q
                jacobian = pinocchio.computeFrameJacobian(model, data, q, tip)
                jacobian = -pinocchio.Jlog6(off.inverse()) @ jacobian
                damped = jacobian @ jacobian.T + 0.01 * size * np.eye(6)
                q = np.clip(q - jacobian.T @ np.linalg.solve(damped, error), low, high)
            q = rng.uniform(low, high)
        return None

    return call, lambda answer: answer


def eaik(arm: Arm, judge: Judge) -> tuple[Call, Read]:
    bindings = importlib.import_module("eaik.pybindings.EAIK")
    chain = RobotModel.from_urdf(arm.text).chain(arm.root, arm.tip)
    frame = np.eye(4)
    axes, points = [], []
    for origin in chain.arrays.origins:
        frame = frame @ np.vstack([origin, [0, 0, 0, 1]])
        axes.append(frame[:3, 2])
        points.append(frame[:3, 3])
    tip = frame @ np.vstack([chain.arrays.tip, [0, 0, 0, 1]])
    offsets = np.diff(np.vstack([np.zeros(3), points, tip[:3, 3]]), axis=0)
    robot = bindings.Robot(np.array(axes).T, offsets.T, tip[:3, :3], [], True)
    if not robot.has_known_decomposition():
        raise RuntimeError("no known decomposition")
    low, high = judge.lower, judge.upper

    def call(target: np.ndarray, seed: np.ndarray) -> Answer:
        found = robot.calculate_IK(target)
        exact = np.asarray(found.Q)[~np.asarray(found.is_LS, bool)]
        turned = exact + 2 * np.pi * np.ceil((low - exact) / (2 * np.pi))
        turned = np.where(np.isfinite(turned), turned, exact)
        inside = turned[(turned <= high).all(axis=1)]
        if len(inside) == 0:
            return None
        return inside[np.argmin(np.abs(inside - seed).sum(axis=1))]

    return call, lambda answer: answer


OURS = ("basis_ik", "basis_ik fabrik")
CONTESTANTS = {
    "basis_ik": ours,
    "basis_ik fabrik": our_fabrik,
    "roboticstoolbox ik_LM": roboticstoolbox,
    "TRAC-IK 5 ms": trac_ik,
    "optik": optik,
    "ssik": ssik,
    "EAIK": eaik,
    "pinocchio LM loop": pinocchio_loop,
}


def build(arm: Arm, judge: Judge) -> Iterator[tuple[str, Call, Read, float]]:
    """Yield the contestants that can be built for an arm, with the time [s] that it took.

    Says why others cannot be built.
    """
    for name, make in CONTESTANTS.items():
        start = time.perf_counter()
        try:
            with contextlib.redirect_stdout(None):
                call, read = make(arm, judge)
        except BaseException as error:  # a competitor may fail in any way it likes: Rust panics too
            if name in OURS or isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            print(f"  {name}: not for {arm.name}: {type(error).__name__}: {str(error)[:80]}")
            continue
        yield name, call, read, time.perf_counter() - start
