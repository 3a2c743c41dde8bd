"""Methods side by side on one data set: every method, epsilon and seed is a run, and runs are kept on disk."""

from ldptrace_lab.compare.contestants import Contestant, contestant
from ldptrace_lab.compare.runs import Comparison, Question, Row, RunKey, compare

__all__ = ["Comparison", "Contestant", "Question", "Row", "RunKey", "compare", "contestant"]
