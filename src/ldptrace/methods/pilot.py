"""A small first collection that estimates how far people travel, to choose the grid of the main collection.

Users for the pilot are drawn without looking at their data. Each user answers either the pilot or the main
collection, so each user sends one report.
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
    """The result of the pilot, and the users who are left for the main collection."""

    plan: Plan
    trip: float
    users: int
    rest: Members


def pilot_plan(epsilon: float | Fraction, bounds: Bounds) -> Plan:
    """Make the plan of the pilot: each user reports how many cells of a coarse grid the trip crosses."""
    budget = epsilon_fraction(epsilon)
    question = Length(CELLS, 6 * CELLS)
    ask = Ask(question, PrivSet.best(question.domain, 1, ratio_at_most(budget)))
    return Plan("pilot", Grid(bounds, CELLS), budget, (Round((ask,), "everyone"),))


def run_pilot(crowd: Crowd, epsilon: float, bounds: Bounds, share: float, rng: np.random.Generator) -> Pilot:
    """Ask a share of the users how long their trip is, and estimate the mean length as a fraction of the side of the
    map."""
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
