"""Leave out what cannot be used, and count it by reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError, NothingUsable
from ldptrace.io.report import Parsed, by_reason, count, total
from ldptrace.protocol.grid import Bounds

Mask = NDArray[np.bool_]

# Share of the points outside the bounds that is worth a word.
MANY = 0.1
EARTH: Bounds = (-360.0, -90.0, 360.0, 90.0)


def clean(
    parsed: Parsed, *, bounds: Bounds | None, outside: str, min_points: int, whole: bool = True
) -> Parsed:
    """Without points that are no numbers and trajectories that are too short or leave the bounds, counted.

    Where nothing is left that is an error, and where some times are missing none are kept; a part of the data knows
    neither, so it may be empty, and its times stay as they are.
    """
    trajectories, notes = parsed.trajectories, list(parsed.notes)
    if len(trajectories) == 0:
        if not whole:
            return parsed
        reasons = by_reason(parsed.dropped or parsed.dropped_points)
        raise NothingUsable(f"there are no trajectories in it{': ' + reasons if reasons else ''}")
    reasons_of_points: dict[str, int] = dict(parsed.dropped_points)
    reasons_of_trajectories: dict[str, int] = dict(parsed.dropped)
    clamped: dict[str, int] = {}

    if whole and trajectories.t is not None and not np.isfinite(trajectories.t).all():
        missing = int(np.count_nonzero(~np.isfinite(trajectories.t)))
        if missing < trajectories.points:
            notes.append(
                f"times left out, because {count(missing, 'point')} of {trajectories.points:,} have none"
            )
        trajectories = replace(trajectories, t=None)

    trajectories, unusable = finite(trajectories)
    reasons_of_points = total([reasons_of_points, unusable])
    if trajectories.is_geographic:
        trajectories, dropped = _on_earth(trajectories)
        reasons_of_points = total([reasons_of_points, {"not on earth": dropped}])

    short = trajectories.sizes < min_points
    if short.any():
        reason = "no points" if min_points == 1 else f"fewer than {min_points} points"
        reasons_of_trajectories = total([reasons_of_trajectories, {reason: int(short.sum())}])
        trajectories = trajectories.take(~short)
        if len(trajectories) == 0 and whole:
            raise NothingUsable(
                f"nothing in it can be used: {by_reason(total([reasons_of_trajectories, reasons_of_points]))}"
            )

    if bounds is not None:
        trajectories = unwrap(trajectories, bounds)
        away = _outside(trajectories, bounds)
        if away is not None:
            leaving = _owners(trajectories, away)
            useless = leaving.all() if outside == "drop" else away.all()
            if useless and trajectories.points and whole:
                raise InputError(_miss(trajectories, bounds, outside))
            if outside == "drop":
                reasons_of_trajectories = total(
                    [reasons_of_trajectories, {"leaves the bounds": int(leaving.sum())}]
                )
                trajectories = trajectories.take(~leaving)
            else:
                x0, y0, x1, y1 = bounds
                trajectories = replace(
                    trajectories, x=np.clip(trajectories.x, x0, x1), y=np.clip(trajectories.y, y0, y1)
                )
                clamped = {"point": int(away.sum()), "trajectory": int(leaving.sum())}
    return Parsed(
        trajectories, parsed.rows, reasons_of_trajectories, reasons_of_points, tuple(notes), clamped
    )


def unwrap(trajectories: Trajectories, bounds: Bounds) -> Trajectories:
    """Longitudes as near to the middle of the bounds as whole turns allow, where the bounds pass 180 degrees.

    >>> fiji = Trajectories.from_lists([[(179, -17), (-179, -16)]], crs="EPSG:4326")
    >>> unwrap(fiji, (177, -20, 183, -12)).x.tolist()
    [179.0, 181.0]
    """
    x0, _, x1, _ = bounds
    if not trajectories.is_geographic or (x0 >= -180 and x1 <= 180):
        return trajectories
    turns = np.round(((x0 + x1) / 2 - trajectories.x) / 360)
    return replace(trajectories, x=trajectories.x + 360 * turns)


def finite(trajectories: Trajectories) -> tuple[Trajectories, dict[str, int]]:
    """Without points that are no finite numbers, and how many there were of each kind."""
    x, y = trajectories.x, trajectories.y
    # The extremes are finite if and only if all values are, and cost no mask.
    if trajectories.points == 0 or np.isfinite([x.min(), x.max(), y.min(), y.max()]).all():
        return trajectories, {}
    nan = np.isnan(x) | np.isnan(y)
    infinite = (np.isinf(x) | np.isinf(y)) & ~nan
    kept, _ = _without(trajectories, nan | infinite)
    return kept, total([{"not a number": int(nan.sum()), "infinite": int(infinite.sum())}])


def _on_earth(trajectories: Trajectories) -> tuple[Trajectories, int]:
    """Without points that no longitude and latitude can be; most points being so is an error."""
    away = _outside(trajectories, EARTH)
    if away is None:
        return trajectories, 0
    if np.count_nonzero(away) * 2 > trajectories.points:
        x0, y0, x1, y1 = trajectories.bounds()
        hint = (
            "longitude and latitude look swapped"
            if max(abs(x0), abs(x1)) <= 90 and max(abs(y0), abs(y1)) <= 360
            else "these are not degrees; say what they are with crs, for example EPSG:3857"
        )
        raise NothingUsable(f"latitudes go from {y0:g} to {y1:g} where -90 to 90 is possible: {hint}")
    return _without(trajectories, away)


def _outside(trajectories: Trajectories, bounds: Bounds) -> Mask | None:
    """Points outside the bounds; None where there are none."""
    x, y, (x0, y0, x1, y1) = trajectories.x, trajectories.y, bounds
    if trajectories.points == 0 or (x.min() >= x0 and y.min() >= y0 and x.max() <= x1 and y.max() <= y1):
        return None
    return (x < x0) | (x > x1) | (y < y0) | (y > y1)


def _owners(trajectories: Trajectories, points: Mask) -> Mask:
    """Trajectories with at least one of the points."""
    owners = np.searchsorted(trajectories.offsets, np.flatnonzero(points), side="right") - 1
    found = np.zeros(len(trajectories), dtype=np.bool_)
    found[owners] = True
    return found


def _without(trajectories: Trajectories, points: Mask) -> tuple[Trajectories, int]:
    """The same trajectories without some of their points."""
    kept = ~points
    before = np.concatenate(([0], np.cumsum(kept)))
    return replace(
        trajectories,
        x=trajectories.x[kept],
        y=trajectories.y[kept],
        t=None if trajectories.t is None else trajectories.t[kept],
        offsets=before[trajectories.offsets],
    ), int(np.count_nonzero(points))


def check_inside(trajectories: Trajectories, bounds: Bounds) -> str | None:
    """Bounds that miss all points are refused; a word where they miss many, for those who clamp them."""
    away = _outside(trajectories, bounds)
    if away is None:
        return None
    if away.all():
        raise InputError(_miss(trajectories, bounds, "clamp"))
    share = float(away.mean())
    if share < MANY:
        return None
    return f"{share:.0%} of the points lie outside the bounds and count for the nearest border cell"


def _miss(trajectories: Trajectories, bounds: Bounds, outside: str) -> str:
    what = (
        f"none of the {count(len(trajectories), 'trajectory')} lies" if outside == "drop" else "no point lies"
    )
    span, given = (",".join(f"{value:.10g}" for value in box) for box in (trajectories.bounds(), bounds))
    x0, y0, x1, y1 = bounds
    turned = replace(trajectories, x=trajectories.y, y=trajectories.x)
    away = _outside(turned, bounds)
    fits = away is None or np.count_nonzero(away) * 2 < len(away)
    hint = f"; with x and y swapped they would, so try {y0:g},{x0:g},{y1:g},{x1:g}" if fits else ""
    return f"{what} in the bounds {given}: the data span {span}{hint}"
