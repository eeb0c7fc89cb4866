# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Moves the arm of a running node from Python, without knowledge of ROS."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import math
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PointStamped, PoseStamped, TwistStamped
from moveit_msgs.srv import GetPlanningScene, GetPositionFK
from numpy.typing import ArrayLike
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.parameter import Parameter
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from basis_ik.errors import BasisIkError
from basis_ik.ros.convert import duration_message, pose_message, pose_value, time_message
from basis_ik.transforms.rigid import RigidTransform


class ClientTuning(NamedTuple):
    """Times of a client and its rate."""

    answer_timeout: float = 10.0  # [s] to wait for the node and for its answers
    motion_timeout: float = 60.0  # [s], longest motion by default
    twist_rate: float = 50.0  # [Hz]
    end_statuses: int = 3  # that tell of an end; the first may be from before a target was sent
    status_timeout: float = 3.0  # [s] without a status, which comes twice a second


CLIENT = ClientTuning()
# States in which no target is pursued; only ~/enable, or an activation, ends them.
ENDED_STATES = ("STOPPED", "TRACKING_LOST", "UNSAFE", "INACTIVE", "UNCONFIGURED")


class Status(NamedTuple):
    """What the node says of the arm; docs/interfaces.md has the states and values."""

    state: str
    """For example "MOVING" or "ARRIVED"."""
    message: str
    """The same in words."""
    values: dict[str, str]
    """All values by name."""

    def count(self, name: str) -> int:
        """Return a value that counts; 0 if it is not there."""
        return int(self.values.get(name, "0"))

    @property
    def verdict(self) -> str:
        """Of the last solve, for example "REACHED"; empty if there was none."""
        return self.values.get("verdict", "")


NODE_UNHEARD = "the node is not heard any more: it has ended, or is not active"
NO_STATUS = Status("", "no status", {})


class MotionError(BasisIkError):
    """A motion has not ended where it should.

    Args:
        text: Why, in one line.
        status: The status that tells.

    Attributes:
        status: As given.
    """

    def __init__(self, text: str, status: Status) -> None:
        super().__init__(text)
        self.status = status


class TargetRefusedError(MotionError):
    """The node has refused or dropped the target."""


class NotReachedError(MotionError):
    """The arm rests as close to the target as it can get."""


class ReplacedError(MotionError):
    """Somebody else, or this program, has sent another target meanwhile."""


class StoppedError(MotionError):
    """The arm was stopped, or the node was deactivated."""


class MotionTimeoutError(MotionError, TimeoutError):
    """The time is over; the arm may still move."""


class NodeError(BasisIkError):
    """The node does not answer, or refuses a request."""


class Pursuit:
    """Judges by statuses what has become of one target.

    Args:
        name: Name of the input, as in `accepted.<input>`.
        stamp: The target's stamp as in a status; None: it has none, and is known by the count of
            accepted ones.
        before: That count before it was sent.
        refused: The count of refused ones then.
    """

    def __init__(self, name: str, stamp: str | None, before: int = 0, refused: int = 0) -> None:
        self._name, self._stamp, self._before, self._refused = name, stamp, before, refused
        self._seen, self._waited, self._ends = False, False, 0

    def outcome(self, status: Status) -> MotionError | bool:
        """Return True once the arm is there, the error that has ended the pursuit, or False."""
        if status.values.get(f"last_refusal_stamp.{self._name}") == self._stamp is not None:
            return TargetRefusedError(status.values[f"last_refusal.{self._name}"], status)
        self._seen = self._seen or self._is_taken(status)
        refused = status.count(f"refused.{self._name}") > self._refused
        if self._stamp is None and refused and not self._seen:
            return TargetRefusedError(status.values[f"last_refusal.{self._name}"], status)
        own, other = self._whose(status)
        self._seen = self._seen or own
        if status.state in ENDED_STATES:  # which may be from before, unless it is repeated
            self._ends += 1
            is_over = self._seen or self._ends >= CLIENT.end_statuses
            return StoppedError(status.message, status) if is_over else False
        waits = status.values.get("preview_stamp") == self._stamp is not None
        if other or (self._waited and not waits and not self._seen):
            return ReplacedError("another target was sent", status)
        self._waited = self._waited or waits
        if self._seen and not own and status.state != "BRAKING":
            return TargetRefusedError(f"the target was dropped: {status.message}", status)
        if not own or status.state != "ARRIVED":
            return False
        if status.verdict in ("", "REACHED"):
            return True
        return NotReachedError(status.message, status)

    def _is_taken(self, status: Status) -> bool:
        """Return whether the node has accepted this target, which it may pursue no longer."""
        if self._stamp is None:  # a goal of a service, which has no stamp
            return status.count(f"accepted.{self._name}") > self._before
        return status.values.get(f"last_accepted_stamp.{self._name}") == self._stamp

    def _whose(self, status: Status) -> tuple[bool, bool]:
        """Return whether the arm pursues this target, and whether another one since."""
        current = status.values.get("target_stamp", "")
        newest = status.values.get(f"last_accepted_stamp.{self._name}", "")
        given = "" if current else status.values.get("input", "")  # of a service or an action
        if self._stamp is None:
            others = bool(current) or given == "trajectory"
            return self._seen and given == "joint_positions", self._seen and others
        later = any(each and _time(each) > _time(self._stamp) for each in (current, newest))
        other = current not in ("", self._stamp) or given in ("joint_positions", "trajectory")
        return current == self._stamp, later or (self._seen and other)


