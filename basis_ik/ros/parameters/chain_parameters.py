# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of one chain: checked by themselves at start, and then against a robot."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from basis_ik.arm.admission import SPEED_UNITS, StampRules, Units
from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.goals import Ray
from basis_ik.arm.input_filter import FilterRules
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.settings import (
    DeviceRules,
    JoystickRules,
    Settings,
    Wish,
    allowance,
    is_spatial,
    misplaced,
)
from basis_ik.arm.target_input import carried_links
from basis_ik.collision.pairs import read_srdf
from basis_ik.errors import BasisIkError
from basis_ik.robot.chain import Chain
from basis_ik.robot.elements import Element, UrdfError, listed, shown
from basis_ik.robot.grammar import number
from basis_ik.robot.joint_path import ChainError, path_between
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.outputs.make_output import SHARED_INTERFACE
from basis_ik.ros.parameters.arm_parameters import pointing_ray
from basis_ik.ros.parameters.ik_parameters import AUTO, FILTERED_INPUTS, POSTURE_PREFIX
from basis_ik.ros.parameters.parameters import ConfigError, Parameters, controllers_of, refused
from basis_ik.search.pose_constraint import PoseConstraint

MOST_JOINTS = 100  # of one chain
# A speed override below this counts as 0, because a motion would take hours.
SLOWEST_OVERRIDE = 1e-3


