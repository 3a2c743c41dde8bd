"""Make the profile as one HTML page for residents. The page loads nothing from the network and may be published."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldptrace.pages.page import template
from ldptrace.products.profile.figures import ALL_NAMED, bars, street_map, zone_map
from ldptrace.products.profile.numbers import Profile
from ldptrace.products.sample import UNPROMISED, with_trip
from ldptrace.products.statement.papers import Promise
from ldptrace.products.zones import H3, Squares


def profile_page(profile: Profile, title: str = "How people move here") -> str:
    """Return the page as HTML."""
    names, pairs, streets = zone_names(profile), profile.pairs(), profile.streets()
    shown = {pair[end] for pair in pairs for end in ("from", "to")}
    begin = {place["zone"]: place["begin"] for place in profile.places()}
    figures: dict[str, Any] = {
        "hours": profile.hours
        and bars(profile.hours, "Trips by hour of departure", every=3, share=profile.total),
        "weekdays": profile.weekdays
        and bars(profile.weekdays, "Trips by day of the week", share=profile.total),
        "lengths": bars(profile.lengths, "Trips by length", share=profile.total),
        "minutes": profile.minutes and bars(profile.minutes, "Trips by duration", share=profile.total),
        "zones": zone_map(
            profile.zones, names, begin, "Where trips begin", shown, scale=profile.unit == "km"
        ),
        "streets": profile.flows
        and street_map(
            profile.flows,
            [(street["x"], street["y"]) for street in streets],
            "Travellers on streets",
            scale=profile.unit == "km",
        ),
    }
    return template("profile.html", __package__).render(
        title=title,
        sentences=sentences(profile),
        figures=figures,
        squares=profile.zones.side**2 if isinstance(profile.zones, Squares) else None,
        hexagons=isinstance(profile.zones, H3),
        pairs=[pair | {end: names[pair[end]] for end in ("from", "to")} for pair in pairs],
        some_named=len(names) > ALL_NAMED,
        streets=streets,
        total=profile.total,
        unit=profile.unit,
        second=profile.lengths.names[1],
        has_ranges=profile.lengths.numbers.low is not None,
        privacy=privacy(profile),
        counted=profile.sample.counted_words,
        clocks=profile.sample.zone_words,
        notes=list(dict(profile.sample.promise or {}).get("notes") or ()),
    )


def zone_names(profile: Profile) -> dict[str, str]:
    """Return what the page calls each zone. Nobody knows the ids of hexagons: they are numbered from the one in which
    most trips begin."""
    places = profile.places()
    if not isinstance(profile.zones, H3):
        return {place["zone"]: place["zone"] for place in places}
    order = np.argsort([-place["begin"] for place in places], kind="stable").tolist()
    rank = {place: number for number, place in enumerate(order, start=1)}
    return {place["zone"]: str(rank[k]) for k, place in enumerate(places)}


def sentences(profile: Profile) -> list[str]:
    """Return the profile in a few sentences."""
    stated, total = dict(profile.sample.promise or {}), profile.total
    each = ", one for each person who travelled" if profile.sample.of_people else ""
    lines = [f"This page describes about {float(f'{total:.3g}'):,.0f} trips{each}."]
    if stated.get("users") and with_trip(stated) < 1:
        share, error = 100 * with_trip(stated), 196 * float(stated["without_trip"]["std_error"])
        lines.append(
            f"Of {stated['users']:,} devices that answered, about {share:.0f} in 100 had made a trip "
            f"(the range is {max(share - error, 0):.0f} to {min(share + error, 100):.0f})."
        )
    if profile.each is not None:
        low, high = profile.each.interval
        lines.append(
            f"People made {profile.each.value:.1f} trips each on average (the range is {low:.1f} to {high:.1f})."
        )
    if profile.hours is not None:
        values = profile.hours.numbers.values
        busiest = int(values.argmax())
        lines.append(
            f"The busiest hour is from {busiest} to {busiest + 1} o'clock: {100 * values[busiest] / total:.0f} of "
            "100 trips begin then."
        )
    low, middle, high = profile.quartiles["length"]
    lines.append(
        f"Half of the trips are longer than {_round(middle)} {profile.unit}. The middle half is "
        f"{_round(low)} to {_round(high)} {profile.unit} long."
    )
    if "minutes" in profile.quartiles:
        lines.append(f"Half of the trips take more than {_round(profile.quartiles['minutes'][1])} minutes.")
    if "speed" in profile.quartiles and profile.unit == "km":
        lines.append(f"The usual speed is {profile.quartiles['speed'][1]:.0f} km/h from door to door.")
    names = zone_names(profile)
    for pair in profile.pairs()[:1]:
        zone = {Squares: "field ", H3: "hexagon "}.get(type(profile.zones), "")
        start, end = (f"{zone}{names[pair[name]]}" for name in ("from", "to"))
        where = f"stays within {start}" if start == end else f"goes from {start} to {end}"
        below = " of the map below" if zone else ""
        lines.append(f"The most common trip {where}{below}: {100 * pair['trips'] / total:.1f} of 100 trips.")
    return lines


def privacy(profile: Profile) -> list[str]:
    """Return the sentences about privacy."""
    stated = profile.sample.promise
    if not stated or "epsilon" not in stated:
        return [UNPROMISED]
    promise = Promise.of_provenance(stated, "the trips")
    how = (
        "Every device changed its answer at random before it sent it, and the page was made from all answers."
    )
    if promise.central:
        how = "The publisher, who holds the trips of people, added random noise to what was counted."
    elif promise.simulated:
        how = (
            "Each trip that the publisher holds gave one answer, which was changed at random, and the page was made "
            "from all answers."
        )
    unit = "all trips of one person" if promise.unit == "user" else "one trip"
    return [
        f"No trip on this page was made by anybody. {how}",
        f"If {unit} had been completely different, the chance of what was "
        f"{'counted' if promise.central else 'sent'} would be at most {math.exp(float(promise.epsilon)):.1f} times "
        "higher or lower. The smaller this number is, the less anyone can learn about a person "
        f"(experts write it as epsilon {promise.epsilon}).",
        *_shuffler(promise),
        *promise.weaker,
    ]


def _shuffler(promise: Promise) -> list[str]:
    """Return a sentence about whom one must trust where answers were mixed."""
    if not promise.shuffled:
        return []
    return [
        f"For this, the answers of at least {promise.batch:,} people were mixed by somebody independent, who could not "
        "read them. If that somebody worked together with the publisher, the number would be "
        f"{math.exp(float(promise.local or 0)):.0f}."
    ]


def _round(value: float) -> str:
    """Return a number with two significant digits.

    >>> _round(12.34), _round(1.234), _round(0.05)
    ('12', '1.2', '0.05')
    """
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
