"""A round of a plan: questions with their randomizers, asked at the same time.

With `everyone`, each user answers all questions and their budgets add up; with `partition`, each user draws one
question at random, by public shares and without looking at the data, and answers it with the whole budget.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

from ldptrace.errors import PlanError
from ldptrace.protocol.canonical import integer_in, list_in, object_in
from ldptrace.protocol.exact import log, total
from ldptrace.protocol.limits import MAX_PAYLOAD
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.questions import Question, question_from
from ldptrace.protocol.randomizers import Randomizer, randomizer_from
from ldptrace.protocol.records import Record

SHARES = 1 << 16


class Ask(Record):
    """One question with its randomizer. `share` counts users out of 65,536; for everyone it is 65,536."""

    question: Question
    randomizer: Randomizer
    share: int = SHARES

    def __post_init__(self) -> None:
        asked, expected = self.question, self.randomizer
        if (expected.domain, expected.capacity) != (asked.domain, asked.capacity):
            raise PlanError(
                f"question {asked.name!r} has {asked.domain} items in sets of {asked.capacity}, "
                f"its randomizer expects {expected.domain} in sets of {expected.capacity}"
            )
        integer_in(self.share, 1, SHARES, "a share")

    @property
    def payload_bytes(self) -> int:
        return self.question.slots * self.randomizer.payload_bytes

    @property
    def work(self) -> int:
        """Outputs that the randomizer decides about, over all slots: what an answer costs a device at most."""
        return self.question.slots * self.randomizer.outputs

    def document(self) -> dict[str, Any]:
        """Return what the plan document says of this ask."""
        return {
            "question": self.question.parameters(),
            "randomizer": self.randomizer.document(),
            "share": self.share,
        }

    @staticmethod
    def from_document(n: int, entry: object) -> Ask:
        """Return the ask that a plan document describes, checked."""
        data = object_in(entry, ("question", "randomizer", "share"), "an ask")
        if not isinstance(data["question"], dict):
            raise PlanError("a question must be an object")
        return Ask(question_from(n, data["question"]), randomizer_from(data["randomizer"]), data["share"])


class Round(Record):
    """Questions that are asked at the same time."""

    asks: tuple[Ask, ...]
    assignment: Literal["everyone", "partition"]
    # False reproduces the published code: empty slots are not sent, so the size of a report reveals the length.
    padded: bool = True

    def __post_init__(self) -> None:
        if not 1 <= len(self.asks) <= 255:
            raise PlanError(f"a round needs 1 to 255 questions, got {len(self.asks)}")
        names = [ask.question.name for ask in self.asks]
        if len(set(names)) != len(names):
            raise PlanError(f"a round asks each question once, got {names}")
        if self.assignment == "partition" and sum(ask.share for ask in self.asks) != SHARES:
            raise PlanError(f"shares must add up to {SHARES}, got {sum(ask.share for ask in self.asks)}")
        if self.assignment == "everyone" and any(ask.share != SHARES for ask in self.asks):
            raise PlanError("in a round for everyone every question is asked of all")

    @property
    def spent(self) -> Decimal:
        """Budget of this round: logarithm of the largest likelihood ratio of all that a user sends in it."""
        budgets = [log(ask.randomizer.ratio, ask.question.slots) for ask in self.asks]
        return max(budgets) if self.assignment == "partition" else total(budgets)

    @property
    def payload_bytes(self) -> int:
        """Bytes of every user's payload: one size for all groups."""
        sizes = [ask.payload_bytes for ask in self.asks]
        return max(sizes) if self.assignment == "partition" else sum(sizes)

    def document(self) -> dict[str, Any]:
        """Return what the plan document says of this round."""
        return {
            "assignment": self.assignment,
            "padded": self.padded,
            "asks": [ask.document() for ask in self.asks],
        }

    @staticmethod
    def from_document(n: int, entry: object) -> Round:
        """Return the round that a plan document describes, checked."""
        data = object_in(entry, ("assignment", "asks", "padded"), "a round")
        if data["assignment"] not in ("everyone", "partition") or not isinstance(data["padded"], bool):
            raise PlanError("a round's assignment is everyone or partition, and padded is true or false")
        asks = tuple(Ask.from_document(n, item) for item in list_in(data["asks"], 1, 255, "asks"))
        read = Round(asks, data["assignment"], data["padded"])
        if read.payload_bytes > MAX_PAYLOAD:
            raise PlanRefused(
                Problem.PLAN_TOO_LARGE,
                f"a payload has at most {MAX_PAYLOAD:,} bytes, this round asks for {read.payload_bytes:,}",
            )
        return read