def _time(stamp: str) -> tuple[int, int]:
    seconds, nanoseconds = stamp.split(".")
    return int(seconds), int(nanoseconds)


class Motion:
    """A motion that goes on: waited for by `wait`, or by `await`.

    Args:
        arm: The arm that moves.
        pursuit: Judges it.
        timeout: Longest time until it has ended [s]; None: any.
    """

    def __init__(self, arm: Arm, pursuit: Pursuit, timeout: float | None) -> None:
        self._arm, self._pursuit = arm, pursuit
        self._end = math.inf if timeout is None else time.monotonic() + timeout
        self._outcome: MotionError | bool = False
        self._told = NO_STATUS  # the status that decided it

    def take(self, status: Status) -> None:
        """Take a status of the arm."""
        if self._outcome is False:
            self._told, self._outcome = status, self._pursuit.outcome(status)

    @property
    def done(self) -> bool:
        """Whether it has ended, wherever."""
        return self._outcome is not False

    @property
    def is_over(self) -> bool:
        """Whether its time is over, or the node is not heard any more."""
        return time.monotonic() > self._end or self._arm.is_silent

    def wait(self) -> Status:
        """Wait until the arm is there; return the status that says so.

        Raises:
            MotionError: It has ended elsewhere; the subclass and the text say how.
            NodeError: The node is not heard any more.
        """
        status = self._arm.wait_for(lambda: self.done or self.is_over, self._end)
        self._arm.forget(self)
        if isinstance(self._outcome, MotionError):
            raise self._outcome
        if not self.done and self._arm.is_silent:
            raise NodeError(NODE_UNHEARD)
        if not self.done:
            raise MotionTimeoutError(f"not there in time: {status.message}", status)
        return self._told

    def __await__(self) -> Generator[Any, None, Status]:
        """Wait in a thread, so that other tasks go on."""
        return asyncio.to_thread(self.wait).__await__()


