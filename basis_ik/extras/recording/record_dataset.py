# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Records demonstrations as a LeRobotDataset: what was measured, commanded, asked for and seen."""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

from control_msgs.msg import JointTrajectoryControllerState
from geometry_msgs.msg import PoseStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CompressedImage, Image, JointState, Joy
from std_msgs.msg import Float64, Header, String
from std_srvs.srv import SetBool, Trigger

from basis_ik.errors import BasisIkError
from basis_ik.extras.recording.dataset import DatasetError, DatasetWriter
from basis_ik.extras.recording.samples import SampleError, Sampler, Stream
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.keyboard import strokes_at_once
from basis_ik.ros.parameters.parameters import (
    Declaration,
    Parameters,
    given_lists,
    refused,
    topic_complaint,
)
from basis_ik.ros.qos import LATCHED

RECORDER_NAME = "record_dataset"
STATE_KEY, ACTION_KEY, CAMERA_KEY = "observation.state", "action", "observation.images."
POSE_NAMES = ("x", "y", "z", "qx", "qy", "qz", "qw")
GRIPPER_ACTION = "gripper"  # the action's name for what `~/gripper` of the node gets
RECORDER_PERIOD = 0.05  # [s] between two looks at what can be decided
CLOSING_TIMEOUT = 1.0  # [s] in which the files are to be complete at the end
STANDARD_INPUT = 0  # its file descriptor
RECORDER_HELP = "space  begin, end an episode;  d  discard it;  q  quit"


def _camera_complaint(cameras: list[str]) -> str | None:
    for each in cameras:
        name, _, topic = each.partition("=")
        if not name.isidentifier() or topic_complaint(topic):
            return f"has {each!r}, which is not NAME=TOPIC"
    return None


def _poses_complaint(topics: list[str]) -> str | None:
    return next(filter(None, map(topic_complaint, topics)), None)


RECORDER_PARAMETERS = (
    Declaration("root", "", "Folder of the dataset: a new one, or one to add to.", read_only=True),
    Declaration("task", "", "What is demonstrated, in words; of the next episode."),
    Declaration("fps", 30, "Frames in a second.", 1, 1000, True),
    Declaration("robot", "", "Name of the robot; empty: that of its description.", read_only=True),
    Declaration(
        "joints", [], "Joints, in the order of the dataset; none: those that are commanded.",
        read_only=True, element=str,
    ),
    Declaration(
        "controller", "joint_trajectory_controller",
        "The controller whose reference is recorded, as the node's.",
        read_only=True, check=topic_complaint,
    ),
    Declaration(
        "gripper_joint", "", "The gripper's joint, to record the gripper, too.", read_only=True
    ),
    Declaration(
        "cameras", [], "NAME=TOPIC of each camera.", read_only=True, element=str,
        check=_camera_complaint,
    ),
    Declaration(
        "poses", [], "Topics of poses that are recorded beside the action.", read_only=True,
        element=str, check=_poses_complaint,
    ),
    Declaration(
        "button", -1, "Button on `joy` that begins and ends an episode; -1: none.", -1, 100, True
    ),
    Declaration("delay", 0.2, "How late a message may come [s].", 0.0, 10.0, True),
    Declaration(
        "max_age", 0.5, "How old what is measured or seen may be in a frame [s].", 0.01, 10.0, True
    ),
    Declaration("python", "", "The Python that has LeRobot; empty: this one.", read_only=True),
)  # fmt: skip


