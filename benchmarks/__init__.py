"""Benchmarks: every claim of speed or utility, rerun by anyone. `python -m benchmarks --help`."""
