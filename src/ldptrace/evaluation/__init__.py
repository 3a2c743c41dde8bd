"""Evaluate the quality and the privacy of a synthetic set, with metrics, two attacks and a scorecard."""

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
