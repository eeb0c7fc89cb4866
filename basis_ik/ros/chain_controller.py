# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""One chain of the node: messages in, and what its arm decides as messages out."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from control_msgs.msg import JointJog
from geometry_msgs.msg import PointStamped, Pose, PoseStamped, Twist, TwistStamped
from moveit_msgs.msg import CartesianTrajectory
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Bool, Float64, Header, String
from trajectory_msgs.msg import JointTrajectory

from basis_ik.arm.arm import UNWANTED, Arm, Design, Surroundings
from basis_ik.arm.chain_state import ChainState
from basis_ik.arm.execution.execution import Drives
from basis_ik.arm.goals import Ray
from basis_ik.arm.moment import Moment
from basis_ik.arm.pace import Pace
from basis_ik.arm.preview import Rehearsal
from basis_ik.arm.target_input import FrameStamp
from basis_ik.errors import BasisIkError
from basis_ik.process import giving_way
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.boundary import Job, boundary_of
from basis_ik.ros.convert import duration_value, frame_stamp, pose_value
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.journal import Journal
from basis_ik.ros.kinematics.scenes import Scenes
from basis_ik.ros.outputs.make_output import CommandPath, ControllerOptions
from basis_ik.ros.parameters.chain_parameters import ChainParameters
from basis_ik.ros.parameters.parameters import Parameters, controllers_of
from basis_ik.ros.publishers import Publishers, TopicPublishers, incompatible_qos
from basis_ik.ros.status import BesideGripper, StatusReport
from basis_ik.ros.tool import Tool


class OtherCommanderError(BasisIkError):
    """Another node commands the arm."""


