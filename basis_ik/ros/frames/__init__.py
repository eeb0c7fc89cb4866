"""The nodes that need no robot: constraints on tf frames, and trees of transform nodes."""
