"""The whole audit of a plan: five kinds of evidence, one verdict, in words and as data."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ldptrace.audit.black_box import ALPHA, Attack, black_box
from ldptrace.audit.exact import ExactFinding, exact_findings, round_epsilon
from ldptrace.audit.marginals import MarginalFinding, marginal_findings
from ldptrace.audit.source import SourceFinding, source_findings
from ldptrace.audit.structure import StructuralFinding, structural_findings
from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.plan import Plan

FORMAT = "ldptrace-audit"
VERSION = 1
TRIALS = 4000


@dataclass(frozen=True)
class Audit:
    """What was found when somebody tried to break the plan's claim."""

    plan: Plan
    exact: list[ExactFinding]
    marginals: list[MarginalFinding]
    structure: list[StructuralFinding]
    attacks: list[Attack]
    source: list[SourceFinding]

    @property
    def exact_epsilon(self) -> float:
        """Epsilon of everything one user sends, from the enumerated randomizers."""
        rounds = enumerate(self.plan.rounds)
        return sum(round_epsilon(r, [f for f in self.exact if f.round == number]) for number, r in rounds)

    @property
    def stands(self) -> bool:
        """Whether the claim survived."""
        evidence: list[list[bool]] = [
            [finding.stands for finding in self.exact],
            [finding.stands for finding in self.marginals],
            [finding.stands for finding in self.structure],
            [attack.stands for attack in self.attacks],
            [finding.stands for finding in self.source],
        ]
        return all(map(all, evidence)) and self.exact_epsilon <= float(self.plan.epsilon)

    def summary(self) -> str:
        """One paragraph for people who answer for the collection."""
        claim = decimal_text(self.plan.epsilon)
        shape = [finding for finding in self.structure if not finding.stands]
        wrong = sorted({finding.question for finding in self.exact if not finding.stands})
        odd = [finding for finding in self.marginals if not finding.stands]
        broken = [attack for attack in self.attacks if not attack.stands]
        stale = [finding for finding in self.source if not finding.stands]
        text = f"Plan {self.plan.id} promises every participant local differential privacy with epsilon {claim}. "
        if self.stands:
            best = max(self.attacks, key=lambda attack: attack.epsilon_at_least)
            return text + (
                "The promise stood. By listing every case on small domains, with the plan's own numbers and the "
                f"code that devices run, all that one participant sends has an epsilon of {self.exact_epsilon:.15g}. "
                "At full size every single item was named as often as it should be. Number, size, header and form of "
                "the messages were the same for trajectories as different as the "
                "map allows, and each followed from fresh bytes of the operating system alone. Attacks on "
                f"{best.trials:,} messages for each of several worst-case trajectories could "
                f"prove no more than {best.epsilon_at_least:.3f} for one message, with a confidence of "
                f"{100 * (1 - ALPHA):.4f} %. In words: whatever is read in a participant's messages is at most "
                f"{math.exp(float(self.plan.epsilon)):.3g} times as likely as it would be had the participant "
                "travelled anywhere else. The promise does not cover that somebody took part, network addresses "
                "and times, or what a person says in other collections."
            )
        text += "The promise FELL. "
        if stale:
            text += f"The random source is not what it must be, in {stale[0].target}: {stale[0].detail}. "
        if shape:
            text += f"The {shape[0].checked} of a message depends on the trajectory: {shape[0].detail}. "
        if wrong:
            text += (
                f"The randomisation of {', '.join(wrong)} is not what the plan says, by exact enumeration. "
            )
        if odd:
            text += (
                f"In answers to {odd[0].question} item {odd[0].item} is named with a frequency of "
                f"{odd[0].observed:.3f} instead of {odd[0].expected:.3f}. "
            )
        if broken:
            worst = max(broken, key=lambda attack: attack.epsilon_at_least)
            one, other = worst.pair
            text += (
                f"From {worst.looked_at} of the answers to {worst.target} an attacker tells {one!r} and {other!r} "
                f"apart so well that epsilon is at least {worst.epsilon_at_least:.3f}, more than the "
                f"{worst.claimed:.3f} that were promised, with a confidence of {100 * (1 - ALPHA):.4f} %. "
            )
        return text + "This collection must not run as it is."

    def document(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "plan": self.plan.id,
            "method": self.plan.method,
            "epsilon": decimal_text(self.plan.epsilon),
            "stands": self.stands,
            "exact_epsilon": self.exact_epsilon if math.isfinite(self.exact_epsilon) else None,
            "confidence": 1 - ALPHA,
            "exact": [_exact_document(finding) for finding in self.exact],
            "marginals": [asdict(finding) for finding in self.marginals],
            "structure": [asdict(finding) for finding in self.structure],
            "source": [asdict(finding) for finding in self.source],
            "attacks": [asdict(attack) | {"stands": attack.stands} for attack in self.attacks],
            "summary": self.summary(),
        }

    def to_json(self) -> str:
        return json.dumps(self.document(), indent=1, allow_nan=False)


def audit(plan: Plan, *, trials: int = TRIALS, progress: Callable[[str], None] = lambda _: None) -> Audit:
    """Try to break the plan's claim with the code that devices run."""
    progress("enumerating the randomizers")
    exact = exact_findings(plan)
    progress("counting every item")
    marginals = marginal_findings(plan, trials)
    progress("comparing the messages of extreme trajectories")
    structure = structural_findings(plan)
    progress("watching the random source")
    source = source_findings(plan)
    attacks = black_box(plan, trials, lambda target: progress(f"attacking {target}"))
    return Audit(plan, exact, marginals, structure, attacks, source)


def _exact_document(finding: ExactFinding) -> dict[str, Any]:
    ratio = None if finding.ratio is None else [str(finding.ratio.numerator), str(finding.ratio.denominator)]
    return {
        "round": finding.round,
        "question": finding.question,
        "kind": finding.kind,
        "inputs": finding.inputs,
        "outputs": finding.outputs,
        "ratio": ratio,
        "claimed": [str(finding.claimed.numerator), str(finding.claimed.denominator)],
        "formulas_hold": finding.formulas_hold,
        "stands": finding.stands,
    }
