"""Walks between the places that people visit: a campus, and files of check-ins."""

from ldptrace_lab.campus.pois import Pois, Visits
from ldptrace_lab.campus.walks import PRESETS, Walks, campus_walks

__all__ = ["PRESETS", "Pois", "Visits", "Walks", "campus_walks"]
