"""A client that another program drives: it reads plans and trips as JSON lines and writes reports
(docs/how-to/audit-a-client.md). A ledger with a name is a file in a folder; without a name, every report has a new
ledger.
"""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Iterable, Iterator
from typing import Any

from ldptrace.device.ledger import Ledger
from ldptrace.device.reporter import Reporter
from ldptrace.device.storage import MemoryFile
from ldptrace.device.track import Recording
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused
from ldptrace.protocol.reports import Report

NAME = r"[a-z0-9-]{1,64}"
# JSON has no other way to write them.
WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

Json = dict[str, Any]


class Lines:
    """Answers lines one after the other. A line without a plan uses the plan of the line before."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = os.fspath(folder)
        self._text: object = None
        self._plan: Plan | None = None

    def answers(self, lines: Iterable[str]) -> Iterator[str]:
        """Return the answer to each line: `report` or `reports`, `check`, `problem`, `error`, or nothing."""
        for line in lines:
            try:
                answer = self.answer_to(json.loads(line))
            except ValueError as error:
                answer = {"error": f"this is no JSON: {error}"}
            yield json.dumps(answer, separators=(",", ":"))

    def answer_to(self, asked: Json) -> Json:
        """Return the answer to the parsed content of a line."""
        try:
            return self._answer(asked)
        except PlanRefused as refused:
            return {"problem": refused.problem.code}
        except Exception as error:  # whatever is wrong with a line, the next one is answered
            return {"error": f"{type(error).__name__}: {error}"}

    def _answer(self, asked: Json) -> Json:
        if asked.get("plan", self._text) != self._text:
            self._text, self._plan = asked["plan"], None
        plan = self._plan = self._plan or Plan.from_json(str(self._text))
        now = number(asked["now"]) if asked.get("now") is not None else time.time()
        if asked.get("accept"):
            self._reporter(plan, asked).accept(now)
        elif asked.get("sent"):
            self._sent(self._reporter(plan, asked), bytes.fromhex(asked["sent"]))
        else:
            trips = [Recording(*recorded(trip)) for trip in asked["trips"]]
            if asked.get("check"):
                return {"check": self._any_reporter(plan, asked).check(trips, asked.get("round"), now)}
            if asked.get("count") is None:
                return {"report": self._report(plan, asked, trips, now)}
            return {"reports": [self._report(plan, asked, trips, now) for _ in range(asked["count"])]}
        return {}

    def _sent(self, reporter: Reporter, data: bytes) -> None:
        if reporter.plan.shuffled is None:
            report = Report.decode(data)
            reporter.sent(report.round, report.window)
        elif reporter.waiting() == data:
            reporter.sent(0)

    def _report(self, plan: Plan, asked: Json, trips: list[Recording], now: float) -> str:
        reporter = self._any_reporter(plan, asked)
        if asked.get("accepted") is not None:
            reporter.accept(number(asked["accepted"]))
        return reporter.report(trips, asked.get("round"), now).hex()

    def _any_reporter(self, plan: Plan, asked: Json) -> Reporter:
        """Return a reporter with the named ledger, or with a new one that is forgotten with its report."""
        if asked.get("ledger") is not None:
            return self._reporter(plan, asked)
        return Reporter(plan, Ledger(MemoryFile(), asked.get("limit")))

    def _reporter(self, plan: Plan, asked: Json) -> Reporter:
        name = asked.get("ledger")
        if not isinstance(name, str) or not re.fullmatch(NAME, name):
            raise InputError(f"a ledger is named with small letters, digits and hyphens, got {name!r}")
        return Reporter(plan, Ledger(os.path.join(self._folder, f"{name}.json"), asked.get("limit")))


def recorded(trip: Json) -> tuple[list[list[float]], float]:
    """Return the points and the recorded arrival of a trip.

    >>> recorded({"points": [[1, "-Infinity"]], "arrival": 5})
    ([[1, -inf]], 5)
    """
    points = [[number(value) for value in point] for point in trip["points"]]
    return points, number(trip.get("arrival"))


def number(value: Any) -> float:
    """Return a number, also from a word for a value that JSON does not have (such as NaN)."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return WORDS.get(value, math.nan) if isinstance(value, str) else math.nan
