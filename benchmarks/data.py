"""Data for the benchmarks: the experiment files where a folder is given, generated cities otherwise."""

from __future__ import annotations

from pathlib import Path

import ldptrace as lt
from ldptrace.generators import city
from ldptrace.grid import Bounds

OLDENBURG_BOUNDS: Bounds = (281.0, 3935.0, 23854.0, 30851.0)


def oldenburg(folder: Path | None) -> tuple[str, lt.Trajectories, Bounds]:
    """The three Oldenburg files of 100,000 trajectories each, or a generated city of the same size."""
    files = sorted(folder.glob("oldenburg_brinkhoff_100k_seed*.parquet")) if folder else []
    if files:
        return "Oldenburg", lt.Trajectories.concat([lt.read(file) for file in files]), OLDENBURG_BOUNDS
    trips = city(300_000, seed=1)
    return "generated city", trips, trips.bounds()
