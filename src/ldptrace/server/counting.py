"""One transaction: reports are checked, their ids written, their counts added. All of it is kept, or nothing.

The row of the round is locked first, so that several processes count one after the other and a round that is
being closed has a last report. Payloads are in memory only, until the transaction ends.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldptrace.curator.receive import Receiver
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.reports import ID_AT, ID_BYTES, PLAN_AT, ROUND_AT, plan_prefix, report_bytes
from ldptrace.server.problems import BY_NUMBER, ServerProblem
from ldptrace.server.registry import no_such, plans_of
from ldptrace.server.seen import SeenIds
from ldptrace.server.storage import Database, Session

Codes = NDArray[np.uint8]
_DUPLICATE = Problem.DUPLICATE.number


@dataclass(frozen=True)
class Submission:
    """A body of reports, and the hashes of the admission tokens that came with it, one for each report."""

    body: bytes
    admissions: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class _Round:
    key: int
    number: int
    plan: Plan
    open: bool
    counted: int
    groups: int
    generation: int


def warm_up() -> None:
    """Compile what counts reports, or load it if that was done before."""
    plan = Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1)
    size = report_bytes(plan.rounds[0])
    receiver = Receiver(plan, 0, bytes(ID_BYTES))
    receiver.receive(bytes(size))


class Counter:
    """Counts submissions of any campaign. One per writing thread: it remembers the newest ids of each round."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen: dict[int, SeenIds] = {}

    def count(self, campaign: str, submissions: Sequence[Submission]) -> list[Codes]:
        """For each report of each submission 0 if it is counted now, or the number of its problem."""
        try:
            with self._database.writing() as session:
                return self._count(session, campaign, submissions)
        except BaseException:
            # What this process believes to be kept may not be: it reads the ids again.
            self._seen.clear()
            raise

    def _count(self, session: Session, campaign: str, submissions: Sequence[Submission]) -> list[Codes]:
        found = session.row(
            "SELECT max_reports, admission FROM campaigns WHERE name = ? AND state <> 'draft'", campaign
        )
        if found is None:
            raise no_such(campaign)
        most, admission = found
        rounds = _rounds(session, campaign)
        codes: list[Codes] = [np.zeros(0, dtype=np.uint8)] * len(submissions)
        by_round: dict[int, list[int]] = {}
        for place, submission in enumerate(submissions):
            by_round.setdefault(_round_of(rounds, submission.body), []).append(place)
        for number, places in by_round.items():
            chosen = [submissions[place] for place in places]
            outcome = self._count_round(session, campaign, rounds[number], chosen, most, bool(admission))
            for place, part in zip(places, outcome, strict=True):
                codes[place] = part
        _note_rejections(session, campaign, codes)
        return codes

    def _count_round(
        self,
        session: Session,
        campaign: str,
        round_: _Round,
        submissions: Sequence[Submission],
        most: int,
        admission: bool,
    ) -> list[Codes]:
        """Codes of the reports to one round; those that are right, new and allowed are added to its tally."""
        seen = self._seen.setdefault(round_.key, SeenIds(round_.key))
        size = report_bytes(round_.plan.rounds[round_.number])
        reports = [_pieces(submission.body, size) for submission in submissions]
        ids = list({piece[ID_AT] for pieces in reports for piece in pieces if len(piece) == size})
        known = seen.known(session, ids, round_.groups, round_.generation)
        receiver = Receiver(round_.plan, round_.number, b"".join(known))
        codes = _received(receiver, submissions, size)
        accepted: dict[bytes, bytes] = {}
        left_out = False
        for pieces, part, submission in zip(reports, codes, submissions, strict=True):
            for place in np.flatnonzero((part == 0) | (part == _DUPLICATE)).tolist():
                piece = pieces[place]
                report_id = piece[ID_AT]
                if report_id in known:
                    continue
                if report_id in accepted:
                    part[place] = _DUPLICATE
                    continue
                # Not counted so far; a first copy in the same transaction may have been refused.
                problem = None
                if not round_.open:
                    problem = ServerProblem.ROUND_CLOSED
                elif round_.counted + len(accepted) >= most:
                    problem = ServerProblem.CAMPAIGN_FULL
                elif admission and not _admitted(session, campaign, submission, place, len(pieces)):
                    problem = ServerProblem.NOT_ADMITTED
                if problem is None:
                    accepted[report_id] = piece
                    part[place] = 0
                else:
                    part[place] = problem.number
                    left_out = True
        if accepted:
            if left_out:
                # The receiver has added up what it found right: once more, with what was accepted alone.
                receiver = Receiver(round_.plan, round_.number)
                receiver.receive(b"".join(accepted.values()))
            _add_tally(session, round_, receiver)
            groups, generation = seen.add(session, list(accepted))
            session.run(
                "UPDATE rounds SET counted = counted + ?, groups = ?, generation = ? WHERE key = ?",
                len(accepted),
                groups,
                generation,
                round_.key,
            )
        return codes