class ChainParameters:
    """The parameters of one chain.

    Args:
        parameters: The node's parameters.
        chain: Name of the chain; empty if it is the only one.
    """

    def __init__(self, parameters: Mapping[str, Any] | Parameters, chain: str) -> None:
        self._parameters = parameters
        self._prefix = f"{chain}." if chain else ""

    def __getitem__(self, name: str) -> Any:
        """Return a value; the name has no prefix."""
        return self._parameters[self._prefix + name]

    def refused(self, name: str, text: object) -> ConfigError:
        """Return the error for a value; the name has no prefix."""
        return refused(self._prefix + name, str(text))

    def check(self) -> None:
        """Check the values against each other.

        Raises:
            ConfigError: Root and tip are the same link, two lists differ in length, or the
                interface is not for several controllers.
        """
        root, tip = self["root_link"], self["tip_link"]
        if root and root == tip:
            raise self.refused("tip_link", f"is {shown(tip)}, like root_link; name two links")
        if (
            len(controllers_of(self["controller"])) > 1
            and self["command_interface"] != SHARED_INTERFACE
        ):
            text = f"names several controllers, which need command_interface: {SHARED_INTERFACE}"
            raise self.refused("controller", text)
        given = [name for name in ("home", "max_acceleration", "max_jerk") if self[name]]
        for first, second in itertools.pairwise(given):
            if len(self[first]) != len(self[second]):
                text = f"has {len(self[second])} numbers, and {first} has {len(self[first])}"
                raise self.refused(second, f"{text}; each joint of the chain needs one in both")

    def chain(self, model: RobotModel) -> Chain:
        """Return the chain.

        Raises:
            ConfigError: The robot does not have it, or it has too many joints; the message names
                the parameter to change.
            ChainError: The robot has no arm.
        """
        root, tip = self["root_link"] or None, self["tip_link"] or None
        try:
            chain = model.chain(root, tip)
        except ChainError as error:
            name = _parameter_at_fault(error, root, tip)
            if name is None:
                raise
            value = f"is {shown(self[name])}" if self[name] else "is empty"
            raise self.refused(name, f"{value}: {error}") from None
        way = path_between(chain.root, chain.tip, model.joints)
        if not any(step.joint.moves and not step.upwards for step in way):
            text = (
                f"is {listed((chain.tip,))}, which is not below root_link {listed((chain.root,))}"
            )
            raise self.refused("tip_link", f"{text}: the two are the wrong way round")
        count = len(chain.joint_names)
        if count > MOST_JOINTS:
            # A solve would take longer than a period of the control loop.
            text = f"leaves {count} joints to move between {chain.root} and {chain.tip}"
            raise self.refused(
                "tip_link", f"{text}; at most {MOST_JOINTS} can be followed: choose another link"
            )
        return self._narrowed(chain)

    def _narrowed(self, chain: Chain) -> Chain:
        """Return the chain with limits reduced by `joint_limit_margin`."""
        margin, names = self["joint_limit_margin"], chain.joint_names
        if not margin:
            return chain
        if len(margin) not in (1, len(names)):
            text = f"must have 1 number or {len(names)} ({', '.join(names)}), not {len(margin)}"
            raise self.refused("joint_limit_margin", text)
        try:
            return chain.within(chain.lower + np.array(margin), chain.upper - np.array(margin))
        except ChainError as error:
            raise self.refused("joint_limit_margin", f"is {margin}: {error}") from None

    def ray(self, model: RobotModel, chain: Chain) -> Ray:
        """Return the ray that points at target points, in tip coordinates.

        Raises:
            ConfigError: `pointing_frame` is not a link that is fixed to the tip.
        """
        frame = self["pointing_frame"]
        try:
            return pointing_ray(model, chain, self["pointing_axis"], frame)
        except BasisIkError as error:
            text = f"is {shown(frame)}, which is not fixed to {chain.tip}: {error}"
            raise self.refused("pointing_frame", text) from None

    def postures(self, chain: Chain) -> dict[str, tuple[float, ...] | str]:
        """Return the postures of the chain: `home`, those of `postures`, and those of the SRDF.

        A posture of a parameter replaces that of the SRDF. Of these one that does not fit is kept
        with its fault, because an SRDF is often made by others.

        Raises:
            ConfigError: One does not have one number per joint, or one that is outside its limits;
                `home` is given twice; or the SRDF cannot be read.
        """
        srdf: str = self._parameters["robot_description_semantic"]
        try:
            found = group_states(read_srdf(srdf), chain) if srdf else {}
        except BasisIkError as error:
            raise refused("robot_description_semantic", f"cannot be read: {error}") from None
        begin = f"{self._prefix}{POSTURE_PREFIX}"
        named = (each for each in self._parameters if each.startswith(begin))
        given = {each.removeprefix(begin): each for each in named}
        if self["home"]:
            if "home" in given:
                raise self.refused("home", f"is also given as {given['home']}; leave one out")
            given["home"] = f"{self._prefix}home"
        for name, parameter in given.items():
            positions = self._parameters[parameter]
            complaint = misplaced(chain, positions)
            if complaint:
                raise refused(parameter, f"does not fit: {complaint}")
            found[name] = tuple(positions)
        return dict(sorted(found.items()))

    def posture_complaint(self, chain: Chain, posture: Sequence[float]) -> str | None:
        """Return why positions are no posture of the chain, or None."""
        names = chain.joint_names
        if len(posture) in (0, len(names)):
            return None
        return f"must have {len(names)} numbers ({', '.join(names)}), not {len(posture)}"

    def elbow_complaint(self, chain: Chain, model: RobotModel, link: str) -> str | None:
        """Return why a link cannot be the chain's elbow, or None."""
        name = model.link(link)
        if not name or name in carried_links(chain):
            return None
        links = listed(tuple(each for each in model.links if each in carried_links(chain)))
        return f"is {shown(link)}, which is no link of the chain that its joints move: {links}"

    def check_wish(self, chain: Chain, model: RobotModel) -> None:
        """Check the parameters `preferred_posture` and `elbow.link`.

        Raises:
            ConfigError: One does not fit the chain.
        """
        for name, complaint in (
            ("preferred_posture", self.posture_complaint(chain, self["preferred_posture"])),
            ("elbow.link", self.elbow_complaint(chain, model, self["elbow.link"])),
        ):
            if complaint:
                raise self.refused(name, complaint)

    def orientation(self, chain: Chain) -> str:
        """Return what of a pose's orientation counts: the parameter's value, or what suits best."""
        given: str = self["orientation"]
        return given if given != AUTO else "full" if is_spatial(chain) else "near"

    def wish(self, model: RobotModel, chain: Chain) -> Wish:
        """Return what of poses counts, and which solutions are wanted."""
        position, turn = self["tolerance.position"], self["tolerance.orientation"]
        constraint, counts = allowance(position, turn), self.orientation(chain)
        if counts == "axis" and not turn:
            box = (constraint or PoseConstraint()).box
            constraint = PoseConstraint(free_axis=self.ray(model, chain).axis, box=box)
        link, point = model.link(self["elbow.link"]), tuple(self["elbow.point"])
        elbow = (link, point) if link and point else None
        weights = tuple(self["weights"]) or None
        near = counts == "near"
        return Wish(constraint, weights, tuple(self["preferred_posture"]), elbow, near)

    def settings(self, model: RobotModel, chain: Chain) -> Settings:
        """Return the settings of the arm.

        Args:
            model: The robot.
            chain: The chain.
        """
        node = self._parameters
        override: float = self["speed_override"]
        return Settings(
            stamp_rules=StampRules(
                max_age=round(node["target_max_age"] * 1e9),
                max_future=round(node["target_max_future"] * 1e9),
            ),
            target_max_reach=node["target_max_reach"],
            transform_timeout=node["transform_timeout"],
            joint_state_timeout=node["joint_state_timeout"],
            resume_timeout=node["resume_timeout"],
            twist_lasts=node["incoming_command_timeout"],
            units=self.units(),
            position_only=node["position_only_ik"],
            approximate=self["approximate"],
            solver=self["solver"],
            path=self["path"],
            singularities=self["singularities"],
            jog_slides=self["jog_slides"],
            velocity_scaling=node["max_velocity_scaling_factor"],
            acceleration_scaling=node["max_acceleration_scaling_factor"],
            speed_override=override if override >= SLOWEST_OVERRIDE else 0.0,
            max_linear_speed=self["max_linear_speed"],
            max_angular_speed=self["max_angular_speed"],
            position_tolerance=node["position_threshold"],
            orientation_tolerance=node["orientation_threshold"],
            goal_tolerance=node["goal_tolerance"],
            joint_limit_margin=tuple(self["joint_limit_margin"]),
            follow_drag=self["follow_drag"],
            tool_frame=model.link(self["tool_frame"]),
            device=DeviceRules(
                model.link(self["device.axes"]),
                *(self[f"device.{name}"] for name in DeviceRules._fields[1:]),
            ),
            wish=self.wish(model, chain),
            angular_frame=model.link(self["angular_frame"]),
            filters={
                name: FilterRules(
                    self[f"filter.{name}.outliers"],
                    self[f"filter.{name}.lag"],
                    tuple(self[f"filter.{name}.dead_band"]),
                )
                for name in FILTERED_INPUTS
            },
        )

    def units(self) -> Units:
        """Return the units of twists and joint velocities."""
        return SPEED_UNITS if self["command_in_type"] == "speed_units" else self._fractions()

    def _fractions(self) -> Units:
        return Units(1.0, *(self[f"scale.{name}"] for name in ("linear", "rotational", "joint")))

    def joystick(self) -> JoystickRules:
        """Return what the axes of a joystick mean."""
        return JoystickRules(tuple(self["joy.axes"]), self["joy.enable_button"], self._fractions())

    def caps(self, model: RobotModel, chain: Chain) -> SpeedCaps:
        """Return the caps on the speeds of the tip and of `capped_links`; their values are unset.

        Raises:
            ConfigError: A link does not exist, does not move, or is also moved by joints outside
                the chain.
        """
        others = []
        for link in self["capped_links"]:
            try:
                other = model.chain(chain.root, link)
            except ChainError as error:
                raise self.refused("capped_links", f"has {shown(link)}: {error}") from None
            foreign = [name for name in other.joint_names if name not in chain.joint_names]
            if foreign:
                text = f"has {shown(link)}, which is moved by {listed(tuple(foreign))}, too"
                raise self.refused("capped_links", f"{text}: not a joint of the chain")
            others.append(other)
        return SpeedCaps(chain, others)

    def limits(self, chain: Chain) -> MotionLimits:
        """Return the chain's motion limits; an empty list means the default.

        Raises:
            ConfigError: A list does not have one number per joint.
        """
        given = {name: self[name] for name in ("max_acceleration", "max_jerk")}
        names = chain.joint_names
        for name, values in given.items():
            if values and len(values) != len(names):
                text = f"must have {len(names)} numbers ({', '.join(names)}), not {len(values)}"
                raise self.refused(name, text)
        acceleration, jerk = (np.array(each) if each else None for each in given.values())
        return MotionLimits.of_chain(chain, acceleration, jerk)


