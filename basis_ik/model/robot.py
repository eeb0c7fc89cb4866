"""A robot: links and joints in one tree, from its URDF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from basis_ik.model.chain import Chain, build_chain
from basis_ik.model.infer import infer_ends
from basis_ik.model.tree import find_root, resolve_mimics
from basis_ik.model.urdf import Joint, Mimic, read_urdf


@dataclass(frozen=True, eq=False)
class RobotModel:
    """A tree of links and joints.

    Attributes:
        name: The robot's name, empty if the URDF states none.
        links: Link names in document order.
        joints: Joints by name in document order.
        root: The one link without a parent.
        mimics: For each mimic joint the joint that really drives it, mimic chains composed.
    """

    name: str
    links: tuple[str, ...]
    joints: Mapping[str, Joint]
    root: str
    mimics: Mapping[str, Mimic]

    @staticmethod
    def from_urdf(text: str) -> RobotModel:
        """Read a robot from URDF text (not a file name; xacro expanded).

        Raises:
            UrdfError: The text is not a URDF of one well-formed robot; line, joint or names told.
        """
        name, links, joints = read_urdf(text)
        root = find_root(links, joints)
        by_name = {joint.name: joint for joint in joints}
        return RobotModel(
            name=name,
            links=tuple(links),
            joints=MappingProxyType(by_name),
            root=root,
            mimics=MappingProxyType(resolve_mimics(by_name)),
        )

    def chain(self, root: str | None = None, tip: str | None = None) -> Chain:
        """Return the chain of joints from one link to another.

        The two may be any links: where the tip is not below the root the chain climbs to their
        common ancestor first, with those joints reversed.

        Args:
            root: Link whose frame targets are expressed in; None to infer it.
            tip: Link that is to reach them; None to infer it, where the tree has one obvious arm.

        Raises:
            ChainError: An unknown link, no obvious arm (the candidates are listed), no moving joint
                between the two, or a floating or planar joint.
        """
        root, tip, inferences = infer_ends(self, root, tip)
        return build_chain(self, root, tip, inferences)
