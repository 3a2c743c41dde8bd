from __future__ import annotations

import pytest

from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import QUESTIONS
from ldptrace.protocol.words import explain, item_words, promise, standing_promise
from shuffled_kit import weekly

GRID = Grid((0, 0, 1, 1), 4)
PLANS = [
    Plan.single_report(GRID, 1.0),
    *(Plan.paper(GRID, 1.0, method=m).paper_second_round(3) for m in ("paper", "combtran")),
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.method)
def test_every_item_of_every_question_has_words(plan: Plan) -> None:
    for ask in (ask for part in plan.rounds for ask in part.asks):
        words = [item_words(ask.question, item) for item in range(ask.randomizer.outputs)]
        named = words[: ask.question.domain]
        assert len(set(named)) == len(named)
        assert set(words[ask.question.domain :]) <= {"nothing"}


def test_questions_say_what_they_are_about() -> None:
    assert len({kind.about for kind in QUESTIONS.values()}) == len(QUESTIONS)


def test_a_plan_explains_itself() -> None:
    text = "\n".join(explain(PLANS[0], users=10_000))
    for ask in PLANS[0].rounds[0].asks:
        assert ask.question.about in text
    assert "expected standard error" in text
    unpadded = Plan.paper(GRID, 1.0, method="paper-unpadded").paper_second_round(3)
    assert "NOT PRIVATE" in "\n".join(explain(unpadded))
    assert promise(unpadded)["leaks"]


def test_a_promise_is_plain_data_without_randomness() -> None:
    said = promise(PLANS[0])
    assert (said["epsilon"], said["leaks"], said["plan_id"]) == ("1", None, PLANS[0].id)
    assert "seed" not in str(said)


def test_every_epsilon_of_a_shuffled_plan_has_its_delta() -> None:
    plan = weekly(PLANS[0])
    assert plan.shuffled is not None
    two = f"{decimal_text(2 * plan.shuffled.epsilon)} with delta 2e-08 (if shuffler and curator work together, 2)"
    assert f"Any 7 days enter at most 2 answers: epsilon {two}." in standing_promise(plan)
    first = explain(plan)[0]
    assert f"epsilon {decimal_text(plan.shuffled.epsilon)} with delta 1e-08 (if shuffler" in first
