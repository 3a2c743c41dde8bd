"""What the paper prints: its tables, and the single values that its text tells of its figures.

Transcribed from section 6 of Du et al., "LDPTrace: Locally Differentially Private Trajectory Synthesis", PVLDB
16(8), 2023. Metrics are in the order of `METRICS` of `ldptrace.evaluation.metrics`. The page
`docs/explanation/published-numbers.md` says how far they can be compared with what is measured here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

from ldptrace.evaluation.metrics import METRICS

EPSILONS = (0.5, 1.0, 1.5)
LDPTRACE, NGRAM, UNMODIFIED = "LDPTrace", "NGRAM", "unmodified NGRAM"


@dataclass(frozen=True)
class PaperSet:
    """One data set of the paper: its size, mean number of points, seconds between points, and N (Table 2)."""

    title: str
    trajectories: int
    mean_points: float
    interval: float
    n: int


SETS = {
    "oldenburg": PaperSet("Oldenburg", 500_000, 69.75, 15.6, 6),
    "porto": PaperSet("Porto", 361_591, 34.13, 15.0, 6),
    "hangzhou": PaperSet("Hangzhou", 348_144, 125.02, 5.0, 8),
    "campus": PaperSet("Campus", 1_000_000, 35.98, 25.0, 6),
}

_TABLES = json.loads((files("ldptrace_lab.reproduce") / "published.json").read_text(encoding="utf-8"))
# Table 5, epsilon = 1: RandSyn, CombTran, NoAdapt and the whole method, one line of metrics each.
VARIANTS: dict[str, dict[str, list[float]]] = _TABLES["table 5"]
# Table 6, Campus, epsilon = 1.
CAMPUS: dict[str, list[float]] = _TABLES["table 6"]
# Table 4: seconds per 1,000 trajectories. User side: length, moves, beginning and end; curator: preparation,
# estimation, synthesis; total; and NGRAM's total.
SECONDS: dict[str, dict[str, float]] = _TABLES["table 4"]

# Section 6.8 says of the attacks on Oldenburg, for every kappa from 2 to 10: "more than 88 %" and "all".
RESILIENCE = {"reidentification": 0.88, "outlier": 1.0}


def utility(name: str | None, method: str, epsilon: float) -> dict[str, float]:
    """Return a column of Table 3 by metric; an empty one where the paper has none.

    >>> utility("oldenburg", LDPTRACE, 1.0)["trip_error"]
    0.0683
    """
    # For each set and method one line per metric, at the three epsilons.
    table = _TABLES["table 3"].get(f"{name} {method}")
    if table is None or epsilon not in EPSILONS:
        return {}
    column = EPSILONS.index(epsilon)
    return {metric: row[column] for metric, row in zip(METRICS, table, strict=True)}
