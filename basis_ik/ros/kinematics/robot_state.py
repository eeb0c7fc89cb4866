# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Conversions between moveit_msgs' robot states and joint positions, and error codes."""

from __future__ import annotations

from collections.abc import Mapping

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Transform
from moveit_msgs.msg import MoveItErrorCodes, RobotState
from sensor_msgs.msg import JointState

from basis_ik.arm.admission import printable
from basis_ik.descent.pose_search_kernel import LARGEST_ANGLE
from basis_ik.errors import BasisIkError
from basis_ik.robot.elements import listed
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.variables import tie_of


class RequestRefusedError(BasisIkError):
    """A request whose response is an error code.

    Attributes:
        code: One of MoveItErrorCodes.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def positions_in(
    state: RobotState, model: RobotModel, field: str = "robot_state"
) -> dict[str, float]:
    """Return the positions of the independent joints in a robot state [rad or m].

    Joints that the robot does not have or that do not move are ignored, as in joint states: clients
    pass on all that is published, and MoveIt's virtual joint. Mimic joints are ignored, because
    they follow from the others; attached objects are ignored: those of the planning scene hold.

    Args:
        state: The state.
        model: The robot.
        field: The state's name in the request.

    Raises:
        RequestRefusedError: INVALID_ROBOT_STATE: a joint is named twice or has several degrees of
            freedom, or a number of the robot's joints is not finite.
    """
    virtual = state.multi_dof_joint_state
    is_own = any(name in model.joints for name in virtual.joint_names)
    rests = all(each == type(each)() for each in (*virtual.twist, *virtual.wrench))
    if is_own or not rests or virtual.transforms != [Transform()] * len(virtual.joint_names):
        raise _bad_state(
            field, "multi_dof_joint_state is not supported: joints have one value each"
        )
    names, positions = state.joint_state.name, state.joint_state.position
    if len(names) != len(positions):
        text = f"joint_state has {len(names)} names and {len(positions)} positions"
        raise _bad_state(field, text)
    if len(set(names)) < len(names):
        twice = {name for name in names if names.count(name) > 1}
        text = f"joint_state names {printable(listed(tuple(sorted(twice))))} twice"
        raise _bad_state(field, text)
    moving = {name for name, joint in model.joints.items() if joint.moves}
    known = {
        name: position for name, position in zip(names, positions, strict=True) if name in moving
    }
    for name, position in known.items():
        if not abs(position) <= LARGEST_ANGLE:
            text = f"joint '{name}' at {position} is not within ±{LARGEST_ANGLE:g}"
            raise _bad_state(field, text)
    return {name: float(value) for name, value in known.items() if name not in model.mimics}


def state_message(positions: Mapping[str, float], model: RobotModel, stamp: Time) -> RobotState:
    """Return the state of independent joints, followed by their mimic joints.

    Args:
        positions: Positions of independent joints [rad or m].
        model: The robot.
        stamp: Time of the state.
    """
    whole = dict(positions)
    for name, joint in model.joints.items():
        tie = tie_of(joint, model.mimics)
        if name in model.mimics and tie.joint in positions:
            whole[name] = tie.multiplier * positions[tie.joint] + tie.offset
    joint_state = JointState(name=list(whole), position=list(whole.values()))
    joint_state.header.stamp = stamp
    joint_state.header.frame_id = model.root
    return RobotState(joint_state=joint_state)


def error_code(value: int, text: str) -> MoveItErrorCodes:
    """Return an error code with a text, for which releases before Jazzy have no field."""
    code = MoveItErrorCodes(val=value)
    if hasattr(code, "message"):
        code.message, code.source = text, "basis_ik"
    return code


def _bad_state(field: str, text: str) -> RequestRefusedError:
    return RequestRefusedError(MoveItErrorCodes.INVALID_ROBOT_STATE, f"{field}: {text}")
