"""From a goal in the chain's root frame to the next safe command; no ROS, no clock."""

from __future__ import annotations

import enum
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from basis_ik.kernels.motion_joints import FOLLOW, VELOCITY, is_equal
from basis_ik.kernels.safety import is_inside, is_safe
from basis_ik.model.chain import Chain
from basis_ik.motion.caps import SpeedCaps
from basis_ik.motion.goal_motion import GoalMotion
from basis_ik.motion.goals import JOGGING, Goal, JointVelocityGoal, PointGoal, PoseGoal, TwistGoal
from basis_ik.motion.jog import Held, Jog
from basis_ik.motion.joint_jog import JointJog
from basis_ik.motion.lasting import Lasting
from basis_ik.motion.limiter import Limiter, Motion
from basis_ik.motion.limits import MotionLimits
from basis_ik.motion.singularity import Notice, Singularities
from basis_ik.solvers.look_at import look_at
from basis_ik.solvers.solve import MAX_ITERATIONS, Solution, solve
from basis_ik.solvers.verdict import Reason, Verdict
from basis_ik.transforms.rigid import RigidTransform

FloatArray = NDArray[np.float64]

# Steps of a solve that fit into a control period: about a millisecond, FABRIK's passes being longer
# ones. What needs more than that, mostly targets out of reach, is solved beside the loop.
QUICK, QUICK_PASSES = 1000, 300
FULL = 6  # joints without which a tip cannot be led along any line
BESIDE = 0.1  # rad or m: the joints go so far at most from the line to the end of it
# A tip that is so near to a goal [m and rad], besides the way that this moves in a time [s],
# follows it or goes to it by joints: that is as straight. From farther away a line leads there.
CLOSE, CLOSE_TURN, CATCH_UP = 0.03, 0.1, 0.3
# An arm that rests no farther than this from its last command [rad or m], and that has not moved
# by more than that since, has been led there as well as it can be.
BESIDE_COMMAND, STILL = 0.05, 0.005
# Samples that a whole motion is given at most; the controller interpolates in between.
MOST_SAMPLES = 500


class Phase(enum.Enum):
    """What the commands are doing; what the chain may do is told by `motion.chain_state`."""

    IDLE = "no goal"
    MOVING = "moving to the goal"
    ARRIVED = "at the goal"
    BRAKING = "coming to rest"
    UNSAFE = "the next command failed the last check"


class _SolverBeside:
    """Solves in a thread of its own. What waits there is dropped for what is asked later."""

    def __init__(self, is_done: Callable[[Future[Any]], bool]) -> None:
        self._is_done = is_done
        self._threads = ThreadPoolExecutor(1)  # begins with the first question
        self._running: Future[Solution] | None = None
        self._next: Callable[[], Solution] | None = None
        self._wanted = True  # the answer to what is running

    @property
    def busy(self) -> bool:
        """Whether the answer to what was asked last is yet to come."""
        return self._next is not None or (self._running is not None and self._wanted)

    def ask(self, question: Callable[[], Solution]) -> Solution | None:
        """Ask something; return the answer to an earlier question that has come meanwhile."""
        self._next = question
        return self.look()

    def look(self) -> Solution | None:
        """Return an answer that has come since, if any."""
        answer = None
        if self._running is not None and self._is_done(self._running):
            answer = self._running.result() if self._wanted else None
            self._running = None
        if self._running is None and self._next is not None:
            self._running, self._next = self._threads.submit(self._next), None
            self._wanted = True
        return answer

    def forget(self) -> None:
        """Drop what was asked."""
        self._next, self._wanted = None, False


