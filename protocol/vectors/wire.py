"""What follows from each plan: its id and sizes, its reports, and tallies of good and damaged ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from draws import InGroup, Ordinary, Recorder, number_text, replayed, sources
from faults import changed_byte, flipped_bit
from material import trajectories

from ldptrace.device import Reporter, trip_of
from ldptrace.protocol.canonical import dumps
from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem, ReportRejected
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.reports import ID_AT, WINDOW_AT, Report, plan_prefix, read_report, report_bytes
from ldptrace.protocol.round import Round
from ldptrace.protocol.trips import NO_TRIP, Occasion

# Plans whose reports are counted in the vectors.
COUNTED = (
    *("many questions, privset", "many questions, grr", "many questions, oue"),
    *("paper, second round", "combtran", "standing"),
)


def plan_vectors(made: dict[str, Plan]) -> dict[str, dict[str, Any]]:
    """What follows from each plan document."""
    return {
        name: {
            "name": name,
            "document": plan.to_json(),
            "id": plan.id,
            "root": plan.root,
            "chain": list(plan.chain),
            "report_bytes": [report_bytes(round_) for round_ in plan.rounds],
            "epsilon": decimal_text(plan.epsilon),
            "spent": f"{plan.spent:.40f}",
            "private": plan.is_private,
        }
        for name, plan in made.items()
    }


def reports(name: str, plan: Plan) -> list[dict[str, Any]]:
    """Every group of the last round, for trajectories of all kinds."""
    vectors = []
    if not plan.is_private or name.startswith("most"):
        return []
    reporter, number = Reporter(plan, "none"), len(plan.rounds) - 1
    for place, (label, points) in enumerate(trajectories(plan.grid).items()):
        trip = trip_of(points, plan.grid)
        occasion = Occasion(trip, place + 1) if points else NO_TRIP
        window = 0 if plan.standing is None else (0, 2913, (1 << 32) - 1)[place % 3]
        for luck, recorder in _lots(f"report {name} {label}", plan.rounds[number]):
            data = reporter.draw_about(occasion, number, recorder, window=window)

            def again(source: Source, about: Occasion = occasion, window: int = window) -> bytes:
                return reporter.draw_about(about, number, source, window=window)

            vectors.append(
                {
                    "name": f"{label}, {luck}",
                    "round": number,
                    "window": window,
                    "points": [[number_text(value) for value in point] for point in points],
                    "trips": occasion.trips,
                    "random": replayed(again, recorder, data),
                    "report": data.hex(),
                }
            )
    return vectors


def _lots(name: str, round_: Round) -> Iterator[tuple[str, Recorder]]:
    yield from sources(name, ordinary=1)
    drawn = 0
    for group, ask in enumerate(round_.asks if round_.assignment == "partition" else ()):
        yield f"group {group}, its first number", InGroup(f"{name} {group}", drawn)
        drawn += ask.share


def tallies(name: str, plan: Plan) -> list[dict[str, Any]]:
    """Batches with good, damaged and repeated reports; the tally by the plain reader, report by report."""
    if name == "most payload":
        return _largest(plan)
    if name not in COUNTED and plan.shuffled is None:
        return []
    number, reporter = len(plan.rounds) - 1, Reporter(plan, "none")
    lottery, batch = Ordinary(f"batch {name}"), []
    for points in trajectories(plan.grid).values():
        batch += [reporter.draw(points, number, lottery) for _ in range(6)]
    batch[3] = batch[2]
    other_version = 3 - plan.version
    batch[5] = changed_byte(batch[5], 0, other_version)
    batch[7] = flipped_bit(batch[7], 9)
    batch[9] = changed_byte(batch[9], 17, number + 1)
    batch[11] = changed_byte(batch[11], 18, 200)
    batch[13] = changed_byte(batch[13], WINDOW_AT.stop - 1, 7)
    batch.append(batch[1])
    batch.append(batch[4][:-1])
    # A report that is not counted leaves no trace: its id may come again. Ids of zeros are ids.
    spoilt = changed_byte(batch[0], 18, 200)
    zero = batch[2][: ID_AT.start] + bytes(16) + batch[2][ID_AT.stop :]
    again = [spoilt, batch[0], batch[0], zero, batch[2], zero]
    windows = (None, 0, 7, 1 << 24) if plan.standing else (None,)
    return [
        _counted(plan, number, part, window)
        for window in windows
        for part in (batch, [], [batch[0][:1]], [bytes([other_version])], again)
    ]


def _largest(plan: Plan) -> list[dict[str, Any]]:
    head = Report(plan_prefix(plan), 0, 0, 0, bytes(16), b"").encode()
    full, vectors = plan.rounds[0].payload_bytes, []
    for zeros in (0, full - 1, full):
        codes, document = _plain_tally(plan, 0, [head + bytes(zeros)], None)
        told = {"batch": head.hex(), "zeros": zeros, "problems": codes, "tally": document}
        vectors.append({"round": 0, "window": None} | told)
    return vectors


def _counted(plan: Plan, number: int, batch: list[bytes], window: int | None) -> dict[str, Any]:
    codes, document = _plain_tally(plan, number, batch, window)
    told = {"batch": b"".join(batch).hex(), "zeros": 0, "problems": codes, "tally": document}
    return {"round": number, "window": window} | told


def _plain_tally(plan: Plan, number: int, batch: list[bytes], window: int | None) -> tuple[list[int], str]:
    asks = plan.rounds[number].asks
    counts = [[0] * ask.randomizer.outputs for ask in asks]
    users = [0] * len(asks)
    seen, codes = set(), []
    for data in batch:
        try:
            read = read_report(data, plan, number, window)
            if data[ID_AT] in seen:
                raise ReportRejected(Problem.DUPLICATE)
        except ReportRejected as rejection:
            codes.append(rejection.problem.number)
            continue
        codes.append(0)
        seen.add(data[ID_AT])
        for ask, slots in read:
            place = asks.index(ask)
            users[place] += 1
            for named in slots:
                for item in named:
                    counts[place][item] += 1
    entries = [
        {"counts": c, "reports": u * ask.question.slots, "users": u}
        for ask, c, u in zip(asks, counts, users, strict=True)
    ]
    tally = {"format": "ldptrace-tally", "version": 1, "plan": plan.id, "round": number}
    tally |= {"window": window, "asks": entries}
    return codes, dumps(tally).decode()
