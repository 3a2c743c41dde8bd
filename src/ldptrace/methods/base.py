"""The interface of a method, which turns randomised reports about real trips into synthetic trips."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ldptrace.core.paths import CellPaths
from ldptrace.core.running import Mode, Stages
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.curator.tally import Tally
from ldptrace.engines.base import Crowd
from ldptrace.errors import PlanError
from ldptrace.methods.public import Public
from ldptrace.models.base import MobilityModel
from ldptrace.options import NoOptions, chosen
from ldptrace.protocol.exact import decimal_text, epsilon_fraction
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import Collection, Members


@dataclass(eq=False)
class Spending:
    """The epsilon that one run may cost each device, and what it has cost so far.

    >>> from ldptrace.protocol.grid import Grid
    >>> spending = Spending(Fraction(1))
    >>> spending.pay(Plan.single_report(Grid((0, 0, 1, 1), 6), 0.7), 0)
    >>> spending.spent
    Fraction(7, 10)
    """

    limit: Fraction
    # The plans that were paid, each the longest of its chain so far, and their rounds that were asked.
    paid: list[tuple[Plan, frozenset[int]]] = field(default_factory=list)

    @property
    def spent(self) -> Fraction:
        """The sum of the epsilons that were paid."""
        return sum((plan.epsilon for plan, _ in self.paid), Fraction(0))

    def pay(self, plan: Plan, round_number: int) -> None:
        """Enter one round of a plan that every device is asked, or raise an error if the limit does not allow it."""
        # A negative number would count from the end, and ask a round again under another number.
        if not 0 <= round_number < len(plan.rounds):
            raise PlanError(
                f"job.collect: the rounds of the plan {plan.method!r} have the numbers 0 to {len(plan.rounds) - 1}, "
                f"got {round_number}"
            )
        for place, (longest, asked) in enumerate(self.paid):
            # One more round of the same plan, or of one that extends it or is extended by it, costs nothing more.
            one_chain = longest.id in plan.chain or plan.id in longest.chain
            if one_chain and round_number not in asked:
                longest = max(longest, plan, key=lambda one: len(one.rounds))
                self.paid[place] = longest, asked | {round_number}
                return
        if self.spent + plan.epsilon > self.limit:
            raise PlanError(
                f"job.collect: round {round_number} of the plan {plan.method!r} costs each device epsilon "
                f"{decimal_text(plan.epsilon)}, but the job allows epsilon {decimal_text(self.limit)} in all, and "
                f"earlier collections have used {decimal_text(self.spent)} of it"
            )
        self.paid.append((plan, frozenset({round_number})))


@dataclass(frozen=True, eq=False)
class Job:
    """One run of a method: the trajectories, the grid, epsilon and the sources of randomness."""

    crowd: Crowd
    grid: Grid
    epsilon: float
    # How many synthetic trajectories are wanted; None: as many as there are users.
    count: int | None
    # What the simulated devices draw from; nothing published may hold or determine it.
    devices: np.random.Generator
    # What sampling and placement draw from: they work on private estimates, so this may be known.
    sampling: np.random.Generator
    simulation: Mode = "counts"
    stages: Stages = field(default_factory=Stages)
    # The record of the method's options.
    options: Any = field(default_factory=NoOptions)
    # Who is asked; None: everybody.
    members: Members | None = None
    # What is known without asking anybody, and the coordinate system of it all.
    public: Public = field(default_factory=Public)
    crs: str | None = None
    # Whether the devices were seeded: an experiment that repeats, and no release.
    seeded: bool = False
    # What the plans cost so far; None: nothing. A job that is made from this one with `replace` shares it.
    spending: Spending | None = None
    # What the plan is made from; None: what the job says by itself.
    facts: Facts | None = None

    def __post_init__(self) -> None:
        if self.spending is None:
            object.__setattr__(self, "spending", Spending(epsilon_fraction(self.epsilon)))

    def plan(self, method: str) -> Plan:
        """Make the plan of a method of this package from the facts of the job."""
        facts = self.facts or Facts(
            self.users, self.epsilon, self.grid.bounds, self.crs, for_map=self.public.ways is not None
        )
        return replace(facts, grid=self.grid.n, method=method).plan()

    @property
    def users(self) -> int:
        return self.crowd.users

    @property
    def real(self) -> Trajectories:
        """The real trajectories, for methods that need each of them."""
        return self.crowd.whole()

    @property
    def paths(self) -> CellPaths:
        """The cell paths of all users, for methods that need each of them."""
        return self.crowd.paths(self.grid)

    def collect(self, plan: Plan, round_number: int = 0) -> Tally:
        """Return the tally of one round, in which every user's device follows the plan.

        A plan costs each device the plan's epsilon, even if its asks use less of it. The costs of all collected plans
        are added up exactly. A `PlanError` is raised before any device is asked if the sum exceeds the epsilon of the
        job. Each further round of the same plan, or of a plan that extends it, can be collected once at no extra cost.
        """
        assert self.spending is not None
        self.spending.pay(plan, round_number)
        source = self.devices.spawn(1)[0]
        return self.crowd.collect(Collection(plan, source, round_number, self.simulation, self.members))


@dataclass(frozen=True, eq=False)
class Synthesis:
    """The result of a method: a model to draw synthetic trips from, the plan, the estimates and notes."""

    plan: Plan | None = None
    estimates: Estimates | None = None
    model: MobilityModel | None = None
    notes: tuple[str, ...] = ()
    # The synthetic trajectories themselves, where the method has no model.
    trajectories: Trajectories | None = None


@dataclass(frozen=True)
class Method:
    """A method: its name, its options, and the function that runs it."""

    name: str
    summary: str
    run: Callable[[Job], Synthesis]
    # Why this method is not eps-LDP for the whole trajectory, where it is not.
    leaks: str | None = None
    # The record of its options: a frozen dataclass, whose fields have defaults.
    options: type = NoOptions
    # Whether it learns a model, so that it needs no more than one pass after another over the trajectories.
    has_model: bool = True
    # The option that closes the leak, where there is one.
    closed_by: str | None = None

    def leak(self, options: Any) -> str | None:
        """Return why a run with these options is not eps-LDP, or None."""
        return None if self.closed_by is not None and getattr(options, self.closed_by) else self.leaks

    def chosen(self, given: Mapping[str, Any]) -> Any:
        """Make the record of the options from values, and check them. An unknown name is an error."""
        return chosen(self.name, self.options, given)
