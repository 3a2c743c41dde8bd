"""What the tags of a way say: who may use it, in which directions, how fast."""

from __future__ import annotations

from collections.abc import Mapping

from ldptrace.roads.classes import PEOPLE, Mode, base, is_known, is_open_to

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
    """The class of a way, and why the mode cannot use it (None: it can).

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
    """Whether a way may be travelled as it is drawn, and against that.

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
