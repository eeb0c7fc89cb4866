"""The ros2 command."""
