"""Device side of ldptrace, standard library only: plan + trips -> one randomised report.

>>> from ldptrace_device import Ledger, Plan, Recording, Reporter
"""

from ldptrace_device.device import Ledger, Recording, Reporter
from ldptrace_device.device.explanation import explain_asking, explain_report
from ldptrace_device.protocol.plan import Plan
from ldptrace_device.protocol.problems import PlanRefused

__all__ = ["Ledger", "Plan", "PlanRefused", "Recording", "Reporter", "explain_asking", "explain_report"]
