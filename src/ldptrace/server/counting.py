"""Count reports in one transaction: check them, store their ids and add their counts, completely or not at all.

The row of the round or window is locked first, so that processes count one after the other. Reports are in memory only,
until the transaction ends.
"""

from __future__ import annotations

import time
from collections import Counter as Multiset
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ldptrace.curator.receive import Receiver
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_WINDOW
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.reports import ID_AT, ID_BYTES, PLAN_AT, ROUND_AT, plan_prefix, report_bytes
from ldptrace.server.registry import Campaign, find_public
from ldptrace.server.rounds import CountedRound, begin_window, plans_of, rounds_of, window_round
from ldptrace.server.seen import SeenIds
from ldptrace.server.storage import Database, Session
from ldptrace.web.problems import BY_NUMBER, Refused, ServerProblem

Codes = NDArray[np.uint8]
_DUPLICATE, _WRONG_WINDOW = Problem.DUPLICATE.number, Problem.WRONG_WINDOW.number
# Rounds whose newest ids are in memory; the one that was quiet for longest is forgotten first.
REMEMBERED = 64
# A window that no report can name.
NO_WINDOW = MAX_WINDOW + 1


@dataclass(frozen=True)
class Submission:
    """The body of a request with reports, and the hashes of its admission tokens, one for each report."""

    body: bytes
    admissions: tuple[bytes, ...] = ()


class _Arrival(NamedTuple):
    """One report: the index of its result, its bytes, and its admission token if it has one."""

    submission: int
    place: int
    data: bytes
    admission: bytes | None


def warm_up() -> None:
    """Compile the code that counts reports, or load it from the cache."""
    plan = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1)
    Receiver(plan, 0, bytes(ID_BYTES)).receive(bytes(report_bytes(plan.rounds[0])))


