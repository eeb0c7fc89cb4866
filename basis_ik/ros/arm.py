"""One chain of the node: its targets, its pipeline, its controller and its status."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import PointStamped, PoseStamped, TwistStamped
from numpy.typing import NDArray
from rclpy.lifecycle import LifecycleNode

from basis_ik.model.chain import Chain
from basis_ik.model.robot import RobotModel
from basis_ik.motion.admission import Refusal, Refusals, Refused
from basis_ik.motion.goals import Goal, JointGoal, PointGoal, Ray
from basis_ik.motion.measured import MeasuredState, StateStamp
from basis_ik.motion.pace import Pace
from basis_ik.motion.statistics import ArmMeter
from basis_ik.pipeline import Pipeline, State
from basis_ik.ros.arm_parameters import Settings, misplaced
from basis_ik.ros.chain_parameters import ChainParameters
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.journal import Journal
from basis_ik.ros.motion_output import MotionOutput
from basis_ik.ros.outputs import Output, make_output
from basis_ik.ros.parameters import Parameters
from basis_ik.ros.publishers import Publishers, TargetPublishers, unheard
from basis_ik.ros.sim_clock import loop_time
from basis_ik.ros.status import StatusReport
from basis_ik.ros.target_input import Arrival, TargetInput

# From its goal [rad or m]: an arm at rest that is farther away than this has been moved by others.
MOVED_AWAY = 0.05


class Arm:
    """A chain that follows targets while it is active and enabled.

    Args:
        node: The node that it lives in.
        name: Its name; empty when the node has no other.
        model: The robot.
        chain: What is moved, of that robot.
        parameters: The node's parameters, this chain's included.
        buffer: The node's transforms.

    Attributes:
        name: As given.
        model: As given.
        chain: As given.
        tip: The link that reaches the targets.
        ray: What is pointed at points.
        measured: Where the joints are.
        other_joints: Joints of the robot that are not the chain's, nor mimic others.
        others: Where those are.
        targets: Where to go.
        refusals: Of targets and joint states.
        pipeline: What is being done about it.
        meter: How often things happen, and how long solves take.
        output_name: Topic or action that commands go to.
        trouble: What is wrong with the controller; only of one that executes whole motions.
        active: Whether targets are taken, as far as the node's life goes.
        enabled: Whether they are, as far as the operator goes.

    Raises:
        ConfigError: A parameter does not fit the chain.
    """

    def __init__(
        self,
        node: LifecycleNode,
        name: str,
        model: RobotModel,
        chain: Chain,
        parameters: Parameters,
        buffer: FrameBuffer,
    ) -> None:
        self._node, self._parameters, self._clock = node, parameters, node.get_clock()
        self._read, self._kept = parameters.changes, Settings.of(parameters)
        self.name, self.model, self.chain, self.tip = name, model, chain, chain.tip
        self._own = ChainParameters(parameters, name)
        self._own.check_home(chain)
        self.ray, limits = self._own.ray(model, chain), self._own.limits(chain)
        period = 1.0 / parameters["update_rate"]
        self.meter = ArmMeter()
        self.measured = MeasuredState(chain.joint_names, chain.velocity, chain.continuous)
        self.other_joints = other_joints(model, chain)
        self.others = MeasuredState(self.other_joints)
        self.journal = Journal(node, name)
        self._output = self._make_output(period)
        self._streams = not isinstance(self._output, MotionOutput)
        self.refusals = Refusals()
        self.targets = TargetInput(
            buffer, chain, self.journal, self.refusals, streams=self._streams
        )
        self.pipeline = Pipeline(chain, period=period, limits=limits)
        self.active, self.enabled, self._active_since = False, True, 0.0
        self._heard = False
        self._fresh, self._sent_at = False, -math.inf
        self._obeyed = 0
        self.trouble: str | None = None
        self.output_name = self._output.name
        self._report = StatusReport(node, self, self.journal)
        subscribed = (
            (PoseStamped, self.resolve("target_pose"), self.take_pose),
            (PointStamped, self.resolve("target_point"), self.take_point),
            (TwistStamped, self.resolve("twist"), self._on_twist),
        )
        self._subscriptions = [
            node.create_subscription(kind, topic, callback, 1, event_callbacks=unheard(node, topic))
            for kind, topic, callback in subscribed
        ]
        topics = [topic for _, topic, _ in subscribed]
        self._target_publishers = TargetPublishers(node, topics, self.journal)
        self._state_publishers = Publishers(node, "joint_states")

    def resolve(self, name: str) -> str:
        """Return a private topic or service name of this chain: `~/name` or `~/chain/name`."""
        return f"~/{self.name}/{name}" if self.name else f"~/{name}"

    def own(self, name: str) -> Any:
        """Return a parameter of this chain."""
        return self._own[name]

    def _make_output(self, period: float) -> Output | MotionOutput:
        interface, controller = self.own("command_interface"), self.own("controller")
        names = self.chain.joint_names
        if interface == "follow_joint_trajectory":
            return MotionOutput(self._node, controller, names, self._on_failure)
        return make_output(interface, self._node, controller, names, period)

    # Orders ----------------------------------------------------------------------------------

    def activate(self) -> None:
        """Start to take targets; those that came before are not replayed."""
        self.targets.clear()
        self.pipeline.rest()
        self.active, self._active_since = True, loop_time(self._node)

    def deactivate(self) -> None:
        """Take no more targets; brake, and then be silent."""
        self.active = False
        self.targets.clear()
        self.pipeline.brake()

    def enable(self) -> None:
        """Take targets again; those that came meanwhile are not replayed."""
        self.enabled = True

    def stop(self) -> None:
        """Brake, hold, and take no targets until enabled again."""
        self.enabled = False
        self.targets.clear()
        self.pipeline.brake()

    def go_to(self, positions: Sequence[float]) -> str | None:
        """Go to joint positions, until a newer goal comes.

        Args:
            positions: One for each joint (n,) [rad or m].

        Returns:
            Why not, or None.
        """
        if not self.active:
            return "not active"
        if not self.enabled:
            return "stopped; ~/enable lets it go on"
        refused = misplaced(self.chain, positions)
        if refused is None:
            self.targets.put(JointGoal(tuple(map(float, positions))))
        return refused

    def look_at(self, message: PointStamped, ray: Ray, pace: Pace) -> bool:
        """Take a point to let a ray pass through, as if it had come by topic.

        Args:
            message: The point.
            ray: In tip coordinates.
            pace: How fast at most.

        Returns:
            Whether it was taken; `targets.last_refusal` says why not.
        """
        return self.targets.offer_point(message, self._arrival(), ray=ray, pace=pace)

    def go_home(self) -> str | None:
        """Go to the positions that the parameter `home` states; return why not, or None."""
        home: list[float] = self.own("home")
        return self.go_to(home) if home else "the parameter home is empty: nobody said where it is"

    @property
    def resting(self) -> bool:
        """Whether no command is being sent, nor will be before a new goal comes."""
        return self.pipeline.state is State.IDLE

    def destroy(self) -> None:
        """Give up everything held in the node."""
        self.active = False
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._target_publishers.destroy()
        self._report.destroy()
        self._output.destroy()

    def hear(
        self, names: list[str], positions: Sequence[float], now: float, stamp: StateStamp
    ) -> None:
        """Take in a joint state; arguments as of `MeasuredState.update`."""
        refused = self.measured.update(names, positions, now, stamp)
        self.others.update(names, positions, now, stamp)  # they do not concern the chain
        self._heard = self._heard or not self.measured.silent(now, 0.0)
        if refused is None:
            self.meter.joint_states.count += 1
            self.journal.fine("joint state", "joint states are good again")
        else:
            if refused.reason is Refusal.JUMP:  # somebody else may contradict the driver
                text = f"{refused.detail}; {self._state_publishers}"
                refused = self.measured.refused = Refused(refused.reason, text)
            self.refusals.add(refused)
            self.journal.trouble("joint state", refused.reason.name, f"joint state: {refused}")

    def on_clock_jump(self) -> None:
        """Brake, and forget all times: they are of another clock."""
        self.targets.reset()
        self.measured.reset()
        self.others.reset()
        self.pipeline.brake()
        self._active_since, self._sent_at = loop_time(self._node), -math.inf

    def tell_standstill(self, text: str) -> None:
        """Say why no period of the loop begins."""
        if self.active:
            self._report.tell_standstill(self, text)

    # Messages --------------------------------------------------------------------------------

    def take_pose(self, message: PoseStamped) -> None:
        """Take a pose to go to, unless the arm is not to move."""
        if self.active and self.enabled:
            position_only = self._settings.position_only
            self.targets.offer_pose(message, self._arrival(), position_only=position_only)

    def take_point(self, message: PointStamped) -> None:
        """Take a point to look at, unless the arm is not to move."""
        if self.active and self.enabled:
            self.targets.offer_point(message, self._arrival(), ray=self.ray)

    def _on_twist(self, message: TwistStamped) -> None:
        if self.active and self.enabled:
            lasts = self._settings.twist_lasts
            self.targets.offer_twist(message, self._arrival(), lasts=lasts)

    def _arrival(self) -> Arrival:
        self.meter.targets.count += 1
        self._fresh = True
        now = self._clock.now().nanoseconds
        return Arrival(now, loop_time(self._node), self._settings.stamp_rules)

    @property
    def _settings(self) -> Settings:
        """What the parameters say, as of now."""
        if self._read != self._parameters.changes:
            self._read, self._kept = self._parameters.changes, Settings.of(self._parameters)
        return self._kept

    # The loop --------------------------------------------------------------------------------

    def just_asked(self) -> bool:
        """Tell whether a target has come since this was asked last."""
        fresh, self._fresh = self._fresh, False
        return fresh

    def sent_since(self, time: float) -> bool:
        """Tell whether a command has gone out since a time of `loop_time` [s]."""
        return self._sent_at > time

    def cycle(self, now: float) -> None:
        """Do one control period's work.

        Args:
            now: Time as of `loop_time` [s].
        """
        if not self.active and self.resting:
            return
        settings = self._settings
        oldest = self._clock.now().nanoseconds - settings.stamp_rules.max_age
        goal = self.targets.locate(steady=now, patience=settings.transform_timeout, oldest=oldest)
        timeout = settings.joint_state_timeout
        moving = self.pipeline.command is not None
        silent = self.measured.silent(now, timeout, moving=moving)
        if silent:
            self._brake_blindly(silent, now - self._active_since <= timeout)
            return
        measured = self.measured.positions()
        if goal is None:
            if self.pipeline.goal is not None:
                self.pipeline.brake()
        else:
            self._pursue(goal, measured, now)
        self._step(measured)
        if self.active:
            self._report.tell_motion(self)

    def _brake_blindly(self, silent: tuple[str, ...], just_begun: bool) -> None:
        """Come to rest without joint states; the next motion starts where the arm is then."""
        last = self.pipeline.command
        self.pipeline.brake()
        if last is not None:
            self._step(last)
        if not self.active or just_begun:  # they have only just been listened to
            return
        if not self._heard:
            self.journal.once("waiting", f"waiting for joint states of {', '.join(silent)}")
        self._report.tell_silent(self, silent, expected=self._heard)

    def _pursue(self, goal: Goal, measured: NDArray[np.float64], now: float) -> None:
        order = self._is_order(goal, measured)
        if not order:  # told again where it is, or else the arm would start when others move it
            self._obeyed = self.targets.placements
        if self._streams or (order and self._controller_is_there()):
            self._set_up()
            self._aim(goal, measured, order=order)
            self._slow_down(goal, measured, now)

    def _is_order(self, goal: Goal, measured: NDArray[np.float64]) -> bool:
        """Tell whether to solve for a goal: a new one, or one told again to an arm moved away."""
        if goal != self.pipeline.goal:
            return True
        if self.targets.placements == self._obeyed or self.pipeline.command is not None:
            return False
        return bool(np.abs(self.pipeline.remaining(measured)).max() > MOVED_AWAY)

    def _aim(self, goal: Goal, measured: NDArray[np.float64], *, order: bool) -> None:
        self._obeyed = self.targets.placements
        if order and self.pipeline.command is None:
            # Others may have moved the arm since it came to rest, or its driver counts turns anew:
            # the nearest solution is the nearest to where it is now.
            self.pipeline.rest()
        before, began = self.pipeline.solution, time.perf_counter()
        self.pipeline.aim(goal, measured)
        solution = self.pipeline.solution
        if solution is not None and solution is not before:
            self.meter.solved(time.perf_counter() - began, solution.verdict.name)

    def _step(self, measured: NDArray[np.float64]) -> None:
        """Send the next command; or, when a motion begins, the whole of it."""
        whole = isinstance(self._output, MotionOutput)
        motion = self.pipeline.plan(measured) if whole else None
        command = self.pipeline.step(measured)
        if command is not None:
            self._sent_at = loop_time(self._node)
        if isinstance(self._output, MotionOutput):
            if motion is not None:  # of which the command, now, is a part
                self.meter.commands.count += 1
                self._output.send(motion)
        elif command is not None:
            self.meter.commands.count += 1
            self._output.send(command)

    def _controller_is_there(self) -> bool:
        """Tell whether a controller takes motions; until then the goal waits."""
        if isinstance(self._output, MotionOutput) and not self._output.ready:
            self._trouble(f"waiting for the action {self.output_name}")
            return False
        self.trouble = None
        self.journal.fine("controller", "the controller takes motions")
        return True

    def _on_failure(self, text: str) -> None:
        """Give up a motion that the controller has given up; the next starts where the arm is."""
        self.targets.clear()
        self.pipeline.rest()
        self._trouble(text)

    def _trouble(self, text: str) -> None:
        self.trouble = text
        self.journal.trouble("controller", text, text)

    def _slow_down(self, goal: Goal, measured: NDArray[np.float64], now: float) -> None:
        """Keep the pace that a goal brings along."""
        if isinstance(goal, PointGoal) and goal.pace is not None:
            fraction = goal.pace.scaling(self.pipeline.remaining(measured), now)
            self.pipeline.velocity_scaling = min(self.pipeline.velocity_scaling, fraction)

    def _set_up(self) -> None:
        settings, pipeline = self._settings, self.pipeline
        pipeline.velocity_scaling = settings.velocity_scaling
        pipeline.acceleration_scaling = settings.acceleration_scaling
        pipeline.position_tolerance = settings.position_tolerance
        pipeline.orientation_tolerance = settings.orientation_tolerance


def other_joints(model: RobotModel, chain: Chain) -> tuple[str, ...]:
    """Return the joints of a robot that move on their own, those of a chain left out."""
    known = {*chain.joint_names, *model.mimics}
    return tuple(name for name, joint in model.joints.items() if joint.moves and name not in known)
