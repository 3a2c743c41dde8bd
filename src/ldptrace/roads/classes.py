"""Road classes: who may use a road, and how fast it is.

Classes are the values of the tag `highway` in OpenStreetMap, or whole numbers from 0 for the fastest roads, as in
Brinkhoff's generator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats
from ldptrace.errors import InputError

Mode = Literal["car", "bicycle", "foot"]

# Metres per second of rank 0 and of the last; each rank is slower than the one before by a factor.
FASTEST, SLOWEST, SLOWER = 22.0, 4.0, 1.35
STREET = 3  # the rank of an ordinary street

# A link to a road counts as the road.
RANK = {
    "motorway": 0,
    "trunk": 0,
    "primary": 1,
    "secondary": 2,
    "tertiary": 2,
    "unclassified": STREET,
    "residential": STREET,
    "road": STREET,
    "living_street": 4,
    "service": 5,
    "track": 6,
}
WAYS = ("cycleway", "path", "footway", "pedestrian", "steps", "bridleway")  # that are no roads
NEVER = ("construction", "proposed", "abandoned", "razed", "platform", "corridor", "raceway", "elevator")
USED: dict[Mode, frozenset[str]] = {
    "car": frozenset(RANK) - {"track"},
    "bicycle": (frozenset(RANK) - {"motorway"}) | {"cycleway", "path"},
    "foot": (frozenset(RANK) - {"motorway"}) | {"cycleway", "path", "footway", "pedestrian", "steps"},
}
PACE: dict[Mode, float] = {"bicycle": 4.5, "foot": 1.35}  # metres per second, on any road
PEOPLE: dict[Mode, str] = {"car": "cars", "bicycle": "bicycles", "foot": "people on foot"}

KMH_PER_MPH = 1.609344
# Limits that are words: at walking pace, none at all, and what a country's law says for a kind of place.
LIMIT_WORDS = {"walk": 7.0, "none": 130.0}
LIMIT_PLACES = {"living_street": 10.0, "urban": 50.0, "rural": 90.0, "trunk": 100.0, "motorway": 120.0}


def checked_mode(mode: str) -> Mode:
    """Return the mode, or raise an error if there is no mode of this name."""
    for known in get_args(Mode):
        if mode == known:
            return known
    raise InputError(f"the mode can be {', '.join(get_args(Mode))}, not {mode!r}")


def base(kind: str) -> str:
    """Return the class of a road without a suffix such as `_link`.

    >>> base("primary_link"), base("track_grade2"), base("6")
    ('primary', 'track', '6')
    """
    return re.sub(r"_link$|(?<=track)_grade\d$", "", kind)


def is_known(kind: str) -> bool:
    """Whether the class is a value of OpenStreetMap."""
    word = base(kind)
    return word in RANK or word in WAYS or word in NEVER


def is_open_to(kind: str, mode: Mode) -> bool:
    """Whether this mode may use roads of the class. Unknown classes are open.

    >>> is_open_to("footway", "car"), is_open_to("footway", "foot"), is_open_to("6", "car")
    (False, True, True)
    """
    return base(kind) in USED[mode] or not is_known(kind)


def rank_speed(rank: NDArray[np.integer] | float) -> Floats:
    """Return the speed on an empty road of this rank in metres per second; rank 0 is the fastest."""
    return np.maximum(FASTEST / SLOWER ** np.asarray(rank), SLOWEST)


def class_rank(kind: str) -> int:
    """Return the rank of a class, from 0 for the largest roads. Unknown classes count as ordinary streets.

    >>> class_rank("trunk_link"), class_rank("6"), class_rank("alley")
    (0, 6, 3)
    """
    word = base(kind)
    return min(int(word), 99) if word.isdecimal() else RANK.get(word, STREET)


def class_speed(kind: str, mode: Mode) -> float:
    """Return the speed on an empty road of the class in metres per second, or NaN if the class is unknown.

    >>> class_speed("motorway", "car"), class_speed("0", "car"), class_speed("alley", "car")
    (22.0, 22.0, nan)
    """
    if mode in PACE:
        return PACE[mode]
    word = base(kind)
    return float(rank_speed(class_rank(kind))) if word.isdecimal() or word in RANK else float("nan")


def limit_kmh(text: str) -> float:
    """Return a speed limit, as maps write it, in kilometres per hour: the mean if there are several, NaN if there is
    none.

    >>> limit_kmh("50"), round(limit_kmh("30 mph"), 1), limit_kmh("['40', '60']"), limit_kmh("DE:urban")
    (50.0, 48.3, 50.0, 50.0)
    >>> limit_kmh("signals")
    nan
    """
    limits = [_one_limit(part.strip(" '\"")) for part in re.split(r"[;,|]", text.strip(" []"))]
    known = [limit for limit in limits if np.isfinite(limit) and limit > 0]
    return float(np.mean(known)) if known else float("nan")


def _one_limit(text: str) -> float:
    number = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(mph|km/h|kmh|kph)?", text, re.IGNORECASE)
    if number:
        return float(number[1]) * (KMH_PER_MPH if (number[2] or "").lower() == "mph" else 1.0)
    word = text.lower()
    return LIMIT_WORDS.get(word, LIMIT_PLACES.get(word.rpartition(":")[2], float("nan")))


Tags = Mapping[str, str]

# From the most particular to the most general: the first that a way has decides.
ACCESS: dict[Mode, tuple[str, ...]] = {
    "car": ("motorcar", "motor_vehicle", "vehicle", "access"),
    "bicycle": ("bicycle", "vehicle", "access"),
    "foot": ("foot", "access"),
}
REFUSED = frozenset({"no", "private", "agricultural", "forestry", "military", "emergency", "use_sidepath"})
WELCOME = frozenset({"yes", "designated", "permissive", "official"})
# Ways to a garage or through a parking lot carry no traffic, and there are many of them.
YARDS = frozenset({"parking_aisle", "driveway", "private", "drive-through", "emergency_access", "parking"})
ROUND = frozenset({"roundabout", "circular"})

FORWARD = frozenset({"1", "1.0", "yes", "true", "t", "y", "f", "ft", "forward"})
BACKWARD = frozenset({"-1", "-1.0", "reverse", "tf", "backward"})
BOTH = frozenset({"", "0", "0.0", "no", "false", "n", "b", "both", "reversible", "alternating"})


def way_class(tags: Tags, mode: Mode) -> tuple[str, str | None]:
    """Return the class of a way, and why the mode cannot use it (None if it can).

    >>> way_class({"highway": "residential"}, "car")
    ('residential', None)
    >>> way_class({"highway": "residential", "access": "private"}, "car")
    ('residential', 'closed by its access tags')
    """
    kind = tags.get("highway", "").strip().lower()
    access = next((tags[name].strip().lower() for name in ACCESS[mode] if tags.get(name)), "")
    if access in REFUSED:
        return kind, "closed by its access tags"
    if tags.get("area") == "yes":
        return kind, "an area"
    if kind == "service" and mode == "car" and tags.get("service", "").lower() in YARDS:
        return kind, "a driveway or parking lot"
    if not is_open_to(kind, mode):
        # A footway where cycling is explicitly allowed is a path for both.
        shared = mode == "bicycle" and tags.get("bicycle", "") in WELCOME and base(kind) != "motorway"
        if shared and is_known(kind):
            return "path", None
        return kind, f"not for {PEOPLE[mode]}"
    return kind, None


def way_directions(tags: Tags, mode: Mode) -> tuple[bool, bool]:
    """Return whether a way may be used in the direction in which it is drawn, and in the other direction.

    >>> way_directions({"oneway": "yes"}, "car"), way_directions({"oneway": "-1"}, "car")
    ((True, False), (False, True))
    >>> way_directions({"oneway": "yes", "oneway:bicycle": "no"}, "bicycle")
    (True, True)
    """
    if mode == "foot":
        return True, True
    said = tags.get("oneway", "").strip().lower()
    if mode == "bicycle":
        said = tags.get("oneway:bicycle", said).strip().lower()
        if any(value.startswith("opposite") for key, value in tags.items() if key.startswith("cycleway")):
            return True, True
    if not said and (tags.get("junction") in ROUND or tags.get("highway") == "motorway"):
        return True, False
    return said not in BACKWARD, said not in FORWARD
