# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node's arm without a ROS around it: what may happen to it, in any order, and what may not.

`Arm` drives the highest object of the package that takes time as an argument, `Robot` in
`ros/loaded_robot.py`, the way `ik_node` does. Each step is a list that JSON holds, a name and its
arguments; after each control period the oracle looks at every command.
"""

import contextlib
import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from fuzz_inputs import any_float, name, number, stamp
from fuzz_messages import (
    CHAIN,
    HOME,
    STEADY,
    check_text,
    fill_header,
    jog_message_of,
    make_joint_jog,
    make_point,
    make_pose,
    make_twist,
    point_message_of,
    pose_message_of,
    twist_message_of,
)
from fuzz_parameters import ParameterNode
from geometry_msgs.msg import TransformStamped
from moveit_msgs.msg import CartesianTrajectory, CartesianTrajectoryPoint
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Bool, Float64, String
from tf2_ros import TransformException
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from basis_ik.arm.chain_state import LATCHES, ChainState, Event, State
from basis_ik.arm.execution.stream_execution import STREAM_TUNING
from basis_ik.arm.limiter import Motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.measured import StateStamp
from basis_ik.arm.moment import Moment
from basis_ik.arm.pipeline import Solved
from basis_ik.collision.world import World
from basis_ik.errors import BasisIkError
from basis_ik.ros.boundary import Boundary
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.loaded_robot import Robot, read_description
from basis_ik.ros.outputs.trajectory_messages import to_command
from basis_ik.ros.parameters import ik_parameters
from basis_ik.ros.parameters.parameters import Parameters
from basis_ik.ros.periodic_spinner import Inputs
from basis_ik.ros.sim_clock import SIM_CLOCK
from basis_ik.ros.speed_override import SpeedOverride

URDF = (Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text()
OTHER = URDF.replace('name="ur5e"', 'name="other"', 1)
BAD_DESCRIPTIONS = (
    "",
    "<robot",
    URDF[: len(URDF) // 2],
    URDF.replace("revolute", "rotary"),
)
DESCRIPTIONS = {}  # that were read, by their texts
BEGIN = 1_700_000_000 * 10**9  # ns
PERIOD = 0.01
INTERFACES = ("position", "joint_trajectory", "velocity", "joint_state")
LATCHED = tuple(LATCHES.values())
FAST = {
    "max_velocity_scaling_factor": 1.0,
    "max_acceleration_scaling_factor": 1.0,
    "trajectory_replacement": "not_allowed",
    "home": list(HOME.positions),
    "joy.axes": [0, 1, 2, 3, -1, 5],
    "joy.enable_button": 1,
    "postures.ready": [0.3, -1.2, 1.2, -1.6, -1.5, 0.2],
}
SLACK = 1e-9
# Of the limits of acceleration and jerk, by differences of rounded numbers.
ROUNDING = 1.0 + 1e-6
MERGED = 1e-6  # s: of samples of a window that are nearer than this one is left out
# Steps of inputs that begin at once.
STREAMS = (
    "twist", "plain_twist", "joy", "joint_jog", "clutch", "device_pose", "joint_chunk",
    "pose_chunk",
)  # fmt: skip
GOES = ("go", *STREAMS)  # steps that do not wait for a go
CHANGES = {  # that may come at run time, and values that they may have
    "speed_override": (0.0, 0.3, 1.0, 1e-4),
    "max_velocity_scaling_factor": (1.0, 0.1, 1e-3),
    "max_acceleration_scaling_factor": (1.0, 0.1, 1e-3),
    "path": ("joint", "straight", "straight_or_joint"),
    "follow_drag": ("live", "release", "confirm"),
    "singularities": ("pass", "slow", "stop"),
    "solver": ("descent", "fabrik"),
    "position_only_ik": (True, False),
    "joint_state_timeout": (0.5, 0.05),
    "incoming_command_timeout": (0.1, 1.0),
    "command_in_type": ("speed_units", "unitless"),
    "max_linear_speed": (0.0, 0.2, 1e-3),
    "max_angular_speed": (0.0, 0.5),
    "tool_frame": ("", "wrist_2_link", "flange", "nowhere"),
    "goal_tolerance": (0.01, 1e-6),
    "angular_frame": ("", "tool0", "cart", "nowhere"),
    "plain_frame": ("", "tool0", "cart", "nowhere"),
    "device.axes": ("", "tool0", "cart", "nowhere"),
    "device.rotational_scale": (1.0, 0.0, 3.0),
    **{
        f"filter.{name}.{key}": values
        for name, bands in (
            ("target_pose", ([], [0.01, 0.02])),
            ("device_pose", ([], [0.01, 0.02])),
            ("joint_target", ([], [0.01])),
        )
        for key, values in (("outliers", (False, True)), ("lag", (0.0, 0.1)), ("dead_band", bands))
    },
}


class Times(Boundary):
    """The node's boundary, with the clocks of an arm."""

    def __init__(self, arm):
        self._arm = arm

    def read(self, name, live):
        now = self._arm.now
        times = {"steady": now.loop, "steady_ns": round(1e9 * now.loop), "clock": now.clock}
        return {**times, "moment": now}[name] if name in (*times, "moment") else live()

    def sleep(self, seconds):
        self._arm.sleep(seconds)

    def thread(self, name):
        """Let all work be done at once, so that a sequence can be repeated."""
        return Solved.at_once


