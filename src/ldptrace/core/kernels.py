"""Loops that numba compiles once per machine and then loads from a cache. A long compilation is announced.

Numba is imported when a kernel is first called, so that a run without kernels starts fast. Kernels call each other by
name.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any

LOG = logging.getLogger(__name__)
# Seconds of compiling after which it is announced; a single changed loop is quicker.
QUIET = 0.5
SAID = (
    "compiling loops, once per machine: it takes 5 to 30 s for each command, and later runs find them ready (in "
    "__pycache__, or in NUMBA_CACHE_DIR)"
)
_LOCK = threading.RLock()


class Kernel:
    """A function whose loops are compiled when it is first called."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.function, self.options = function, options
        self._compiled: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)

    @property
    def compiled(self) -> Callable[..., Any]:
        """The compiled function, which replaces the kernel in its module."""
        with _LOCK:
            if self._compiled is None:
                import numba

                names = self.function.__globals__
                for name in (*self.function.__code__.co_names, self.function.__name__):
                    used = names.get(name)
                    if isinstance(used, Kernel) and used is not self:
                        names[name] = used.compiled
                _announce()
                self._compiled = numba.njit(cache=True, nogil=True, **self.options)(self.function)
                if names.get(self.function.__name__) is self:
                    names[self.function.__name__] = self._compiled
            return self._compiled


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Mark a function of numbers and arrays for compilation without Python's lock. `options` are passed to
    `numba.njit`.

    >>> @kernel
    ... def squares(values):
    ...     total = 0.0
    ...     for value in values:
    ...         total += value * value
    ...     return total
    """
    if function is None:
        return lambda decorated: Kernel(decorated, options)
    return Kernel(function, options)


@cache
def _announce() -> Any:
    """Register a function that is called once if compiling loops takes long."""
    from numba.core.event import Event, Listener, register

    class Announcer(Listener):
        def __init__(self) -> None:
            self.depth, self.begun, self.spent, self.said = 0, 0.0, 0.0, False

        def on_start(self, _: Event) -> None:
            if self.depth == 0:
                self.begun = time.perf_counter()
                if self.spent > QUIET and not self.said:
                    self.said = True
                    # A warning, because Python prints warnings on stderr even if no logger is configured.
                    LOG.warning(SAID)
            self.depth += 1

        def on_end(self, _: Event) -> None:
            self.depth -= 1
            if self.depth == 0:
                self.spent += time.perf_counter() - self.begun

    announcer = Announcer()
    register("numba:compile", announcer)
    return announcer
