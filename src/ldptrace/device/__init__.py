"""The code of a device, which turns a plan and a trajectory into one randomised report. It needs only the standard
library.

>>> from ldptrace.device import Reporter
>>> from ldptrace.protocol.grid import Grid
>>> from ldptrace.protocol.plan import Plan
>>> reporter = Reporter(Plan.single_report(Grid((0, 0, 6, 6), 6), 1.0), ledger="none")
>>> len(reporter.report([(0.5, 0.5), (3.2, 4.1)])) == len(reporter.report([]))
True
"""

from ldptrace.device.ledger import Ledger
from ldptrace.device.reporter import Reporter
from ldptrace.device.track import Point, Recording, occasion_of, trip_of

__all__ = ["Ledger", "Point", "Recording", "Reporter", "occasion_of", "trip_of"]
