"""A whole collection in one process: every path is a device that follows the plan.

Devices are simulated in blocks of at most `CHUNK` users, each block with its own child of the random source, so
the tally is the same whether all paths are in memory, or come block by block from files or on a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.parallel import CHUNK, child, chunks, map_ordered
from ldptrace.core.paths import CellPaths
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.tally import Tally
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.round import SHARES
from ldptrace.simulation.answers import answers
from ldptrace.simulation.channels import Mode, tally_of


@dataclass(frozen=True, eq=False)
class Members:
    """A random share of the users, drawn without looking at their data; or, with `others`, everybody else."""

    share: float
    source: np.random.Generator
    others: bool = False

    def of_block(self, number: int, users: int) -> NDArray[np.bool_]:
        """Which users of the block of that number belong."""
        drawn: NDArray[np.bool_] = child(self.source, number).random(users) < self.share
        return ~drawn if self.others else drawn


@dataclass(frozen=True, eq=False)
class Collection:
    """One round of a plan, asked of the users of any block: what an engine does with each block."""

    plan: Plan
    source: np.random.Generator
    round: int = 0
    mode: Mode = "counts"
    members: Members | None = None

    @property
    def nothing(self) -> Tally:
        """The tally of no block at all."""
        return Tally.zero(self.plan, self.round)

    def __call__(self, block: Trajectories, number: int) -> Tally:
        return self.of_paths(CellPaths.from_trajectories(block, self.plan.grid), number, Timing.of(block))

    def of_paths(self, paths: CellPaths, number: int, timing: Timing | None = None) -> Tally:
        """The tally of the block of that number."""
        assert len(paths) <= CHUNK
        if self.members is not None:
            taken = self.members.of_block(number, len(paths))
            paths, timing = paths.take(taken), None if timing is None else timing.take(taken)
        return _tally(self.plan, self.round, paths, timing, child(self.source, number), self.mode)


def collect(
    plan: Plan,
    paths: CellPaths,
    rng: np.random.Generator,
    *,
    round_number: int = 0,
    mode: Mode = "counts",
    members: Members | None = None,
    timing: Timing | None = None,
) -> Tally:
    """The tally of one round when every path of `paths` is one user's, with these times if they are known."""
    work = Collection(plan, rng.spawn(1)[0], round_number, mode, members)

    def of_block(block: tuple[int, tuple[int, int]]) -> Tally:
        number, (start, stop) = block
        times = None if timing is None else timing.part(start, stop)
        return work.of_paths(paths.part(start, stop), number, times)

    tallies = map_ordered(of_block, enumerate(chunks(len(paths))))
    return reduce(Tally.__add__, tallies, work.nothing)


def _tally(
    plan: Plan,
    round_number: int,
    paths: CellPaths,
    timing: Timing | None,
    rng: np.random.Generator,
    mode: Mode,
) -> Tally:
    round_ = plan.rounds[round_number]
    everyone = np.arange(len(paths), dtype=np.int64)
    if round_.assignment == "partition":
        # Each device draws its group on its own, so group sizes are random, as in a real collection.
        borders = np.cumsum([ask.share for ask in round_.asks])
        group = np.searchsorted(borders, rng.integers(0, SHARES, size=len(paths)), side="right")
    counts, reports, users = [], [], []
    for number, ask in enumerate(round_.asks):
        members = everyone if round_.assignment == "everyone" else np.flatnonzero(group == number)
        rows = answers(ask.question, paths, members, rng, timing)
        if not round_.padded:
            rows = rows[rows[:, 0] >= 0]
        counts.append(tally_of(ask.randomizer, rows, rng, mode))
        reports.append(len(rows))
        users.append(len(members))
    return Tally(plan.id, round_number, tuple(counts), tuple(reports), tuple(users))
