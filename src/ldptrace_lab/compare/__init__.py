"""Methods side by side on one data set: every method, epsilon and seed is a run, and runs are kept on disk."""
