# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot in a world: the real node, the controller's twin, drives, tf, and links between them.

The twin is what docs/simulated_arm.md holds against recordings of ros2_control.
"""

import contextlib
import copy
import functools
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory, PointHead
from control_msgs.msg import JointTrajectoryControllerState
from geometry_msgs.msg import PointStamped, PoseStamped, TwistStamped, Vector3
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory
from virtual_node import ActionGoal, Loop, VirtualBoundary
from world import MILLISECOND, Link, Stalls, World

from basis_ik.arm.limits import MotionLimits
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message, time_message, transform_message
from basis_ik.ros.outputs.trajectory_messages import to_command, to_point
from basis_ik.simulation.control_loop import ControlLoop
from basis_ik.simulation.simulated_joints import SimulatedJoints
from basis_ik.simulation.tolerances import Tolerances
from basis_ik.simulation.trajectory_command import refuse_trajectory
from basis_ik.simulation.trajectory_controller import GoalStatus as GoalEnd
from basis_ik.simulation.trajectory_controller import TrajectoryController
from basis_ik.transforms.rigid import RigidTransform

URDF = (Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text()
HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
PERIOD = 0.01  # s: the node's default
# ns: from one cycle of the controller, joint state, and so on, to the next.
CYCLE = 2 * MILLISECOND
STATES = 8 * MILLISECOND
CONTROLLER_STATES = 20 * MILLISECOND
FEEDBACK = 50 * MILLISECOND
FRAMES = 10 * MILLISECOND
PATIENCE = 60.0  # s, virtual: for what must happen at all
# The controller joins windows of rounded numbers, and rounds the corners of a braking tail.
SPEED_BOUND, ACCELERATION_BOUND = 1.003, 1.05
# Of the controller's joints that are not the chain's.
OTHERS_LIMITS = {
    "lower": -1.0, "upper": 1.0, "velocity": 0.2, "acceleration": 4.0, "jerk": 80.0
}  # fmt: skip
CONTROLLER = "joint_trajectory_controller"
COMMANDS = (
    f"/{CONTROLLER}/joint_trajectory",
    f"/{CONTROLLER}/commands",
    "/joint_commands",
)
# Most of such a message stays as it is when it is made, which takes most of the time.
BLANK = JointTrajectoryControllerState()
FAST = ("max_velocity_scaling_factor:=1.0", "max_acceleration_scaling_factor:=1.0")
# Only those tests check collisions that ask for it: all would take half as long again.
UNCHECKED = "check_collisions:=false"


ENDS = {
    GoalEnd.SUCCEEDED: GoalStatus.STATUS_SUCCEEDED,
    GoalEnd.CANCELED: GoalStatus.STATUS_CANCELED,
    GoalEnd.ABORTED: GoalStatus.STATUS_ABORTED,
}


class Command(NamedTuple):
    """A message for the controller, and when the node published it [ns]."""

    time: int
    topic: str
    message: Any


class Arm:
    """The controller's twin and its drives, at 500 Hz.

    Args:
        world: The clock.
        chain: The chain of all its joints.
        home: Where it rests, shape (n,).
        system: Returns the system's time [ns].
        lag: Time constant of the drives [s].
        replaces: Whether it blends a new trajectory with the running one.
        path: Tolerance of each joint on the path [rad]; 0: none.
        others: Where joints rest at first that are the controller's and not the chain's, by name.
        part: Indices of the chain's joints that it has; None: all.

    Attributes:
        joint_names: All its joints.
        outputs: Of each cycle: time [ns] and commanded positions.
        goal: The goal that it pursues, or None.
        refused: Reasons of the trajectories that it has refused.
        complaints: What was commanded beyond the limits: time, of what, how far.
        bound: How far an acceleration may be beyond its limit, as a factor.
        rejects: Whether it rejects goals.
        taking, updating: When the thread that takes messages, and the cycles, stand still.
    """

    def __init__(
        self, world, chain, home, system, *, lag=0.0, replaces=False, path=0.0, others=None,
        part=None,
    ):  # fmt: skip
        self.world, self.system, others = world, system, others or {}
        part = range(len(chain.joint_names)) if part is None else part
        self._count, part = len(part), list(part)
        self.joint_names = (*(chain.joint_names[k] for k in part), *others)
        self._continuous = np.array([*chain.continuous[part], *[False] * len(others)])
        self._path = path
        self._lag, self._replaces = lag, replaces
        own = MotionLimits.of_chain(chain)
        self.limits = MotionLimits(
            *(
                np.append(getattr(own, name)[part], [each] * len(others))
                for name, each in OTHERS_LIMITS.items()
            )
        )
        self.taking, self.updating = Stalls(world), Stalls(world)
        self.outputs, self.refused, self.complaints = [], [], []
        self.bound, self.rejects = ACCELERATION_BOUND, False
        self._newest = self.goal = self.on_state = None
        self._last_cycle = world.now - CYCLE
        self.origin = system()
        self.place([*home, *others.values()])
        world.every(CYCLE, self._cycle)

    def forget(self):
        """Forget what was commanded."""
        self.outputs.clear()

    @property
    def others(self):
        """The positions of its joints that are not the chain's, shape (m,)."""
        return self.joints.positions[self._count :]

    def place(self, positions):
        """Put the arm somewhere, at rest, with a controller that was just started."""
        if self.goal is not None:
            self.goal.forget()
        self.goal = None
        rest = [] if len(positions) == len(self.joint_names) else self.others
        positions = np.array([*positions, *rest], dtype=float)
        n = len(positions)
        unbounded = np.full(n, math.inf)
        self._tolerances = Tolerances(np.full(n, self._path), np.zeros(n), 0.0)
        self.joints = SimulatedJoints(
            -unbounded, unbounded, unbounded, positions, time_constant=self._lag
        )
        self.controller = TrajectoryController(
            self.joint_names,
            self._continuous,
            positions,
            self._tolerances,
            period=1e-9 * CYCLE,
            allow_trajectory_replacement=self._replaces,
        )
        self._loop = ControlLoop(self.joints, np.arange(n), self.controller, 1e-9 * CYCLE)
        self._recent, self.update = [], None

    def take(self, message):
        """Take a trajectory, the newest of those that have come while it could take none."""
        self._newest = message
        self.world.at(self.taking.end(), self._follow)

    def _follow(self):
        message, self._newest = self._newest, None
        if message is None:
            return
        command = to_command(message, self.origin)
        now = 1e-9 * (self.system() - self.origin)
        refusal = refuse_trajectory(command, self.joint_names, now)
        if refusal is None:
            self.controller.follow(command)
        else:
            self.refused.append(refusal)

    def start(self, goal):
        """Accept or reject a goal, and follow it."""
        command = to_command(goal.trajectory, self.origin)
        now = 1e-9 * (self.system() - self.origin)
        refusal = refuse_trajectory(command, self.joint_names, now)
        accepted = refusal is None and self.controller.active and not self.rejects
        if accepted:
            self._finish(self.controller.start_goal(command, self._tolerances))
            self.goal = goal
        goal.respond(accepted)

    def cancel(self, goal):
        """End a goal, unless it has ended."""
        if goal is self.goal:
            self._finish(self.controller.cancel_goal())

    def deactivate(self):
        """Let the controller keep its last command, and take nothing."""
        self._finish(self.controller.deactivate())

    def activate(self):
        """Let the controller hold its last command."""
        self.controller.activate()

    def _finish(self, end):
        """Send the result of the goal; None: it goes on, or there is none."""
        if end is not None and self.goal is not None:
            goal, self.goal = self.goal, None
            goal.end(ENDS[end.status], end.text)

    def command(self, positions):
        """Execute positions in the next cycle, as a forward controller does."""
        self.controller = None
        self._forwarded = np.array(positions, dtype=float)

    def _cycle(self):
        if self.updating.end() > self.world.now:
            return
        elapsed = 1e-9 * (self.world.now - self._last_cycle)
        self._last_cycle = self.world.now
        if self.controller is None:
            self.joints.step(self._forwarded, elapsed)
            output = self._forwarded
        else:
            self.update = self._loop.cycle(1e-9 * (self.system() - self.origin), elapsed)
            output = self.controller.output.positions
            if self.update is not None:
                self._tell(self.update)
        self.outputs.append((self.world.now, output))
        self._judge(output)

    def _tell(self, update):
        """Publish what is due in this cycle: state, feedback, the end of a goal."""
        if self.world.now % CONTROLLER_STATES == 0 and self.on_state is not None:
            self.on_state(time_message(self.system()), update)
        if self.goal is not None and self.world.now % FEEDBACK == 0:
            # In an order of its own.
            feedback = FollowJointTrajectory.Feedback(joint_names=self.joint_names[::-1])
            feedback.desired = to_point(*(each[::-1] for each in update.reference[:3]))
            feedback.header.stamp = time_message(self.system())
            self.goal.feed_back(feedback)
        self._finish(update.goal_end)

    def _judge(self, output):
        """Compare the last three outputs with the limits."""
        self._recent = [*self._recent[-2:], output]
        if len(self._recent) < 3 or self.controller is None:
            return
        before, here, after = self._recent
        if before is here is after:  # a trajectory that is over has one state
            return
        period = 1e-9 * CYCLE
        speed = np.abs(after - here) / period
        rate = np.abs(after - 2.0 * here + before) / period**2
        limits = self.limits
        if not (speed <= SPEED_BOUND * limits.velocity).all():  # NaN is a complaint, too
            self.complaints.append((self.world.now, "speed", (speed / limits.velocity).max()))
        if not (rate <= self.bound * limits.acceleration).all():
            self.complaints.append((self.world.now, "rate", (rate / limits.acceleration).max()))


