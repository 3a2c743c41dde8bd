"""A whole collection in one process: every path is a device that follows the plan."""

from __future__ import annotations

import numpy as np

from ldptrace.core.paths import CellPaths
from ldptrace.curator.tally import Tally
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.round import SHARES
from ldptrace.simulation.answers import answers
from ldptrace.simulation.channels import Mode, tally_of


def collect(
    plan: Plan, paths: CellPaths, rng: np.random.Generator, *, round_: int = 0, mode: Mode = "counts"
) -> Tally:
    """The tally of one round when every path of `paths` is one user's."""
    asked = plan.rounds[round_]
    everyone = np.arange(len(paths), dtype=np.int64)
    if asked.assignment == "partition":
        # Each device draws its group on its own, so group sizes are random, as in a real collection.
        borders = np.cumsum([ask.share for ask in asked.asks])
        group = np.searchsorted(borders, rng.integers(0, SHARES, size=len(paths)), side="right")
    counts, reports, users = [], [], []
    for number, ask in enumerate(asked.asks):
        members = everyone if asked.assignment == "everyone" else np.flatnonzero(group == number)
        rows = answers(ask.question, paths, members, rng)
        if not asked.padded:
            rows = rows[rows[:, 0] >= 0]
        counts.append(tally_of(ask.randomizer, rows, rng, mode))
        reports.append(len(rows))
        users.append(len(members))
    return Tally(plan.id, round_, tuple(counts), tuple(reports), tuple(users))
