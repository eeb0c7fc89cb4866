# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""From a goal in the chain's root frame to the next safe command, without ROS or a clock."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np

from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.course import Course, pose_of, pose_rows
from basis_ik.arm.debounce import Debounced
from basis_ik.arm.free_way import WAY_TUNING, Ways
from basis_ik.arm.given_motion import LEFT_WAY, Along, at_times
from basis_ik.arm.goal_motion import GoalMotion
from basis_ik.arm.goals import (
    JOG_GOALS,
    ChunkGoal,
    Goal,
    JointVelocityGoal,
    MotionGoal,
    PointGoal,
    PoseGoal,
    TwistGoal,
)
from basis_ik.arm.jog import Held, Jog, held_by
from basis_ik.arm.joint_jog import JointJog
from basis_ik.arm.joints_kernel import FOLLOWING_SPEED, VELOCITY, is_equal
from basis_ik.arm.limiter import Limiter, Motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.settings import Wish
from basis_ik.arm.singularity import Notice, Singularities
from basis_ik.collision.collision_scene import Gap, Scene, tables_of
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.safety_kernel import is_inside, is_safe
from basis_ik.search.pose_constraint import PoseConstraint
from basis_ik.solvers.look.look_at import look_at
from basis_ik.solvers.pose.solve import MAX_ITERATIONS, Solution, solve
from basis_ik.solvers.pose.solve_all import solve_all
from basis_ik.solvers.tasks.prefer import PREFERENCE_STARTS, solve_pole, solve_posture
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Reason, Verdict

# Steps of a solve that fit into a control period, about a millisecond. A FABRIK pass takes longer.
# Solves that need more, mostly for unreachable targets, go on elsewhere.
QUICK_STEPS = 2000
QUICK_PASSES = 300
# [s], over which a chunk's acceleration is a mean; a joint changes its own as quickly.
CHUNK_ACCELERATION_TIME = 0.05
JOINTS_OF_A_LINE = 6  # joints that a chain needs to move its tip along any line


class LineTuning(NamedTuple):
    """When a tip moves to its goal on a line.

    A tip that is near its goal follows it, or moves to it in joint space, which is as straight.
    """

    distance: float = 0.03  # [m], plus the goal's motion in `catch_up`
    turn: float = 0.1  # [rad], plus the goal's motion in `catch_up`
    catch_up: float = 0.3  # [s]
    end_distance: float = 0.1  # [rad or m], of the joints at the line's end from a solution there


LINE_TUNING = LineTuning()


# An arm that rests this near to its last command is as close to it as it can get, if it has moved
# since by that drift at most.
NEAR_COMMAND = 0.05  # [rad or m]
COMMAND_DRIFT = 0.005  # [rad or m]
# Largest number of samples of a whole motion; the controller interpolates in between.
MOST_MOTION_SAMPLES = 500
WAY_INTERVAL = 4e-3  # [s], between instants at which the way of a given motion is looked at
NEAR_WAY = 0.3  # [m], up to which it is said how far an arm is from what it braked before


class Phase(enum.Enum):
    """What the commands do; `arm.chain_state` decides what the chain may do."""

    IDLE = "no goal"
    MOVING = "moving to the goal"
    ARRIVED = "at the goal"
    BRAKING = "coming to rest"
    UNSAFE = "the next command failed the last check"


T_co = TypeVar("T_co", covariant=True)


class Job(Protocol[T_co]):
    """Work that goes on elsewhere, mostly a solve."""

    def done(self) -> bool:
        """Return whether it has ended."""

    def result(self) -> T_co:
        """Return its result, once it has ended."""


class Solved(NamedTuple):
    """A job that has ended."""

    solution: Solution
    """Its result."""

    @classmethod
    def at_once(cls, problem: Callable[[], Solution]) -> Solved:
        """Solve a problem before anything else goes on."""
        return cls(problem())

    def done(self) -> bool:
        """Return True."""
        return True

    def result(self) -> Solution:
        """Return its result."""
        return self.solution


class _LongSolves:
    """Solves one problem after the other. A newer one replaces one that still waits."""

    def __init__(self, submit: Callable[[Callable[[], Solution]], Job[Solution]]) -> None:
        self._submit = submit
        self._running: Job[Solution] | None = None
        self._next: Callable[[], Solution] | None = None
        self._needed = True  # whether the running solve is still needed

    @property
    def busy(self) -> bool:
        """Whether the newest problem is not solved yet."""
        return self._next is not None or (self._running is not None and self._needed)

    def submit(self, problem: Callable[[], Solution]) -> Solution | None:
        """Start a solve; return the new result of an earlier one, if any."""
        self._next = problem
        return self.poll()

    def poll(self) -> Solution | None:
        """Return a new result, if any."""
        result = None
        if self._running is not None and self._running.done():
            result = self._running.result() if self._needed else None
            self._running = None
        if self._running is None and self._next is not None:
            self._running, self._next = self._submit(self._next), None
            self._needed = True
        return result

    def cancel(self) -> None:
        """Drop the newest problem."""
        self._next, self._needed = None, False


