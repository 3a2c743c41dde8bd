"""The verdict: how good each set is in one sentence, and who may see what."""

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


def position(entry: Document, value: float | None = None) -> float | None:
    """Where a value lies between that of a generator that knows nothing, 0, and a perfect one, 1.

    There is no such place where knowing nothing does no harm.

    >>> position({"goal": "min", "value": 0.25, "floor": 0.0, "uniform": 1.0})
    0.75
    """
    value = entry["value"] if value is None else value
    floor, uniform = entry["floor"], entry["uniform"]
    if value is None or floor is None or uniform is None:
        return None
    if floor == uniform or (floor < uniform) != (entry["goal"] == "min"):
        return None
    share: float = (uniform - value) / (uniform - floor)
    return min(max(share, 0.0), 1.0)


def verdict(item: Document) -> str:
    """What a set's nine metrics come to, in one sentence.

    >>> one = {"level": "global", "title": "Trip error", "goal": "min", "floor": 0.0, "uniform": 1.0}
    >>> verdict({"name": "ours", "metrics": {"a": one | {"value": 0.02}, "b": one | {"value": 0.2}}})
    ... # doctest: +ELLIPSIS
    'ours is a fair likeness of the real set: 1 of 2 measures are nearly perfect; the weakest is trip ...'
    """
    known = _places(item)
    if not known:
        return f"{item['name']} cannot be judged: the real set has too little in it."
    middle = median(place for place, _ in known)
    grade = next((words for least, words in GRADES if middle >= least), "far from")
    good = sum(place >= CLOSE for place, _ in known)
    weakest, title = min(known)
    name = title if title.startswith("Kendall") else title[0].lower() + title[1:]
    share = (
        "no better than random"
        if weakest <= 0
        else f"{100 * weakest:.0f} % of the way from random to perfect"
    )
    tail = f"; the weakest is {name}, {share}" if good < len(known) else ""
    return (
        f"{item['name']} is {grade} the real set: {good} of {len(known)} measures are nearly perfect{tail}."
    )


def map_remark(sets: Sequence[Document]) -> str | None:
    """What the map by itself would reach, where one was given: what was learned, and what was known before."""
    beaten, alone = [], 0.0
    for item in sets:
        found = [
            (position(entry), position(entry, entry["controls"]["map_alone"]))
            for entry in item["metrics"].values()
            if entry["level"] in NINE and (entry.get("controls") or {}).get("map_alone") is not None
        ]
        known = [(ours, theirs) for ours, theirs in found if ours is not None and theirs is not None]
        if not known:
            return None
        alone = median(theirs for _, theirs in known)
        beaten.append(f"{item['name']} beats it in {sum(a > b for a, b in known)} of {len(known)}")
    middle = f"{100 * alone:.0f} % of the way from random to perfect in the middle of the nine"
    return f"The map alone, without any report, gets {middle}; {', '.join(beaten)}."


def sharing(document: Document, promises: Sequence[Any]) -> list[dict[str, Any]]:
    """What may be shared with whom, this page first: (what, said, whether it is a warning)."""
    shown = len(document["real"]["samples"])
    drawn = f" and draws {shown} of them" if shown else ""
    rows = [
        {
            "what": "This page",
            "said": "not covered by ε. The comparison itself was computed from the real trips"
            f"{drawn}: share it only with those who may see the real data.",
            "warned": True,
        }
    ]
    for item, promise in zip(document["sets"], promises, strict=True):
        said = promise.warning or f"ε = {promise.epsilon} for each user: {promise.meaning}."
        if promise.remark:
            said += f" {promise.remark}"
        rows.append({"what": item["name"], "said": said, "warned": bool(promise.warning)})
    return rows


def _places(item: Document) -> list[tuple[float, str]]:
    places = [
        (position(entry), entry["title"]) for entry in item["metrics"].values() if entry["level"] in NINE
    ]
    return [(place, title) for place, title in places if place is not None]
