"""Omit what cannot be used, and count it by reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats
from ldptrace.core.crs import METRES_PER_DEGREE, check_degrees, step_lengths
from ldptrace.core.outside import fixes_outside, missed, within
from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.words import by_reason, total
from ldptrace.errors import InputError, NothingUsable
from ldptrace.io.account import Account, Owners, Parsed
from ldptrace.protocol.grid import Bounds

EARTH: Bounds = (-360.0, -90.0, 360.0, 90.0)
# Metres per second that no airliner reaches: about the speed of sound.
FASTEST = 340.0


def cleaned_part(
    parsed: Parsed,
    reading: Reading,
    crs: str | None,
    timezone: str | None,
    user: str | None,
    *,
    whole: bool = False,
) -> Parsed:
    """Clean a part of a source, which states these labels of all its trajectories, and keep no columns but that of
    users."""
    trajectories, account = parsed
    has_user = user is not None and trajectories.extra is not None and user in trajectories.extra.column_names
    plain = replace(
        trajectories,
        crs=crs,
        timezone=timezone,
        ids=None,
        provenance=None,
        extra=trajectories.extra.select([user]) if has_user and trajectories.extra is not None else None,
        user=user if has_user else None,
    )
    return clean((plain, account + Account(owners=Owners.of(trajectories))), reading, whole=whole)


def clean(parsed: Parsed, reading: Reading, *, whole: bool = True) -> Parsed:
    """Omit points that are not numbers, trajectories that are too short, and what lies outside the bounds.

    If nothing is left, that is an error, but not for a part of the data, because the other parts are not known. What
    one trajectory holds never changes what is kept of another one.
    """
    trajectories, account = parsed
    if len(trajectories) == 0:
        if not whole:
            return parsed
        reasons = by_reason(account.dropped or account.dropped_points)
        raise NothingUsable(f"there are no trajectories in it{': ' + reasons if reasons else ''}")
    trajectories, omitted = _usable(trajectories, reading.min_points)
    account += omitted
    if whole and trajectories.points == 0 and (account.dropped or account.dropped_points):
        reasons = by_reason(total([account.dropped, account.dropped_points]))
        raise NothingUsable(f"nothing in it can be used: {reasons}")
    account += Account(doubts=doubts(trajectories))
    if reading.bounds is None:
        return trajectories, account
    check_degrees(reading.bounds, trajectories.crs, "the bounds")
    kept, crossings = within(trajectories, reading.bounds, reading.outside)
    if whole and crossings.trips and (kept.points == 0 or crossings.points == trajectories.points):
        raise InputError(missed(trajectories, reading.bounds, reading.outside))
    return kept, account + Account(crossings=crossings)


def doubts(trajectories: Trajectories) -> dict[str, int]:
    """Count points and steps that look wrong, by kind. They are kept."""
    x, y, t, counts = trajectories.x, trajectories.y, trajectories.t, {}
    if trajectories.is_geographic:
        counts["points at 0,0"] = int(np.count_nonzero((x == 0) & (y == 0)))
    if t is not None and len(t):
        counts["points without a time"] = int(np.count_nonzero(np.isnan(t)))
        still = np.flatnonzero((t[1:] == t[:-1]) & ragged.inner_steps(trajectories.offsets))
        twice = (x[still + 1] == x[still]) & (y[still + 1] == y[still])
        counts["points with the time and place of the one before"] = int(np.count_nonzero(twice))
        if trajectories.is_geographic:
            counts[f"steps faster than {3.6 * FASTEST:,.0f} km/h"] = _jumps(trajectories, t)
    return total([counts])


def _jumps(trajectories: Trajectories, t: Floats) -> int:
    """Count steps that are faster than anything on the ground or in the air."""
    x, y = trajectories.x, trajectories.y
    # A degree of longitude is never longer than one of latitude, so few steps are left to be measured.
    reach = np.diff(t) * (FASTEST / METRES_PER_DEGREE)
    far = np.flatnonzero(
        ragged.inner_steps(trajectories.offsets) & (reach > 0) & (np.hypot(np.diff(x), np.diff(y)) > reach)
    )
    ends = np.stack([far, far + 1])
    lengths = step_lengths(x[ends], y[ends], trajectories.crs)[0]
    return int(np.count_nonzero(lengths > FASTEST * (t[far + 1] - t[far])))


def _usable(trajectories: Trajectories, min_points: int) -> Parsed:
    """Omit points without a position, and trajectories with too few points."""
    trajectories, unusable = finite(trajectories)
    if trajectories.is_geographic:
        trajectories, away = _on_earth(trajectories)
        unusable = unusable | {"not on earth": away}
    short = trajectories.sizes < min_points
    dropped: dict[str, int] = {}
    if short.any():
        reason = "no points" if min_points == 1 else f"fewer than {min_points} points"
        dropped, trajectories = {reason: int(short.sum())}, trajectories.take(~short)
    return trajectories, Account(dropped=dropped, dropped_points=unusable)


def finite(trajectories: Trajectories) -> tuple[Trajectories, dict[str, int]]:
    """Omit points that are not finite numbers, and count them by kind."""
    x, y = trajectories.x, trajectories.y
    # The extremes are finite if and only if all values are, and cost no mask.
    if trajectories.points == 0 or np.isfinite([x.min(), x.max(), y.min(), y.max()]).all():
        return trajectories, {}
    nan = np.isnan(x) | np.isnan(y)
    infinite = (np.isinf(x) | np.isinf(y)) & ~nan
    lost = total([{"not a number": int(nan.sum()), "infinite": int(infinite.sum())}])
    return trajectories.keep_points(~(nan | infinite)), lost


def _on_earth(trajectories: Trajectories) -> tuple[Trajectories, int]:
    """Omit points that are not valid longitudes and latitudes. If most points are not valid, that is an error."""
    away = fixes_outside(trajectories, EARTH)
    if away is None:
        return trajectories, 0
    if np.count_nonzero(away) * 2 > trajectories.points:
        x0, y0, x1, y1 = trajectories.bounds()
        hint = (
            "longitude and latitude look swapped; name the columns the other way round with x and y (--x, --y)"
            if max(abs(x0), abs(x1)) <= 90 and max(abs(y0), abs(y1)) <= 360
            else "these are not degrees; say what they are with crs, for example EPSG:3857"
        )
        raise NothingUsable(f"latitudes go from {y0:g} to {y1:g} where -90 to 90 is possible: {hint}")
    return trajectories.keep_points(~away), int(np.count_nonzero(away))