def _rounds(session: Session, campaign: str) -> list[_Round]:
    """The rounds that were opened, locked."""
    found = session.rows(
        "SELECT key, number, plan, state, counted, groups, generation FROM rounds WHERE campaign = ? "
        f"ORDER BY number{session.for_update}",
        campaign,
    )
    plans = plans_of(session, campaign)
    return [
        _Round(key, number, plans[plan], state == "open", *rest) for key, number, plan, state, *rest in found
    ]


def _round_of(rounds: Sequence[_Round], body: bytes) -> int:
    """Which round a body answers: the one its first report names, or the newest, whose checks will tell."""
    for place, round_ in enumerate(rounds[:-1]):
        if body[PLAN_AT] == plan_prefix(round_.plan) and body[ROUND_AT] == bytes([round_.number]):
            return place
    return len(rounds) - 1


def _pieces(body: bytes, size: int) -> list[bytes]:
    """A batch cut into its reports; an empty body is one report of no bytes."""
    return [body[at : at + size] for at in range(0, len(body), size)] or [b""]


def _received(receiver: Receiver, submissions: Sequence[Submission], size: int) -> list[Codes]:
    """Codes of all reports; bodies of whole reports are checked in one go."""
    whole = [place for place, one in enumerate(submissions) if one.body and len(one.body) % size == 0]
    parts: dict[int, Codes] = {}
    if whole:
        together = receiver.receive(b"".join(submissions[place].body for place in whole))
        ends = np.cumsum([len(submissions[place].body) // size for place in whole])
        parts = dict(zip(whole, np.split(together, ends[:-1]), strict=True))
    codes = []
    for place, one in enumerate(submissions):
        part = parts.get(place)
        if part is None:
            part = receiver.receive(one.body) if one.body else _empty()
        codes.append(part.copy())
    return codes


def _empty() -> Codes:
    return np.array([Problem.WRONG_SIZE.number], dtype=np.uint8)


def _admitted(session: Session, campaign: str, submission: Submission, place: int, reports: int) -> bool:
    """Use up the admission token of one report, if it has one that was not used."""
    if len(submission.admissions) != reports:
        return False
    token = submission.admissions[place]
    return session.run("DELETE FROM admissions WHERE campaign = ? AND hash = ?", campaign, token) == 1


def _add_tally(session: Session, round_: _Round, receiver: Receiver) -> None:
    """Add counts, for the questions that somebody answered."""
    tally = receiver.tally
    for ask, (counts, users) in enumerate(zip(tally.counts, tally.users, strict=True)):
        if users == 0:
            continue
        found = session.row("SELECT counts FROM tallies WHERE round = ? AND ask = ?", round_.key, ask)
        assert found is not None, "a round that is open has a row for every question"
        before = np.frombuffer(found[0], dtype="<i8")
        session.run(
            "UPDATE tallies SET users = users + ?, counts = ? WHERE round = ? AND ask = ?",
            users,
            (before + counts).astype("<i8").tobytes(),
            round_.key,
            ask,
        )


def _note_rejections(session: Session, campaign: str, codes: Sequence[Codes]) -> None:
    numbers = Multiset[int]()
    for part in codes:
        if part.any():
            numbers.update(part[part > 0].tolist())
    for number, reports in sorted(numbers.items()):
        session.run(
            "INSERT INTO rejections (campaign, problem, reports) VALUES (?, ?, ?) "
            "ON CONFLICT (campaign, problem) DO UPDATE SET reports = rejections.reports + excluded.reports",
            campaign,
            BY_NUMBER[number].code,
            reports,
        )
