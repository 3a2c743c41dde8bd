"""Trajectories, cell paths and points on cell paths, as columns of NumPy and Arrow."""
