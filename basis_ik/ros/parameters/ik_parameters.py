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

"""The parameters of `ik_node`."""

from __future__ import annotations

from basis_ik.ros.outputs.make_output import INTERFACES
from basis_ik.ros.parameters.arm_parameters import axis_complaint
from basis_ik.ros.parameters.parameters import (
    Declaration,
    given_frame_complaint,
    names_complaint,
    topic_complaint,
)

NODE = (
    Declaration(
        "robot_description",
        "",
        "URDF text; empty: from the topic robot_description.",
        read_only=True,
    ),
    Declaration(
        "chains",
        [],
        "Names of the chains; empty: one, whose parameters and topics have no prefix.",
        read_only=True,
        check=names_complaint,
    ),
    Declaration("update_rate", 100.0, "Rate of the control loop [Hz].", 10.0, 1000.0, True),
    Declaration(
        "record",
        "",
        "File that all is recorded to that the node hears and does, to be played back by `ros2 run "
        "basis_ik replay`; a folder: a new file in it; empty: none.",
        read_only=True,
    ),
    Declaration("autostart", True, "Configure and activate without being asked.", read_only=True),
    Declaration(
        "position_only_ik",
        False,
        "Leave the orientation of the tip free; counts for poses that come from then on.",
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
        "How far a measured joint may be from the goal to count as there [rad or m].",
        1e-6,
        3.2,
    ),
    Declaration(
        "tracking_lag",
        0.2,
        "How late the arm may follow its commands [s].",
        0.0,
        5.0,
        read_only=True,
    ),
    Declaration(
        "tracking_margin",
        0.1,
        "How far a joint may be off beyond that, before the arm is stopped [rad or m].",
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
        "Fraction of the acceleration limits to use.",
        1e-3,
        1.0,
    ),
    Declaration(
        "kinematics_solver_timeout",
        0.1,
        "Time for a request to compute_ik that states none [s]; from 0.1 on it is never used up.",
        1e-6,
        1e3,
    ),
    Declaration(
        "approximate_solutions",
        False,
        "Answer compute_ik with the best effort where there is no solution.",
    ),
    Declaration(
        "success_angle_threshold",
        0.01,
        "Pointing error, as measured, at which a head goal has succeeded [rad].",
        1e-6,
        3.2,
    ),
    Declaration(
        "target_max_age",
        2.0,
        "Greatest age of a target's stamp, and of the newest transform of a moving frame [s].",
        0.0,
        1e4,
    ),
    Declaration("target_max_future", 0.1, "How far ahead a stamp may lie [s].", 0.0, 1e4),
    Declaration(
        "transform_timeout", 0.5, "How long a target may wait for its transform [s].", 0.0, 10.0
    ),
    Declaration(
        "incoming_command_timeout",
        0.1,
        "How long a twist, or velocities of joints, last without a successor [s]; MoveIt Servo's "
        "default.",
        0.01,
        5.0,
    ),
    Declaration(
        "markers_rate",
        10.0,
        "Rate of the markers for RViz, while somebody shows them [Hz]; 0: none.",
        0.0,
        60.0,
        True,
    ),
    Declaration(
        "joint_state_timeout",
        0.5,
        "Silence of a joint that stops the motion; how far from the clock a joint state may be "
        "stamped [s].",
        0.01,
        10.0,
    ),
)

SOLVERS = ("descent", "fabrik")
COMMAND_TYPES = ("speed_units", "unitless")
PATHS = ("joint", "straight", "straight_or_joint")
SINGULARITIES = ("pass", "slow", "stop")

