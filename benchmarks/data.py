"""Data for the benchmarks: the experiment files where a folder is given, generated cities otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import ldptrace as lt
from ldptrace.generators import city
from ldptrace.protocol.grid import Bounds

OLDENBURG_BOUNDS: Bounds = (281.0, 3935.0, 23854.0, 30851.0)
# Public boxes of the other experiment files, longitude and latitude.
BOXES: dict[str, Bounds] = {
    "cabspotting_occupied_trips": (-122.52, 37.69, -122.35, 37.82),
    "geolife_beijing_15s": (116.2, 39.8, 116.55, 40.1),
    "tdrive600_segments": (116.2, 39.8, 116.55, 40.1),
}
CITY_SIDE = 20_000.0


@dataclass(frozen=True, eq=False)
class DataSet:
    """Trajectories with the public bounds to use for them."""

    name: str
    trajectories: lt.Trajectories
    bounds: Bounds

    def sample(self, users: int, seed: int) -> DataSet:
        """That many users: a random choice, or everybody and some more drawn again."""
        rng = np.random.default_rng(seed)
        whole, rest = divmod(users, len(self.trajectories))
        everyone = np.arange(len(self.trajectories))
        chosen = np.concatenate([*[everyone] * whole, rng.permutation(everyone)[:rest]])
        return DataSet(self.name, self.trajectories.take(chosen), self.bounds)


def oldenburg(folder: Path | None, seeds: tuple[int, ...] = (1, 2, 3)) -> DataSet:
    """The Oldenburg files of 100,000 trajectories each, or a generated city of the same size."""
    files = [folder / f"oldenburg_brinkhoff_100k_seed{seed}.parquet" for seed in seeds] if folder else []
    if files and all(file.exists() for file in files):
        parts = [lt.read(file, min_points=1) for file in files]
        return DataSet("Oldenburg", lt.Trajectories.concat(parts), OLDENBURG_BOUNDS)
    return generated(1, 100_000 * len(seeds))


def generated(seed: int, trips: int = 200_000) -> DataSet:
    """A generated city; its bounds are known before any trip is made."""
    side = CITY_SIDE
    return DataSet(f"city {seed}", city(trips, seed=seed, size=side), (0.0, 0.0, side, side))


def unseen(folder: Path | None) -> list[DataSet]:
    """Real data that nothing was tuned on, as far as the folder holds it; trajectories outside the box omitted."""
    found = []
    for name, box in BOXES.items():
        file = folder / f"{name}.parquet" if folder else None
        if file and file.exists():
            found.append(
                DataSet(name.split("_")[0], lt.read(file, bounds=box, outside="drop", min_points=1), box)
            )
    return found
