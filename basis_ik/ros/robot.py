# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""All that the node makes of one robot description, and gives up with it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rclpy.lifecycle import LifecycleNode

from basis_ik.model.chain import Chain
from basis_ik.model.robot import RobotModel
from basis_ik.motion.chain_state import ChainState
from basis_ik.motion.statistics import LoopMeter
from basis_ik.ros.boundary import Moment, boundary_of
from basis_ik.ros.chain_controller import ChainController
from basis_ik.ros.chain_parameters import ChainParameters, check_apart
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.giving_way import giving_way
from basis_ik.ros.parameters import Parameters
from basis_ik.ros.plug_ins import PlugIn, make_plug_ins
from basis_ik.warm_up import prepare


class Description(NamedTuple):
    """What a robot description says of the chains that are to be moved.

    Attributes:
        text: URDF.
        model: The robot.
        chains: By name.
    """

    text: str
    model: RobotModel
    chains: dict[str, Chain]


def read_description(text: str, names: Sequence[str], parameters: Parameters) -> Description:
    """Read a robot description; it may take a second, and needs no node.

    Args:
        text: URDF.
        names: Names of its chains; one empty name for one chain without.
        parameters: The node's parameters, those of the chains included.

    Raises:
        ConfigError: A parameter does not fit the robot; it is named.
        BasisIkError: The description is bad.
    """
    with giving_way():
        model = RobotModel.from_urdf(text)
        chains = {name: ChainParameters(parameters, name).chain(model) for name in names}
    check_apart(chains)
    return Description(text, model, chains)


class Robot:
    """The arms of a robot, and what hangs on them.

    Args:
        node: The node that it lives in.
        description: What it is like.
        parameters: The node's parameters, those of the chains included.
        buffer: The node's transforms.
        states: Whether the chains may move, by their names; those of a robot before, if any.

    Attributes:
        text: Its URDF.
        arms: One for each chain.

    Raises:
        ConfigError: A parameter does not fit the robot; it is named.
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
        self.arms: list[ChainController] = []
        self._plug_ins: list[PlugIn] = []
        with contextlib.ExitStack() as undo:
            for name, chain in description.chains.items():
                arm = ChainController(
                    node, name, description.model, chain, parameters, buffer, states[name]
                )
                undo.callback(arm.destroy)
                self.arms.append(arm)
            undo.pop_all()

    def warm_up(self) -> None:
        """Prepare the chains, by whatever may be called while the loop runs."""
        for arm in self.arms:
            prepare(arm.chain)

    def plug_in(self, loop: LoopMeter) -> None:
        """Offer services, markers and the rest; no other robot of the node may have its own.

        Args:
            loop: What watches the node's control loop.
        """
        for each in make_plug_ins(self._node, self.arms, loop, self._buffer, self._parameters):
            self._plug_ins.append(each)

    @property
    def resting(self) -> bool:
        """Whether no command is being sent, nor will be before a new goal comes."""
        return all(arm.resting for arm in self.arms)

    def come_to_rest(self, patience: float, period: float) -> None:
        """Let deactivated arms brake to the end, here and now.

        Args:
            patience: For so long at most [s].
            period: Of the control loop [s].
        """
        boundary = boundary_of(self._node)
        end = boundary.steady() + patience
        # Those that do not stream have sent the way to rest as a whole.
        while boundary.steady() < end and any(a.streams and not a.resting for a in self.arms):
            self.cycle(boundary.moment(self._node.get_clock()))
            boundary.sleep(period)

    def check_alone(self) -> None:
        """Make sure that nobody else commands an arm.

        Raises:
            RivalError: Somebody does.
        """
        for arm in self.arms:
            arm.check_alone()

    def activate(self) -> None:
        """Let all arms take targets; one that somebody else commands waits until nobody does."""
        for arm in self.arms:
            arm.activate()

    def deactivate(self) -> None:
        """Let all arms brake and then be silent."""
        for arm in self.arms:
            arm.deactivate()

    def rest(self) -> None:
        """Let all arms be silent at once."""
        for arm in self.arms:
            arm.halt()

    def cycle(self, now: Moment) -> None:
        """Do one control period's work."""
        for arm in self.arms:
            arm.cycle(now)

    def destroy(self) -> None:
        """Give up everything held in the node."""
        for each in (*self._plug_ins, *self.arms):
            each.destroy()
        self._plug_ins, self.arms = [], []

    def report(self) -> list[str]:
        """Return what was made of the description, inferences included, one line each."""
        return [line for arm in self.arms for line in _report(arm)]


def _report(arm: ChainController) -> list[str]:
    title = f"{arm.model.name}, chain {arm.name}" if arm.name else arm.model.name
    return [
        *(f"{arm.name}: {line}" if arm.name else line for line in arm.chain.inferences),
        f"ready: {title}, {arm.chain.root} to {arm.chain.tip}; commands go to {arm.output_name}",
        *(f"joint {line}" for line in _joints(arm.chain, arm.model)),
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
