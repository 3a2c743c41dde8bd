"""Open the sets of an evaluation, in memory, in files larger than memory, or on a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ldptrace.core.crs import check_degrees
from ldptrace.core.reading import CUT, Outside, Reading
from ldptrace.engines.base import Crowd
from ldptrace.engines.local import Memory
from ldptrace.errors import InputError
from ldptrace.evaluation.measured import Census, Side, align, choose_area
from ldptrace.evaluation.settings import GRID
from ldptrace.io.files import trajectories_of
from ldptrace.protocol.grid import Bounds, Grid


def open_sides(
    real: Any,
    synthetic: Sequence[Any],
    names: Sequence[str],
    grid: int | Grid = GRID,
    bounds: Bounds | None = None,
    outside: Outside = CUT,
    timezone: str | None = None,
    crs: str | None = None,
) -> tuple[list[Side], str]:
    """Return the sets in one area and one coordinate system, the real set first, and where the area is from. All sets
    are read once, and the real set twice if the bounds are taken from it. `crs` is that of a road network that is to
    fit sets which state none.
    """
    if not synthetic:
        raise InputError("there is no synthetic set to evaluate")
    Reading(outside=outside, timezone=timezone)
    crowds = [
        item if isinstance(item, Crowd) else Memory(trajectories_of(item)) for item in (real, *synthetic)
    ]
    # The other sets may say what the coordinates are.
    crs = next((label for label in (*(crowd.crs for crowd in crowds), crs) if label is not None), None)
    titles = ["the real set", *(f"the synthetic set {name}" for name in names)]
    aligned = [
        [],
        *(align(crs, crowd.crs, title) for crowd, title in zip(crowds[1:], titles[1:], strict=True)),
    ]
    first = None
    if bounds is None and not isinstance(grid, Grid):
        first = crowds[0].add_up(partial(Census.of, None, crs, outside), Census())
    area, origin = choose_area(first, grid, bounds)
    check_degrees(area.bounds, crs, "the bounds" if first is None else "the bounds of the real set")
    zones = [timezone or crowd.timezone for crowd in crowds]
    sides: list[Side] = []
    for crowd, title, before, zone in zip(crowds, titles, aligned, zones, strict=True):
        known = first if crowd is crowds[0] else None
        census = known or crowd.add_up(partial(Census.of, area, crs, outside), Census())
        notes = [*before, *census.notes(area, title, crs)]
        if crowd is crowds[0] and crowd.provenance is not None:
            notes.append("the real set states a promise as synthetic trips do; the real trips come first")
        if zone != zones[0] and census.has_times and sides[0].census.has_times:
            one, other = (name or "no stated time zone" for name in (zone, zones[0]))
            notes.append(
                f"{title}: its hours are those of {one}, and the hours of the real set those of {other}"
            )
        sides.append(Side(title, crowd, area, outside, crs, zone, census, notes))
    return sides, origin


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
