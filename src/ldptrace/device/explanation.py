"""Explain to a person what the device sends, and to a developer or a person what it makes of trips before it answers.

A device answers for any trips, because silence would be an answer too. So mistakes in a program that hands over trips
stay unseen in its reports. These sentences stay on the device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction

from ldptrace.device.book import Acceptance, Cost
from ldptrace.device.ledger import Ledger
from ldptrace.device.track import Recording, coordinate, listed, part
from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.limits import MAX_POINTS
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.records import Record
from ldptrace.protocol.reports import HEADER_BYTES, Report, read_report, report_bytes
from ldptrace.protocol.round import SHARES, Ask, Round
from ldptrace.protocol.seals import sealed_bytes
from ldptrace.protocol.standing import Standing, dated
from ldptrace.protocol.trips import LAST_CLOCK, clock, kept_places
from ldptrace.protocol.units import Bounds, duration_words
from ldptrace.protocol.words import item_words, shuffled_promise, standing_promise, sure

GEOGRAPHIC = ("EPSG:4326", "OGC:CRS84")
# The smallest and largest degrees.
DEGREES = (-180.0, -90.0, 180.0, 90.0)


def explain_ledger(ledger: Ledger, plan: Plan, now: float) -> list[str]:
    """Explain how much epsilon is spent and left, and when the next answer to this plan is due.

    >>> import tempfile
    >>> from ldptrace.protocol.grid import Grid
    >>> ledger = Ledger(tempfile.mkdtemp() + "/ledger.json", limit=2)
    >>> explain_ledger(ledger, Plan.single_report(Grid((0, 0, 1, 1), 6), 1.0), 0.0)
    ['Given so far: epsilon 0. Your limit is 2, so 2 is left.', 'This plan costs epsilon 1, once.']
    """
    left = max(ledger.limit - ledger.spent, Fraction(0))
    lines = [
        f"Given so far: epsilon {decimal_text(ledger.spent)}. Your limit is {decimal_text(ledger.limit)}, "
        f"so {decimal_text(left)} is left.",
        *_local(ledger, plan),
    ]
    if plan.standing is None:
        if any(entry.root == plan.root for entry in ledger.entries):
            return [*lines, f"You have answered this plan: its epsilon {_each(plan)} is counted already."]
        return [*lines, f"This plan costs epsilon {_each(plan)}, once."]
    row = ledger.acceptance(plan)
    if row is None:
        every = duration_words(plan.standing.every)
        cost = f"You have not accepted this plan. It costs epsilon {_each(plan)} every {every}."
        return [*lines, cost, *_agreed(ledger, plan)]
    given = (
        f"To this plan: {row.answers} answer{'' if row.answers == 1 else 's'}, epsilon "
        f"{decimal_text(row.given)} of its lifetime {decimal_text(plan.standing.lifetime)}."
    )
    return [*lines, given, _due(plan, plan.standing, row, left, now)]


def _local(ledger: Ledger, plan: Plan) -> list[str]:
    """Explain the second sum, if there are shuffled plans."""
    cost, limits = ledger.cost, ledger.limits
    if plan.shuffled is None and cost.local == cost.central:
        return []
    left = max(limits.local_limit - cost.local, Fraction(0))
    lines = [
        f"If a shuffler and a curator work together: epsilon {decimal_text(cost.local)}. Your limit for that case is "
        f"{decimal_text(limits.local_limit)}, so {decimal_text(left)} is left."
    ]
    if plan.shuffled is not None and not limits.shuffled:
        lines.append("You take part in no shuffled plan, so this one is not answered.")
    elif plan.shuffled is not None and plan.epsilon > limits.most_local:
        lines.append(
            f"This plan costs epsilon {decimal_text(plan.epsilon)} in that case; you allow "
            f"{decimal_text(limits.most_local)} for one answer, so it is not answered."
        )
    return lines


def _agreed(ledger: Ledger, plan: Plan) -> list[str]:
    """Explain what a person agrees to who accepts a standing shuffled plan."""
    total = Cost.of_acceptance(plan).local
    if not total:
        return []
    left = ledger.limits.local_limit - ledger.cost.local
    lines = [
        "If the shuffler and the curator work together, all its answers could cost epsilon "
        f"{decimal_text(total)}: this total counts from the moment you accept the plan."
    ]
    if total > left:
        lines.append(
            "It is more than what is left of your limit for that case. To agree, raise that limit to "
            f"{decimal_text(ledger.cost.local + total)}."
        )
    return lines


def explain_spent(ledger: Ledger, plan: Plan) -> str:
    """Say how much of the person's limits is spent, by the sums that a plan counts in."""
    cost, limits = ledger.cost, ledger.limits
    text = f"epsilon {decimal_text(cost.central)} of {decimal_text(limits.limit)} is spent"
    if plan.shuffled is None:
        return text
    local = f"{decimal_text(cost.local)} of {decimal_text(limits.local_limit)}"
    return f"{text}; {local} if shuffler and curator work together"


