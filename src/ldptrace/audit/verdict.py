"""The whole audit of a plan: six kinds of evidence, one verdict, in words and as data."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ldptrace.audit.black_box import ALPHA, Attack, black_box
from ldptrace.audit.client import (
    CentralFinding,
    Device,
    DrivenWitness,
    OwnDevice,
    StructuralFinding,
    central_findings,
    client_structure,
    id_finding,
    sealed_finding,
    structural_findings,
)
from ldptrace.audit.exact import (
    ExactFinding,
    MarginalFinding,
    exact_findings,
    marginal_findings,
    round_epsilon,
)
from ldptrace.audit.ledger import LedgerFinding, ledger_findings
from ldptrace.audit.system import FIXES, TRIPS, SourceFinding, source_findings
from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.plan import Plan

FORMAT = "ldptrace-audit"
VERSION = 1
TRIALS = 4000
# Devices of a standing plan whose windows are answered.
WINDOWS = 100
# What no audit of messages sees.
UNSEEN = (
    "a client that behaves otherwise when it recognises an audit",
    f"trips of more than {FIXES:,} fixes, but for the form of their messages",
    "when and how reports are sent",
)


# Evidence besides the exact one, in the order of the document.
KINDS = ("central", "marginals", "structure", "source", "ledger", "attacks")


def fallen(findings: Sequence[Any]) -> list[Any]:
    """Return the findings against the claim."""
    return [one for one in findings if not one.stands]


@dataclass(frozen=True)
class Audit:
    """What was found when somebody tried to break the plan's claim."""

    plan: Plan
    exact: list[ExactFinding]
    marginals: list[MarginalFinding]
    structure: list[StructuralFinding]
    attacks: list[Attack]
    source: list[SourceFinding]
    ledger: list[LedgerFinding]
    # The client that was asked, and what was not looked at.
    device: str
    not_tried: list[str]
    # What the accountant says of a shuffled plan.
    central: list[CentralFinding] = field(default_factory=list)

    @property
    def exact_epsilon(self) -> float | None:
        """Epsilon of everything one user sends, by enumeration; None where nothing was enumerated."""
        if not self.exact:
            return None
        rounds = enumerate(self.plan.rounds)
        return sum(round_epsilon(r, [f for f in self.exact if f.round == number]) for number, r in rounds)

    @property
    def stands(self) -> bool:
        """Whether the claim survived."""
        kinds: tuple[list[Any], ...] = (self.exact, *(getattr(self, name) for name in KINDS))
        exact = self.exact_epsilon
        return not any(map(fallen, kinds)) and (exact is None or exact <= float(self.plan.epsilon))

    @property
    def tried(self) -> list[str]:
        """What was tested, and how often."""
        most = max((attack.trials for attack in self.attacks), default=0)
        real = f"trips of {FIXES:,} fixes with dates of today, {TRIPS} per person"
        tried = [
            f"{len(self.exact)} randomizers, every case on small domains" if self.exact else "",
            f"every single item of {len(self.marginals)} questions at full size" if self.marginals else "",
            f"{len(self.attacks)} attacks on up to {most:,} messages per person, {real} among them",
            "number, size, header and form of messages for trajectories as different as the map allows",
            f"{sum(f.reports for f in self.source)} reports beside the bytes of the operating system"
            if self.source
            else "",
            *(f"the ledger: {finding.checked}" for finding in self.ledger),
            *(f"the central epsilon of {finding.checked}" for finding in self.central),
        ]
        return [one for one in tried if one]

    def summary(self) -> str:
        """Return one paragraph for people who answer for the collection."""
        text = (
            f"Plan {self.plan.id} promises every participant local differential privacy with epsilon "
            f"{decimal_text(self.plan.epsilon)}. Asked was the client {self.device}. "
        )
        text += self._central_words()
        if self.stands:
            return text + self._standing_words()
        text += "The promise FELL. "
        for one in fallen(self.central)[:1]:
            text += (
                f"The central epsilon of {one.checked} is {one.epsilon:.4g}, more than the {one.claimed:g} that the "
                "plan states. "
            )
        for one in fallen(self.ledger)[:1]:
            text += f"The ledger does not keep its word that {one.checked}: {one.detail}. "
        for one in fallen(self.source)[:1]:
            text += f"The random source is not what it must be, in {one.target}: {one.detail}. "
        for one in fallen(self.structure)[:1]:
            text += f"The {one.checked} of a message depends on the trajectory: {one.detail}. "
        if wrong := sorted({one.question for one in fallen(self.exact)}):
            text += (
                f"The randomisation of {', '.join(wrong)} is not what the plan says, by exact enumeration. "
            )
        for one in fallen(self.marginals)[:1]:
            text += (
                f"In answers to {one.question} item {one.item} is named with a frequency of {one.observed:.3f} "
                f"instead of {one.expected:.3f}. "
            )
        if broken := fallen(self.attacks):
            worst = max(broken, key=lambda attack: attack.epsilon_at_least)
            one, other = worst.pair
            text += (
                f"From {worst.looked_at} of the answers to {worst.target} an attacker tells {one!r} and {other!r} "
                f"apart so well that epsilon is at least {worst.epsilon_at_least:.3f}, more than the "
                f"{worst.claimed:.3f} that were promised, with a confidence of {100 * (1 - ALPHA):.4f} %. "
            )
        return text + f"This collection must not run as it is. {self._not_tried_words()}"

    def _central_words(self) -> str:
        """Return the second promise of a shuffled plan."""
        shuffled = self.plan.shuffled
        if shuffled is None:
            return ""
        told = "; ".join(
            f"{finding.checked}: at most {finding.epsilon:.4g} for delta {finding.delta:g}, stated {finding.claimed:g}"
            for finding in self.central
        )
        return (
            f"If shuffler and curator do not work together and every batch has {shuffled.hidden:,} honest devices, the "
            f"central epsilon is smaller ({told}). "
        )

    def _standing_words(self) -> str:
        """Return what was confirmed, and what was not tested."""
        best = max(self.attacks, key=lambda attack: attack.epsilon_at_least)
        words = "The promise stood. "
        if self.exact_epsilon is not None:
            words += (
                "By listing every case on small domains, with the plan's own numbers and the "
                f"code that devices run, all that one participant sends has an epsilon of {self.exact_epsilon:.15g}. "
                "At full size every single item was named as often as it should be, and each message followed from "
                "fresh bytes of the operating system alone. "
            )
        return words + (
            "Number, size, header and form of the messages were the same for trajectories as different as the "
            f"map allows. Attacks on up to {max(attack.trials for attack in self.attacks):,} messages for each of "
            f"several worst-case trajectories, trips with {FIXES:,} dated fixes and {TRIPS} trips per person among "
            f"them, could prove no more than {best.epsilon_at_least:.3f} for one message, with a confidence of "
            f"{100 * (1 - ALPHA):.4f} %. The ledger gave the same bytes to every retry, after restarts too, and kept "
            "to chains, limits and windows. In words: any messages of a participant are at most "
            f"{math.exp(float(self.plan.epsilon)):.3g} times as likely as if the participant had "
            "travelled anywhere else. The promise does not cover that somebody took part, network addresses "
            f"and times, or what a person says in other collections. {self._not_tried_words()}"
        )

    def _not_tried_words(self) -> str:
        return f"Not tried: {'; '.join(self.not_tried)}."

    def document(self) -> dict[str, Any]:
        exact = self.exact_epsilon
        return {
            "format": FORMAT,
            "version": VERSION,
            "plan": self.plan.id,
            "method": self.plan.method,
            "epsilon": decimal_text(self.plan.epsilon),
            "stands": self.stands,
            "exact_epsilon": None if exact is None or not math.isfinite(exact) else exact,
            "device": self.device,
            "tried": self.tried,
            "not_tried": self.not_tried,
            "confidence": 1 - ALPHA,
            "exact": [
                asdict(finding)
                | {
                    "ratio": _parts(finding.ratio),
                    "claimed": _parts(finding.claimed),
                    "stands": finding.stands,
                }
                for finding in self.exact
            ],
            **{name: [asdict(one) | {"stands": one.stands} for one in getattr(self, name)] for name in KINDS},
            "summary": self.summary(),
        }

    def to_json(self) -> str:
        return json.dumps(self.document(), indent=1, allow_nan=False)