class Counter:
    """Counts submissions of any campaign. Each writing thread has its own counter, which stores the newest ids of each
    round. `clock` decides which windows are being counted.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._seen: OrderedDict[int, SeenIds] = OrderedDict()

    def count(self, campaign: str, submissions: Sequence[Submission]) -> list[Codes]:
        """Return for each report of each submission 0 if it was counted, otherwise the number of its problem."""
        try:
            with self._database.writing() as session:
                return self._count(session, campaign, submissions)
        except BaseException:
            # What this process believes to be kept may not be: it reads the ids again.
            self._seen.clear()
            raise

    def _count(self, session: Session, campaign: str, submissions: Sequence[Submission]) -> list[Codes]:
        """Count submissions to one campaign, round by round or window by window, and return a code for each report."""
        known, now = find_public(session, campaign), self._clock()
        plans = plans_of(session, campaign)
        newest = known.plan
        if newest.shuffled is not None:
            raise Refused(ServerProblem.NOT_SHUFFLED)
        if newest.standing is None:
            rounds = rounds_of(session, campaign, plans, lock=True)
        else:
            # Reports of windows that are not being counted, and data that are no reports, get their problems here.
            rounds = [CountedRound(0, one.plan, "closed", 0, NO_WINDOW) for one in plans.values()]
        codes: list[Codes] = []
        groups: dict[tuple[int, int], list[_Arrival]] = {}
        for number, submission in enumerate(submissions):
            place = _named(rounds, submission.body)
            plan = plans[rounds[place].plan.id]
            arrivals = _arrivals(number, submission, rounds[place])
            codes.append(np.zeros(len(arrivals), dtype=np.uint8))
            for arrival in arrivals:
                window = None if newest.standing is None else plan.window_named(arrival.data, now)
                groups.setdefault((place, -1 if window is None else window), []).append(arrival)
        # In one order everywhere: two processes that lock rows never wait for each other.
        for (place, window), arrivals in sorted(groups.items()):
            round_ = rounds[place]
            if window >= 0:
                round_ = window_round(session, campaign, round_.plan, window)
            self._count_round(session, known, round_, arrivals, codes)
        numbers = Multiset[int]()
        for part in codes:
            numbers.update(part[part > 0].tolist())
        note_rejections(
            session, campaign, {BY_NUMBER[number].code: count for number, count in numbers.items()}
        )
        return codes

    def _count_round(
        self,
        session: Session,
        campaign: Campaign,
        round_: CountedRound,
        arrivals: Sequence[_Arrival],
        codes: list[Codes],
    ) -> None:
        """Write the result codes of reports to one round, and add valid, new and allowed reports to its tally."""
        seen = None if round_.key is None else self._ids_of(round_.key)
        size = report_bytes(round_.plan.rounds[round_.place])
        ids = list({arrival.data[ID_AT] for arrival in arrivals if len(arrival.data) == size})
        known = set[bytes]() if seen is None else seen.known(session, ids, round_.groups, round_.generation)
        receiver = Receiver(round_.plan, round_.place, window=round_.window)
        accepted: dict[bytes, bytes] = {}
        left_out = False
        for arrival, found in zip(arrivals, _received(receiver, arrivals, size), strict=True):
            code, report_id = found, arrival.data[ID_AT]
            # For the receiver the second copy is a duplicate, but the first may be refused here.
            if found in (0, _DUPLICATE):
                again = report_id in known or report_id in accepted
                code = _DUPLICATE if again else _admitted(session, campaign, round_, arrival, len(accepted))
                left_out |= found == 0 and code != 0
                if code == 0:
                    accepted[report_id] = arrival.data
            codes[arrival.submission][arrival.place] = code
        if not accepted:
            return
        if left_out:
            # The receiver has added up what it found right: once more, with what was accepted alone.
            receiver = Receiver(round_.plan, round_.place, window=round_.window)
            receiver.receive(b"".join(accepted.values()))
        if seen is None:
            round_ = replace(round_, key=begin_window(session, campaign.name, round_))
            assert round_.key is not None
            seen = self._ids_of(round_.key)
            seen.known(session, [], round_.groups, round_.generation)
        add_tally(session, round_.key, receiver)
        groups, generation = seen.add(session, list(accepted))
        session.run(
            "UPDATE rounds SET counted = counted + ?, groups = ?, generation = ? WHERE key = ?",
            len(accepted),
            groups,
            generation,
            round_.key,
        )

    def _ids_of(self, key: int) -> SeenIds:
        """Return the known ids of a round, and forget those of the round that was quiet for longest."""
        seen = self._seen.setdefault(key, SeenIds(key))
        self._seen.move_to_end(key)
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return seen


def _named(rounds: Sequence[CountedRound], report: bytes) -> int:
    """Return the index of the round that a report names, or of the newest one, whose checks then refuse the report."""
    for index, one in enumerate(rounds[:-1]):
        asked = one.window is not None or report[ROUND_AT] == bytes([one.place])
        if asked and report[PLAN_AT] == plan_prefix(one.plan):
            return index
    return len(rounds) - 1


def _arrivals(number: int, submission: Submission, round_: CountedRound) -> list[_Arrival]:
    """Return the reports of a body. A body of zero bytes is one report of the wrong size: its sender gets a problem."""
    size, body = report_bytes(round_.plan.rounds[round_.place]), submission.body
    pieces = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    tokens: Sequence[bytes | None] = submission.admissions
    if len(tokens) != len(pieces):
        tokens = [None] * len(pieces)
    return [
        _Arrival(number, place, piece, token)
        for place, (piece, token) in enumerate(zip(pieces, tokens, strict=True))
    ]


def _received(receiver: Receiver, arrivals: Sequence[_Arrival], size: int) -> list[int]:
    """Return the codes of all reports. Reports of the right size are checked together."""
    whole = [arrival.data for arrival in arrivals if len(arrival.data) == size]
    together = iter(receiver.receive(b"".join(whole)).tolist() if whole else [])
    return [next(together) if len(one.data) == size else _odd(receiver, one.data) for one in arrivals]


def _odd(receiver: Receiver, data: bytes) -> int:
    """Return the problem of data that do not have the size of a report."""
    return int(receiver.receive(data)[0]) if data else Problem.WRONG_SIZE.number


def _admitted(
    session: Session, campaign: Campaign, round_: CountedRound, arrival: _Arrival, counted: int
) -> int:
    """Return 0 if a report may be counted, and delete its admission token; otherwise return the number of its
    problem."""
    if round_.state != "open":
        return _WRONG_WINDOW if round_.window is not None else ServerProblem.ROUND_CLOSED.number
    if round_.reports + counted >= campaign.terms.max_reports:
        return ServerProblem.CAMPAIGN_FULL.number
    delete = "DELETE FROM admissions WHERE campaign = ? AND hash = ?"
    if campaign.admission and not session.run(delete, campaign.name, arrival.admission or b""):
        return ServerProblem.NOT_ADMITTED.number
    return 0


def add_tally(session: Session, key: int | None, receiver: Receiver) -> None:
    """Add the counts of the questions with answers."""
    tally = receiver.tally
    for ask, (counts, users) in enumerate(zip(tally.counts, tally.users, strict=True)):
        if users == 0:
            continue
        found = session.row("SELECT counts FROM tallies WHERE round = ? AND ask = ?", key, ask)
        assert found is not None, "a round that is open has a row for every question"
        before = np.frombuffer(found[0], dtype="<i8")
        session.run(
            "UPDATE tallies SET users = users + ?, counts = ? WHERE round = ? AND ask = ?",
            users,
            (before + counts).astype("<i8").tobytes(),
            key,
            ask,
        )


def note_rejections(session: Session, campaign: str, problems: Mapping[str, int]) -> None:
    """Add the numbers of reports that were not counted, by the codes of their problems."""
    for code, reports in sorted(problems.items()):
        session.run(
            "INSERT INTO rejections (campaign, problem, reports) VALUES (?, ?, ?) "
            "ON CONFLICT (campaign, problem) DO UPDATE SET reports = rejections.reports + excluded.reports",
            campaign,
            code,
            reports,
        )
