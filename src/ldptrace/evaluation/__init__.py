"""How good and how private a synthetic set is: nine metrics, two attacks, one scorecard."""

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