# Of each chain: `root_link`, or `left.root_link` when `chains` names a chain `left`.
CHAIN = (
    Declaration("root_link", "", "First link of the chain; empty: inferred.", read_only=True),
    Declaration("tip_link", "", "Last link of the chain; empty: inferred.", read_only=True),
    Declaration(
        "tool_frame",
        "",
        "Frame that is fixed to the tip, a link or of static tf: what poses, twists and straight "
        "lines are about from then on; empty: the tip. A change brakes the arm first.",
        check=given_frame_complaint,
    ),
    Declaration(
        "solver",
        "descent",
        "How target poses are solved for: by damped least squares, or by FABRIK's passes, with a "
        "descent where these do not arrive; counts for poses that come from then on. Twists, "
        "points and compute_ik do without.",
        choices=SOLVERS,
    ),
    Declaration(
        "path",
        "joint",
        "How the arm goes to a target pose that rests: by joints, all at one pace; or straight, "
        "the tip on a line and turning about one axis. Where the line ends before the target, at "
        "a joint's limit or a singularity, `straight` stays there and `straight_or_joint` goes on "
        "by joints. Counts for poses that come from then on.",
        choices=PATHS,
    ),
    Declaration(
        "singularities",
        "slow",
        "What jogging and straight lines do about a singularity that the tip can pass: `pass` it, "
        "however fast joints turn within their limits; `slow` the tip down, so that they turn with "
        "a fifth of their largest speeds; `stop` ahead of it. Counts at once.",
        choices=SINGULARITIES,
    ),
    Declaration(
        "speed_override",
        1.0,
        "Fraction of its speed that every motion has; below 0.001 the arm brakes and keeps its "
        "goal, to which it goes on by itself once this is more. The topic ~/speed_override sets "
        "this parameter.",
        0.0,
        1.0,
    ),
    Declaration(
        "command_in_type",
        "speed_units",
        "What the numbers of ~/twist and ~/joint_jog are: speeds [m/s, rad/s], or parts of `scale` "
        "from -1 to 1, as a joystick has them.",
        choices=COMMAND_TYPES,
    ),
    Declaration("scale.linear", 0.4, "Speed of the tip that 1 stands for [m/s].", 0.0, 1e3),
    Declaration(
        "scale.rotational", 0.8, "Angular velocity of the tip that 1 stands for [rad/s].", 0.0, 1e3
    ),
    Declaration(
        "scale.joint", 0.5, "Velocity of a joint that 1 stands for [rad/s, m/s].", 0.0, 1e3
    ),
    Declaration(
        "controller",
        "joint_trajectory_controller",
        "Name of the controller that is commanded.",
        read_only=True,
        check=topic_complaint,
    ),
    Declaration(
        "max_acceleration",
        [],
        "Largest acceleration of each joint [rad/s², m/s²]; empty: what reaches its largest speed "
        "in 0.25 s.",
        1e-3,
        1e6,
        read_only=True,
        element=float,
    ),
    Declaration(
        "max_jerk",
        [],
        "Largest jerk of each joint [rad/s³, m/s³]; empty: what reaches its largest acceleration "
        "in 0.05 s.",
        1e-3,
        1e9,
        read_only=True,
        element=float,
    ),
    Declaration(
        "max_linear_speed",
        0.0,
        "Speed that the origin of the tip, and of `capped_links`, does not exceed [m/s]; 0: none.",
        0.0,
        100.0,
    ),
    Declaration(
        "max_angular_speed",
        0.0,
        "Angular speed that the tip, and each of `capped_links`, does not exceed [rad/s]; 0: none.",
        0.0,
        100.0,
    ),
    Declaration(
        "capped_links",
        [],
        "Links that keep the two speeds as the tip does, an elbow for one: moved by joints of the "
        "chain only.",
        read_only=True,
    ),
    Declaration(
        "joint_limit_margin",
        [],
        "Distance that commands and solutions keep to the joints' position limits [rad, m]: one "
        "number for all joints, or one for each; empty: none. Continuous joints do without.",
        0.0,
        1e3,
        read_only=True,
        element=float,
    ),
    Declaration(
        "command_interface",
        "joint_trajectory",
        "How it is commanded; docs/interfaces.md says when which.",
        read_only=True,
        choices=INTERFACES,
    ),
    Declaration(
        "pointing_axis",
        [],
        "Direction, in `pointing_frame`, that is pointed at points; empty: z of optical frames "
        "(`_optical` in the name) and of tools (`tool0`, `tcp`), x of any other.",
        -1e3,
        1e3,
        read_only=True,
        element=float,
        check=axis_complaint,
    ),
    Declaration(
        "pointing_frame",
        "",
        "Link, fixed to the tip, from whose origin it points; empty: the tip.",
        read_only=True,
    ),
    Declaration(
        "home",
        [],
        "Joint positions that ~/home goes to [rad, m]; empty: ~/home is refused.",
        -1e4,
        1e4,
        read_only=True,
        element=float,
    ),
)
