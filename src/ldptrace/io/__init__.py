"""Trajectory files: readers, writers and the report of what was read."""
