"""Standing collections: a model of now from the reports so far, and synthetic travellers that leave as it says."""

from ldptrace.streams.now import Now
from ldptrace.streams.run import Step, Streamed, stream
from ldptrace.streams.settings import Settings

__all__ = ["Now", "Settings", "Step", "Streamed", "stream"]