class Node(ParameterNode):
    """What the package asks of a node; keeps what is published and logged."""

    def __init__(self, given, arm):
        super().__init__(given)
        self._arm = arm
        self.subscribers, self.other_publishers, self.subscriptions = 1, 1, []
        self.inputs, self.world = Inputs(), World()

    def get_clock(self):
        return self

    ros_time_is_active = False

    def now(self):
        return SimpleNamespace(
            nanoseconds=self._arm.now.clock,
            to_msg=lambda: JointTrajectoryControllerState().header.stamp,
        )

    def create_publisher(self, kind, topic, *_):
        def publish(message):
            if topic.endswith("status"):
                self._arm.on_status(message)
            else:
                self._arm.take(message)

        return SimpleNamespace(
            topic_name=topic, publish=publish, get_subscription_count=lambda: self.subscribers
        )

    def create_subscription(self, kind, topic, callback, *_, **__):
        subscription = SimpleNamespace(topic_name=topic, callback=callback)
        self.subscriptions.append(subscription)
        return subscription

    def destroy_subscription(self, subscription):
        self.subscriptions.remove(subscription)

    def create_timer(self, *_, **__):
        return None

    def destroy_publisher(self, _):
        pass

    destroy_timer = destroy_publisher

    def get_logger(self):
        return SimpleNamespace(
            info=self._arm.on_log, warning=self._arm.on_log, error=self._arm.on_log
        )

    def resolve_topic_name(self, topic):
        return f"/{topic}"

    resolve_service_name = resolve_topic_name

    def get_name(self):
        return "basis_ik"

    def get_namespace(self):
        return "/"

    def get_fully_qualified_name(self):
        return "/basis_ik"

    def get_node_names_and_namespaces(self):
        return [("basis_ik", "/")]

    def count_publishers(self, topic):
        return self.other_publishers

    def get_publishers_info_by_topic(self, topic):
        names = ("basis_ik", "rival\n", "x" * 255)[: self.other_publishers]
        return [SimpleNamespace(node_namespace="/", node_name=each) for each in names]


