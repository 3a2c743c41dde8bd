from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ldptrace.models.path.answers import ANSWERS
from ldptrace.models.path.answers.base import jointly_sampled, sampled
from ldptrace.protocol.questions import QUESTIONS


@pytest.mark.parametrize(("most", "positions"), [(1, 4), (2, 5), (3, 3), (5, 3), (2, 1)])
def test_inclusion_is_the_share_of_subsets(most: int, positions: int) -> None:
    subsets = list(combinations(range(positions), min(most, positions)))
    one = np.mean([0 in subset for subset in subsets])
    assert sampled(most, np.array([positions], float))[0] == pytest.approx(one)
    if positions > 1:
        two = np.mean([0 in subset and 1 in subset for subset in subsets])
        assert jointly_sampled(most, np.array([positions], float))[0] == pytest.approx(two)


def test_every_answer_is_to_a_question_of_the_protocol() -> None:
    assert set(ANSWERS) <= set(QUESTIONS)
    assert all(name == answer.name for name, answer in ANSWERS.items())
