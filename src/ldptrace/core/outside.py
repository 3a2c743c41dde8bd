"""What happens to fixes outside the bounds, for every reader, engine and comparison.

`cut` ends a trip at its last fix inside the bounds and begins another piece where the trip comes back. A single fix
outside between two fixes inside is omitted. All pieces of one trip belong to one device. `drop` omits trips that
leave the bounds. `clamp` moves fixes to the border, as a device does. With `cut` and `clamp` no trip is lost: a trip
without a fix inside becomes empty, and its device sends a null answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.crs import box_text, crs_hint
from ldptrace.core.parallel import added
from ldptrace.core.ragged import Mask
from ldptrace.core.reading import CUT, Outside
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.words import count
from ldptrace.protocol.grid import Bounds


@dataclass(frozen=True)
class Crossings:
    """The number of trips that leave the bounds, and what happened to their fixes. The numbers of parts can be added.

    >>> Crossings("cut", trips=2, points=9, strays=1, zeros=1, pieces=3, empty=1).sentence
    '9 points of 2 trips lie outside the bounds: omitted (1 single stray, 1 at 0,0), the trips cut into 3 pieces, \
1 trip wholly outside counts as no trip'
    """

    policy: Outside | None = None
    # Trips with fixes outside, and such fixes; among these single strays, and those at 0,0.
    trips: int = 0
    points: int = 0
    strays: int = 0
    zeros: int = 0
    # Pieces that have fixes, of the trips that were cut; trips without any fix inside.
    pieces: int = 0
    empty: int = 0

    def __add__(self, other: Crossings) -> Crossings:
        return added(self, other, policy=self.policy or other.policy)

    @property
    def dropped(self) -> int:
        """The number of trips that were omitted."""
        return self.trips if self.policy == "drop" else 0

    @property
    def sentence(self) -> str:
        """Return a sentence about what happened, or an empty text if all fixes are inside."""
        if not self.trips:
            return ""
        of = f"{count(self.points, 'point')} of {count(self.trips, 'trip')}"
        if self.policy == "drop":
            verb = "leaves" if self.trips == 1 else "leave"
            return f"{count(self.trips, 'trip')} {verb} the bounds and {'is' if self.trips == 1 else 'are'} omitted"
        if self.policy == "clamp":
            return f"{of} moved to the border of the bounds"
        kinds = [count(self.strays, "single stray")] if self.strays else []
        kinds += [f"{self.zeros:,} at 0,0"] if self.zeros else []
        lie = "lies" if self.points == 1 else "lie"
        said = f"{of} {lie} outside the bounds: omitted" + (f" ({', '.join(kinds)})" if kinds else "")
        if self.pieces > self.trips - self.empty:
            said += f", the trips cut into {count(self.pieces, 'piece')}"
        if self.empty:
            said += f", {count(self.empty, 'trip')} wholly outside count{'s' if self.empty == 1 else ''} as no trip"
        return said


def leak_of(outside: Outside) -> str | None:
    """Return how a policy weakens the promise, or None. It depends on the policy, never on the data."""
    if outside != "drop":
        return None
    return "devices whose trip leaves the bounds stay silent (outside: drop), so the number of users depends on trips"


def within(
    trajectories: Trajectories, bounds: Bounds, outside: Outside = CUT
) -> tuple[Trajectories, Crossings]:
    """Return the trajectories within the bounds, and what happened to those that leave the bounds.

    >>> trips = Trajectories.from_lists([[(1, 1), (20, 1), (2, 1), (30, 1), (31, 1), (3, 1)]])
    >>> pieces, crossings = within(trips, (0, 0, 10, 10))
    >>> [piece.x.tolist() for piece in pieces], pieces.trips.tolist(), crossings.strays
    ([[1.0, 2.0], [3.0]], [0, 0], 1)
    """
    trajectories = unwrap(trajectories, bounds)
    away = fixes_outside(trajectories, bounds)
    if away is None:
        return trajectories, Crossings(outside)
    leaving = ragged.holders(trajectories.offsets, away)
    crossings = Crossings(
        outside,
        trips=int(np.count_nonzero(leaving)),
        points=int(np.count_nonzero(away)),
        zeros=int(np.count_nonzero(away & (trajectories.x == 0) & (trajectories.y == 0))),
    )
    if outside == "drop":
        return trajectories.take(~leaving), crossings
    if outside == "clamp":
        x0, y0, x1, y1 = bounds
        moved = replace(trajectories, x=np.clip(trajectories.x, x0, x1), y=np.clip(trajectories.y, y0, y1))
        return moved, crossings
    return _cut(trajectories, away, leaving, crossings)


def _cut(
    trajectories: Trajectories, away: Mask, leaving: Mask, crossings: Crossings
) -> tuple[Trajectories, Crossings]:
    """Cut trips where they leave the bounds, but not at a single fix outside."""
    first = ragged.first_values(trajectories.offsets)
    ends = np.append(first[1:], True)
    stray = away & ~first & ~ends
    stray[1:-1] &= ~(away[:-2] | away[2:])
    inside = ~away
    begins = inside & first
    begins[1:] |= inside[1:] & (away & ~stray)[:-1]
    # How many pieces each trip has; one without a fix inside is an empty piece.
    pieces = np.diff(ragged.kept(trajectories.offsets, begins))
    filled = np.repeat(pieces > 0, np.maximum(pieces, 1))
    sizes = np.zeros(len(filled), dtype=np.int64)
    sizes[filled] = np.diff(np.flatnonzero(begins[inside]), append=np.count_nonzero(inside))
    owner = np.repeat(np.arange(len(trajectories)), np.maximum(pieces, 1))
    # Pieces have no ids of their own where there are more of them than trips.
    names: dict[str, Any] = {}
    if len(owner) > len(trajectories):
        trips = owner if trajectories.trips is None else trajectories.trips[owner]
        names = {"ids": None, "extra": trajectories.pieces_of(owner), "trips": trips}
    parts = replace(
        trajectories,
        x=trajectories.x[inside],
        y=trajectories.y[inside],
        t=None if trajectories.t is None else trajectories.t[inside],
        offsets=ragged.offsets_of(sizes),
        **names,
    )
    return parts, replace(
        crossings,
        strays=int(np.count_nonzero(stray)),
        pieces=int(pieces[leaving].sum()),
        empty=int(np.count_nonzero(leaving & (pieces == 0))),
    )


def unwrap(trajectories: Trajectories, bounds: Bounds) -> Trajectories:
    """If the bounds cross 180 degrees, shift longitudes by whole turns towards the middle of the bounds.

    >>> fiji = Trajectories.from_lists([[(179, -17), (-179, -16)]], crs="EPSG:4326")
    >>> unwrap(fiji, (177, -20, 183, -12)).x.tolist()
    [179.0, 181.0]
    """
    x0, _, x1, _ = bounds
    if not trajectories.is_geographic or (x0 >= -180 and x1 <= 180):
        return trajectories
    turns = np.round(((x0 + x1) / 2 - trajectories.x) / 360)
    return replace(trajectories, x=trajectories.x + 360 * turns)


def fixes_outside(trajectories: Trajectories, bounds: Bounds) -> Mask | None:
    """Return which points lie outside the bounds, or None if all lie inside."""
    x, y, (x0, y0, x1, y1) = trajectories.x, trajectories.y, bounds
    if trajectories.points == 0 or (x.min() >= x0 and y.min() >= y0 and x.max() <= x1 and y.max() <= y1):
        return None
    return (x < x0) | (x > x1) | (y < y0) | (y > y1)


def missed(trajectories: Trajectories, bounds: Bounds, outside: Outside) -> str:
    """Return the message about bounds that contain none of the data, with a hint if x and y look swapped."""
    what = (
        f"none of the {count(len(trajectories), 'trajectory')} lies" if outside == "drop" else "no point lies"
    )
    span, given = box_text(trajectories.bounds()), box_text(bounds)
    x0, y0, x1, y1 = bounds
    away = fixes_outside(replace(trajectories, x=trajectories.y, y=trajectories.x), bounds)
    fits = away is None or np.count_nonzero(away) * 2 < len(away)
    hint = (
        f"; with x and y swapped they would: give the bounds as {y0:g},{x0:g},{y1:g},{x1:g}, or name the columns the "
        "other way round with x and y (--x, --y)"
        if fits
        else crs_hint(bounds, trajectories.bounds(), trajectories.crs)
    )
    return f"{what} in the bounds {given}: the data span {span}{hint}"