class Arm:
    """An arm that a running `ik_node` moves.

    It has a context, a node and a thread of its own, so it works beside other code with rclpy, in
    threads and in notebooks. Lengths are metres, angles radians.

    Args:
        node: Name of the node.
        chain: Name of the chain, if the node has several.
        namespace: Namespace of both nodes.
        use_sim_time: Whether time comes from `/clock`.
        domain_id: The ROS domain; None: that of the environment.
        timeout: Longest time to wait for the node [s].

    Raises:
        NodeError: There is no such node.
    """

    def __init__(
        self,
        node: str = "basis_ik",
        *,
        chain: str = "",
        namespace: str = "",
        use_sim_time: bool = False,
        domain_id: int | None = None,
        timeout: float = CLIENT.answer_timeout,
    ) -> None:
        self._context = rclpy.Context()
        self._context.init(domain_id=domain_id)
        overrides = [Parameter("use_sim_time", value=use_sim_time)]
        own = "_".join(re.findall(r"\w+", node))
        self._node: Any = rclpy.create_node(
            f"{own}_client_{time.monotonic_ns() % 10**9}",
            context=self._context,
            namespace=namespace or None,
            parameter_overrides=overrides,
        )
        self._prefix = f"{node}/{chain}" if chain else node
        self._name = node
        self._news = threading.Condition()
        self._status, self._motions = NO_STATUS, set[Motion]()
        self._newest: Motion | None = None  # the motion that was started last
        self._is_closed = False
        self._heard_at, self._last_stamp = -math.inf, 0
        self._publishers: dict[str, Any] = {}  # by topic, from its first message on
        self._node.create_subscription(
            DiagnosticStatus, f"{self._prefix}/status", self._on_status, 10
        )
        self._stop = self._node.create_client(Trigger, f"{self._prefix}/stop")
        self._home = self._node.create_client(Trigger, f"{self._prefix}/home")
        self._go = self._node.create_client(Trigger, f"{self._prefix}/go")
        self._enable = self._node.create_client(SetBool, f"{self._prefix}/enable")
        # basis_ik.launch.py gives it move_group's name if its argument moveit_group is set.
        self._fks = [
            self._node.create_client(GetPositionFK, name)
            for name in (f"{node}/compute_fk", "compute_fk")
        ]
        self._scene = self._node.create_client(GetPlanningScene, "get_planning_scene")
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()
        # rclpy aborts a program that ends while a thread of it spins.
        atexit.register(self.close)
        try:
            self._meet(time.monotonic() + timeout)
        except NodeError:
            self.close()
            raise

    @property
    def _fk(self) -> Any:
        """The client of the node's compute_fk, by the first of its names that is served."""
        self._refuse_closed()
        return next((each for each in self._fks if each.service_is_ready()), self._fks[0])

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin()

    def _meet(self, end: float) -> None:
        """Wait until everything is connected."""

        def met() -> bool:
            clients = (self._stop, self._home, self._go, self._enable, self._fk)
            return self._status is not NO_STATUS and all(
                each.service_is_ready() for each in clients
            )

        self.wait_for(met, end)
        if not met():
            topic = self._node.resolve_topic_name(f"{self._prefix}/status")
            raise NodeError(
                f"no node {self._name} with an arm: nothing is heard on {topic}; start it, "
                "activate it, or name it by node, chain and namespace"
            )

    def close(self) -> None:
        """End the connection; the arm goes on with what it does. A program's end does so, too."""
        atexit.unregister(self.close)
        self._is_closed = True
        self._executor.shutdown()
        self._thread.join()
        self._node.destroy_node()
        self._context.try_shutdown()

    def __enter__(self) -> Arm:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the connection; the arm goes on with what it does."""
        self.close()

    # What the node says ---------------------------------------------------------------------------

    def _on_status(self, message: DiagnosticStatus) -> None:
        values = {pair.key: pair.value for pair in message.values}
        status = Status(values.get("state", ""), message.message, values)
        with self._news:
            self._status, self._heard_at = status, time.monotonic()
            for motion in self._motions:
                motion.take(status)
            self._motions = {motion for motion in self._motions if not motion.done}
            self._news.notify_all()

    @property
    def status(self) -> Status:
        """The newest status."""
        return self._status

    @property
    def is_silent(self) -> bool:
        """Whether the node has told nothing for some time."""
        return time.monotonic() - self._heard_at > CLIENT.status_timeout

    def wait_for(self, condition: Callable[[], object], end: float) -> Status:
        """Wait until a condition holds; it is looked at with each status, and often.

        Args:
            condition: The condition.
            end: Time of `time.monotonic` at which waiting ends in any case [s].

        Returns:
            The newest status.
        """
        with self._news:
            while not condition() and time.monotonic() < end:
                self._news.wait(min(max(end - time.monotonic(), 0.0), 0.05))
            return self._status

    def forget(self, motion: Motion) -> None:
        """Follow a motion no longer."""
        with self._news:
            self._motions.discard(motion)

    def _publisher(self, kind: type, name: str) -> Any:
        """Return the publisher on a topic of the node, once it is connected."""
        self._refuse_closed()
        if name not in self._publishers:
            topic = f"{self._prefix}/{name}"
            publisher = self._node.create_publisher(kind, topic, 1)
            self.wait_for(
                publisher.get_subscription_count, time.monotonic() + CLIENT.answer_timeout
            )
            if not publisher.get_subscription_count():
                self._node.destroy_publisher(publisher)
                raise NodeError(f"nobody subscribes to {self._node.resolve_topic_name(topic)}")
            self._publishers[name] = publisher
        return self._publishers[name]

    def _call(self, client: Any, request: Any) -> Any:
        self._refuse_closed()
        end = time.monotonic() + CLIENT.answer_timeout
        self.wait_for(client.service_is_ready, end)  # of a node that starts again
        if client.service_is_ready():
            answer = client.call_async(request)
            self.wait_for(answer.done, end)
            if answer.done():
                return answer.result()
        raise NodeError(f"{client.srv_name} does not answer")

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise NodeError("this client is closed; make another Arm")

    # Where the arm is -----------------------------------------------------------------------------

    def where(self, frame: str = "") -> tuple[RigidTransform, str]:
        """Return the measured pose of the tip, and the frame that it refers to.

        Args:
            frame: The frame; empty: the chain's root.

        Raises:
            NodeError: The frame, or the arm's position, is not known.
        """
        values = self._status.values
        tip = values.get("tool_frame") or values["tip_link"]
        request = GetPositionFK.Request(fk_link_names=[tip])
        request.header.frame_id = frame or values["root_link"]
        response = self._call(self._fk, request)
        if not response.pose_stamped:
            raise NodeError(f"where {tip} is: {response.error_code.message}")
        found = response.pose_stamped[0]
        pose = pose_value(found.pose)
        if not isinstance(pose, RigidTransform):
            raise NodeError(f"where {tip} is: {pose}")
        return pose, found.header.frame_id

    def joints(self) -> tuple[str, dict[str, float]]:
        """Return the robot's name, and the measured positions of its joints by name.

        Raises:
            NodeError: The node does not answer, or serves no planning scene.
        """
        scene = self._call(self._scene, GetPlanningScene.Request()).scene
        state = scene.robot_state.joint_state
        return scene.robot_model_name, dict(zip(state.name, state.position, strict=True))

    # Motions --------------------------------------------------------------------------------------

    def move_to(
        self,
        target: RigidTransform | ArrayLike,
        frame: str = "",
        *,
        timeout: float | None = CLIENT.motion_timeout,
        wait: bool = True,
    ) -> Motion:
        """Move the tip to a pose.

        Args:
            target: A pose; or a (4, 4) matrix; or a position (3,), with the present orientation.
            frame: The frame of the pose; empty: the chain's root.
            timeout: Longest time until it has ended [s]; None: any.
            wait: Whether to wait for it; otherwise the motion that is returned is waited for.

        Raises:
            MotionError: The motion has ended elsewhere; the subclass and the text say how.
            NodeError: The node does not answer.
            ValueError: The target is none.
        """
        pose, frame = self._pose(target, frame)
        message = PoseStamped(pose=pose_message(pose))
        return self._pursue(message, frame, "target_pose", timeout, wait)

    def move_object(
        self,
        target: RigidTransform | ArrayLike,
        frame: str,
        *,
        timeout: float | None = CLIENT.motion_timeout,
        wait: bool = True,
    ) -> Motion:
        """Move what both hands hold, on a straight line, for a chain from one hand to the other.

        Args:
            target: A pose of the tool, as for `move_to`; the other hand keeps its pose to it.
            frame: The frame of the pose, which the hands do not move.
            timeout: As for `move_to`.
            wait: As for `move_to`, which also has the errors.
        """
        pose, frame = self._pose(target, frame)
        message = PoseStamped(pose=pose_message(pose))
        return self._pursue(message, frame, "target_object", timeout, wait)

    def _pose(self, target: RigidTransform | ArrayLike, frame: str) -> tuple[RigidTransform, str]:
        if isinstance(target, RigidTransform):
            return target, frame or self._status.values["root_link"]
        given = np.asarray(target, float)
        if given.shape == (4, 4):
            return RigidTransform.from_matrix(given), frame or self._status.values["root_link"]
        if given.shape != (3,):
            raise ValueError(
                "a target is a RigidTransform, a (4, 4) matrix or a position (3,), not an array of "
                f"shape {given.shape}"
            )
        here, root = self.where(frame)
        return RigidTransform.from_rotation_translation(here.rotation, given), root

    def look_at(
        self,
        point: Sequence[float],
        frame: str = "",
        *,
        timeout: float | None = CLIENT.motion_timeout,
        wait: bool = True,
    ) -> Motion:
        """Point the arm's ray at a point (3,); arguments and errors as for `move_to`."""
        message = PointStamped()
        message.point.x, message.point.y, message.point.z = map(float, point)
        frame = frame or self._status.values["root_link"]
        return self._pursue(message, frame, "target_point", timeout, wait)

    def _pursue(
        self, message: Any, frame: str, name: str, timeout: float | None, wait: bool
    ) -> Motion:
        publisher = self._publisher(type(message), name)
        message.header.frame_id = frame
        stamp = message.header.stamp = time_message(self._next_stamp())
        pursuit = Pursuit(name, f"{stamp.sec}.{stamp.nanosec:09}")
        return self._start(pursuit, timeout, wait, lambda: publisher.publish(message))

    def _now(self) -> int:
        now = int(self._node.get_clock().now().nanoseconds)
        if not now:
            raise NodeError("use_sim_time is true, and no time has come on /clock")
        return now

    @property
    def time(self) -> float:
        """The time of ROS [s]."""
        return 1e-9 * self._now()

    def _next_stamp(self) -> int:
        """Return the present time [ns], later than every one before: it names a target."""
        now = self._now()
        with self._news:
            self._last_stamp = max(now, self._last_stamp + 1)
            return self._last_stamp

    def _start(
        self, pursuit: Pursuit, timeout: float | None, wait: bool, send: Callable[[], object]
    ) -> Motion:
        motion = Motion(self, pursuit, timeout)
        with self._news:
            self._motions.add(motion)
            self._newest = motion
        send()
        if wait:
            motion.wait()
        return motion

    def wait(self) -> Status:
        """Wait for the motion that was started last; return the status that says it is there.

        Raises:
            MotionError: As `Motion.wait`.
            NodeError: The node is not heard any more.
        """
        return self._status if self._newest is None else self._newest.wait()

    def follow(
        self,
        targets: Iterable[RigidTransform | ArrayLike],
        frame: str = "",
        *,
        period: float = 0.1,
        timeout: float | None = CLIENT.motion_timeout,
    ) -> None:
        """Follow poses that come one after the other, and wait for the arm at the last one.

        Args:
            targets: Poses, as for `move_to`.
            frame: As for `move_to`.
            period: Time between two of them [s].
            timeout: Longest time for the last one [s].

        Raises:
            MotionError: As for `move_to`, of the last pose.
        """
        motion: Motion | None = None
        due = time.monotonic()
        for target in targets:
            if motion is not None:
                self.forget(motion)
            motion = self.move_to(target, frame, timeout=timeout, wait=False)
            due += period
            time.sleep(max(due - time.monotonic(), 0.0))
        if motion is not None:
            motion.wait()

    def chunk(
        self,
        names: Sequence[str],
        times: ArrayLike,
        positions: ArrayLike,
        *,
        timeout: float | None = CLIENT.motion_timeout,
        wait: bool = True,
    ) -> Motion:
        """Move the joints through positions at given times; the arm rests at the last ones.

        A newer chunk continues the motion from where the one before has led the arm.

        Args:
            names: Names of k of the chain's joints.
            times: From now on, increasing (n,) [s]; what is past is skipped.
            positions: At these times (n, k) [rad or m].
            timeout: As for `move_to`.
            wait: As for `move_to`, which also has the errors.
        """
        message = JointTrajectory(joint_names=list(names))
        for when, row in zip(np.asarray(times, float), np.asarray(positions, float), strict=True):
            point = JointTrajectoryPoint(positions=row.tolist())
            point.time_from_start = duration_message(when)
            message.points.append(point)
        return self._pursue(message, "", "joint_chunk", timeout, wait)

    def jog(
        self,
        linear: Sequence[float] = (0.0, 0.0, 0.0),
        angular: Sequence[float] = (0.0, 0.0, 0.0),
        frame: str = "",
        *,
        seconds: float,
    ) -> None:
        """Move the tip at a velocity for a time; then it comes to rest.

        Args:
            linear: Velocity (3,) [m/s].
            angular: Angular velocity (3,) [rad/s].
            frame: The frame of their axes; empty: the chain's root.
            seconds: How long [s].

        Raises:
            StoppedError: The arm was stopped.
            TargetRefusedError: The node has refused a twist, or has taken none.
            NodeError: The node is not heard any more.
        """
        message = TwistStamped()
        message.header.frame_id = frame or self._status.values["root_link"]
        v, w = message.twist.linear, message.twist.angular
        v.x, v.y, v.z = map(float, linear)
        w.x, w.y, w.z = map(float, angular)
        twists = self._publisher(TwistStamped, "twist")
        has, end = self._since_now("twist"), time.monotonic() + seconds
        while time.monotonic() < end:
            status = self._status
            if has("refused"):
                raise TargetRefusedError(status.values["last_refusal.twist"], status)
            if status.state in ENDED_STATES:
                raise StoppedError(status.message, status)
            if self.is_silent:
                raise NodeError(NODE_UNHEARD)
            twists.publish(message)
            time.sleep(1.0 / CLIENT.twist_rate)
        twists.publish(TwistStamped(header=message.header))  # at rest
        end = time.monotonic() + CLIENT.answer_timeout  # its frame may be waited for
        status = self.wait_for(lambda: has("accepted") or has("refused"), end)
        if not has("accepted"):
            why = status.values.get("last_refusal.twist", status.message)
            raise TargetRefusedError(f"no twist was taken: {why}", status)

    def _since_now(self, name: str) -> Callable[[str], bool]:
        """Return what tells whether an input has "accepted", or "refused", anything since now."""
        counts = {what: self._status.count(f"{what}.{name}") for what in ("accepted", "refused")}
        return lambda what: self._status.count(f"{what}.{name}") > counts[what]

    def home(self, *, timeout: float | None = CLIENT.motion_timeout, wait: bool = True) -> Motion:
        """Move to the posture `home`; as `move_to`."""

        def call() -> None:
            response = self._call(self._home, Trigger.Request())
            if not response.success:
                raise TargetRefusedError(response.message, self._status)

        return self._start(self._unstamped("home"), timeout, wait, call)

    def go_to(
        self, posture: str, *, timeout: float | None = CLIENT.motion_timeout, wait: bool = True
    ) -> Motion:
        """Move to a posture of the node, by its name; as `move_to`."""
        publisher, message = self._publisher(String, "posture"), String(data=posture)
        pursuit = self._unstamped("posture")
        return self._start(pursuit, timeout, wait, lambda: publisher.publish(message))

    def _unstamped(self, name: str) -> Pursuit:
        """Return who judges a target without a stamp, which is about to be sent."""
        counts = (self._status.count(f"{what}.{name}") for what in ("accepted", "refused"))
        return Pursuit(name, None, *counts)

    def go(self) -> None:
        """Let the arm go to the target that waits for it, with `follow_drag: confirm`.

        Raises:
            TargetRefusedError: Nothing waits, or the preview does not hold any more.
            NodeError: The node does not answer.
        """
        response = self._call(self._go, Trigger.Request())
        if not response.success:
            raise TargetRefusedError(response.message, self._status)

    def grip(
        self, opening: float, *, timeout: float = CLIENT.answer_timeout, wait: bool = True
    ) -> str:
        """Move the gripper, and wait until it has come to rest.

        Args:
            opening: 0 closed, 1 open.
            timeout: Longest time [s].
            wait: Whether to wait.

        Returns:
            "REACHED"; "STALLED": something holds it; "SENT": nothing tells where it is.

        Raises:
            TargetRefusedError: The node has refused it, for there is no controller, or it is
                stopped.
            NotReachedError: The controller has refused it, or given up.
            StoppedError: It was stopped on its way.
            MotionTimeoutError: The time is over.
        """
        publisher = self._publisher(Float64, "gripper")
        has = self._since_now("gripper")

        def over() -> bool:
            rests = self._status.values.get("gripper") != "MOVING"
            return has("refused") or (has("accepted") and rests)

        publisher.publish(Float64(data=float(opening)))
        if not wait:
            return "SENT"
        status = self.wait_for(over, time.monotonic() + timeout)
        text = status.values.get("gripper_text", status.message)
        if has("refused"):
            raise TargetRefusedError(status.values["last_refusal.gripper"], status)
        if not over():
            raise MotionTimeoutError(f"the gripper is not there in time: {text}", status)
        state = status.values["gripper"]
        if state == "FAILED":
            raise NotReachedError(text, status)
        if state == "STOPPED":
            raise StoppedError(text, status)
        return state

    def stop(self) -> None:
        """Brake, and refuse targets until `enable`; return once the arm rests.

        Raises:
            NodeError: The node does not answer, or the arm does not come to rest.
        """
        self._call(self._stop, Trigger.Request())
        status = self.wait_for(
            lambda: self._status.state in ENDED_STATES, time.monotonic() + CLIENT.answer_timeout
        )
        if status.state not in ENDED_STATES:
            raise NodeError(f"the arm does not come to rest: {status.message}")

    def enable(self) -> None:
        """Accept targets again.

        Raises:
            NodeError: The node does not answer, or is not active.
        """
        self._call(self._enable, SetBool.Request(data=True))
        end = time.monotonic() + CLIENT.answer_timeout
        status = self.wait_for(lambda: self._status.state not in ENDED_STATES, end)
        if status.state in ENDED_STATES:
            raise NodeError(f"the arm takes no targets: {status.message}")
