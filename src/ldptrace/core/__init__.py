"""Trajectories, the paths they take through a grid, and points on such paths: columns, NumPy and Arrow."""
