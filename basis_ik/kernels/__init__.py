"""Compiled functions: arrays in, arrays and status integers out."""
