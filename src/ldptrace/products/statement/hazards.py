"""Answers to the hazards that NIST SP 800-226 asks about differential-privacy guarantees."""

from __future__ import annotations

from ldptrace.products.statement.promise import Operator, Promise


def hazards(promise: Promise, operator: Operator, version: str) -> str:
    """Return a page of questions and answers, in Markdown."""
    answers = [
        (
            "Unit of privacy",
            "A unit that is too small promises little: epsilon for one trip says nothing about a life.",
            f"The unit is {promise.unit_words}.",
        ),
        (
            "Epsilon",
            "Epsilons of different units and mechanisms cannot be compared.",
            _epsilon(promise),
        ),
        (
            "Renewal of the budget",
            "A budget that renews without an end promises nothing over time.",
            promise.renewal,
        ),
        (
            "Bounds taken from the data",
            "Extremes of the data are published by bounds that follow them.",
            _of(
                promise, "bounds", "Bounds, cells and questions are public and were fixed before any report."
            ),
        ),
        (
            "Contributions without a bound",
            "A person with many records counts many times.",
            "Every device sends the same number of reports for any trips: one trip drawn at random is "
            "reported."
            if promise.unit != "trip"
            else "Every trip sends one report, so a person with many trips gives many.",
        ),
        (
            "Other releases of the same data",
            "Numbers that are published without noise beside a private release undo its promise.",
            "Everything in this release is computed from the reports and from public knowledge. Anything else "
            "that is published about the same trips is outside this promise.",
        ),
        (
            "Side channels and floating point",
            "Rounding, time and size can tell what the noise hides.",
            "Probabilities are exact rationals and integers; reports have a constant size and count; a "
            "device keeps at most "
            "4,096 points of a trajectory, which bounds its computing time, and the moment of sending does "
            "not follow "
            "from a trip. When a device is switched on is not covered.",
        ),
        (
            "Trust model",
            "Who sees raw data must be named.",
            promise.trust,
        ),
        (
            "Bias",
            "Noise weighs more on small groups, and corrections after the noise can hide what is uncertain.",
            "Estimates are unbiased. The fitted model smooths them, and synthetic trips show what the model assumes "
            "where reports say little, as in places and hours with few people. Matrices and profiles carry 95 % "
            "intervals. People without a device that takes part are not represented.",
        ),
        (
            "Security of the raw data",
            "Noise does not protect data that is stolen before it is added.",
            "The publisher keeps the raw trips and has to protect them as before."
            if promise.simulated or promise.central
            else "There is no store of raw trips. A device keeps its own trips and a ledger of what it gave; a "
            "ledger that is "
            "deleted or set back is outside the promise.",
        ),
        (
            "Randomness",
            "Noise that can be guessed is no noise.",
            _of(promise, "seed", "Devices draw from the operating system's secure source; no seed exists."),
        ),
    ]
    title = f"# Answers to the hazards of NIST SP 800-226: {operator.product}"
    weaker = [f"**Weaker than epsilon says.** {sentence}" for sentence in promise.weaker]
    parts = [f"## {name}\n\n*{hazard}*\n\n{answer}" for name, hazard, answer in answers]
    return "\n\n".join([title, f"Made with ldptrace {version}.", *weaker, *parts]) + "\n"


def _epsilon(promise: Promise) -> str:
    """Return epsilon and delta with what they mean."""
    if promise.shuffled:
        return (
            f"Epsilon is {promise.epsilon_words}. What the curator gets is at most exp({promise.epsilon}) times as "
            "likely for one value of the unit as for any other, apart from a chance of delta."
        )
    return (
        f"Epsilon is {promise.epsilon} under {promise.model_words}, delta is 0: what is "
        f"{'published' if promise.central else 'sent'} is at most exp({promise.epsilon}) times as likely for one "
        "value of the unit as for any other."
    )


def _of(promise: Promise, word: str, otherwise: str) -> str:
    """Return the sentence of the promise that mentions a topic, or another sentence if there is none."""
    return next((sentence for sentence in promise.weaker if word in sentence), otherwise)
