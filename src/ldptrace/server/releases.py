"""The releases of a campaign: estimates, model, synthetic trips and the fit, as files in the database. A worker, a
process of its own that runs this module, makes a release once, from tallies of closed rounds with enough reports. After
that, no report is accepted any more, and the ids of the reports are deleted.

The worker regularly increases a counter of the release, the beat. If the beat stops, for example because server and
worker ended, another server takes over the release. Only the counter is compared, so that the clocks of machines need
not agree.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ldptrace.errors import InputError, LdptraceError
from ldptrace.server import fence
from ldptrace.server.counting import batches_of
from ldptrace.server.registry import Campaign, find, note
from ldptrace.server.rounds import tallies_of, tally_of, windows_until
from ldptrace.server.seen import erase
from ldptrace.server.storage import Database, Session, number_in, open_database, stored
from ldptrace.web.problems import Refused, wrong_state

if TYPE_CHECKING:
    from ldptrace.server.publication import Tell


# Seconds between two beats, and without one after which a release is taken up by somebody else.
EVERY, SILENT = 5.0, 60.0
log = logging.getLogger("ldptrace.server")


@dataclass(frozen=True)
class DueRelease:
    """A release that can be made: of one window of a campaign, or of all its rounds."""

    campaign: str
    # Of the window's round, from 0; None for all rounds together.
    number: int | None
    # Trips that were asked for; 0 for as many as the reports show.
    count: int = 0


# A release that is being made or whose worker ended early, its attempt, and its beat.
Running = tuple[DueRelease, str, int]


def running_releases(session: Session) -> list[Running]:
    """Return all releases in the state running."""
    rows = session.rows(
        "SELECT campaign, number, count, attempt, beat FROM releases WHERE state = 'running' "
        "ORDER BY campaign, number"
    )
    return [(DueRelease(name, number_in(place), count), *rest) for name, place, count, *rest in rows]


@contextlib.contextmanager
def beating(beat: Callable[[], None], every: float = EVERY) -> Iterator[None]:
    """Increase the beat in a separate thread until the work is done."""
    done = threading.Event()

    def run() -> None:
        while not done.wait(every):
            try:
                beat()
            except LdptraceError as error:
                # A database that is away for a moment, or another attempt that has taken over: the work will notice.
                log.info("no sign of life was written: %s", error)

    thread = threading.Thread(target=run, name="beating", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


# Bytes of all files of a road network.
MAX_ROADS = 256 << 20
PART = 1 << 20
# Files of the road network have this before their name.
ROADS = "roads/"
# The drawing of the streets, for the pages.
STREETS = "drawn/streets.json"
PAGE = "index.html"

MEDIA_TYPES = {
    ".json": "application/json",
    ".geojson": "application/geo+json",
    ".csv": "text/csv; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".npz": "application/octet-stream",
    ".html": "text/html; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".yaml": "application/yaml",
    ".cff": "application/yaml",
    "": "text/plain; charset=utf-8",
}


def begin(
    database: Database,
    name: str,
    *,
    actor: str,
    again: bool = False,
    number: int | None = None,
    count: int = 0,
) -> Attempt:
    """Begin a release of all rounds, or of the window with this `number`, with `count` synthetic trips (0: as many as
    the reports show). With `again`, a hanging attempt is replaced. The release is refused unless the rounds are closed
    and have enough reports.
    """
    attempt, place = Attempt(database, name, secrets.token_hex(8), number, count), stored(number)
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if number is None:
            _check_whole(session, campaign)
        else:
            tally_of(session, campaign, number)
        running = session.row("SELECT state FROM releases WHERE campaign = ? AND number = ?", name, place)
        if running is not None and running[0] == "running" and not again:
            raise wrong_state(f"the release of campaign {name} is being made")
        session.run("DELETE FROM releases WHERE campaign = ? AND number = ?", name, place)
        state = {"state": "running", "stage": "waiting for the worker", "done": 0, "error": ""}
        session.insert("releases", campaign=name, number=place, attempt=attempt.attempt, **state, count=count)
        note(session, actor, "publish", name, "begun" if number is None else f"round {number + 1} begun")
    return attempt


def _check_whole(session: Session, campaign: Campaign) -> None:
    """Raise an error if a round is open or has too few reports."""
    name = campaign.name
    if campaign.plan.standing is not None:
        raise wrong_state(f"campaign {name} is standing: every window has a release of its own")
    if campaign.state == "published":
        raise wrong_state(f"campaign {name} is published already")
    if campaign.state != "closed" or campaign.round < campaign.rounds:
        raise wrong_state(
            f"campaign {name} is {campaign.state} in round {campaign.round} of {campaign.rounds}: it is "
            "published when all rounds are closed"
        )
    tallies_of(session, campaign, whole=True)


@dataclass(frozen=True)
class Attempt:
    """One attempt at a release. After another attempt has replaced it, it cannot write any more. `number` is the round
    of a window, or None for the release of all rounds; `count` is the number of synthetic trips, 0 for as many as the
    reports show.
    """

    database: Database
    name: str
    attempt: str
    number: int | None = None
    count: int = 0

    def tell(self, stage: str, done: int) -> None:
        """Store the progress, which the operator's page shows."""
        with self._writing() as session:
            self._set(session, "stage = ?, done = ?", stage, done)

    def beat(self) -> None:
        """Increase the beat of the release."""
        with self._writing() as session:
            self._set(session, "beat = beat + 1")

    def fail(self, error: str) -> None:
        """Store why the release failed. It can be begun again."""
        with contextlib.suppress(Refused), self._writing() as session:
            self._set(session, "state = 'failed', error = ?", error[:500])
            note(session, "worker", "publish", self.name, "failed")

    def make(self, tell: Tell | None = None, *, address: str | None = None) -> None:
        """Read the tallies, write the files of the release, and store them. `address` is the public address of the
        server, which the metadata of the release name."""
        # Models and file formats are for the worker; a server starts without them.
        from ldptrace.server.publication import Material, write_release

        name = self.name
        with beating(self.beat), tempfile.TemporaryDirectory() as folder:
            with self.database.reading() as session:
                campaign = find(session, name)
                if self.number is None:
                    tallies = tallies_of(session, campaign, whole=True)
                else:
                    tallies = windows_until(session, campaign, self.number)
                place = "" if self.number is None else f"/{self.number + 1}"
                own = f"{address.rstrip('/')}/c/{name}/release{place}" if address else None
                network, streets = network_of(session, name), file_of(session, name, STREETS)
                material = Material(campaign, tallies, network, streets, own, batches_of(session, name))
            write_release(material, self.count, Path(folder), tell or self.tell)
            self._store(sorted(path for path in Path(folder).iterdir() if path.is_file()))

    def _store(self, files: Sequence[Path]) -> None:
        """Store the files part by part, in place of those of an earlier attempt, and finish the release."""
        name, before = self.name, folder_of(self.number)
        with self._writing() as session:
            for (file,) in session.rows("SELECT DISTINCT name FROM files WHERE campaign = ?", name):
                if file[: file.rfind("/") + 1] == before:
                    session.run("DELETE FROM files WHERE campaign = ? AND name = ?", name, file)
        for path in files:
            with path.open("rb") as opened:
                for part_number, data in enumerate(_pieces(opened)):
                    with self._writing() as session:
                        row = {"name": before + path.name, "part": part_number, "data": data}
                        session.insert("files", campaign=name, **row)
        rounds = []
        with self._writing() as session:
            if self.number is None:
                rounds = session.rows("SELECT key, counted FROM rounds WHERE campaign = ?", name)
                session.run("UPDATE campaigns SET state = 'published' WHERE name = ?", name)
            self._set(session, "state = 'done', stage = 'done', done = 100")
            note(session, "worker", "publish", name, f"{before}{len(files)} files")
        erase(self.database, rounds)

    def _set(self, session: Session, columns: str, *values: str | int) -> None:
        where = "campaign = ? AND number = ?"
        session.run(f"UPDATE releases SET {columns} WHERE {where}", *values, self.name, stored(self.number))

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Session]:
        """Open a transaction of this attempt, or raise an error if another attempt has replaced it."""
        with self.database.writing() as session:
            current = session.row(
                f"SELECT attempt, state FROM releases WHERE campaign = ? AND number = ?{session.for_update}",
                self.name,
                stored(self.number),
            )
            if current != (self.attempt, "running"):
                raise wrong_state("another attempt has replaced this release")
            yield session


