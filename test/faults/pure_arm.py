# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""One chain of the node before an arm that obeys, in this process and in a time of the test's own.

The controller of the chain is the node's. The node itself is stood in for: its publishers keep what
is sent, its clock is the test's. Every command is judged by the oracle as it is sent.
"""

import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from rclpy.time import Time
from sensor_msgs.msg import JointState

from basis_ik.arm.chain_state import ChainState, Event, State
from basis_ik.arm.measured import StateStamp
from basis_ik.ros.boundary import present
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.convert import pose_message, transform_message
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.loaded_robot import read_description
from basis_ik.ros.parameters.ik_parameters import CHAIN_PARAMETERS, NODE_PARAMETERS
from basis_ik.ros.periodic_spinner import Inputs
from basis_ik.transforms.rigid import RigidTransform

UR5E = (Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text()
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
PERIOD = 0.01  # s
NS = 1_000_000_000
START = 10_000 * NS  # the node's clock in the beginning
FULL = {"max_velocity_scaling_factor": 1.0, "max_acceleration_scaling_factor": 1.0}
INTERFACE = {"command_interface": "joint_state"}  # names every joint in every command


def down(x, y=0.1, z=0.45):
    """A pose of the tip that the UR5e reaches from `HOME`."""
    return RigidTransform.from_rpy(np.pi, 0.0, 0.0, [x, y, z])


def plain_forward(urdf, values, tip):
    """Return root_T_tip (4, 4) from URDF text, by nothing of the package's."""
    joints = {j.find("child").get("link"): j for j in ET.fromstring(urdf).findall("joint")}

    def turn(axis, angle):
        x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        whole = np.eye(4)
        whole[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
        return whole

    def shift(xyz):
        whole = np.eye(4)
        whole[:3, 3] = xyz
        return whole

    def words(joint, tag, key, default):
        found = joint.find(tag)
        return [float(w) for w in (default if found is None else found.get(key, default)).split()]

    root_T_tip = np.eye(4)
    while tip in joints:
        joint = joints[tip]
        roll, pitch, yaw = words(joint, "origin", "rpy", "0 0 0")
        step = shift(words(joint, "origin", "xyz", "0 0 0"))
        step = step @ turn([0, 0, 1], yaw) @ turn([0, 1, 0], pitch) @ turn([1, 0, 0], roll)
        axis, value = words(joint, "axis", "xyz", "1 0 0"), values.get(joint.get("name"), 0.0)
        if joint.get("type") == "prismatic":
            step = step @ shift(value * np.array(axis) / np.linalg.norm(axis))
        elif joint.get("type") != "fixed":
            step = step @ turn(axis, value)
        root_T_tip = step @ root_T_tip
        tip = joint.find("parent").get("link")
    return root_T_tip


class Oracle:
    """Checks of every command, for any input."""

    def __init__(self, names, lower, upper, velocity):
        self.names, self.lower, self.upper = list(names), lower, upper
        self.most = velocity * PERIOD + 1e-9
        self.before, self.commands = None, []

    def __call__(self, message):
        assert list(message.name) == self.names, "the chain's joints, in their order"
        command = np.array(message.position)
        assert np.isfinite(command).all()
        low = np.minimum(self.lower - 1e-9, self.before)
        high = np.maximum(self.upper + 1e-9, self.before)
        assert (command >= low).all(), "inside the limits, or inward"
        assert (command <= high).all(), "inside the limits, or inward"
        assert (np.abs(command - self.before) <= self.most).all(), "no faster than it may"
        self.before = command
        self.commands.append(command)


class Settings(dict):
    """Parameters by name, as the chain's controller reads them."""

    def __init__(self, **given):
        super().__init__(
            {each.name: each.default for each in (*NODE_PARAMETERS, *CHAIN_PARAMETERS)}
        )
        self.update(given)
        self.changes = 0

    def guard(self, *_):
        pass


class StandIn:
    """What a chain's controller needs of a node."""

    def __init__(self, arm):
        self._arm, self.lines = arm, []
        self.clock = SimpleNamespace(
            ros_time_is_active=True, now=lambda: Time(nanoseconds=arm.clock)
        )
        log = SimpleNamespace(info=self.lines.append, warning=self.lines.append)
        log.error = self.lines.append
        self.get_logger, self.get_clock = lambda: log, lambda: self.clock
        self.get_name, self.get_namespace = lambda: "basis_ik", lambda: "/"
        self.get_fully_qualified_name = lambda: "/basis_ik"
        self.get_node_names_and_namespaces = lambda: [("basis_ik", "/")]
        self.get_publishers_info_by_topic = lambda _: []
        self.count_publishers = lambda _: 1
        self.resolve_topic_name = lambda name: name
        self.create_timer = lambda *_, **__: None
        self.callbacks, self.inputs = {}, Inputs()

    def create_subscription(self, _, topic, callback, *__, **___):
        self.callbacks[topic] = callback
        return SimpleNamespace(topic_name=topic)

    def create_publisher(self, kind, topic, _):
        to = {JointState: self._arm.execute, DiagnosticStatus: self._arm.statuses.append}[kind]
        return SimpleNamespace(topic_name=topic, publish=to, get_subscription_count=lambda: 1)


class Arm:
    """A chain and its arm, which is where its last command was.

    Attributes:
        clock: The node's clock [ns]; by it the loop goes, too, as with simulated time.
        steady: A steady clock of this machine [s], for who goes by the system's time.
        buffer: What tf knows.
        chain: What is moved.
        control: The node's own controller of it.
        place: Where the arm is (n,).
        statuses: What was published on ~/status.
        talks: Whether the driver tells joint states.
    """

    def __init__(self, urdf=UR5E, start=HOME, tip="", **given):
        self.clock, self.steady = START, 0.0
        self.statuses, self.talks = [], True
        self.settings = Settings(**{**INTERFACE, **FULL, "tip_link": tip, **given})
        described = read_description(urdf, [""], self.settings)
        self.chain = described.chains[""]
        self.place = np.array(start, float)
        self.buffer, self.node = FrameBuffer(), StandIn(self)
        chain = self.chain
        self.oracle = Oracle(chain.joint_names, chain.lower, chain.upper, chain.velocity)
        self.oracle.before = self.place
        self.state = ChainState()
        self.control = ChainController(
            self.node, "", described.model, chain, self.settings, self.buffer, self.state
        )
        self.state.handle(Event.CONFIGURE)
        self.control.arm.activate()
        self.cycles(2)
        assert self.state.state is State.READY

    @property
    def now(self):
        """The moment, as the node sees it."""
        return present(self.node.clock)

    @property
    def commands(self):
        """All commands so far (k, n)."""
        return np.array(self.oracle.commands)

    @property
    def goal(self):
        """The present goal of the arm."""
        return self.control.arm.pipeline.goal

    def execute(self, message):
        """Check a command, and move the arm there."""
        self.oracle(message)
        self.place = np.array(message.position)

    def move_by_hand(self, place):
        """Put the arm somewhere, as others would."""
        self.place = self.oracle.before = np.array(place, float)

    def publish_state(self, names, positions):
        """Tell one joint state of now."""
        stamp = StateStamp(*divmod(self.clock, NS), self.clock, NS // 2)
        self.control.arm.take_joint_state(list(names), list(positions), self.now.loop, stamp)

    def driver(self):
        """Tell where the arm is; tests replace it."""
        self.publish_state(self.chain.joint_names, self.place)

    def cycles(self, count=1):
        """Let periods of the control loop go by."""
        for _ in range(count):
            self.clock, self.steady = self.clock + round(PERIOD * NS), self.steady + PERIOD
            if self.talks:
                self.driver()
            self.control.cycle(self.now)
            if self.control.arm.pipeline.waiting:  # for the solver beside the loop, in real time
                time.sleep(0.001)

    def until_rest(self, most=3000):
        """Let time go by until nothing is sent any more."""
        for _ in range(most):
            before = len(self.oracle.commands)
            self.cycles(5)
            if len(self.oracle.commands) == before:
                return
        raise AssertionError("it never comes to rest")

    def pose(self, pose, *, frame="base_link", stamp=None, age=0):
        """Return a target, of now less an age [ns] unless a stamp (sec, nanosec) is given."""
        message = PoseStamped(pose=pose_message(pose))
        message.header.frame_id = frame
        stamp = divmod(self.clock - age, NS) if stamp is None else stamp
        message.header.stamp.sec, message.header.stamp.nanosec = stamp
        return message

    def go(self, pose, **header):
        """Offer a target, as if it had come by topic."""
        self.receive("target_pose", self.pose(pose, **header))

    def receive(self, topic, message):
        """Let a message come on a topic of the node's own."""
        self.node.callbacks[f"~/{topic}"](message)

    def put_frame(self, parent, child, parent_T_child, *, static=False, age=0):
        """Tell tf a frame, of now less an age [ns]."""
        stamp = Time(nanoseconds=self.clock - age).to_msg()
        message = transform_message(parent, child, parent_T_child, stamp)
        put = self.buffer.set_transform_static if static else self.buffer.set_transform
        put(message, "test")

    def status(self):
        """Return the values of the last status, its message included."""
        last = self.statuses[-1]
        return {"message": last.message, **{each.key: each.value for each in last.values}}

    def refuses(self, reason, offer, *, within=1):
        """Offer something bad; return the refusal's detail.

        It is counted once, it is in the status within some periods, and what is pursued stays.
        """
        counts, goal = Counter(self.control.arm.refusals.counts), self.goal
        state, published = self.state.state, len(self.statuses)
        offer()
        self.cycles(within)
        assert self.control.arm.refusals.counts - counts == {reason: 1}
        assert self.goal == goal, "what was in force stays"
        assert self.state.state is state or self.state.state in (State.ARRIVED, State.HOLDING)
        assert len(self.statuses) > published, "published at once"
        values = self.status()
        assert values[f"refused.{reason}"] == str(counts[reason] + 1)
        refused = list(self.control.arm.refusals.last.values())[-1].refused
        assert refused.reason.name == reason
        assert str(refused) in values.values()
        return refused.detail

    def follows_again(self):
        """Check that a good target is followed within half a second, and is reached."""
        place, begun = self.place.copy(), len(self.oracle.commands)
        target = down(0.35 if abs(place[0]) < 0.3 else 0.45, -0.15)
        self.go(target)
        self.cycles(50)
        assert len(self.oracle.commands) > begun + 10
        assert np.abs(self.place - place).max() > 0.01
        self.until_rest()
        reached = self.chain.forward(self.place).translation
        assert np.linalg.norm(reached - target.translation) < 1e-4
