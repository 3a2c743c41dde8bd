"""Synthetic trajectories under local differential privacy.

    import ldptrace as lt

    real = lt.read("trips.parquet")
    synthetic = lt.synthesize(real, epsilon=1.0, bounds=(x0, y0, x1, y1))
    card = lt.evaluate(real, synthetic)

Names load when they are first used, so that `ldptrace.device` needs nothing but the standard library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ldptrace.core.paths import CellPaths as CellPaths
    from ldptrace.core.trajectories import Trajectories as Trajectories
    from ldptrace.curator import Estimates as Estimates
    from ldptrace.curator import Tally as Tally
    from ldptrace.curator.receive import Receiver as Receiver
    from ldptrace.device import Ledger as Ledger
    from ldptrace.device import Reporter as Reporter
    from ldptrace.errors import InputError as InputError
    from ldptrace.errors import LdptraceError as LdptraceError
    from ldptrace.evaluation.evaluator import evaluate as evaluate
    from ldptrace.evaluation.scorecard import Scorecard as Scorecard
    from ldptrace.io import read as read
    from ldptrace.io import write as write
    from ldptrace.io.geojson import read_area as read_area
    from ldptrace.models import fit_model as fit_model
    from ldptrace.models import load_model as load_model
    from ldptrace.models.markov import MarkovModel as MarkovModel
    from ldptrace.models.path.model import PathModel as PathModel
    from ldptrace.models.routes.model import RouteModel as RouteModel
    from ldptrace.protocol.grid import Grid as Grid
    from ldptrace.protocol.plan import Plan as Plan
    from ldptrace.roads import RoadNetwork as RoadNetwork
    from ldptrace.roads import read_roads as read_roads
    from ldptrace.roads.routes import Routes as Routes
    from ldptrace.synthesis import synthesize as synthesize

__version__ = "0.1.0"

_HOME = {
    "CellPaths": "ldptrace.core.paths",
    "Estimates": "ldptrace.curator",
    "Grid": "ldptrace.protocol.grid",
    "InputError": "ldptrace.errors",
    "LdptraceError": "ldptrace.errors",
    "Ledger": "ldptrace.device",
    "MarkovModel": "ldptrace.models.markov",
    "PathModel": "ldptrace.models.path.model",
    "Plan": "ldptrace.protocol.plan",
    "Receiver": "ldptrace.curator.receive",
    "Reporter": "ldptrace.device",
    "RoadNetwork": "ldptrace.roads",
    "RouteModel": "ldptrace.models.routes.model",
    "Routes": "ldptrace.roads.routes",
    "Scorecard": "ldptrace.evaluation.scorecard",
    "Tally": "ldptrace.curator",
    "Trajectories": "ldptrace.core.trajectories",
    "evaluate": "ldptrace.evaluation.evaluator",
    "fit_model": "ldptrace.models",
    "load_model": "ldptrace.models",
    "read": "ldptrace.io",
    "read_area": "ldptrace.io.geojson",
    "read_roads": "ldptrace.roads",
    "synthesize": "ldptrace.synthesis",
    "write": "ldptrace.io",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'ldptrace' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
