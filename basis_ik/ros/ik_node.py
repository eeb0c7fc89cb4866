# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The inverse kinematics node: targets in, limited joint commands and a verdict out."""

from __future__ import annotations

import math
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from control_msgs.msg import JointJog
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PointStamped, Pose, PoseStamped, Twist, TwistStamped
from moveit_msgs.msg import CartesianTrajectory
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_ros import TransformListener
from trajectory_msgs.msg import JointTrajectory

from basis_ik import process
from basis_ik.arm.chain_state import ChainState, Event
from basis_ik.arm.limiter import WIDEST_SPACING
from basis_ik.arm.measured import StateStamp
from basis_ik.arm.moment import Moment
from basis_ik.arm.statistics import LoopMeter
from basis_ik.collision.world import World
from basis_ik.errors import BasisIkError
from basis_ik.numerics.jit import WHY_PLAIN
from basis_ik.ros.boundary import Boundary
from basis_ik.ros.chain_controller import OtherCommanderError
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.journal import Journal
from basis_ik.ros.loaded_robot import Description, Robot, read_description
from basis_ik.ros.parameters import ik_parameters
from basis_ik.ros.parameters.chain_parameters import ChainParameters
from basis_ik.ros.parameters.parameters import ConfigError, Parameters, given_lists
from basis_ik.ros.periodic_spinner import SPIN_PAUSE, Inputs, PeriodicSpinner
from basis_ik.ros.publishers import incompatible_qos
from basis_ik.ros.qos import LATCHED
from basis_ik.ros.readiness import ColdStart, Readiness, Unready
from basis_ik.ros.sim_clock import ClockWatch, LoopClock, jump_text, loop_time
from basis_ik.warm_up import WarmUp, node_steps

CACHE_TIMEOUT = 0.5  # [s] that `configure` waits for kernels from the cache
BRAKING_TIMEOUT = 2.0  # [s] within which every arm must have come to rest
EXIT_TIMEOUT = 0.5  # [s], the same, after a signal to end
AUTOSTART_PERIOD = 0.5  # [s] between two checks whether another node still commands the arm
COMPILATION_LIMIT = 3600.0  # [s], upper bound of the compilation

TARGET_TOPICS = (
    (PoseStamped, "target_pose"),
    (PointStamped, "target_point"),
    (TwistStamped, "twist"),
    (JointJog, "joint_jog"),
    (JointState, "joint_target"),
    (JointTrajectory, "joint_chunk"),
    (CartesianTrajectory, "pose_chunk"),
    (String, "posture"),
)
PLAIN_TYPES = {PoseStamped: Pose, TwistStamped: Twist}  # with `plain_inputs`

