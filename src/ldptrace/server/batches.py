"""Count the batches of shufflers: each once, and each report in it by the rules for every report.

A batch is opened in memory, before the transaction that counts it. The transaction stores a digest of the set of sealed
reports and the answer with the counts, so that the batch gets the same answer when it is sent again.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldptrace.curator.receive import Receiver
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.seals import sealed_bytes
from ldptrace.protocol.shuffling import stated_epsilon
from ldptrace.server.counting import add_tally, note_rejections
from ldptrace.server.opener import open_batch
from ldptrace.server.registry import find, note
from ldptrace.server.rounds import begin_window, plans_of, window_round
from ldptrace.server.storage import Database, Session, number_in, stored
from ldptrace.server.storage.base import Row
from ldptrace.web.problems import BY_NUMBER, Refused, ServerProblem, wrong_state

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
        note(session, "shuffler", "batch deleted", label.campaign, f"{_named(label)}{number} reports")
        return answer


def batches_of(session: Session, name: str) -> list[dict[str, Any]]:
    """Return the batches of a campaign, in the order of their windows, with the central epsilon that each achieves."""
    plans, found = plans_of(session, name), []
    for number, window, digest, reports, answer in session.rows(
        "SELECT plan, time_window, digest, reports, answer FROM batches WHERE campaign = ? ORDER BY plan, time_window",
        name,
    ):
        plan = plans[number].plan
        assert plan.shuffled is not None
        entry = {"plan": number, "window": number_in(window), "reports": reports}
        if not digest:
            found.append(entry | {"deleted": True})
            continue
        told = json.loads(answer)
        # Omitted reports may be copies of others, which hide nobody.
        hidden = max(1, int(plan.shuffled.honest * told["counted"]))
        achieved = stated_epsilon(hidden, float(plan.epsilon), float(plan.shuffled.delta))
        counts = {"counted": told["counted"], "omitted": told["omitted"], "honest": hidden}
        found.append(entry | {"deleted": False} | counts | {"epsilon": achieved})
    return found


def _expected(session: Session, label: Label, now: float, *, lock: bool) -> tuple[Plan, str, Row | None]:
    """Return the plan of a batch, the private key, and the digest and answer of a batch that came before; raise
    `Refused` if no such batch is taken."""
    campaign = find(session, label.campaign, lock=lock)
    found = plans_of(session, label.campaign).get(label.plan)
    if found is None or found.plan.shuffled is None:
        raise Refused(Problem.WRONG_PLAN, f"campaign {label.campaign} has no shuffled plan {label.plan[:80]}")
    known = session.row(
        "SELECT digest, answer FROM batches WHERE campaign = ? AND plan = ? AND time_window = ?", *label.key
    )
    if known is None:
        if campaign.state not in ("open", "closed"):
            raise wrong_state(f"campaign {label.campaign} is {campaign.state}")
        first, last = found.batch_taken(label.window)
        if not first <= now < last:
            raise Refused(Problem.WRONG_WINDOW, "the window has not closed, or it closed too long ago")
    [(secret,)] = session.rows("SELECT secret FROM keys WHERE campaign = ?", label.campaign)
    return found.plan, secret, known


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
    problems = dict(Counter(BY_NUMBER[code].code for code in codes[codes > 0].tolist()))
    if number > len(codes):
        problems[NOT_OPENED] = number - len(codes)
    key = _round_key(session, label, plan)
    add_tally(session, key, receiver)
    session.run("UPDATE rounds SET counted = ?, state = 'closed' WHERE key = ?", counted, key)
    note_rejections(session, label.campaign, problems)
    answer = {"counted": counted, "omitted": number - counted, "problems": dict(sorted(problems.items()))}
    _keep(session, label, digest, number, answer)
    note(session, "shuffler", "batch", label.campaign, f"{_named(label)}{number} reports, {counted} counted")
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


def _named(label: Label) -> str:
    return "" if label.window is None else f"window {label.window}, "
