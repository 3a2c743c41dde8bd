"""The member `shuffled` of a plan: reports go through a shuffler, and the plan makes a second, central promise.

The plan's own epsilon (eps0) is what a report costs if shuffler and curator work together. If they do not, the report
hides among those of the other honest devices of its batch, and costs (epsilon, delta) of this record. The device
computes that promise itself and refuses a plan that claims less (section 3 of `protocol/v2.md`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ldptrace.errors import PlanError
from ldptrace.protocol import limits
from ldptrace.protocol.canonical import integer_in, object_in, text_in
from ldptrace.protocol.exact import decimal_text, plan_fraction
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.records import Record
from ldptrace.protocol.seals import checked_point
from ldptrace.protocol.shuffling import divergence

KEY_PATTERN = r"04[0-9a-f]{128}"
# Printable ASCII without quotation marks, backslashes, brackets, braces, "<" and ">".
OPERATOR_PATTERN = r"[!#-;=?-Z^-z|~](?:[ !#-;=?-Z^-z|~]{0,198}[!#-;=?-Z^-z|~])?"
ADDRESS_PATTERN = r"https?://[A-Za-z0-9._~:/%-]{1,200}"
HONEST_PATTERN = rf"0\.[0-9]{{0,{limits.HONEST_DIGITS - 1}}}[1-9]|1"
DELTA_PATTERN = rf"0\.[0-9]{{0,{limits.EPSILON_DIGITS - 1}}}[1-9]"
# What a plan has unless it says otherwise.
DELTA = Fraction(1, 10**8)
HONEST = Fraction(9, 10)


class Shuffled(Record):
    """How the reports of a plan are shuffled, and the central promise that follows.

    - `key`: the curator's public key, for which devices seal their reports.
    - `batch`: the shuffler hands over no fewer reports than this at once.
    - `honest`: the share of these reports that come from honest devices.
    - `delta`, `epsilon`: the central promise for one answer, for the replacement of one person's data.
    - `lifetime`: the central epsilon of all answers to a standing plan together; otherwise None.
    - `until`: the Unix time at which the batch of a plan without windows closes; otherwise None.
    - `operator`, `address`: who runs the shuffler, in words, and where it is.

    >>> from ldptrace.protocol.seals import GENERATOR
    >>> row = Shuffled(GENERATOR, 10_000, 0.9, 1e-8, 0.9, None, 1_800_000_000, "A club", "https://club.example")
    >>> row.hidden, row == Shuffled.from_document(row.document())
    (9000, True)
    """

    key: bytes
    batch: int
    honest: Fraction
    delta: Fraction
    epsilon: Fraction
    lifetime: Fraction | None
    until: int | None
    operator: str
    address: str

    def __post_init__(self) -> None:
        checked_point(self.key)
        integer_in(
            self.batch, limits.MIN_BATCH, limits.MAX_BATCH, "batch, the least number of reports in a batch,"
        )
        if self.until is not None:
            integer_in(self.until, 0, limits.MAX_START, "until, a Unix time,")
        self._settle("honest", 1, "the share of honest devices")
        self._settle("delta", 1, "delta")
        self._settle("epsilon", limits.MAX_EPSILON, "a central epsilon")
        if self.lifetime is not None:
            self._settle("lifetime", limits.MAX_LIFETIME, "a central lifetime")
        if (self.honest * 10**limits.HONEST_DIGITS).denominator != 1 or self.hidden < 1:
            raise PlanError(
                f"the share of honest devices must have at most {limits.HONEST_DIGITS} digits after the point, and "
                f"leave at least one device in a batch, got {decimal_text(self.honest)} of {self.batch}"
            )
        if not limits.MIN_DELTA <= self.delta <= limits.MAX_DELTA:
            least, most, given = map(decimal_text, (limits.MIN_DELTA, limits.MAX_DELTA, self.delta))
            raise PlanError(f"delta of one answer must be from {least} to {most}, got {given}")
        if self.epsilon < Fraction(str(limits.MIN_CENTRAL)):
            raise PlanError(
                f"a central epsilon must be at least {limits.MIN_CENTRAL}, got {decimal_text(self.epsilon)}"
            )
        text_in(self.operator, OPERATOR_PATTERN, "the operator of a shuffler")
        text_in(self.address, ADDRESS_PATTERN, "the address of a shuffler")

    def _settle(self, name: str, most: int, what: str) -> None:
        object.__setattr__(self, name, plan_fraction(getattr(self, name), most, what))

    @property
    def hidden(self) -> int:
        """Return the number of honest devices in every batch."""
        return int(self.honest * self.batch)

    def check(self, local: Fraction, *, standing: bool) -> None:
        """Raise `PlanRefused` if the record does not fit a plan of this epsilon, or promises more than is true."""
        if local < Fraction(str(limits.MIN_LOCAL)):
            raise PlanError(
                f"epsilon of a shuffled plan must be at least {limits.MIN_LOCAL}, got {decimal_text(local)}"
            )
        if self.epsilon > local:
            raise PlanError(
                f"a central epsilon must be at most the epsilon of the plan, {decimal_text(local)}, "
                f"got {decimal_text(self.epsilon)}"
            )
        if standing != (self.lifetime is not None) or standing == (self.until is not None):
            raise PlanError(
                "a standing plan has a central lifetime and no until, and any other shuffled plan has until and no "
                "central lifetime"
            )
        if self.lifetime is not None and self.lifetime < self.epsilon:
            raise PlanError(
                f"a central lifetime holds at least one answer of epsilon {decimal_text(self.epsilon)}, "
                f"got {decimal_text(self.lifetime)}"
            )
        if divergence(self.hidden, float(local), float(self.epsilon)) > float(self.delta):
            raise PlanRefused(
                Problem.PLAN_PROMISES_TOO_MUCH,
                f"a report of epsilon {decimal_text(local)} among {self.hidden:,} honest devices costs more than the "
                f"central epsilon {decimal_text(self.epsilon)} that the plan states for delta "
                f"{decimal_text(self.delta)}",
            )

    def document(self) -> dict[str, Any]:
        """Return the record as plain data."""
        decimals = {
            name: decimal_text(value) for name, value in self.values().items() if isinstance(value, Fraction)
        }
        return self.values() | decimals | {"key": self.key.hex()}

    @staticmethod
    def from_document(entry: object) -> Shuffled:
        """Return the record that a plan document describes, checked."""
        data = object_in(entry, Shuffled.fields, "shuffled")
        digits = rf"(\.[0-9]{{1,{limits.EPSILON_DIGITS}}})?"
        lifetime = data["lifetime"]
        return Shuffled(
            bytes.fromhex(text_in(data["key"], KEY_PATTERN, "key, a point of the curve P-256,")),
            data["batch"],
            Fraction(text_in(data["honest"], HONEST_PATTERN, "honest")),
            Fraction(text_in(data["delta"], DELTA_PATTERN, "delta")),
            Fraction(text_in(data["epsilon"], rf"[0-9]{{1,2}}{digits}", "the central epsilon")),
            None
            if lifetime is None
            else Fraction(text_in(lifetime, rf"[0-9]{{1,3}}{digits}", "the central lifetime")),
            data["until"],
            data["operator"],
            data["address"],
        )
