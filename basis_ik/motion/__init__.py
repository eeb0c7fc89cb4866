"""From a solution to safe commands: limits, checks, and simulated joints."""
