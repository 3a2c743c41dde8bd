from __future__ import annotations

from fractions import Fraction

import pytest

from ldptrace.errors import PlanError
from ldptrace.protocol.exact import log, ratio_at_most, total
from ldptrace.protocol.questions import Length, Start, Steps
from ldptrace.protocol.randomizers import GRR, OUE
from ldptrace.protocol.round import SHARES, Ask, Round

RATIO = ratio_at_most(Fraction(1))
LENGTH = Ask(Length(4, 8), GRR(8, 1, RATIO), SHARES // 4)
START = Ask(Start(4), OUE(16, 1, RATIO), SHARES - SHARES // 4)


def everyone(*asks: Ask) -> Round:
    return Round(tuple(ask.changed(share=SHARES) for ask in asks), "everyone")


def test_budgets_add_up_for_everyone_and_not_among_groups() -> None:
    steps = Ask(Steps(4, 3), OUE(84, 1, RATIO))
    assert Round((LENGTH, START), "partition").spent == log(RATIO)
    assert everyone(LENGTH, steps).spent == total([log(RATIO), log(RATIO, 3)])


def test_one_size_for_all_groups() -> None:
    partition = Round((LENGTH, START), "partition")
    assert partition.payload_bytes == max(LENGTH.payload_bytes, START.payload_bytes)
    assert everyone(LENGTH, START).payload_bytes == LENGTH.payload_bytes + START.payload_bytes


@pytest.mark.parametrize(
    ("asks", "assignment", "words"),
    [
        ((), "everyone", "1 to 255 questions"),
        ((LENGTH, LENGTH), "partition", "each question once"),
        ((LENGTH,), "partition", "add up"),
        ((LENGTH,), "everyone", "asked of all"),
    ],
)
def test_what_is_no_round_is_refused(asks: tuple[Ask, ...], assignment: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        Round(asks, assignment)  # type: ignore[arg-type]


def test_a_randomizer_must_fit_its_question() -> None:
    with pytest.raises(PlanError, match="its randomizer expects 9"):
        Ask(Length(4, 8), GRR(9, 1, RATIO))
    with pytest.raises(PlanError, match="a share must be"):
        Ask(Length(4, 8), GRR(8, 1, RATIO), 0)


def test_documents_read_back() -> None:
    written = Round((LENGTH, START), "partition")
    assert Round.from_document(4, written.document()) == written
    for change in ({"assignment": "some"}, {"padded": 1}, {"asks": []}, {"more": 1}):
        with pytest.raises(PlanError):
            Round.from_document(4, written.document() | change)
