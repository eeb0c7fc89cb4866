"""The frames of a robot, from its URDF and its joint states."""