class Arm:
    """An arm that obeys at once, the node that commands it, and the oracle.

    Args:
        interface: As of the parameter `command_interface`.

    Attributes:
        outcomes: In how many steps something was refused, by the reason; of the others, "taken".
    """

    def __init__(self, interface):
        self.now = Moment(STEADY, BEGIN)
        self.outcomes, self._refused, self._reason = Counter(), 0, "taken"
        self.sent, self.said = [], []
        self.publishing = self.publishing_state = True
        self.node = Node({**FAST, "command_interface": interface}, self)
        self.node.boundary = Times(self)
        self.parameters = Parameters(self.node)
        self.parameters.declare(ik_parameters.NODE_PARAMETERS)
        self.parameters.declare(ik_parameters.CHAIN_PARAMETERS)
        self.parameters.declare_named(ik_parameters.POSTURE)
        self.buffer, self.states = FrameBuffer(), {"": ChainState()}
        self.place = np.array(HOME.positions)
        self.limits = MotionLimits.of_chain(CHAIN)
        self.streams_windows, self.is_velocity = (
            interface == "joint_trajectory", interface == "velocity"
        )  # fmt: skip
        self._window = None  # stamp [ns] and Motion that the arm follows
        self._history = []  # of commands, while one follows the other
        self._departed = False  # whether joints were found not to follow
        self._commanded_at = -math.inf
        self.robot, self.active, self.successor = None, False, None
        self.text = URDF
        self.step(["configure"])
        self.step(["activate"])
        self.step(["cycle", 60])

    @property
    def controller(self):
        return self.robot.controllers[0]

    @property
    def arm(self):
        return self.controller.arm

    @property
    def state(self):
        return self.states[""]

    # What happens ----------------------------------------------------------------------------

    def step(self, step):
        """Let something happen; then look whether all is as it must be."""
        latch, self._reason = self.state.latch, "taken"
        arm, placements = self._waiting_arm()
        getattr(self, f"_{step[0]}")(*step[1:])
        if arm is not None and step[0] not in GOES:
            assert arm.targets.placements == placements, f"{step[0]} goes unconfirmed"
        if latch is not None and step[0] != "enable":
            assert self.state.latch is not None, f"{step[0]} has ended {latch.name}"
        self._check_state()
        self.outcomes[self._reason] += 1

    def _waiting_arm(self):
        """Return the arm and how many targets it has pursued, if all others wait for a go."""
        arm = None if self.robot is None else self.arm
        if arm is None or arm.settings.follow_drag != "confirm":
            return None, 0
        waits = all(each.previewed for each in arm.targets._line)
        return (arm, arm.targets.placements) if waits else (None, 0)

    def _check_state(self):
        state = self.state
        assert (state.state is State.UNCONFIGURED) == (self.robot is None)
        assert state.latch is not State.UNSAFE, state.why
        check_text(state.why)
        check_text(state.why_not)
        if state.state in LATCHED:
            assert state.state is state.latch
        if state.has_target:
            assert state.active
            assert state.latch is None
            assert not state.unmet
        if self.robot is not None:
            refusals = self.arm.refusals
            if refusals.counts.total() > self._refused:
                newest = list(refusals.last.values())[-1].refused
                self._refused, self._reason = refusals.counts.total(), newest.reason.name
                check_text(str(newest))

    def _configure(self):
        """As `IkNode._configure`: the present robot is destroyed first."""
        self._unload()
        self._adopt(self._make(self.text))

    def _make(self, text):
        if text not in DESCRIPTIONS:  # to prepare its chain takes long
            DESCRIPTIONS[text] = read_description(text, [""], self.parameters)
        return Robot(self.node, DESCRIPTIONS[text], self.parameters, self.buffer, self.states)

    def _adopt(self, new):
        self.robot, self._refused = new, 0
        self.override = SpeedOverride(self.node, self.controller)
        self.state.handle(Event.CONFIGURE)

    def _unload(self):
        self._deactivate()
        if self.robot is not None:
            self.robot.come_to_rest(2.0, PERIOD)
            aged = 0.5 * self.arm.settings.joint_state_timeout
            silent = self.arm.execution.is_silent or self.arm.measured.age(self.now.loop) > aged
            assert self.arm.resting or silent, "the arm has not come to rest in two seconds"
        self.state.handle(Event.COME_TO_REST)
        self.state.handle(Event.CLEAN_UP)
        for each in (self.robot, self.successor):
            if each is not None:
                each.destroy()
        self.robot = self.successor = None
        self._look(State.UNCONFIGURED)  # velocities of zero
        self._history = []

    def _cleanup(self):
        self._unload()

    def _activate(self):
        if self.robot is not None and not self.active:
            try:
                self.robot.check_alone()
            except BasisIkError as error:
                check_text(str(error))
                return
            self.robot.activate()
            self.active = True

    def _deactivate(self):
        self.active = False
        if self.robot is not None:
            self.robot.deactivate()

    def _describe(self, which):
        """Another description, or a bad one, or the same: as `IkNode._take`."""
        text = (URDF, OTHER, *BAD_DESCRIPTIONS)[which]
        if text == self.text:
            return
        try:
            new = self._make(text)
        except BasisIkError as error:
            check_text(str(error))
            return
        self.text = text
        if self.robot is None:
            new.destroy()
            return
        if self.successor is not None:
            self.successor.destroy()
        self.successor = new
        self.robot.deactivate()

    def _succeed(self):
        self.robot.destroy()
        new, self.successor = self.successor, None
        self._adopt(new)
        self._look(State.UNCONFIGURED)
        self._history = []
        if self.active:
            self.robot.activate()

    def _stop(self):
        if self.robot is not None:
            self.arm.stop()
            assert self.state.latch is State.STOPPED

    def _enable(self):
        if self.robot is not None:
            self.arm.enable()
            assert self.state.latch is None

    def _home(self):
        if self.robot is not None:
            check_text(self.arm.go_home() or "")

    def _go_to(self, positions):
        if self.robot is not None:
            check_text(self.arm.go_to(positions) or "")

    def _pose(self, case, held=False):
        if self.robot is not None:
            self.controller.take_pose(pose_message_of(case), held=held)

    def _point(self, case, held=False):
        if self.robot is not None:
            self.controller.take_point(point_message_of(case), held=held)

    def _posture(self, name):
        if self.robot is not None:
            self.controller._on_posture(String(data=name))

    def _go(self):
        if self.robot is not None:
            check_text(self.controller.go() or "")

    def _leave(self):
        if self.robot is not None:
            check_text(self.arm.leave() or "")

    def _twist(self, case):
        if self.robot is not None:
            self.controller._on_twist(twist_message_of(case))

    def _plain_twist(self, case):
        if self.robot is not None:
            self.controller._on_plain_twist(twist_message_of(case).twist)

    def _joy(self, case):
        if self.robot is not None:
            message = Joy(axes=case["axes"], buttons=case["buttons"])
            fill_header(message.header, "joy", case["stamp"])
            self.controller._on_joy(message)

    def _joint_target(self, names, positions, when):
        if self.robot is not None:
            message = JointState(name=names, position=positions)
            fill_header(message.header, "", when)
            self.controller._on_joint_target(message)

    def _joint_chunk(self, names, times, rows, when):
        if self.robot is not None:
            message = JointTrajectory(joint_names=names)
            for time, row in zip(times, rows, strict=True):
                point = JointTrajectoryPoint(positions=row)
                point.time_from_start.sec, point.time_from_start.nanosec = time
                message.points.append(point)
            fill_header(message.header, "", when)
            self.controller._on_joint_chunk(message)

    def _pose_chunk(self, times, cases, moves):
        if self.robot is not None:
            message = CartesianTrajectory(tracked_frame=moves)
            for time, case in zip(times, cases, strict=True):
                point = CartesianTrajectoryPoint()
                point.point.pose = pose_message_of(case).pose
                point.time_from_start.sec, point.time_from_start.nanosec = time
                message.points.append(point)
            if cases:
                message.header = pose_message_of(cases[0]).header
            self.controller._on_pose_chunk(message)

    def _clutch(self, held):
        if self.robot is not None:
            self.controller._on_clutch(Bool(data=held))

    def _device_pose(self, case):
        if self.robot is not None:
            self.controller._on_device_pose(pose_message_of(case))

    def _joint_jog(self, case):
        if self.robot is not None:
            self.controller._on_joint_jog(jog_message_of(case))

    def _speed_override(self, value):
        if self.robot is not None:
            self.override._on_message(Float64(data=value))

    def _parameter(self, key, value):
        result = self.node.set_parameters([SimpleNamespace(name=key, value=value)])
        check_text(result.reason)

    def _joint_state(self, names, positions, when):
        """A joint state from an unknown publisher."""
        if self.robot is not None:
            self._receive_state(names, positions, *when)

    def _receive_state(self, names, positions, sec, nanosec):
        timeout = round(1e9 * self.parameters["joint_state_timeout"])
        when = StateStamp(sec, nanosec, self.now.clock, timeout)
        self.arm.take_joint_state(names, positions, self.now.loop, when)

    def _talk(self, publishing):
        """Let the driver be silent, or talk again."""
        self.publishing = publishing

    def _push(self, way):
        """Let others move the arm, or hold it back."""
        place = self.place + np.array(way)
        self.place = np.clip(place, CHAIN.lower - 0.3, CHAIN.upper + 0.3)
        self._window = None

    def _controller(self, subscribers, publishers, publishing_state):
        """Set the numbers of subscribers and publishers, and whether the state is published."""
        self.node.subscribers, self.node.other_publishers, self.publishing_state = (
            subscribers,
            publishers,
            publishing_state,
        )

    def _controller_state(self, case):
        """A state of the controller that may be any."""
        message = JointTrajectoryControllerState(joint_names=case["names"])
        message.header.stamp.sec, message.header.stamp.nanosec = case["stamp"]
        message.speed_scaling_factor = case["scaling"]
        message.reference = JointTrajectoryPoint(positions=case["positions"])
        for each in self.node.subscriptions:
            if each.topic_name.endswith("controller_state"):
                each.callback(message)

    def _frame(self, case):
        """A transform, of a frame that moves or stands, of any numbers."""
        message = TransformStamped(child_frame_id=case["child"])
        message.header.frame_id = case["parent"]
        message.header.stamp.sec, message.header.stamp.nanosec = case["stamp"]
        t, q = message.transform.translation, message.transform.rotation
        t.x, t.y, t.z = case["translation"]
        q.x, q.y, q.z, q.w = case["rotation"]
        with contextlib.suppress(TransformException):
            set_ = self.buffer.set_transform_static if case["static"] else self.buffer.set_transform
            set_(message, "somebody")

    def _gap(self, seconds):
        """Let time pass in which the node does nothing: stopped, or starved."""
        self.now = Moment(self.now.loop + seconds, self.now.clock + round(1e9 * seconds))
        self._follow()

    def _clock(self, seconds):
        """Set the system's clock, which the loop's does not follow."""
        self.now = Moment(self.now.loop, max(self.now.clock + round(1e9 * seconds), 0))
        self._window = None
        if abs(seconds) > SIM_CLOCK.jump:
            if seconds < 0.0:
                self.buffer.clear()
            if self.robot is not None:
                self.controller.take_clock_jump()
        elif self.streams_windows:
            self._history = []  # the next stamps cannot be checked

    def _cycle(self, periods):
        """Let control periods go by, each a little early or late."""
        for k in range(periods):
            late = 1e-3 * ((k * 7919) % 5 - 2) / 2.0
            self.now = Moment(
                STEADY + (round((self.now.loop - STEADY) / PERIOD) + 1) * PERIOD + late,
                self.now.clock + round(1e9 * PERIOD),
            )
            self._period()

    def sleep(self, seconds):
        """What `Robot.come_to_rest` does between two periods."""
        self._look(State.BRAKING)
        self.now = Moment(self.now.loop + seconds, self.now.clock + round(1e9 * seconds))
        self._follow()

    # The loop --------------------------------------------------------------------------------

    def _period(self):
        self._follow()
        if self.robot is None:
            return
        if self.publishing:
            seconds, nanoseconds = divmod(self.now.clock, 10**9)
            self._receive_state(list(CHAIN.joint_names), self.place.tolist(), seconds, nanoseconds)
        if self.publishing_state:
            names = list(CHAIN.joint_names)
            case = {"names": names, "positions": self.place.tolist(), "scaling": 1.0}
            self._controller_state({**case, "stamp": divmod(self.now.clock, 10**9)})
        before = self.state.state
        self.robot.cycle(self.now)
        self._look(before)
        self._check_state()
        if self.successor is not None and self.robot.resting:
            self._succeed()

    def take(self, message):
        """Take what the node sends to the controller."""
        self.sent.append(message)

    def on_status(self, message):
        for text in (message.message, *(pair.value for pair in message.values)):
            check_text(text)

    def on_log(self, text, **_):
        check_text(text)
        self._departed |= "from where it was commanded" in text

    # The oracle ------------------------------------------------------------------------------

    def _look(self, before):
        """Judge what a control period has sent."""
        sent, self.sent = self.sent, []
        if before in LATCHED and self.state.state in LATCHED:
            assert sent == [], "a command in a latched state"
        if before is State.INACTIVE and self.state.state is State.INACTIVE:
            assert sent == [], "a command while inactive"
        assert len(sent) <= 1
        if self.is_velocity:
            for message in sent:
                velocity = np.array(message.data)
                assert velocity.shape == self.place.shape
                assert (np.abs(velocity) <= CHAIN.velocity * ROUNDING).all()  # NaN fails, too
            command = None if self.robot is None else self.arm.pipeline.command
            if sent and command is not None:
                self.place = command
            return
        if self._departed:  # joints that do not follow are commanded to stay
            self._window, self._history = None, self._history[-1:]
        self._departed = False
        for message in sent:
            if self.streams_windows:
                self._check_window(message)
            else:
                self._check_command(message)
        if not sent and len(self._history) > 1 and not self.streams_windows:
            way = np.abs(self._history[-1] - self._history[-2])
            assert (way <= SLACK).all(), f"silence at full speed: {way.max() / PERIOD}"
            self._history = []

    def _check_command(self, message):
        names = getattr(message, "name", None)
        assert names in (None, list(CHAIN.joint_names))
        command = np.array(message.data if names is None else message.position)
        assert command.shape == self.place.shape
        here = self.arm.measured.positions()
        before = self._history[-1] if self._history else here
        nearer = np.abs(command - here) < np.abs(command - before)  # not if it is unknown
        stood = self.now.loop - self._commanded_at > (STREAM_TUNING.most_missed + 1) * PERIOD
        if len(self._history) == 1:  # a joint that does not follow may restart
            before = np.where(nearer, here, before)
            self._history = []
        elif not self._history or stood:  # it has stood there meanwhile, or was moved
            first = self.limits.jerk * PERIOD**3 / 6.0 + SLACK  # the farthest way from rest
            before = np.where(nearer & (np.abs(command - before) > first), here, before)
            self._history = [before] * 4
        self._commanded_at = self.now.loop
        self._check_step(before, command)
        self._history = [*self._history[-3:], command]
        for order, most in ((2, self.limits.acceleration), (3, self.limits.jerk)):
            if len(self._history) <= order:
                break
            rate = np.abs(np.diff(self._history, order, axis=0)[-1]) / PERIOD**order
            noise = 2.0**order * 1e-15 * np.abs(command).max() / PERIOD**order
            assert (rate <= most * ROUNDING + noise).all(), (order, rate / most)
        self.place = command

    def _check_step(self, before, command, periods=1.0):
        """A command is finite, within the limits or on the way there, and not too far."""
        assert np.isfinite(command).all()
        low, high = CHAIN.lower, CHAIN.upper
        assert ((command >= low - SLACK) | ((before < low) & (command >= before))).all()
        assert ((command <= high + SLACK) | ((before > high) & (command <= before))).all()
        step = np.abs(command - before)
        assert (step <= CHAIN.velocity * PERIOD * periods + SLACK).all(), step / CHAIN.velocity

    def _check_window(self, data):
        """Judge a window by itself, and where it takes over from the one before."""
        message = deserialize_message(data, JointTrajectory)
        command = to_command(message, 0)
        assert command.joint_names == CHAIN.joint_names
        motion = Motion(
            *(np.array(each) for each in list(zip(*command.waypoints, strict=True))[:4])
        )
        for each in motion:
            assert np.isfinite(each).all()
        times = motion.times
        assert times[0] == 0.0
        assert (np.diff(times) > 0.0).all()
        assert not motion.velocities[-1].any()
        widths = np.diff(times)[:, np.newaxis] + 1e-9  # times are rounded to 1 ns
        for before, after, width in zip(
            motion.positions, motion.positions[1:], widths[:, 0], strict=False
        ):
            self._check_step(before, after, width / PERIOD)
        assert (np.abs(motion.velocities) <= CHAIN.velocity * ROUNDING + SLACK).all()
        # Without a stamp it begins now.
        stamp = message.header.stamp
        begin = stamp.sec * 10**9 + stamp.nanosec or self.now.clock
        if begin + 1e9 * times[-1] < self.now.clock:
            return  # a controller refuses what is over
        new = self._find_new(begin, motion)
        rates = np.abs(np.diff(motion.velocities, axis=0)) / widths
        assert (rates <= self.limits.acceleration * ROUNDING + 1e-6)[new].all()
        rates = np.abs(np.diff(motion.accelerations, axis=0)) / (widths + MERGED)
        assert (rates <= self.limits.jerk * ROUNDING + 1e-4)[new].all()
        if self._window is not None and self._history:
            # By now the arm is on both, unless the new one begins later.
            joins = max(self.now.clock, begin)
            was, is_ = (w.at(1e-9 * (joins - s)) for s, w in (self._window, (begin, motion)))
            step = np.abs(was[:, 0] - is_[:, 0])
            assert (step <= CHAIN.velocity * PERIOD + 1e-6).all(), "a leap from window to window"
        self._history = [motion.positions[0]]
        self._window = begin, motion
        self._follow()

    def _find_new(self, begin, motion):
        """Return which intervals are not on the way of the window before, which was judged.

        Where a window leaves that way between two samples, the state there is the controller's,
        whose interpolation exceeds the limits slightly.
        """
        new = np.ones(len(motion.times) - 1, dtype=bool)
        if self._window is not None:
            stamp, old = self._window
            for k, time in enumerate(motion.times[1:]):
                there = old.at(time + 1e-9 * (begin - stamp))
                rounding = SLACK + 1e-9 * CHAIN.velocity  # times are rounded to 1 ns
                new[k] = (np.abs(there[:, 0] - motion.positions[k + 1]) > rounding).any()
                if new[k]:
                    break
        return new

    def _follow(self):
        """Move along the last window."""
        if self._window is None:
            return
        stamp_, motion = self._window
        elapsed = 1e-9 * (self.now.clock - stamp_)
        self.place = motion.at(elapsed)[:, 0]
        if elapsed > motion.times[-1]:
            self._window, self._history = None, []

    # After everything ------------------------------------------------------------------------

    def recover(self):
        """Whatever has happened: with all in order again, and enabled, a good target is pursued."""
        if self.robot is None:
            self.step(["configure"])
        for key, value in (
            ("tool_frame", ""), ("follow_drag", "live"), ("speed_override", 1.0),
            ("joint_state_timeout", 0.5),
            ("max_velocity_scaling_factor", 1.0), ("max_acceleration_scaling_factor", 1.0),
            ("max_linear_speed", 0.0), ("max_angular_speed", 0.0),
        ):  # fmt: skip
            self.step(["parameter", key, value])
        self.step(["controller", 1, 1, True])
        self.step(["talk", True])
        self.step(["cycle", 600])
        self.step(["activate"])
        self.step(["enable"])
        self.step(["cycle", 20])
        if self.state.state is State.BRAKING:  # as slowly as the motion began whose target is lost
            self.step(["cycle", 2000])
        assert self.state.state in (State.READY, State.ARRIVED, State.HOLDING, State.MOVING), (
            self.state.state, self.state.why_not
        )  # fmt: skip
        self.step(["go_to", (np.array(HOME.positions) + 0.1).tolist()])
        self.step(["cycle", 5])
        assert self.state.has_target, (self.state.state, self.state.why_not)