MakeBoundary = Callable[[Node, Parameters], Boundary]

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class IkNode(LifecycleNode):
    """Lifecycle node `basis_ik`; docs/interfaces.md lists its topics and parameters.

    Args:
        make_boundary: Makes the boundary of the node, as its parameter `record` requires.

    Attributes:
        boundary: All its input and output.
        parameters: Its parameters, including those of its chains.
        inputs: Its callback groups.
        period: Period of the control loop [s].
        world: The objects around the robot, which outlive it.
    """

    def __init__(self, make_boundary: MakeBoundary) -> None:
        with given_lists():
            super().__init__("basis_ik", automatically_declare_parameters_from_overrides=True)
        self.inputs = Inputs()
        for service in self.services:  # rclpy's own: lifecycle and parameters
            service.callback = self._guarded(service.callback)
        self._declare_parameters()
        self.boundary = make_boundary(self, self.parameters)
        self._journal = Journal(self)
        if WHY_PLAIN:
            text = f"{WHY_PLAIN}: numba compiles the kernels by itself, which takes longer"
            self.get_logger().warning(text)
        self._description: str = self.parameters["robot_description"]
        self._missing = Unready(DiagnosticStatus.WARN, "no robot description received yet")
        self._readiness = Readiness(self, self._names, self._unready)
        self._clock_watch = ClockWatch(self)
        self._robot: Robot | None = None
        self._successor: Description | None = None  # replaces the robot once the arms rest
        self._prepared: Robot | None = None
        self._active = self._started = False
        self._autostart_at = math.inf  # of the loop's steady time
        # A latch outlives the robot: only ~/enable resets it.
        self._states = {name: ChainState() for name in self._names}
        self.world = World()
        self._buffer = FrameBuffer()
        self._listener = TransformListener(self._buffer, self)
        for kind, topic, callback, qos in (
            (JointState, "joint_states", self._on_joint_state, qos_profile_sensor_data),
            (String, "robot_description", self._on_description, LATCHED),
        ):
            unfit = incompatible_qos(self, topic)
            self.create_subscription(kind, topic, callback, qos, event_callbacks=unfit)
        # A steady clock drives the loop, because requests are also handled while simulated time
        # stands still. `LoopClock` returns the number of control periods that are due.
        self.period = 1.0 / self.parameters["update_rate"]
        self._loop = LoopMeter(self.period)
        self._loop_clock = LoopClock(self, self.period, self._on_clock_jump)
        self._unread: str | None = None
        self._reader = ThreadPoolExecutor(1, "robot_description")
        self._reading: Future[Description] | None = None
        self._cold_start: ColdStart | None = None
        self._kernels = WarmUp(node_steps())  # last, so that bad parameters are reported at once

    def _declare_parameters(self) -> None:
        self.parameters = Parameters(self)
        self.parameters.declare(ik_parameters.NODE_PARAMETERS)
        self._names: list[str] = self.parameters["chains"] or [""]
        for name in self._names:
            prefix = f"{name}." if name else ""
            self.parameters.declare(ik_parameters.CHAIN_PARAMETERS, prefix)
            self.parameters.declare_named(ik_parameters.POSTURE, prefix)
        self.parameters.refuse_unknown()
        for name in self._names:
            ChainParameters(self.parameters, name).check()

    def check_kernels(self) -> bool:
        """Return whether all kernels are compiled; until then this thread must not call one."""
        if self._wait_for_kernels():
            if self._cold_start is not None:
                self._cold_start.destroy()
                self._cold_start = None
                self.get_logger().info("the kernels are compiled")
            return True
        if self._cold_start is None and self._compiling:
            self._cold_start = ColdStart(self, self._kernels, self._names, self._targets)
        return False

    def _targets(self, chain: str) -> list[tuple[Any, str]]:
        """Return types and names of a chain's topics of targets."""
        plain = ChainParameters(self.parameters, chain)["plain_inputs"]
        return [
            (PLAIN_TYPES[kind] if name in plain else kind, name) for kind, name in TARGET_TOPICS
        ]

    @property
    def _compiling(self) -> bool:
        return self.boundary.read("compiling", lambda: self._kernels.compiling)

    def _wait_for_kernels(self, timeout: float = 0.0) -> bool:
        """Wait for the kernels, at most for a time [s]; return whether they are ready."""
        kernels = self._kernels
        return self.boundary.is_ready(
            "kernels", lambda: kernels.wait(timeout), lambda: kernels.wait(COMPILATION_LIMIT)
        )

    def start(self) -> None:
        """Configure and activate if there is a robot description; otherwise wait for one.

        The kernels must be ready.

        Raises:
            BasisIkError: The description, or a chain requested of it, is invalid.
        """
        if self._description and not self._started:
            self._prepared = self._make()
            self._autostart()
        self._read()
        if not self._description:
            topic = self.resolve_topic_name("robot_description")
            self.get_logger().info(f"waiting for a robot description on {topic}")

    # Lifecycle -------------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Create the robot from the description; fail while there is none."""
        return self._transit("configure", self._configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start to send commands."""
        return self._transit("activate", self._activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Brake, and stop sending commands; the arm may still brake after the transition."""
        return self._transit("deactivate", self._deactivate)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Destroy the robot; its description is kept."""
        return self._transit("clean up", self._unload)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Brake, and destroy the robot."""
        self._started = True  # prevents an automatic start
        return self._transit("shut down", self._unload)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Destroy the robot after an unexpected failure; the node can be configured again."""
        return self._transit("recover", self._unload)

    def _transit(self, name: str, work: Callable[[], None]) -> TransitionCallbackReturn:
        """Run a transition, and log its exceptions, which rclpy would swallow."""
        try:
            work()
        except BasisIkError as error:
            self._journal.error(f"cannot {name}: {error}")
            return FAILURE
        except Exception:
            self.get_logger().error(f"cannot {name}: {traceback.format_exc()}")
            return TransitionCallbackReturn.ERROR
        return SUCCESS

    def _configure(self) -> None:
        if not self._wait_for_kernels(0.0 if self._compiling else CACHE_TIMEOUT):
            raise ConfigError(f"{self._kernels}; try again")
        started, self._started = self._started, True
        self._read()
        if not self._description:
            self._started = started
            raise ConfigError(self._missing.text)
        robot, self._prepared = self._prepared, None
        self._unload()
        self._adopt(robot or self._make())

    def _activate(self) -> None:
        assert self._robot is not None  # configured
        self._robot.check_alone()
        self._robot.activate()
        self._active, self._autostart_at = True, math.inf

    def _deactivate(self) -> None:
        self._active, self._autostart_at = False, math.inf
        if self._robot is not None:
            self._robot.deactivate()

    def _unload(self) -> None:
        self.come_to_rest(BRAKING_TIMEOUT)
        for state in self._states.values():
            state.handle(Event.COME_TO_REST)  # not seen to, if its driver is silent
            state.handle(Event.CLEAN_UP)
        if self._successor is not None:
            self._description, self._successor = self._successor.text, None
        for robot in (self._robot, self._prepared):
            if robot is not None:
                robot.destroy()
        self._robot = self._prepared = None

    def come_to_rest(self, timeout: float) -> None:
        """Stop sending commands, and block until the arms have braked.

        Args:
            timeout: Longest time to block [s].
        """
        self._deactivate()
        if self._robot is not None:
            self._robot.come_to_rest(timeout, self.period)

    def end(self) -> None:
        """Come to rest before the program ends."""
        self.come_to_rest(EXIT_TIMEOUT)

    def _autostart(self) -> None:
        if self._started or not self.parameters["autostart"]:
            return
        if self.trigger_configure() == SUCCESS:
            self._autostart_at = -math.inf
            self._activate_once_alone()

    def _activate_once_alone(self) -> None:
        """Activate; if another node commands the arm, try again later.

        This node may replace one that is still ending, or that was killed and stays in the graph
        until its lease expires.
        """
        assert self._robot is not None  # configured
        now = self.boundary.steady()
        if now < self._autostart_at:
            return
        self._autostart_at = now + AUTOSTART_PERIOD
        try:
            self._robot.check_alone()
        except OtherCommanderError as error:
            text = f"cannot activate: {error}; then this one activates by itself"
            self._journal.warn("activation", "other", text, lasting=True)
        else:
            self._journal.recovered("activation", "no other node commands the arm")
            self.trigger_activate()

    def give_up(self) -> None:
        """Brake after an unexpected exception, and send nothing until activated again."""
        if self._active:
            self._journal.error(f"stopped, activate it again: {traceback.format_exc()}")
            self.trigger_deactivate()
        elif self._robot is not None and not self._robot.resting:
            self._journal.error("braking fails, too: no more commands")
            self._robot.rest()
        else:
            self._journal.error(f"while inactive: {traceback.format_exc()}")

    def _guarded(self, callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Wrap a service's callback: an exception becomes a negative response.

        rclpy raises one for a transition that the current state does not have, and for a parameter
        of unknown type.
        """

        def guarded(request: Any, response: Any) -> Any:
            try:
                return callback(request, response)
            except Exception as error:
                self._journal.error(f"request refused: {' '.join(str(error).split())}")
                return response

        return guarded

    def log_failure(self, error: BaseException) -> None:
        """Log the exception of a request; the node continues."""
        text = "".join(traceback.format_exception(error))
        self._journal.error(f"a request failed: {text}")

    # The robot -------------------------------------------------------------------------------

    def _make(self, description: Description | None = None) -> Robot:
        """Create a robot from a description; None: from the current text."""
        if description is None:
            description = read_description(self._description, self._names, self.parameters)
        return Robot(self, description, self.parameters, self._buffer, self._states)

    def _adopt(self, robot: Robot) -> None:
        self._robot = robot
        for state in self._states.values():
            state.handle(Event.CONFIGURE)
        robot.warm_up()
        self._loop = LoopMeter(self.period)  # periods missed while loading do not count
        robot.plug_in(self._loop)
        for line in robot.report():
            self.get_logger().info(line)

    def _on_description(self, message: String) -> None:
        """Read a new robot description, or keep it until the kernels are ready."""
        self._unread = message.data
        if self._wait_for_kernels():
            self._read()

    def _read(self) -> None:
        """Read a new description, in a thread if there is a robot that may move."""
        if self._unread is None or self._reading is not None:
            return
        text, self._unread = self._unread, None
        newest = self._description if self._successor is None else self._successor.text
        if self.parameters["robot_description"] or (text and text == newest):
            return
        self._reading = self._reader.submit(read_description, text, self._names, self.parameters)
        if self._robot is None:
            self._take(self._reading)

    def _take(self, reading: Future[Description]) -> None:
        """Use a description that was read, or refuse it.

        A robot is replaced once its arms rest, because creating one takes several periods.
        """
        self._reading = None
        try:
            description = reading.result()
            robot = self._make(description) if self._robot is None else None
        except BasisIkError as error:
            self._refuse(error)
            return
        self._journal.recovered("description", "received a valid robot description")
        if self._robot is not None:
            self._successor = description
            self._robot.deactivate()
            self.get_logger().info("another robot description received: braking before it is used")
            return
        self._description = description.text
        if self._prepared is not None:
            self._prepared.destroy()
        self._prepared = robot
        self._autostart()

    def _refuse(self, error: BasisIkError) -> None:
        """Log why a description or a parameter is refused, and the consequence."""
        text, outcome = f"robot description refused: {error}", "still waiting"
        lasting = isinstance(error, ConfigError) and not self._description
        if lasting:  # a parameter is at fault, and read-only
            text = str(error)
            outcome = "unconfigured: fix it and start again, or publish another description"
        if self._description:
            outcome = "the old one is kept"
        else:
            self._missing = Unready(DiagnosticStatus.ERROR, text)
        reason = "parameter" if lasting else "refused"
        self._journal.warn("description", reason, f"{text}; {outcome}", lasting=lasting)

    def _unready(self) -> Unready | None:
        """Return why there is no robot; None if there is one, or if `ColdStart` reports it."""
        if self._robot is not None or self._cold_start is not None:
            return None
        return Unready(DiagnosticStatus.OK, "unconfigured") if self._description else self._missing

    def _replace_robot(self) -> None:
        """Replace the robot by the new one, which waits for its own joint states."""
        assert self._robot is not None
        assert self._successor is not None
        description, self._successor = self._successor, None
        try:
            robot = self._make(description)
        except BasisIkError as error:
            self._refuse(error)
            if self._active:
                self._robot.activate()
            return
        self._description = description.text
        self._robot.destroy()
        self._adopt(robot)
        if self._active:
            robot.activate()

    # The loop --------------------------------------------------------------------------------

    def _on_joint_state(self, message: JointState) -> None:
        now = self.boundary.moment(self.get_clock())
        if self._robot is None or not now.clock:  # ages need the time
            return
        stamp = message.header.stamp
        timeout = round(1e9 * self.parameters["joint_state_timeout"])
        stamp = StateStamp(stamp.sec, stamp.nanosec, now.clock, timeout)
        for arm in self._robot.arms:
            arm.take_joint_state(message.name, message.position, now.loop, stamp)

    def _on_clock_jump(self, seconds: float) -> None:
        """Brake, and discard everything with earlier stamps; tf keeps its static frames."""
        if seconds <= 0.0:
            self._buffer.clear()
        if self._robot is None:
            return
        for each in self._robot.controllers:
            each.take_clock_jump()
        self._journal.info("clock", "jump", f"{jump_text(seconds)}: targets are dropped")

    @property
    def sends(self) -> bool:
        """Whether commands are being sent, by windows too; then a target waits for a period."""
        if self._robot is None:
            return False
        since = loop_time(self) - max(self.period, WIDEST_SPACING)
        return any(arm.sent_since(since) for arm in self._robot.arms)

    def handle_target(self) -> bool:
        """Run a period at once for a new target, unless commands are being sent.

        Returns:
            Whether it ran; the next one is due a period later, so that commands stay a period
            apart.
        """
        if self._robot is None:
            return False
        new = False
        for arm in self._robot.arms:
            new = arm.has_new_target() or new
        if not new or self.sends:
            return False
        self.run_period()
        return True

    def run_period(self) -> None:
        """Run a period of the control loop."""
        if self._reading is not None and self.boundary.done(self._reading):
            self._take(self._reading)
            self._read()  # a newer one may have arrived meanwhile
        if self._robot is None:
            return
        self._activate_once_alone()
        self._loop.begin(self.boundary.steady())
        now = self.boundary.moment(self.get_clock())
        for earlier in reversed(range(self._loop_clock.periods(now.clock))):
            self._robot.cycle(Moment(now.loop - earlier * self.period, now.clock))
        standstill = self._loop_clock.standstill()
        if standstill is not None:
            for each in self._robot.controllers:
                each.report_standstill(standstill)
        self._loop.end(self.boundary.steady())
        if self._successor is not None and self._robot.resting:
            self._replace_robot()


def run(stop: threading.Event, make_boundary: MakeBoundary) -> int:
    """Run the node until `stop` is set; return the exit status.

    Args:
        stop: Ends it.
        make_boundary: See `IkNode`.
    """
    node = IkNode(make_boundary)
    try:
        return _spin(node, stop)
    finally:
        node.boundary.close()


def _spin(node: IkNode, stop: threading.Event) -> int:
    boundary = node.boundary
    spinner = PeriodicSpinner(node, node.inputs, node.period, node.log_failure, boundary)
    while not boundary.run("kernels", node.check_kernels) and not stop.wait(SPIN_PAUSE):
        spinner.handle_messages()
        spinner.handle_others()
    if not stop.is_set():
        boundary.run("start", node.start)
    process.freeze()
    due = spinner.now()
    while not stop.is_set():
        due = turn(node, spinner, due)
    boundary.run("end", node.end)
    spinner.shutdown()
    node.destroy_node()
    return 0


def turn(node: IkNode, spinner: PeriodicSpinner, due: float) -> float:
    """Wait for the next period or a target, at most 20 ms, and handle what came.

    Requests come last: they must not delay a period. An unexpected exception stops the arm.

    Args:
        node: The node.
        spinner: Its spinner.
        due: When the next period begins, on the spinner's clock [s].

    Returns:
        When the next period begins then.
    """
    try:
        due = _turn(node, spinner, due)
        spinner.handle_others()  # if that fails, the period has been run all the same
    except Exception:
        if not node.context.ok():
            raise
        node.boundary.run("give_up", node.give_up)
    return due


def _turn(node: IkNode, spinner: PeriodicSpinner, due: float) -> float:
    left, handled = min(due - spinner.now(), SPIN_PAUSE), False
    if left > 0.0:
        if node.sends:  # a target would not be handled before the period
            spinner.sleep(left)
        else:
            handled = spinner.wait(left)
    if not handled:
        spinner.handle_messages()
    now = spinner.now()
    if now >= due:
        node.boundary.run("period", node.run_period)
        due += node.period * (1 + (now - due) // node.period)
    elif node.boundary.run("handle_target", node.handle_target):
        due = now + node.period
    return due
