"""The settings of servers, with times and clocks; limits of bodies, and of requests per address. Addresses are in
memory only, as long as the limit needs them.
"""

from __future__ import annotations

import ipaddress
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from ldptrace.errors import InputError
from ldptrace.options import option, settle
from ldptrace.protocol import units

# Addresses that are remembered; the one that was quiet for longest is forgotten first.
ADDRESSES = 100_000
# Bytes of a request besides its body: its first line and headers.
MAX_HEAD = 32 << 10
# Bytes of bodies that may have arrived in part, over all connections; the first of each, as much as a single report
# needs, are not counted.
MAX_ARRIVING = 64 << 20
FREE = 16 << 10
# Bytes of a batch of a shuffler, or of a tally, that a curator takes at once.
MAX_UPLOAD = 256 << 20


def checked_address(address: str) -> str:
    """Return the public address of a server, which is one of the web, or empty.

    >>> checked_address("https://collect.example/trips")
    'https://collect.example/trips'
    """
    if address and not (
        address.startswith(("https://", "http://")) and address.isascii() and address.isprintable()
    ):
        raise InputError(f"--address begins with https:// or http://, got {address[:80]!r}")
    return address


@dataclass(frozen=True)
class Settings:
    """The settings of the server."""

    max_body: int = option(4 << 20, help="Largest allowed body of a request, in bytes.", least=1)
    max_upload: int = MAX_UPLOAD
    rate: float = option(
        50.0,
        help="Requests per second that one network address may send in the long run; 0 means no limit.",
        least=0,
    )
    burst: float = option(
        500.0, help="Number of requests that one network address may send at once.", least=1
    )
    timeout: float = option(
        20.0, help="Number of seconds within which a whole request must arrive.", least=0.1
    )
    address: str = option(
        "",
        help="Public address of the server, such as https://collect.example, which releases name; by default the "
        "address at which the server listens.",
        check=checked_address,
    )
    # What opens and closes campaigns and windows; a trial may have a quicker one.
    clock: Callable[[], float] = time.time
    # Set when the server is told to stop: streams, which never end by themselves, end then.
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        settle(self)


def moment(text: str, *, end: bool = False) -> int:
    """Return a date or time, or Unix seconds, as Unix time; in UTC unless it names a zone. A date stands for its
    beginning, or with `end` for its end.

    >>> moment("2027-03-01"), moment("2027-03-01", end=True), moment("2027-03-01T08:00+01:00"), moment("1803859200")
    (1803859200, 1803945600, 1803884400, 1803859200)
    """
    is_day = re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None
    return int(units.moment("a time", text[:40], zoned=False)) + (86_400 if end and is_day else 0)


def trial_clock(text: str, system: Callable[[], float] = time.time) -> Callable[[], float]:
    """Return a clock for trials from START,RATE or START,RATE,SINCE: it shows START when the clock of the system shows
    SINCE (by default now), and runs RATE times as fast.

    >>> trial_clock("2027-03-01,3600,5", lambda: 6.0)() - moment("2027-03-01")
    3600.0
    """
    parts = text.split(",")
    try:
        if len(parts) not in (2, 3):
            raise ValueError
        start, rate = moment(parts[0]), float(parts[1])
        since = float(parts[2]) if len(parts) == 3 else system()
    except ValueError:
        raise InputError(f"a trial clock is START,RATE or START,RATE,SINCE, got {text!r}") from None
    if not 0 < rate <= 1e7:
        raise InputError(f"a trial clock runs up to 10,000,000 times as fast, got {parts[1]}")
    return lambda: start + (system() - since) * rate


class Arriving:
    """The total size of incomplete request bodies over all connections, which is limited so that they cannot fill the
    memory.

    >>> arriving = Arriving(most=100, free=10)
    >>> arriving.grow(0, 60), arriving.grow(0, 60), arriving.grow(60, 111)
    (True, True, False)
    """

    def __init__(self, most: int = MAX_ARRIVING, free: int = FREE) -> None:
        self._most = most
        self._free = free
        self.bytes = 0

    def grow(self, before: int, size: int) -> bool:
        """Whether a body of `before` bytes may grow to `size`."""
        more = self._beyond(size) - self._beyond(before)
        if self.bytes + more > self._most:
            return False
        self.bytes += more
        return True

    def end(self, size: int) -> None:
        """Subtract a body of this size, which is complete or was given up."""
        self.bytes -= self._beyond(size)

    def _beyond(self, size: int) -> int:
        return max(0, size - self._free)


class RateLimit:
    """A token bucket for each address, which fills at `rate` per second up to `burst`. Requests from the machine itself
    are not limited, for trials; a reverse proxy passes on the address of its client.

    >>> now = [0.0]
    >>> limit = RateLimit(1.0, 2.0, clock=lambda: now[0])
    >>> [limit.allows("192.0.2.1") for _ in range(3)]
    [True, True, False]
    >>> now[0] = 1.0
    >>> limit.allows("192.0.2.1"), limit.allows("127.0.0.1")
    (True, True)
    """

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, address: str | None) -> bool:
        """Whether one more request of this address is within its limit."""
        if self._rate <= 0 or address is None or address in ("127.0.0.1", "::1"):
            return True
        key = _network(address)
        now = self._clock()
        left, since = self._buckets.pop(key, (self._burst, now))
        left = min(self._burst, left + max(0.0, now - since) * self._rate)
        allowed = left >= 1
        self._buckets[key] = (left - 1 if allowed else left, now)
        if len(self._buckets) > ADDRESSES:
            self._buckets.popitem(last=False)
        return allowed


def _network(address: str) -> str:
    """Return the network that a limit is for: an IPv6 address is limited by its /64 network."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return address
