"""RViz where it is installed; the other launch files include this one."""

from shutil import which

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    return LaunchDescription(
        [
            DeclareLaunchArgument("rviz_config", description="RViz configuration file."),
            DeclareLaunchArgument(
                "fixed_frame", default_value="", description="In place of the configuration's own."
            ),
            OpaqueFunction(function=start),
        ]
    )


def start(context):
    if which("rviz2") is None:
        missing = "RViz is not installed here, so none is opened (apt: ros-$ROS_DISTRO-rviz2)."
        return [LogInfo(msg=missing)]
    arguments = ["-d", LaunchConfiguration("rviz_config").perform(context)]
    frame = LaunchConfiguration("fixed_frame").perform(context)
    if frame:
        arguments += ["-f", frame]
    return [Node(package="rviz2", executable="rviz2", arguments=arguments)]
