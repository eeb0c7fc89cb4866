"""Integration with pytest."""