class ChainController:
    """The subscriptions, publishers and parameters of one arm.

    Args:
        node: The node that owns it.
        name: Its name; empty when the node has no other chain.
        model: The robot.
        chain: The chain of that robot that moves.
        parameters: The node's parameters, including this chain's.
        buffer: The node's transforms.
        state: Whether it may move; kept when the robot is replaced.

    Attributes:
        journal: The node's log.
        output_name: Topic or action of the commands.
        gripper: The gripper beside the arm; assigned by itself.

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
        state: ChainState,
    ) -> None:
        self.gripper: BesideGripper | None = None
        self._node, self._parameters, self._clock = node, parameters, node.get_clock()
        self._boundary = boundary = boundary_of(node)
        self._submit: Callable[[Callable[[], Rehearsal]], Job[Rehearsal]] = boundary.thread(
            "rehearsal"
        )
        self._prefix = f"~/{name}" if name else "~"
        tool = Tool(model, chain, buffer, boundary.thread("tool"))
        parameters.guard(f"{name}.tool_frame" if name else "tool_frame", tool.complaint)
        self._own = own = ChainParameters(parameters, name)
        own.check_wish(chain, model)
        for parameter, check in (
            ("preferred_posture", partial(own.posture_complaint, chain)),
            ("elbow.link", partial(own.elbow_complaint, chain, model)),
        ):
            parameters.guard(f"{name}.{parameter}" if name else parameter, check)
        ray, limits = own.ray(model, chain), own.limits(chain)
        period, lag = 1.0 / parameters["update_rate"], parameters["tracking_lag"]
        self.journal = Journal(node, name)
        options = ControllerOptions(
            controllers_of(own["controller"]), own["trajectory_replacement"],
            own["resume_after_pause"], own["hold_other_joints"],
        )  # fmt: skip
        drives = Drives(chain.joint_names, period, lag, chain.velocity)
        self._path = CommandPath(own["command_interface"], node, drives, options)
        self.output_name = self._path.name
        caps, margin = own.caps(model, chain), parameters["tracking_margin"]
        postures = own.postures(chain)
        design = Design(name, model, chain, ray, limits, caps, period, lag, margin, postures)
        states = Publishers(node, "joint_states")
        surroundings = Surroundings(
            buffer,
            tool,
            states,
            self.journal,
            boundary.steady,
            time.perf_counter,
            boundary.thread("solver"),
            self._rehearse,
        )
        self._read, settings = parameters.changes, own.settings(model, chain)
        self._arm = Arm(design, settings, self._path.execution, state, surroundings)
        self._report = StatusReport(node, self)
        self._subscribe()

    def _subscribe(self) -> None:
        def pose(name: str, take: Callable[[PoseStamped], None], frame: str | None) -> Any:
            """Return type, topic and callback of poses, which may be plain ones."""
            if name not in self._own["plain_inputs"]:
                return PoseStamped, self.resolve(name), take

            def stamped(message: Pose) -> None:
                header = Header(frame_id=self._plain_frame if frame is None else frame)
                take(PoseStamped(header=header, pose=message))

            return Pose, self.resolve(name), stamped

        plain = "twist" in self._own["plain_inputs"]
        twist = (Twist, self._on_plain_twist) if plain else (TwistStamped, self._on_twist)
        topics = [
            pose("target_pose", self.take_pose, None),
            (PointStamped, self.resolve("target_point"), self.take_point),
            (twist[0], self.resolve("twist"), twist[1]),
            (JointJog, self.resolve("joint_jog"), self._on_joint_jog),
            (JointState, self.resolve("joint_target"), self._on_joint_target),
            (JointTrajectory, self.resolve("joint_chunk"), self._on_joint_chunk),
            (CartesianTrajectory, self.resolve("pose_chunk"), self._on_pose_chunk),
            (String, self.resolve("posture"), self._on_posture),
            pose("device_pose", self._on_device_pose, "device"),
            (Bool, self.resolve("clutch"), self._on_clutch),
        ]
        if self._own["joy.axes"]:
            topics.append((Joy, self.resolve("joy"), self._on_joy))
        self._subscriptions = [
            self._node.create_subscription(
                kind,
                topic,
                callback,
                1,
                callback_group=self._node.inputs.urgent,
                event_callbacks=incompatible_qos(self._node, topic),
            )
            for kind, topic, callback in topics
        ]
        self._publishers = TopicPublishers(
            self._node,
            [(kind, topic) for kind, topic, _ in topics],
            [(JointState, "joint_states"), (Float64, self.resolve("speed_override"))],
            self.journal,
        )

    def resolve(self, name: str) -> str:
        """Return a private topic or service name of this chain: `~/name` or `~/chain/name`."""
        return f"{self._prefix}/{name}"

    def own(self, name: str) -> Any:
        """Return a parameter of this chain."""
        return self._own[name]

    def check_alone(self) -> None:
        """Raise an error if another node commands the arm.

        Raises:
            OtherCommanderError: Another node commands the arm.
        """
        other_commander = self._path.find_other_commander()
        if other_commander:
            raise OtherCommanderError(other_commander)

    @property
    def unheard(self) -> str:
        """Publishers whose messages do not arrive, and why; empty if there is none."""
        return self._publishers.unheard

    def destroy(self) -> None:
        """Destroy its subscriptions, publishers and services."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._publishers.destroy()
        self._report.destroy()
        self._path.destroy()

    def keep_clear(self, scenes: Scenes) -> None:
        """Keep links and objects apart, unless the parameters say otherwise.

        Args:
            scenes: The robot and the objects around it.

        Raises:
            ConfigError: They must be kept apart, and the robot's shapes cannot be used.
        """
        wanted = self._own["check_collisions"]
        if wanted is False:
            self._arm.unchecked = UNWANTED
            return
        try:
            followed = scenes.scene_of(self._arm.chain, self._own["stop_distance"])
        except BasisIkError as error:
            fault = f"the robot cannot be judged: {error}"
            # Whoever names a cloud of points wants the arm to keep clear of it.
            why = "is true" if wanted is True else "is wanted by point_cloud_topic"
            if wanted is True or self._parameters["point_cloud_topic"]:
                text = f"{why}, but {fault}; mend it, or set it to false"
                raise self._own.refused("check_collisions", text) from None
            self._arm.unchecked = fault
            text = f"collisions are not checked: {fault}; mend it, or set check_collisions to false"
            self.journal.warn("collisions", "unchecked", text)
            return
        for note in followed.scene.notes:
            self.journal.info("collisions", note, f"collisions: {note}")
        self._arm.keep_clear(followed.scene, lambda: scenes.update(followed))

    # Messages --------------------------------------------------------------------------------

    def take_pose(
        self, message: PoseStamped, *, straight: bool = False, held: bool = False
    ) -> None:
        """Accept a pose as target, if the arm may move; see `Arm.take_pose`."""
        at, pose = frame_stamp(message.header), pose_value(message.pose)
        self.arm.take_pose(at, pose, self._now(), straight=straight, held=held)

    def take_point(self, message: PointStamped, *, held: bool = False) -> None:
        """Accept a point to look at, if the arm may move; see `Arm.take_point`."""
        at, p = frame_stamp(message.header), message.point
        self.arm.take_point(at, (p.x, p.y, p.z), self._now(), held=held)

    def go(self) -> str | None:
        """Move to the target that waits for it; see `Arm.go`."""
        return self.arm.go(self._now())

    def look_at(self, message: PointStamped, ray: Ray, pace: Pace) -> bool:
        """Accept a point for a ray to pass through; see `Arm.look_at`."""
        at, p = frame_stamp(message.header), message.point
        return self.arm.look_at(at, (p.x, p.y, p.z), self._now(), ray, pace)

    def _on_twist(self, message: TwistStamped) -> None:
        at, v, w = frame_stamp(message.header), message.twist.linear, message.twist.angular
        self.arm.take_twist(at, (v.x, v.y, v.z), (w.x, w.y, w.z), self._now())

    @property
    def _plain_frame(self) -> str:
        frame: str = self._own["plain_frame"]
        return self._arm.model.link(frame) or self._arm.chain.root

    def _on_plain_twist(self, message: Twist) -> None:
        at, v, w = FrameStamp(self._plain_frame, 0, 0), message.linear, message.angular
        self.arm.take_twist(at, (v.x, v.y, v.z), (w.x, w.y, w.z), self._now(), idles=True)

    def _on_joy(self, message: Joy) -> None:
        at = frame_stamp(message.header)._replace(frame_id=self._plain_frame)
        axes, buttons, rules = message.axes, message.buttons, self._own.joystick()
        self.arm.take_joystick(at, axes, buttons, self._now(), rules)

    def _on_joint_jog(self, message: JointJog) -> None:
        self.arm.take_joint_jog(
            frame_stamp(message.header),
            message.joint_names,
            message.velocities,
            self._now(),
            displaces=bool(message.displacements),
        )

    def _on_joint_target(self, message: JointState) -> None:
        at = frame_stamp(message.header)
        self.arm.take_joint_target(at, message.name, message.position, self._now())

    def _on_joint_chunk(self, message: JointTrajectory) -> None:
        at, points = frame_stamp(message.header), message.points
        times = [duration_value(point.time_from_start) for point in points]
        rows = [point.positions for point in points]
        self.arm.take_joint_chunk(at, message.joint_names, times, rows, self._now())

    def _on_pose_chunk(self, message: CartesianTrajectory) -> None:
        at, points = frame_stamp(message.header), message.points
        times = [duration_value(point.time_from_start) for point in points]
        poses = [pose_value(point.point.pose) for point in points]
        self.arm.take_pose_chunk(at, times, poses, self._now(), moves=message.tracked_frame)

    def _on_posture(self, message: String) -> None:
        self.arm.take_posture(message.data)

    def _on_device_pose(self, message: PoseStamped) -> None:
        at, pose = frame_stamp(message.header), pose_value(message.pose)
        self.arm.take_device_pose(at, pose, self._now())

    def _on_clutch(self, message: Bool) -> None:
        self.arm.take_clutch(message.data, self._now())

    def _rehearse(self, work: Callable[[], Rehearsal]) -> Job[Rehearsal]:
        """Begin a rehearsal, which does not delay the control loop."""

        def working() -> Rehearsal:
            with giving_way():
                return work()

        return self._submit(working)

    def _now(self) -> Moment:
        return self._boundary.moment(self._clock)

    @property
    def arm(self) -> Arm:
        """The arm, with the parameters' current values."""
        if self._read != self._parameters.changes:
            self._read = self._parameters.changes
            self._arm.settings = self._own.settings(self._arm.model, self._arm.chain)
        return self._arm

    def take_clock_jump(self) -> None:
        """Brake, and discard all times, which refer to the old clock."""
        self.arm.take_clock_jump(self._now())

    # The loop --------------------------------------------------------------------------------

    def cycle(self, now: Moment) -> None:
        """Run one control period.

        Args:
            now: The time at which the period began.
        """
        self._path.send(self.arm.step(now).outgoing)
        if self.gripper is not None:
            self.gripper.watch()
        if self._arm.state.active:
            self._report.publish()

    def halt(self) -> None:
        """Stop moving at once; the controller comes to rest by itself."""
        self.arm.halt(self._now())
        self._path.send(self.arm.execution.outgoing())

    def report_standstill(self, text: str) -> None:
        """Publish why simulated time stands still."""
        if self.arm.state.active:
            self._report.report_standstill(text)
