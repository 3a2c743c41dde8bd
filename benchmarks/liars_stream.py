"""What liars reach in a stream, as in arXiv 2505.01292: they move the published stream towards one of their own.

Each device answers once in six steps, at a moment of its own. The liars claim the trip of `benchmarks.liars`: either
each at a moment of its own, too (the stream is wrong all the time), or all in the fourth step (a rush that there never
was). Shifts in the fourth step and in the last one, and what notices it: counts and misfits of the reports of a step,
the search for changes, and the number of reports of a step.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from scipy import stats

from benchmarks.liars import ALARM, LIARS, Row, Setting, claimed, drawn, lie, noticed, wanted
from ldptrace.core.arrays import Ints
from ldptrace.curator.facts import Facts
from ldptrace.curator.tally import Tally
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect
from ldptrace.streams.now import Now
from ldptrace.streams.run import SHARES

STEPS, RUSH = 6, 3
SECONDS = 3600.0
WAYS = ("false trips", "forged with care")


def _plan(setting: Setting, epsilon: float) -> Plan:
    shares = {name: share for name, share in SHARES.items() if name != "pace"}
    return Facts(
        setting.users, epsilon, setting.data.bounds, grid=6, questions=tuple(shares), shares=shares
    ).plan()


def streamed(setting: Setting, epsilon: float, seed: int) -> dict[str, Row]:
    """Shifts of one stream, by share of liars, way, and when they lie."""
    plan, rng = _plan(setting, epsilon), np.random.default_rng(seed)
    paths = setting.paths(plan, seed)
    cells = claimed(paths)
    groups = np.array_split(rng.permutation(len(paths)), STEPS)
    honest = [collect(plan, paths.take(np.sort(group)), rng) for group in groups]
    nows, before = [Now(plan, SECONDS)], list[Row]()
    for number, tally in enumerate(honest):
        now = deepcopy(nows[-1])
        now.add(tally, SECONDS * (number + 1))
        nows.append(now)
        before.append(wanted(drawn(now.model, plan), cells))
    rows = {"no liars": _seen(plan, honest, nows[-1])}
    for share in LIARS:
        for way in WAYS:
            liars = round(share * setting.users)
            for when, parts in (
                ("always", [liars // STEPS] * STEPS),
                ("in one step", [0] * RUSH + [liars, 0, 0]),
            ):
                tallies = [
                    tally + lie(plan, way, cells, part, rng) if part else tally
                    for tally, part in zip(honest, parts, strict=True)
                ]
                first = parts.index(max(parts))
                now, row = deepcopy(nows[first]), Row()
                for number in range(first, STEPS):
                    now.add(tallies[number], SECONDS * (number + 1))
                    if number in (RUSH, STEPS - 1):
                        after = wanted(drawn(now.model, plan), cells)
                        place = "then" if number == RUSH else "at the end"
                        row |= {
                            f"{key} {place}": after[key] - before[number][key] for key in ("pattern", "cell")
                        }
                rows[f"{share:.0%} {way}, {when}"] = row | _seen(plan, tallies, now)
    return rows


def _seen(plan: Plan, tallies: list[Tally], now: Now) -> Row:
    """What notices it, each at one false alarm in a thousand streams."""
    numbers: Ints = np.array([sum(tally.users) for tally in tallies])
    odd = stats.binomtest(int(numbers.max()), int(numbers.sum()), 1 / STEPS, "greater").pvalue * STEPS < ALARM
    steps = [noticed(plan, tally, (), ALARM / STEPS) for tally in tallies]
    return {
        "noticed by counts and misfits": max(*steps, noticed(plan, tallies[-1], now.model.matches)),
        "noticed as a change": float(bool(now.changes)),
        "noticed by the number of reports": float(odd),
    }
