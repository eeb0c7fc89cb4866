# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scenes of a robot among the objects around it."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Mapping

from moveit_msgs.msg import MoveItErrorCodes

from basis_ik.collision.collision_scene import Scene
from basis_ik.collision.covered_links import joints_off
from basis_ik.collision.shape import SceneError
from basis_ik.collision.world import World, WorldScene
from basis_ik.errors import BasisIkError
from basis_ik.process import giving_way
from basis_ik.robot.chain import Chain
from basis_ik.robot.elements import listed
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.kinematics.robot_state import RequestRefusedError
from basis_ik.ros.world.robot_frames import RobotFrames
from basis_ik.ros.world.seen_world import SeenWorld

CLOUD_NAME = "points"  # what clouds of points are called


class Scenes:
    """The scene of each chain, made by the first request for it, which takes a second or two.

    This is where others get the robot and the objects around it, `Robot.scenes` in the node:
    `scene_of` makes a scene of their own, for one thread, and `update` brings it up to date. That
    is quick where only poses have changed. After `World.revision` has changed, the next question to
    the scene takes some milliseconds, for a thousand objects some tens.

    Args:
        model: The robot.
        world: The objects.
        frames: The robot's frames.
        srdf: Text of an SRDF that says which pairs of links are not compared; empty: samples do.
        points: The topic whose clouds of points must be new, and how old they may be [s]; an empty
            one: there are none.

    Attributes:
        frames: As given.
    """

    def __init__(
        self,
        model: RobotModel,
        world: World,
        frames: RobotFrames,
        srdf: str = "",
        points: tuple[str, float] = ("", 0.0),
    ) -> None:
        self._points = points
        self._world: World | SeenWorld = world
        self._model, self.frames, self._srdf = model, frames, srdf or None
        self._lock = threading.Lock()
        self._alone: dict[tuple[str, str], Scene] = {}
        self._used: dict[tuple[str, str], WorldScene] = {}

    def of_loop(self, seen: SeenWorld, now: Callable[[], int]) -> Scenes:
        """Return the same for the thread of the control loop.

        Args:
            seen: The world as the loop sees it.
            now: Returns the clock's time as the loop reads it [ns].
        """
        twin = copy.copy(self)
        twin._world, twin.frames = seen, self.frames.with_clock(now)
        return twin

    def of(self, chain: Chain, positions: Mapping[str, float]) -> Scene:
        """Return the scene of a chain whose other joints are at some positions.

        One thread calls it; the scene is good until the next call.

        Args:
            chain: The chain.
            positions: Positions of the robot's joints by name [rad or m].

        Raises:
            RequestRefusedError: COLLISION_CHECKING_UNAVAILABLE; why there is none.
        """
        try:
            used = self._used.get((chain.root, chain.tip))
            if used is None or used.scene.chain is not chain:
                used = self._used[chain.root, chain.tip] = self.scene_of(chain)
            with giving_way():
                missing = self.update(used, positions)
        except BasisIkError as error:
            raise _unavailable(
                f"{error}; set avoid_collisions to false, or the node's parameter "
                "avoid_collisions to ignore"
            ) from None
        if missing:
            name, frame = next(iter(missing.items()))
            raise _unavailable(
                f"the object '{name}' stands in '{frame}', and tf has no transform of it that is "
                f"new enough; publish it, or remove {listed(tuple(missing))}"
            )
        return used.scene

    def scene_of(self, chain: Chain, padding: float = 0.0) -> WorldScene:
        """Return a scene of a chain for one more thread, still without objects.

        Args:
            chain: The chain.
            padding: Distance that is kept [m].

        Raises:
            BasisIkError: The robot has no shapes, or one of them is refused.
        """
        with self._lock, giving_way():
            alone = self._alone.get((chain.root, chain.tip))
            if alone is None or alone.chain is not chain:
                alone = self._alone[chain.root, chain.tip] = Scene(
                    self._model, chain, srdf=self._srdf
                )
            return WorldScene(alone.copy(padding))

    def update(
        self, followed: WorldScene, positions: Mapping[str, float] | None = None
    ) -> dict[str, str]:
        """Bring a scene up to date: its objects, and the links that other joints move.

        Args:
            followed: As of `scene_of`; its own thread calls this.
            positions: Positions of the robot's joints by name [rad or m]; None: as measured now.

        Returns:
            The frames that are not known, by the ids of the objects that stand in them: these are
            not in the scene, so it cannot say that a motion is free.

        Raises:
            SceneError: The newest cloud of points is too old; or something does not fit.
        """
        missing = self.follow(followed, positions)
        topic, most = self._points
        sight = self._world.state.sights.get(CLOUD_NAME)
        if topic and (sight is None or abs(self.frames.now() - sight.time) > 1e9 * most):
            text = f"no cloud has come on {topic} that is less than {most:g} s old"
            raise SceneError(
                CLOUD_NAME, f"{text}; let the sensor publish, or unset point_cloud_topic"
            )
        return missing

    def follow(
        self, followed: WorldScene, positions: Mapping[str, float] | None = None
    ) -> dict[str, str]:
        """Do as `update` does, however old clouds of points are."""
        chain, positions = followed.scene.chain, self.frames.positions(positions)
        off = joints_off(self._model, chain)
        followed.scene.hold({name: positions[name] for name in off if name in positions})
        return followed.update(self._world.state, self.frames.lookup(followed.reference, positions))

    def left_out(self, chains: Iterable[Chain]) -> list[frozenset[str]]:
        """Return the pairs of links that no scene of some chains compares."""
        compared: set[frozenset[str]] = set()
        left: dict[frozenset[str], None] = {}
        for chain in chains:
            try:
                scene = self.scene_of(chain).scene
            except BasisIkError:  # the requests that need it say why
                return []
            compared |= {frozenset(pair) for pair in scene.pairs}
            left |= dict.fromkeys(map(frozenset, scene.left_out))
        return [pair for pair in left if pair not in compared]


def _unavailable(text: str) -> RequestRefusedError:
    code = MoveItErrorCodes.COLLISION_CHECKING_UNAVAILABLE
    return RequestRefusedError(code, f"avoid_collisions: {text}")
