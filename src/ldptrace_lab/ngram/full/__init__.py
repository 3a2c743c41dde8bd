"""NGRAM as it was proposed, with public knowledge of places: categories, opening hours, reachability."""

from ldptrace_lab.ngram.full.mechanism import NgramFull
from ldptrace_lab.ngram.full.regions import Knowledge, Regions

__all__ = ["Knowledge", "NgramFull", "Regions"]