# What may happen, and how often -------------------------------------------------------------------


def _make_state(rng):
    names = list(CHAIN.joint_names)
    positions = [p + rng.choice((0.0, 0.02, 0.4)) for p in HOME.positions]
    kind = rng.randrange(4)
    if kind == 0:
        positions[rng.randrange(6)] = any_float(rng)
    elif kind == 1:
        names[rng.randrange(6)] = name(rng, (*CHAIN.joint_names, "x"), 0.5)
    elif kind == 2:
        del names[rng.randrange(6)]
    return [names, positions, stamp(rng, BEGIN)]


def _make_controller_state(rng):
    count = rng.choice((0, 5, 6, 6, 6))
    return {
        "names": [name(rng, CHAIN.joint_names) for _ in range(6)],
        "positions": [number(rng, -2.0, 2.0, 0.2) for _ in range(count)],
        "scaling": number(rng, 0.0, 1.0, 0.2),
        "stamp": stamp(rng, BEGIN),
    }


def _make_frame(rng):
    q = rng.choice(([0.0, 0.0, 0.0, 1.0], [0.6, 0.0, 0.8, 0.0], [0.0] * 4))
    return {
        "child": name(rng, ("cart", "far", "tool0", "base_link", "flange")),
        "parent": name(rng, ("base_link", "cart", "world", "tool0")),
        "stamp": stamp(rng, BEGIN),
        "translation": [number(rng, -0.6, 0.6) for _ in range(3)],
        "rotation": [number(rng, -1.0, 1.0, 1.0) for _ in range(4)] if rng.random() < 0.1 else q,
        "static": rng.random() < 0.3,
    }


