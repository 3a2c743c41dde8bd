"""Loops that numba compiles: once on a machine, announced when it takes long, quick to load from then on.

A kernel loads numba when it is first called, so that what needs no loop starts without it, and what needs one can read
files meanwhile. Kernels call each other by name, as functions do.
"""

from __future__ import annotations

import logging
import pickle
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import update_wrapper
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, cast

import numpy as np

LOG = logging.getLogger(__name__)
# Seconds of compiling after which it is said; a single changed loop is quicker.
QUIET = 0.5
SAID = (
    "compiling loops for this machine: it takes some 10 to 30 s, once, and later runs find them ready (in "
    "__pycache__, or where NUMBA_CACHE_DIR says)"
)
_LOCK = threading.RLock()


class Kernel:
    """A function whose loops will be compiled."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.function, self.options = function, options
        self._compiled: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)

    @property
    def compiled(self) -> Callable[..., Any]:
        """What numba makes of it; it takes the kernel's place in its module, where it is called without a detour."""
        with _LOCK:
            if self._compiled is None:
                names = self.function.__globals__
                for name in (*self.function.__code__.co_names, self.function.__name__):
                    used = names.get(name)
                    if isinstance(used, Kernel) and used is not self:
                        names[name] = used.compiled
                self._compiled = _jitted(self.function, self.options)
                if names.get(self.function.__name__) is self:
                    names[self.function.__name__] = self._compiled
            return self._compiled


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorates a function of numbers and arrays, without the lock of Python; `options` are those of `numba.njit`.

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


def load() -> None:
    """Load numba now rather than with the first call: in a thread of its own, while files are read.

    For commands, which know what else is being loaded meanwhile, and that nobody else computes with numba.
    """
    with _LOCK:
        later: dict[str, Any] = {"coverage": None, "importlib.metadata": _Later("importlib.metadata")}
        if not Path(".numba_config.yaml").exists():
            # yaml reads the settings of numba, where there are any.
            later["yaml"] = None
        numba = _numba(later)
        from numba.core import entrypoints
        from numba.core.registry import cpu_target
        from numba.core.runtime.nrt import rtsys

        # What packages add to numba, they are searched for; none of these loops uses it.
        entrypoints._already_initialized = True
        rtsys.initialize(cpu_target.target_context)
        # The first array that numba looks at loads more.
        numba.typeof(np.empty(0))


def load_compiled(function: Any) -> None:
    """Load what was compiled of a kernel before, as its first call would; what was not is left to that call."""
    compiled: Any = function.compiled if isinstance(function, Kernel) else function
    if _CACHE and isinstance(compiled._cache, _CACHE[0]):
        compiled._cache.load_all(compiled)


def _jitted(function: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    numba = _numba()
    compiled = numba.njit(cache=True, nogil=True, **options)(function)
    caching = numba.core.caching
    leans_on = {"_load_index", "_load_data", "_data_path"}
    if hasattr(caching.FunctionCache, "_load_overload") and leans_on <= {*dir(caching.IndexDataCacheFile)}:
        compiled._cache = _ready_cache()(function)  # else another numba, which loads its own way
    return compiled


class _Later(ModuleType):
    """A module that loads when something of it is used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def _numba(later: Mapping[str, Any] = MappingProxyType({"coverage": None})) -> Any:
    """numba, which tells us what it compiles, without packages that it loads wherever they are installed."""
    # The one that measures which lines tests run takes an eighth of its time.
    modules: dict[str, Any] = sys.modules
    hidden = {} if "numba" in modules else {name: later[name] for name in later.keys() - modules.keys()}
    modules.update(hidden)
    try:
        import numba
    finally:
        for name, module in hidden.items():
            if name in modules and modules[name] is module:
                del modules[name]
    from numba.core.event import register

    if not _ANNOUNCER:
        _ANNOUNCER.append(_announcer())
        register("numba:compile", _ANNOUNCER[0])
    return numba


_ANNOUNCER: list[Any] = []


def _announcer() -> Any:
    from numba.core.event import Event, Listener

    class Announcer(Listener):
        """Says once that loops are being compiled, when that has taken a while."""

        def __init__(self) -> None:
            self.depth, self.begun, self.spent, self.said = 0, 0.0, 0.0, False

        def on_start(self, _: Event) -> None:
            if self.depth == 0:
                self.begun = time.perf_counter()
                if self.spent > QUIET and not self.said:
                    self.said = True
                    LOG.info(SAID)
            self.depth += 1

        def on_end(self, _: Event) -> None:
            self.depth -= 1
            if self.depth == 0:
                self.spent += time.perf_counter() - self.begun

    return Announcer()


_CACHE: list[Any] = []


def _ready_cache() -> Any:
    """numba's cache of compiled functions, which loads one without all that compiles one: half a second less."""
    if not _CACHE:
        from numba.core.caching import FunctionCache
        from numba.core.compiler_lock import global_compiler_lock
        from numba.core.runtime.nrt import rtsys

        class Ready(FunctionCache):
            def __init__(self, function: Callable[..., Any]) -> None:
                super().__init__(function)
                self._ahead: dict[Any, Any] = {}
                self._file = cast(Any, self._cache_file)
                self._file._load_data = self._read

            def load_overload(self, signature: Any, context: Any) -> Any:
                # Compiled code allocates through numba's runtime. What else it calls, its file names and loads.
                rtsys.initialize(context)
                if signature in self._ahead:
                    return self._ahead.pop(signature)
                return self._load_overload(signature, context)

            def load_all(self, compiled: Any) -> None:
                # What is wrong with a file, the first call meets too, and says.
                with suppress(Exception):
                    for signature, *_ in self._file._load_index():
                        # A first call holds the same lock, and then has the signature among the overloads.
                        with global_compiler_lock:
                            if signature not in compiled.overloads and signature not in self._ahead:
                                found = self.load_overload(signature, compiled.targetctx)
                                if found is not None:
                                    self._ahead[signature] = found

            def _read(self, name: str) -> Any:
                with open(self._file._data_path(name), "rb") as file:
                    return _Compiled(file).load()

        _CACHE.append(Ready)
    return _CACHE[0]


class _Compiled(pickle.Unpickler):
    """Reads a compiled function without the modules of numba that made what it calls: 0.03 s less.

    They would be the globals of what it calls, which machine code has no use for.
    """

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        if (module, name) != ("numba.core.environment", "_rebuild_env"):
            return found
        return lambda home, *rest: found("numba" if home.startswith("numba.") else home, *rest)
