"""NGRAM as it was proposed, with public knowledge of places: categories, opening hours, reachability."""

from ldptrace.baselines.ngram_full.mechanism import NgramFull
from ldptrace.baselines.ngram_full.regions import Knowledge, Regions

__all__ = ["Knowledge", "NgramFull", "Regions"]
