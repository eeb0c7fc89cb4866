"""Robots and chains, from URDF text."""
