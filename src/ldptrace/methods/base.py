"""What a method is: a named recipe from real paths, seen only through its randomizer, to synthetic paths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import Style
from ldptrace.core.stages import Stages
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.models.base import MobilityModel
from ldptrace.protocol.plan import Plan
from ldptrace.simulation.channels import Mode


@dataclass(frozen=True, eq=False)
class Job:
    """One run of a method: whose paths, how much privacy, how many synthetic paths, which randomness."""

    paths: CellPaths
    epsilon: float
    count: int
    # What the simulated devices draw from; nothing published may hold or determine it.
    devices: np.random.Generator
    # What sampling and placement draw from: they work on private estimates, so this may be known.
    sampling: np.random.Generator
    simulation: Mode = "counts"
    stages: Stages = field(default_factory=Stages)
    options: dict[str, Any] = field(default_factory=dict)
    # The trajectories behind the paths, for methods that perturb more than cells.
    real: Trajectories | None = None


@dataclass(frozen=True, eq=False)
class Synthesis:
    """What a method made: synthetic paths and everything that explains them."""

    paths: CellPaths
    plan: Plan | None = None
    estimates: Estimates | None = None
    model: MobilityModel | None = None
    # How points are placed in the cells of these paths (see `ldptrace.core.placement`).
    placement: Style = "uniform"
    notes: tuple[str, ...] = ()
    # The points themselves, where the method does not leave them to a placement.
    trajectories: Trajectories | None = None


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
    # The option that closes the leak, where there is one.
    closed_by: str | None = None

    def leak(self, options: dict[str, Any]) -> str | None:
        """Why a run with these options is not eps-LDP, or None."""
        return None if self.closed_by is not None and options.get(self.closed_by) else self.leaks
