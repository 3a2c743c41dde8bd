"""This machine: blocks over threads, as many in memory as the threads need."""

from __future__ import annotations

from functools import reduce

from ldptrace.core.parallel import chunks, map_ordered
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.tally import Tally
from ldptrace.engines.base import Crowd, T, Work
from ldptrace.protocol.grid import Grid
from ldptrace.simulation import Collection


class Memory(Crowd):
    """Trajectories in memory; their cell paths are kept, because most methods ask for them more than once."""

    def __init__(self, trajectories: Trajectories) -> None:
        self._trajectories = trajectories
        self._paths: CellPaths | None = None

    @property
    def users(self) -> int:
        return len(self._trajectories)

    @property
    def crs(self) -> str | None:
        return self._trajectories.crs

    def whole(self) -> Trajectories:
        return self._trajectories

    def paths(self, grid: Grid) -> CellPaths:
        if self._paths is None or self._paths.grid != grid:
            self._paths = CellPaths.from_trajectories(self._trajectories, grid)
        return self._paths

    def add_up(self, work: Work[T], nothing: T) -> T:
        blocks = enumerate(chunks(self.users))
        found = map_ordered(lambda block: work(self._trajectories.part(*block[1]), block[0]), blocks)
        return reduce(lambda a, b: a + b, found, nothing)

    def collect(self, collection: Collection) -> Tally:
        paths = self.paths(collection.plan.grid)
        blocks = enumerate(chunks(len(paths)))
        found = map_ordered(lambda block: collection.of_paths(paths.part(*block[1]), block[0]), blocks)
        return reduce(Tally.__add__, found, collection.nothing)