class Topic:
    """Publishes to the node by a link of its own."""

    def __init__(self, robot, name):
        self._robot, self.name, self.link = robot, name, Link(robot.world)

    def publish(self, message):
        self.link.send(lambda: self._robot.loop.spinner.receive(self.name, message))


@functools.lru_cache(maxsize=8)  # nothing changes them, and most tests have the same robot
def model_and_chain(urdf, *ends):
    """Return the robot of a description, and its chain; without ends the inferred one."""
    model = RobotModel.from_urdf(urdf)
    return model, model.chain(*ends)


class Robot:
    """A node in a world, with all that it needs, and what it has said and done.

    Args:
        words: Arguments of ROS.
        urdf: The robot's description.
        home: Where its arm rests at first, shape (n,).
        seed: Of all that is random.
        lag: Time constant of the drives [s].
        replaces: Whether the controller blends a new trajectory with the running one.
        path: The controller's tolerance of each joint on the path [rad]; 0: none.
        prefix: Of its frames in tf.
        controller: The controller's name.
        others: Where its joints rest that are not the chain's, by name.
        ends: Root and tip of its chain; empty: inferred.

    Attributes:
        commands: All that was published for the controller.
        heard: The newest message of each of the node's other topics.
        statuses: The values of all statuses, and when each was published [s].
        frames: Functions that return the poses of moving frames, by the names of parent and frame.
        publishing: Whether joint states are published.
        told, commandings, takers: Of each controller: the links of its states and of its commands,
            and when it takes no messages.
        controlled: The joints that the controller says it has.
    """

    def __init__(self, *words, urdf=URDF, home=HOME, seed=0, lag=0.0, replaces=False, path=0.0,
                 prefix="", controller=CONTROLLER, others=None, ends=()):  # fmt: skip
        self.world = world = World(seed)
        self.urdf, (self.model, self.chain) = urdf, model_and_chain(urdf, *ends)
        self.prefix, self._controller = prefix, controller
        self.boundary = VirtualBoundary(world)
        self.boundary.publish_to, self.boundary.replaces = self._on_message, replaces
        self.arm = self._make_arm(home, lag=lag, replaces=replaces, path=path, others=others or {})
        self.commands, self.statuses, self.frames, self.publishing = [], [], {}, True
        self.controlled = list(self.arm.joint_names)
        self.heard, self._placed = {}, None
        self.commanding = Link(world)
        # rcl keeps a first value that is true or false, even if a later one is a text.
        says = any(word.startswith(("chains:=", "check_collisions:=")) for word in words)
        given = [word for each in (*FAST, *([] if says else [UNCHECKED]),
                                   f"tracking_lag:={max(2.0 * lag, 0.2)}")
                 for word in ("-p", each)]  # fmt: skip
        self.boundary.order = lambda goal: self.commanding.send(lambda: self.arm.start(goal))
        self.boundary.cancel = lambda goal: self.commanding.send(lambda: self.arm.cancel(goal))
        self.loop = Loop(self.boundary, (*given, *words))
        self.node, self.log = self.loop.node, self.loop.node.log
        self.states, self.description = (
            self.topic("/joint_states"),
            self.topic("/robot_description"),
        )
        self.tf, self.static_tf = self.topic("/tf"), self.topic("/tf_static")
        self.targets, self.points = self.topic("target_pose"), self.topic("target_point")
        self.twists, self.jogs = self.topic("twist"), self.topic("joint_jog")
        self.overrides = self.topic("speed_override")
        self.controller_states = self.topic(f"/{controller}/controller_state")
        self.arm.on_state = self._publish_controller_state
        self.told, self.takers = [self.controller_states.link], [self.arm.taking]
        self.commandings = [self.commanding]
        world.every(STATES, self._publish_states)
        world.every(FRAMES, self._publish_frames)
        self.description.publish(String(data=urdf))

    def _make_arm(self, home, **how):
        return Arm(self.world, self.chain, home, self.boundary.system, **how)

    # The world -------------------------------------------------------------------------------

    def topic(self, name):
        """Return a publisher on a topic of the node, or on another one that begins with "/"."""
        return Topic(self, name if name.startswith("/") else f"/basis_ik/{name}")

    @property
    def time(self):
        """Seconds since the beginning."""
        return 1e-9 * self.world.now

    def stamp(self):
        """Return the system's time as a message."""
        return time_message(self.boundary.system())

    @property
    def positions(self):
        """The joints' positions, shape (n,); setting them displaces the arm."""
        return self.arm.joints.positions[: len(self.chain.joint_names)]

    @positions.setter
    def positions(self, positions):
        self.arm.place(positions)

    def _publish_states(self):
        if not self.publishing:
            return
        state = JointState(name=list(self.chain.joint_names), position=self.positions.tolist())
        state.header.stamp = self.stamp()
        self.states.publish(state)

    def _publish_frames(self):
        if not self.publishing:
            return
        stamp, root, tip = self.stamp(), self.prefix + self.chain.root, self.prefix + self.chain.tip
        if not np.array_equal(self.positions, self._placed):  # an arm at rest keeps its frame
            self._placed = self.positions
            self._frame = transform_message(root, tip, self.tip(), stamp)
        frame = copy.copy(self._frame)
        frame.header = Header(frame_id=root, stamp=stamp)
        frames = [frame]
        frames += [transform_message(*names, pose(), stamp) for names, pose in self.frames.items()]
        self.tf.publish(TFMessage(transforms=frames))

    def _publish_controller_state(self, stamp, update):
        self.controller_states.publish(self._state_of(self.arm, self.controlled, stamp, update))

    def _state_of(self, arm, controlled, stamp, update):
        """Return the message of a controller that says it has the joints `controlled`."""
        state = copy.copy(BLANK)
        state.header, state.joint_names = Header(stamp=stamp), controlled
        names = list(arm.joint_names)
        places = [names.index(each) if each in names else -1 for each in controlled]

        def chosen(*values):
            return to_point(*(np.append(each, 0.0)[places] for each in values))

        point = to_point if controlled == names else chosen
        state.reference = point(*update.reference[:3])
        state.output = point(*update.output[:3])
        joints = arm.joints
        state.feedback = point(joints.positions, joints.velocities)
        state.error = point(*update.errors)
        state.speed_scaling_factor = arm.controller.speed_scaling
        return state

    def _on_message(self, topic, message):
        if topic.endswith("/status"):
            values = {pair.key: pair.value for pair in message.values}
            values |= {"message": message.message, "level": message.level, "heard": self.time}
            self.statuses.append(values)
            return
        if topic.replace(self._controller, CONTROLLER) not in COMMANDS:
            self.heard[topic.removeprefix("/basis_ik/")] = message
            return
        self.commands.append(Command(self.world.now, topic, message))
        if isinstance(message, JointTrajectory):
            self.commanding.send(lambda: self.arm.take(message))
        elif isinstance(message, Float64MultiArray):
            self.commanding.send(lambda: self.arm.command(message.data))
        elif isinstance(message, JointState):
            self.commanding.send(lambda: self.arm.command(message.position))

    # What a test does ------------------------------------------------------------------------

    def run(self, seconds):
        """Let time pass."""
        end = self.time + seconds
        while self.time < end:
            self.loop.turn()

    def wait(self, condition, what, patience=PATIENCE):
        """Let time pass until a condition holds; fail with its name if it never does."""
        end = self.time + patience
        while self.time < end:
            if condition():
                return
            self.loop.turn()
        last = self.statuses[-1] if self.statuses else None
        raise AssertionError(f"never: {what}; last status: {last}")

    def wait_status(self, *, patience=PATIENCE, **wanted):
        """Wait for the last status to have given values."""

        def has_come():
            return self.statuses and wanted.items() <= self.statuses[-1].items()

        self.wait(has_come, f"a status with {wanted}", patience)

    def send(self, frame, frame_T_target, stamp="now"):
        """Publish a target pose, stamped with the present time, another one or none."""
        message = PoseStamped(pose=pose_message(frame_T_target))
        message.header.frame_id = frame
        if stamp is not None:
            message.header.stamp = self.stamp() if stamp == "now" else stamp
        self.targets.publish(message)
        return message

    def look(self, frame, point):
        """Publish a point to look at, without a stamp."""
        message = PointStamped()
        message.header.frame_id = frame
        message.point.x, message.point.y, message.point.z = point
        self.points.publish(message)

    def jog(self, frame, linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
        """Publish a twist, without a stamp."""
        message = TwistStamped()
        message.header.frame_id = frame
        v, w = message.twist.linear, message.twist.angular
        v.x, v.y, v.z = linear
        w.x, w.y, w.z = angular
        self.twists.publish(message)

    def point(self, frame, point, stamp=None, *, axis=(0.0, 0.0, 0.0), **fields):
        """Send a goal of the head action; return it when the node has accepted or rejected it."""
        goal = PointHead.Goal(pointing_axis=Vector3(x=axis[0], y=axis[1], z=axis[2]), **fields)
        goal.target.header.frame_id = frame
        goal.target.header.stamp = stamp or Time()
        goal.target.point.x, goal.target.point.y, goal.target.point.z = point
        return self.act("point_head_action", goal)

    def act(self, action, goal):
        """Send a goal of an action; return it when the node has accepted or rejected it."""
        sent = ActionGoal(self.boundary, f"~/{action}", goal)
        self.wait(lambda: sent.accepted is not None, "an answer to a goal")
        return sent

    def end_of(self, goal):
        """Wait until an accepted goal of an action has ended; return its status."""
        assert goal.accepted
        self.wait(lambda: goal.status is not None, "the goal's end")
        return goal.status

    def place(self, parent, child, parent_T_child):
        """Publish a static frame."""
        frame = transform_message(parent, child, parent_T_child, self.stamp())
        self.static_tf.publish(TFMessage(transforms=[frame]))

    def call(self, kind, name, **fields):
        """Call a service of the node; return its response."""
        request = kind.Request(**fields)
        future = self.loop.spinner.request(f"/basis_ik/{name}", request)
        self.wait(future.done, f"an answer of {name}")
        return future.result()

    def set_parameter(self, name, value):
        """Ask the node to set a parameter; return its answer."""
        given = Parameter(name, value=value).to_parameter_msg()
        return self.call(SetParameters, "set_parameters", parameters=[given]).results[0]

    def transit(self, name):
        """Request a lifecycle transition; return whether it succeeded."""
        return self.call(ChangeState, "change_state", transition=Transition(label=name)).success

    def state(self):
        """Return the lifecycle state's label."""
        return self.call(GetState, "get_state").current_state.label

    def tip(self):
        """Return the pose of the tip in the root's frame."""
        return self.chain.forward(self.positions)

    def at(self, root_T_target, tolerance=1e-4):
        """Return whether the tip is at a pose."""
        return np.allclose(self.tip().matrix, root_T_target.matrix, rtol=0.0, atol=tolerance)

    def rests(self):
        """Return whether for 0.3 s nothing is sent and nothing moves; that time passes."""
        count, first = len(self.commands), len(self.arm.outputs)
        self.run(0.3)
        outputs = np.array([output for _, output in self.arm.outputs[first:]])
        return len(self.commands) == count and bool((outputs == outputs[:1]).all())

    def reach(self, root_T_target, tolerance=1e-4):
        """Send a target pose in base_link, and wait until the arm has arrived there."""
        sent = self.send("base_link", root_T_target).header.stamp
        stamp = f"{sent.sec}.{sent.nanosec:09}"
        self.wait_status(state="ARRIVED", verdict="REACHED", target_stamp=stamp)
        self.wait(lambda: self.at(root_T_target, tolerance), "the drives are there", 1.0)

    def set_off(self, root_T_target, way=0.2):
        """Send a target pose, and wait until a joint has moved by `way` [rad]."""
        start = self.positions
        self.send("base_link", root_T_target)
        self.wait(lambda: np.abs(self.positions - start).max() > way, "the arm moves")

    def end(self):
        """End the node; nothing unsafe may have been commanded."""
        self.loop.end()
        assert self.arm.complaints == [], self.arm.complaints[:3]


@contextlib.contextmanager
def running(*words, **how):
    """Yield a robot whose node is ready; afterwards nothing unsafe may have been commanded."""
    robot = Robot(*words, **how)
    try:
        robot.wait_status(state="READY")
        yield robot
    finally:
        robot.end()


def down(x, y, z):
    """Return a pose with the tool pointing down."""
    return RigidTransform.from_rpy(np.pi, 0.0, 0.0, [x, y, z])


def miss(root_T_frame, point, axis=(0.0, 0.0, 1.0)):
    """Return the angle between an axis of a frame and the line from there to a point [rad]."""
    line, axis = np.subtract(point, root_T_frame.translation), root_T_frame.apply_vector(axis)
    return math.atan2(np.linalg.norm(np.cross(axis, line)), axis @ line)
