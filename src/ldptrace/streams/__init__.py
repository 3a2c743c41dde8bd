"""Follow demand over time: a model of the demand at present, fitted to the reports so far, and synthetic travellers
drawn from it."""

from ldptrace.streams.now import Now
from ldptrace.streams.run import Step, Streamed, stream
from ldptrace.streams.settings import Settings

__all__ = ["Now", "Settings", "Step", "Streamed", "stream"]