def _make_parameter(rng):
    key = rng.choice(list(CHANGES))
    value = rng.choice(CHANGES[key]) if rng.random() < 0.8 else any_float(rng)
    return [key, value]


def _soon(case):
    """Remove the stamp of most inputs: the clock is elsewhere by then."""
    return {**case, "stamp": [0, 0]} if case["stamp"][0] >= BEGIN // 10**9 else case


def _parts(rng):
    """Return the parts of a twist, of which all are often zero."""
    return [number(rng, -0.5, 0.5) if rng.random() < 0.5 else 0.0 for _ in range(3)]


def _make_joy(rng):
    odd = rng.choice((0.0, 0.1))
    axes = [number(rng, -1.0, 1.0, odd) for _ in range(rng.choice((6, 6, 6, 8, 5, 0)))]
    # Axes are floats of 32 bits, which rclpy does not let be larger.
    axes = [each if not abs(each) > 1e38 else math.inf for each in axes]
    return {
        "axes": axes,
        "buttons": [rng.randrange(2) for _ in range(rng.choice((2, 2, 2, 1, 0)))],
        "stamp": rng.choice(([0, 0], stamp(rng, BEGIN))),
    }


def _make_joint_target(rng):
    names, positions, _ = _make_state(rng)
    return [names, positions, rng.choice(([0, 0], stamp(rng, BEGIN)))]


