"""Writes the test vectors of protocol version 1: `python protocol/vectors/generate.py [FOLDER]`.

Every question of the registry and every randomizer is covered, with the lowest, the highest and ordinary random
draws, and with parameters at both ends of their ranges. The output depends on nothing but the code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import accumulate
from math import inf, nextafter
from pathlib import Path
from typing import Any

from draws import FirstDraw, Ordinary, Recorder, number_text, replayed, sources
from faults import rejected
from ledgers import scenarios
from material import EXAMPLES, middle_question, plans
from refusals import refused
from windows import occasions, window_scenarios
from writing import slug, write

from ldptrace.device import trip_of
from ldptrace.errors import PlanError
from ldptrace.protocol.exact import epsilon_fraction, ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import DIRECTION_DI, DIRECTION_DJ, moves
from ldptrace.protocol.limits import MAX_CAPACITY, MAX_COUNT, MAX_N
from ldptrace.protocol.questions import QUESTIONS, Links, Question, Steps, Turns
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.trips import NO_TRIP, Occasion, Trip
from wire import plan_vectors, reports, tallies

HERE = Path(__file__).parent / "v1"


# -- what is asked -----------------------------------------------------------------------------------------


def question_range(kind: type[Question], n: int) -> tuple[Question, Question]:
    """The question with its parameters at the lower and at the upper end of their ranges."""
    names = [name for name in kind.fields if name != "n"]

    def accepted(value: int) -> bool:
        try:
            kind(n, **dict.fromkeys(names, value))
        except PlanError:
            return False
        return True

    low = next(value for value in range(1, 10) if accepted(value))
    high = MAX_COUNT
    if not accepted(high):
        good, bad = low, high
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if accepted(middle) else (good, middle)
        high = good
    return kind(n, **dict.fromkeys(names, low)), kind(n, **dict.fromkeys(names, high))


def paths(n: int) -> dict[str, list[int]]:
    last = n * n - 1
    there_and_back = [0, 1, 0, 1, 0, 1]
    snake = [i * n + (j if i % 2 == 0 else n - 1 - j) for i in range(n) for j in range(n)]
    diagonal = [i * n + i for i in range(n)]
    return {
        "empty": [],
        "first cell": [0],
        "last cell": [last],
        "there and back": there_and_back,
        "diagonal": diagonal,
        "snake": snake,
        "snake backwards": snake[::-1],
    }


def untimed(n: int) -> dict[str, Trip]:
    return {label: Trip(path) for label, path in paths(n).items()}


def trips(n: int) -> dict[str, Trip]:
    """Paths with times: every hour, days before 1970, borders of hours and of classes, no times, broken ones."""
    walk, hour = paths(n)["diagonal"], 3600.0
    line = [(0.0, 0.0), (3.0, 4.0), (3.0, 4.0), (6.0, 8.0)]
    made = untimed(n)
    for k in range(24):
        # Ten metres in so many seconds: a class further each time.
        seconds = 18.0 / 2 ** (k / 4)
        path = walk if k % 2 else walk[::-1]
        made[f"hour {k}"] = Trip(path, line, (24 * k + k) * hour, (24 * k + k) * hour + seconds)
    return made | {
        "the last second of an hour": Trip(walk, line, 2 * hour - 1e-3, 2 * hour + 10),
        "before 1970": Trip(walk, line, -1.0, 9.0),
        "no time passes": Trip(walk, line, 50.0, 50.0),
        "time runs backwards": Trip(walk, line, 50.0, 40.0),
        "no way": Trip(walk, line[:1], 0.0, 60.0),
        "a way that is no number": Trip(walk, [(0.0, 0.0), (float("nan"), 0.0)], 0.0, 60.0),
        "an endless way": Trip(walk, [(-1e308, 0.0), (1e308, 0.0)], 0.0, 60.0),
        "on the border of a class": Trip(walk, [(0.0, 0.0), (2000.0, 0.0)], 0.0, hour),
        "no path": Trip([], [], 0.0, 60.0),
    }


# -- the files ---------------------------------------------------------------------------------------------


def integers() -> list[dict[str, Any]]:
    vectors: list[dict[str, Any]] = []
    bounds = [1, 2, 3, 5, 255, 256, 257, 65536, 65537, (1 << 42) - 5, (1 << 64) + 1, 10**40]
    for bound in bounds:
        for name, recorder in sources(f"below {bound}"):
            value = recorder.below(bound)
            random = replayed(lambda s, b=bound: s.below(b), recorder, value)
            vectors.append({"name": name, "below": str(bound), "random": random, "value": str(value)})
    lists = [([7], 1), ([3, 5, 9], 0), ([3, 5, 9], 2), ([3, 5, 9], 3), (list(range(300)), 4)]
    for items, size in lists:
        for name, recorder in sources(f"subset {len(items)} {size}"):
            chosen = recorder.subset(items, size)
            random = replayed(lambda s, i=items, k=size: s.subset(i, k), recorder, chosen)
            vectors.append({"name": name, "subset": items, "size": size, "random": random, "value": chosen})
    return vectors


def discretised() -> list[dict[str, Any]]:
    grids = [
        Grid((0, 0, 6, 6), 6),
        Grid((-8.7, 41.0, -8.4, 41.4), 7),
        Grid((0, 0, 1, 1), 2),
        Grid((-1e9, 0.1, 1e9, 0.3), MAX_N),
        Grid((281.0, 3935.0, 23854.0, 30851.0), 6),
    ]
    vectors = []
    for number, grid in enumerate(grids):
        x0, y0, x1, y1 = grid.bounds
        random = Ordinary(f"points {number}")
        inside = [
            (
                x0 + (x1 - x0) * random.below(1 << 30) / (1 << 30),
                y0 + (y1 - y0) * random.below(1 << 30) / (1 << 30),
            )
            for _ in range(8)
        ]
        # Where a cell ends, and the next representable number on both sides: the rule for ties.
        edges = []
        for k in range(0, grid.n + 1, max(1, grid.n // 4)):
            edge = grid.origin[0] + grid.step[0] * k
            edges += [(edge, y0), (nextafter(edge, inf), y1), (nextafter(edge, -inf), y0)]
        cases = {
            "no points": [],
            "one point": [((x0 + x1) / 2, (y0 + y1) / 2)],
            "corners": [(x0, y0), (x1, y1), (x0, y1), (x1, y0)],
            "inside": inside,
            "edges of cells": edges,
            "far outside": [(-1e300, 1e300), (float("inf"), float("-inf")), (float("nan"), float("nan"))],
            "repeats": [inside[0], inside[0], inside[1], inside[1]],
            "with times": [(*point, 1.7e9 + 15.25 * k) for k, point in enumerate(inside)],
            "more points than are kept": [
                (x0 + (x1 - x0) * (k * k % 97) / 97, y0 + (y1 - y0) * (k * 31 % 89) / 89, 1.7e9 + k)
                for k in range(4100)
            ]
            if number == 2
            else inside,
            "a time at one end only": [(*inside[0], 0.0), inside[1]],
            "times that are not numbers": [(*inside[0], float("nan")), (*inside[1], 5.0)],
            "times in milliseconds": [(*inside[0], 1e12), (*inside[1], 1e12 + 1)],
            "the last times": [(*inside[0], 1e12 - 1), (*inside[1], -1e12 + 1)],
        }
        for name, points in cases.items():
            vectors.append(
                {
                    "name": name,
                    "bounds": [repr(value) for value in grid.bounds],
                    "n": grid.n,
                    "points": [[number_text(value) for value in point] for point in points],
                    "path": trip_of(points, grid).path,
                    "departure": _time(trip_of(points, grid).departure),
                    "arrival": _time(trip_of(points, grid).arrival),
                }
            )
    return vectors


def answers() -> dict[str, list[dict[str, Any]]]:
    """Vectors of every question, by its name."""
    made = {}
    for name, kind in QUESTIONS.items():
        vectors = []
        questions = []
        for n in (2, 3, 6):
            if name in EXAMPLES:
                questions += [kind(n, **parameters) for parameters in EXAMPLES[name]]
                continue
            low, high = question_range(kind, n)
            questions += [low, middle_question(kind, n)] + [high] * (high.slots < 100)
        for question in dict.fromkeys(questions):
            for label, occasion in _occasions(name, question.n).items():
                trip = occasion.trip
                for luck, recorder in sources(f"question {name} {question} {label}", ordinary=1):
                    slots = question.answer(occasion, recorder)
                    random = replayed(lambda s, a=question, o=occasion: a.answer(o, s), recorder, slots)
                    vectors.append(
                        {
                            "name": f"{label}, {luck}",
                            "n": question.n,
                            "question": question.parameters(),
                            "path": list(trip.path),
                            "trips": occasion.trips,
                            **(_times(trip) if name in EXAMPLES else {}),
                            "random": random,
                            "domain": question.domain,
                            "capacity": question.capacity,
                            "slots": slots,
                        }
                    )
        made[name] = _without_repeats([*vectors, *_every_move(name)])
    return made


def _occasions(name: str, n: int) -> dict[str, Occasion]:
    """What a question is asked about."""
    if name == "trips":
        counts = {f"one of {count}": Occasion(Trip([0]), count) for count in (1, 2, 3, 4, 5, 6, 7, 100)}
        return counts | {"no trip": NO_TRIP}
    about = trips if name in EXAMPLES else untimed
    return {label: Occasion(trip, min(len(trip.path), 1)) for label, trip in about(n).items()}


def _every_move(name: str) -> Iterator[dict[str, Any]]:
    """Each turn between two of the eight directions, each move and each link of a small grid: no table has a gap."""
    for vector in _moves_and_turns():
        if vector["question"]["name"] == name:
            yield vector


def _moves_and_turns() -> Iterator[dict[str, Any]]:
    n, centre = 5, (2, 2)
    for before in range(8):
        for after in range(8):
            path = [centre]
            for number in (before, after):
                path.append((path[-1][0] + DIRECTION_DI[number], path[-1][1] + DIRECTION_DJ[number]))
            yield _answered(f"direction {before}, then {after}", Turns(n), [i * n + j for i, j in path])
    for here, number, there in moves(3):
        yield _answered(f"from {here} in direction {number}", Steps(3, 1), [here, there])
        yield _answered(f"from {here} in direction {number}", Links(3, 1), [here, there])


def _answered(name: str, question: Question, path: list[int]) -> dict[str, Any]:
    """An answer that needs no luck."""
    return {
        "name": name,
        "n": question.n,
        "question": question.parameters(),
        "path": path,
        "trips": 1,
        "random": "",
        "domain": question.domain,
        "capacity": question.capacity,
        "slots": question.answer(Occasion(Trip(path)), Source(BytesReader(b""))),
    }


def perturbed() -> list[dict[str, Any]]:
    ratios = [ratio_at_most(epsilon_fraction(text)) for text in ("0.01", "1", "20")]
    channels: list[Randomizer] = []
    for ratio in ratios:
        channels += [OUE(d, 1, ratio) for d in (1, 2, 8, 9, 36)]
        channels += [GRR(d, 1, ratio) for d in (1, 2, 255, 256, 65535, 65536)]
        channels += [PrivSet(d, 1, ratio, 1) for d in (1, 5)]
        channels += [PrivSet(5, 5, ratio, 5), PrivSet(220, 5, ratio, 11), PrivSet(36, 1, ratio, 10)]
        channels += [
            PrivSet(255, 1, ratio, 31),
            PrivSet(256, 1, ratio, 3),
            PrivSet(300, MAX_CAPACITY, ratio, 1),
        ]
    channels += [
        PrivSet(4100, 3, ratios[1], 4096),
        GRR(1 << 20, 1, ratios[1]),
        PrivSet(1 << 20, 1, ratios[1], 1),
    ]
    vectors = []
    for channel in channels:
        p, q = channel.probabilities
        d, m = channel.domain, channel.capacity
        sets = [(), (0,), (d - 1,), tuple(range(m)), tuple(range(d - m, d))]
        # Vectors of the largest ones are long: one is enough.
        for items in dict.fromkeys(sets if channel.payload_bytes < 100 else sets[-1:]):
            lots = [*sources(f"randomizer {channel} {items}", ordinary=1), *_borders(channel, items)]
            for luck, recorder in lots:
                named = channel.perturb(items, recorder)
                random = replayed(lambda s, c=channel, i=items: c.perturb(i, s), recorder, named)
                vectors.append(
                    {
                        "name": luck,
                        "randomizer": _randomizer(channel),
                        "items": list(items),
                        "random": random,
                        "named": list(named),
                        "payload": channel.encode(named).hex(),
                        "p": [str(p.numerator), str(p.denominator)],
                        "q": [str(q.numerator), str(q.denominator)],
                    }
                )
    return [vector for vector in vectors if len(vector["random"]) < 10000 or "ordinary" in vector["name"]]


def _borders(channel: Randomizer, items: tuple[int, ...]) -> Iterator[tuple[str, Recorder]]:
    """First draws on both sides of where one outcome ends and the next begins; for small randomizers."""
    if channel.outputs > 300 or (items and isinstance(channel, OUE) and items[0] == 0):
        return
    ratio = channel.ratio
    if isinstance(channel, PrivSet):
        borders = list(accumulate(channel.hit_weights))[:-1]
    elif isinstance(channel, GRR):
        borders = [ratio.numerator, ratio.numerator + ratio.denominator]
    else:
        borders = [ratio.denominator]
    total = sum(channel.hit_weights) if isinstance(channel, PrivSet) else ratio.numerator
    if not isinstance(channel, PrivSet):
        total += ratio.denominator * (channel.domain if isinstance(channel, GRR) else 1)
    for border in borders:
        for value in (border - 1, border):
            if value < total:
                yield f"first draw {value}", FirstDraw(f"border {channel} {items} {value}", value)


# -- small things ------------------------------------------------------------------------------------------


def _randomizer(channel: Randomizer) -> dict[str, Any]:
    known = channel.document()
    return {name: known[name] for name in ("kind", "size", "domain", "capacity", "ratio") if name in known}


def _time(value: float | None) -> str | None:
    return None if value is None else number_text(value)


def _times(trip: Trip) -> dict[str, Any]:
    points = [[number_text(value) for value in point] for point in trip.points]
    return {"points": points, "departure": _time(trip.departure), "arrival": _time(trip.arrival)}


def _without_repeats(vectors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Draws do not matter to many questions; one vector is enough then."""
    kept = {}
    for vector in vectors:
        key = json.dumps({name: value for name, value in vector.items() if name != "name"}, sort_keys=True)
        kept.setdefault(key, vector)
    return list(kept.values())


def files() -> dict[str, Any]:
    """All vector files by name: lists, and for each plan an object."""
    made = plans()
    faults = rejected(made)
    found: dict[str, Any] = {
        "integers": integers(),
        "paths": discretised(),
        "randomizers": perturbed(),
        "refused_plans": refused(made),
        "occasions": occasions(),
        "ledgers": scenarios(),
        "windows": window_scenarios(),
    }
    found |= {f"questions/{name}": vectors for name, vectors in answers().items()}
    for name, about in plan_vectors(made).items():
        plan = made[name]
        found[f"plans/{slug(name)}"] = about | {
            "reports": reports(name, plan),
            "tallies": tallies(name, plan),
            "rejected_reports": faults.get(name, []),
        }
    return found | {"index": sorted(f"{name}.json" for name in found)}


if __name__ == "__main__":
    write(files(), Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
