"""The sets of an evaluation, in memory, in files larger than memory, or on a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ldptrace.core.crs import check_degrees
from ldptrace.core.reading import CUT, Outside, Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.evaluation.measured import Census, Pass, align, choose_area
from ldptrace.evaluation.settings import GRID
from ldptrace.io.files import trajectories_of
from ldptrace.protocol.grid import Bounds, Grid

# Trajectories of a set that are read one by one, about; and points of them.
SAMPLE, SAMPLE_POINTS = 100_000, 4_000_000


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets of an evaluation in one area and one coordinate system, the real set first. `notes` state what is
    omitted from each set.
    """

    names: list[str]
    crowds: list[Crowd]
    census: list[Census]
    area: Grid
    origin: str
    crs: str | None
    zones: list[str | None]
    outside: Outside
    notes: list[list[str]]

    @staticmethod
    def of(
        real: Any,
        synthetic: Sequence[Any],
        names: Sequence[str],
        grid: int | Grid = GRID,
        bounds: Bounds | None = None,
        outside: Outside = CUT,
        timezone: str | None = None,
        crs: str | None = None,
    ) -> Sets:
        """Read all sets once, and the real set twice if the bounds are taken from it. `crs` is that of a road network
        that is to fit sets which state none.
        """
        if not synthetic:
            raise InputError("there is no synthetic set to evaluate")
        Reading(outside=outside, timezone=timezone)
        crowds = [
            item if isinstance(item, Crowd) else Memory(trajectories_of(item)) for item in (real, *synthetic)
        ]
        # The other sets may say what the coordinates are.
        labelled = [*(crowd.crs for crowd in crowds), crs]
        crs = next((label for label in labelled if label is not None), None)
        titles = ["the real set", *(f"the synthetic set {name}" for name in names)]
        aligned = [align(crs, crowd.crs, title) for crowd, title in zip(crowds[1:], titles[1:], strict=True)]
        first = None
        if bounds is None and not isinstance(grid, Grid):
            first = crowds[0].add_up(partial(Census.of, None, crs, outside), Census())
        area, origin = choose_area(first, grid, bounds)
        check_degrees(area.bounds, crs, "the bounds")
        census = [
            first
            if first is not None and crowd is crowds[0]
            else crowd.add_up(partial(Census.of, area, crs, outside), Census())
            for crowd in crowds
        ]
        notes = [
            [*before, *found.notes(area, title, crs)]
            for before, found, title in zip([[], *aligned], census, titles, strict=True)
        ]
        if crowds[0].provenance is not None:
            notes[0].append("the real set states a promise as synthetic trips do; the real trips come first")
        zones = [timezone or crowd.timezone for crowd in crowds]
        for said, own, title in zip(notes[1:], zones[1:], titles[1:], strict=True):
            if own is not None and zones[0] is not None and own != zones[0]:
                said.append(
                    f"{title}: its hours are those of {own}, and the hours of the real set those of {zones[0]}"
                )
        return Sets(titles, crowds, census, area, origin, crs, zones, outside, notes)

    def reading(
        self, number: int, rng: np.random.Generator, sample: int, rates: Mapping[int, float] | None = None
    ) -> Pass:
        """Return how the blocks of a set are measured, with a sample of about `sample` trajectories."""
        many, points = self.census[number].kept, self.census[number].kept_points
        share = min(1.0, sample / many, SAMPLE_POINTS / max(points, 1))
        return Pass(
            self.area,
            self.outside,
            {"crs": self.crs, "timezone": self.zones[number]},
            self.census[number].has_times,
            share,
            rng.spawn(1)[0],
            rates or {},
            rng.spawn(1)[0] if rates else None,
        )

    def sample(self, number: int, rng: np.random.Generator) -> Trajectories:
        """Return all trajectories of a set, or a random sample of about `SAMPLE`."""
        nothing: list[Trajectories] = []
        return Trajectories.concat(
            self.crowds[number].add_up(self.reading(number, rng, SAMPLE).chosen, nothing)
        )


def set_names(names: Sequence[str] | None, count: int) -> list[str]:
    """Return one name for each synthetic set. Sets with equal names are seeds of one method.

    >>> set_names(None, 2), set_names(["paper", "paper"], 2)
    (['synthetic 1', 'synthetic 2'], ['paper', 'paper'])
    """
    if names is None:
        return ["synthetic"] if count == 1 else [f"synthetic {number + 1}" for number in range(count)]
    return [str(name) for name in one_for_each("names", names, count)]


def one_for_each(what: str, given: Any, count: int) -> list[Any]:
    """Return a list, or raise an error if it does not have one entry for each synthetic set.

    >>> one_for_each("names", "mine", 1)
    Traceback (most recent call last):
        ...
    ldptrace.errors.InputError: names is a list with one entry for each synthetic set (1), got 'mine'
    """
    if isinstance(given, str | Mapping) or len(given) != count:
        shown = repr(given) if isinstance(given, str | Mapping) else f"{len(given)} entries"
        raise InputError(f"{what} is a list with one entry for each synthetic set ({count}), got {shown}")
    return list(given)
