"""The command `ldptrace-device`, which does the steps of an app one by one, with the standard library only.

`java -jar ldptrace-device.jar` has the same commands and options.
"""

from __future__ import annotations

import argparse
import http.client
import re
import sys
import time
import urllib.request
from collections.abc import Sequence
from typing import Any

from ldptrace.device.explanation import explain_report, explain_spent, plan_words
from ldptrace.device.files import read_trips
from ldptrace.device.ledger import Ledger
from ldptrace.device.lines import Lines
from ldptrace.device.reporter import Reporter
from ldptrace.device.storage import replace_file
from ldptrace.errors import InputError, LdptraceError
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.reports import ADMISSION, REPORTS_TYPE, SEALED_TYPE, Report
from ldptrace.protocol.units import crs_named, moment

# Seconds until a server is given up.
PATIENCE = 30.0
# Bytes of a server's reason that are read.
REASON = 4096


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. The exit status is 0 on success, 1 if the server did not count the report, and 2 for wrong
    options or a refused plan."""
    given = _parser().parse_args(arguments)
    try:
        return int(given.run(given))
    except LdptraceError as error:
        sentence = str(error)
    except OSError as error:
        sentence = f"{error.filename}: {error.strerror}"
    sys.stderr.write(f"error: {sentence}\n")
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "ldptrace-device",
        description="One randomised report about your trips, for a campaign that you take part in.",
        epilog="A ledger is a file that remembers what you have said. One person has one; never delete or copy it.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: object, words: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=words, description=words)
        made.set_defaults(run=run)
        return made

    def add_plan(to: argparse.ArgumentParser) -> None:
        to.add_argument("--plan", required=True, help="the plan, as the campaign publishes it")
        to.add_argument("--plan-id", help="refuse the plan unless this is its id")
        to.add_argument("--ledger", required=True, help="the file that remembers what you have said")
        to.add_argument("--limit", help="largest epsilon of all your answers together, from now on")
        to.add_argument(
            "--local-limit",
            help="largest epsilon of all your answers together if a shuffler and a curator work together, from now on",
        )
        to.add_argument(
            "--most-local", help="largest epsilon of one shuffled answer in that case, from now on"
        )
        to.add_argument(
            "--shuffled", choices=("yes", "no"), help="whether you answer shuffled plans at all, from now on"
        )

    explain = command(
        "explain",
        _explain,
        "what the plan asks and what it costs, what the device makes of trips, or what a report says",
    )
    add_plan(explain)
    explain.add_argument("--report", help="a report to put into words")
    explain.add_argument("--trajectory", action="append", help="trips to check; may come several times")
    explain.add_argument("--now", help="a clock to try out: a date with its zone, or a Unix time")
    report = command("report", _report, "the one report about the trips of GPX or GeoJSON files")
    add_plan(report)
    report.add_argument("--trajectory", required=True, action="append", help="a file; may come several times")
    report.add_argument("-o", "--output", required=True, help="where the report goes")
    report.add_argument("--round", type=int, help="which round, from 1; the newest if absent")
    report.add_argument("--crs", help="the coordinates of the files, where they do not name them")
    report.add_argument("--now", help="a clock to try out: a date with its zone, or a Unix time")
    send = command("send", _send, "send a report, and note in the ledger that it arrived")
    add_plan(send)
    send.add_argument("--report", required=True, help="the report to send")
    send.add_argument(
        "--url",
        help="the campaign: https://host/v1/campaigns/NAME; a shuffled plan names its shuffler itself",
    )
    send.add_argument("--admission", help="the code with which the campaign admits you")
    send.add_argument(
        "--wait",
        type=_seconds,
        help="wait a random time of at most this many seconds; if absent, the plan's grace, or an hour",
    )
    lines = command("lines", _lines, "answer plans and trips that come as JSON lines")
    lines.add_argument("--ledgers", required=True, help="the folder of their ledgers")
    return parser


def _reporter(given: argparse.Namespace, crs: str | None) -> Reporter:
    with open(given.plan, "rb") as file:
        document = file.read()
    ledger = Ledger(
        given.ledger,
        given.limit,
        local_limit=given.local_limit,
        most_local=given.most_local,
        shuffled=None if given.shuffled is None else given.shuffled == "yes",
    )
    return Reporter.from_document(document, plan_id=given.plan_id, crs=crs, ledger=ledger)


def _explain(given: argparse.Namespace) -> int:
    trips = None if given.trajectory is None else read_trips(given.trajectory)
    reporter, now = _reporter(given, trips.crs if trips else None), _now(given.now)
    if given.report is None:
        lines = reporter.explain(None if trips is None else trips.recordings, now=now)
    else:
        with open(given.report, "rb") as file:
            lines = explain_report(reporter.plan, file.read())
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _report(given: argparse.Namespace) -> int:
    trips = read_trips(given.trajectory)
    reporter = _reporter(given, crs_named(given.crs or "") or trips.crs)
    number = None if given.round is None else given.round - 1
    sys.stderr.write(plan_words(_ledger(reporter), reporter.plan) + "\n")
    data = reporter.report(trips.recordings, number, _now(given.now))
    replace_file(given.output, data, 0o666)
    sys.stderr.write(
        f"{len(data)} bytes written to {given.output}; {explain_spent(_ledger(reporter), reporter.plan)}\n"
    )
    return 0


def _send(given: argparse.Namespace) -> int:
    with open(given.report, "rb") as file:
        data = file.read()
    reporter = _reporter(given, None)
    address, number, window = _destination(reporter, given.url, data)
    if reporter.plan.shuffled is not None:
        sys.stderr.write(
            f"the shuffler is {reporter.plan.shuffled.operator}, {reporter.plan.shuffled.address}\n"
        )
    # The moment of sending must not follow from the trip, nor from the end of a window.
    time.sleep(reporter.delay(given.wait))
    kind = REPORTS_TYPE if reporter.plan.shuffled is None else SEALED_TYPE
    refusal = post(address, data, given.admission, kind)
    if refusal is not None:
        sys.stderr.write(f"error: the report was not taken and is kept to be sent again: {refusal}\n")
        return 1
    reporter.sent(number, window)
    sys.stderr.write(f"the report arrived; {explain_spent(_ledger(reporter), reporter.plan)}\n")
    return 0


def _destination(reporter: Reporter, url: str | None, data: bytes) -> tuple[str, int, int | None]:
    """Return where a report goes, and the round and the window that it answers. A sealed report goes to the shuffler of
    its plan and to nobody else."""
    plan = reporter.plan
    if plan.shuffled is None:
        if url is None:
            raise InputError("say where the report goes: --url https://host/v1/campaigns/NAME")
        report = Report.decode(data)
        return url, report.round, report.window
    if url is not None:
        raise InputError(f"a shuffled plan is sent to its shuffler, {plan.shuffled.address}: omit --url")
    waiting = _ledger(reporter).waiting(plan)
    if waiting is None or waiting[0] != data:
        raise InputError("the file is not the report to this plan that the ledger holds to be sent")
    window = waiting[1]
    place = "" if window is None else f"/windows/{window}"
    return f"{plan.shuffled.address.rstrip('/')}/v2/plans/{plan.id}{place}/reports", 0, window


def _lines(given: argparse.Namespace) -> int:
    for answer in Lines(given.ledgers).answers(sys.stdin):
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    return 0


class _AsAnswered(urllib.request.HTTPErrorProcessor):
    """A handler that follows no redirects, because the page behind a redirect does not count the report."""

    def http_response(self, request: object, response: Any) -> Any:
        return response

    https_response = http_response


def post(url: str, report: bytes, admission: str | None, kind: str = REPORTS_TYPE) -> str | None:
    """Send a report to the campaign at this address. Returns None if it is counted, now or before, otherwise the reason
    of the server."""
    if not re.match(r"https?://.", url):
        raise InputError(f"--url is the address of a campaign, https://host/v1/campaigns/NAME, got {url}")
    address = url if url.endswith("/reports") else url.rstrip("/") + "/reports"
    headers = {"Content-Type": kind} | ({} if admission is None else {ADMISSION: admission})
    request = urllib.request.Request(address, report, headers)
    try:
        with urllib.request.build_opener(_AsAnswered).open(request, timeout=PATIENCE) as answer:
            reason = "" if answer.status == 200 else answer.read(REASON).decode("utf-8", "replace")
            arrived = answer.status == 200 or (answer.status == 409 and Problem.DUPLICATE.urn in reason)
            return None if arrived else f"{answer.status} {reason}"
    except (OSError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}"


def _now(text: str | None) -> float:
    return time.time() if text is None else moment("--now", text)


def _seconds(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise argparse.ArgumentTypeError(f"a number of seconds of at most six digits, got {text}")
    return int(text)


def _ledger(reporter: Reporter) -> Ledger:
    assert reporter.ledger is not None
    return reporter.ledger


if __name__ == "__main__":
    sys.exit(main())
