# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The objects that the node creates for one robot description."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rclpy.lifecycle import LifecycleNode

from basis_ik.arm.admission import printable
from basis_ik.arm.arm import Arm
from basis_ik.arm.chain_state import ChainState
from basis_ik.arm.moment import Moment
from basis_ik.arm.statistics import LoopMeter
from basis_ik.process import giving_way
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.boundary import boundary_of
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.kinematics.scenes import Scenes
from basis_ik.ros.parameters.chain_parameters import ChainParameters, check_apart
from basis_ik.ros.parameters.parameters import Parameters
from basis_ik.ros.plug_ins import PlugIn, make_plug_ins
from basis_ik.ros.world.robot_frames import RobotFrames
from basis_ik.ros.world.seen_world import SeenWorld
from basis_ik.warm_up import prepare


class Description(NamedTuple):
    """A robot description, and the chains to move.

    Attributes:
        text: URDF.
        model: The robot.
        chains: By name.
    """

    text: str
    model: RobotModel
    chains: dict[str, Chain]


def read_description(text: str, names: Sequence[str], parameters: Parameters) -> Description:
    """Read a robot description. This may take a second; any thread may do it.

    Args:
        text: URDF.
        names: Names of its chains; one empty name for a chain without a name.
        parameters: The node's parameters, including the chains'.

    Raises:
        ConfigError: A parameter does not fit the robot.
        BasisIkError: The description is invalid.
    """
    with giving_way():
        model = RobotModel.from_urdf(
            text,
            mimic_limits=parameters["mimic_limits"],
            frame_prefix=parameters["frame_prefix"],
        )
        chains = {name: ChainParameters(parameters, name).chain(model) for name in names}
    check_apart(chains)
    return Description(text, model, chains)


class Robot:
    """The arms of a robot, with their services, markers and diagnostics.

    Args:
        node: The node that owns it.
        description: Its description.
        parameters: The node's parameters, including the chains'.
        buffer: The node's transforms.
        states: Whether the chains may move, by name; kept when the robot is replaced.

    Attributes:
        text: Its URDF.
        controllers: Of its arms, one for each chain.
        scenes: The robot among the objects around it, for whoever asks about collisions.

    Raises:
        ConfigError: A parameter does not fit the robot.
    """

    def __init__(
        self,
        node: LifecycleNode,
        description: Description,
        parameters: Parameters,
        buffer: FrameBuffer,
        states: Mapping[str, ChainState],
    ) -> None:
        self._node, self._parameters, self._buffer = node, parameters, buffer
        self.text = description.text
        self.controllers: list[ChainController] = []
        self._plug_ins: list[PlugIn] = []
        with contextlib.ExitStack() as undo:
            for name, chain in description.chains.items():
                controller = ChainController(
                    node, name, description.model, chain, parameters, buffer, states[name]
                )
                undo.callback(controller.destroy)
                self.controllers.append(controller)
            boundary = boundary_of(node)
            frames = RobotFrames(
                description.model,
                self.arms,
                buffer,
                lambda: boundary.clock_aside(node.get_clock()),
                lambda: float(parameters["target_max_age"]),
            )
            srdf = parameters["robot_description_semantic"]
            topic = parameters["point_cloud_topic"]
            topic = node.resolve_topic_name(topic) if topic else ""
            points = topic, parameters["point_cloud_max_age"]
            self.scenes = Scenes(description.model, node.world, frames, srdf, points)
            self._seen = SeenWorld(node.world, boundary)
            in_loop = self.scenes.of_loop(self._seen, lambda: boundary.clock(node.get_clock()))
            for controller in self.controllers:
                controller.keep_clear(in_loop)
            undo.pop_all()

    @property
    def arms(self) -> list[Arm]:
        """The arms."""
        return [each.arm for each in self.controllers]

    def warm_up(self) -> None:
        """Call everything that the loop may call once, so that nothing is compiled later."""
        for arm in self.arms:
            prepare(arm.chain)

    def plug_in(self, loop: LoopMeter) -> None:
        """Create services, markers and the other plug-ins, once the previous robot's are gone.

        Args:
            loop: Measures the node's control loop.
        """
        controllers, parameters = self.controllers, self._parameters
        for each in make_plug_ins(
            self._node, controllers, loop, self._buffer, parameters, self.scenes
        ):
            self._plug_ins.append(each)

    @property
    def resting(self) -> bool:
        """Whether no command is sent until a new goal arrives."""
        return all(arm.resting for arm in self.arms)

    def come_to_rest(self, timeout: float, period: float) -> None:
        """Block until deactivated arms have braked.

        Args:
            timeout: Longest time to block [s].
            period: Of the control loop [s].
        """
        boundary = boundary_of(self._node)
        end = boundary.steady() + timeout
        # Outputs that do not stream have already sent the whole braking motion.
        while boundary.steady() < end and any(arm.needs_commands for arm in self.arms):
            self.cycle(boundary.moment(self._node.get_clock()))
            boundary.sleep(period)

    def check_alone(self) -> None:
        """Raise an error if another node commands an arm.

        Raises:
            OtherCommanderError: Another node commands an arm.
        """
        for each in self.controllers:
            each.check_alone()

    def activate(self) -> None:
        """Let all arms accept targets; an arm waits while another node commands it."""
        for arm in self.arms:
            arm.activate()

    def deactivate(self) -> None:
        """Make all arms brake, and then send nothing."""
        for arm in self.arms:
            arm.deactivate()

    def rest(self) -> None:
        """Stop sending commands for all arms at once."""
        for each in self.controllers:
            each.halt()

    def cycle(self, now: Moment) -> None:
        """Run one control period."""
        self._seen.look()
        for each in self.controllers:
            each.cycle(now)

    def destroy(self) -> None:
        """Destroy the plug-ins and arms."""
        for each in (*self._plug_ins, *self.controllers):
            each.destroy()
        self._plug_ins, self.controllers = [], []

    def report(self) -> list[str]:
        """Return the start-up report: inferences, chains and joints, one line each."""
        return [line for each in self.controllers for line in _report(each)]


def _report(controller: ChainController) -> list[str]:
    arm = controller.arm
    name = arm.name
    title = f"{arm.model.name}, chain {name}" if name else arm.model.name
    return [
        *(f"{name}: {line}" if name else line for line in arm.chain.inferences),
        f"ready: {title}, {arm.chain.root} to {arm.chain.tip}; "
        f"commands go to {controller.output_name}",
        *(f"joint {line}" for line in _joints(arm.chain, arm.model)),
        *(
            f"posture '{printable(posture)}' is left out: {fault}"
            for posture, fault in arm.postures.items()
            if isinstance(fault, str)
        ),
    ]


def _joints(chain: Chain, model: RobotModel) -> list[str]:
    lines = []
    for name, low, high, speed in zip(
        chain.joint_names, chain.lower, chain.upper, chain.velocity, strict=True
    ):
        unit = model.joints[name].unit
        span = "without limits" if low == -high == -float("inf") else f"{low:.4g} to {high:.4g}"
        followers = [each for each, mimic in model.mimics.items() if mimic.joint == name]
        mimicked = f"; mimicked by {', '.join(followers)}" if followers else ""
        lines.append(f"{name}: {span} {unit}, at most {speed:.4g} {unit}/s{mimicked}")
    return lines
