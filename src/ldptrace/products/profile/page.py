"""The profile as one page that a resident can read; it needs no network and may be published."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ldptrace.products.profile.figures import bars, street_map, zone_map
from ldptrace.products.profile.numbers import Profile
from ldptrace.products.sample import with_trip

HERE = Path(__file__).parent


def profile_page(profile: Profile, title: str = "How people move here") -> str:
    """The page as HTML."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    begin = [place["begin"] for place in profile.places()]
    figures: dict[str, Any] = {
        "hours": profile.hours
        and bars(profile.hours, "Trips by hour of departure", every=3, share=profile.total),
        "weekdays": profile.weekdays
        and bars(profile.weekdays, "Trips by day of the week", share=profile.total),
        "lengths": bars(profile.lengths, "Trips by length", share=profile.total),
        "minutes": profile.minutes and bars(profile.minutes, "Trips by duration", share=profile.total),
        "zones": zone_map(profile.zones, profile.matrix.zones, begin, "Where trips begin"),
        "streets": profile.flows and street_map(profile.flows, "Vehicles on the streets"),
    }
    return environment.get_template("profile.html").render(
        title=title,
        sentences=sentences(profile),
        figures=figures,
        pairs=profile.pairs(),
        streets=profile.streets(),
        total=profile.total,
        unit=profile.unit,
        has_ranges=profile.lengths.numbers.low is not None,
        privacy=privacy(profile),
    )


def sentences(profile: Profile) -> list[str]:
    """The profile in short."""
    found = []
    stated = dict(profile.sample.promise or {})
    if stated.get("users") and stated.get("without_trip"):
        share, error = 100 * with_trip(stated), 196 * float(stated["without_trip"]["std_error"])
        found.append(
            f"Of {stated['users']:,} devices that answered, about {share:.0f} in 100 had made a trip "
            f"(the range is {max(share - error, 0):.0f} to {min(share + error, 100):.0f})."
        )
    if profile.hours is not None:
        values = profile.hours.numbers.values
        busiest = int(values.argmax())
        found.append(
            f"Most trips begin between {busiest} and {busiest + 1} o'clock: "
            f"{100 * values[busiest] / profile.total:.0f} of 100 trips."
        )
    low, middle, high = profile.quartiles["length"]
    found.append(
        f"Half of the trips are longer than {_round(middle)} {profile.unit}. The middle half is "
        f"{_round(low)} to "
        f"{_round(high)} {profile.unit} long."
    )
    if "minutes" in profile.quartiles:
        found.append(f"Half of the trips take more than {profile.quartiles['minutes'][1]:.0f} minutes.")
    if "speed" in profile.quartiles and profile.unit == "km":
        found.append(f"The usual speed is {profile.quartiles['speed'][1]:.0f} km/h from door to door.")
    if profile.pairs():
        first = profile.pairs()[0]
        where = (
            f"within {first['from']}"
            if first["from"] == first["to"]
            else f"from {first['from']} to {first['to']}"
        )
        found.append(
            f"The most common trip is {where}: {100 * first['trips'] / profile.total:.1f} of 100 trips."
        )
    return found


def privacy(profile: Profile) -> list[str]:
    """What the page says about the people behind it."""
    stated = dict(profile.sample.promise or {})
    if "epsilon" not in stated:
        return ["These trips state no promise about the people behind them."]
    factor = math.exp(float(stated["epsilon"]))
    unit = {"trip": "one trip", "trajectory": "one trip"}.get(
        str(stated.get("unit")), "all trips of one person"
    )
    found = [
        "No trip on this page was made by anybody. Every device changed its answer at random before it "
        "sent it, and the "
        "page was made from all answers together.",
        f"Whatever {unit} looked like, the answer that was sent would have been at most {factor:.1f} times "
        "as likely as with "
        f"other trips (epsilon {stated['epsilon']}).",
    ]
    if stated.get("leaks"):
        found.append(f"The promise is weaker than that: {stated['leaks']}.")
    if stated.get("experiment"):
        found.append(f"This is an experiment and not a release: {stated['experiment']}.")
    return found


def _round(value: float) -> str:
    """Two digits, and no more decimals than that needs.

    >>> _round(12.34), _round(1.234), _round(0.05)
    ('12', '1.2', '0.05')
    """
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
