"""The curator's side: choose a plan, count reports, and compute unbiased estimates from the counts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ldptrace.curator.estimates import Estimate, Estimates
    from ldptrace.curator.tally import Tally

__all__ = ["Estimate", "Estimates", "Tally"]


def __getattr__(name: str) -> object:
    # Arrays load with the first name, because the options of a command need none.
    if name not in __all__:
        raise AttributeError(f"module 'ldptrace.curator' has no attribute {name!r}")
    return getattr(import_module(f"ldptrace.curator.{'tally' if name == 'Tally' else 'estimates'}"), name)
