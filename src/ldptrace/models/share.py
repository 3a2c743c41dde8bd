"""The share of devices without a trip, as an estimate with its error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ldptrace.models.observation import Observation

# Standard errors from which on noise does not explain a share.
CLEAR = 3.0
# A share with a standard error beyond this is not known.
VAGUE = 0.5
# Questions that every trip answers with exactly one item.
SINGLE = ("length", "start", "end", "cut-end")


@dataclass(frozen=True)
class Share:
    """The estimated share of devices without a trip, `value`, by chance below 0 or above 1, with its standard error.

    >>> print(Share(0.204, 0.012))
    20.4 % (standard error 1.2 %) of the devices had no trip
    >>> Share(0.204, 0.012).trips(100_000), Share(0.004, 0.012).trips(100_000)
    (79600, 100000)
    """

    value: float
    std_error: float

    @property
    def known(self) -> bool:
        """Whether the answers say anything about it."""
        return self.std_error < VAGUE

    @property
    def clear(self) -> bool:
        """Whether there are devices without a trip beyond what noise explains."""
        return self.value > CLEAR * self.std_error

    def trips(self, devices: int) -> int:
        """The estimated number of devices with a trip: all of them, unless the share is clear."""
        return round(devices * (1 - min(self.value, 1.0))) if self.clear else devices

    def __str__(self) -> str:
        said = f"{min(max(self.value, 0), 1):.1%} (standard error {self.std_error:.1%}) of the devices had no trip"
        return (said if self.clear else f"{said}, which noise explains").replace("%", " %")

    def document(self) -> dict[str, float]:
        """Plain data for files and promises."""
        return asdict(self)

    @staticmethod
    def restored(found: Mapping[str, Any] | None) -> Share | None:
        """From the plain data of a file, checked."""
        if found is None:
            return None
        share = Share(float(found["value"]), float(found["std_error"]))
        if not (math.isfinite(share.value) and 0 < share.std_error < VAGUE):
            raise ValueError(
                f"a share of devices is a number and has an error below {VAGUE}, got {dict(found)}"
            )
        return share


def first_guess(observations: Sequence[Observation]) -> Share:
    """From the questions that every trip answers with exactly one item: one less the mean of their totals."""
    totals = [seen.filled for seen in observations if seen.name in SINGLE and seen.most == 1]
    if not totals:
        return Share(0.0, math.inf)
    precision = sum(1 / variance for _, variance in totals)
    mean = sum(value / variance for value, variance in totals) / precision
    return Share(1 - mean, math.sqrt(1 / precision))
