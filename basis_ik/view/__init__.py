"""What people are shown: shapes computed from states, without ROS."""
