"""Bases, transform nodes, and trees of them."""
