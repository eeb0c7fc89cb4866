# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The tool at a chain's tip: a frame fixed to it, which may change at run time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from basis_ik.arm.admission import Refused, admit_place
from basis_ik.errors import BasisIkError
from basis_ik.process import giving_way
from basis_ik.robot.chain import Chain
from basis_ik.robot.elements import shown
from basis_ik.robot.placement import place_link
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.boundary import Job
from basis_ik.ros.frame_buffer import FrameBuffer, look_up_fixed
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.warm_up import prepare


class Tool:
    """The frame of a chain that moves to the targets.

    Args:
        model: The robot.
        chain: One of its chains, which ends at a link.
        buffer: Source of the transforms; queried with zero timeout.
        submit: Lets another thread make a chain.

    Attributes:
        frame: The tool's frame; empty: the chain's tip.
        chain: The chain that ends there.
    """

    def __init__(
        self,
        model: RobotModel,
        chain: Chain,
        buffer: FrameBuffer,
        submit: Callable[[Callable[[], Chain]], Job[Chain]],
    ) -> None:
        self._submit = submit
        self._model, self._buffer, self._bare = model, buffer, chain
        self.frame, self.chain = "", chain
        self._next = ""
        self._making: Job[Chain] | None = None

    def complaint(self, frame: str) -> str | None:
        """Return why a frame cannot be the tool, to follow the parameter's name, or None."""
        found = self._find(self._model.link(frame))
        if isinstance(found, str):
            return f"is {shown(frame)}, which is not fixed to {self._bare.tip}: {found}"
        return None

    def change(self, frame: str) -> str:
        """Change the tool; return why it is not ready, or nothing. Call it until it is ready."""
        if not frame:
            self.frame, self.chain = "", self._bare
            return ""
        if self._next != frame:
            found = self._find(frame)
            if isinstance(found, str):
                return f"tool_frame {shown(frame)}: {found}"
            made = self._bare.with_tool(frame, found)
            self._next, self._making = frame, self._submit(partial(_prepared, made))
        if self._making is None or not self._making.done():
            return "the tool is being prepared"
        self.frame, self.chain, self._next = frame, self._making.result(), ""
        return ""

    def _find(self, frame: str) -> RigidTransform | str:
        """Return tip_T_frame, or why there is none, in one line."""
        if not frame:
            return RigidTransform.identity()
        if frame in self._model.links:
            try:
                return place_link(self._model, self._bare.tip, frame, {})
            except BasisIkError as error:
                return str(error)
        found = look_up_fixed(self._buffer, self._bare.tip, frame)
        if isinstance(found, Refused):
            return str(found)
        refused = admit_place(found.translation.tolist())
        return found if refused is None else str(refused)


def _prepared(chain: Chain) -> Chain:
    """Return a chain with all its precomputed data, so that the control loop need not wait."""
    with giving_way():
        prepare(chain)
    return chain
