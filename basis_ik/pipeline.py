"""From a goal in the chain's root frame to the next safe command; no ROS, no clock."""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from basis_ik.kernels.motion_joints import is_equal
from basis_ik.kernels.safety import is_inside, is_safe
from basis_ik.model.chain import Chain
from basis_ik.motion.goal_motion import GoalMotion
from basis_ik.motion.goals import Goal, JointGoal, PointGoal, PoseGoal, TwistGoal
from basis_ik.motion.jog import Jog
from basis_ik.motion.limiter import Limiter, Motion
from basis_ik.motion.limits import MotionLimits
from basis_ik.solvers.aim_chain import solve_aim
from basis_ik.solvers.solve import Solution, solve

FloatArray = NDArray[np.float64]

# Samples that a whole motion is given at most; the controller interpolates in between.
MOST_SAMPLES = 500


class State(enum.Enum):
    """What the pipeline is doing."""

    IDLE = "no target"
    MOVING = "moving to the target"
    ARRIVED = "at the goal"
    BRAKING = "coming to rest"
    UNSAFE = "the next command failed the last check"


class Pipeline:
    """Solves for a goal and walks there within the chain's limits.

    A goal that rests is solved once; one that moves is followed with its own velocity. Motion
    starts from rest at the measured positions; while it lasts, each command continues from the one
    before, so that the arm's own lag does not feed back.

    Args:
        chain: What to move.
        period: Time between two calls of `step` [s].
        limits: Of the chain's variables; None: `MotionLimits.of_chain`.
        velocity_scaling: Fraction of the joints' velocity limits to use, in (0, 1].
        acceleration_scaling: Fraction of the joints' acceleration limits to use, in (0, 1].
        position_tolerance: Largest position error of a solution that counts as reached [m].
        orientation_tolerance: Largest orientation error of one [rad].

    Attributes:
        state: What is being done.
        goal: What is wanted.
        solution: The answer to it; None for goals that need none.
        command: The last command of the present motion (n,); None at rest.
    """

    ARRIVED_REPEATS = 25  # a command lost on the way is made good before silence

    def __init__(
        self,
        chain: Chain,
        *,
        period: float,
        limits: MotionLimits | None = None,
        velocity_scaling: float = 1.0,
        acceleration_scaling: float = 1.0,
        position_tolerance: float = 1e-5,
        orientation_tolerance: float = 1e-5,
    ) -> None:
        self._chain = chain
        self._period = period
        limits = MotionLimits.of_chain(chain) if limits is None else limits
        self._max_step = limits.velocity * period
        self._lower, self._upper = chain.lower.copy(), chain.upper.copy()  # writable, for kernels
        self._limiter = Limiter(limits, period, np.zeros(len(self._max_step)))
        self._goal_motion = GoalMotion(limits.velocity, period)
        self._jog = Jog(chain, self._limiter)
        self.velocity_scaling = velocity_scaling
        self.acceleration_scaling = acceleration_scaling
        self.position_tolerance = position_tolerance
        self.orientation_tolerance = orientation_tolerance
        self.state = State.IDLE
        self.goal: Goal | None = None
        self.solution: Solution | None = None
        self.command: FloatArray | None = None
        self._destination: FloatArray | None = None
        self._sound = True  # whether the destination is finite and within the limits
        self._repeats = 0
        self._ordered = False  # whether the way to the destination is yet to be planned

    def aim(self, goal: Goal, measured: FloatArray) -> None:
        """Make a goal the one to go to; solve for it, unless it is the one solved last.

        Args:
            goal: What is wanted.
            measured: Measured positions (n,) [rad or m]; the seed of a first solve.
        """
        if goal == self.goal:
            return
        # From goal to goal the branch is kept; a first goal is the one nearest to the arm.
        start = measured if self._destination is None else self._destination
        seed = np.minimum(np.maximum(start, self._chain.lower), self._chain.upper)
        self.goal, self.solution = goal, None
        if isinstance(goal, TwistGoal):
            self._destination = measured if self.command is None else self.command
        elif isinstance(goal, JointGoal):
            self._destination = np.array(goal.positions)
        else:
            self.solution = self._solve(goal, seed)
            self._destination = self.solution.positions
        self._sound = isinstance(goal, TwistGoal) or is_inside(
            self._destination, self._lower, self._upper
        )
        self._repeats, self._ordered = 0, True
        self.state = State.MOVING

    def brake(self) -> None:
        """Give up the goal and come to rest as soon as the limits allow."""
        self.goal = self.solution = None
        if self.command is None:
            self.rest()
        elif self.state is not State.BRAKING:
            self._destination, self._sound, self._repeats = self.command, True, 0
            self._ordered = True
            self.state = State.BRAKING

    def rest(self) -> None:
        """Forget goal and command; the next motion starts from the measured positions."""
        self.goal = self.solution = self.command = self._destination = None
        self.state = State.IDLE

    def _solve(self, goal: PoseGoal | PointGoal, seed: FloatArray) -> Solution:
        if isinstance(goal, PoseGoal):
            return solve(
                self._chain,
                goal.root_T_target,
                seed,
                position_only=goal.position_only,
                position_tolerance=self.position_tolerance,
                orientation_tolerance=self.orientation_tolerance,
            )
        return solve_aim(
            self._chain,
            goal.root_point,
            seed,
            axis=goal.ray.axis,
            origin=goal.ray.origin,
            angle_tolerance=self.orientation_tolerance,
        )

    def _is_safe(self, command: FloatArray, previous: FloatArray, max_step: FloatArray) -> bool:
        return is_safe(command, previous, self._lower, self._upper, max_step)

    def remaining(self, measured: FloatArray) -> FloatArray:
        """Return the way that is left of each joint (n,) [rad or m]; zero without a goal.

        Args:
            measured: Measured positions (n,).
        """
        if self._destination is None:
            return np.zeros_like(measured)
        return self._destination - (measured if self.command is None else self.command)

    def _next(self, destination: FloatArray) -> FloatArray:
        """Return the next command on the way to a destination."""
        if isinstance(self.goal, TwistGoal):
            self._destination = self._jog.step(self.goal)
            self._say_held(self._destination)
            return self._destination
        self._jog.reset()  # from here on the tip is on no line
        return self._limiter.step(*self._goal_motion.observe(destination))

    def _slow_down(self) -> FloatArray:
        """Return the next command on the way to rest: on the tip's line, if it is on one."""
        return self._jog.step(None) if self._jog.moving else self._limiter.brake()

    def _say_held(self, joints: FloatArray) -> None:
        """Tell why a twist does not go on, as the solution; there is none while it does."""
        held = self._jog.held
        if held is None:
            self.solution = None
        elif self.solution is None or self.solution.reason != held:
            self.solution = Solution(joints, held.verdict, 0.0, 0.0, 0, 0, held)

    def _prepare(self, measured: FloatArray) -> tuple[FloatArray, bool]:
        """Return the command from which to go on, and whether to brake."""
        if self.command is None:
            self._limiter.reset(measured)
            self._goal_motion.reset()
            self._jog.reset()
        self._limiter.scale(self.velocity_scaling, self.acceleration_scaling)
        braking = self.state is State.BRAKING or not self._sound
        return (measured if self.command is None else self.command), braking

    def plan(self, measured: FloatArray) -> Motion | None:
        """Return the whole motion that the calls of `step` from now on make piece by piece.

        For those who send it at once instead of the commands; they call this before each `step`.

        Args:
            measured: Measured positions (n,), all finite.

        Returns:
            The motion, once for each goal and each braking; None where there is none to begin.
        """
        if not self._ordered or self._destination is None:
            return None
        self._ordered = False
        if self.command is None and not self._sound:
            return None
        start, braking = self._prepare(measured)
        self._goal_motion.reset()  # each goal rests
        motion = self._limiter.plan(None if braking else self._destination, MOST_SAMPLES)
        way = np.ascontiguousarray(motion.positions)  # of one kind, or kernels are compiled anew
        if len(way) == 1:
            return None  # it is there
        # Step by step: every sample is a command.
        steps = np.diff(motion.times)[:, np.newaxis] * self._max_step / self._period
        before = np.vstack([start, way[1:-1]])
        if all(map(self._is_safe, way[1:], before, steps)):
            return motion
        self._sound, self._ordered = False, not braking
        return None

    def step(self, measured: FloatArray) -> FloatArray | None:
        """Return the next command (n,) [rad or m], or None when there is nothing to send.

        Args:
            measured: Measured positions (n,), all finite.
        """
        if self._destination is None or self._repeats >= self.ARRIVED_REPEATS:
            return None
        if not self._sound:
            self.state = State.UNSAFE
        if self.command is None and not self._sound:
            return None
        previous, braking = self._prepare(measured)
        command = self._slow_down() if braking else self._next(self._destination)
        if not self._is_safe(command, previous, self._max_step):
            self.state = State.UNSAFE
            self.command = None
            return None
        self.command = command
        arrived = braking or is_equal(command, self._destination)
        if arrived and self._limiter.at_rest and not isinstance(self.goal, TwistGoal):
            self._repeat()
        elif not braking:
            self.state = State.MOVING
        return command

    def _repeat(self) -> None:
        """Count the commands at rest; after some of them be silent."""
        self._repeats += 1
        silent = self._repeats >= self.ARRIVED_REPEATS
        if self.state is State.BRAKING:
            if silent:
                self.rest()
            return
        self.state = State.ARRIVED if self._sound else State.UNSAFE
        if silent:
            self.command = None  # whoever moves the arm now moves it from where it is
