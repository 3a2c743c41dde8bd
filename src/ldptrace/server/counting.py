"""Count reports in one transaction: check them, store their ids and add their counts, completely or not at all.

The row of the round or window is locked first, so that processes count one after the other. Reports are in memory only,
until the transaction ends. Batches of shufflers are counted once, and each report in them by the rules for every
report: a batch is opened in memory, before the transaction, which stores a digest of the set of sealed reports and the
answer with the counts, so that the batch gets the same answer when it is sent again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter as Multiset
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ldptrace.curator.receive import Receiver
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_WINDOW
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.reports import ID_AT, ID_BYTES, PLAN_AT, ROUND_AT, plan_prefix, report_bytes
from ldptrace.protocol.seals import sealed_bytes
from ldptrace.protocol.shuffling import stated_epsilon
from ldptrace.server.opener import open_batch
from ldptrace.server.registry import Campaign, find, find_public, note
from ldptrace.server.rounds import CountedRound, begin_window, plans_of, rounds_of, window_round
from ldptrace.server.seen import SeenIds
from ldptrace.server.storage import Database, Session, number_in, stored
from ldptrace.server.storage.base import Row
from ldptrace.web.problems import BY_NUMBER, Refused, ServerProblem, wrong_state

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
        all_codes = np.concatenate(codes)
        note_rejections(
            session, campaign, Multiset(BY_NUMBER[code].code for code in all_codes[all_codes > 0].tolist())
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
        for arrival, verdict in zip(arrivals, _received(receiver, arrivals, size), strict=True):
            code, report_id = verdict, arrival.data[ID_AT]
            # For the receiver the second copy is a duplicate, but the first may be refused here.
            if verdict in (0, _DUPLICATE):
                again = report_id in known or report_id in accepted
                code = _DUPLICATE if again else _admitted(session, campaign, round_, arrival, len(accepted))
                left_out |= verdict == 0 and code != 0
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
        row = session.row("SELECT counts FROM tallies WHERE round = ? AND ask = ?", key, ask)
        assert row is not None, "a round that is open has a row for every question"
        before = np.frombuffer(row[0], dtype="<i8")
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


NOT_OPENED = "not-opened"


@dataclass(frozen=True)
class Label:
    """What a batch is of: a plan of a campaign, and a window or none."""

    campaign: str
    plan: str
    window: int | None

    @property
    def key(self) -> tuple[str, str, int]:
        return self.campaign, self.plan, stored(self.window)


def count_batch(database: Database, label: Label, body: bytes, now: float) -> dict[str, Any]:
    """Count the reports of a batch, and return the answer to the shuffler; the same one if it was counted before."""
    with database.reading() as session:
        plan, secret, known = _expected(session, label, now, lock=False)
    size = sealed_bytes(report_bytes(plan.rounds[0]))
    if not body or len(body) % size:
        raise Refused(Problem.WRONG_SIZE, f"sealed reports of this plan have {size} bytes")
    # Arrays, because Python's own sorting would keep the server from answering others.
    sealed = np.sort(np.frombuffer(body, dtype=np.dtype((np.void, size))))
    digest = hashlib.sha256(sealed.data).hexdigest()
    if known is not None:
        return _again(known, digest)
    assert plan.shuffled is not None
    # Equal seals would be one report that is counted as two that hide others.
    rows = sealed.view(np.uint8).reshape(-1, size)
    if (rows[1:] != rows[:-1]).any(axis=1).sum() + 1 < plan.shuffled.batch:
        raise Refused(
            ServerProblem.BATCH_TOO_SMALL,
            f"a batch of this plan has at least {plan.shuffled.batch:,} reports",
        )
    reports = open_batch(secret, plan.id, label.window, body, size)
    with database.writing() as session:
        *_, known = _expected(session, label, now, lock=True)
        if known is not None:
            return _again(known, digest)
        return _count(session, label, plan, reports, (digest, len(sealed)))


def note_deleted(database: Database, label: Label, number: int, now: float) -> dict[str, Any]:
    """Store that the shuffler has deleted a batch of this many reports, so that none is awaited."""
    with database.writing() as session:
        *_, known = _expected(session, label, now, lock=True)
        if known is not None:
            return _again(known, "")
        answer = {"deleted": number}
        _keep(session, label, "", number, answer)
        note(session, "shuffler", "batch deleted", label.campaign, f"{_window_words(label)}{number} reports")
        return answer


def batches_of(session: Session, name: str) -> list[dict[str, Any]]:
    """Return the batches of a campaign, in the order of their windows, with the central epsilon that each achieves."""
    plans, entries = plans_of(session, name), []
    for number, window, digest, reports, answer in session.rows(
        "SELECT plan, time_window, digest, reports, answer FROM batches WHERE campaign = ? ORDER BY plan, time_window",
        name,
    ):
        plan = plans[number].plan
        assert plan.shuffled is not None
        entry = {"plan": number, "window": number_in(window), "reports": reports}
        if not digest:
            entries.append(entry | {"deleted": True})
            continue
        totals = json.loads(answer)
        # Omitted reports may be copies of others, which hide nobody.
        hidden = max(1, int(plan.shuffled.honest * totals["counted"]))
        achieved = stated_epsilon(hidden, float(plan.epsilon), float(plan.shuffled.delta))
        counts = {"counted": totals["counted"], "omitted": totals["omitted"], "honest": hidden}
        entries.append(entry | {"deleted": False} | counts | {"epsilon": achieved})
    return entries


def _expected(session: Session, label: Label, now: float, *, lock: bool) -> tuple[Plan, str, Row | None]:
    """Return the plan of a batch, the private key, and the digest and answer of a batch that came before; raise
    `Refused` if no such batch is taken."""
    campaign = find(session, label.campaign, lock=lock)
    counted = plans_of(session, label.campaign).get(label.plan)
    if counted is None or counted.plan.shuffled is None:
        raise Refused(Problem.WRONG_PLAN, f"campaign {label.campaign} has no shuffled plan {label.plan[:80]}")
    known = session.row(
        "SELECT digest, answer FROM batches WHERE campaign = ? AND plan = ? AND time_window = ?", *label.key
    )
    if known is None:
        if campaign.state not in ("open", "closed"):
            raise wrong_state(f"campaign {label.campaign} is {campaign.state}")
        first, last = counted.batch_taken(label.window)
        if not first <= now < last:
            raise Refused(Problem.WRONG_WINDOW, "the window has not closed, or it closed too long ago")
    [(secret,)] = session.rows("SELECT secret FROM keys WHERE campaign = ?", label.campaign)
    return counted.plan, secret, known


def _again(known: Row, digest: str) -> dict[str, Any]:
    """Return the answer to a batch that was counted before; raise `Refused` if it was another one."""
    if known[0] != digest:
        raise Refused(ServerProblem.ANOTHER_BATCH)
    answer: dict[str, Any] = json.loads(known[1])
    return answer


def _count(
    session: Session, label: Label, plan: Plan, reports: bytes, sent: tuple[str, int]
) -> dict[str, Any]:
    """Add the reports to the tally of their round, which is complete then."""
    digest, number = sent
    receiver = Receiver(plan, 0, window=label.window)
    codes = receiver.receive(reports)
    [(most,)] = session.rows("SELECT max_reports FROM campaigns WHERE name = ?", label.campaign)
    good = np.flatnonzero(codes == 0)
    if len(good) > most:
        codes[good[most:]] = ServerProblem.CAMPAIGN_FULL.number
        receiver = Receiver(plan, 0, window=label.window)
        rows = np.frombuffer(reports, dtype=np.uint8).reshape(len(codes), -1)
        receiver.receive(rows[good[:most]].tobytes())
    counted = int((codes == 0).sum())
    problems = dict(Multiset(BY_NUMBER[code].code for code in codes[codes > 0].tolist()))
    if number > len(codes):
        problems[NOT_OPENED] = number - len(codes)
    key = _round_key(session, label, plan)
    add_tally(session, key, receiver)
    session.run("UPDATE rounds SET counted = ?, state = 'closed' WHERE key = ?", counted, key)
    note_rejections(session, label.campaign, problems)
    answer = {"counted": counted, "omitted": number - counted, "problems": dict(sorted(problems.items()))}
    _keep(session, label, digest, number, answer)
    note(
        session,
        "shuffler",
        "batch",
        label.campaign,
        f"{_window_words(label)}{number} reports, {counted} counted",
    )
    return answer


def _round_key(session: Session, label: Label, plan: Plan) -> int:
    """Return the key of the round or window that a batch answers."""
    if label.window is None:
        [(key,)] = session.rows("SELECT key FROM rounds WHERE campaign = ? AND number = 0", label.campaign)
        return int(key)
    round_ = window_round(session, label.campaign, plan, label.window)
    return begin_window(session, label.campaign, round_) if round_.key is None else round_.key


def _keep(session: Session, label: Label, digest: str, reports: int, answer: dict[str, Any]) -> None:
    """Store a batch. That of a plan without windows closes the campaign."""
    row = dict(zip(("campaign", "plan", "time_window"), label.key, strict=True))
    session.insert("batches", **row, digest=digest, reports=reports, answer=json.dumps(answer))
    if label.window is None:
        session.run("UPDATE rounds SET state = 'closed' WHERE campaign = ?", label.campaign)
        session.run("UPDATE campaigns SET state = 'closed' WHERE name = ? AND state = 'open'", label.campaign)


def _window_words(label: Label) -> str:
    return "" if label.window is None else f"window {label.window}, "
