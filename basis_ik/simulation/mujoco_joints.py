# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The engine with masses and forces: servo drives with limited effort, in MuJoCo."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from basis_ik.numerics.arrays import FloatArray
from basis_ik.simulation.drives import Feedback, SetPoints
from basis_ik.simulation.mujoco_scene import PHYSICS_STEP, PhysicsError, Scene, place
from basis_ik.simulation.simulated_robot import SimulatedRobot

DRIVE_BANDWIDTH = 2.0 * math.pi * 15.0
"""Bandwidth of the position loop with the heaviest load [rad/s]; critically damped."""
INERTIA_SAMPLES = 64
"""Number of postures in which the drives' inertias are evaluated."""
SAMPLED_TURN = math.pi
"""Range of these postures for a joint without limits, either way [rad]."""
UNLIMITED_BRAKE = 1e6
"""Effort of the brake of a drive without a stated effort [Nm or N]."""


class MujocoJoints:
    """Joints with masses, each with a position servo: PD, feed-forward, gravity compensation.

    The set points move like the kinematic drives. The effort of a servo is

        limited(M ω² (q_set - q) + 2 M ω (v_set - v) + load(q, v))

    where M is the joint's largest inertia in any posture, including the coupling to the other
    joints' accelerations. The load is due to gravity and all joints' velocities, without contacts.
    A brake is dry friction as strong as the drive.

    Attributes:
        stopped: Whether all brakes are closed and all drives are off.
        blocked: shape (n,), True for a joint whose brake is closed.
    """

    def __init__(
        self,
        scene: Scene,
        robot: SimulatedRobot,
        positions: FloatArray,
        *,
        time_constant: float = 0.0,
        feedback_delay: float = 0.0,
    ) -> None:
        """Start at rest at given positions.

        Args:
            scene: The scene of this robot at these positions; must not be used again.
            robot: Its joints.
            positions: shape (n,), within the limits [rad or m].
            time_constant: Time constant of the set points' first-order lag [s]; 0: none.
            feedback_delay: Age of the measured state [s].
        """
        self._model, self._data = scene.model, mujoco.MjData(scene.model)
        model = self._model
        joints = [model.joint(name) for name in robot.driven]
        self._q = np.array([joint.qposadr[0] for joint in joints])
        self._v = np.array([joint.dofadr[0] for joint in joints])
        # Velocities of all joints per unit velocity of each driven one.
        self._gears = np.zeros((model.nv, len(robot.driven)))
        for name, column, multiplier in zip(
            robot.names, robot.column, robot.multiplier, strict=True
        ):
            self._gears[model.joint(name).dofadr[0], column] = multiplier
        inertia = self._greatest_inertia(robot)
        self._stiffness, self._damping = (
            DRIVE_BANDWIDTH**2 * inertia,
            2.0 * DRIVE_BANDWIDTH * inertia,
        )
        self._friction = model.dof_frictionloss[self._v].copy()
        limited = model.actuator_forcelimited
        effort = model.actuator_forcerange[:, 1]
        self._brake = self._friction + np.where(limited, effort, UNLIMITED_BRAKE)
        self._set_points = SetPoints(
            robot.lower, robot.upper, robot.speed, positions, time_constant
        )
        self._feedback = Feedback(self._set_points.positions, feedback_delay)
        self.stopped = False
        self.blocked = np.zeros(len(positions), dtype=bool)
        place(model, self._data, robot, self._set_points.positions)

    @property
    def positions(self) -> FloatArray:
        """Measured positions, shape (n,) [rad or m]; a new array every step."""
        return self._feedback.positions

    @property
    def velocities(self) -> FloatArray:
        """Measured velocities, shape (n,) [rad/s or m/s]."""
        return self._feedback.velocities

    def step(self, targets: FloatArray, dt: float) -> None:
        """Move towards the targets.

        Args:
            targets: shape (n,) [rad or m]; a joint whose target is not finite holds its position.
            dt: Duration [s], above zero.

        Raises:
            PhysicsError: The motion is unstable.
        """
        model, data = self._model, self._data
        braked = self.blocked | self.stopped
        self._power(~braked)
        # A drive that is switched on again starts at its joint's position.
        begin = np.where(braked, data.qpos[self._q], self._set_points.positions)
        self._set_points.positions = begin
        end = self._set_points.step(targets, braked, dt)
        speed = (end - begin) / dt
        steps = math.ceil(dt / PHYSICS_STEP - 1e-6)
        model.opt.timestep = dt / steps
        for i in range(steps):
            mujoco.mj_step1(model, data)
            load = self._gears.T @ data.qfrc_bias
            desired = begin + (i / steps) * (end - begin)
            data.ctrl[:] = desired + (self._damping * speed + load) / self._stiffness
            mujoco.mj_step2(model, data)
        if not (np.all(np.isfinite(data.qpos)) and np.all(np.isfinite(data.qvel))):
            raise PhysicsError(
                "the simulated motion is unstable: check the robot's masses and inertias"
            )
        self._feedback.add(data.qpos[self._q], data.qvel[self._v], dt)

    def _power(self, on: NDArray[np.bool_]) -> None:
        """Switch drives on, and close the brakes of the others."""
        model = self._model
        model.dof_frictionloss[self._v] = np.where(on, self._friction, self._brake)
        model.actuator_gainprm[:, 0] = np.where(on, self._stiffness, 0.0)
        model.actuator_biasprm[:, 1] = np.where(on, -self._stiffness, 0.0)
        model.actuator_biasprm[:, 2] = np.where(on, -self._damping, 0.0)

    def _greatest_inertia(self, robot: SimulatedRobot) -> FloatArray:
        """Return each drive's largest inertia when all joints accelerate alike, shape (n,).

        Joints near the tip have little inertia themselves, but strong coupling to previous joints.
        """
        random = np.random.default_rng(1)
        reach = np.where(robot.continuous, SAMPLED_TURN, np.inf)
        lower, upper = np.maximum(robot.lower, -reach), np.minimum(robot.upper, reach)
        greatest = np.zeros(len(robot.driven))
        momentum = np.zeros(self._model.nv)
        for _ in range(INERTIA_SAMPLES):
            place(self._model, self._data, robot, random.uniform(lower, upper))
            for i, gears in enumerate(self._gears.T):
                mujoco.mj_mulM(self._model, self._data, momentum, np.ascontiguousarray(gears))
                greatest[i] = max(greatest[i], np.abs(self._gears.T @ momentum).sum())
        return greatest
