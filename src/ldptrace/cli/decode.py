"""`ldptrace decode`: print a file of the protocol in plain words."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer

from ldptrace.cli.common import read_as
from ldptrace.core.words import count
from ldptrace.device.explanation import explain_report
from ldptrace.errors import FormatError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import ReportRejected
from ldptrace.protocol.reports import Report, read_report, report_bytes
from ldptrace.protocol.words import explain

# Reports of a batch that are printed one by one.
SHOWN = 5
# Bytes of a batch that are read to describe it.
MOST = 1 << 26


def decode(
    file: Path = typer.Argument(help="File of a plan, reports, a tally, estimates, a ledger or an audit."),
    plan: Path | None = typer.Option(
        None,
        help="File of the plan to which the reports or the tally belong. With this file, the command also prints the "
        "answers in reports, or the names of the questions in a tally.",
    ),
) -> None:
    """Print a plan, a report or another file of the protocol in plain words."""
    known = None if plan is None else read_as(plan, Plan.from_json)
    with sys.stdin.buffer if str(file) == "-" else open(file, "rb") as source:
        data = source.read(MOST)
    typer.echo("\n".join(describe(data, known)))


def describe(data: bytes, plan: Plan | None = None) -> list[str]:
    """Describe a file in sentences. Reports begin with their version, and JSON documents with a brace."""
    if not data:
        raise FormatError("the file is empty")
    if data.lstrip()[:1] != b"{":
        return _reports(data, plan)
    try:
        document = json.loads(data)
        kind = document.get("format") if isinstance(document, dict) else None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is neither a document of the protocol nor reports: {error}") from None
    describers = {
        "ldptrace-plan": lambda: _plan(data),
        "ldptrace-tally": lambda: _tally(data, plan),
        "ldptrace-ledger": lambda: _ledger(document),
        "ldptrace-estimates": lambda: _estimates(document),
        "ldptrace-audit": lambda: [str(document.get("summary"))],
    }
    if kind not in describers:
        raise FormatError(f"unknown format {kind!r}; known are {', '.join(sorted(describers))}")
    try:
        return describers[kind]()
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"the {kind} document is incomplete or malformed at {error}") from None


def _plan(data: bytes) -> list[str]:
    plan = Plan.from_json(data)
    return [f"A plan of protocol version 1, id {plan.id}.", *explain(plan)]


def _reports(data: bytes, plan: Plan | None) -> list[str]:
    if data[0] >= ord(" "):
        # Versions of reports are small numbers; letters are none.
        raise FormatError(
            "this is no file of the protocol: reports begin with a version, documents with a brace; "
            "`ldptrace inspect` is for trajectory files"
        )
    first = Report.decode(data)
    if plan is None or not 0 <= first.round < len(plan.rounds):
        return [
            f"One or more reports of protocol version 1, {len(data):,} bytes.",
            f"The first answers round {first.round + 1} of the plan whose id begins with {first.plan.hex()}, as "
            f"a member of group {first.group}; its random id is {first.id.hex()}.",
            "With --plan the answers can be read.",
        ]
    size = report_bytes(plan.rounds[first.round])
    reports = -(-len(data) // size)
    lines = [f"{count(reports, 'report')} of {size} bytes, round {first.round + 1}."]
    for number in range(min(reports, SHOWN)):
        report = data[number * size : (number + 1) * size]
        try:
            read_report(report, plan, first.round)
            lines += [f"Report {number + 1}.", *explain_report(plan, report)]
        except ReportRejected as problem:
            lines.append(f"Report {number + 1} cannot be counted. {problem}")
    return lines


def _tally(data: bytes, plan: Plan | None) -> list[str]:
    from ldptrace.curator import Tally

    tally = Tally.from_json(data)
    lines = [f"A tally of round {tally.round + 1} of plan {tally.plan_id}."]
    for number, (counts, reports, users) in enumerate(
        zip(tally.counts, tally.reports, tally.users, strict=True)
    ):
        name = f"question {number}" if plan is None else plan.rounds[tally.round].asks[number].question.name
        lines.append(
            f"  {name}: {count(users, 'user')}, {count(reports, 'answer')}, {count(int(counts.sum()), 'item')} named."
        )
    return lines


def _ledger(document: dict[str, Any]) -> list[str]:
    answers = count(len(document["entries"]), "answer")
    lines = [f"A ledger with the limit epsilon {document['limit']} and {answers}."]
    for entry in document["entries"]:
        state = "sent" if entry["report"] is None else "not yet sent"
        lines.append(
            f"  plan {entry['plan'][:12]}, round {entry['round'] + 1}, epsilon {entry['epsilon']} in all: {state}"
        )
    for row in document["standing"]:
        state = "the last sent" if row["report"] is None else "the last not yet sent"
        said = f"epsilon {row['epsilon']} each, up to window {row['window']}"
        lines.append(
            f"  standing plan {row['plan'][:12]}, {count(row['answers'], 'answer')}, {said}: {state}"
        )
    return lines


def _estimates(document: dict[str, Any]) -> list[str]:
    from ldptrace.curator import Estimates

    estimates = Estimates.from_json(json.dumps(document))
    lines = [f"Estimates of plan {estimates.plan.id}."]
    for name, estimate in estimates.items():
        lines.append(f"  {name}: {count(len(estimate.frequencies), 'item')}, {count(estimate.users, 'user')}")
    return lines