def plan_words(ledger: Ledger, plan: Plan) -> str:
    """Return the line that a person sees before the device answers: the plan's id, and what is spent and left."""
    left = decimal_text(max(ledger.limit - ledger.spent, Fraction(0)))
    return f"plan {plan.id}; given so far: epsilon {decimal_text(ledger.spent)}, {left} is left"


def _each(plan: Plan) -> str:
    """Return what one answer costs; of a shuffled plan, in both cases."""
    local = decimal_text(plan.epsilon)
    if plan.shuffled is None:
        return local
    return (
        f"{decimal_text(plan.shuffled.epsilon)} with delta {float(plan.shuffled.delta):g} (if the shuffler and the "
        f"curator work together, {local})"
    )


def _due(plan: Plan, standing: Standing, row: Acceptance, left: Fraction, now: float) -> str:
    if (row.answers + 1) * plan.epsilon > standing.lifetime:
        return "Its lifetime is spent: nothing more is asked of you."
    central = Cost.of_answer(plan).central
    if central > left:
        return f"What is left of your limit is less than epsilon {decimal_text(central)}: nothing more is answered."
    if standing.latest(now, row.phase) > row.window:
        return "An answer is due now."
    return f"The next answer is due at {moment_words(standing.end(row.window + 1, row.phase))}."


