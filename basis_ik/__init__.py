"""Inverse kinematics for any ROS 2 arm: points-at, FABRIK, and full poses."""
