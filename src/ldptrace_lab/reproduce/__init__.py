"""Every table and figure of the paper's section 6, measured again."""

from ldptrace_lab.reproduce.data import GENERATED, DataSet, generated, own
from ldptrace_lab.reproduce.experiments import EXPERIMENTS, QUICK_USERS, SCALES, Setup
from ldptrace_lab.reproduce.runs import Report, reproduce

__all__ = [
    "EXPERIMENTS",
    "GENERATED",
    "QUICK_USERS",
    "SCALES",
    "DataSet",
    "Report",
    "Setup",
    "generated",
    "own",
    "reproduce",
]
