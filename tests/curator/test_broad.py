from __future__ import annotations

import numpy as np
import pytest

from ldptrace.curator.broad import Answers
from ldptrace.curator.estimates import Estimate
from ldptrace.protocol.questions import Length, Moves, Question, Visits


def estimate(question: Question) -> Estimate:
    size = question.domain
    return Estimate(question, np.arange(size) / size, np.full(size, 0.1), 100)


def test_cells_are_added_up_to_blocks() -> None:
    found = Answers.broad(estimate(Visits(6, 3)))
    assert found is not None
    assert len(found.frequencies) == 9
    assert found.frequencies[0] == pytest.approx((0 + 1 + 6 + 7) / 36)
    # The noise of four answers, and that 100 people were asked.
    held = np.array([0, 1, 6, 7]) / 36
    assert found.std_errors[0] == pytest.approx(np.sqrt(0.04 + (held * (1 - held)).sum() / 100))
    assert found.words(0) == "cell A1 to cell B2"


def test_few_items_are_broad_and_moves_are_too_many() -> None:
    found = Answers.broad(estimate(Length(6, 20)))
    assert found is not None
    assert len(found.frequencies) == 20
    assert found.words(2) == "3 cells"
    assert Answers.broad(estimate(Moves(6, 3))) is None
    few = Answers.broad(estimate(Visits(3, 3)))
    assert few is not None
    assert len(few.frequencies) == 9