class Pipeline:
    """Solves for a goal and walks there within the chain's limits.

    A solve that takes longer than a control period may is done in a thread; until it has ended the
    last solution is kept.

    A goal that rests is solved once; one that moves is followed with its own velocity. Motion
    starts from rest at the measured positions; while it lasts, each command continues from the one
    before, so that the arm's own lag does not feed back. An arm that still stands where the last
    motion has left it, a little beside its command, is led on from that command: from where it is
    measured to be it would make a step at each start, and creep.

    Args:
        chain: What to move.
        period: Time between two calls of `step` [s].
        limits: Of the chain's variables; None: `MotionLimits.of_chain`.
        velocity_scaling: Fraction of the joints' velocity limits to use, in (0, 1].
        acceleration_scaling: Fraction of the joints' acceleration limits to use, in (0, 1].
        position_tolerance: Largest position error of a solution that counts as reached [m].
        orientation_tolerance: Largest orientation error of one [rad].
        caps: On the speeds of links; None: none.
        is_done: Tells whether a thread is through with something.

    Attributes:
        speed_override: Fraction of the speed of every motion, in [0, 1]; at 0 the arm brakes and
            keeps its goal, to which it goes on once this is more.
        solver: "descent" or "fabrik", see `solve`; how poses are solved for from now on.
        path: How the arm goes to a pose from now on, from rest: "joint", "straight" (the tip on a
            line) or "straight_or_joint" (by joints where the line ends). A pose that moves is
            followed by joints as soon as the tip is close, and so is every one with fewer than six.
        phase: What is being done.
        goal: What is wanted.
        solution: The answer to it; None for goals that need none.
        command: The last command of the present motion (n,); None at rest.
        notice: What a singularity makes of the motion; None where none is near.
        line_held: What ended the last line before the pose; None if nothing did.
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
        caps: SpeedCaps | None = None,
        is_done: Callable[[Future[Any]], bool] = Future.done,
    ) -> None:
        self._chain = self._aiming = chain
        self._period = period
        limits = MotionLimits.of_chain(chain) if limits is None else limits
        self._max_step = limits.velocity * period
        self._lower, self._upper = chain.lower.copy(), chain.upper.copy()  # writable, for kernels
        self._endless = chain.continuous
        self._limiter = Limiter(limits, period, np.zeros(len(self._max_step)), caps)
        self._goal_motion = GoalMotion(limits.velocity)
        self._jog = Jog(chain, self._limiter)
        self._joint_jog = JointJog(chain, self._limiter)
        self._beside = _SolverBeside(is_done)
        self.velocity_scaling = velocity_scaling
        self.acceleration_scaling = acceleration_scaling
        self.speed_override = 1.0
        self.position_tolerance = position_tolerance
        self.orientation_tolerance = orientation_tolerance
        self.solver: Literal["descent", "fabrik"] = "descent"
        self.path: Literal["joint", "straight", "straight_or_joint"] = "joint"
        self.phase = Phase.IDLE
        self.goal: Goal | None = None
        self.solution: Solution | None = None
        self.command: FloatArray | None = None
        self._destination: FloatArray | None = None
        self.line_held: Held | None = None
        self._line_end: RigidTransform | None = None  # root_T_tip; None where joints lead the way
        self._left: tuple[FloatArray, FloatArray] | None = None  # last command, and the arm then
        self._sound = True  # whether the destination is finite and within the limits
        self._repeats = 0
        self._elapsed = 0.0  # time of all steps [s]
        self._lasting, self._near, self._passing = Lasting(), Lasting(), Lasting()
        self.notice: Reason | None = None
        self._quickest = False  # whether to brake without regard to the tip's line
        self._when = 0.0  # for which the last command is
        self._told: float | None = None  # the time that the goal is of
        self._followed = False  # whether the last command followed a goal that moves

    def aim(self, goal: Goal, measured: FloatArray, *, time: float | None = None) -> None:
        """Make a goal the one to go to; solve for it, unless it is the one solved last.

        Args:
            goal: What is wanted.
            measured: Measured positions (n,) [rad or m]; the seed of a first solve.
            time: When it was so, on the clock of `step` [s]; None: now. What comes anew again and
                again moves, and is followed to where it is by the time of the command.
        """
        self._told = time
        if goal == self.goal:
            if self.waiting:
                self._take(self._beside.look(), measured)
            return
        # From goal to goal the branch is kept; a first goal is the one nearest to the arm.
        start = measured if self._destination is None else self._destination
        seed = np.minimum(np.maximum(start, self._chain.lower), self._chain.upper)
        if not (isinstance(goal, JOGGING) and isinstance(self.goal, JOGGING)):
            self._lasting.reset()
            self._say_no_notice()
        self.goal, self.solution = goal, None
        if isinstance(goal, (PoseGoal, PointGoal)):
            by_passes = self.solver == "fabrik" and isinstance(goal, PoseGoal)
            quick = QUICK_PASSES if by_passes else QUICK
            solution: Solution | None = self._solve(goal, seed, quick)
            if solution is not None and solution.verdict is Verdict.BUDGET_SPENT:
                solution = self._beside.ask(partial(self._solve, goal, seed, MAX_ITERATIONS))
            else:
                self._beside.forget()
            self._take(solution, measured)
            return
        self._beside.forget()
        if isinstance(goal, JOGGING):
            self._go_to(measured if self.command is None else self.command)
            self._sound = True
        else:
            self._go_to(np.array(goal.positions))

    @property
    def singularities(self) -> Singularities:
        """What is done about singularities on lines and in jogging."""
        return self._jog.singularities

    @singularities.setter
    def singularities(self, value: Singularities) -> None:
        self._jog.singularities = value

    @property
    def leads_lines(self) -> bool:
        """Whether the chain has joints enough to lead its tip along any line."""
        return len(self._lower) >= FULL

    @property
    def waiting(self) -> bool:
        """Whether the goal is still being solved for."""
        return self._beside.busy

    def _take(self, solution: Solution | None, measured: FloatArray) -> None:
        """Go where a solution leads; without one go on as before, or stay."""
        if solution is not None:
            self.solution = solution
            self._go_to(solution.positions.copy())  # kernels take writable arrays
        elif self._destination is None:
            self._go_to(self._start(measured))

    def _go_to(self, destination: FloatArray) -> None:
        self._destination = destination
        self._sound = is_inside(destination, self._lower, self._upper)
        self._repeats = 0
        self.phase = Phase.MOVING
        self._quickest = False
        self.line_held = None
        begins = self.command is None or self._jog.moving or self._limiter.at_rest
        straight = self._goes_straight and begins
        self._line_end = self._chain.forward(destination) if straight else None

    @property
    def _leaves_lines(self) -> bool:
        """Whether the joints lead on where a line ends."""
        return self.path != "straight"

    @property
    def _goes_straight(self) -> bool:
        """Whether the tip is led to the goal on a line, if it is not followed."""
        if not (isinstance(self.goal, PoseGoal) and self.leads_lines):
            return False
        return self.path != "joint" or self.goal.straight

    def go_again(self, measured: FloatArray) -> None:
        """Go to where the goal has led once more, from where the arm stands.

        Args:
            measured: Measured positions (n,) [rad or m].
        """
        self._go_to(measured + self.missing(measured))

    def brake(self, *, quickest: bool = False) -> None:
        """Give up the goal and come to rest as soon as the limits allow.

        Args:
            quickest: Each joint for itself; else a tip that is on a line stays on it, where that
                takes little longer.
        """
        self.goal = self.solution = None
        self._beside.forget()
        self._say_no_notice()
        self._quickest = quickest or (self._quickest and self.phase is Phase.BRAKING)
        if self.command is None:
            self.rest()
        elif self.phase is not Phase.BRAKING:
            self._destination, self._sound, self._repeats = self.command, True, 0
            self.phase = Phase.BRAKING

    def change_tool(self, chain: Chain) -> None:
        """Let poses and twists be about the tip of another chain, from rest.

        Args:
            chain: Of the same joints, as `Chain.with_tool` makes them. Rays stay where they are.
        """
        self.rest()
        self._chain, self._jog = chain, Jog(chain, self._limiter)

    def rest(self) -> None:
        """Forget goal and command; the next motion starts from rest."""
        self.goal = self.solution = self.command = self._destination = None
        self._beside.forget()
        self._say_no_notice()
        self.phase = Phase.IDLE

    @property
    def left_at(self) -> FloatArray | None:
        """Last command (n,) of a motion that has ended, from which the next may begin, or None."""
        return None if self._left is None else self._left[0]

    def begin_where_measured(self) -> None:
        """Let the next motion from rest begin at the measured positions, wherever the last led."""
        self._left = None

    def _start(self, measured: FloatArray) -> FloatArray:
        """Return where a motion from rest begins (n,)."""
        if self._left is None:
            return measured
        command, stood = self._left
        still = (np.abs(measured - stood) <= STILL).all()
        near = (np.abs(measured - command) <= BESIDE_COMMAND).all()
        return command if still and near else measured

    def _solve(self, goal: PoseGoal | PointGoal, seed: FloatArray, max_iterations: int) -> Solution:
        if isinstance(goal, PoseGoal):
            return solve(
                self._chain,
                goal.root_T_target,
                seed,
                position_only=goal.position_only,
                position_tolerance=self.position_tolerance,
                orientation_tolerance=self.orientation_tolerance,
                max_iterations=max_iterations,
                solver=self.solver,
            )
        return look_at(
            self._aiming,
            goal.root_point,
            seed,
            axis=goal.ray.axis,
            origin=goal.ray.origin,
            angle_tolerance=self.orientation_tolerance,
            max_iterations=max_iterations,
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

    def missing(self, measured: FloatArray) -> FloatArray:
        """Return how far the arm is from the destination, each joint (n,) [rad or m].

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
            self._say_held(self._destination, self._jog.held)
            self._say_notice(self._jog.notice)
            return self._destination
        if isinstance(self.goal, JointVelocityGoal):
            self._jog.reset()
            self._destination = self._joint_jog.step(np.array(self.goal.velocities))
            self._say_held(self._destination, self._joint_jog.held)
            return self._destination
        now = self._when - self._period
        place, velocity, acceleration = self._goal_motion.observe(destination, now, self._told)
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
            rested = self._limiter.at_rest  # else this period is used up by coming to rest
            command = self._jog.approach(self._line_end)
            self._say_notice(self._jog.notice)
            if command is not None and not (self._jog.held and rested and self._limiter.at_rest):
                return command
            place, velocity = self._leave_line(destination), np.zeros_like(place)
        self._jog.reset()  # from here on the tip is on no line
        return self._limiter.step(place, velocity, acceleration)

    def _is_close(self, place: FloatArray, velocity: FloatArray) -> bool:
        """Tell whether joints may go to a place (n,) that moves on (n,), as straight as on a line.

        The tip must be there, or nearly so, and the joints not too slow to stay there.
        """
        speeds = self._limiter.override * self._limiter.bounds[VELOCITY]
        if not (np.abs(velocity) <= FOLLOW * speeds).all():
            return False
        left = self._chain.forward(self._limiter.position).inverse() @ self._chain.forward(place)
        twist = self._chain.jacobian(place) @ velocity
        speed, turning = float(np.linalg.norm(twist[:3])), float(np.linalg.norm(twist[3:]))
        near = float(np.linalg.norm(left.translation)) <= CLOSE + CATCH_UP * speed
        return near and left.as_axis_angle()[1] <= CLOSE_TURN + CATCH_UP * turning

    def _leave_line(self, destination: FloatArray) -> FloatArray:
        """Return where the joints are to go (n,) from where the line has led."""
        here, end, held = self._limiter.position, self._line_end, self._jog.held
        assert end is not None
        self._line_end = None
        if held is None:
            # On the line the joints may have come there in another way than was foreseen.
            found = self._solve(PoseGoal(end), here, QUICK)
            near = found.success and np.abs(found.positions - here).max() <= BESIDE
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

    def _slow_down(self) -> FloatArray:
        """Return the next command on the way to rest."""
        if self._jog.moving and not self._quickest:
            return self._jog.step(None)
        self._jog.reset()
        return self._limiter.brake()

    def _say_held(self, joints: FloatArray, held: Held | None) -> None:
        """Tell why jogging does not go on, as the solution; there is none while it does."""
        said = self._lasting.tell(held, self._elapsed)
        if said is None:
            self.solution = None
        elif self.solution is None or self.solution.reason != said:
            self.solution = Solution(joints, said.verdict, 0.0, 0.0, 0, 0, said)

    def _scale(self) -> None:
        self._limiter.scale(self.velocity_scaling, self.acceleration_scaling)
        self._limiter.slow_down(self.speed_override)

    def _say_notice(self, notice: Notice | None) -> None:
        """Tell what a singularity makes of the motion; what is ahead gives way to what happens."""
        passing = notice is not None and notice.passing
        near = self._near.tell(None if passing else notice, self._elapsed)
        self.notice = self._passing.tell(notice if passing else None, self._elapsed) or near

    def _say_no_notice(self) -> None:
        self._near.reset()
        self._passing.reset()
        self.notice = None

    def _prepare(self, measured: FloatArray) -> tuple[FloatArray, bool]:
        """Return the command from which to go on, and whether to brake."""
        start = self.command
        if start is None:
            start = self._start(measured)
            self._limiter.reset(start)
            self._goal_motion.reset()
            self._jog.reset()
            self._followed = False
        self._scale()
        braking = self.phase is Phase.BRAKING or not self._sound
        return start, braking

    def plan(self, start: FloatArray, *, braking: bool) -> Motion | None:
        """Return a whole motion to rest, for those who send it at once instead of commands.

        Args:
            start: Positions, velocities and accelerations to begin with, shape (n, 3), all finite.
            braking: Whether it only comes to rest, as soon as the limits allow; else it leads to
                the goal.

        Returns:
            The motion; None where it would be unsafe, or there is nowhere to go.
        """
        if self._destination is None and not braking:
            return None
        self._limiter.go_on(start)
        self._scale()
        motion = self._limiter.plan(None if braking else self._destination, MOST_SAMPLES)
        way = np.ascontiguousarray(motion.positions)  # of one kind, or kernels are compiled anew
        # Step by step: every sample is a command.
        steps = np.diff(motion.times)[:, np.newaxis] * self._max_step / self._period
        return motion if all(map(self._is_safe, way[1:], way[:-1], steps)) else None

    def step(self, measured: FloatArray, when: float | None = None) -> FloatArray | None:
        """Return the next command (n,) [rad or m], or None when there is nothing to send.

        Args:
            measured: Measured positions (n,), all finite.
            when: Time at which the arm is to be there, on any steady clock [s]; None: a period
                after the last.
        """
        self._when = self._when + self._period if when is None else when
        if self._destination is None or self._repeats >= self.ARRIVED_REPEATS:
            return None
        if not self._sound:
            self.phase = Phase.UNSAFE
        if self.command is None and not self._sound:
            return None
        self._elapsed += self._period
        previous, braking = self._prepare(measured)
        command = self._slow_down() if braking else self._next(self._destination)
        if not self._is_safe(command, previous, self._max_step):
            return self._brake_instead(previous)
        self.command = command
        arrived = braking or is_equal(command, self._destination)
        ends = braking or not (self.waiting or isinstance(self.goal, JOGGING))
        if arrived and self._limiter.at_rest and ends:
            self._repeat(measured)
        elif not braking:
            self.phase = Phase.MOVING
        return command

    def _brake_instead(self, previous: FloatArray) -> FloatArray | None:
        """Return the command that brakes in place of one that is not safe; None if it is not safe.

        What is unsafe is not known; so the joints brake each on its own, from the last command.
        """
        started, self.phase, self._sound = self.command is not None, Phase.UNSAFE, False
        self._limiter.undo()
        self._jog.reset()
        command = self._limiter.brake() if started else previous
        safe = started and self._is_safe(command, previous, self._max_step)
        self.command = command if safe else None
        return self.command

    def window(self) -> Motion:
        """Return the last commands, and how it goes on if no other one comes.

        See `Limiter.window`; only while there is a command.
        """
        return self._limiter.window()

    @property
    def state(self) -> FloatArray:
        """Positions, velocities and accelerations of the last command, shape (n, 3)."""
        return self._limiter.state

    @property
    def on_line(self) -> bool:
        """Whether the tip is led on a line, by a twist or straight to a pose."""
        return self._jog.moving

    def go_on(self, states: FloatArray) -> None:
        """Continue from another state than that of the last command.

        Args:
            states: Positions, velocities and accelerations, shape (n, 3), all finite.
        """
        self._limiter.go_on(states)
        self._jog.reset()
        self.command = self._limiter.position

    def _repeat(self, measured: FloatArray) -> None:
        """Count the commands at rest; after some of them be silent."""
        self._repeats += 1
        silent = self._repeats >= self.ARRIVED_REPEATS
        if silent and self.command is not None:
            self._left = self.command, measured
        if self.phase is Phase.BRAKING:
            if silent:
                self.rest()
            return
        self.phase = Phase.ARRIVED if self._sound else Phase.UNSAFE
        if silent:
            self.command = None  # whoever moves the arm now moves it from where it is