class RecordDataset(Node):
    """Node `record_dataset`."""

    def __init__(self) -> None:
        with given_lists():
            super().__init__(RECORDER_NAME, automatically_declare_parameters_from_overrides=True)
        self._given = Parameters(self)
        self._given.declare(RECORDER_PARAMETERS)
        self._given.refuse_unknown()
        if not self._given["root"]:
            raise refused("root", "is the folder of the dataset, which must be given")
        self._sampler = Sampler(self._given["fps"], self._given["delay"])
        self._joints = tuple[str, ...](self._given["joints"])
        self._gripper: str = self._given["gripper_joint"]
        self._robot: str = self._given["robot"]
        self._cameras = dict(each.split("=") for each in self._given["cameras"])
        self._frames = dict[str, str]()  # of poses, by topic
        self._pressed, self._ready = False, False
        self._subscribe()
        self.create_service(SetBool, "~/record", self._on_record)
        self.create_service(Trigger, "~/discard", self._on_discard)
        self.create_timer(RECORDER_PERIOD, self.look)
        root = Path(self._given["root"]).expanduser()
        self._writer = DatasetWriter(self._given["python"], root)

    def _subscribe(self) -> None:
        lossy = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
        state = f"{self._given['controller']}/controller_state"
        subscribe: Callable[..., Any] = self.create_subscription
        subscribe(String, "robot_description", self._on_description, LATCHED)
        subscribe(JointState, "joint_states", partial(self._on_joints, "the measured"), lossy)
        subscribe(JointState, "joint_commands", self._on_commands, lossy)
        subscribe(JointTrajectoryControllerState, state, self._on_reference, lossy)
        if self._gripper:
            subscribe(Float64, "basis_ik/gripper", self._on_gripper, 10)
        for topic in self._given["poses"]:
            subscribe(PoseStamped, topic, partial(self._on_pose, topic), lossy)
        for name, topic in self._cameras.items():
            kind = CompressedImage if topic.endswith("/compressed") else Image
            subscribe(kind, topic, partial(self._on_image, name), lossy)
        if self._given["button"] >= 0:
            subscribe(Joy, "joy", self._on_joy, 10)

    # What comes -----------------------------------------------------------------------------------

    def _now(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _stamp(self, header: Header) -> int:
        """Return a message's stamp [ns]; without one, the time at which it comes."""
        return header.stamp.sec * 10**9 + header.stamp.nanosec or self._now()

    def _on_description(self, message: String) -> None:
        try:
            self._robot = self._given["robot"] or RobotModel.from_urdf(message.data).name
        except BasisIkError as error:
            self.get_logger().warning(f"robot description refused: {error}")

    def _on_joints(self, whose: str, message: JointState) -> None:
        for name, position in zip(message.name, message.position, strict=False):
            if name in (*self._joints, self._gripper):
                stamp = self._stamp(message.header)
                self._sampler.add(f"{whose} position of {name}", stamp, position)

    def _on_commands(self, message: JointState) -> None:
        self._joints = self._joints or tuple(message.name)
        self._on_joints("the commanded", message)

    def _on_reference(self, message: JointTrajectoryControllerState) -> None:
        names, positions = message.joint_names, message.reference.positions
        self._on_commands(JointState(header=message.header, name=names, position=positions))

    def _on_gripper(self, message: Float64) -> None:
        self._sampler.add("the gripper's command", self._now(), message.data)

    def _on_pose(self, topic: str, message: PoseStamped) -> None:
        frame = self._frames.setdefault(topic, message.header.frame_id)
        if message.header.frame_id != frame:
            text = f"{topic} has poses in {message.header.frame_id} after some in {frame}"
            self.get_logger().warning(f"{text}: they are left out", throttle_duration_sec=5.0)
            return
        p, q = message.pose.position, message.pose.orientation
        numbers = p.x, p.y, p.z, q.x, q.y, q.z, q.w
        self._sampler.add(topic, self._stamp(message.header), numbers)

    def _on_image(self, name: str, message: Image | CompressedImage) -> None:
        data = bytes(message.data)
        image: tuple[Any, ...] = ("", 0, 0, 0, data)
        if isinstance(message, Image):
            image = message.encoding, message.height, message.width, message.step, data
        self._sampler.add(f"camera {name}", self._stamp(message.header), image)

    def _on_joy(self, message: Joy) -> None:
        button: int = self._given["button"]
        before = self._pressed
        self._pressed = len(message.buttons) > button and bool(message.buttons[button])
        if self._pressed and not before:
            self.press(" ")

    # Episodes -------------------------------------------------------------------------------------

    def _streams(self) -> dict[str, Stream]:
        """Return what a frame has; what is commanded holds until the next command."""
        age: float = self._given["max_age"]
        measured = [*self._joints, *([self._gripper] if self._gripper else [])]
        commanded, asked = Stream(moves=True), ["the gripper's command"] if self._gripper else []
        streams = {f"the commanded position of {each}": commanded for each in self._joints}
        streams |= {f"the measured position of {each}": Stream(age, True) for each in measured}
        streams |= dict.fromkeys([*asked, *self._given["poses"]], Stream())
        return streams | {f"camera {each}": Stream(age) for each in self._cameras}

    def begin(self) -> str:
        """Begin an episode; return what it is about.

        Raises:
            SampleError: It cannot begin, and why.
        """
        if not self._ready:
            raise SampleError("LeRobot is not loaded yet")
        if self._sampler.records:
            raise SampleError("the last episode has not ended")
        if not self._given["task"]:
            raise SampleError("the parameter task must say what is demonstrated")
        if not self._robot:
            topic = self.resolve_topic_name("robot_description")
            raise SampleError(f"the robot has no name: nothing on {topic}; or set robot")
        if not self._joints:
            state = self.resolve_topic_name(f"{self._given['controller']}/controller_state")
            commands = self.resolve_topic_name("joint_commands")
            raise SampleError(f"nothing is commanded: nothing on {state} or {commands}")
        self._sampler.begin(self._now(), self._streams())
        gripper = [self._gripper] if self._gripper else []
        names = {
            STATE_KEY: [*self._joints, *gripper],
            ACTION_KEY: [*self._joints, *([GRIPPER_ACTION] if gripper else [])],
        }
        for topic in self._given["poses"]:
            names[_key(topic)] = [f"{self._frames[topic]} {each}" for each in POSE_NAMES]
        task, fps = self._given["task"], self._given["fps"]
        self._writer.send("begin", {"task": task, "fps": fps, "robot": self._robot, "names": names})
        return f"records: {task}"

    def end(self) -> str:
        """End the episode, which is then saved.

        Raises:
            SampleError: None has begun.
        """
        if not self._sampler.records:
            raise SampleError("no episode has begun")
        self._sampler.end(self._now())
        return "the episode ends"

    def discard(self) -> str:
        """Drop the episode.

        Raises:
            SampleError: None has begun.
        """
        if not self._sampler.records:
            raise SampleError("no episode has begun")
        self._drop()
        return "the episode is discarded"

    def _drop(self) -> None:
        self._sampler.cancel()
        self._writer.send("discard")

    def look(self) -> None:
        """Pass on the frames that can be decided, and tell what LeRobot says.

        Raises:
            DatasetError: LeRobot has ended.
        """
        before = self._sampler.records
        try:
            for values in self._sampler.frames(self._now()):
                self._writer.send("frame", *self._frame(values))
        except SampleError as error:
            if before:
                self._drop()
                self.get_logger().error(f"the episode is discarded: {error}")
        else:
            if before and not self._sampler.records:
                self._writer.send("save")
        self._tell()

    def _frame(self, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the numbers and the images of a frame by feature."""
        measured = [*self._joints, *([self._gripper] if self._gripper else [])]
        action = [values[f"the commanded position of {each}"] for each in self._joints]
        if self._gripper:
            action.append(values["the gripper's command"])
        numbers = {_key(topic): list(values[topic]) for topic in self._given["poses"]}
        numbers[STATE_KEY] = [values[f"the measured position of {each}"] for each in measured]
        numbers[ACTION_KEY] = action
        return numbers, {f"{CAMERA_KEY}{each}": values[f"camera {each}"] for each in self._cameras}

    def _tell(self) -> None:
        try:
            answer = self._writer.answer()
        except DatasetError as error:
            if not self._ready:
                raise
            if self._sampler.records:
                self._drop()
            self.get_logger().error(f"the episode is lost: {error}")
            return
        if answer is None:
            return
        if "ended" in answer:
            raise DatasetError(f"LeRobot has ended with status {answer['ended']}")
        if "ready" in answer:
            self._ready = True
            self.get_logger().info("LeRobot is loaded")
        else:
            count = answer["frames"] / self._given["fps"]
            self.get_logger().info(f"episode {answer['saved']} is saved: {count:.1f} s")

    def _on_record(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        return self._answer(self.begin if request.data else self.end, response)

    def _on_discard(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._answer(self.discard, response)

    def _answer(self, act: Callable[[], str], response: Any) -> Any:
        try:
            response.success, response.message = True, act()
        except SampleError as error:
            response.success, response.message = False, str(error)
        return response

    def press(self, key: str) -> None:
        """Process a stroke of a key, or the button, which counts as a space."""
        acts = {" ": self.end if self._sampler.records else self.begin, "d": self.discard}
        if key in acts:
            response = self._answer(acts[key], SetBool.Response())
            if response.success:
                self.get_logger().info(response.message)
            else:  # rclpy refuses another severity in the same line
                self.get_logger().error(response.message)

    def close(self) -> None:
        """Complete the files; an episode that has not ended is dropped."""
        if not self._writer.close(CLOSING_TIMEOUT):
            self.get_logger().info("LeRobot goes on to write what was recorded")
        self.destroy_node()


def _key(topic: str) -> str:
    """Return the feature for a topic of poses, which no policy takes for an observation."""
    return f"input.{topic.rpartition('/')[2]}"


def _in_front() -> bool:
    """Return whether a terminal is there for this program, which is not in its background."""
    try:
        return os.tcgetpgrp(STANDARD_INPUT) == os.getpgrp()
    except OSError:
        return False


def main(stop: Event) -> int:
    """Record until `stop`, or `q` if there is a terminal; return the exit status."""
    node, executor, in_front = RecordDataset(), SingleThreadedExecutor(), _in_front()
    executor.add_node(node)
    try:
        with strokes_at_once() if in_front else contextlib.nullcontext():
            if in_front:
                print(RECORDER_HELP, flush=True)
            while not stop.is_set():
                executor.spin_once(timeout_sec=RECORDER_PERIOD)
                if in_front and select.select([STANDARD_INPUT], [], [], 0.0)[0]:
                    keys = os.read(STANDARD_INPUT, 64).decode(errors="ignore")
                    if not keys or "q" in keys:
                        break
                    for key in keys:
                        node.press(key)
    finally:
        executor.shutdown()
        node.close()
    return 0
