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

"""Scenes of a robot alone, for requests that want collisions to be avoided."""

from __future__ import annotations

from collections.abc import Mapping

from moveit_msgs.msg import MoveItErrorCodes

from basis_ik.collision.collision_scene import Scene
from basis_ik.errors import BasisIkError
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.kinematics.robot_state import RequestRefusedError

SAME = 1e-3  # rad or m: joints off a chain that move by less do not make its scene anew


class Scenes:
    """The scene of each chain, made by the first request for it, which takes a second or two.

    Args:
        model: The robot.
    """

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self._made: dict[tuple[str, str], tuple[Scene, dict[str, float]]] = {}

    def of(self, chain: Chain, positions: Mapping[str, float]) -> Scene:
        """Return the scene of a chain whose other joints are at some positions.

        Args:
            chain: The chain.
            positions: Positions of the robot's joints by name [rad or m].

        Raises:
            RequestRefusedError: COLLISION_CHECKING_UNAVAILABLE; why there is none.
        """
        others = {
            name: positions[name]
            for name, joint in self._model.joints.items()
            if joint.moves and name in positions and name not in chain.joint_names
            and name not in self._model.mimics
        }  # fmt: skip
        scene, before = self._made.get((chain.root, chain.tip), (None, {}))
        moved = max((abs(others[name] - before.get(name, 1e9)) for name in others), default=0.0)
        if scene is None or scene.chain is not chain or moved > SAME:
            try:
                scene = Scene(self._model, chain, positions=others)
            except BasisIkError as error:
                raise RequestRefusedError(
                    MoveItErrorCodes.COLLISION_CHECKING_UNAVAILABLE,
                    f"avoid_collisions: {error}; set avoid_collisions to false, or the node's "
                    "parameter avoid_collisions to ignore",
                ) from None
            self._made[chain.root, chain.tip] = scene, others
        return scene
