"""The questions that the path model uses, one class each."""

from __future__ import annotations

from ldptrace.models.path.answers.base import PathAnswer
from ldptrace.models.path.answers.bends import BendsAnswer
from ldptrace.models.path.answers.length import LengthAnswer
from ldptrace.models.path.answers.moves import LinksAnswer, MovesAnswer
from ldptrace.models.path.answers.pairs import PairsAnswer
from ldptrace.models.path.answers.terminals import EndAnswer, StartAnswer, TerminalsAnswer
from ldptrace.models.path.answers.turns import TurnsAnswer
from ldptrace.models.path.answers.visits import VisitsAnswer

ANSWERS: dict[str, PathAnswer] = {
    answer.name: answer
    for answer in (
        LengthAnswer(),
        StartAnswer(),
        EndAnswer(),
        TerminalsAnswer(),
        VisitsAnswer(),
        MovesAnswer(),
        LinksAnswer(),
        TurnsAnswer(),
        PairsAnswer(),
        BendsAnswer(),
    )
}

__all__ = ["ANSWERS", "PathAnswer"]
