# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of `ik_node`."""

from __future__ import annotations

from collections.abc import Sequence

from basis_ik.collision.collision_scene import LARGEST_PADDING
from basis_ik.collision.point_cloud import COARSEST_VOXEL, FINEST_VOXEL
from basis_ik.robot.joint_rates import LEAST_RATE, MOST_ACCELERATION, MOST_JERK
from basis_ik.ros.outputs.make_output import INTERFACES
from basis_ik.ros.outputs.replacement_rule import ASK, RULES
from basis_ik.ros.parameters.arm_parameters import axis_complaint
from basis_ik.ros.parameters.parameters import (
    Declaration,
    controllers_complaint,
    given_frame_complaint,
    names_complaint,
    topic_complaint,
)

COLLISIONS = ("check", "refuse", "ignore")
PLANNING_SCENES = SERVE, LISTEN, IGNORE = ("serve", "listen", "ignore")


def cloud_topic_complaint(name: str) -> str | None:
    """Return why a text is neither a topic's name nor empty, or None."""
    return topic_complaint(name) if name else None


def one_or_three_complaint(values: Sequence[float]) -> str | None:
    """Return why numbers are not one for each axis, one for all or none, or None."""
    return None if len(values) in (0, 1, 3) else f"must be 1 or 3 numbers, not {len(values)}"


def weights_complaint(values: Sequence[float]) -> str | None:
    """Return why numbers are neither six nor none, or None."""
    return None if len(values) in (0, 6) else f"must be 6 numbers, not {len(values)}"


def joystick_complaint(axes: Sequence[int]) -> str | None:
    """Return why numbers are neither six axes nor none, or None."""
    return None if len(axes) in (0, 6) else f"must be 6 numbers, not {len(axes)}"


def pair_complaint(buttons: Sequence[int]) -> str | None:
    """Return why numbers are neither two nor none, or None."""
    return None if len(buttons) in (0, 2) else f"must be 2 numbers, not {len(buttons)}"


def point_complaint(values: Sequence[float]) -> str | None:
    """Return why numbers are neither three nor none, or None."""
    return None if len(values) in (0, 3) else f"must be 3 numbers, not {len(values)}"


