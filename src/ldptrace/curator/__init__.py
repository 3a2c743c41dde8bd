"""The curator's side: count reports, and compute unbiased estimates from the counts."""

from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.curator.tally import Tally

__all__ = ["Estimate", "Estimates", "Tally"]
