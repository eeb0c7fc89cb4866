"""The inverse kinematics node: targets in, limited joint commands and a verdict out."""

from __future__ import annotations

import time
from threading import Event
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_ros import Buffer, TransformListener
from trajectory_msgs.msg import JointTrajectory

from basis_ik.errors import BasisIkError
from basis_ik.model.chain import Chain
from basis_ik.model.robot import RobotModel
from basis_ik.motion.admission import StampRules
from basis_ik.motion.measured import MeasuredState
from basis_ik.pipeline import Pipeline, State
from basis_ik.ros import parameters
from basis_ik.ros.convert import trajectory_message
from basis_ik.ros.programs import spin
from basis_ik.ros.status import status_message
from basis_ik.ros.target_input import TargetInput
from basis_ik.solvers.solve import warm_up
from basis_ik.transforms.rigid import RigidTransform

STATUS_PERIOD = 0.5  # s between repetitions of an unchanged status
# Control periods that a command is given, so that a late successor does not halt the arm.
HORIZON = 2


class IkNode(LifecycleNode):
    """Lifecycle node `basis_ik`; docs/interfaces.md lists its topics and parameters."""

    def __init__(self) -> None:
        super().__init__("basis_ik", automatically_declare_parameters_from_overrides=True)
        parameters.declare(self, parameters.IK_NODE)
        self._active, self._active_since = False, 0.0
        self._description = ""
        self._chain: Chain | None = None
        self._waiting_for = ""
        self._status_key: tuple[object, ...] = ()
        self._status_text = ""
        self._status_time = 0.0
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, self)
        self._status = self.create_publisher(DiagnosticStatus, "~/status", 10)
        self._commands = self.create_publisher(
            JointTrajectory, f"{self._value('controller')}/joint_trajectory", 1
        )
        self.create_subscription(
            JointState, "joint_states", self._on_joint_state, qos_profile_sensor_data
        )
        self.create_subscription(PoseStamped, "~/target_pose", self._on_target, 1)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_subscription(String, "robot_description", self._on_description, latched)
        # A steady clock drives the loop: it goes on when simulated time stands still.
        self._period = 1.0 / self._value("update_rate")
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(self._period, self._on_timer, clock=steady)

    def start(self) -> None:
        """Configure and activate at once if `robot_description` is a parameter; else wait for it.

        Raises:
            BasisIkError: The description, or the chain asked of it, is bad.
        """
        text = self._value("robot_description")
        if text:
            self._load(text)
            self._autostart()
        else:
            topic = self.resolve_topic_name("robot_description")
            self.get_logger().info(f"waiting for a robot description on {topic}")

    # Life ------------------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Refuse until there is a robot."""
        if self._chain is None:
            self.get_logger().error("cannot configure: no robot description has come yet")
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start to command; targets that came before are not replayed."""
        self._targets.clear()
        self._pipeline.rest()
        self._active, self._active_since = True, time.monotonic()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop to command."""
        self._active = False
        return super().on_deactivate(state)

    def _autostart(self) -> None:
        if self._value("autostart"):
            self.trigger_configure()
            self.trigger_activate()

    def _load(self, text: str) -> None:
        """Make the chain of a robot description and compile for it."""
        model = RobotModel.from_urdf(text)
        chain = model.chain(self._value("root_link") or None, self._value("tip_link") or None)
        self.get_logger().info("compiling the kernels (once; up to half a minute)")
        warm_up(chain)
        self._description, self._chain = text, chain
        self._measured = MeasuredState(chain.joint_names)
        self._targets = TargetInput(self._buffer, chain)
        self._pipeline = Pipeline(chain, period=self._period)
        self._robot_name, self._tip = model.name, chain.tip
        for line in chain.inferences:
            self.get_logger().info(line)
        self.get_logger().info(
            f"ready: {model.name}, {chain.root} to {chain.tip}, "
            f"joints {', '.join(chain.joint_names)}"
        )

    # Messages --------------------------------------------------------------------------------

    def _on_description(self, message: String) -> None:
        if self._value("robot_description") or message.data == self._description:
            return
        first = self._chain is None
        try:
            self._load(message.data)
        except BasisIkError as error:
            kept = "still waiting" if first else "the old one is kept"
            self.get_logger().error(f"robot description refused: {error}; {kept}")
            return
        if first:
            self._autostart()

    def _on_joint_state(self, message: JointState) -> None:
        if self._chain is not None:
            refused = self._measured.update(message.name, message.position, time.monotonic())
            if refused is not None:
                self._warn(f"joint state dropped: {refused}")

    def _on_target(self, message: PoseStamped) -> None:
        if not self._active:
            return
        rules = StampRules(
            max_age=round(self._value("target_max_age") * 1e9),
            max_future=round(self._value("target_max_future") * 1e9),
        )
        now = self.get_clock().now().nanoseconds
        self._targets.offer(message, now=now, steady=time.monotonic(), rules=rules)

    # The loop --------------------------------------------------------------------------------

    def _on_timer(self) -> None:
        if not self._active or self._chain is None:
            return
        now = time.monotonic()
        target = self._targets.locate(steady=now, patience=self._value("transform_timeout"))
        timeout = self._value("joint_state_timeout")
        silent = self._measured.silent(now, timeout)
        if silent and now - self._active_since <= timeout:
            return  # they have only just been listened to
        if silent:
            # The next motion starts from where the arm is then.
            self._pipeline.rest()
            text = f"no joint state of {', '.join(silent)}"
            self._report(DiagnosticStatus.WARN, "NO_STATE", text)
            return
        if target is not None:
            self._move(self._chain, target)
        self._report_motion()

    def _move(self, chain: Chain, root_T_target: RigidTransform) -> None:
        measured = self._measured.positions()
        self._pipeline.velocity_scaling = self._value("max_velocity_scaling_factor")
        self._pipeline.position_tolerance = self._value("position_threshold")
        self._pipeline.orientation_tolerance = self._value("orientation_threshold")
        self._pipeline.aim(root_T_target, measured, position_only=self._value("position_only_ik"))
        command = self._pipeline.step(measured)
        if command is not None:
            self._commands.publish(
                trajectory_message(chain.joint_names, command, HORIZON * self._period)
            )

    # Reports ---------------------------------------------------------------------------------

    def _report_motion(self) -> None:
        solution, state = self._pipeline.solution, self._pipeline.state
        refused = self._targets.last_refusal
        if state is State.UNSAFE:
            self._report(DiagnosticStatus.ERROR, state.name, state.value)
        elif solution is None:
            level = DiagnosticStatus.OK if refused is None else DiagnosticStatus.WARN
            self._report(level, state.name, state.value if refused is None else str(refused))
        else:
            level = DiagnosticStatus.OK if solution.success else DiagnosticStatus.WARN
            self._report(level, state.name, str(solution.reason))

    def _report(self, level: bytes, state: str, text: str) -> None:
        """Publish the status when it has changed, and now and then when it has not."""
        now = time.monotonic()
        solution, targets = self._pipeline.solution, self._targets
        key = (level, state, text, id(solution), id(targets.target), targets.refusals.total())
        if key == self._status_key and now - self._status_time < STATUS_PERIOD:
            return
        if level != DiagnosticStatus.OK and text != self._status_text:
            self._warn(text)
        self._status_text = text
        self._status_key, self._status_time = key, now
        self._status.publish(
            status_message(
                name=f"{self.get_fully_qualified_name()}: {self._tip}",
                hardware_id=self._robot_name,
                level=level,
                state=state,
                text=text,
                solution=solution,
                target=targets.target,
                refusals=targets.refusals,
                last_refusal=targets.last_refusal,
            )
        )

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=1.0)

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value


def main(stop: Event) -> int:
    """Run the node until it is told to stop; the exit status."""
    node = IkNode()
    node.start()
    spin(node, stop)
    return 0