class Pipeline:
    """Solves for a goal, and moves there within the chain's limits.

    A solve that takes longer than a control period goes on elsewhere; until it ends, the last
    solution is used.

    A goal at rest is solved once; a moving goal is followed with its own velocity. Motion starts
    from rest at the measured positions. Each further command continues from the previous one, so
    that the arm's lag does not feed back. If the arm is still where the last motion left it,
    slightly off its command, the next motion starts from that command: starting from the measured
    positions would cause a step at each start, and drift.

    Args:
        chain: The chain to move.
        period: Time between two calls of `step` [s].
        limits: Limits of the chain's variables; None: `MotionLimits.of_chain`.
        caps: Caps on the speeds of links; None: none.
        submit: Begins a solve that may take longer than a period.

    Attributes:
        velocity_scaling: Fraction of the joints' velocity limits to use, in (0, 1].
        acceleration_scaling: Fraction of the joints' acceleration limits to use, in (0, 1].
        position_tolerance: Largest position error of a solution that counts as reached [m].
        orientation_tolerance: Largest orientation error of one [rad].
        speed_override: Factor on the speed of every motion, in [0, 1]; at 0 the arm brakes and
            keeps its goal, and continues once this is above 0.
        solver: "descent" or "fabrik", see `solve`; applies to later poses.
        path: Path from rest to later poses: "joint", "straight" (the tip moves on a line) or
            "straight_or_joint" (in joint space from where the line ends). A moving pose is followed
            in joint space once the tip is close. With fewer than six joints every motion is in
            joint space.
        wish: What of poses counts, and which solutions are wanted; applies to later poses.
        phase: What the commands do.
        goal: The current goal.
        solution: The solution for it; None for goals that need none.
        command: The last command of the current motion (n,) [rad or m]; None at rest.
        origin: The command before it, or where the motion began (n,).
        notice: The effect of a singularity on the motion; None if none is near.
        obstacle: What the arm waits for, at rest before its goal; None if nothing is in its way.
        line_held: Why the last line ended before the pose; None if it did not.
    """

    ARRIVED_REPEATS = 25  # repetitions of the last command, in case one is lost

    def __init__(
        self,
        chain: Chain,
        *,
        period: float,
        limits: MotionLimits | None = None,
        caps: SpeedCaps | None = None,
        submit: Callable[[Callable[[], Solution]], Job[Solution]] = Solved.at_once,
    ) -> None:
        self._chain = self._ray_chain = chain
        self._period = period
        limits = MotionLimits.of_chain(chain) if limits is None else limits
        self._max_step = limits.velocity * period
        self._lower, self._upper = chain.lower.copy(), chain.upper.copy()  # writable, for kernels
        self._endless = chain.continuous
        self._limits = limits
        self._limiter = Limiter(limits, period, np.zeros(len(self._max_step)), caps)
        self._goal_motion = GoalMotion(limits.velocity)
        self._jog = Jog(chain, self._limiter)
        self._joint_jog = JointJog(chain, self._limiter)
        self._long_solves = _LongSolves(submit)
        self.velocity_scaling = self.acceleration_scaling = self.speed_override = 1.0
        self.position_tolerance = self.orientation_tolerance = 1e-5
        self.solver: Literal["descent", "fabrik"] = "descent"
        self.path: Literal["joint", "straight", "straight_or_joint"] = "joint"
        self.wish = self._solved_wish = Wish()
        self.phase = Phase.IDLE
        self.goal: Goal | None = None
        self.solution: Solution | None = None
        self.command: FloatArray | None = None
        self.origin = np.zeros(len(self._max_step))
        self._destination: FloatArray | None = None
        self._pose_before: RigidTransform | None = None  # root_T_target
        self.line_held: Held | None = None
        self._line_end: RigidTransform | None = None  # root_T_tip; None in joint space
        self._ended_at: tuple[FloatArray, FloatArray] | None = None  # last command, and arm then
        self._along: Along | None = None  # a motion that was given whole
        self._blocking: Gap | None = None  # what the arm last braked before, on such a motion
        # The version of the scene, and why the arm does not go on from beside that motion.
        self._beside: tuple[int | None, Reason] = (None, LEFT_WAY)
        self._course: Course | None = None  # places at given times
        self._course_position_only = False
        self._valid = True  # whether the destination is finite and within the limits
        self._repeats = 0
        self._elapsed = 0.0  # total time of all steps [s]
        self._held, self._near, self._passing = Debounced(), Debounced(), Debounced()
        self._obstructed = Debounced()
        self.obstacle: Reason | None = None
        # Versions of the scene: as of the last solve, plan from rest, and check of a plan.
        self._solved_in: int | None = None
        self._planned_in: int | None = None
        self._checked_in: int | None = None
        # A motion that was given, the version of the scene, and whether it keeps clear.
        self._cleared: tuple[Along | None, int, bool] = (None, 0, False)
        self.notice: Reason | None = None
        self._quickest = False  # whether to brake without keeping the tip on its line
        self._when = 0.0  # time of the last command [s]
        self._goal_time: float | None = None  # time for which the goal is valid [s]
        self._followed = False  # whether the last command followed a moving goal

    def twin(self, period: float, caps: SpeedCaps) -> Pipeline:
        """Return a pipeline of the same chain and tool, at rest, which solves at once.

        Args:
            period: Its period [s].
            caps: Its caps.
        """
        twin = Pipeline(self._ray_chain, period=period, limits=self._limits, caps=caps)
        twin.change_tool(self._chain)
        return twin

    def set_goal(
        self,
        goal: Goal,
        measured: FloatArray,
        *,
        time: float | None = None,
        again: bool = False,
        seed: FloatArray | None = None,
    ) -> None:
        """Set the goal, and solve for it if it is new.

        Args:
            goal: The goal.
            measured: Measured positions (n,) [rad or m]; the seed of a first solve.
            time: Time for which the goal is valid, on the clock of `step` [s]; None: now. A goal
                that changes repeatedly is a moving one; the arm follows it to its position at the
                time of the command.
            again: Whether to solve for it even if it is not new.
            seed: Positions to search from (n,) [rad or m]; None: those of the last solution, at
                rest the measured ones.
        """
        self._goal_time = time
        if goal == self.goal and not again:
            if self.waiting:
                self._use(self._long_solves.poll(), measured)
            return
        rests_at = self._rests_at(measured) if seed is None else None
        # Successive goals keep the branch; a first goal takes the one nearest to the arm.
        start = measured if self._destination is None else self._destination
        start = start if seed is None else seed
        seed = np.minimum(np.maximum(start, self._chain.lower), self._chain.upper)
        if not (isinstance(goal, JOG_GOALS) and isinstance(self.goal, JOG_GOALS)):
            self._held.reset()
            self._clear_notice()
        if not isinstance(goal, JOG_GOALS):
            self._limiter.renew()
        self.goal, self.solution = goal, None
        self._solved_wish = self.wish
        if isinstance(goal, (PoseGoal, PointGoal)):
            starts_at = rests_at if self._leaps(goal, rests_at) else None
            self._use(self._solve_within_period(goal, seed, starts_at), measured)
            return
        self._pose_before = None
        self._long_solves.cancel()
        if isinstance(goal, JOG_GOALS):
            self._go_to(measured if self.command is None else self.command)
            self._valid = True
        elif isinstance(goal, ChunkGoal):
            self._begin_chunk(goal, measured)
        elif isinstance(goal, MotionGoal):
            self._go_to(goal.motion.positions[-1].copy())
            self._along = Along(goal.motion, self._limits, self._limiter.capped_pace)
            self._blocking, self._beside = None, (None, LEFT_WAY)
            if self.command is not None:
                self._along.go_on(self.state)
        else:
            self._go_to(np.array(goal.positions))

    def _rests_at(self, measured: FloatArray) -> FloatArray | None:
        """Return where the arm rests, also at its goal or held (n,); None in motion."""
        if self._destination is None:
            return self.begins_at(measured)
        stays = self.obstacle is not None or self.phase is Phase.ARRIVED
        return self.command if stays and self._limiter.at_rest else None

    def _leaps(self, goal: PoseGoal | PointGoal, rests_at: FloatArray | None) -> bool:
        """Return whether a pose is far from the one before, or from the tip if there was none.

        Somebody who leads the arm by a handle expects it to keep its posture.

        Args:
            goal: The goal.
            rests_at: Where the arm rests (n,) [rad or m]; None in motion.
        """
        before = self._pose_before
        self._pose_before = goal.root_T_target if isinstance(goal, PoseGoal) else None
        if rests_at is None or not isinstance(goal, PoseGoal):
            return False
        away = (before or self._chain.forward(rests_at)).inverse() @ goal.root_T_target
        turns = not goal.position_only and away.as_axis_angle()[1] > WAY_TUNING.turn
        return turns or float(np.linalg.norm(away.translation)) > WAY_TUNING.leap

    @property
    def singularities(self) -> Singularities:
        """How jogging and straight lines react to singularities."""
        return self._jog.singularities

    @singularities.setter
    def singularities(self, value: Singularities) -> None:
        self._jog.singularities = value

    @property
    def slides(self) -> bool:
        """Whether a jogged tip slides along what is in its way, instead of stopping before it."""
        return self._jog.slides

    @slides.setter
    def slides(self, value: bool) -> None:
        self._jog.slides = value

    @property
    def leads_lines(self) -> bool:
        """Whether the chain has enough joints to move its tip along any line."""
        return len(self._lower) >= JOINTS_OF_A_LINE

    @property
    def scene(self) -> Scene | None:
        """The links and objects that are kept apart; None if none are."""
        return self._limiter.scene

    @property
    def waiting(self) -> bool:
        """Whether the goal is still being solved for."""
        return self._long_solves.busy

    def _use(self, solution: Solution | None, measured: FloatArray) -> None:
        """Move to a solution; without one, continue as before or stay."""
        if solution is not None:
            self.solution = solution
            self._go_to(solution.positions.copy())  # kernels take writable arrays
        elif self._destination is None:
            here = self.begins_at(measured)
            if is_inside(here, self._lower, self._upper):  # no command leads beyond the limits
                self._go_to(here)

    def _go_to(self, destination: FloatArray) -> None:
        self._destination = destination
        self._valid = is_inside(destination, self._lower, self._upper)
        self._repeats = 0
        self.phase = Phase.MOVING
        self._quickest = False
        self.line_held = self._along = self._course = None
        begins = self.command is None or self._jog.moving or self._limiter.at_rest
        straight = self._goes_straight and begins
        self._line_end = self._chain.forward(destination) if straight else None

    @property
    def stays_at_line_end(self) -> bool:
        """Whether the arm stays where its line ended, before the pose."""
        held = self.line_held
        return held is not None and self.solution is not None and self.solution.reason is held

    @property
    def _leaves_lines(self) -> bool:
        """Whether the motion continues in joint space where a line ends."""
        return self.path != "straight"

    @property
    def _goes_straight(self) -> bool:
        """Whether the tip moves to the goal on a line, unless the goal is followed."""
        if not (isinstance(self.goal, PoseGoal) and self.leads_lines):
            return False
        return self.path != "joint" or self.goal.straight

    def repeat_motion(self, measured: FloatArray) -> None:
        """Move to the solution again, from the measured positions.

        Args:
            measured: Measured positions (n,) [rad or m].
        """
        self._go_to(measured + self.missing(measured))

    def brake(self, *, quickest: bool = False) -> None:
        """Drop the goal, and come to rest as soon as the limits allow.

        Args:
            quickest: Stop each joint independently. Otherwise a tip on a line stays on it if that
                takes little longer. Joints on the way of a motion that was given stay there.
        """
        self.goal = self.solution = self._course = self._pose_before = None
        self._long_solves.cancel()
        self._clear_notice()
        if quickest or (self._along is not None and (self._along.lost or self._along.leads)):
            self._along = None
        self._quickest = quickest or (self._quickest and self.phase is Phase.BRAKING)
        if self.command is None:
            self.rest()
        elif self.phase is not Phase.BRAKING:
            self._destination, self._valid, self._repeats = self.command, True, 0
            self.phase = Phase.BRAKING

    @property
    def is_on_given_way(self) -> bool:
        """Whether the joints are on the way of a motion that was given."""
        return self._along is not None

    def repeat_command(self) -> None:
        """Repeat the last command as often as after an arrival, counted from now."""
        self._repeats = 0

    def keep_braking(self) -> None:
        """Let the next command not be the last one, because the arm may not rest yet."""
        self._repeats = min(self._repeats, self.ARRIVED_REPEATS - 2)

    def change_tool(self, chain: Chain) -> None:
        """Apply poses and twists to the tip of another chain, from rest; rays do not change.

        Args:
            chain: A chain of the same joints, as from `Chain.with_tool`.
        """
        self.rest()
        self._chain, self._jog = chain, Jog(chain, self._limiter)

    def rest(self, *, keeps_way: bool = False) -> None:
        """Clear goal and command; the next motion starts from rest.

        Args:
            keeps_way: Whether a motion that brakes stays on the way of one that was given.
        """
        self.goal = self.solution = self.command = self._destination = self._course = None
        if not keeps_way or (self._along is not None and self._along.leads):
            self._along = None
        self._long_solves.cancel()
        self._clear_notice()
        self.phase = Phase.IDLE

    @property
    def left_at(self) -> FloatArray | None:
        """Last command (n,) of the previous motion, at which the next may begin, or None."""
        return None if self._ended_at is None else self._ended_at[0]

    def begin_where_measured(self) -> None:
        """Start the next motion from rest at the measured positions, not at the last command."""
        self._ended_at = None

    def begins_at(self, measured: FloatArray) -> FloatArray:
        """Return where a motion from rest begins (n,), with an arm measured there (n,)."""
        if self._ended_at is None:
            return measured
        command, measured_then = self._ended_at
        still = (np.abs(measured - measured_then) <= COMMAND_DRIFT).all()
        near = (np.abs(measured - command) <= NEAR_COMMAND).all()
        return command if still and near else measured

    def _solve(
        self,
        goal: PoseGoal | PointGoal,
        seed: FloatArray,
        max_iterations: int,
        constraint: PoseConstraint | None = None,
    ) -> Solution:
        if isinstance(goal, PoseGoal):
            found = solve(
                self._chain,
                goal.root_T_target,
                seed,
                position_only=goal.position_only,
                position_tolerance=self.position_tolerance,
                orientation_tolerance=self.orientation_tolerance,
                max_iterations=max_iterations,
                constraint=constraint,
                solver=self.solver if constraint is None else "descent",
            )
            near = self.wish.near and found.position_error <= self.position_tolerance
            if found.success or not near:
                return found
            reason = Reason(Verdict.REACHED, turn=found.orientation_error)
            return found._replace(verdict=Verdict.REACHED, reason=reason)
        return self._look(goal, seed, max_iterations=max_iterations)

    def _look(
        self,
        goal: PointGoal,
        seed: FloatArray,
        *,
        max_iterations: int | None = None,
        scene: Scene | None = None,
    ) -> Solution:
        return look_at(
            self._ray_chain,
            goal.root_point,
            seed,
            axis=goal.ray.axis,
            origin=goal.ray.origin,
            orientation_tolerance=self.orientation_tolerance,
            max_iterations=max_iterations,
            scene=scene,
        )

    def _solve_within_period(
        self, goal: PoseGoal | PointGoal, seed: FloatArray, starts_at: FloatArray | None
    ) -> Solution | None:
        """Return the solution of a goal; None if that takes longer, and has begun elsewhere.

        Args:
            goal: The goal.
            seed: Positions to search from (n,) [rad or m].
            starts_at: Where the way to it begins (n,) [rad or m]; None if any way will do.
        """
        by_passes = self.solver == "fabrik" and isinstance(goal, PoseGoal)
        found = self._solve_quickly(goal, seed, QUICK_PASSES if by_passes else QUICK_STEPS)
        scene = self._limiter.scene
        self._solved_in = None if scene is None else _version(scene)
        if self._goes_straight or self._is_choosy(goal):
            starts_at = None
        longer: Callable[[], Solution] | None = None
        if self._takes_longer(goal, found):
            free_of = None if scene is None else scene.copy()
            longer = partial(self._solve_longer, goal, seed, self.wish, free_of, starts_at)
        elif scene is not None and found.success and not self._is_free(scene, found, starts_at):
            constraint = self.wish.constraint
            longer = partial(self._solve_free, goal, seed, scene.copy(), constraint, starts_at)
        if longer is None:
            self._long_solves.cancel()
            return found
        return self._long_solves.submit(longer)

    def _is_free(self, scene: Scene, solution: Solution, starts_at: FloatArray | None) -> bool:
        """Return whether a solution collides with nothing, nor the way to it, if that counts."""
        if not scene.is_free(solution.positions):
            return False
        if starts_at is None:
            return True
        return self._limiter.is_way_free(starts_at, solution.positions)

    def _solve_quickly(
        self, goal: PoseGoal | PointGoal, seed: FloatArray, max_iterations: int
    ) -> Solution:
        """Return a solution that fits into a period; an arm in motion keeps its branch."""
        solution = self._solve(goal, seed, max_iterations, self.wish.constraint)
        if solution.success and self._is_choosy(goal) and self.command is not None:
            return self._preferred(goal, solution.positions, self.wish, 1)
        return solution

    def _is_choosy(self, goal: PoseGoal | PointGoal) -> bool:
        """Return whether some solutions of a goal are better than others."""
        return isinstance(goal, PoseGoal) and self.wish.prefers

    def _takes_longer(self, goal: PoseGoal | PointGoal, quick: Solution) -> bool:
        """Return whether a quick solution does not do."""
        if quick.verdict is Verdict.BUDGET_SPENT:
            return True
        if quick.success:  # from rest, all branches are there to choose from
            return self._is_choosy(goal) and self.command is None
        return isinstance(goal, PoseGoal) and self.wish.weights is not None

    def _solve_longer(
        self,
        goal: PoseGoal | PointGoal,
        seed: FloatArray,
        wish: Wish,
        scene: Scene | None,
        starts_at: FloatArray | None,
    ) -> Solution:
        """Return the solution of a goal, with all that is wished."""
        solution = self._solve(goal, seed, MAX_ITERATIONS, wish.weighted)
        if solution.success and wish.prefers and isinstance(goal, PoseGoal):
            solution = self._preferred(goal, seed, wish, PREFERENCE_STARTS)
        if not solution.success or scene is None:
            return solution
        if starts_at is None and scene.is_free(solution.positions):
            return solution
        return self._solve_free(goal, seed, scene, wish.constraint, starts_at)

    def _preferred(
        self, goal: PoseGoal | PointGoal, seed: FloatArray, wish: Wish, starts: int
    ) -> Solution:
        """Return the solution of a pose that is wanted most, by so many starts."""
        assert isinstance(goal, PoseGoal)
        target = goal.root_T_target
        how = partial(
            solve_posture if wish.elbow is None else solve_pole,
            seed=seed,
            position_only=goal.position_only,
            constraint=wish.constraint,
            starts=starts,
            position_tolerance=self.position_tolerance,
            orientation_tolerance=self.orientation_tolerance,
        )
        if wish.elbow is None:
            return how(self._chain, target, wish.posture)
        return how(self._chain, target, *wish.elbow)

    def _solve_free(
        self,
        goal: PoseGoal | PointGoal,
        seed: FloatArray,
        scene: Scene,
        constraint: PoseConstraint | None,
        starts_at: FloatArray | None,
    ) -> Solution:
        """Return a solution that does not collide, and if possible one with a free way from rest.

        Args:
            goal: The goal.
            seed: Positions to search from (n,) [rad or m].
            scene: What is to be kept apart, for this call alone.
            constraint: The part of the pose that counts; None: all of it.
            starts_at: As of `_solve_within_period`.
        """
        if isinstance(goal, PointGoal):
            return self._look(goal, seed, scene=scene)
        how: dict[str, Any] = {
            "position_only": goal.position_only,
            "position_tolerance": self.position_tolerance,
            "orientation_tolerance": self.orientation_tolerance,
            "constraint": constraint,
            "scene": scene,
        }
        nearest = solve(self._chain, goal.root_T_target, seed, **how)
        if starts_at is None or not nearest.success:
            return nearest
        ways = Ways(self._chain, self._limits, scene, starts_at)
        if ways.is_free(nearest.positions):
            return nearest
        others = solve_all(self._chain, goal.root_T_target, seed, **how)
        return ways.first_free(others) or nearest

    def _is_safe(self, command: FloatArray, previous: FloatArray, max_step: FloatArray) -> bool:
        return is_safe(command, previous, self._lower, self._upper, max_step)

    def remaining(self, measured: FloatArray) -> FloatArray:
        """Return the remaining distance of each joint (n,) [rad or m]; zero without a goal.

        Args:
            measured: Measured positions (n,).
        """
        if self._destination is None:
            return np.zeros_like(measured)
        return self._destination - (measured if self.command is None else self.command)

    def missing(self, measured: FloatArray) -> FloatArray:
        """Return the distance of each joint of the arm to the destination (n,) [rad or m].

        Args:
            measured: Measured positions (n,); whole turns of a joint without limits do not count.
        """
        if self._destination is None:
            return np.zeros_like(measured)
        away = self._destination - measured
        whole = np.where(self._endless, np.round(away / (2.0 * np.pi)), 0.0)
        return away - whole * 2.0 * np.pi

    def _next(self, destination: FloatArray) -> FloatArray:
        """Return the next command on the way to a destination."""
        if isinstance(self.goal, TwistGoal):
            self._destination = self._jog.step(self.goal)
            self._report_held(self._destination, self._jog.held)
            self._update_notice(self._jog.notice)
            return self._destination
        if isinstance(self.goal, JointVelocityGoal):
            self._jog.reset()
            self._destination = self._joint_jog.step(np.array(self.goal.velocities))
            self._report_held(self._destination, self._joint_jog.held)
            return self._destination
        if self._along is not None:
            return self._next_along(self._along)
        now = self._when - self._period
        if self._course is not None:
            place, velocity, acceleration = self._on_course(self._course, now)
            self._destination = place
        else:
            place, velocity, acceleration = self._goal_motion.observe(
                destination, now, self._goal_time
            )
        moves = bool(velocity.any())
        if self._line_end is not None:
            if moves and self._is_close(place, velocity):
                self._line_end = None
        elif (
            self._followed
            and not moves
            and self._goes_straight
            and not self._is_close(place, velocity)
        ):
            self._line_end = self._chain.forward(destination)
        self._followed = moves and self._line_end is None
        if self._line_end is not None:
            rested = self._limiter.at_rest  # if not, this period ends the motion
            command = self._jog.approach(self._line_end)
            self._update_notice(self._jog.notice)
            if command is not None and not (self._jog.held and rested and self._limiter.at_rest):
                return command
            place, velocity = self._leave_line(destination), np.zeros_like(place)
        self._jog.reset()  # the motion is in joint space
        command = self._limiter.step(place, velocity, acceleration)
        gap = self._limiter.blocked
        stands = gap is not None and self._limiter.at_rest and not is_equal(command, place)
        held = held_by(gap) if gap is not None and stands else None
        self.obstacle = self._obstructed.update(held, self._elapsed)
        return command

    def _begin_chunk(self, goal: ChunkGoal, measured: FloatArray) -> None:
        """Lead over to a chunk, from the one before if that is followed, else from the arm.

        From an arm that is off the chunk before, chunks would swing it to and fro.
        """
        course, before, time = goal.course, self._course, goal.came
        self._course_position_only = goal.position_only
        here, velocity = self.begins_at(measured), np.zeros_like(measured)
        if self.command is not None:
            here, velocity, time = self.command, self._limiter.velocity, max(self._when, time)
        # A joint that was measured outside its limits is only moved inward.
        self._go_to(np.minimum(np.maximum(here, self._lower), self._upper))
        self._goal_motion.reset()
        if self.command is not None and before is not None and before.poses == course.poses:
            self._course = course.begun(time, *before.at(time)[:2])
        elif course.poses:
            self._course = course.begun(time, pose_rows([self._chain.forward(here)])[0], None)
        else:
            self._course = course.begun(time, here, velocity)

    def _on_course(self, course: Course, now: float) -> FloatArray:
        """Return positions, velocities and accelerations of a chunk at a time [s], (3, n)."""
        states = course.at(now)
        if not course.poses:
            # It jumps at each point; taken to last, it would let the joints swing about the course.
            states[2] = (
                course.at(now + CHUNK_ACCELERATION_TIME)[1] - states[1]
            ) / CHUNK_ACCELERATION_TIME
            return states
        assert self._destination is not None
        found = [self._destination]
        for time in (now, now + self._period):
            pose = PoseGoal(pose_of(course.at(time)[0]), self._course_position_only)
            solution = self._solve(pose, found[-1], QUICK_STEPS, self.wish.constraint)
            found.append(solution.positions)
            # While a newer goal is solved for, the arm stays on its course.
            if time == now and isinstance(self.goal, ChunkGoal):
                self.solution = solution
        velocity = (found[2] - found[1]) / self._period
        return np.array([found[1], velocity, np.zeros_like(velocity)])

    def _next_along(self, along: Along) -> FloatArray:
        """Return the next command on a motion that was given whole."""
        self._jog.reset()
        if along.leads and self.speed_override <= 0.0 and not self._limiter.at_rest:
            along.lost = True  # the way to the motion has no pace
        if along.lost and not self._limiter.at_rest:  # it goes on from where the arm comes to rest
            return self._limiter.brake()
        if along.lost and not along.left:
            along.begin(self._limiter.position)
        if along.left:
            self.obstacle = self._obstructed.update(self._beside_way(), self._elapsed)
            return self._limiter.brake()
        if along.lost:
            return np.full_like(self.origin, np.nan)
        command = self._limiter.lead(along.step(self._period, self.speed_override))
        gap = self._limiter.blocked
        along.lost = gap is not None
        self._blocking = gap or self._blocking
        held = held_by(gap) if gap is not None and self._limiter.at_rest else None
        self.obstacle = self._obstructed.update(held, self._elapsed)
        return command

    def _beside_way(self) -> Reason:
        """Return why the arm rests too far from the way of a given motion to go on."""
        scene, pair = self._limiter.scene, self._blocking
        if scene is not None and pair is not None and self._beside[0] != _version(scene):
            held = self._held_at(self._limiter.position, pair)
            self._beside = _version(scene), held if math.isfinite(held.distance) else LEFT_WAY
        return self._beside[1]

    def _held_at(self, place: FloatArray, pair: Gap) -> Held:
        """Return that a pair holds the arm, and how far apart it is at a place (n,)."""
        scene = self._limiter.scene
        assert scene is not None
        near = (each for each in scene.gaps(place, NEAR_WAY) if each.names == pair.names)
        return held_by(next(near, replace(pair, distance=math.inf)))

    def renew_caps(self) -> None:
        """Let a motion that was given whole keep the present caps on the speeds of links."""
        if self._along is not None:
            self._along.renew_caps()

    def _is_close(self, place: FloatArray, velocity: FloatArray) -> bool:
        """Return whether joint motion to a moving goal (n,), (n,) is as straight as a line.

        The tip must be close to the goal, and the joints fast enough to stay there.
        """
        speeds = self._limiter.override * self._limiter.bounds[VELOCITY]
        if not (np.abs(velocity) <= FOLLOWING_SPEED * speeds).all():
            return False
        left = self._chain.forward(self._limiter.position).inverse() @ self._chain.forward(place)
        twist = self._chain.jacobian(place) @ velocity
        speed, turning = float(np.linalg.norm(twist[:3])), float(np.linalg.norm(twist[3:]))
        near = (
            float(np.linalg.norm(left.translation))
            <= LINE_TUNING.distance + LINE_TUNING.catch_up * speed
        )
        return near and left.as_axis_angle()[1] <= LINE_TUNING.turn + LINE_TUNING.catch_up * turning

    def _leave_line(self, destination: FloatArray) -> FloatArray:
        """Return the destination (n,) of the joints after the line."""
        here, end, held = self._limiter.position, self._line_end, self._jog.held
        assert end is not None
        self._line_end = None
        if held is None:
            # The line may have led the joints to another branch than the solution's.
            found = self._solve(PoseGoal(end), here, QUICK_STEPS)
            near = (
                found.success and np.abs(found.positions - here).max() <= LINE_TUNING.end_distance
            )
            place = found.positions.copy() if near else destination
        else:
            errors = self._chain.forward(here).inverse() @ end
            missing = float(np.linalg.norm(errors.translation))
            self.line_held = replace(held, missing=missing)
            if self._leaves_lines:
                return destination
            angle, place = errors.as_axis_angle()[1], here
            self.solution = Solution(here, held.verdict, missing, angle, 0, 0, self.line_held)
        if self.solution is not None:
            self.solution = self.solution._replace(positions=place)
        self._destination = place
        self._goal_motion.reset()
        return place

    def _brake_command(self) -> FloatArray:
        """Return the next command while braking."""
        if self._jog.moving and not self._quickest:
            return self._jog.step(None)
        self._jog.reset()
        if self._along is None:
            return self._limiter.brake()
        command = self._limiter.lead(self._along.step(self._period, 0.0))
        if self._limiter.blocked is not None:
            self._along = None
        return command

    def _report_held(self, joints: FloatArray, held: Held | None) -> None:
        """Set the solution to the reason why jogging is held; None while it moves."""
        shown = self._held.update(held, self._elapsed)
        if shown is None:
            self.solution = None
        elif self.solution is None or self.solution.reason != shown:
            self.solution = Solution(joints, shown.verdict, 0.0, 0.0, 0, 0, shown)

    def _scale(self) -> None:
        self._limiter.to_rest = not (self._followed or isinstance(self.goal, JOG_GOALS))
        self._limiter.scale(self.velocity_scaling, self.acceleration_scaling)
        self._limiter.slow_down(self.speed_override)

    def _update_notice(self, notice: Notice | None) -> None:
        """Set the notice about a singularity; the one being passed precedes the one ahead."""
        passing = notice is not None and notice.passing
        near = self._near.update(None if passing else notice, self._elapsed)
        self.notice = self._passing.update(notice if passing else None, self._elapsed) or near

    def _clear_notice(self) -> None:
        self._obstructed.reset()
        self.obstacle = None
        self._near.reset()
        self._passing.reset()
        self.notice = None

    def _prepare(self, measured: FloatArray) -> tuple[FloatArray, bool]:
        """Return the command to continue from, and whether to brake."""
        start = self.command
        if start is None:
            start = self.begins_at(measured)
            self._ended_at = None  # the arm leaves it
            self._limiter.reset(start)
            self._goal_motion.reset()
            self._jog.reset()
            self._followed = False
            if self._along is not None:
                self._along.begin(start)
        self._scale()
        braking = self.phase is Phase.BRAKING or not self._valid
        return start, braking

    def plan(self, start: FloatArray, *, braking: bool, spacing: float = 0.0) -> Motion | None:
        """Return a whole motion to rest, for outputs that send motions instead of commands.

        Args:
            start: Initial positions, velocities and accelerations, shape (n, 3), all finite.
            braking: Whether to come to rest as soon as the limits allow; otherwise at the goal.
            spacing: Least time between two samples [s]; a period at least.

        Returns:
            The motion; None if it would be unsafe, or if there is no goal.
        """
        if self._destination is None and not braking:
            return None
        self._limiter.go_on(start)
        self._scale()
        goal = None if braking else self._destination
        motion = self._limiter.plan(goal, MOST_MOTION_SAMPLES, spacing)
        gap, scene = self._limiter.blocked, self._limiter.scene
        # There it is as far away as it may be, unless it is nearer now.
        near = None if gap is None else replace(gap, distance=min(gap.distance, 0.0))
        self.obstacle = None if near is None else held_by(near)
        self._checked_in = None if scene is None else _version(scene)
        self._planned_in = None if start[:, 1:].any() else self._checked_in
        if self._along is not None:
            given = self._along.whole(start, 0.0 if braking else self.speed_override, spacing)
            gap = self._pair_on(given)
            if gap is None and not self._along.lost:
                motion, self.obstacle = given, None
            elif not braking:
                motion = self._limiter.plan(None, MOST_MOTION_SAMPLES, spacing)
                end = motion.positions[-1]
                self.obstacle = LEFT_WAY if gap is None else self._held_at(end, gap)
        way = np.ascontiguousarray(motion.positions)  # another layout would compile kernels again
        # Every sample is checked as a command.
        steps = np.diff(motion.times)[:, np.newaxis] * self._max_step / self._period
        return motion if all(map(self._is_safe, way[1:], way[:-1], steps)) else None

    def is_still_free(self, way: FloatArray) -> bool:
        """Return whether the rest of a motion of `plan` collides with nothing that is new.

        Args:
            way: Its positions from now on (k, n) [rad or m].
        """
        scene = self._limiter.scene
        if scene is None or self._checked_in == _version(scene):
            return True
        self._checked_in = _version(scene)
        return all(map(scene.is_free, way))

    def _pair_on(self, motion: Motion) -> Gap | None:
        """Return the first pair that comes too near on a motion."""
        scene = self._limiter.scene
        if scene is None:
            return None
        count = max(math.ceil(motion.times[-1] / WAY_INTERVAL), 1) + 1
        for q in at_times(motion, np.linspace(0.0, motion.times[-1], count))[0]:
            if not scene.is_free(q):
                return scene.collisions(q)[0]
        return None

    def _is_clear(self, rest: Motion, along: Along) -> bool:
        """Return whether the rest of a motion that was given keeps clear of the present scene."""
        scene = self._limiter.scene
        if scene is None:
            return True
        if self._cleared[0] is not along or self._cleared[1] != _version(scene):
            self._cleared = along, _version(scene), self._pair_on(rest) is None
        return self._cleared[2]

    @property
    def is_outdated(self) -> bool:
        """Whether a goal that the arm does not reach among objects may be reached by now."""
        scene, solution = self._limiter.scene, self.solution
        if scene is None or self.waiting or not self._limiter.at_rest:
            return False
        if isinstance(self.goal, MotionGoal):  # it goes on by itself; nothing is solved for
            return False
        collides = solution is not None and solution.verdict is Verdict.COLLISION
        return (self.obstacle is not None or collides) and self._solved_in != _version(scene)

    def would_differ(self, wish: Wish) -> bool:
        """Return whether the goal would be solved for in another way by now."""
        return isinstance(self.goal, PoseGoal) and wish != self._solved_wish

    @property
    def may_go_on(self) -> bool:
        """Whether a motion that `plan` ended before an obstacle may lead farther by now."""
        scene = self._limiter.scene
        if self.obstacle is None or scene is None:
            return False
        return self._planned_in != _version(scene)

    def step(self, measured: FloatArray, when: float | None = None) -> FloatArray | None:
        """Return the next command (n,) [rad or m], or None when there is nothing to send.

        Args:
            measured: Measured positions (n,), all finite.
            when: Time of the command, on any steady clock [s]; None: a period after the last.
        """
        self._when = self._when + self._period if when is None else when
        if self._destination is None or self._repeats >= self.ARRIVED_REPEATS:
            return None
        if not self._valid:
            self.phase = Phase.UNSAFE
        if self.command is None and not self._valid:
            return None
        self._elapsed += self._period
        previous, braking = self._prepare(measured)
        self.origin = previous
        command = self._brake_command() if braking else self._next(self._destination)
        if not self._is_safe(command, previous, self._max_step) or (
            not braking and self._limiter.strikes(previous, command)
        ):
            return self._brake_instead(previous)
        self.command = command
        arrived = braking or is_equal(command, self._destination)
        goes_on = self._course is not None and self._when < self._course.end
        ends = braking or not (self.waiting or goes_on or isinstance(self.goal, JOG_GOALS))
        if arrived and self._limiter.at_rest and ends:
            self._repeat(measured)
        elif not braking:
            self.phase = Phase.MOVING
        return command

    def _brake_instead(self, previous: FloatArray) -> FloatArray | None:
        """Return a braking command instead of an unsafe one; None if that is unsafe, too.

        The cause is unknown, so the joints brake independently, from the last command.
        """
        started, self.phase, self._valid = self.command is not None, Phase.UNSAFE, False
        self._limiter.undo()
        self._jog.reset()
        command = self._limiter.brake() if started else previous
        safe = started and self._is_safe(command, previous, self._max_step)
        self.command = command if safe else None
        return self.command

    def remainder(self) -> Motion | None:
        """Return the motion of all further commands, if nothing changes.

        Only valid while there is a command.

        Returns:
            The motion to the goal, or to rest while braking. None if it is found step by step: on a
            line, to a goal that moves, with caps on speeds; or if it would be unsafe.
        """
        braking = self.phase is Phase.BRAKING or not self._valid
        if self.on_line or self._followed or self._line_end is not None:
            return None
        if not braking and (isinstance(self.goal, JOG_GOALS) or self._destination is None):
            return None
        if braking and self._along is not None and not self._limiter.at_rest:
            return None
        if self._along is not None and not braking:
            motion = None if self._along.lost else self._along.rest(self.speed_override)
            if motion is not None and not self._is_clear(motion, self._along):
                return None
        else:
            motion = self._limiter.remainder(None if braking else self._destination)
        if motion is None:
            return None
        way = np.ascontiguousarray(motion.positions)  # another layout would compile kernels again
        steps = np.diff(motion.times)[:, np.newaxis] * self._max_step / self._period
        return motion if all(map(self._is_safe, way[1:], way[:-1], steps)) else None

    def tail(self) -> Motion:
        """Return the motion from the last command if no other one follows; see `Limiter.tail`."""
        return self._limiter.tail()

    @property
    def state(self) -> FloatArray:
        """Positions, velocities and accelerations of the last command, shape (n, 3)."""
        return self._limiter.state

    @property
    def on_line(self) -> bool:
        """Whether the tip moves on a line, by a twist or straight to a pose."""
        return self._jog.moving

    def go_on(self, states: FloatArray) -> None:
        """Continue from a state other than that of the last command.

        Args:
            states: Positions, velocities and accelerations, shape (n, 3), all finite.
        """
        self._limiter.go_on(states)
        self._jog.reset()
        self.command = self._limiter.position
        if self._along is not None:
            self._along.go_on(states)

    def _repeat(self, measured: FloatArray) -> None:
        """Count the commands at rest, and end after `ARRIVED_REPEATS` of them."""
        self._repeats += 1
        finished = self._repeats >= self.ARRIVED_REPEATS
        if finished and self.command is not None:
            self._ended_at = self.command, measured
        if self.phase is Phase.BRAKING:
            if finished:
                self.rest()
            return
        self.phase = Phase.ARRIVED if self._valid else Phase.UNSAFE
        if finished:
            self.command = None  # the next motion starts from the measured positions


def _version(scene: Scene) -> int:
    """Return what differs once something in a scene has changed."""
    tables_of(scene)
    return scene.changes
