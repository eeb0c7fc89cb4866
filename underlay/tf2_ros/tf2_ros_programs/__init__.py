"""The programs of the upstream package tf2_ros that are in this underlay."""
