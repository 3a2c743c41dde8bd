"""Named stages of a long computation, and how long each took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stages:
    """Measures the time of each stage.

    >>> stages = Stages()
    >>> with stages("fit"):
    ...     pass
    >>> list(stages.seconds)
    ['fit']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def tell(self, share: float) -> None:
        """Report how much of the current stage is done."""

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin
