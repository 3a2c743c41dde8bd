"""A whole collection in one process: every path is a device that follows the plan.

Devices are simulated in blocks of at most `CHUNK` users, each block with its own child of the random source, so
the tally is the same whether all paths are in memory, or come block by block from files or on a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ldptrace.core.arrays import Flags, Ints
from ldptrace.core.parallel import CHUNK, child, chunks, map_ordered
from ldptrace.core.paths import CellPaths
from ldptrace.core.running import Mode
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.tally import Tally
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Length
from ldptrace.protocol.round import SHARES, Round
from ldptrace.simulation.answers import answers
from ldptrace.simulation.channels import tally_of
from ldptrace.simulation.unit import Trips


@dataclass(frozen=True, eq=False)
class Members:
    """A random share of the users, drawn without looking at their data; or, with `others`, everybody else."""

    share: float
    source: np.random.Generator
    others: bool = False

    def of_block(self, number: int, users: int) -> Flags:
        """Draw which users of the block of this number belong."""
        drawn: Flags = child(self.source, number).random(users) < self.share
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
        return self.of_trips(Trips.of(block, self.plan.grid), number)

    def of_trips(self, trips: Trips, number: int) -> Tally:
        """Return the tally of the block of that number."""
        assert len(trips) <= CHUNK
        if self.members is not None:
            trips = trips.take(self.members.of_block(number, len(trips)))
        round_, rng = self.plan.rounds[self.round], child(self.source, number)
        counts, reports, users = [], [], []
        for ask, members in zip(round_.asks, _groups(round_, len(trips), rng), strict=True):
            rows = answers(ask.question, trips.paths, members, rng, trips.timing, trips.counts)
            if not round_.padded:
                rows = rows[rows[:, 0] >= 0]
            counts.append(tally_of(ask.randomizer, rows, rng, self.mode))
            reports.append(len(rows))
            users.append(len(members))
        return Tally(self.plan.id, self.round, tuple(counts), tuple(reports), tuple(users))


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
    """Return the tally of one round when every path of `paths` is one user's, with these times if they are known."""
    work, trips = (
        Collection(plan, rng.spawn(1)[0], round_number, mode, members),
        Trips(paths, timing, paths.offsets),
    )
    tallies = map_ordered(
        lambda block: work.of_trips(trips.part(*block[1]), block[0]), enumerate(chunks(len(paths)))
    )
    return reduce(Tally.__add__, tallies, work.nothing)


def _groups(round_: Round, users: int, rng: np.random.Generator) -> list[Ints]:
    """Draw who answers which question. Each device draws on its own, so group sizes are random."""
    if round_.assignment == "everyone":
        return [np.arange(users, dtype=np.int64)] * len(round_.asks)
    drawn = rng.integers(0, SHARES, size=users).astype(np.uint16)
    # In the order of their tickets: a group that is a part of another one comes first in it, and draws the same.
    order = np.argsort(drawn, kind="stable")
    group = _tickets(round_)[drawn[order]]
    return [order[group == number] for number in range(len(round_.asks))]


def _tickets(round_: Round) -> Ints:
    """Return the ask that each of the 65,536 tickets is for.

    Questions about time have the last tickets of every other question's range, but of that about the length, as
    `Plan.single_report` takes them. So with the same seed, a plan that asks about time puts the other questions to the
    same devices as the plan that does not, except the last of each group, and what differs between the two results is
    what it costs, not luck.
    """
    shares = np.array([ask.share for ask in round_.asks])
    timed = np.array([ask.question.about_time for ask in round_.asks])
    giving = ~timed & [not isinstance(ask.question, Length) for ask in round_.asks]
    widths = shares * ~timed + shares * giving * shares[timed].sum() // max(shares[giving].sum(), 1)
    tickets = np.full(SHARES, -1)
    for number, start in enumerate(np.cumsum(widths) - widths):
        tickets[start : start + min(shares[number], widths[number])] = number
    tickets[tickets < 0] = np.repeat(np.flatnonzero(timed), shares[timed])
    return tickets
