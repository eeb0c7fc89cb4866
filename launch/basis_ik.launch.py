# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The inverse kinematics node, for a robot whose driver or simulation is already running."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

YES_NO = ["true", "false"]
# What MoveIt's clients call; `move_group` has these names without a node's.
MOVEIT_NAMES = (
    "move_action", "execute_trajectory", "trajectory_execution_event", "plan_kinematic_path",
    "compute_ik", "compute_fk", "compute_cartesian_path",
)  # fmt: skip


def generate_launch_description():
    def share(*parts):
        return PathJoinSubstitution([FindPackageShare("basis_ik"), *parts])

    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "namespace", default_value="", description="Namespace of the node."
            ),
            DeclareLaunchArgument(
                "params_file",
                default_value=share("config", "basis_ik.yaml"),
                description="Parameter file; share/basis_ik/config/robots has files for some arms.",
            ),
            DeclareLaunchArgument(
                "extra_params_file",
                default_value="",
                description="Another parameter file, whose values come last; empty: none.",
            ),
            DeclareLaunchArgument(
                "frame_prefix",
                default_value="",
                description="Prefix of the robot's frames in tf, as robot_state_publisher has it;"
                " empty: that of params_file.",
            ),
            DeclareLaunchArgument(
                "moveit_group",
                default_value="",
                description="Planning group of MoveIt's clients: the arm has this name, and"
                " move_action and its like the names of move_group; empty: those of this package.",
            ),
            DeclareLaunchArgument(
                "use_sim_time",
                default_value="false",
                choices=YES_NO,
                description="Take the time from /clock.",
            ),
            DeclareLaunchArgument(
                "autostart",
                default_value="true",
                choices=YES_NO,
                description="Configure and activate the node as soon as there is a robot.",
            ),
            DeclareLaunchArgument(
                "use_respawn",
                default_value="false",
                choices=YES_NO,
                description="Restart the node two seconds after it ends by itself.",
            ),
            DeclareLaunchArgument(
                "log_level", default_value="info", description="Log level of the node."
            ),
            DeclareLaunchArgument(
                "view",
                default_value="false",
                choices=YES_NO,
                description="Show the scene on a page in the browser.",
            ),
            DeclareLaunchArgument(
                "launch_rviz", default_value="false", choices=YES_NO, description="Open RViz."
            ),
            DeclareLaunchArgument(
                "rviz_config",
                default_value=share("rviz", "basis_ik.rviz"),
                description="RViz configuration file.",
            ),
            OpaqueFunction(function=start),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(share("launch", "web_view.launch.py")),
                condition=IfCondition(LaunchConfiguration("view")),
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(share("launch", "rviz.launch.py")),
                launch_arguments={
                    "rviz_config": LaunchConfiguration("rviz_config"),
                    "namespace": LaunchConfiguration("namespace"),
                }.items(),
                condition=IfCondition(LaunchConfiguration("launch_rviz")),
            ),
        ]
    )


def start(context):
    def flag(name):
        return ParameterValue(LaunchConfiguration(name), value_type=bool)

    given = {"use_sim_time": flag("use_sim_time"), "autostart": flag("autostart")}
    if prefix := LaunchConfiguration("frame_prefix").perform(context):
        given["frame_prefix"] = prefix
    file = LaunchConfiguration("extra_params_file").perform(context)
    more, renamed = [file] if file else [], []
    if group := LaunchConfiguration("moveit_group").perform(context):
        given["moveit_group"] = group
        renamed = [(f"~/{name}", name) for name in MOVEIT_NAMES]
    return [
        Node(
            package="basis_ik",
            executable="ik_node",
            name="basis_ik",
            namespace=LaunchConfiguration("namespace"),
            output="screen",
            parameters=[LaunchConfiguration("params_file"), given, *more],
            remappings=renamed,
            ros_arguments=["--log-level", ["basis_ik:=", LaunchConfiguration("log_level")]],
            respawn=LaunchConfiguration("use_respawn"),
            respawn_delay=2.0,
        )
    ]
