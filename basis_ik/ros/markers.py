"""Markers that show in RViz what an arm is asked to do and what it makes of it."""

from __future__ import annotations

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from visualization_msgs.msg import MarkerArray

from basis_ik.motion.goals import JointGoal, PoseGoal
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.marker_array import Drawing
from basis_ik.solvers.passes import Stage, trace_passes
from basis_ik.solvers.solve import Solution
from basis_ik.view.arm import ArmView, arm_scene

SHOWN_PASSES = 12  # of FABRIK: some 1 ms of work for each new target
LINGER = 1.0  # s that markers stay beyond the time when the next ones are due


class Markers:
    """Publishes `~/markers` of one arm, as long as somebody looks.

    Args:
        node: The node that publishes.
        arm: The arm to show.
        rate: How often [Hz].
    """

    def __init__(self, node: Node, arm: ChainController, rate: float) -> None:
        self._node, self._arm = node, arm
        self._drawing = Drawing(1.0 / rate + LINGER)
        self._publisher = node.create_publisher(MarkerArray, arm.resolve("markers"), 1)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(1.0 / rate, self._on_timer, clock=steady)
        self._traced: Solution | None = None
        self._stages: tuple[Stage, ...] = ()

    def destroy(self) -> None:
        """Give up timer and publisher."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)

    def _on_timer(self) -> None:
        if self._publisher.get_subscription_count() == 0:
            return
        view = view_of(self._arm)
        if view is None:
            return
        solution = self._arm.pipeline.solution
        if solution is not self._traced:
            self._traced, self._stages = solution, stages_of(self._arm)
        view = view._replace(stages=self._stages)
        self._publisher.publish(self._drawing.message(arm_scene(view)))


def view_of(arm: ChainController) -> ArmView | None:
    """Return what there is to see of an arm; None while it is not known where it is."""
    goal, solution = arm.pipeline.goal, arm.pipeline.solution
    if solution is not None:
        return ArmView(
            arm.chain, solution.positions, goal, str(solution.reason), reached=solution.success
        )
    positions = arm.measured.positions()
    if isinstance(goal, JointGoal):
        positions = np.array(goal.positions)
    return ArmView(arm.chain, positions, goal) if np.isfinite(positions).all() else None


def stages_of(arm: ChainController) -> tuple[Stage, ...]:
    """Return what FABRIK's first passes did on the way to an arm's solution, if it was FABRIK's."""
    pipeline = arm.pipeline
    goal, solution = pipeline.goal, pipeline.solution
    if not isinstance(goal, PoseGoal) or solution is None or solution.passes is None:
        return ()
    return trace_passes(
        arm.chain,
        goal.root_T_target,
        solution.passes.seed,
        position_only=goal.position_only,
        tolerances=(pipeline.position_tolerance, pipeline.orientation_tolerance),
        most=SHOWN_PASSES,
    )
