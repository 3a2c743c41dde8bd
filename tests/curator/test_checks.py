from __future__ import annotations

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.curator import Tally
from ldptrace.curator.checks import findings
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect

GRID = Grid((0.0, 0.0, 4.0, 4.0), 4)
PLANS = [(Plan.single_report(GRID, 1.0), 0), (Plan.paper(GRID, 1.0).paper_second_round(4), 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("plan", "number"), PLANS)
def test_honest_collections_have_no_findings(plan: Plan, number: int, rng: np.random.Generator) -> None:
    for size in (1, 30, 3000):
        # Everybody alike is the most extreme honest data there is.
        for paths in (
            random_paths(size, GRID, rng),
            random_paths(1, GRID, rng).take(np.zeros(size, dtype=int)),
        ):
            assert findings(plan, collect(plan, paths, rng, round_number=number, mode="devices")) == []


def added(tally: Tally, ask: int, counts: np.ndarray, lies: int) -> Tally:
    changed = list(tally.counts)
    changed[ask] = changed[ask] + counts
    reports, users = list(tally.reports), list(tally.users)
    reports[ask] += lies
    users[ask] += lies
    return Tally(tally.plan_id, tally.round, tuple(changed), tuple(reports), tuple(users))


def test_a_crowd_of_liars_is_seen(rng: np.random.Generator) -> None:
    plan = PLANS[0][0]
    tally = collect(plan, random_paths(3000, GRID, rng), rng, mode="devices")
    lies = np.zeros_like(tally.counts[1])
    lies[3] = 2000
    found = findings(plan, added(tally, 1, lies, 2000))
    assert any("item 3 was named" in str(finding) for finding in found)
    assert any("asked" in str(finding) for finding in found)


def test_reports_stuffed_with_ones_are_seen(rng: np.random.Generator) -> None:
    plan, number = PLANS[1]
    tally = collect(plan, random_paths(3000, GRID, rng), rng, round_number=number, mode="devices")
    found = findings(plan, added(tally, 1, np.full_like(tally.counts[1], 600), 600))
    assert any("items were named" in str(finding) for finding in found)
