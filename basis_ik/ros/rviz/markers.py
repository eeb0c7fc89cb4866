# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Markers that show an arm's goal and solution."""

from __future__ import annotations

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from visualization_msgs.msg import MarkerArray

from basis_ik.arm.arm import Arm
from basis_ik.arm.goals import PointGoal, PoseGoal
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.rviz.marker_array import Drawing
from basis_ik.solvers.pose.fabrik_passes import Stage, trace_passes
from basis_ik.solvers.pose.solve import Solution
from basis_ik.view.arm_scene import ArmScene, ArmView
from basis_ik.view.ghost import Ghost
from basis_ik.view.words import words

SHOWN_PASSES = 12  # of FABRIK: about 1 ms of work for each new target
# From so many successive updates with new solutions on, a goal counts as moving.
FOLLOWING_UPDATES = 3
NEAR_OBJECT = 0.1  # [m] up to which an object is near


class Markers:
    """Publishes `~/markers` of one arm, as long as there is a subscriber.

    Args:
        node: The node that publishes.
        controller: Of the arm to show.
        rate: Rate of the messages [Hz].
    """

    def __init__(self, node: Node, controller: ChainController, rate: float) -> None:
        arm = controller.arm
        self._node, self._arm = node, arm
        self._scene, self._ghost = ArmScene(), Ghost(arm.chain, ())
        self._beside: bytes | None = None
        self._drawing = Drawing(1.0 / rate)
        self._publisher = node.create_publisher(MarkerArray, controller.resolve("markers"), 1)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(1.0 / rate, self._on_timer, clock=steady)
        self._traced: Solution | None = None
        self._renewed = 0  # successive updates with new solutions
        self._stages: tuple[Stage, ...] = ()

    def destroy(self) -> None:
        """Destroy timer and publisher."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)

    def _on_timer(self) -> None:
        if self._publisher.get_subscription_count() == 0:
            return
        solution = self._arm.shown[1]
        self._renewed = self._renewed + 1 if solution is not self._traced else 0
        if self._renewed:
            self._traced, self._stages = solution, stages_of(self._arm)
        following = self._renewed >= FOLLOWING_UPDATES
        self._carry()
        view = view_of(self._arm, self._ghost, self._stages, following=following)
        self._publisher.publish(self._drawing.message(self._scene.shapes(view)))

    def _carry(self) -> None:
        """Make the ghost anew if joints beside the chain have moved, as a gripper's do."""
        arm = self._arm
        positions = np.nan_to_num(arm.others.positions()).round(3)
        if self._beside != positions.tobytes():
            self._beside = positions.tobytes()
            beside = dict(zip(arm.other_joints, positions.tolist(), strict=True))
            self._ghost = Ghost(arm.chain, arm.model.visuals_of(arm.chain, beside))


def view_of(
    arm: Arm, ghost: Ghost, stages: tuple[Stage, ...] = (), *, following: bool = False
) -> ArmView:
    """Return the current view of an arm."""
    (goal, solution), refusal, rehearsal = arm.shown, arm.targets.refusal, arm.rehearsal
    refused = None if refusal is None else refusal.refused
    line = words(
        arm.state,
        solution,
        arm.problem,
        refused,
        following=following,
        hindrance=arm.hindrance,
        goal=arm.pipeline.goal,
        preview=arm.preview_text,
    )
    if arm.name:  # one of several
        line = line._replace(text=f"{arm.name}: {line.text}")
    return ArmView(
        chain=arm.chain if isinstance(goal, PointGoal) else arm.tool.chain,
        ghost=ghost,
        measured=arm.measured.positions(),
        state=arm.state.state,
        words=line,
        goal=goal,
        solution=solution,
        way=None if rehearsal is None else rehearsal.way,
        stages=stages,
        near=arm.near(NEAR_OBJECT),
        held_by=arm.held_by,
    )


def stages_of(arm: Arm) -> tuple[Stage, ...]:
    """Return FABRIK's first passes towards an arm's solution, if FABRIK found it."""
    pipeline, (goal, solution) = arm.pipeline, arm.shown
    if not isinstance(goal, PoseGoal) or solution is None or solution.passes is None:
        return ()
    return trace_passes(
        arm.tool.chain,
        goal.root_T_target,
        solution.passes.seed,
        position_only=goal.position_only,
        tolerances=(pipeline.position_tolerance, pipeline.orientation_tolerance),
        most=SHOWN_PASSES,
    )
