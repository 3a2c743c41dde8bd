"""A plan and its items in words: who sends what, how epsilon adds up, how precise the answers will be."""

from __future__ import annotations

import math
from typing import Any

from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Question
from ldptrace.protocol.round import SHARES, Ask, Round


def explain(plan: Plan, users: int | None = None) -> list[str]:
    """Sentences about the plan; with the number of users, also the expected standard errors.

    >>> from ldptrace.protocol.grid import Grid
    >>> explain(Plan.single_report(Grid((0, 0, 1, 1), 6), 1.0))[1]
    'Each device sends 1 message in all.'
    """
    n = plan.grid.n
    lines = [
        f"Plan {plan.id[:12]}, method {plan.method}: {n} x {n} cells, "
        f"epsilon {decimal_text(plan.epsilon)} for each user.",
        f"Each device sends {len(plan.rounds)} message{'s' if len(plan.rounds) > 1 else ''} in all.",
    ]
    for number, round_ in enumerate(plan.rounds, start=1):
        lines += _round(number, round_, users)
    if plan.is_private:
        lines.append(
            "Number, size and kind of the messages are the same for every trajectory, and everything one "
            f"device sends is {float(plan.spent):.6f}-LDP, at most the promised {decimal_text(plan.epsilon)}."
        )
    else:
        lines.append(
            "NOT PRIVATE: empty answers are not sent, so the number of reports tells the length of the "
            "trajectory. This plan exists to reproduce published results."
        )
    lines.append(
        "Not covered: that somebody took part, network addresses and times, and several trajectories of "
        "one person in several collections."
    )
    return lines


def promise(plan: Plan) -> dict[str, Any]:
    """What was promised to the people behind the data, as plain data for files and reports."""
    return {
        "method": plan.method,
        "epsilon": decimal_text(plan.epsilon),
        "leaks": None
        if plan.is_private
        else "empty answers are not sent, so a report's size tells the length",
        "explanation": explain(plan),
        "plan": plan.document(),
        "plan_id": plan.id,
    }


def _round(number: int, round_: Round, users: int | None) -> list[str]:
    if round_.assignment == "partition":
        head = (
            f"Round {number}: each device draws one of {len(round_.asks)} questions at random, without "
            f"looking at its data, and answers it with the whole budget in {round_.payload_bytes} bytes:"
        )
    else:
        head = (
            f"Round {number}: each device answers all of {len(round_.asks)} questions, the budgets add up, "
            f"{round_.payload_bytes} bytes:"
        )
    return [head, *(_ask(ask, round_, users) for ask in round_.asks)]


def _ask(ask: Ask, round_: Round, users: int | None) -> str:
    question, channel = ask.question, ask.randomizer
    who = f"{100 * ask.share / SHARES:.1f} % of users" if round_.assignment == "partition" else "all users"
    slots = f"{question.slots} times " if question.slots > 1 else ""
    text = (
        f"  {question.name}: {question.about} ({who}; {question.domain} items, {slots}up to "
        f"{question.capacity} each, {channel.about}, epsilon {channel.epsilon:.4g} each)"
    )
    if users is not None:
        members = max(round(users * ask.share / SHARES), 1)
        error = math.sqrt(channel.variance(members * question.slots)) / members
        text += f"; expected standard error {error:.5f} per item"
    return text


def item_words(question: Question, item: int) -> str:
    """What one output of a question's randomizer stands for: an item, or one of its nulls.

    >>> from ldptrace.protocol.questions import Length, Moves
    >>> item_words(Length(6, 24), 23), item_words(Moves(6, 5), 0), item_words(Moves(6, 5), 220)
    ('24 cells or more', 'from cell 0,0 to cell 0,1', 'nothing')
    """
    return question.words(item) if item < question.domain else "nothing"
