"""What a method is: a named recipe from real paths, seen only through its randomizer, to synthetic paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldptrace.core.parallel import CHUNK, child, chunks, map_chunks
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import Style, place
from ldptrace.core.stages import Stages
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.curator.tally import Tally
from ldptrace.engines.base import Crowd
from ldptrace.errors import InputError
from ldptrace.models.base import Blocks, LatticeModel, MobilityModel
from ldptrace.models.timed import TimedModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import Collection, Members
from ldptrace.simulation.channels import Mode

# Trips that tell how many points trips have, and points of a piece of a block, about: 100 MB with their times.
FEW, DENSE = 64, 1 << 22


@dataclass(frozen=True, eq=False)
class Job:
    """One run of a method: whose trajectories, on which grid, how much privacy, which randomness."""

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
    options: dict[str, Any] = field(default_factory=dict)
    # Who is asked; None: everybody.
    members: Members | None = None

    @property
    def users(self) -> int:
        """How many users there are."""
        return self.crowd.users

    @property
    def real(self) -> Trajectories:
        """The trajectories themselves, for methods that publish something of each."""
        return self.crowd.whole()

    @property
    def paths(self) -> CellPaths:
        """Everybody's cell path, for methods that publish something of each."""
        return self.crowd.paths(self.grid)

    def collect(self, plan: Plan, round_number: int = 0) -> Tally:
        """The tally of one round, in which every user's device follows the plan."""
        source = self.devices.spawn(1)[0]
        return self.crowd.collect(Collection(plan, source, round_number, self.simulation, self.members))


@dataclass(frozen=True, eq=False)
class Synthesis:
    """What a method made: a model to draw synthetic paths from, and everything that explains it."""

    plan: Plan | None = None
    estimates: Estimates | None = None
    model: MobilityModel | None = None
    # How points are placed in the cells of its paths (see `ldptrace.core.placement`).
    placement: Style = "uniform"
    notes: tuple[str, ...] = ()
    # How the model is drawn from, besides that: spacing, interval.
    drawing: Mapping[str, Any] = field(default_factory=dict)
    # The synthetic trajectories themselves, where the method has no model.
    trajectories: Trajectories | None = None

    def draw(self, count: int, rng: np.random.Generator) -> Trajectories:
        """So many synthetic trajectories: block after block, each from its own child of the source."""
        return Trajectories.concat(
            map_chunks(lambda number, start, stop: self.block(stop - start, number, rng), count)
        )

    def block(self, count: int, number: int, rng: np.random.Generator) -> Trajectories:
        """The block of that number, of at most `CHUNK` trajectories."""
        pieces = list(self.pieces(count, number, rng))
        return pieces[0] if len(pieces) == 1 else Trajectories.concat(pieces)

    def pieces(self, count: int, number: int, rng: np.random.Generator) -> Iterator[Trajectories]:
        """The block of that number: as a whole, or one after the other in pieces where points are very dense.

        How large a piece is follows from a few trips of the same law, never from the memory that there is.
        """
        if self.trajectories is not None:
            yield self.trajectories.part(number * CHUNK, number * CHUNK + count)
            return
        if self.model is None:
            raise InputError("this method has no model to draw from")
        own, most = child(rng, number), count
        if self.drawing and count > FEW:
            most = max(1, FEW * DENSE // max(self._drawn(FEW, child(own, 0)).points, 1))
        if most >= count:
            yield self._drawn(count, own)
            return
        for piece, (start, stop) in enumerate(chunks(count, most)):
            yield self._drawn(stop - start, child(own, 1 + piece))

    def _drawn(self, count: int, own: np.random.Generator) -> Trajectories:
        model = self.model
        assert model is not None
        space = model.space if isinstance(model, TimedModel) else model
        if not isinstance(space, LatticeModel):
            return model.sample(count, own, **self.drawing)
        paths, spacing = space.sample_paths(count, own), self.drawing.get("spacing")
        placed = place(paths, own, style=self.placement, spacing=spacing, land=space.land)
        return (
            model.timed(placed, own, self.drawing.get("interval"))
            if isinstance(model, TimedModel)
            else placed
        )


@dataclass(frozen=True, eq=False)
class Drawing:
    """What an engine draws with: the pieces of the block of any number, from a synthesis and a source."""

    synthesis: Synthesis
    source: np.random.Generator

    def __call__(self, count: int, number: int) -> Iterator[Trajectories]:
        return self.synthesis.pieces(count, number, self.source)


@dataclass(frozen=True, eq=False)
class Sampling:
    """What an engine writes with: what a model's `sample` draws, in pieces of few points, however many there are."""

    blocks: Blocks

    def __call__(self, count: int, number: int) -> Iterator[Trajectories]:
        part = self.blocks(number)
        points = part(0, min(FEW, count)).points
        for start, stop in chunks(count, max(1, min(FEW, count) * DENSE // max(points, 1))):
            yield part(start, stop)


@dataclass(frozen=True)
class Method:
    """A recipe behind the one `synthesize` face."""

    name: str
    summary: str
    run: Callable[[Job], Synthesis]
    # Why this method is not eps-LDP for the whole trajectory, where it is not.
    leaks: str | None = None
    # Options it understands, with their defaults.
    options: dict[str, Any] = field(default_factory=dict)
    # Whether it learns a model, so that it needs no more than one pass after another over the trajectories.
    has_model: bool = True
    # The option that closes the leak, where there is one.
    closed_by: str | None = None

    def leak(self, options: dict[str, Any]) -> str | None:
        """Why a run with these options is not eps-LDP, or None."""
        return None if self.closed_by is not None and options.get(self.closed_by) else self.leaks
