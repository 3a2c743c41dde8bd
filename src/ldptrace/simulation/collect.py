"""A whole collection in one process: every path is a device that follows the plan.

Devices are simulated in blocks of at most `CHUNK` users, each block with its own child of the random source, so
the tally is the same whether all paths are in memory, or come block by block from files or on a cluster.

Randomizers work at simulation speed, with a fast generator: `devices` draws every report of every user; `counts` draws
the tally from its exact distribution where the randomizer's outputs are independent (OUE). Never used on a device.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Flags, Ints
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import CHUNK, child, chunks, map_chunks, map_ordered
from ldptrace.core.paths import CellPaths
from ldptrace.core.running import Mode
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.tally import Tally
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Length
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.round import SHARES, Round
from ldptrace.simulation.answers import Rows, answers
from ldptrace.simulation.unit import Trips

Counts = NDArray[np.int64]


def tally_of(randomizer: Randomizer, rows: Rows, rng: np.random.Generator, mode: Mode) -> Counts:
    """Count how often each item is named by the reports of these answers."""
    items: Rows = rows[:, 0]
    arguments: tuple[object, ...]
    match randomizer:
        case OUE():
            p, q = (float(value) for value in randomizer.probabilities)
            if mode == "counts":
                # Bits are independent over items and users.
                held = np.bincount(items[items >= 0], minlength=randomizer.domain)
                counts: Counts = rng.binomial(held, p) + rng.binomial(len(rows) - held, q)
                return counts
            draw, answered, arguments = _oue, items, (randomizer.domain, p, q)
        case GRR():
            draw, answered, arguments = _grr, items, (randomizer.domain, float(randomizer.probabilities[0]))
        case PrivSet():
            # The chance of naming at most 0, 1, 2 ... of the own items.
            total = sum(randomizer.hit_weights)
            chances = np.array([running / total for running in accumulate(randomizer.hit_weights)])
            draw, answered, arguments = _privset, rows, (randomizer.domain, randomizer.size, chances)
        case _:
            raise NotImplementedError(f"the simulator does not know {randomizer.kind!r}")
    sources = rng.spawn(len(chunks(len(rows))))
    parts = map_chunks(lambda k, a, b: draw(answered[a:b], *arguments, sources[k]), len(rows))
    return np.sum(parts, axis=0) if parts else np.zeros(randomizer.outputs, dtype=np.int64)


@kernel
def _oue(items, domain, p, q, rng):  # type: ignore[no-untyped-def]
    counts = np.zeros(domain, dtype=np.int64)
    for row in range(len(items)):
        true = items[row]
        for item in range(domain):
            chance = p if item == true else q
            if rng.random() < chance:
                counts[item] += 1
    return counts


@kernel
def _grr(items, domain, p, rng):  # type: ignore[no-untyped-def]
    counts = np.zeros(domain + 1, dtype=np.int64)
    for row in range(len(items)):
        true = items[row] if items[row] >= 0 else domain
        if rng.random() < p:
            counts[true] += 1
        else:
            lie = int(rng.random() * domain)
            counts[lie if lie < true else lie + 1] += 1
    return counts


@kernel
def _privset(rows, domain, size, shares, rng):  # type: ignore[no-untyped-def]
    """Return the number of own items named, then which of them, then which strangers (by rejection)."""
    capacity = rows.shape[1]
    outputs = domain + capacity
    counts = np.zeros(outputs, dtype=np.int64)
    own = np.empty(capacity, dtype=np.int64)
    taken = np.empty(outputs, dtype=np.int64)
    for item in range(outputs):
        taken[item] = -1
    for row in range(len(rows)):
        nulls = 0
        for place in range(capacity):
            item = rows[row, place]
            if item < 0:
                item = domain + nulls
                nulls += 1
            own[place] = item
            taken[item] = row
        drawn = rng.random()
        hits = 0
        while hits < len(shares) - 1 and drawn >= shares[hits]:
            hits += 1
        for place in range(hits):
            other = place + int(rng.random() * (capacity - place))
            own[place], own[other] = own[other], own[place]
            counts[own[place]] += 1
        left = size - hits
        while left > 0:
            item = int(rng.random() * outputs)
            if taken[item] != row:
                taken[item] = row
                counts[item] += 1
                left -= 1
    return counts


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
    timing: Timing | None = None,
) -> Tally:
    """Return the tally of one round when every path of `paths` is one user's, with these times if they are known."""
    work, trips = Collection(plan, rng.spawn(1)[0], round_number, mode), Trips(paths, timing, paths.offsets)
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
