"""Ports for servers that tests start."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket

# Below those that the system gives to connections, which could take one before its server does; two processes of
# tests begin at different ones.
PORTS = range(20_000, 32_000)
_NUMBERS = itertools.count(101 * os.getpid())


def free_port() -> int:
    """A port of this machine that nobody listens on, and another one every time."""
    for number in _NUMBERS:
        port = PORTS[number % len(PORTS)]
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise AssertionError("numbers do not end")