def folder_of(number: int | None) -> str:
    """Return the prefix of the file names of a release.

    >>> folder_of(None), folder_of(3)
    ('', '3/')
    """
    return "" if number is None else f"{number}/"


def file_of(session: Session, name: str, file: str, number: int | None = None) -> bytes:
    """Return a file of a campaign, or of the release of a window, or an empty result if there is none."""
    select = "SELECT data FROM files WHERE campaign = ? AND name = ? ORDER BY part"
    return b"".join(bytes(data) for (data,) in session.rows(select, name, folder_of(number) + file))


def newest_file(session: Session, name: str, file: str) -> bytes:
    """Return a file of the campaign's release or of its newest released window, or an empty result if there is none."""
    rows = session.rows(
        "SELECT number FROM releases WHERE campaign = ? AND state = 'done' ORDER BY number DESC", name
    )
    numbers = (number_in(place) for (place,) in rows)
    return next((data for number in numbers if (data := file_of(session, name, file, number))), b"")


def keep_roads(database: Database, name: str, files: dict[str, bytes], *, actor: str) -> None:
    """Store the files of a road network with the campaign."""
    for file in files:
        if not is_file_name(file):
            raise InputError(
                f"a file of a road network has a name of up to 200 characters, got {file[:80]!r}"
            )
    with database.writing() as session:
        campaign = find(session, name)
        if campaign.state == "published":
            raise wrong_state(f"campaign {name} is published")
        others = session.row(
            "SELECT coalesce(sum(length(data)), 0) FROM files WHERE campaign = ? AND name LIKE 'roads/%' "
            f"AND name NOT IN ({', '.join('?' * len(files))})",
            name,
            *(ROADS + file for file in files),
        )
        assert others is not None
        if others[0] + sum(map(len, files.values())) > MAX_ROADS:
            raise InputError(f"the files of a road network have at most {MAX_ROADS:,} bytes together")
        note(session, actor, "roads", name, ", ".join(sorted(files)))
    for file, data in files.items():
        _keep(database, name, ROADS + file, data)
    with database.reading() as session:
        network = network_of(session, name)
    try:
        drawing = fence.drawing(campaign.plan, network)
    except LdptraceError:
        # Other files of the network may still be missing.
        return
    _keep(database, name, STREETS, drawing)


