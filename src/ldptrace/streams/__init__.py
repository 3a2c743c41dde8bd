"""Standing collections: a model of the present from the reports so far, and synthetic travellers drawn from the
model."""

from ldptrace.streams.now import Now
from ldptrace.streams.run import Step, Streamed, stream
from ldptrace.streams.settings import Settings

__all__ = ["Now", "Settings", "Step", "Streamed", "stream"]