NODE_PARAMETERS = (
    Declaration(
        "robot_description",
        "",
        "URDF text; empty: from the topic robot_description.",
        read_only=True,
    ),
    Declaration(
        "robot_description_semantic",
        "",
        "SRDF text, as MoveIt's; its `disable_collisions` say which pairs of links are not "
        "compared for collisions, otherwise samples of the joints say it; its `group_state`s are "
        "postures.",
        read_only=True,
    ),
    Declaration(
        "chains",
        [],
        "Names of the chains; empty: one, whose parameters and topics have no prefix.",
        read_only=True,
        check=names_complaint,
    ),
    Declaration(
        "mimic_limits",
        False,
        "Whether position limits of mimic joints also bind the joint that they mimic; the start-up "
        "report says where they are narrower.",
        read_only=True,
    ),
    Declaration(
        "frame_prefix",
        "",
        "What robot_state_publisher puts before the names of all links in tf, by its parameter of "
        "the same name: `arm1/`. Frames in messages, both ways, then have it; parameters and "
        "requests may name links with or without it.",
        read_only=True,
        check=given_frame_complaint,
    ),
    Declaration(
        "moveit_group",
        "",
        "Name by which MoveIt's clients call the only chain, beside that of its tip: their "
        "planning group. Several chains have their names of `chains`.",
        read_only=True,
    ),
    Declaration("update_rate", 100.0, "Rate of the control loop [Hz].", 10.0, 1000.0, True),
    Declaration(
        "record",
        "",
        "File for a recording of the node's input and output, for `ros2 run basis_ik replay`; "
        "a folder: a new file in it; empty: no recording.",
        read_only=True,
    ),
    Declaration(
        "autostart", True, "Configure and activate without a transition request.", read_only=True
    ),
    Declaration(
        "position_only_ik",
        False,
        "Leave the orientation of the tip free; applies to later poses.",
    ),
    Declaration(
        "position_threshold", 1e-5, "Position error that counts as reached [m].", 1e-9, 1.0
    ),
    Declaration(
        "orientation_threshold", 1e-5, "Orientation error that counts as reached [rad].", 1e-9, 3.2
    ),
    Declaration(
        "goal_tolerance",
        0.01,
        "Largest distance of a measured joint from the goal that counts as arrived [rad or m].",
        1e-6,
        3.2,
    ),
    Declaration(
        "tracking_lag",
        0.2,
        "Largest time by which the arm may lag behind its commands [s].",
        0.0,
        5.0,
        read_only=True,
    ),
    Declaration(
        "tracking_margin",
        0.1,
        "Largest tracking error of a joint beyond that lag; a larger one stops the arm [rad or m].",
        1e-4,
        10.0,
        read_only=True,
    ),
    Declaration(
        "max_velocity_scaling_factor", 0.1, "Fraction of the velocity limits to use.", 1e-3, 1.0
    ),
    Declaration(
        "max_acceleration_scaling_factor",
        0.1,
        "Fraction of the acceleration limits to use. A motion on its way to a goal at rest keeps "
        "the one with which it began.",
        1e-3,
        1.0,
    ),
    Declaration(
        "kinematics_solver_timeout",
        0.1,
        "Timeout of compute_ik for requests without one [s]; from 0.1 s on, the search ends "
        "earlier by itself.",
        1e-6,
        1e3,
    ),
    Declaration(
        "approximate_solutions",
        False,
        "Return the nearest positions from compute_ik if there is no solution.",
    ),
    Declaration(
        "avoid_collisions",
        "check",
        "Response of compute_ik to requests with avoid_collisions: `check` that the arm strikes "
        "neither itself nor an object of the planning scene, `refuse` them, or `ignore` the field "
        "and warn in the log and in each response.",
        choices=COLLISIONS,
    ),
    Declaration(
        "planning_scene",
        "serve",
        "How the node knows the objects around the arm: `serve` MoveIt's topics and services of "
        "planning scenes, `listen` to the topics alone, beside a move_group, or `ignore` them.",
        read_only=True,
        choices=PLANNING_SCENES,
    ),
    Declaration(
        "point_cloud_topic",
        "",
        "Topic of a depth camera or lidar, sensor_msgs/PointCloud2, whose points count as an "
        "object, as MoveIt's parameter of this name; if collisions are checked, the arm moves only "
        "while clouds come. Empty: none.",
        read_only=True,
        check=cloud_topic_complaint,
    ),
    Declaration(
        "point_cloud_resolution",
        0.02,
        "Edge of a voxel of such points [m]: those of each are one sphere.",
        FINEST_VOXEL,
        COARSEST_VOXEL,
        read_only=True,
    ),
    Declaration(
        "point_cloud_padding",
        0.01,
        "Distance from the covers of the links, and of attached objects, up to which points are "
        "those of the robot itself [m]; from all others the arm keeps so much more distance.",
        0.0,
        LARGEST_PADDING,
        read_only=True,
    ),
    Declaration(
        "point_cloud_max_age",
        1.0,
        "Largest age of the newest cloud, by its stamp [s]; with an older one the arm brakes, and "
        "waits for the next.",
        0.01,
        1e4,
        read_only=True,
    ),
    Declaration(
        "success_angle_threshold",
        0.01,
        "Measured pointing error at which a head goal succeeds [rad].",
        1e-6,
        3.2,
    ),
    Declaration(
        "target_max_age",
        2.0,
        "Largest age of a target's stamp, and of the newest transform of a moving frame [s].",
        0.0,
        1e4,
    ),
    Declaration(
        "target_max_future", 0.1, "Largest time by which a stamp may lie ahead [s].", 0.0, 1e4
    ),
    Declaration(
        "target_max_reach",
        10.0,
        "Largest distance of a target pose from the chain's root, in multiples of the chain's "
        "reach; one beyond is refused, because its units are hardly metres. Also for compute_ik.",
        1.0,
        1e6,
    ),
    Declaration(
        "transform_timeout", 0.5, "Longest time a target waits for its transform [s].", 0.0, 10.0
    ),
    Declaration(
        "incoming_command_timeout",
        0.1,
        "Time after which a twist, or velocities of joints, expire [s], as in MoveIt Servo; also a "
        "held clutch, and a device's pose.",
        0.01,
        5.0,
    ),
    Declaration(
        "markers_rate",
        10.0,
        "Rate of the markers while their topic has a subscriber [Hz]; 0: no markers.",
        0.0,
        60.0,
        True,
    ),
    Declaration(
        "joint_state_timeout",
        0.5,
        "Largest age of a joint's position, after which the motion stops; also the largest "
        "difference between a joint state's stamp and the clock [s].",
        0.01,
        10.0,
    ),
    Declaration(
        "resume_timeout",
        1.0,
        "Longest time for which an arm that has braked without joint states keeps its target [s]: "
        "if they are back by then, and it rests where it braked, it goes on by itself. 0: it never "
        "does.",
        0.0,
        10.0,
    ),
)

