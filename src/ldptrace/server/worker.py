"""The process that makes a release: arguments NAME ATTEMPT COUNT NUMBER ADDRESS; the database's URL on its stdin."""

from __future__ import annotations

import contextlib
import os
import sys

from ldptrace.errors import LdptraceError
from ldptrace.server import releases
from ldptrace.server.storage import number_in, open_database, stored


def main(name: str, number: str, count: int, url: str, place: int = stored(None), address: str = "") -> int:
    """Make the release, and store an error where the operator sees it."""
    database = open_database(url=url)
    attempt = releases.Attempt(database, name, number, number_in(place))
    try:
        attempt.make(count, address=address or None)
    except Exception as error:
        told = str(error) if isinstance(error, LdptraceError) else f"{type(error).__name__}: {error}"
        attempt.fail(told)
        return 1
    finally:
        database.close()
    return 0


if __name__ == "__main__":
    # Collecting comes first.
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    name, attempt, count, place, address = sys.argv[1:]
    sys.exit(main(name, attempt, int(count), sys.stdin.read().strip(), int(place), address))