def _make_times(rng):
    """Return the times of a chunk's points [s, ns], which rarely do not increase."""
    times, time = [], rng.choice((0, 10**7, 10**8, -(10**9)))
    for _ in range(rng.choice((0, 1, 1, 2, 5, 16))):
        time += rng.choice((10**7, 5 * 10**7, 2 * 10**8) if rng.random() < 0.98 else (0, -(10**9)))
        times.append(list(divmod(time, 10**9)))
    if times and rng.random() < 0.05:
        times[-1] = [rng.randint(-(2**31), 2**31 - 1), rng.getrandbits(32)]
    return times


def _make_joint_chunk(rng):
    times, rows = _make_times(rng), []
    names, positions, _ = _make_state(rng)
    for _ in times:
        rows.append([each + rng.choice((0.0, 0.02, -0.05, 0.5)) for each in positions])
    return [names, times, rows, rng.choice(([0, 0], stamp(rng, BEGIN)))]


def _make_pose_chunk(rng):
    times = _make_times(rng)
    moves = name(rng, ("", "", "tool0", "flange", "elbow"))
    return [times, [_soon(make_pose(rng, BEGIN)) for _ in times], moves]


def _make_device_pose(rng):
    """Return a pose of a device that hardly moves, and that rarely is any pose."""
    pose = _soon(make_pose(rng, BEGIN))
    if rng.random() < 0.8:
        turn = rng.uniform(-0.1, 0.1)
        pose["frame"], pose["orientation"] = "device", [math.sin(turn), 0.0, 0.0, math.cos(turn)]
        pose["position"] = [rng.uniform(-0.02, 0.02) for _ in range(3)]
    return pose


