"""Follow demand over time: a model of the demand at present, fitted to the reports so far, and synthetic travellers
drawn from it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ldptrace.streams.now import Now
    from ldptrace.streams.run import Step, Streamed, stream
    from ldptrace.streams.settings import Settings

__all__ = ["Now", "Settings", "Step", "Streamed", "stream"]


def __getattr__(name: str) -> object:
    # Models load with the first name, because the options of the command need none.
    if name not in __all__:
        raise AttributeError(f"module 'ldptrace.streams' has no attribute {name!r}")
    home = {"Now": "now", "Settings": "settings"}.get(name, "run")
    return getattr(import_module(f"ldptrace.streams.{home}"), name)