SOLVERS = ("descent", "fabrik")
COMMAND_TYPES = ("speed_units", "unitless")
PATHS = ("joint", "straight", "straight_or_joint")
SINGULARITIES = ("pass", "slow", "stop")
GRIPPERS = ("none", "gripper_command", "parallel_gripper_command", "position")
AUTO = "auto"
ORIENTATIONS = (AUTO, "full", "axis", "near")
PLAIN_TOPICS = ("twist", "target_pose", "device_pose")
FOLLOW_DRAG = ("live", "release", "confirm")
# Inputs whose samples can be filtered, and of how many parts they are.
FILTERED_INPUTS = {"target_pose": 2, "device_pose": 2, "joint_target": 1}


def filter_declarations(name: str, parts: int) -> tuple[Declaration, ...]:
    """Return the parameters of the filter of an input.

    Args:
        name: The input.
        parts: The number of values of a dead band.
    """

    def complaint(values: Sequence[float]) -> str | None:
        count = len(values)
        return None if count in (0, parts) else f"must be {parts} numbers, not {count}"

    unit = "[m], then [rad]" if parts == 2 else "[rad, m], one for all joints"
    return (
        Declaration(
            f"filter.{name}.outliers",
            False,
            f"Whether a message of ~/{name} counts only when the next one confirms it.",
        ),
        Declaration(
            f"filter.{name}.lag",
            0.0,
            "By how much it is smoothed: the time by which the result lags behind even motion [s].",
            0.0,
            10.0,
        ),
        Declaration(
            f"filter.{name}.dead_band",
            [],
            f"Motion that moves nothing {unit}; empty: none.",
            0.0,
            1e3,
            element=float,
            check=complaint,
        ),
    )