def group_states(srdf: Element, chain: Chain) -> dict[str, tuple[float, ...] | str]:
    """Return the postures that an SRDF has for a chain, by name.

    A posture is made of all `<group_state>`s of one name, of whatever groups. Joints of the chain
    that it does not have are NaN, and other joints do not count.

    Args:
        srdf: The root element of the SRDF.
        chain: The chain.

    Returns:
        Positions (n,) [rad or m]; or why a posture cannot be used.
    """
    given: dict[str, dict[str, float]] = {}
    faults: dict[str, str] = {}
    for state in srdf.all("group_state"):
        name = state.attributes.get("name", "")
        for each in state.all("joint"):
            joint = each.attributes.get("name", "")
            if joint not in chain.joint_names:
                continue
            own = given.setdefault(name, {})
            try:
                value = number(each, "value", math.inf, joint)
            except UrdfError as error:
                faults.setdefault(name, str(error))
            else:
                if own.setdefault(joint, value) != value:
                    faults.setdefault(name, f"{joint} is at {own[joint]:g}, and at {value:g}")
    found: dict[str, tuple[float, ...] | str] = {}
    inside = np.clip(0.0, chain.lower, chain.upper)
    for name, own in given.items():
        positions = tuple(own.get(joint, math.nan) for joint in chain.joint_names)
        whole = np.where(np.isnan(positions), inside, positions).tolist()
        found[name] = faults.get(name) or misplaced(chain, whole) or positions
    return found


def _parameter_at_fault(error: ChainError, root: str | None, tip: str | None) -> str | None:
    """Return the parameter that causes an error; None: the robot causes it."""
    if error.link is not None:
        return "root_link" if error.link == root else "tip_link"
    if error.joint is not None:
        return (
            None if root is None else "root_link"
        )  # it has a joint that the solver does not support
    if error.candidates or tip is not None:
        return "tip_link"
    return None if root is None else "root_link"


def check_apart(chains: Mapping[str, Chain]) -> None:
    """Refuse chains that share joints.

    Args:
        chains: By name.

    Raises:
        ConfigError: Two chains have a joint in common.
    """
    for (one, first), (other, second) in itertools.combinations(chains.items(), 2):
        common = tuple(name for name in first.joint_names if name in second.joint_names)
        if common:
            text = f"has '{one}' and '{other}', which both move {listed(common)}"
            remedy = f"start one below, by {one}.root_link or {other}.root_link, or leave one out"
            raise refused("chains", f"{text}; {remedy}")
