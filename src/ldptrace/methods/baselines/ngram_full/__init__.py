"""NGRAM as it was proposed, with public knowledge of places: categories, opening hours, reachability."""

from ldptrace.methods.baselines.ngram_full.mechanism import NgramFull
from ldptrace.methods.baselines.ngram_full.regions import Knowledge, Regions

__all__ = ["Knowledge", "NgramFull", "Regions"]
