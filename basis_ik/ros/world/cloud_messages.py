# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reads clouds of points: where they are, without the robot and what it cannot reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sensor_msgs.msg import PointCloud2, PointField

from basis_ik.arm.admission import Refused, StampRules, admit_stamp
from basis_ik.arm.arm import Arm
from basis_ik.arm.clearance import CLEARANCE_TUNING
from basis_ik.collision import point_cloud
from basis_ik.collision.point_cloud import PointCloud, refuse_many, seen
from basis_ik.collision.shape import SceneError
from basis_ik.collision.world import Sight, WorldScene
from basis_ik.errors import BasisIkError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.elements import shown
from basis_ik.ros.kinematics.scenes import CLOUD_NAME, Scenes
from basis_ik.ros.parameters.parameters import Parameters

NUMBER_TYPES = {PointField.FLOAT32: "f4", PointField.FLOAT64: "f8"}
FARTHEST_CLOUD_POINT = 1e3  # [m]


class CloudReader:
    """Reads clouds of points around a robot.

    Args:
        arms: The robot's arms.
        scenes: Its scenes, and its frames.
        parameters: The node's.
    """

    def __init__(self, arms: Sequence[Arm], scenes: Scenes, parameters: Parameters) -> None:
        self._arms, self._scenes, self._parameters = arms, scenes, parameters
        self._followed: list[WorldScene] = []
        point_cloud.warm_up()

    def read(self, message: PointCloud2, before: Sight | None) -> Sight:
        """Return what a message shows, in the frame of the robot's root.

        Args:
            message: The message.
            before: What was seen last.

        Raises:
            SceneError: It is refused.
        """
        points, frames, parameters = xyz_of(message), self._scenes.frames, self._parameters
        root, stamp = self._arms[0].model.root, message.header.stamp
        now, oldest = frames.now(), round(1e9 * parameters["point_cloud_max_age"])
        rules = StampRules(oldest, round(1e9 * parameters["target_max_future"]))
        time = admit_stamp(stamp.sec, stamp.nanosec, now=now, newest=0, rules=rules)
        if isinstance(time, Refused):
            raise SceneError(CLOUD_NAME, f"header.stamp: {time}; let both computers have one time")
        frame = message.header.frame_id.removeprefix("/")
        if before is not None and before.source != frame and abs(now - before.time) <= oldest:
            text = f"header.frame_id: it is {shown(frame)}, and was {shown(before.source)} just now"
            raise SceneError(CLOUD_NAME, f"{text}; merge the clouds of several sensors into one")
        time = time or now
        positions = frames.positions_at(time)
        root_T_frame = frames.seen(root, frame, positions)
        if root_T_frame is None:
            text = f"header.frame_id: there is no transform of {shown(frame)}"
            raise SceneError(CLOUD_NAME, f"{text}; publish it, and joint states")
        try:
            if not self._followed:
                self._followed = [self._scenes.scene_of(arm.chain) for arm in self._arms]
            for each in self._followed:
                self._scenes.follow(each, positions)
        except BasisIkError as error:
            raise SceneError(CLOUD_NAME, f"the robot cannot be told from others: {error}") from None
        kept = seen(points, root_T_frame.matrix[:3].copy(), *self._robot(root, positions))
        cloud = PointCloud.of(kept, parameters["point_cloud_resolution"])
        # A point that the arm came up to must not get so near that it counts as the robot's.
        return Sight(cloud, root, time, frame, parameters["point_cloud_padding"])

    def _robot(self, root: str, positions: Any) -> tuple[FloatArray, FloatArray]:
        """Return what the arms reach (a, 4), and the robot's capsules (k, 7), in a root frame."""
        lookup, reaches = self._scenes.frames.lookup(root, positions), []
        padding = self._parameters["point_cloud_padding"]
        for arm, followed in zip(self._arms, self._followed, strict=True):
            root_T_chain = lookup(arm.chain.root)
            names = arm.chain.joint_names
            if root_T_chain is None or not all(name in positions for name in names):
                raise SceneError(
                    CLOUD_NAME, "it is not known where the robot is; publish joint states"
                )
            reach, scene = followed.scene.reach(), arm.pipeline.scene
            reach[:3] = root_T_chain.apply(reach[:3])
            reach[3] += (
                CLEARANCE_TUNING.horizon + padding + (0.0 if scene is None else scene.padding)
            )
            if not reach[3] <= FARTHEST_CLOUD_POINT:  # a joint that slides without end
                reach[3] = FARTHEST_CLOUD_POINT
            reaches.append(reach)
            if arm is self._arms[0]:
                capsules = followed.scene.robot_at([positions[name] for name in names])
                ends = root_T_chain.apply(capsules[:, :6].reshape(-1, 3))
                capsules[:, :6] = ends.reshape(-1, 6)
        capsules[:, 6] += padding
        return np.array(reaches), capsules


def xyz_of(message: PointCloud2) -> FloatArray:
    """Return the points (n, 3) of a message, those that are not finite, too.

    Raises:
        SceneError: It has no x, y and z of float32 or float64, or its sizes do not fit.
    """
    width, height, step = message.width, message.height, message.point_step
    refuse_many(CLOUD_NAME, width * height)
    if message.row_step < width * step or len(message.data) != height * message.row_step:
        text = f"data: {len(message.data)} bytes are not {height} rows of {message.row_step}"
        raise SceneError(CLOUD_NAME, f"{text}, each of {width} points of {step}; send all of them")
    columns = []
    for name in "xyz":
        given = [each for each in message.fields if each.name == name]
        if len(given) != 1 or given[0].datatype not in NUMBER_TYPES or given[0].count != 1:
            text = f"fields: {name} has to be there once, as one FLOAT32 or FLOAT64"
            raise SceneError(CLOUD_NAME, f"{text}; publish points in metres")
        kind = np.dtype((">" if message.is_bigendian else "<") + NUMBER_TYPES[given[0].datatype])
        offset = given[0].offset
        if offset + kind.itemsize > step:
            text = f"fields: {name} ends beyond point_step, {step}; correct its offset"
            raise SceneError(CLOUD_NAME, text)
        if width * height:
            shape, strides = (height, width), (message.row_step, step)
            columns.append(np.ndarray(shape, kind, message.data, offset, strides).ravel())
    return np.column_stack(columns).astype(np.float64) if columns else np.empty((0, 3))
