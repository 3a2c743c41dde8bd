"""The curator's side: reports are added up, counts are de-biased."""

from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.curator.tally import Tally

__all__ = ["Estimate", "Estimates", "Tally"]
