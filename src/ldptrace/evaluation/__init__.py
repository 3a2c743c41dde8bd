"""How good and how private a synthetic set is: nine metrics, two attacks, one scorecard."""

from ldptrace.evaluation.evaluator import evaluate, resilience
from ldptrace.evaluation.metrics import METRICS, Metric, Yardstick, score
from ldptrace.evaluation.scorecard import Scorecard

__all__ = ["METRICS", "Metric", "Scorecard", "Yardstick", "evaluate", "resilience", "score"]