# For each chain: `root_link`, or `left.root_link` if `chains` has the name `left`.
CHAIN_PARAMETERS = (
    Declaration("root_link", "", "First link of the chain; empty: inferred.", read_only=True),
    Declaration("tip_link", "", "Last link of the chain; empty: inferred.", read_only=True),
    Declaration(
        "tool_frame",
        "",
        "Tool frame: a link or static tf frame that is fixed to the tip; later poses, twists and "
        "straight lines move it; empty: the tip. The arm brakes before a change.",
        check=given_frame_complaint,
    ),
    Declaration(
        "solver",
        "descent",
        "Solver for target poses: damped least squares, or FABRIK's passes with a descent if they "
        "do not converge; applies to later poses, not to twists, points and compute_ik.",
        choices=SOLVERS,
    ),
    Declaration(
        "approximate",
        True,
        "Whether the arm moves as near as it can to a target that it cannot reach. If not, such a "
        "target is refused, and an arm in motion brakes. Applies to later targets; "
        "`approximate_solutions` is the same for compute_ik.",
    ),
    Declaration(
        "path",
        "joint",
        "Path to a target pose at rest: `joint` is a line in joint space; `straight` moves the tip "
        "on a line while it turns about one axis. If the line ends before the target, at a joint "
        "limit or a singularity, `straight` stays there and `straight_or_joint` continues in joint "
        "space. Applies to later poses.",
        choices=PATHS,
    ),
    Declaration(
        "orientation",
        AUTO,
        "What of a pose's orientation counts: `full`; the direction of `pointing_axis`, its `axis` "
        "alone; or `near`: first the position, then the orientation as near as the joints allow, "
        "and that counts as reached. `position_only_ik` leaves it free. `auto` is `full` for "
        "chains that move and turn in all directions, and `near` for others, as of five joints. "
        "Applies to later poses.",
        choices=ORIENTATIONS,
    ),
    Declaration(
        "tolerance.position",
        [],
        "How far from a target pose the tip may be along each of the target's axes, to count as "
        "there [m]: one number for all, or three; empty: `position_threshold`. It stays where it "
        "comes into that box. Applies to later poses, not to MoveIt's requests.",
        0.0,
        100.0,
        element=float,
        check=one_or_three_complaint,
    ),
    Declaration(
        "tolerance.orientation",
        [],
        "The same of turns about the target's axes [rad]. From π on the tip turns freely about "
        "that axis; if that is one axis, the other two numbers bound its tilt.",
        0.0,
        1e3,
        element=float,
        check=one_or_three_complaint,
    ),
    Declaration(
        "weights",
        [],
        "Costs of errors along the axes of a target pose that cannot be reached [1/m], then about "
        "them [1/rad]: the arm goes where the sum of the squares of cost times error is least. "
        "Empty: to the nearest position, and there to the nearest orientation. Applies to later "
        "poses.",
        1e-6,
        1e6,
        element=float,
        check=weights_complaint,
    ),
    Declaration(
        "preferred_posture",
        [],
        "Joint positions that are preferred among those that reach a pose [rad, m]: from rest the "
        "nearest of all branches, in motion on the arm's branch. Empty: those nearest to the arm. "
        "Applies to later poses.",
        -1e4,
        1e4,
        element=float,
    ),
    Declaration(
        "elbow.link",
        "",
        "A link of the chain, as an elbow, that is to be near to `elbow.point` among the positions "
        "that reach a pose; with both, `preferred_posture` does not count. Empty: none.",
    ),
    Declaration(
        "elbow.point",
        [],
        "The point in the root link's frame [m]: three numbers; empty: none.",
        -1e3,
        1e3,
        element=float,
        check=point_complaint,
    ),
    Declaration(
        "singularities",
        "slow",
        "Reaction of jogging and straight lines to a singularity that the tip can pass: `pass` it "
        "at the joints' speed limits; `slow` the tip down, so that joints move at a fifth of "
        "their limits; `stop` before it. Applies at once.",
        choices=SINGULARITIES,
    ),
    Declaration(
        "speed_override",
        1.0,
        "Factor on the speed of every motion; below 0.001 the arm brakes and keeps its goal, and "
        "continues once the value is larger. The topic ~/speed_override sets this parameter.",
        0.0,
        1.0,
    ),
    Declaration(
        "follow_drag",
        "live",
        "When the arm follows the handle: `live`, while it is dragged; on its `release`, and the "
        "preview is shown until then; or only when `~/go` is called, to `confirm` it. With "
        "`confirm` all other single targets wait for ~/go, too. A change drops the preview.",
        choices=FOLLOW_DRAG,
    ),
    Declaration(
        "command_in_type",
        "speed_units",
        "Units of ~/twist and ~/joint_jog: speeds [m/s, rad/s], or fractions of `scale` from -1 to "
        "1, as from a joystick.",
        choices=COMMAND_TYPES,
    ),
    Declaration("scale.linear", 0.4, "Speed of the tip for a value of 1 [m/s].", 0.0, 1e3),
    Declaration(
        "scale.rotational", 0.8, "Angular velocity of the tip for a value of 1 [rad/s].", 0.0, 1e3
    ),
    Declaration("scale.joint", 0.5, "Velocity of a joint for a value of 1 [rad/s, m/s].", 0.0, 1e3),
    Declaration(
        "angular_frame",
        "",
        "The frame along whose axes the angular part of a twist is, where it is when the twist "
        "comes; empty: that of the linear part.",
        check=given_frame_complaint,
    ),
    Declaration(
        "plain_inputs",
        [],
        "Inputs whose messages have no header, of `twist` (geometry_msgs/Twist), `target_pose` and "
        "`device_pose` (geometry_msgs/Pose).",
        read_only=True,
        choices=tuple(PLAIN_TOPICS),
    ),
    Declaration(
        "plain_frame",
        "",
        "The frame of messages without a header, and of ~/joy; empty: the root link.",
        check=given_frame_complaint,
    ),
    Declaration(
        "joy.axes",
        [],
        "The axes of sensor_msgs/Joy on ~/joy that are the tip's velocity, by their numbers: x, y, "
        "z, and about x, y, z, at full deflection as fast as `scale` says; -1: none. Empty: ~/joy "
        "moves nothing.",
        -1,
        1000,
        read_only=True,
        element=int,
        check=joystick_complaint,
    ),
    Declaration(
        "joy.enable_button",
        -1,
        "The button to hold while the axes count; -1: they always do.",
        -1,
        1000,
        read_only=True,
    ),
    Declaration(
        "joy.gripper_buttons",
        [],
        "The buttons of ~/joy that open and close the gripper, when they are pressed; empty: none.",
        0,
        1000,
        read_only=True,
        element=int,
        check=pair_complaint,
    ),
    Declaration(
        "gripper.interface",
        "none",
        "How ~/gripper reaches the gripper's controller: by the action control_msgs/GripperCommand "
        "or ParallelGripperCommand, `<controller>/gripper_cmd`, or by `position`s on "
        "`<controller>/commands`; `none`: there is no gripper.",
        read_only=True,
        choices=GRIPPERS,
    ),
    Declaration(
        "gripper.controller",
        "gripper_controller",
        "Name of the gripper's controller.",
        read_only=True,
        check=topic_complaint,
    ),
    Declaration(
        "gripper.joint",
        "",
        "Name of the gripper's joint, for ParallelGripperCommand.",
        read_only=True,
    ),
    Declaration("gripper.open", 0.04, "Its position when it is open [m, rad].", -1e3, 1e3),
    Declaration("gripper.closed", 0.0, "Its position when it is closed [m, rad].", -1e3, 1e3),
    Declaration(
        "gripper.max_effort",
        0.0,
        "Largest effort of its actions [N, Nm]; 0: as its controller decides.",
        0.0,
        1e6,
    ),
    Declaration(
        "device.axes",
        "",
        "The frame along whose axes the tip repeats what a device does along those of its own: the "
        "tip or the tool, or any frame of tf, where it is when the clutch engages; empty: the "
        "root link.",
        check=given_frame_complaint,
    ),
    Declaration("device.linear_scale", 1.0, "Way of the tip for one of the device.", 0.0, 1e3),
    Declaration("device.rotational_scale", 1.0, "Turn of the tip for one of the device.", 0.0, 1e3),
    Declaration(
        "device.max_linear_speed",
        3.0,
        "Speed from which a change of the device's pose is no motion but a jump [m/s].",
        1e-3,
        1e3,
    ),
    Declaration(
        "device.max_angular_speed",
        15.0,
        "The same of its turning [rad/s].",
        1e-3,
        1e3,
    ),
    *(each for item in FILTERED_INPUTS.items() for each in filter_declarations(*item)),
    Declaration(
        "controller",
        "joint_trajectory_controller",
        "Name of the commanded controller; of several that share the arm, joined by commas, as in "
        "`torso_controller,arm_controller`: for joint_trajectory.",
        read_only=True,
        check=controllers_complaint,
    ),
    Declaration(
        "max_acceleration",
        [],
        "Largest acceleration of each joint, also in braking [rad/s², m/s²]; empty: that of a URDF "
        "of version 1.2; where it states none, the joint reaches its largest speed in 0.25 s.",
        LEAST_RATE,
        MOST_ACCELERATION,
        read_only=True,
        element=float,
    ),
    Declaration(
        "max_jerk",
        [],
        "Largest jerk of each joint [rad/s³, m/s³]; empty: that of a URDF of version 1.2; where it "
        "states none, the joint reaches its largest acceleration in 0.05 s.",
        LEAST_RATE,
        MOST_JERK,
        read_only=True,
        element=float,
    ),
    Declaration(
        "max_linear_speed",
        0.0,
        "Largest speed of the origins of the tip and of `capped_links` [m/s]; 0: no limit.",
        0.0,
        100.0,
    ),
    Declaration(
        "max_angular_speed",
        0.0,
        "Largest angular speed of the tip and of `capped_links` [rad/s]; 0: no limit.",
        0.0,
        100.0,
    ),
    Declaration(
        "capped_links",
        [],
        "Other links that `max_linear_speed` and `max_angular_speed` apply to; only joints of the "
        "chain may move them.",
        read_only=True,
    ),
    Declaration(
        "check_collisions",
        AUTO,
        "Whether every command keeps the links apart from each other and from objects, on its way "
        "and while braking after it. `auto`: if the robot's `<collision>` shapes can be used; if "
        "not, a warning says why. With `true` a robot without them is not configured.",
        read_only=True,
        choices=(AUTO, True, False),
    ),
    Declaration(
        "stop_distance",
        0.01,
        "Distance that the links keep if collisions are checked [m].",
        0.0,
        LARGEST_PADDING,
        read_only=True,
    ),
    Declaration(
        "jog_slides",
        False,
        "Whether a jogged tip slides along what is in its way; otherwise it keeps to its line, and "
        "stops. Applies at once.",
    ),
    Declaration(
        "joint_limit_margin",
        [],
        "Least distance of commands and solutions from the joints' position limits [rad, m]: one "
        "number for all joints, or one for each; empty: 0. Ignored for continuous joints.",
        0.0,
        1e3,
        read_only=True,
        element=float,
    ),
    Declaration(
        "command_interface",
        "joint_trajectory",
        "Interface of the controller; docs/interfaces.md compares them.",
        read_only=True,
        choices=INTERFACES,
    ),
    Declaration(
        "trajectory_replacement",
        ASK,
        "Whether the controller's parameter `allow_trajectory_replacement` is true: `ask` the "
        "controller; `allowed`, it is; `not_allowed`, it is false or does not exist. Applies to "
        "joint_trajectory and follow_joint_trajectory.",
        read_only=True,
        choices=RULES,
    ),
    Declaration(
        "resume_after_pause",
        True,
        "Whether a motion goes on after the controller has scaled its speed to 0; otherwise the "
        "target is dropped.",
        read_only=True,
    ),
    Declaration(
        "hold_other_joints",
        False,
        "Whether trajectories also have the controller's joints that are not the chain's, those of "
        "a gripper, at the controller's reference: for a controller that has them and whose "
        "`allow_partial_joints_goal` is false. No motion begins while they move. Applies to "
        "joint_trajectory and follow_joint_trajectory.",
        read_only=True,
    ),
    Declaration(
        "pointing_axis",
        [],
        "Direction in `pointing_frame` of the ray that points at targets; empty: z of optical "
        "frames (`_optical` in the name) and of tools (`tool0`, `tcp`), x of any other.",
        -1e3,
        1e3,
        read_only=True,
        element=float,
        check=axis_complaint,
    ),
    Declaration(
        "pointing_frame",
        "",
        "Link fixed to the tip, at whose origin the ray begins; empty: the tip.",
        read_only=True,
    ),
    Declaration(
        "home",
        [],
        "Joint positions for ~/home [rad, m]; empty: those of `postures` or of the SRDF.",
        -1e4,
        1e4,
        read_only=True,
        element=float,
    ),
)
POSTURE_PREFIX = "postures."
# For each chain, too: `postures.ready`, or `left.postures.ready`.
POSTURE = Declaration(
    f"{POSTURE_PREFIX}<name>",
    [],
    "A posture for ~/posture, by any name: positions of the chain's joints [rad, m].",
    -1e4,
    1e4,
    read_only=True,
    element=float,
)