STEPS = {
    "cycle": (14, lambda rng: [rng.choice((1, 1, 2, 5, 20, 60))]),
    "pose": (6, lambda rng: [_soon(make_pose(rng, BEGIN)), rng.random() < 0.5]),
    "point": (3, lambda rng: [_soon(make_point(rng, BEGIN)), rng.random() < 0.5]),
    "posture": (2, lambda rng: [name(rng, ("home", "ready", "x" * 300, ""))]),
    "go": (4, lambda rng: []),
    "leave": (1, lambda rng: []),
    "twist": (6, lambda rng: [_soon(make_twist(rng, BEGIN))]),
    "plain_twist": (2, lambda rng: [{**make_twist(rng, BEGIN), "linear": _parts(rng)}]),
    "joy": (4, lambda rng: [_make_joy(rng)]),
    "joint_target": (4, lambda rng: _make_joint_target(rng)),
    "joint_chunk": (4, _make_joint_chunk),
    "pose_chunk": (4, _make_pose_chunk),
    "clutch": (4, lambda rng: [rng.random() < 0.7]),
    "device_pose": (8, lambda rng: [_make_device_pose(rng)]),
    "joint_jog": (6, lambda rng: [_soon(make_joint_jog(rng, BEGIN))]),
    "go_to": (3, lambda rng: [[number(rng, -2.0, 2.0, 0.01) for _ in range(6)]]),
    "home": (1, lambda rng: []),
    "stop": (1, lambda rng: []),
    "enable": (3, lambda rng: []),
    "activate": (2, lambda rng: []),
    "deactivate": (1, lambda rng: []),
    "configure": (1, lambda rng: []),
    "cleanup": (1, lambda rng: []),
    "describe": (1, lambda rng: [rng.randrange(2 + len(BAD_DESCRIPTIONS))]),
    "speed_override": (2, lambda rng: [number(rng, 0.0, 1.0, 0.3)]),
    "parameter": (4, _make_parameter),
    "joint_state": (4, _make_state),
    "talk": (2, lambda rng: [rng.random() < 0.7]),
    "push": (1, lambda rng: [[rng.choice((0.0, rng.uniform(-0.5, 0.5))) for _ in range(6)]]),
    "controller": (
        2, lambda rng: [rng.choice((1, 1, 0)), rng.choice((1, 1, 2, 3)), rng.random() < 0.7]
    ),
    "controller_state": (2, lambda rng: [_make_controller_state(rng)]),
    "frame": (3, lambda rng: [_make_frame(rng)]),
    "gap": (2, lambda rng: [rng.choice((0.015, 0.04, 0.3, 3.0, 1e4))]),
    "clock": (1, lambda rng: [rng.choice((-0.5, 0.5, -5.0, 3600.0, 0.02, -1e6))]),
}  # fmt: skip
_KINDS = [kind for kind, (share, _) in STEPS.items() for _ in range(share)]
STEPS_OF_A_CASE = 40


