"""Coverage-guided fuzzing of everything that reads bytes from others. Runs only when asked.

    pip install atheris
    python fuzz/decoders.py -max_total_time=300

A finding is an exception that is not a refusal, a plan that does not write itself again, a report that the plain
and the compiled reader judge differently, or an input that takes more than a second.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["ldptrace"]):
    from ldptrace.cli.decode import describe
    from ldptrace.device import Reporter
    from ldptrace.errors import InputError
    from ldptrace.protocol.grid import Grid
    from ldptrace.protocol.plan import Plan
    from ldptrace.protocol.problems import PlanRefused, ReportRejected
    from ldptrace.protocol.reports import read_report, report_bytes

# Compiled kernels cannot be instrumented.
from ldptrace.curator.receive import Receiver

GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
PLANS = [Plan.single_report(GRID, 1.0), Plan.paper(GRID, 1.0).paper_second_round(3)]


def plan(data: bytes) -> None:
    try:
        found = Plan.from_json(data)
    except PlanRefused:
        return
    assert found.to_json().encode() == data
    if found.is_private:
        Reporter(found, "none").report([(1.0, 1.0)])


def changed_plan(data: bytes) -> None:
    """A good document with some of its bytes replaced."""
    provider = atheris.FuzzedDataProvider(data)
    document = bytearray(PLANS[provider.ConsumeIntInRange(0, 1)].to_json().encode())
    for _ in range(provider.ConsumeIntInRange(0, 4)):
        at = provider.ConsumeIntInRange(0, len(document) - 1)
        document[at : at + provider.ConsumeIntInRange(0, 8)] = provider.ConsumeBytes(8)
    plan(bytes(document))


def report(data: bytes) -> None:
    for chosen in PLANS:
        number = len(chosen.rounds) - 1
        size = report_bytes(chosen.rounds[number])
        # Give the header away, so that the payload is reached.
        for candidate in (data, Reporter(chosen, "none").draw([], number)[:18] + data, (data * size)[:size]):
            try:
                read_report(candidate, chosen, number)
                problem = 0
            except ReportRejected as rejection:
                problem = rejection.problem.number
            codes = Receiver(chosen, number).receive(candidate).tolist()
            assert len(candidate) != size or codes == [problem]


def words(data: bytes) -> None:
    try:
        describe(data)
        describe(data, PLANS[0])
    except (InputError, ReportRejected):
        pass


def one_input(data: bytes) -> None:
    if not data:
        return
    (plan, changed_plan, report, words)[data[0] % 4](data[1:])


if __name__ == "__main__":
    atheris.Setup([*sys.argv, "-timeout=1", "-rss_limit_mb=2048"], one_input)
    atheris.Fuzz()
