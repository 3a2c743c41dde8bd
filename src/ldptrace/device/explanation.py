"""What is about to leave the device, for the person whose device it is."""

from __future__ import annotations

from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import Randomizer
from ldptrace.protocol.reports import HEADER_BYTES, Report, read_report, report_bytes
from ldptrace.protocol.round import SHARES, Ask, Round
from ldptrace.protocol.words import item_words


def explain_asking(plan: Plan, number: int) -> list[str]:
    """What this round asks, before anything is drawn.

    >>> from ldptrace.protocol.grid import Grid
    >>> explain_asking(Plan.single_report(Grid((0, 0, 1, 1), 6), 1.0), 0)[0][-44:]
    'device, whatever your trajectory looks like.'
    """
    round_ = plan.rounds[number]
    x0, y0, x1, y1 = plan.grid.bounds
    lines = [
        f"Plan {plan.id[:12]}, round {number + 1} of {len(plan.rounds)}: one message of "
        f"{report_bytes(round_)} bytes would leave this device, whatever your trajectory looks like.",
        f"Your points are first reduced to {plan.grid.n} x {plan.grid.n} cells between ({x0:g}, {y0:g}) and "
        f"({x1:g}, {y1:g}); points outside count for the nearest cell. Points, times and names are not sent.",
    ]
    if round_.assignment == "partition":
        lines.append("One question is drawn by lot, without looking at your trajectory; only it is answered:")
        lines += [f"  {100 * ask.share / SHARES:.1f} %: {_question(ask)}" for ask in round_.asks]
    else:
        lines.append("These questions are answered:")
        lines += [f"  {_question(ask)}" for ask in round_.asks]
    return [*lines, *_promise(plan, round_)]


def explain_report(plan: Plan, data: bytes) -> list[str]:
    """What the bytes of this report say, in words."""
    report = Report.decode(data)
    lines = [
        f"The message, {len(data)} bytes: {data.hex()}",
        f"Its first {HEADER_BYTES} bytes are the version, the plan, the round {report.round + 1}, the drawn "
        "question and a random number; they say nothing about you.",
    ]
    for ask, slots in read_report(data, plan, report.round):
        lines.append(f"To the question about {ask.question.about} it says:")
        for place, named in enumerate(slots):
            items = "; ".join(item_words(ask.question, item) for item in named) or "(no item)"
            lines.append(f"  {f'{place + 1}: ' if len(slots) > 1 else ''}{items}")
    lines.append(
        "Each of these may be true or made up by the lot; nobody who reads the message can tell which."
    )
    return lines


def _question(ask: Ask) -> str:
    about = ask.question.about
    return f"{about} ({ask.question.domain} possible items; {_habit(ask.randomizer)})"


def _habit(channel: Randomizer) -> str:
    """How often the truth is told."""
    p, q = (float(value) for value in channel.probabilities)
    return f"a true one is named with probability {p:.3f}, an untrue one with {q:.3f}"


def _promise(plan: Plan, round_: Round) -> list[str]:
    """The guarantee in odds, which need no knowledge of logarithms."""
    if not round_.padded:
        return ["NOT PRIVATE: the size of the message depends on your trajectory."]
    ratio = float(round_.spent.exp())
    sure = ratio / (1 + ratio)
    return [
        f"Whatever the message says, it is at most {ratio:.3g} times as likely from you as from anybody else "
        "who takes part. Somebody who was 50 % sure of anything about your trajectory can be at most "
        f"{100 * sure:.1f} % sure after reading it.",
        f"All messages of this plan together keep to epsilon {decimal_text(plan.epsilon)}. Not hidden: that "
        "you took part, when, and from which network address.",
    ]