def make_step(rng, kind=None):
    """Return a step of a kind, or of any."""
    kind = rng.choice(_KINDS) if kind is None else kind
    return [kind, *STEPS[kind][1](rng)]


def make_arm(rng):
    return {
        "interface": rng.choice(INTERFACES),
        "steps": [make_step(rng) for _ in range(STEPS_OF_A_CASE)],
    }


def run_arm(case):
    arm = Arm(case["interface"])
    arm.outcomes.clear()
    for step in case["steps"]:
        arm.step(step)
    outcomes = arm.outcomes.copy()
    arm.recover()
    return outcomes


# The state machine alone --------------------------------------------------------------------------

EVENTS = tuple(event.name for event in Event)
EVENTS_OF_A_CASE = 100


def make_chain_state(rng):
    return [rng.choice(EVENTS) for _ in range(EVENTS_OF_A_CASE)]


class Latch:
    """Invariants of a `ChainState`, independent of its table."""

    def __init__(self):
        self.chain = ChainState()

    def handle(self, event):
        chain = self.chain
        before, latch, active, unmet = (
            chain.state,
            chain.latch,
            chain.active,
            chain.unmet,
        )
        taken = chain.handle(event, f"why {event.name}" if event is Event.UNMET else "")
        if latch is not None and event is not Event.ENABLE:
            assert chain.latch is not None, "what is latched is left by enable alone"
        if not taken:
            assert (chain.state, chain.latch, chain.active, chain.unmet) == (
                before, latch, active, unmet
            )  # fmt: skip
        if chain.state in LATCHED:
            assert chain.latch is chain.state
        if before in LATCHED:
            brakes = event is Event.GO_ON and chain.state is State.BRAKING
            assert chain.state in (*LATCHED, State.INACTIVE) or brakes or event is Event.ENABLE
        if chain.state is State.MOVING and before is not State.MOVING:
            assert not chain.why_not
        if chain.has_target:
            assert chain.active
            assert chain.latch is None
            assert not chain.unmet
        if before is not State.UNCONFIGURED and chain.state is State.UNCONFIGURED:
            assert before is State.INACTIVE
        assert chain.resting or chain.active or chain.state is State.BRAKING
        if not chain.active:
            assert chain.state in (State.UNCONFIGURED, State.INACTIVE, State.BRAKING)
        return taken


def run_chain_state(case):
    latch, outcomes = Latch(), Counter()
    for each in case:
        outcomes["taken" if latch.handle(Event[each]) else "ignored"] += 1
    return outcomes
