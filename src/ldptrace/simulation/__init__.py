"""Simulated devices, for research and for data one holds: fast, seeded, not for real collections."""

from ldptrace.simulation.collect import Collection, Members, collect

__all__ = ["Collection", "Members", "collect"]
