"""The process that makes a release: arguments NAME ATTEMPT COUNT NUMBER, the address of the database on its stdin."""

from __future__ import annotations

import contextlib
import os
import sys

from ldptrace.errors import LdptraceError
from ldptrace.server import releases
from ldptrace.server.storage import open_database


def main(name: str, number: str, count: int, url: str, place: int = releases.WHOLE) -> int:
    """Make the release, and store an error where the operator sees it."""
    database = open_database(url=url)
    attempt = releases.Attempt(database, name, number, None if place == releases.WHOLE else place)
    try:
        attempt.make(count)
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
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.stdin.read().strip(), int(sys.argv[4])))
