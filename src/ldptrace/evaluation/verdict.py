"""Judge a scorecard: how good each set is in one sentence, which set is best, and what the sets may be used for."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

Document = dict[str, Any]

NINE = ("global", "trajectory", "semantic")
# How far of the way from knowing nothing to a perfect copy, in the middle of the nine.
GRADES = (
    (0.97, "very close to"),
    (0.9, "close to"),
    (0.75, "a fair likeness of"),
    (0.5, "a rough likeness of"),
)
CLOSE = 0.9
# Where a use has the answer `no`, a set is called no better than this, and where half of the uses have, far off.
AT_MOST = 0.75
# What people do with trips, and the metrics that say whether a set will do; the nine cover the first four.
USES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Where people are",
        "maps of demand, busiest places",
        ("density_error", "query_error", "hotspot_query_error", "kendall_tau"),
    ),
    (
        "From where to where",
        "origin-destination matrices",
        ("trip_error", "od_error_12", "common_part_of_commuters"),
    ),
    ("How far they go", "distances travelled", ("length_error", "diameter_error")),
    ("Frequent routes", "corridors that many take", ("pattern_f1", "pattern_error")),
    (
        "Single streets",
        "counts and turns on a street",
        ("fine_density_error_192", "small_query_error_900", "turn_error", "junction_flow_error"),
    ),
    (
        "When trips happen",
        "rush hours, durations, speeds",
        ("departure_error", "duration_error", "speed_error", "spacetime_query_error", "period_origin_error"),
    ),
    (
        "Tick by tick",
        "a stream of positions",
        ("stream_density_error", "stream_transition_error", "stream_query_error", "stream_pattern_f1"),
    ),
)
# The least place of the middle metric of a use, and of its weakest metric, for each answer.
ANSWERS = ((0.9, 0.75, "yes"), (0.75, 0.5, "roughly"), (0.0, 0.0, "no"))
UNEQUAL = 0.01
# The control that stands beside every set.
ALONE = "map_alone"


def judged(document: Document) -> Document:
    """Return the document of a scorecard on a common scale, with the judgement beside the values: of each entry its
    `place`, that of the map alone and whether it is `best`; of the whole the verdicts and the uses."""
    fair = on_common_scale(document)
    sets = [dict(item) for item in fair["sets"]]
    judgement = {
        "verdicts": [verdict(item) for item in sets],
        "uses": uses(sets),
        "map_remark": map_remark(sets),
    }
    for kind in ("metrics", "corrected"):
        marks = {name: best([item[kind][name] for item in sets]) for name in (sets[0][kind] if sets else ())}
        for number, item in enumerate(sets):
            item[kind] = {
                name: entry
                | {"place": position(entry), "alone": position(entry, ALONE), "best": marks[name][number]}
                for name, entry in item[kind].items()
            }
    return fair | {"sets": sets, "unequal": is_unequal(document), **judgement}


def position(entry: Document, control: str | None = None) -> float | None:
    """Return where a value, or that of a control, lies between that of a generator that knows nothing, 0, and a perfect
    one, 1. The result is None where knowing nothing does no harm.

    >>> position({"goal": "min", "value": 0.25, "floor": 0.0, "uniform": 1.0})
    0.75
    """
    value = entry["value"] if control is None else (entry.get("controls") or {}).get(control)
    floor, uniform = entry["floor"], entry["uniform"]
    if value is None or floor is None or uniform is None:
        return None
    if floor == uniform or (floor < uniform) != (entry["goal"] == "min"):
        return None
    return float(min(max((uniform - value) / (uniform - floor), 0.0), 1.0))


def is_unequal(document: Document) -> bool:
    """Return whether a set has another number of trips than the real one, so that counts do not compare."""
    size = document["real"]["trajectories"]
    return any(abs(item["portrait"]["trajectories"] - size) > UNEQUAL * size for item in document["sets"])


def on_common_scale(document: Document) -> Document:
    """Return the document with shares in place of counts where sets are of unequal size.

    Query error and pattern error compare counts of trips, so a set half as large looks bad however good it is. Their
    scaled variants take their place, and the values without scaling are added as `counted`.
    """
    if not is_unequal(document):
        return document
    return document | {"sets": [item | {"metrics": _scaled(item)} for item in document["sets"]]}


def _scaled(item: Document) -> Document:
    scaled = dict(item["metrics"])
    for name, entry in item["metrics"].items():
        other = item["corrected"].get(f"{name}_scaled")
        if other is not None:
            meaning = f"{entry['meaning']}; scaled to equal numbers of trips"
            kept = {"title": entry["title"], "level": entry["level"], "counted": entry["value"]}
            scaled[name] = other | kept | {"meaning": meaning}
    return scaled


def best(entries: Sequence[Document]) -> list[bool]:
    """Return which of the sets are best in a metric; none where there is nothing to compare."""
    known = [entry["value"] for entry in entries if entry["value"] is not None]
    if len(entries) < 2 or not known:
        return [False] * len(entries)
    top = (min if entries[0]["goal"] == "min" else max)(known)
    return [entry["value"] == top for entry in entries]


def verdict(item: Document) -> str:
    """Sum up a set in one sentence: how near the nine metrics come in the middle, which is the weakest, and what the
    set is not good enough for.

    >>> one = {"level": "global", "title": "Trip error", "goal": "min", "floor": 0.0, "uniform": 1.0}
    >>> verdict({"name": "ours", "metrics": {"trip_error": one | {"value": 0.02}, "b": one | {"value": 0.2}}})
    ... # doctest: +ELLIPSIS
    'ours is a fair likeness of the real set: 1 of 2 metrics are nearly perfect; the weakest is trip ...'
    """
    known = _places(item)
    if not known:
        return f"{item['name']} cannot be judged: the real set is too small."
    answers = {use["title"]: use["answers"][0] for use in uses([item])}
    missed = [f"{title[0].lower()}{title[1:]}" for title, answer in answers.items() if answer == "no"]
    middle = 0.0 if 2 * len(missed) >= max(len(answers), 1) else _middle(known) or 0.0
    grade = next(
        (words for least, words in GRADES if middle >= least and (not missed or least < AT_MOST)), "far from"
    )
    good = sum(place >= CLOSE for place, _ in known)
    tail = f"; the weakest is {_weakness(*min(known), long=True)}" if good < len(known) else ""
    tail += f"; not good enough for: {', '.join(missed)}" if missed else ""
    return f"{item['name']} is {grade} the real set: {good} of {len(known)} metrics are nearly perfect{tail}."


def _weakness(place: float, title: str, *, long: bool = False) -> str:
    """Return a metric and how good it is, for the inside of a sentence."""
    name = title if title.startswith("Kendall") else title[0].lower() + title[1:]
    if place <= 0:
        return f"{name}, no better than random"
    return f"{name}, {100 * place:.0f} %{' of the way from random to perfect' if long else ''}"


def uses(sets: Sequence[Document]) -> list[dict[str, Any]]:
    """Return what the sets may be used for: for each use the answer of each set, where its middle metric stands, which
    metric is the weakest, and where the map alone stands.

    The answer is `yes` if the middle metric is at least 90 % of the way from random to perfect and the weakest at least
    75 %, `roughly` for 75 % and 50 %, else `no`. A use of which nothing was measured is not there.
    """
    rows = []
    for title, example, names in USES:
        places = [_places(item, names) for item in sets]
        if not any(places):
            continue
        rows.append(
            {
                "title": title,
                "example": example,
                "places": [_middle(known) for known in places],
                "weakest": [_weakness(*min(known)) if known else None for known in places],
                "alone": _middle(_places(sets[0], names, ALONE)),
                "answers": [_answer(known) for known in places],
            }
        )
    return rows


def _middle(known: Sequence[tuple[float, str]]) -> float | None:
    return median(place for place, _ in known) if known else None


def _answer(known: Sequence[tuple[float, str]]) -> str:
    if not known:
        return "–"
    middle, (least, _) = _middle(known) or 0.0, min(known)
    return next(word for most, some, word in ANSWERS if middle >= most and least >= some)


def map_remark(sets: Sequence[Document]) -> str | None:
    """Say what the map alone would reach, where one was given: what was known before any report."""
    beaten, alone = [], 0.0
    for item in sets:
        pairs = (
            (position(entry), position(entry, ALONE))
            for entry in item["metrics"].values()
            if entry["level"] in NINE
        )
        known = [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]
        if not known:
            return None
        alone = median(theirs for _, theirs in known)
        beaten.append(f"{item['name']} is better in {sum(a > b for a, b in known)} of {len(known)}")
    middle = f"{100 * alone:.0f} % of the way from random to perfect (median of the nine metrics)"
    return f"The map alone, without any report, reaches {middle}; {', '.join(beaten)}."


def _places(
    item: Document, names: Sequence[str] | None = None, control: str | None = None
) -> list[tuple[float, str]]:
    """Return where the metrics of these names, or the nine, stand between random and perfect, with their titles; or
    where a control stands."""
    places = [
        (position(entry, control), entry["title"])
        for name, entry in item["metrics"].items()
        if (entry["level"] in NINE if names is None else name in names)
    ]
    return [(place, title) for place, title in places if place is not None]
