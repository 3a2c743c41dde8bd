"""A small first collection that finds out how far people travel, so that the main one is well chosen.

Some users, drawn without looking at their data, answer the pilot and nothing else; the others answer the main
collection and nothing else. Each user sends one report, so nothing composes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ldptrace.curator.estimates import Estimates
from ldptrace.engines.base import Crowd
from ldptrace.errors import InputError
from ldptrace.models.lengths import smooth_lengths
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Length
from ldptrace.protocol.randomizers import PrivSet
from ldptrace.protocol.round import Ask, Round
from ldptrace.simulation import Collection, Members

CELLS = 6


@dataclass(frozen=True, eq=False)
class Pilot:
    """What the pilot found, and who is left for the main collection."""

    plan: Plan
    trip: float
    users: int
    rest: Members


def pilot_plan(epsilon: float | Fraction, bounds: Bounds) -> Plan:
    """Everybody in the pilot says how many cells of a coarse grid the trajectory crosses."""
    budget = epsilon_fraction(epsilon)
    question = Length(CELLS, 6 * CELLS)
    ask = Ask(question, PrivSet.best(question.domain, 1, ratio_at_most(budget)))
    return Plan("pilot", Grid(bounds, CELLS), budget, (Round((ask,), "everyone"),))


def run_pilot(crowd: Crowd, epsilon: float, bounds: Bounds, share: float, rng: np.random.Generator) -> Pilot:
    """Ask a share of the users for their length; the mean trip in sides of the map comes from their reports."""
    if not 0 < share < 1:
        raise InputError(f"the pilot's share of the users must be between 0 and 1, got {share:g}")
    plan = pilot_plan(epsilon, bounds)
    drawing, devices = rng.spawn(2)
    members = Members(share, drawing)
    estimate = Estimates.from_tally(plan, crowd.collect(Collection(plan, devices, members=members)))["length"]
    if not 0 < estimate.users < crowd.users:
        raise InputError(f"{crowd.users} users are too few for a pilot of {share:g}")
    moves = float(smooth_lengths(estimate) @ np.arange(len(estimate.frequencies)))
    return Pilot(plan, max(moves, 0.5) / CELLS, estimate.users, replace(members, others=True))
