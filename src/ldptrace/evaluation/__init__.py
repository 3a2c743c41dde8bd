"""Evaluate the quality and the privacy of a synthetic set, with metrics, two attacks and a scorecard."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ldptrace.evaluation.evaluator import Published, evaluate, judge, resilience
    from ldptrace.evaluation.measured import Measured
    from ldptrace.evaluation.metrics import METRICS, Metric, Pair, Reference
    from ldptrace.evaluation.scorecard import Scorecard
    from ldptrace.evaluation.values import References

__all__ = [
    "METRICS",
    "Measured",
    "Metric",
    "Pair",
    "Published",
    "Reference",
    "References",
    "Scorecard",
    "evaluate",
    "judge",
    "resilience",
]
_HOME = {
    "Measured": "measured",
    "Scorecard": "scorecard",
    "References": "values",
    **dict.fromkeys(("METRICS", "Metric", "Pair", "Reference"), "metrics"),
}


def __getattr__(name: str) -> object:
    # Metrics load with the first name, because the options of a command need none.
    if name not in __all__:
        raise AttributeError(f"module 'ldptrace.evaluation' has no attribute {name!r}")
    return getattr(import_module(f"ldptrace.evaluation.{_HOME.get(name, 'evaluator')}"), name)
