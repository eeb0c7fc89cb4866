# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm that follows targets: what has come, and the time, decide what is sent."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from basis_ik.arm.admission import (
    Refusal,
    Refusals,
    Refused,
    Request,
    Units,
    admit_joystick,
    printable,
)
from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.chain_state import ChainState, Event, State
from basis_ik.arm.clearance import Clearance
from basis_ik.arm.clutch import Clutch
from basis_ik.arm.execution.execution import MOVED_AWAY, Execution
from basis_ik.arm.execution.messages import Outgoing
from basis_ik.arm.goals import (
    ChunkGoal,
    Goal,
    JointGoal,
    MotionGoal,
    PointGoal,
    PoseGoal,
    Ray,
    Triple,
)
from basis_ik.arm.input_filter import NO_FILTER, FilterRules
from basis_ik.arm.interruption import STILL_TIME, Interruption
from basis_ik.arm.jog import Held
from basis_ik.arm.limiter import Motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.log import Log
from basis_ik.arm.measured import MeasuredState, StateStamp
from basis_ik.arm.moment import Moment
from basis_ik.arm.pace import Pace
from basis_ik.arm.pipeline import Job, Phase, Pipeline
from basis_ik.arm.preview import PREVIEW_TUNING, Preview, Rehearsal, rehearse
from basis_ik.arm.settings import JoystickRules, Postures, Settings, misplaced, outside
from basis_ik.arm.statistics import ArmMeter
from basis_ik.arm.target_input import Arrival, Frames, FrameStamp, TargetInput
from basis_ik.arm.targets import TwistTarget
from basis_ik.arm.tracking import Tracking
from basis_ik.collision.collision_scene import Gap, Scene
from basis_ik.errors import BasisIkError
from basis_ik.robot.chain import Chain, turning_link
from basis_ik.robot.robot import RobotModel
from basis_ik.solvers.pose.solve import Solution
from basis_ik.transforms.rigid import RigidTransform


class RetryTuning(NamedTuple):
    """When an arm that rests short of the end of its stream repeats the motion.

    A controller refuses late windows. If the last one was late, the arm has braked early.
    """

    delay: float = 0.3  # [s], of rest before it
    most: int = 2  # repetitions of a motion
    end_tolerance: float = 1e-4  # [rad or m]: a controller's reference farther away has missed it


RETRY_TUNING = RetryTuning()


# [s], for which a joint state is part of the answer to why none is accepted.
JOINT_STATE_MEMORY = 1.0
UNWANTED = "check_collisions is false"
"""Why commands are not checked for collisions, where nobody wants it."""
MOST_MISSING_NAMES = 3  # of joints in a line
MOST_UNKNOWN_JOINTS = 50  # of one joint state that are stored

# A period that begins this late [s] was delayed by this program or its machine. What came meanwhile
# is awaited for as long again, before the joint states count as silent.
LATE_PERIOD = 0.1
# Joint states are late, not wrong, if these are the reasons for which they are refused.
LATE_REFUSALS = (Refusal.STALE, Refusal.OUT_OF_ORDER)


class RestState(NamedTuple):
    """Where and since when an arm has been at rest without commands."""

    since: float
    """Time of the loop [s]."""
    positions: NDArray[np.float64]
    """Measured, shape (n,) [rad or m]."""


class Tool(Protocol):
    """The frame at the chain's tip that moves to the targets."""

    frame: str
    """Its name; empty: the chain's tip."""
    chain: Chain
    """The chain that ends there."""

    def change(self, frame: str) -> str:
        """Change it; return why it is not ready, or nothing."""


class StateSource(Protocol):
    """Who publishes joint states; as text: who does by now."""

    topic: str
    """The topic."""


class Design(NamedTuple):
    """What does not change while an arm exists."""

    name: str
    """The arm's name; empty when the robot has no other arm."""
    model: RobotModel
    """The robot."""
    chain: Chain
    """The chain of that robot that moves."""
    ray: Ray
    """The ray that points at target points."""
    limits: MotionLimits
    """Limits of the chain's variables."""
    caps: SpeedCaps
    """Caps on the speeds of links; the settings have their values."""
    period: float
    """Time between two steps [s]."""
    lag: float
    """Largest lag of the drives [s]."""
    margin: float
    """By how much the arm may be off its way [rad or m]."""
    postures: Postures
    """Joint positions by name."""


class Surroundings(NamedTuple):
    """What an arm asks, and whom it tells."""

    frames: Frames
    """Transforms to the chain's root frame."""
    tool: Tool
    """The tool."""
    states: StateSource
    """Who publishes joint states."""
    log: Log
    """Where changes are told."""
    steady: Callable[[], float]
    """Returns the time of refusals, whose age is shown [s]."""
    stopwatch: Callable[[], float]
    """Returns a time by which solves are measured [s]."""
    submit: Callable[[Callable[[], Solution]], Job[Solution]]
    """Begins a solve that may take longer than a period."""
    rehearse: Callable[[Callable[[], Rehearsal]], Job[Rehearsal]]
    """Begins a rehearsal."""


class Outcome(NamedTuple):
    """What a step has decided."""

    outgoing: list[Outgoing]
    """What is to be sent to the controller, in this order."""


