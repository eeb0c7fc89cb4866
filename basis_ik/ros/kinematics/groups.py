# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Groups, MoveIt's names of arms, and the links of their chains."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from moveit_msgs.msg import MoveItErrorCodes

from basis_ik.arm.admission import printable
from basis_ik.arm.arm import Arm
from basis_ik.robot.chain import Chain
from basis_ik.robot.joint_path import ChainError
from basis_ik.ros.kinematics.robot_state import RequestRefusedError


class Groups:
    """Finds arms by name, and the chains that end at their links.

    Args:
        arms: One or more arms of a robot.
        alias: Another name of the only arm; empty: none. Of several arms none has it.
    """

    def __init__(self, arms: Sequence[Arm], alias: str = "") -> None:
        self._arms, self._alias = arms, alias if len(arms) == 1 else ""
        self._chains: dict[tuple[str, str], Chain] = {}

    def arm(self, group: str) -> Arm:
        """Return the arm of a group name: the name of an arm or of its tip, or the alias.

        Raises:
            RequestRefusedError: INVALID_GROUP_NAME.
        """
        named = [
            arm for arm in self._arms if group == arm.name or arm.model.link(group) == arm.chain.tip
        ]
        if group in ("", self._alias) and len(self._arms) == 1:
            named = list(self._arms)
        if not named:
            names = [self._alias or arm.name or arm.chain.tip for arm in self._arms]
            groups = ", ".join(f"'{name}'" for name in names)
            raise RequestRefusedError(
                MoveItErrorCodes.INVALID_GROUP_NAME,
                f"group_name: there is no chain '{printable(group)}'; there are {groups}, "
                "named by the parameters chains and moveit_group",
            )
        return named[0]

    def arms(self, group: str) -> list[Arm]:
        """Return the arms of a group.

        Args:
            group: Name of one arm, as for `arm`; empty: all arms.

        Raises:
            RequestRefusedError: INVALID_GROUP_NAME; also if the arms start at different links.
        """
        if group:
            return [self.arm(group)]
        if len({arm.chain.root for arm in self._arms}) > 1:
            roots = ", ".join(f"{arm.name} at {arm.chain.root}" for arm in self._arms)
            raise RequestRefusedError(
                MoveItErrorCodes.INVALID_GROUP_NAME,
                f"group_name: the chains do not start at one link ({roots}); name one of them",
            )
        return list(self._arms)

    def chain_among(self, arms: Sequence[Arm], link: str) -> Chain:
        """Return the chain to a link that only the joints of one of some arms move.

        Raises:
            RequestRefusedError: INVALID_LINK_NAME.
        """
        for arm in arms[:-1]:
            with contextlib.suppress(RequestRefusedError):
                return self.chain_to(arm, link)
        return self.chain_to(arms[-1], link)

    def chain_to(self, arm: Arm, link: str) -> Chain:
        """Return the chain of an arm's joints that ends at a link.

        Args:
            arm: One of the arms.
            link: A link of the arm, or one that is fixed to it; empty: the tip.

        Raises:
            RequestRefusedError: INVALID_LINK_NAME.
        """
        if link in ("", arm.chain.tip):
            return arm.chain
        kept = self._chains.get((arm.name, link))
        if kept is not None:
            return kept
        try:
            chain = arm.model.chain(arm.chain.root, link)
        except ChainError as error:
            raise RequestRefusedError(MoveItErrorCodes.INVALID_LINK_NAME, str(error)) from None
        foreign = set(chain.joint_names) - set(arm.chain.joint_names)
        if foreign:
            raise RequestRefusedError(
                MoveItErrorCodes.INVALID_LINK_NAME,
                f"link '{link}' is also moved by {', '.join(sorted(foreign))}, "
                f"which the chain to '{arm.chain.tip}' does not have",
            )
        own = [arm.chain.joint_names.index(name) for name in chain.joint_names]
        chain = chain.within(arm.chain.lower[own], arm.chain.upper[own])  # their margin
        return self._chains.setdefault((arm.name, link), chain)
