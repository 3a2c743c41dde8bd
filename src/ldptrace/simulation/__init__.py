"""Simulated devices, for research and for data one holds: fast, seeded, not for real collections."""

from ldptrace.simulation.collect import collect

__all__ = ["collect"]
