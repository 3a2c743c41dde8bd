"""Standing collections: a model of now from the reports so far, and synthetic travellers that leave as it says."""

from ldptrace.streams.now import Now
from ldptrace.streams.run import Settings, Streamed, stream

__all__ = ["Now", "Settings", "Streamed", "stream"]
