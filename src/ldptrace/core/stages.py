"""Named stages of a long computation: how long each took, and a callback when one begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stages:
    """Measures the time of each stage, and calls a listener when a stage begins.

    >>> stages = Stages()
    >>> with stages("fit"):
    ...     pass
    >>> list(stages.seconds)
    ['fit']
    """

    def __init__(self, listener: Callable[[str], None] | None = None) -> None:
        self.listener = listener
        self.seconds: dict[str, float] = {}

    def tell(self, share: float) -> None:
        """Report how much of the current stage is done."""

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        if self.listener is not None:
            self.listener(name)
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin
