"""Inverse kinematics: points-at, FABRIK, and poses on real joints."""
