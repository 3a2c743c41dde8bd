"""The privacy promise of a set on its page: a headline, facts, and who may see what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Document = dict[str, Any]

MEANING = {
    "user": "Everything that one user sends is at most {factor} times as likely with one trip as with any other.",
    "trip": "Everything that is sent about one trip is at most {factor} times as likely with that trip as with any "
    "other. For several trips of one person, epsilon adds up.",
}


@dataclass(frozen=True)
class Promise:
    """The panel of a promise: a headline, facts (name, value), sentences with their own lists, and a warning if any."""

    epsilon: str | None
    headline: str
    meaning: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    sentences: tuple[tuple[str, tuple[str, ...]], ...] = ()
    warning: str | None = None
    # What kind of result it is, where it is not one to publish.
    remark: str | None = None


def promise(privacy: dict[str, Any] | None) -> Promise:
    """Read the privacy data that a method put beside its output; the panel says so where there is none.

    >>> promise(None).epsilon is None
    True
    >>> promise({"epsilon": "1", "method": "paper"}).headline
    'ε = 1 for each user.'
    """
    if not privacy or privacy.get("epsilon") is None:
        return Promise(
            None,
            "This set came without a privacy statement.",
            warning="Nothing is promised about it: treat it as if it could reveal the data it was made from.",
        )
    epsilon = str(privacy["epsilon"])
    factor = _factor(epsilon)
    leaks = privacy.get("leaks")
    unit = "user" if privacy.get("unit", "user") == "user" else "trip"
    headline = f"ε = {epsilon} for each {unit}."
    meaning = MEANING[unit].format(factor=factor)
    if privacy.get("trust") == "shuffler":
        headline = (
            f"ε = {epsilon} for each {unit} (δ = {float(privacy['delta']):g}) if shuffler and curator do not work "
            f"together; ε = {privacy['local_epsilon']} if they do."
        )
        meaning = (
            f"What the curator gets from a batch of at least {privacy['batch']:,} reports is at most {factor} times as "
            f"likely with the data of one {unit} as with any other, apart from a chance of δ."
        )
    adjacency = privacy.get("adjacency")
    if privacy.get("trust") == "curator":
        headline = f"ε = {epsilon}, central: a trusted curator saw all trips. Neighbouring sets: {adjacency}."
        meaning = f"The result is at most {factor} times as likely with one of two neighbouring sets as with the other."
    facts = [
        (label, str(privacy[name]))
        for name, label in (
            ("method", "Method"),
            ("trust", "Who must be trusted"),
            ("adjacency", "Neighbouring collections"),
            ("summary", "What it does"),
            ("report", "One report"),
            ("composition", "Composition"),
            ("sample_seed", "Seed of sampling"),
            ("plan_id", "Plan"),
        )
        if isinstance(privacy.get(name), str | int | float)
    ]
    lines = privacy.get("explanation") or []
    lines = [lines] if isinstance(lines, str) else lines
    return Promise(
        epsilon,
        headline,
        meaning,
        tuple(facts),
        _sentences([*map(str, lines), *map(str, privacy.get("notes") or [])]),
        f"This is not ε-LDP for the whole trajectory: {leaks}." if leaks else None,
        f"Note: {privacy['experiment']}." if privacy.get("experiment") else None,
    )


def _factor(epsilon: str) -> str:
    """Return e to the epsilon in words, as far as epsilon is a number.

    >>> _factor("1"), _factor("12.5"), _factor("1/0")
    ('2.7', '270,000', 'e^ε')
    """
    try:
        value = math.exp(float(Fraction(epsilon)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return "e^ε"
    return f"{float(f'{value:.2g}'):,.10g}"


def _sentences(lines: list[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Group sentences: lines that are indented belong to the sentence before them.

    >>> _sentences(["One round:", "  start", "Done."])
    (('One round:', ('start',)), ('Done.', ()))
    """
    grouped: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith(" ") and grouped:
            grouped[-1][1].append(line.strip())
        else:
            grouped.append((line.strip(), []))
    return tuple((line, tuple(parts)) for line, parts in grouped)


def sharing(document: Document, promises: Sequence[Any]) -> list[dict[str, Any]]:
    """Return who may see what: for each promise the numbers of its sets, then this page, which has no number."""
    rows: dict[str, dict[str, Any]] = {}
    for number, (_, promise) in enumerate(zip(document["sets"], promises, strict=True)):
        said = f"{promise.headline} {promise.warning or promise.meaning}"
        said += f" {promise.remark}" if promise.remark else ""
        row = rows.setdefault(said, {"sets": [], "said": said, "warned": bool(promise.warning)})
        row["sets"].append(number)
    shown = len(document["real"]["samples"])
    drawn = f" and draws {shown} of them" if shown else ""
    said = (
        f"Not covered by ε. It was computed from the real trips{drawn}: share it only with those who may see the "
        "real data."
    )
    return [*rows.values(), {"sets": [], "said": said, "warned": True}]