class Arm:
    """A chain that follows targets while its state permits it.

    What comes is taken when it comes, by `take_*`, because a message counts from its arrival, and a
    request is answered at once. What is sent is decided by `step` alone; requests that end a motion
    act on the next step.

    Args:
        design: What does not change.
        settings: Parameters; assigned again when they change.
        execution: Decides what is sent, and follows what becomes of it.
        state: Whether it may move; kept when the robot is replaced.
        surroundings: What it asks, and whom it tells.

    Attributes:
        name: As in the design.
        model: The robot.
        chain: The chain.
        ray: As in the design.
        limits: As in the design.
        postures: As in the design.
        tool: The tool that moves to the targets.
        measured: Measured positions of the joints.
        other_joints: The robot's other independent joints.
        others: Their measured positions.
        targets: The targets.
        clutch: Lets a device lead the tip.
        preview: The motion to a target that waits for `go`.
        refusals: Accepted targets, and refused messages of all inputs.
        pipeline: Makes the commands.
        execution: As given.
        meter: Measures rates of events and durations of solves.
        state: As given.
        unchecked: Why commands are not checked for collisions; empty if they are. The owner of the
            arm assigns it.
    """

    def __init__(
        self,
        design: Design,
        settings: Settings,
        execution: Execution,
        state: ChainState,
        surroundings: Surroundings,
    ) -> None:
        self.name, self.model = design.name, design.model
        self.chain, self.ray, self.limits = design.chain, design.ray, design.limits
        self.postures = design.postures
        self._period, self._caps = design.period, design.caps
        self._states, self._log = surroundings.states, surroundings.log
        self._stopwatch = surroundings.stopwatch
        self.tool, self.state, self.execution = surroundings.tool, state, execution
        self.unchecked = ""
        chain = design.chain
        self._turns = turning_link(chain) is not None
        self.meter = ArmMeter()
        self.measured = MeasuredState(chain.joint_names, chain.velocity, chain.continuous)
        self.other_joints = other_joints(design.model, chain)
        self.others = MeasuredState(self.other_joints)
        self._tracking = Tracking(chain.joint_names, chain.continuous, design.lag, design.margin)
        self.refusals = Refusals(surroundings.steady)
        self.targets = TargetInput(
            surroundings.frames,
            chain,
            self._log,
            self.refusals,
            rest=self._rest,
            mimics={name: mimic.joint for name, mimic in design.model.mimics.items()},
            streams=execution.streams,
        )
        self.clutch = Clutch(self.targets, lambda: self._tip(self._rest()), self._log)
        self.pipeline = Pipeline(
            chain,
            period=design.period,
            limits=design.limits,
            caps=design.caps,
            submit=surroundings.submit,
        )
        self.preview = Preview(surroundings.rehearse)
        self._seed: tuple[int, NDArray[np.float64]] | None = None  # of the placement by a go
        self._settings = self.settings = settings
        self._has_measured = False
        self._refresh: Callable[[], Mapping[str, str]] = dict
        self._strangers: dict[str, float] = {}  # joints of others, and when they came [s]
        self._cycled_at = math.inf
        self._interruption: Interruption | None = None
        self._has_new, self._sent_at = False, -math.inf
        self._last_placement = 0
        self._has_arrived = False  # at the present goal
        self._seen_from = -math.inf  # time of the loop [s]; see `_is_unseen`
        self._retries, self._last_rest = 0, RestState(-math.inf, np.zeros(len(chain.joint_names)))

    @property
    def settings(self) -> Settings:
        """The parameters' current values."""
        return self._settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        if settings.follow_drag != self._settings.follow_drag:
            self.leave("follow_drag has changed")
        self._settings = settings
        self.targets.farthest = settings.target_max_reach
        self._caps.set(settings.max_linear_speed, settings.max_angular_speed)
        self.pipeline.renew_caps()

    def keep_clear(self, scene: Scene, refresh: Callable[[], Mapping[str, str]]) -> None:
        """Keep links and objects apart from now on.

        Args:
            scene: The links and objects; its padding is the distance that they keep.
            refresh: Brings it up to date, each period; returns the frames that are not known, by
                the objects that stand in them. It raises a `BasisIkError` if it cannot.
        """
        self._caps.clearance, self._refresh = Clearance(scene, self._stopwatch), refresh

    # Requests --------------------------------------------------------------------------------

    def activate(self) -> None:
        """Accept targets from now on; earlier ones are dropped."""
        self.targets.clear()
        self.pipeline.begin_where_measured()
        self._interruption = None
        self.state.handle(Event.ACTIVATE)

    def deactivate(self) -> None:
        """Stop accepting targets; brake, and then send nothing."""
        self.targets.clear()
        self._brake(Event.DEACTIVATE, "deactivated")

    def enable(self) -> None:
        """Accept targets again; those received meanwhile are dropped."""
        self.pipeline.begin_where_measured()
        self.state.handle(Event.ENABLE)
        self.targets.clear()
        self.execution.failure = ""

    def stop(self) -> None:
        """Brake, hold, and refuse targets until enabled again."""
        self.targets.clear()
        self._brake(Event.STOP, "stopped")

    def halt(self, now: Moment) -> None:
        """Stop moving; the controller comes to rest by itself."""
        self.execution.end(self.pipeline, now)
        self.pipeline.rest()
        self.state.handle(Event.DROP_TARGET)
        self.state.handle(Event.COME_TO_REST)

    def _brake(self, event: Event, why: str) -> None:
        """Handle an event that ends the motion.

        If only the target has ended, the tip stays on its line. A stop or a missing requirement
        stops each joint as soon as possible, unless two hands would let go of what they hold.
        """
        moving = self.state.has_target or self.state.state is State.BRAKING
        if event is not Event.DROP_TARGET:
            self.clutch.block(why)
        self.state.handle(event, why)
        if moving:
            together = self._turns and self.pipeline.is_on_given_way
            quickest = event is not Event.DROP_TARGET and not together
            self.execution.brake(self.pipeline, quickest=quickest)

    def go_to(self, positions: Sequence[float], name: str = "home") -> str | None:
        """Move to joint positions, until there is a newer goal.

        Args:
            positions: One for each joint (n,) [rad or m].
            name: Name of the input.

        Returns:
            Why not, or None.
        """
        if self.state.why_not:
            return self.state.why_not
        refused = misplaced(self.chain, positions)
        if refused is None:
            goal = JointGoal(tuple(map(float, positions)))
            self.targets.put(goal, self.targets.request(name), previewed=self._previews())
        return refused

    def go_to_posture(self, posture: str, name: str = "posture") -> Refused | None:
        """Move to a posture; joints that it does not have stay.

        Args:
            posture: Its name.
            name: Name of the input.

        Returns:
            Why not, or None.
        """
        found = self.postures.get(posture)
        if found is None:
            known = ", ".join(map(printable, self.postures)) or "none"
            detail = f"'{printable(posture)}'; there are: {known}"
            return Refused(Refusal.UNKNOWN_POSTURE, detail)
        if isinstance(found, str):
            return Refused(Refusal.OUT_OF_RANGE, f"'{printable(posture)}': {found}")
        rest = np.clip(self._rest(), self.chain.lower, self.chain.upper)
        positions: list[float] = np.where(np.isnan(found), rest, found).tolist()
        refused = self.go_to(positions, name)
        return None if refused is None else Refused(Refusal.NOT_READY, refused)

    def take_posture(self, posture: str) -> None:
        """Accept a posture as target, if the arm may move."""
        refused = self.go_to_posture(posture)
        self._has_new = self._has_new or refused is None
        if refused is not None and self.state.active:
            self.targets.refuse(refused, self.targets.request("posture"))

    def go(self, now: Moment) -> str | None:
        """Move to the target that waits for it, as the preview shows; return why not, or None.

        Args:
            now: When it was asked for.
        """
        target, rehearsal, why_not = self.targets.preview, self.rehearsal, self.state.why_not
        if target is None:
            return why_not or "there is no preview: nothing waits to go"
        why_not = why_not or self.preview.why_not(target, self._rest(), now.loop)
        if why_not or rehearsal is None:
            return why_not
        refused = self.targets.go()
        if refused is not None:
            return str(refused)
        self._seed = self.targets.placements, rehearsal.seed
        return None

    def leave(self, why: str = "left") -> str | None:
        """Drop the target that waits for a go; return why not, or None."""
        return None if self.targets.leave(why) else "there is no preview"

    def _previews(self, *, held: bool = False) -> bool:
        """Return whether a target waits for a go.

        Args:
            held: Whether it is still being dragged.
        """
        mode = self.settings.follow_drag
        return mode == "confirm" or (mode == "release" and held)

    def follow(self, motion: Motion, request: Request) -> MotionGoal | None:
        """Move along a motion, until there is a newer goal.

        A stop, `speed_override` and the caps on the speeds of links act on it as on any other. If
        joint states are missing it ends: it is not resumed. A chain from one hand to another keeps
        to the motion's way also while it stops.

        Args:
            motion: From rest to rest, as from `keep_limits`; it begins close to the measured arm.
            request: What identifies the message that asks for it.

        Returns:
            The goal, by which it is known; None if the arm may not move.
        """
        if self.state.why_not:
            return None
        goal = MotionGoal(motion)
        self.targets.put(goal, request)
        return goal

    @property
    def resting_at(self) -> NDArray[np.float64]:
        """Where the next motion from rest begins (n,) [rad or m]; NaN where it is not known."""
        command = self.pipeline.command
        return self.pipeline.begins_at(self.measured.positions()) if command is None else command

    def go_home(self) -> str | None:
        """Move to the posture `home`; return why not, or None."""
        if "home" not in self.postures:
            return "the parameter home is empty"
        refused = self.go_to_posture("home", "home")
        return None if refused is None else refused.detail

    @property
    def resting(self) -> bool:
        """Whether no command is sent until a new goal arrives."""
        return self.state.resting

    @property
    def needs_commands(self) -> bool:
        """Whether it moves only as long as commands are sent."""
        return self.execution.streams and not self.resting

    @property
    def problem(self) -> str:
        """The controller's problem; empty if there is none."""
        return self.execution.failure or self.state.unmet

    @property
    def hindrance(self) -> str:
        """Why the arm does not move as commanded for the moment; empty if it does."""
        if self._interruption is not None and self.resting and self.targets.pursues:
            return "the arm goes on to its target once it rests where it braked"
        if self.clutch.hindrance:
            return self.clutch.hindrance
        if self.pipeline.obstacle is not None and not self.execution.hindrance:
            return str(self.pipeline.obstacle)
        return self.execution.hindrance

    @property
    def held_by(self) -> tuple[str, str] | None:
        """The two that hold the arm before they collide; None if none do."""
        solution = self.pipeline.solution
        for reason in (self.pipeline.obstacle, None if solution is None else solution.reason):
            if isinstance(reason, Held) and reason.pair is not None:
                return reason.pair
        return None

    @property
    def nearest(self) -> Gap | None:
        """The two of the measured arm and the objects that are nearest; None if not known."""
        scene, measured = self.pipeline.scene, self.measured.positions()
        if scene is None or not np.isfinite(measured).all():
            return None
        return scene.distance(measured)

    def near(self, within: float) -> tuple[Gap, ...]:
        """Return which objects the measured arm is near to, and what holds it, the nearest first.

        Args:
            within: Distance up to which an object is near [m].
        """
        scene, measured = self.pipeline.scene, self.measured.positions()
        if scene is None or not np.isfinite(measured).all():
            return ()
        held, objects = self.held_by, set(scene.objects)
        return tuple(
            gap
            for gap in scene.gaps(measured, within)
            if gap.distance + gap.padding < within
            and (gap.names == held or not objects.isdisjoint(gap.names))
        )

    @property
    def rehearsal(self) -> Rehearsal | None:
        """The motion to the target that waits for a go; None if there is none, or not yet."""
        return None if self.targets.preview is None else self.preview.rehearsal

    @property
    def shown(self) -> tuple[Goal | None, Solution | None]:
        """The goal to show, and the solution for it: of the preview, else of the motion."""
        found = self.rehearsal
        if found is None:
            return self.pipeline.goal, self.pipeline.solution
        return found.goal, found.solution

    @property
    def preview_text(self) -> str:
        """The preview in one line; empty if no target waits for a go."""
        target, found = self.targets.preview, self.rehearsal
        if target is None:
            return ""
        goal = target.goal if found is None else found.goal
        aim = goal.positions if isinstance(goal, JointGoal) else None
        names = (f" of {printable(name)}" for name, each in self.postures.items() if each == aim)
        how = "let the handle go" if self.settings.follow_drag == "release" else "call ~/go"
        return f"preview{next(names, '')}: {found or 'not ready yet'}; {how}"

    @property
    def other_commander(self) -> str:
        """The other node that commands the arm; empty if there is none."""
        return self.execution.other_commander

    @property
    def displaced(self) -> str:
        """Which joint something else has moved from the target that was reached, or nothing."""
        if not (self._has_arrived and self.state.state is State.HOLDING):
            return ""
        off = np.abs(self.pipeline.missing(self.measured.positions()))
        k = int(off.argmax())
        unit = "m" if self.chain.prismatic[k] else "rad"
        reference, who = self.execution.controller_reference(), "something else"
        if (
            reference is not None
            and np.abs(self.pipeline.missing(reference)).max() > RETRY_TUNING.end_tolerance
        ):
            who = "another client of the controller"
        return (
            f"{who} has moved the arm from the target: {self.chain.joint_names[k]} is "
            f"{off[k]:.3g} {unit} off; send the target again to return"
        )

    # Inputs ----------------------------------------------------------------------------------

    def take_joint_state(
        self, names: list[str], positions: Sequence[float], now: float, stamp: StateStamp
    ) -> None:
        """Take a joint state; arguments as for `MeasuredState.update`."""
        refused = self.measured.update(names, positions, now, stamp)
        if self.state.unmet or not self._has_measured:
            self._note_strangers(names, now)
        if self.other_joints:
            self.others.update(
                names, positions, now, stamp
            )  # a refusal there does not concern the chain
        if refused is None:
            self.meter.joint_states.count += 1
            self._log.recovered("joint state", "joint states are valid again")
        else:
            if refused.reason is Refusal.JUMP:  # there may be a second publisher of joint states
                text = f"{refused.detail}; {self._states}"
                refused = self.measured.refused = Refused(refused.reason, text)
            self.refusals.add(refused, Request("joint_states"))
            self._log.warn("joint state", refused.reason.name, f"joint state: {refused}")

    def _note_strangers(self, names: Sequence[str], now: float) -> None:
        """Store which joints that the robot does not have have come within the last second."""
        self._strangers = {
            n: then for n, then in self._strangers.items() if now - then <= JOINT_STATE_MEMORY
        }
        new = (name for name in names if name not in self.model.joints)
        self._strangers.update((name, now) for name in itertools.islice(new, MOST_UNKNOWN_JOINTS))

    def take_clock_jump(self, now: Moment) -> None:
        """Brake, and discard all times, which refer to the old clock."""
        self.targets.reset()
        self._interruption, self._cycled_at = None, math.inf
        self.measured.reset()
        self.others.reset()
        self.execution.on_clock_jump(now)
        self._brake(Event.DROP_TARGET, "the clock has jumped")
        self._sent_at = -math.inf

    def take_pose(
        self,
        at: FrameStamp,
        pose: RigidTransform | Refused,
        now: Moment,
        *,
        straight: bool = False,
        held: bool = False,
    ) -> None:
        """Accept a pose as target, if the arm may move.

        Args:
            at: Frame and time of the pose.
            pose: The pose, or why it is none.
            now: When it came.
            straight: Whether to move on a straight line as far as possible, regardless of `path`.
            held: Whether it is being dragged.
        """
        if self._takes_targets("target_pose", at):
            position_only = self.settings.position_only
            arrival = self._arrival(now, previewed=self._previews(held=held))
            # A hand on the handle is steady.
            how = NO_FILTER if straight else self._filter("target_pose")
            self.targets.offer_pose(
                at, pose, arrival, position_only=position_only, straight=straight, how=how
            )

    def take_object(
        self, at: FrameStamp, pose: RigidTransform | Refused, now: Moment
    ) -> Request | None:
        """Accept a pose for what both ends of the chain hold, if the arm may move.

        Args:
            at: Frame and time of the pose.
            pose: The pose, or why it is none.
            now: When it came.

        Returns:
            What identifies it for `follow`, once its motion is planned; None: it was refused.
        """
        if not self._takes_targets("target_object", at):
            return None
        if self._previews():
            text = "follow_drag is confirm, and no preview shows both hands: set it to live"
            request = self.targets.request("target_object", at)
            self.targets.refuse(Refused(Refusal.UNSUPPORTED, text), request)
            return None
        return self.targets.offer_object(at, pose, self._arrival(now))

    def take_point(self, at: FrameStamp, point: Triple, now: Moment, *, held: bool = False) -> None:
        """Accept a point to look at, if the arm may move.

        Args:
            at: Frame and time of the point.
            point: The point [m].
            now: When it came.
            held: Whether it is being dragged.
        """
        if self._takes_targets("target_point", at):
            arrival = self._arrival(now, previewed=self._previews(held=held))
            self.targets.offer_point(at, point, arrival, ray=self.ray)

    def look_at(self, at: FrameStamp, point: Triple, now: Moment, ray: Ray, pace: Pace) -> bool:
        """Accept a point for a ray to pass through, even if the arm may not move yet.

        Args:
            at: Frame and time of the point.
            point: The point [m].
            now: When it came.
            ray: In tip coordinates.
            pace: Bounds on the motion.

        Returns:
            Whether it was accepted; `targets.refusal` has the reason if not.
        """
        return self.targets.offer_point(at, point, self._arrival(now), ray=ray, pace=pace)

    def take_twist(
        self,
        at: FrameStamp,
        linear: Triple,
        angular: Triple,
        now: Moment,
        *,
        units: Units | None = None,
        idles: bool = False,
    ) -> None:
        """Accept a twist of the tip, if the arm may move.

        Args:
            at: Frame and time of the twist.
            linear: In the units.
            angular: In the units.
            now: When it came.
            units: The units; None: those of the settings.
            idles: Whether its sender goes on with zeros while it is not used: such a twist ends
                another twist, and nothing else.
        """
        if idles and not any((*linear, *angular)) and not isinstance(
            self.targets.newest, TwistTarget
        ):  # fmt: skip
            return
        if self._takes_targets("twist", at):
            settings, frame = self.settings, self.settings.angular_frame
            turns = None
            if frame not in ("", at.frame_id):
                turns = frame, self._tip(self.resting_at)
            self.targets.offer_twist(
                at, linear, angular, self._arrival(now), lasts=settings.twist_lasts,
                units=units or settings.units, turns=turns,
            )  # fmt: skip

    def take_joystick(
        self,
        at: FrameStamp,
        axes: Sequence[float],
        buttons: Sequence[int],
        now: Moment,
        rules: JoystickRules,
    ) -> None:
        """Accept the axes of a joystick as a twist of the tip, if the arm may move.

        Args:
            at: Frame and time of the twist.
            axes: From -1 to 1.
            buttons: Whether each is pressed.
            now: When they came.
            rules: What they mean.
        """
        twist = admit_joystick(axes, buttons, rules.axes, rules.enable)
        if not isinstance(twist, Refused):
            x, y, z, a, b, c = twist
            self.take_twist(at, (x, y, z), (a, b, c), now, units=rules.units, idles=True)
        elif self._takes_targets("twist", at):
            self.targets.refuse(twist, self.targets.request("twist", at))

    def take_joint_jog(
        self,
        at: FrameStamp,
        names: Sequence[str],
        velocities: Sequence[float],
        now: Moment,
        *,
        displaces: bool,
    ) -> None:
        """Accept velocities of joints, if the arm may move.

        Args:
            at: Time of the message, and a frame without meaning.
            names: The joints.
            velocities: In the units of the settings.
            now: When they came.
            displaces: Whether it also has displacements, which are refused.
        """
        if self._takes_targets("joint_jog", at):
            lasts, units = self.settings.twist_lasts, self.settings.units
            arrival = self._arrival(now)
            self.targets.offer_joint_jog(
                at, names, velocities, arrival, lasts=lasts, units=units, displaces=displaces
            )

    def take_joint_target(
        self, at: FrameStamp, names: Sequence[str], positions: Sequence[float], now: Moment
    ) -> None:
        """Accept positions of joints as target, if the arm may move.

        Args:
            at: Time of the message, and a frame without meaning.
            names: The joints; the others of the chain stay.
            positions: One for each of them [rad or m].
            now: When they came.
        """
        if self._takes_targets("joint_target", at):
            arrival = self._arrival(now, previewed=self._previews())
            how = self._filter("joint_target")
            self.targets.offer_joint_target(at, names, positions, arrival, how)

    def take_joint_chunk(
        self,
        at: FrameStamp,
        names: Sequence[str],
        times: Sequence[float],
        rows: Sequence[Sequence[float]],
        now: Moment,
    ) -> None:
        """Accept positions of joints at given times, if the arm may move.

        Args:
            at: When the times begin, and a frame without meaning.
            names: The joints; the others of the chain stay.
            times: Since then (k,) [s].
            rows: Positions of the joints then [rad or m].
            now: When they came.
        """
        if self._takes_targets("joint_chunk", at):
            self.targets.offer_joint_chunk(at, names, times, rows, self._arrival(now))

    def take_pose_chunk(
        self,
        at: FrameStamp,
        times: Sequence[float],
        poses: Sequence[RigidTransform | Refused],
        now: Moment,
        *,
        moves: str,
    ) -> None:
        """Accept poses of the tip at given times, if the arm may move.

        Args:
            at: Their frame, and when the times begin.
            times: Since then (k,) [s].
            poses: The poses then, or why one is none.
            now: When they came.
            moves: The frame that is to be there; empty: the tip.
        """
        if self._takes_targets("pose_chunk", at):
            position_only, arrival = self.settings.position_only, self._arrival(now)
            self.targets.offer_pose_chunk(
                at, times, poses, arrival, moves=moves, position_only=position_only
            )

    def take_clutch(self, held: bool, now: Moment) -> None:
        """Take whether the clutch is held by which a device leads the tip.

        Args:
            held: Whether it is.
            now: When the message came.
        """
        self.clutch.press(held, now.loop, self.settings.twist_lasts)
        if self.state.why_not:
            self.clutch.block(self.state.why_not)

    def take_device_pose(self, at: FrameStamp, pose: RigidTransform | Refused, now: Moment) -> None:
        """Move the tip as a device moves, while the clutch is held and the arm may move.

        Args:
            at: Frame and time of the device's pose.
            pose: The pose, or why it is none.
            now: When it came.
        """
        if self.state.why_not:
            self.clutch.block(self.state.why_not)
            return
        rules, position_only = self.settings.device, self.settings.position_only
        how, arrival = self._filter("device_pose"), self._arrival(now)
        self.clutch.move(at, pose, arrival, rules, how, position_only=position_only)

    def _filter(self, name: str) -> FilterRules:
        """Return how samples of an input are filtered."""
        return self.settings.filters.get(name, NO_FILTER)

    def _tip(self, positions: NDArray[np.float64]) -> RigidTransform | None:
        """Return the pose of the tip for positions (n,), of which some may not be known."""
        return self.tool.chain.forward(positions) if np.isfinite(positions).all() else None

    def _rest(self) -> NDArray[np.float64]:
        """Return where the joints rest, or would if they braked now (n,) [rad or m]."""
        if self.resting:
            return self.resting_at
        if self.execution.streams and self.pipeline.command is not None:
            end: NDArray[np.float64] | None = self.pipeline.tail().positions[-1]
        else:
            end = self.execution.end_of_motion(self.pipeline)
        return self.resting_at if end is None else end

    def _takes_targets(self, name: str, at: FrameStamp) -> bool:
        """Return whether targets are accepted now; count a refusal if they are not."""
        if self._interruption is not None and self.state.active and self.state.latch is None:
            return True  # the newest target is the one that the arm goes on to
        why_not = self.state.why_not
        if why_not and self.state.active:
            request = self.targets.request(name, at)
            self.targets.refuse(Refused(Refusal.NOT_READY, why_not), request)
        return not why_not

    def _arrival(self, now: Moment, *, previewed: bool = False) -> Arrival:
        self.meter.targets.count += 1
        self._has_new = True
        return Arrival(now.clock, now.loop, self.settings.stamp_rules, previewed)

    # The loop --------------------------------------------------------------------------------

    def has_new_target(self) -> bool:
        """Return whether a target has arrived since the last call."""
        has_new, self._has_new = self._has_new, False
        return has_new

    def sent_since(self, time: float) -> bool:
        """Return whether a command was sent since a time of `loop_time` [s]."""
        return self._sent_at > time

    def step(self, now: Moment) -> Outcome:
        """Run one control period.

        Args:
            now: The time at which the period began.
        """
        self._has_new = False
        if self.state.active or not self.resting:
            self._step(now)
        else:
            self._cycled_at = math.inf
        return Outcome(self.execution.outgoing())

    def _step(self, now: Moment) -> None:
        settings = self.settings
        moving = self.state.state in (State.MOVING, State.BRAKING)
        if now.loop - self._cycled_at > self._period + LATE_PERIOD and not self.state.unmet:
            self.measured.excuse(now.loop + LATE_PERIOD)
            self.execution.excuse(now.loop + LATE_PERIOD)
        self._cycled_at = now.loop
        silent = self.measured.silent(now.loop, settings.joint_state_timeout, moving=moving)
        self._check_requirements(silent, now)
        self.clutch.watch(now.loop)
        oldest, patience = now.clock - settings.stamp_rules.max_age, settings.transform_timeout
        goal = self.targets.locate(steady=now.loop, patience=patience, oldest=oldest)
        # Without joint states the arm can still brake, as if it were at its commands.
        command = self.pipeline.command
        measured = self.measured.positions() if not silent or command is None else command
        if not silent:
            age = self.measured.age(now.loop, now.clock)
            self.execution.observe(measured, age, now)
            if self.resting and self.execution.in_doubt:
                self.state.handle(Event.GO_ON)
            self._check_tracking(measured, age, now)
        if goal is not None and not self.state.why_not and self._goes_on(measured, now):
            self._accept_goal(goal, measured, now.loop)
        elif goal is None and self.state.has_target:
            self._brake(Event.DROP_TARGET, "the target has expired")
        self._look_ahead(now)
        self.pipeline.speed_override = settings.speed_override
        if not self.resting:
            self._move(measured, now)
            if isinstance(self.pipeline.goal, ChunkGoal):  # it is solved on the way
                self._suffices(self.pipeline.solution)
            if self._interruption is not None and self.state.state is State.BRAKING:
                self._interruption.brake_to(self.execution.end_of_motion(self.pipeline))

    def _look_ahead(self, now: Moment) -> None:
        """Rehearse the motion to the target that waits for a go."""
        target, scene, rest = self.targets.preview, self.pipeline.scene, self._rest()
        if target is None or not np.isfinite(rest).all():
            self.preview.clear()
            return
        around = self.settings, self.tool.frame, None if scene is None else scene.changes
        self.preview.update(target, rest, around, now.loop, self._rehearsal)

    def _rehearsal(self, goal: Goal, start: NDArray[np.float64]) -> Callable[[], Rehearsal]:
        """Return the function that rehearses the motion to a goal, which any thread may call."""
        caps, scene = self._caps.twin(), self.pipeline.scene
        twin = self.pipeline.twin(PREVIEW_TUNING.step, caps)
        self._set_up(twin, goal)
        twin.speed_override = self.settings.speed_override or 1.0
        if not self.execution.streams:  # whole motions are in joint space
            twin.path = "joint"
            goal = replace(goal, straight=False) if isinstance(goal, PoseGoal) else goal
        return partial(rehearse, twin, caps, None if scene is None else scene.copy(), goal, start)

    def _check_requirements(self, silent: tuple[str, ...], now: Moment) -> None:
        """Check what motion requires; if something is missing, brake, and drop the target.

        If only the driver is silent, the target is kept for a while.
        """
        of_output = self.execution.unmet(now)  # in any case: it asks the controller for its rule
        silence = self._silence(silent, now.loop)
        unmet = silence or self._outside() or self._unplaced() or self._change_tool() or of_output
        self._has_measured = self._has_measured or not silent
        if unmet:
            if self._is_late(silent, of_output, now):
                unmet += self._interrupt(now)
            else:
                self._interruption = None
        if unmet == self.state.unmet:
            return
        if not unmet:
            self.state.handle(Event.MET)
            self._log.recovered("waiting", "nothing is missing any more")
            if self._interruption is not None:
                self._interruption.placements = self.targets.placements
            return
        self.targets.leave(unmet)
        dropped = self._interruption is None and self.targets.drop(unmet)
        if self._has_measured:
            reason, text = ("dropped", "; the target is dropped") if dropped else ("unmet", "")
            self._log.warn("waiting", reason, f"{unmet}{text}")
        else:
            self._log.info_once("waiting", f"waiting: {unmet}")
        self.pipeline.begin_where_measured()  # another controller may move the arm meanwhile
        self._brake(Event.UNMET, unmet)

    def _is_late(self, silent: tuple[str, ...], of_output: str, now: Moment) -> bool:
        """Return whether nothing is wrong but that the driver is silent, or was until now."""
        refused = self.measured.refused  # for a jump, too
        if not self._has_measured or not (refused is None or refused.reason in LATE_REFUSALS):
            return False
        if isinstance(self.targets.goal, MotionGoal):  # the arm would leave its way
            return False
        if not (silent or of_output) or self._outside():  # something else is wrong
            return False
        begun = self._interruption is not None or self._is_aged(now)
        return begun and (not of_output or self.execution.is_silent)

    def _is_aged(self, now: Moment) -> bool:
        """Return whether joint states are late: a silent driver may be missed elsewhere first."""
        return self.measured.age(now.loop) > 0.5 * self.settings.joint_state_timeout

    def _interrupt(self, now: Moment) -> str:
        """Begin or continue an interruption; return what the status says about it."""
        timeout, interruption = self.settings.resume_timeout, self._interruption
        if not self.state.unmet and (interruption is None or interruption.placements is not None):
            interruption = self._interruption = self._new_interruption(now)
        if interruption is None or not now.loop < interruption.deadline:
            self._interruption = None
            return ""
        kept = f"; the arm goes on if this ends within {timeout:g} s"
        return kept if self.targets.pursues else ""

    def _new_interruption(self, now: Moment) -> Interruption:
        measured, settings = self.measured.positions(), self.settings
        return Interruption(
            now.loop + settings.resume_timeout,
            measured + self.pipeline.missing(measured),
            self.execution.end_of_motion(self.pipeline),
            settings.goal_tolerance,
        )

    def _goes_on(self, measured: NDArray[np.float64], now: Moment) -> bool:
        """Return whether to pursue the target, after an interruption, too."""
        interruption = self._interruption
        if interruption is None:
            return True
        if interruption.placements in (None, self.targets.placements):  # no newer target since
            if not self.resting:
                return False
            if not interruption.rests(measured, now.loop):
                if now.loop > interruption.deadline + self.settings.resume_timeout:
                    self._interruption = None
                    self.targets.drop("the arm is not where it braked without joint states")
                return False
            self._log.info("waiting", "resumed", "the arm goes on to its target")
        self._interruption = None
        return True

    def _change_tool(self) -> str:
        """Change the tool once the arm rests; return why it has not changed yet, or nothing."""
        frame = self.settings.tool_frame
        if frame == self.tool.frame:
            return ""
        unmet = self.tool.change(frame) if self.resting else "the tool is being changed"
        if not unmet:
            self.targets.tip, self.targets.reach = self.tool.chain.tip, self.tool.chain.reach
            self.pipeline.change_tool(self.tool.chain)
        return unmet

    def _unplaced(self) -> str:
        """Bring the scene up to date; return why the arm cannot be judged, or nothing."""
        try:
            missing = self._refresh()
        except BasisIkError as error:
            return f"collisions cannot be checked: {error}"
        if not missing:
            return ""
        name, frame = next(iter(missing.items()))
        return (
            f"collisions cannot be checked: the object {printable(name)} stands in "
            f"{printable(frame)}, and tf has no transform of it that is new enough; publish it, or "
            "remove the object"
        )

    def _outside(self) -> str:
        """Return which joint is measured too far outside its limits, or nothing."""
        return outside(self.chain, self.settings.joint_limit_margin, self.measured.positions())

    def _silence(self, joints: tuple[str, ...], now: float) -> str:
        """Return which joints are not heard of, and what comes instead; no text that changes."""
        if not joints:
            return ""
        more = (
            f" and {len(joints) - MOST_MISSING_NAMES} more"
            if len(joints) > MOST_MISSING_NAMES
            else ""
        )
        text = f"no joint state of {printable(', '.join(joints[:MOST_MISSING_NAMES]))}{more}"
        refused = self.measured.refused
        last = self.refusals.last.get("joint_states")
        if (
            refused is not None
            and last is not None
            and self.refusals.age(last) <= JOINT_STATE_MEMORY
        ):
            return f"{text} was accepted: {refused}"
        others = sorted(
            name for name, then in self._strangers.items() if now - then <= JOINT_STATE_MEMORY
        )
        if not others:
            return text
        topic, shown = self._states.topic, printable(", ".join(others))
        alike = "if they are the same, name them alike in the URDF and in the driver"
        return f"{text}, but of {shown} on {topic}: {alike}"

    def _check_tracking(self, measured: NDArray[np.float64], age: float, now: Moment) -> None:
        """Stop an arm that does not follow its commands."""
        expected = self.execution.expected(now, age)
        if expected is None or self.state.latch is State.TRACKING_LOST:
            return
        departure = self._tracking.check(expected, measured)
        if departure is not None:
            self.targets.clear()
            self._log.warn("motion", "TRACKING_LOST", departure.text, lasting=True)
            self.state.handle(Event.LOSE_TRACKING, departure.text)
            # Where newer positions are in doubt, a hold at these would throw the arm back.
            held = departure.joints & np.array(not self.measured.doubted)
            self.execution.hold(self.pipeline, measured, now, held)

    def _accept_goal(self, goal: Goal, measured: NDArray[np.float64], now: float) -> None:
        order = self._needs_solve(goal, measured)
        if not order:  # otherwise the arm would start when something else moves it
            self._last_placement = self.targets.placements
        left_at = self.pipeline.left_at
        if (
            self.pipeline.command is None
            and left_at is not None
            and not self.execution.keeps(left_at)
        ):
            self.pipeline.begin_where_measured()
        if order or self.execution.streams or self.pipeline.waiting:
            self._set_up(self.pipeline, goal)
            self._warn_of_path()
            self._set_goal(goal, measured, order=order)
            self._slow_down(goal, measured, now)

    def _needs_solve(self, goal: Goal, measured: NDArray[np.float64]) -> bool:
        """Return whether to start a motion: the goal is new, or repeated and not reached.

        The arm has been displaced; or a line ended before the goal, and `path` has changed; or what
        is around the arm has changed, which was in its way.
        """
        if goal != self.pipeline.goal or self.pipeline.is_outdated:
            return True
        if self.targets.placements == self._last_placement or self.state.state is State.MOVING:
            return False
        if self.pipeline.stays_at_line_end and self.settings.path != "straight":
            return True
        if self.pipeline.would_differ(self.settings.wish):
            return True
        away = np.abs(self.pipeline.remaining(measured)).max() > MOVED_AWAY
        return bool(away or self.displaced)

    def _set_goal(self, goal: Goal, measured: NDArray[np.float64], *, order: bool) -> None:
        self._last_placement = self.targets.placements
        if order and self.pipeline.command is None and self.state.state is not State.MOVING:
            # Use the solution nearest to the measured positions: something else may have moved the
            # arm at rest, or its driver may have reset its turns.
            self.pipeline.rest()
        before, began = self.pipeline.solution, self._stopwatch()
        went, seed = self._seed or (0, None)  # what was shown before a go is what is done
        seed, self._seed = (seed if went == self.targets.placements else None), None
        self.pipeline.set_goal(goal, measured, time=self.targets.time, again=order, seed=seed)
        solution = self.pipeline.solution
        if solution is not before and not self._suffices(solution):
            return
        if order:
            self.state.handle(Event.MOVE)
            # A motion that was given whole is not repeated: the arm would leave its way.
            self._retries = 0 if isinstance(goal, MotionGoal) else RETRY_TUNING.most
            self._has_arrived = False
        if not self.pipeline.waiting and (order or solution is not before):
            self.execution.begin()
        if solution is not None and solution is not before:
            self.meter.solved(self._stopwatch() - began, solution.verdict.name)

    def _suffices(self, solution: Solution | None) -> bool:
        """Return whether to move to a solution; refuse its target if not, and stay or brake."""
        if solution is None or solution.success or self.settings.approximate:
            return True
        self.targets.reject(Refused(Refusal.UNREACHABLE, str(solution.reason)))
        if self.resting:
            self.pipeline.rest()
        else:
            self._brake(Event.DROP_TARGET, "the target cannot be reached")
        return False

    def _move(self, measured: NDArray[np.float64], now: Moment) -> None:
        """Advance the output by one period, and handle the result."""
        self._advance(measured, now)
        if self._caps.clearance is not None:
            self.meter.check_time.add(self._caps.clearance.seconds)
            self._caps.clearance.seconds = 0.0

    def _advance(self, measured: NDArray[np.float64], now: Moment) -> None:
        before, sent = self.execution.failure, self.execution.sent
        held = self.pipeline.line_held
        interruption = self._new_interruption(now) if self._is_aged(now) else None
        phase = self.execution.advance(self.pipeline, measured, now)
        unseen = self.execution.in_doubt
        unseen |= self.state.latch is State.STOPPED and self._is_unseen(now)
        if self.pipeline.line_held not in (held, None) and self.pipeline.path != "straight":
            self._log.info("path", "held", f"{self.pipeline.line_held}; continuing in joint space")
        if self.execution.sent > sent:
            self.meter.commands.count += self.execution.sent - sent
            self._sent_at = now.loop
        if self.execution.failure and self.execution.failure != before:
            self._log.warn("controller", "failure", self.execution.failure)
        if phase is Phase.UNSAFE:
            self._on_unsafe(phase.value, now)
        elif phase is Phase.IDLE:
            solved = self.execution.failure or not self.pipeline.waiting
            if self.state.has_target and solved:  # the controller has given up
                if self.execution.failure:
                    self.targets.clear()
                elif interruption is None:
                    self.targets.drop(self.execution.unheard)
                self._interruption = None if self.execution.failure else interruption
                self.pipeline.rest()
                self.state.handle(Event.DROP_TARGET, self.execution.failure)
            if not unseen:
                self.state.handle(Event.COME_TO_REST)
        elif phase is Phase.MOVING:
            self.state.handle(Event.MOVE)
        elif phase is Phase.ARRIVED:
            if self.pipeline.obstacle is None:  # else the commands have ended before the target
                self.state.handle(Event.END_COMMANDS)
            if not self.execution.streams and self.pipeline.may_go_on:
                self.execution.begin()
            if self.pipeline.waiting:  # the solution is looked for again, among what is new
                return
            if self._is_there(measured):
                self.state.handle(Event.ARRIVE)
                self._retries, self._has_arrived = 0, True  # a later displacement is deliberate
            else:
                if self.state.handle(Event.DEPART):
                    self._log.warn("motion", "DISPLACED", self.displaced)
                self._retry(measured, now)

    def _is_unseen(self, now: Moment) -> bool:
        """Return whether the arm moves after all, or it is not known if it does.

        A driver that stands still goes on from where its controller is by then. A controller that
        has left the way of a brake may have taken it late, and follow it.
        """
        if self._is_aged(now) or self.measured.doubted or self.execution.is_led_elsewhere:
            self._seen_from = now.loop + STILL_TIME
        return now.loop < self._seen_from

    def _retry(self, measured: NDArray[np.float64], now: Moment) -> None:
        """Repeat the motion if the arm rests short of the end of its stream."""
        if not (self.execution.streams and self.pipeline.command is None and self._retries):
            return
        moved = np.abs(measured - self._last_rest.positions) > self.settings.goal_tolerance
        if moved.any() or self._last_rest.since <= self._sent_at:
            self._last_rest = RestState(now.loop, measured)
        elif now.loop - self._last_rest.since >= RETRY_TUNING.delay:
            self._retries -= 1
            self._log.warn("motion", "SHORT", "the arm stopped short of the target: trying again")
            self.pipeline.repeat_motion(measured)

    def _on_unsafe(self, text: str, now: Moment) -> None:
        """Brake after an unsafe command, which was not sent; if braking is unsafe, too, halt."""
        self.targets.clear()
        self._log.warn("motion", "UNSAFE", text, lasting=True)
        braking = self.state.state is State.BRAKING
        self._brake(Event.FAIL_CHECK, text)
        if braking:
            self.halt(now)

    def _is_there(self, measured: NDArray[np.float64]) -> bool:
        """Return whether the measured arm is at the end of its commands.

        If the controller publishes its reference, it must also have accepted the last command: the
        arm may have stopped early, but within the tolerance.
        """
        reference = self.execution.controller_reference() if self._retries else None
        if (
            reference is not None
            and np.abs(self.pipeline.missing(reference)).max() > RETRY_TUNING.end_tolerance
        ):
            return False
        return bool((np.abs(self.pipeline.missing(measured)) <= self.settings.goal_tolerance).all())

    def _slow_down(self, goal: Goal, measured: NDArray[np.float64], now: float) -> None:
        """Limit the velocity to the goal's pace."""
        if isinstance(goal, PointGoal) and goal.pace is not None:
            fraction = goal.pace.scaling(self.pipeline.remaining(measured), now)
            self.pipeline.velocity_scaling = min(self.pipeline.velocity_scaling, fraction)

    def _set_up(self, pipeline: Pipeline, goal: Goal) -> None:
        settings = self.settings
        given = isinstance(goal, MotionGoal)  # whoever planned it has chosen its speed
        pipeline.velocity_scaling = 1.0 if given else settings.velocity_scaling
        pipeline.acceleration_scaling = 1.0 if given else settings.acceleration_scaling
        pipeline.position_tolerance = settings.position_tolerance
        pipeline.orientation_tolerance = settings.orientation_tolerance
        pipeline.solver, pipeline.path = settings.solver, settings.path
        pipeline.wish = settings.wish
        pipeline.singularities, pipeline.slides = settings.singularities, settings.jog_slides

    def _warn_of_path(self) -> None:
        pipeline = self.pipeline
        if pipeline.path != "joint" and not (self.execution.streams and pipeline.leads_lines):
            text = "path is ignored: straight needs six joints and an interface that streams"
            self._log.warn("path", "unfit", text)


def other_joints(model: RobotModel, chain: Chain) -> tuple[str, ...]:
    """Return the independent joints of a robot that are not in a chain."""
    known = {*chain.joint_names, *model.mimics}
    return tuple(name for name, joint in model.joints.items() if joint.moves and name not in known)
