"""A plan and its items in words: who sends what, how epsilon adds up, how precise the answers will be."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Question
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.round import SHARES, Ask, Round
from ldptrace.protocol.units import duration_words

# Whom one must trust not to work with the curator.
NOBODY, SHUFFLER, CURATOR = "nobody", "shuffler", "curator"
# What two neighbouring collections differ in, by the unit of the promise.
REPLACED = {
    unit: f"the data of one {noun} replaced by other data"
    for unit, noun in (("user", "person"), ("trip", "trip"), ("trajectory", "trajectory"))
}
# What the reason of a method says that hands raw trips to a curator.
CENTRAL = "central, not local"

# Items that are put into words one by one; of larger domains, only their number is printed.
MOST_WORDS = 10_000


def explain(plan: Plan, users: int | None = None) -> list[str]:
    """Explain a plan in sentences; with the number of users, also the expected standard errors.

    >>> from ldptrace.protocol.grid import Grid
    >>> explain(Plan.single_report(Grid((0, 0, 1, 1), 6), 1.0))[1]
    'Each device sends 1 message in all.'
    """
    n = plan.grid.n
    lines = [
        f"Plan {plan.id[:12]}{'' if plan.campaign is None else f' of campaign {plan.campaign.name}'}, method "
        f"{plan.method}: {n} x {n} cells, {_costs(plan)} for each {'answer' if plan.standing else 'user'}.",
        *_messages(plan),
        *shuffled_promise(plan),
    ]
    for number, round_ in enumerate(plan.rounds, start=1):
        lines += _round(number, round_, users)
    if plan.is_private and plan.standing is not None:
        lines.append(
            "Number, size and kind of the messages are the same for all trips, and each answer is "
            f"{float(plan.spent):.6f}-LDP, at most the promised {decimal_text(plan.epsilon)}."
        )
        lines += standing_promise(plan)
    elif plan.is_private:
        lines.append(
            "Number, size and kind of the messages are the same for every trajectory, and everything one "
            f"device sends is {float(plan.spent):.6f}-LDP, at most the promised {decimal_text(plan.epsilon)}."
        )
    else:
        lines.append(
            "NOT PRIVATE: empty answers are not sent, so the size of a report reveals the length of the "
            "trajectory. This plan exists to reproduce published results."
        )
    lines.append(
        "Not covered: that somebody took part, when a device is switched on, network addresses and times, and "
        "several collections together, which only the person's own limit bounds."
    )
    return lines


def shuffled_promise(plan: Plan) -> list[str]:
    """Say what holds if shuffler and curator do not work together, and if they do; nothing for a direct plan.

    >>> from ldptrace.protocol.grid import Grid
    >>> from ldptrace.protocol.seals import GENERATOR
    >>> from ldptrace.protocol.shuffled import Shuffled
    >>> row = Shuffled(GENERATOR, 8000, 0.9, 1e-8, "1.06", None, 1_800_000_000, "A club", "https://club.example")
    >>> shuffled_promise(Plan.single_report(Grid((0, 0, 1, 1), 6), 4.2).changed(shuffled=row))[2]
    'If they do, or if somebody fills a batch with forged reports, one answer still costs at most epsilon 4.2.'
    """
    shuffled = plan.shuffled
    if shuffled is None:
        return []
    lines = [
        f"Reports are sealed for the curator and go through a shuffler: {shuffled.operator}, {shuffled.address}. It "
        f"hands over at least {shuffled.batch:,} reports at once, in random order and without senders, and cannot read "
        "them.",
        "If shuffler and curator do not work together, one answer costs at most epsilon "
        f"{decimal_text(shuffled.epsilon)} with delta {float(shuffled.delta):g}, as long as "
        f"{100 * float(shuffled.honest):g} % of these reports come from honest devices.",
        "If they do, or if somebody fills a batch with forged reports, one answer still costs at most epsilon "
        f"{decimal_text(plan.epsilon)}.",
    ]
    if plan.standing is not None and shuffled.lifetime is not None:
        most = plan.standing.answers(plan.epsilon)
        lines.append(
            f"All {most} answers of a device together: epsilon {decimal_text(shuffled.lifetime)} with delta "
            f"{float(most * shuffled.delta):g}; if shuffler and curator work together, epsilon "
            f"{decimal_text(most * plan.epsilon)}."
        )
    return lines


def standing_promise(plan: Plan) -> list[str]:
    """Say what holds for one trip, for a stretch of time, for a lifetime, and for habits.

    >>> from ldptrace.protocol.grid import Grid
    >>> from ldptrace.protocol.standing import Standing
    >>> plan = Plan.single_report(Grid((0, 0, 1, 1), 6), 1).changed(standing=Standing.of(604_800, epsilon=1))
    >>> standing_promise(plan)[1]
    'Any 7 days enter at most 2 answers: epsilon 2.'
    """
    standing, shuffled = plan.standing, plan.shuffled
    assert standing is not None
    every = duration_words(standing.every)
    meeting = -(-(standing.every + standing.recent) // standing.every)
    most = standing.answers(plan.epsilon)
    lines = [
        f"Each trip enters at most one answer: {_costs(plan)}.",
        f"Any {every} enter at most {meeting} answers: {_costs(plan, meeting)}.",
    ]
    if standing.recent < standing.every:
        short = duration_words(standing.every - standing.recent)
        lines.append(f"Any {short} enter at most one answer: {_costs(plan)}.")
    central = None if shuffled is None else shuffled.lifetime
    whole = standing.lifetime if central is None else central
    apart = "" if central is None else " if shuffler and curator do not work together"
    return [
        *lines,
        f"All answers of a device together, at most {most}, cost at most the lifetime of epsilon "
        f"{decimal_text(whole)}{apart}, and never more than the person's own limit.",
        "A habit, such as the route to work, shows in many answers, so only the lifetime bounds what they reveal of "
        f"it: somebody who was 50 % sure of it can be at most {sure(whole):.1f} % sure after all of them{apart}.",
    ]


def sure(epsilon: Fraction) -> float:
    """Return how sure, in per cent, somebody can be afterwards who was 50 % sure before.

    >>> round(sure(Fraction(1)), 1)
    73.1
    """
    return 100 / (1 + math.exp(-epsilon))


def _costs(plan: Plan, answers: int = 1) -> str:
    """Return what this many answers cost, in both cases if the plan is shuffled."""
    local = decimal_text(answers * plan.epsilon)
    if plan.shuffled is None:
        return f"epsilon {local}"
    central, delta = answers * plan.shuffled.epsilon, float(answers * plan.shuffled.delta)
    return f"epsilon {decimal_text(central)} with delta {delta:g} (if shuffler and curator work together, {local})"


def _messages(plan: Plan) -> list[str]:
    if plan.standing is None:
        return [f"Each device sends {len(plan.rounds)} message{'s' if len(plan.rounds) > 1 else ''} in all."]
    every, recent = (duration_words(value) for value in (plan.standing.every, plan.standing.recent))
    return [
        f"Each device sends 1 message every {every}, at a moment of its own, about one trip that arrived in the "
        f"last {recent}, or about none."
    ]


def alone(epsilon: str, unit: str = "user") -> dict[str, Any]:
    """Return what an answer costs that needs no trust in anybody, as plain data. A device belongs to a user, or is a
    trip."""
    return {
        "epsilon": epsilon,
        "delta": "0",
        "local_epsilon": epsilon,
        "batch": None,
        "trust": NOBODY,
        "adjacency": REPLACED[unit],
    }


def trusted(plan: Plan, unit: str = "user") -> dict[str, Any]:
    """Return what one answer costs, and whom one must trust for that, as plain data.

    `local_epsilon` is what it costs if shuffler and curator work together, and `adjacency` is what two neighbouring
    collections differ in.

    >>> from ldptrace.protocol.grid import Grid
    >>> trusted(Plan.single_report(Grid((0, 0, 1, 1), 6), 1.0))["trust"]
    'nobody'
    """
    local, shuffled = decimal_text(plan.epsilon), plan.shuffled
    if shuffled is None:
        return alone(local, unit)
    return alone(local, unit) | {
        "epsilon": decimal_text(shuffled.epsilon),
        "delta": decimal_text(shuffled.delta),
        "batch": shuffled.batch,
        "trust": SHUFFLER,
    }


def promise(plan: Plan) -> dict[str, Any]:
    """Return what was promised to the people behind the data, as plain data for files and reports."""
    lifetime = None if plan.standing is None else plan.standing.lifetime
    if plan.shuffled is not None:
        lifetime = plan.shuffled.lifetime
    return {
        "method": plan.method,
        **trusted(plan),
        "unit": "user",
        "lifetime": None if lifetime is None else decimal_text(lifetime),
        "leaks": None
        if plan.is_private
        else "empty answers are not sent, so the size of a report reveals the length",
        "explanation": explain(plan),
        "plan": plan.document(),
        "plan_id": plan.id,
    }


def _round(number: int, round_: Round, users: int | None) -> list[str]:
    if round_.assignment == "partition":
        head = (
            f"Round {number}: each device draws one of {len(round_.asks)} questions at random, without "
            f"looking at its data, and answers it with the whole budget in one message of {report_bytes(round_)} bytes:"
        )
    else:
        head = (
            f"Round {number}: each device answers all of {len(round_.asks)} questions in one message of "
            f"{report_bytes(round_)} bytes; the budgets add up:"
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
    """Say what one output of a question's randomizer stands for: an item, or one of its nulls.

    >>> from ldptrace.protocol.questions import Length, Moves
    >>> item_words(Length(6, 24), 23), item_words(Moves(6, 5), 0), item_words(Moves(6, 5), 220)
    ('24 cells or more', 'from cell A1 to cell A2', 'nothing')
    """
    return question.words(item) if item < question.domain else "nothing"


def asked_words(plan: Plan, number: int) -> list[dict[str, Any]]:
    """Return what a round asks, question by question: name, what it is about, share, the probabilities with which a
    true and an untrue item are named, and what its items stand for.

    >>> from ldptrace.protocol.grid import Grid
    >>> asked_words(Plan.single_report(Grid((0, 0, 1, 1), 6), 1.0), 0)[0]["about"]
    'how many cells the trajectory crosses'
    """
    return [
        {
            "name": ask.question.name,
            "about": ask.question.about,
            "share": ask.share,
            "named": [float(value) for value in ask.randomizer.probabilities],
            "items": [ask.question.words(item) for item in range(ask.question.domain)]
            if ask.question.domain <= MOST_WORDS
            else None,
        }
        for ask in plan.rounds[number].asks
    ]
