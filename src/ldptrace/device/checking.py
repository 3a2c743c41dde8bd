"""Say to a developer or a person what a device makes of trips, before it answers.

A device answers for any trips, because silence would be an answer too. So mistakes in a program that hands over trips
stay unseen in its reports. These sentences stay on the device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ldptrace.device.explanation import moment_words
from ldptrace.device.ledger import Ledger
from ldptrace.device.track import Recording, coordinate, listed, part
from ldptrace.protocol.limits import MAX_POINTS
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.records import Record
from ldptrace.protocol.standing import Standing, dated
from ldptrace.protocol.trips import LAST_CLOCK, clock, kept_places

Box = tuple[float, float, float, float]
GEOGRAPHIC = ("EPSG:4326", "OGC:CRS84")
# The smallest and largest degrees.
DEGREES = (-180.0, -90.0, 180.0, 90.0)


class Track(Record):
    """The points of a trip that the device uses (x, y and t; NaN for what is no number), how many points there are, and
    the recorded arrival."""

    points: list[list[float]]
    size: int
    arrival: object


def check_trips(
    plan: Plan, number: int, recordings: Sequence[Recording], ledger: Ledger | None, now: float
) -> list[str]:
    """Return what the device would make of the trips, in sentences.

    >>> from ldptrace.protocol.grid import Grid
    >>> for line in check_trips(Plan.single_report(Grid((0, 0, 1, 1), 6), 1.0), 0, [Recording([(0.5, 7)])], None, 0):
    ...     print(line)
    Trips: 1, with 1 point.
    Points outside the bounds (0, 0) to (1, 1), which count for the nearest cell: 1 of 1.
    All points are outside: the trips are from another area than the plan, or in other coordinates.
    The answer is about this one trip.
    """
    tracks = [track_of(one) for one in recordings]
    full = [track for track in tracks if track.size > 0]
    lines = [*_sizes(tracks, full), *_places(full, plan)]
    if any(ask.question.about_time for ask in plan.rounds[number].asks):
        lines += _times(full)
    if plan.standing is None:
        return [*lines, *_earlier(ledger, plan, number), _outcome(len(full))]
    return [*lines, *_arrivals(full), *_window(plan, plan.standing, ledger, full, now)]


def track_of(recording: Recording) -> Track:
    points = listed(recording.points)
    kept = [points[place] for place in kept_places(len(points))]
    read = [[coordinate(part(point, axis)) for axis in range(3)] for point in kept]
    return Track(read, len(points), recording.arrival)


def _sizes(tracks: list[Track], full: list[Track]) -> list[str]:
    points, large = sum(track.size for track in full), sum(track.size > MAX_POINTS for track in full)
    too_many = f"Trips with more than {MAX_POINTS} points, of which {MAX_POINTS} are used"
    return [
        f"Trips: {len(tracks)}, with {points} point{'' if points == 1 else 's'}.",
        *_share("Trips without points, which do not count", len(tracks) - len(full), len(tracks)),
        *_share(too_many, large, len(tracks)),
    ]


def _places(full: list[Track], plan: Plan) -> list[str]:
    x0, y0, x1, y1 = plan.grid.bounds
    places = [(x, y) for track in full for x, y, _ in track.points]
    readable = [(x, y) for x, y in places if not (math.isnan(x) or math.isnan(y))]
    outside = [place for place in readable if not _inside(place, plan.grid.bounds)]
    broken = "Points whose x or y is no number, which count as the lowest x or y of the bounds"
    beyond = (
        f"Points outside the bounds ({x0:g}, {y0:g}) to ({x1:g}, {y1:g}), which count for the nearest cell"
    )
    return [
        *_share(broken, len(places) - len(readable), len(places)),
        *_share(beyond, len(outside), len(places)),
        *([_elsewhere(outside, plan)] if outside and len(outside) == len(readable) else []),
    ]


def _elsewhere(places: list[tuple[float, float]], plan: Plan) -> str:
    """Explain why all points may be outside."""
    box = plan.grid.bounds
    if all(_inside((y, x), box) for x, y in places):
        return (
            "All points are outside, and all would be inside with x and y exchanged: x (the longitude or the easting) "
            "comes first."
        )
    if plan.crs in GEOGRAPHIC and not any(_inside(place, DEGREES) for place in places):
        return "All points are outside: the bounds are in degrees, the points are not."
    small = _inside(box[:2], DEGREES) and _inside(box[2:], DEGREES)
    if not small and all(_inside(place, DEGREES) for place in places):
        return "All points are outside: they look like degrees, and the bounds are in other units."
    return "All points are outside: the trips are from another area than the plan, or in other coordinates."


def _inside(place: tuple[float, float], box: Box) -> bool:
    return box[0] <= place[0] <= box[2] and box[1] <= place[1] <= box[3]


def _times(full: list[Track]) -> list[str]:
    ends = [(track.points[0][2], track.points[-1][2]) for track in full]
    unknown = sum(clock(first) is None or clock(last) is None for first, last in ends)
    label = "Trips without a time at the first or the last point (the plan asks about time; t is in local seconds)"
    return [
        *_share(label, unknown, len(full)),
        *_milliseconds("times", [t for pair in ends for t in pair]),
        *_share("Trips that end before they begin", sum(a > b for a, b in ends), len(full)),
    ]


def _arrivals(full: list[Track]) -> list[str]:
    arrivals = [coordinate(track.arrival) for track in full]
    unknown = sum(dated(arrival) is None for arrival in arrivals)
    label = "Trips without an arrival (the Unix time at which the trip ended), which belong to no window"
    return [*_share(label, unknown, len(full)), *_milliseconds("arrivals", arrivals)]


def _milliseconds(what: str, values: list[float]) -> list[str]:
    if not any(math.isfinite(value) and abs(value) >= LAST_CLOCK for value in values):
        return []
    return [f"Some {what} are so large that they seem to be milliseconds; they count as unknown."]


def _window(
    plan: Plan, standing: Standing, ledger: Ledger | None, full: list[Track], now: float
) -> list[str]:
    row = None if ledger is None else ledger.acceptance(plan)
    if row is None:
        return ["The plan was not accepted yet: the first call accepts it, and answers nothing."]
    latest = standing.latest(now, row.phase)
    window = max(latest, row.window + 1)
    end = standing.end(window, row.phase)
    recent = len(standing.eligible([track.arrival for track in full], window, row.phase, row.accepted))
    begin = moment_words(max(end - standing.recent, row.accepted))
    span = f"Trips that arrived after {begin} and not after {moment_words(end)}: {recent} of {len(full)}."
    if latest > row.window:
        return ["An answer is due now.", span, _outcome(recent)]
    again = ["The last report was not sent: its bytes are returned again."]
    return [f"No answer is due before {moment_words(end)}.", span, *(again if row.report is not None else [])]


def _earlier(ledger: Ledger | None, plan: Plan, number: int) -> list[str]:
    for entry in () if ledger is None else ledger.entries:
        if entry.root == plan.root and entry.round == number:
            if entry.report is None or entry.plan != plan.id:
                return ["This round was answered: the device refuses to answer it again."]
            return ["This round was answered: the device returns the same bytes, whatever these trips are."]
    return []


def _outcome(trips: int) -> str:
    if trips == 0:
        return "The answer says that there is no trip, in a report that looks like any other."
    if trips == 1:
        return "The answer is about this one trip."
    return f"The answer is about one of {trips} trips, which is drawn at random."


def _share(label: str, number: int, whole: int) -> list[str]:
    """Return a line about some of many, or nothing if there are none."""
    return [f"{label}: {number} of {whole}."] if number else []