def moment_words(unix: int) -> str:
    """Return a Unix time as readable text.

    >>> moment_words(1762128005)
    '2025-11-03T00:00:05Z'
    """
    try:
        return datetime.fromtimestamp(unix, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return f"Unix time {unix}"


def explain_asking(plan: Plan, number: int) -> list[str]:
    """Explain what a round asks, before anything is drawn.

    >>> from ldptrace.protocol.grid import Grid
    >>> explain_asking(Plan.single_report(Grid((0, 0, 1, 1), 6), 1.0), 0)[1][-21:]
    'e size for all trips.'
    """
    round_ = plan.rounds[number]
    x0, y0, x1, y1 = plan.grid.bounds
    plain = report_bytes(round_)
    size = plain if plan.shuffled is None else sealed_bytes(plain)
    campaign = "" if plan.campaign is None else f" of the campaign {plan.campaign.name}"
    stays = "Points, times and names are not sent."
    if any(ask.question.about_time for ask in round_.asks):
        stays = "Points, names and exact times are not sent; hours and speeds are asked below."
    lines = [
        f"Plan {plan.id}{campaign}. Everybody who is asked must see this id: compare it with the one that is "
        "published. A plan made for you alone would be a name for you.",
        *_when(plan),
        f"{'One' if plan.standing else f'Round {number + 1} of {len(plan.rounds)}: one'} message of "
        f"{size} bytes would leave this device, of the same size for all trips.",
        *shuffled_promise(plan),
        f"Your points are first reduced to {plan.grid.n} x {plan.grid.n} cells between ({x0:g}, {y0:g}) and "
        f"({x1:g}, {y1:g}); points outside count for the nearest cell. {stays}",
    ]
    if round_.assignment == "partition":
        lines.append(
            "One question is drawn at random, without looking at your trajectory; only it is answered:"
        )
        lines += [f"  {100 * ask.share / SHARES:.1f} %: {_question(ask)}" for ask in round_.asks]
    else:
        lines.append("These questions are answered:")
        lines += [f"  {_question(ask)}" for ask in round_.asks]
    return [*lines, *_promise(plan, round_)]


def explain_report(plan: Plan, data: bytes) -> list[str]:
    """Explain the bytes of a report in words. Of a sealed report, nobody but the curator can read the content."""
    if plan.shuffled is not None:
        return [
            f"The message, {len(data)} bytes: {data.hex()}",
            f"It is sealed: only the curator can read the report of {report_bytes(plan.rounds[0])} bytes in it, and "
            "the shuffler removes your name from it.",
        ]
    report = Report.decode(data)
    lines = [
        f"The message, {len(data)} bytes: {data.hex()}",
        f"Its first {HEADER_BYTES} bytes are the version, the plan, the round {report.round + 1}, "
        + (f"the window {report.window}, " if plan.standing else "")
        + "the drawn question and a random number; they say nothing about your trips.",
    ]
    for ask, slots in read_report(data, plan, report.round):
        lines.append(f"To the question about {ask.question.about} it says:")
        for place, named in enumerate(slots):
            items = "; ".join(item_words(ask.question, item) for item in named) or "(no item)"
            lines.append(f"  {f'{place + 1}: ' if len(slots) > 1 else ''}{items}")
    lines.append("Each of these may be true or random; nobody who reads the message can tell which.")
    return lines


def _when(plan: Plan) -> list[str]:
    if plan.standing is None:
        return []
    every, recent = (duration_words(value) for value in (plan.standing.every, plan.standing.recent))
    return [
        f"It asks again every {every}, at a moment that this device draws once: about one of your trips that "
        f"arrived in the last {recent}, or about none.",
        *standing_promise(plan),
    ]


def _question(ask: Ask) -> str:
    """Explain what is asked, and how often the report contains the true answer."""
    p, q = (float(value) for value in ask.randomizer.probabilities)
    named = f"a true one is named with probability {p:.3f}, an untrue one with {q:.3f}"
    return f"{ask.question.about} ({ask.question.domain} possible items; {named})"


def _promise(plan: Plan, round_: Round) -> list[str]:
    """Explain the privacy guarantee with odds, without logarithms."""
    if not round_.padded:
        return ["NOT PRIVATE: the size of the message depends on your trajectory."]
    ratio = float(round_.spent.exp())
    reading = "after reading it" if plan.shuffled is None else "if shuffler and curator work together"
    lines = []
    if plan.shuffled is not None:
        lines.append(
            "Somebody who was 50 % sure of anything about your trajectory can be at most "
            f"{sure(plan.shuffled.epsilon):.1f} % sure after reading everything that the curator gets, if shuffler and "
            f"curator do not work together (apart from a chance of {float(plan.shuffled.delta):g})."
        )
    lines.append(
        f"Any message is at most {ratio:.3g} times as likely from you as from anybody else "
        "who takes part. Somebody who was 50 % sure of anything about your trajectory can be at most "
        f"{100 * ratio / (1 + ratio):.1f} % sure {reading}."
    )
    if not (plan.standing or plan.shuffled):
        lines.append(f"All messages of this plan together cost at most epsilon {decimal_text(plan.epsilon)}.")
    return [*lines, "Not hidden: that you took part, when, and from which network address."]


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


def _inside(place: tuple[float, float], box: Bounds) -> bool:
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