def audit(plan: Plan, *, trials: int = TRIALS, device: Device | None = None) -> Audit:
    """Try to break the plan's claim with the code that devices run: this package's, or the client `device`."""
    if plan.shuffled is not None:
        return _shuffled_audit(plan, trials, device)
    if device is not None:
        return _client_audit(plan, trials, device)
    # With the same bytes two people of a standing plan differ in their phase, so they are compared without windows.
    structure = structural_findings(plan.changed(standing=None) if plan.standing else plan)
    with tempfile.TemporaryDirectory() as folder:
        own = OwnDevice(Path(folder))
        ledger = ledger_findings(own)
        structure += client_structure(plan, own, WINDOWS) if plan.standing else []
    return Audit(
        plan,
        exact_findings(plan),
        marginal_findings(plan, trials),
        structure,
        black_box(plan, trials),
        source_findings(plan),
        ledger,
        own.name,
        [*UNSEEN, "two processes at once"],
    )


def _shuffled_audit(plan: Plan, trials: int, device: Device | None) -> Audit:
    """Audit both promises: that of the reports, as if they were sent directly, and what a shuffler adds."""
    direct = audit(plan.changed(shuffled=None), trials=trials, device=device)
    with tempfile.TemporaryDirectory() as folder:
        sealed = sealed_finding(plan, device or OwnDevice(Path(folder)))
    unseen = [
        "whether the shuffler mixes, and forgets who sent what",
        "whether a batch has that many honest devices",
    ]
    return replace(
        direct,
        plan=plan,
        central=central_findings(plan),
        structure=[*direct.structure, sealed],
        not_tried=[*direct.not_tried, *unseen],
    )


def _client_audit(plan: Plan, trials: int, device: Device) -> Audit:
    """Audit what can be seen from outside."""
    witness = DrivenWitness(plan, device)
    attacks = black_box(plan, trials, witness.messages)
    structure = [*client_structure(plan, device, trials), id_finding(witness.ids)]
    unseen = [
        "the randomizers case by case",
        "single items at full size",
        "the source of random bytes",
        *UNSEEN,
    ]
    return Audit(plan, [], [], structure, attacks, [], ledger_findings(device), device.name, unseen)


def _parts(ratio: Fraction | None) -> list[str] | None:
    """Return the numerator and denominator, which JSON numbers might round."""
    return None if ratio is None else [str(ratio.numerator), str(ratio.denominator)]
