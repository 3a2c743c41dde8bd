"""Methods side by side on one data set: every method, epsilon and seed is a run, and runs are kept on disk."""

from ldptrace_lab.compare.contestants import Contestant, contestant
from ldptrace_lab.compare.results import Comparison, Row, compare
from ldptrace_lab.compare.runs import Question, RunKey

__all__ = ["Comparison", "Contestant", "Question", "Row", "RunKey", "compare", "contestant"]
