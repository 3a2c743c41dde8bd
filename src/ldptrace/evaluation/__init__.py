"""How good and how private a synthetic set is: nine metrics, two attacks, one scorecard."""

from ldptrace.evaluation.evaluator import evaluate, resilience
from ldptrace.evaluation.judging import judge
from ldptrace.evaluation.measuring import Bench, Measured
from ldptrace.evaluation.metrics import METRICS, Metric, Yardstick, score
from ldptrace.evaluation.scorecard import Scorecard

__all__ = [
    "METRICS",
    "Bench",
    "Measured",
    "Metric",
    "Scorecard",
    "Yardstick",
    "evaluate",
    "judge",
    "resilience",
    "score",
]