def _keep(database: Database, name: str, file: str, data: bytes) -> None:
    """Store a file of a campaign in place of an earlier one."""
    with database.writing() as session:
        session.run("DELETE FROM files WHERE campaign = ? AND name = ?", name, file)
        for number, piece in enumerate(_pieces(BytesIO(data))):
            session.insert("files", campaign=name, name=file, part=number, data=piece)


def parts_of(session: Session, name: str, file: str) -> dict[int, int]:
    """Return the number of bytes of each part of a file, by the number of the part."""
    select = "SELECT part, length(data) FROM files WHERE campaign = ? AND name = ? ORDER BY part"
    return dict(session.rows(select, name, file))


def part(session: Session, name: str, file: str, number: int) -> bytes:
    """Return one part of a file."""
    row = session.row(
        "SELECT data FROM files WHERE campaign = ? AND name = ? AND part = ?", name, file, number
    )
    return b"" if row is None else bytes(row[0])


def is_file_name(text: str) -> bool:
    r"""Whether a file of a campaign can have this name.

    >>> is_file_name("Straßen 2027.gpkg"), is_file_name("a\0"), is_file_name("..")
    (True, False, False)
    """
    return 0 < len(text) <= 200 and text.isprintable() and "/" not in text and text not in (".", "..")


def network_of(session: Session, name: str) -> dict[str, bytes]:
    """Return the files of the campaign's road network by name."""
    rows = session.rows("SELECT DISTINCT name FROM files WHERE campaign = ? AND name LIKE 'roads/%'", name)
    return {file.removeprefix(ROADS): file_of(session, name, file) for (file,) in sorted(rows)}


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield parts of a file that are small enough to be written quickly; one, if the file is empty."""
    data = file.read(PART)
    yield data
    while data := file.read(PART):
        yield data


def main(asked: dict[str, Any]) -> int:
    """Make the release of an attempt, and store an error where the operator sees it."""
    address, database = asked.pop("address"), open_database(url=asked.pop("database"))
    attempt = Attempt(database, **asked)
    try:
        attempt.make(address=address or None)
    except Exception as error:
        attempt.fail(str(error) if isinstance(error, LdptraceError) else f"{type(error).__name__}: {error}")
        return 1
    finally:
        database.close()
    return 0


if __name__ == "__main__":
    # Collecting comes first.
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    sys.exit(main(json.load(sys.stdin)))
